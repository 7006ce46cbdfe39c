"""Models in f16 and bf16 are recognised as in f32, and computed as well as that allows."""

from collections import Counter

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

from tessera.driver import Compiled, compile_graph_module
from tessera.frontend.onnx import import_model, import_proto
from tessera.runtime import execute
from tests.support.corpus import Case

NARROW = {
    "f16": (TensorProto.FLOAT16, np.float16),
    "bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16),
}


def narrowed(case: Case, dtype: str) -> onnx.ModelProto:
    """The model with every f32 tensor, type and cast in a narrower type."""
    model = onnx.load(case.path)
    element, narrow = NARROW[dtype]
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            widest = float(ml_dtypes.finfo(narrow).max)
            array = np.clip(numpy_helper.to_array(tensor), -widest, widest)
            array = array.astype(narrow)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    values = (*model.graph.input, *model.graph.output, *model.graph.value_info)
    for value in values:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = element
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.name == "to" and attribute.i == TensorProto.FLOAT:
                attribute.i = element
    return model


def compiled(case: Case, dtype: str, target: str) -> Compiled:
    if dtype == "f32":
        module = import_model(case.path)
    else:
        module = import_proto(narrowed(case, dtype), case.file, case.folder)
    return compile_graph_module(module, target=target, model=case.model)


def outcomes(made: Compiled) -> Counter[tuple[str, str, str | None]]:
    return Counter((s.kind, s.outcome, s.kernel) for s in made.decisions.sites)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("model", ["gpt2", "llama"])
def test_recognised_as_in_f32(model: str, dtype: str) -> None:
    case = Case(model, "eager_op20.onnx")
    made = compiled(case, dtype, "apple_cpu")
    assert outcomes(made) == outcomes(compiled(case, "f32", "apple_cpu"))
    calls = [op for op in made.walk() if "tessera.fusion.kernel" in op.attributes]
    assert calls
    for call in calls:
        assert str(call.attributes["callee"]).endswith(f"_{dtype}")


@pytest.mark.parametrize(("dtype", "tolerance"), [("f16", 1e-2), ("bf16", 6e-2)])
@pytest.mark.parametrize("model", ["gpt2", "llama"])
def test_close_to_the_f32_outputs(model: str, dtype: str, tolerance: float) -> None:
    case = Case(model, "eager_op20.onnx")
    for target in ("cpu", "apple_cpu"):
        program = compiled(case, dtype, target).program()
        for name, expected in case.outputs().items():
            found = execute(program, case.inputs())[name].astype(np.float64)
            error = np.abs(found - expected).max() / np.abs(expected).max()
            assert error < tolerance, (target, error)
