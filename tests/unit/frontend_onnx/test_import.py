"""What an imported module is: names, places, constants, and the ops of each spelling."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp

from tessera.frontend.onnx import import_model, import_proto
from tessera.graph.evaluate import argument_names, evaluate, result_names
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import DYN, shape_of
from tessera.graph.weights import WeightAttr
from tests.support.corpus import Case, cases
from tests.unit.frontend_onnx.models import (
    FLOAT,
    INT64,
    model,
    node,
    onnx,
    ops,
    run,
    value,
)

X = [value("x")]
x = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def function(module: Any) -> FuncOp:
    (found,) = (op for op in module.ops if isinstance(op, FuncOp))
    return found


def constants(module: Any) -> list[ConstOp]:
    return [op for op in module.walk() if isinstance(op, ConstOp)]


def test_arguments_and_results_keep_their_names() -> None:
    proto = model([node("Relu", ["in/put:0"], ["out put"])], [value("in/put:0")])
    proto.graph.output[0].name = "out put"
    found = function(import_proto(proto, "m.onnx"))
    assert found.sym_name.data == "main"
    assert (argument_names(found), result_names(found)) == (["in/put:0"], ["out put"])


def test_a_result_may_be_an_input_or_a_weight() -> None:
    proto = model([node("Identity", ["x"], ["y"])], X, ("x", "y", "w"), {"w": [1.5]})
    found = run(proto, x=x)
    assert list(found) == ["x", "y", "w"]
    np.testing.assert_array_equal(found["y"], x)
    np.testing.assert_array_equal(found["w"], [1.5])


def test_places_carry_module_scope_and_node_index() -> None:
    nodes = [node("Relu", ["x"], ["a"]), node("Exp", ["a"], ["exp_1"], name="n")]
    nodes += [
        node("Neg", ["exp_1"], ["/enc/layer.0/Neg_output_0"], name="/enc/l.0/Neg")
    ]
    scopes = "['', 'model.model', 'model.model.layers.0.self_attn', 'exp_1']"
    nodes[1].metadata_props.add(key="pkg.torch.onnx.name_scopes", value=scopes)
    proto = model(nodes, X, ("/enc/layer.0/Neg_output_0",))
    relu, exp, neg = (
        location_of(op)
        for op in import_proto(proto, "m.onnx").walk()
        if op.name in ("tessera.max", "tessera.exp", "tessera.neg")
    )
    assert (str(relu), relu.name, relu.layer) == ("m.onnx:1:1", "a", "")
    assert (str(exp), exp.name) == ("m.onnx:2:1", "exp_1")
    assert exp.layer == "model.model.layers.0.self_attn"
    assert (neg.line, neg.name, neg.layer) == (3, "Neg_output_0", "enc.l.0")


@pytest.mark.parametrize("case", cases("eager_op20.onnx", models=("llama",)))
def test_a_real_export_knows_its_modules(case: Case) -> None:
    layers = {location_of(op).layer for op in import_model(case.path).walk()}
    assert {f"model.model.layers.{i}.self_attn" for i in (0, 1)} <= layers


def test_large_constants_have_unique_keys() -> None:
    w = np.ones((2, 40), np.float32)
    nodes = [node("Constant", [], ["c"], value=onnx.numpy_helper.from_array(w))]
    nodes += [node("Add", ["c", "w"], ["folded"]), node("Gemm", ["x", "w"], ["z"])]
    nodes += [node("Add", ["z", "folded"], ["y"])]
    nodes += [node("Add", ["y", "c"], ["y2"])]
    proto = model(nodes, [value("x", (2, 2))], ("y2",), {"w": w})
    keys = [
        op.attributes["value"].data.key
        for op in constants(import_proto(proto, "m.onnx"))
        if isinstance(op.attributes["value"], WeightAttr)
    ]
    assert sorted(keys) == ["c", "folded", "w"]


def test_a_weight_used_twice_is_one_constant_and_an_unused_one_none() -> None:
    weights = {"w": np.ones((3, 3), np.float32), "u": np.ones((3, 3), np.float32)}
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Identity", ["w"], ["v"])]
    nodes += [node("MatMul", ["a", "v"], ["y"])]
    assert len(constants(import_proto(model(nodes, X, weights=weights), "m"))) == 1


def test_external_data_is_mapped_and_stored_data_a_view(tmp_path: Path) -> None:
    w = np.arange(300, dtype=np.float32).reshape(3, 100)
    proto = model([node("MatMul", ["x", "w"], ["y"])], X, weights={"w": w})
    onnx.save(proto, tmp_path / "inside.onnx")
    onnx.save(
        proto,
        tmp_path / "m.onnx",
        save_as_external_data=True,
        location="m.data",
        size_threshold=0,
    )
    (mapped,) = constants(import_model(tmp_path / "m.onnx"))
    assert isinstance(mapped.array.base, np.memmap)
    (inside,) = constants(import_model(tmp_path / "inside.onnx"))
    assert not inside.array.flags.owndata
    for constant in (mapped, inside):
        np.testing.assert_array_equal(constant.array, w)


def test_known_values_are_computed_at_import_but_never_a_default() -> None:
    nodes = [
        node("Shape", ["x"], ["s"]),
        node("Gather", ["s", "one"], ["columns"]),
        node("Mul", ["columns", "two"], ["wide"]),
        node("Concat", ["wide", "free"], ["target"], axis=0),
        node("Reshape", ["x", "target"], ["y"]),
    ]
    weights = {"one": [1], "two": [2], "free": [-1]}
    proto = model(nodes, X, weights=weights)
    assert ops(proto) == ["reshape"]
    assert run(proto, x=x)["y"].shape == (6, 1)
    nodes = [node("Add", ["w", "w"], ["a"]), node("Add", ["x", "a"], ["y"])]
    w = np.ones(3, np.float32)
    overridable = model(nodes, [*X, value("w", (3,))], weights={"w": w})
    assert ops(overridable) == ["add", "add"]
    np.testing.assert_array_equal(run(overridable, x=x, w=3 * w)["y"], x + 6)
    np.testing.assert_array_equal(run(overridable, x=x)["y"], x + 2)


def test_before_ir_version_4_listed_weights_are_constants() -> None:
    w = np.ones(3, np.float32)
    nodes = [node("Add", ["x", "w"], ["y"])]
    proto = model(
        nodes, [*X, value("w", (3,))], weights={"w": w}, opset=8, ir_version=3
    )
    assert argument_names(function(import_proto(proto, "m"))) == ["x"]


def test_functions_of_the_model_are_inlined() -> None:
    proto = model([node("Twice", ["x"], ["y"], domain="mine")], X)
    proto.opset_import.append(onnx.helper.make_opsetid("mine", 1))
    body = [node("Add", ["a", "a"], ["b"])]
    imports = list(proto.opset_import)
    function_proto = onnx.helper.make_function(
        "mine", "Twice", ["a"], ["b"], body, imports
    )
    proto.functions.append(function_proto)
    np.testing.assert_array_equal(run(proto, x=x)["y"], x + x)


def test_sizes_without_a_number_are_dynamic() -> None:
    proto = model([node("Relu", ["x"], ["y"])], [value("x", ("batch", 3))])
    module = import_proto(proto, "m.onnx")
    (argument,) = function(module).body.block.args
    assert shape_of(argument.type) == (DYN, 3)
    assert evaluate(module, {"x": x})["y"].shape == (2, 3)


def test_a_long_chain_needs_no_recursion() -> None:
    names = ["x", *(f"v{i}" for i in range(4999)), "y"]
    chain = [node("Relu", [a], [b]) for a, b in pairwise(names)]
    assert len(ops(model(chain, X))) == 5000


SPELLINGS: list[tuple[list[Any], dict[str, Any], int, list[str]]] = [
    (
        [node("LayerNormalization", ["x", "w"], ["y"])],
        {"w": [1.0] * 3},
        20,
        ["layernorm"],
    ),
    ([node("RMSNormalization", ["x", "w"], ["y"])], {"w": [1.0] * 3}, 23, ["rmsnorm"]),
    ([node("Softmax", ["x"], ["y"])], {}, 11, ["softmax"]),
    (
        [node("Softmax", ["x"], ["y"], axis=0)],
        {},
        11,
        ["reshape", "softmax", "reshape"],
    ),
    (
        [node("Gemm", ["x", "w"], ["y"], transB=1)],
        {"w": np.ones((4, 3))},
        20,
        ["matmul"],
    ),
    (
        [node("Gemm", ["x", "w", "c"], ["y"], alpha=2.0, transB=1)],
        {"w": np.ones((4, 3)), "c": [1.0] * 4},
        20,
        ["matmul", "mul", "add"],
    ),
    ([node("Swish", ["x"], ["y"])], {}, 24, ["silu"]),
    ([node("SwiGLU", ["x", "x"], ["y"])], {}, 28, ["silu_mul"]),
    ([node("Unsqueeze", ["x"], ["y"], axes=[0])], {}, 11, ["reshape"]),
    ([node("ReduceSum", ["x"], ["y"], axes=[1])], {}, 11, ["reduce_sum"]),
    ([node("Clip", ["x"], ["y"], min=-1.0, max=1.0)], {}, 6, ["max", "min"]),
    ([node("Slice", ["x"], ["y"], starts=[0], ends=[1])], {}, 9, ["slice"]),
    ([node("Split", ["x"], ["y", "z"], split=[1, 1])], {}, 11, ["slice"]),
    ([node("Einsum", ["x", "x"], ["y"], equation="ij,kj->ik")], {}, 20, ["matmul"]),
    ([node("Pad", ["x"], ["y"], pads=[0, 0, 1, 1])], {}, 10, ["pad"]),
    ([node("Dropout", ["x"], ["y"], ratio=0.5)], {}, 11, []),
]


@pytest.mark.parametrize(("nodes", "weights", "opset", "wanted"), SPELLINGS)
def test_each_spelling_becomes_these_ops(
    nodes: list[Any], weights: dict[str, Any], opset: int, wanted: list[str]
) -> None:
    floats = {name: np.asarray(w, np.float32) for name, w in weights.items()}
    proto = model(nodes, X, weights=floats, opset=opset)
    assert ops(proto) == wanted
    run(proto, x=x)


def test_attention_keeps_its_options() -> None:
    inputs = [value(n, (1, 2, 4, 8), FLOAT) for n in "qkv"]
    attention = node(
        "Attention", list("qkv"), ["y"], is_causal=1, softcap=5.0, scale=0.5
    )
    module = import_proto(model([attention], inputs, opset=23), "m.onnx")
    (found,) = (op for op in module.walk() if isinstance(op, GraphOp))
    assert found.name == "tessera.flash_attn"
    assert found.options() == {
        "scale": 0.5,
        "causal": "top_left",
        "window": None,
        "softcap": 5.0,
    }


@pytest.mark.parametrize(
    ("op", "kind", "wanted"),
    [
        ("Div", INT64, [-2, -2, 2, 2]),
        ("Mod", INT64, [1, -1, -1, 1]),
    ],
)
def test_integer_division_truncates_and_mod_follows_the_divisor(
    op: str, kind: int, wanted: list[int]
) -> None:
    a, b = np.array([-5, 5, -5, 5]), np.array([2, -2, -2, 2])
    proto = model([node(op, ["a", "b"], ["y"])], [value(n, (4,), kind) for n in "ab"])
    np.testing.assert_array_equal(run(proto, a=a, b=b)["y"], wanted)


@pytest.mark.parametrize("case", cases("eager_op20_dyn.onnx", "sdpa_op20_dyn.onnx"))
@pytest.mark.parametrize(("batch", "length"), [(1, 1), (2, 5), (4, 17)])
def test_dynamic_exports_run_at_other_sizes(
    case: Case, batch: int, length: int
) -> None:
    runtime = pytest.importorskip("onnxruntime")
    rng = np.random.default_rng(batch)
    inputs: dict[str, np.ndarray] = {}
    for name, stored in case.inputs().items():
        ids = rng.integers(0, 60, (batch, length))
        inputs[name] = np.ones_like(ids) if "mask" in name else ids
        inputs[name] = inputs[name].astype(stored.dtype)
    session = runtime.InferenceSession(case.path, providers=["CPUExecutionProvider"])
    module = import_model(case.path)
    module.verify()
    for found, wanted in zip(
        evaluate(module, inputs).values(), session.run(None, inputs), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)
