"""Small ONNX models made in tests."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tessera.frontend.onnx import import_proto
from tessera.graph.evaluate import evaluate

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node
Sizes = Sequence[int | str] | None


def value(name: str, shape: Sizes = (2, 3), kind: int = FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Any] = (),
    outputs: Sequence[str] = ("y",),
    weights: Mapping[str, Any] | None = None,
    opset: int = 20,
    **more: Any,
) -> Any:
    """A model that no checker has seen."""
    stored = [
        numpy_helper.from_array(np.asarray(array), name)
        for name, array in (weights or {}).items()
    ]
    results = [value(name, None) for name in outputs]
    graph = helper.make_graph(list(nodes), "g", list(inputs), results, stored)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, **{"ir_version": 9} | more)


def run(proto: Any, **arrays: Any) -> dict[str, np.ndarray]:
    """The results of the imported model, op by op."""
    module = import_proto(proto, "m.onnx")
    module.verify()
    return evaluate(module, {name: np.asarray(x) for name, x in arrays.items()})


def ops(proto: Any) -> list[str]:
    """The op names of the imported function, constants and the return left out."""
    module = import_proto(proto, "m.onnx")
    names = [op.name for op in module.walk() if op.name.startswith("tessera.")]
    return [n.removeprefix("tessera.") for n in names if n != "tessera.const"]


__all__ = ["BOOL", "FLOAT", "INT64", "model", "node", "onnx", "ops", "run", "value"]
