"""What each normalising pass does, and where the right answer is no change."""

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.normalise import NORMALISE, NormaliseGraph
from tessera.graph.normalise.absorb_transposes import AbsorbTransposes
from tessera.graph.normalise.drop_dead_code import DropDeadCode
from tessera.graph.normalise.drop_identities import DropIdentities
from tessera.graph.normalise.fold_constants import FoldConstants
from tessera.graph.normalise.hoist_constants import HoistConstants
from tessera.graph.normalise.write_defaults import WriteDefaults
from tessera.graph.ops.elementwise import NegOp
from tessera.graph.ops.layout import END, ConstOp
from tessera.graph.ops.reduction import MatmulOp
from tessera.graph.types import DYN, tensor
from tests.support.graphs import names, run, scalar, stamp

RNG = np.random.default_rng(0)


def constants(module: ModuleOp) -> list[np.ndarray]:
    return [op.array for op in module.walk() if isinstance(op, ConstOp)]


def unary(dtype: str, shape: tuple[int, ...], name: str, **options: Any):
    graph = GraphBuilder()
    x = graph.input("x", dtype, shape)
    return graph.module([("y", graph.op(name, x, **options))])


# fold-constants


def test_folding_keeps_dtype_and_shape() -> None:
    graph = GraphBuilder()
    half = graph.const(scalar(1.5, "f16"))
    row = graph.const(np.ones((1, 3), np.float16))
    total = graph.op("add", half, row)
    module = graph.module(
        [("y", graph.op("cast", total, result=tensor("f32", (1, 3))))]
    )
    run(module, FoldConstants())
    (array,) = constants(module)
    assert (array.dtype, array.shape, array.tolist()) == (
        np.float32,
        (1, 3),
        [[2.5] * 3],
    )


def test_a_default_is_not_a_constant() -> None:
    graph = GraphBuilder()
    w = graph.input("w", "f32", (2,), np.ones(2, np.float32))
    module = graph.module([("y", graph.op("neg", w))])
    run(module, FoldConstants())
    assert names(module) == ["neg"]
    fed = {"w": np.full(2, 3, np.float32)}
    assert evaluate(module, fed)["y"].tolist() == [-3.0, -3.0]


@pytest.mark.parametrize(("size", "left"), [(8, []), (1 << 22, ["fill"])])
def test_only_small_fills_fold(size: int, left: list[str]) -> None:
    graph = GraphBuilder()
    y = graph.op("fill", value=0.0, result=tensor("f32", (size,)))
    module = graph.module([("y", y)])
    run(module, FoldConstants())
    assert names(module) == left


def test_a_known_shape_folds_and_an_unknown_one_stays() -> None:
    known = unary("f32", (2, 3), "shape")
    run(known, FoldConstants())
    assert [c.tolist() for c in constants(known)] == [[2, 3]]
    unknown = unary("f32", (DYN, 3), "shape")
    run(unknown, FoldConstants())
    assert names(unknown) == ["shape"]


def test_an_index_out_of_range_stays_to_fail_where_it_runs() -> None:
    graph = GraphBuilder()
    x = graph.const(np.arange(4.0))
    y = graph.op("gather", x, graph.const(np.array([9])))
    module = graph.module([("y", y)])
    run(module, FoldConstants())
    assert names(module) == ["gather"]


def test_a_contraction_of_constants_folds_with_its_transposes() -> None:
    graph = GraphBuilder()
    a, b = (graph.const(RNG.normal(size=(2, 2)), name) for name in "ab")
    a, b = (graph.op("transpose", v, permutation=(1, 0)) for v in (a, b))
    module = graph.module([("y", graph.op("matmul", a, b))])
    before = evaluate(module, {})["y"]
    run(module, FoldConstants())
    assert names(module) == []
    assert (evaluate(module, {})["y"] == before).all()


def test_folded_weights_have_names_of_their_own() -> None:
    graph = GraphBuilder()
    w = graph.const(RNG.normal(size=(5, 5)), "w")
    ys = [graph.op(name, w) for name in ("neg", "neg", "abs")]
    module = graph.module([(f"y{i}", y) for i, y in enumerate(ys)])
    run(module, FoldConstants())
    assert [f"w.{k}" in str(module) for k in ("neg", "neg.2", "abs")] == [True] * 3


# drop-identities


def binary(
    name: str, array: np.ndarray, shape: tuple[int, ...] = (2, 3), left: bool = False
) -> list[str]:
    graph = GraphBuilder()
    x = graph.input("x", str({8: "f64", 4: "f32"}[array.itemsize]), shape)
    c = graph.const(array)
    y = graph.op(name, *((c, x) if left else (x, c)))
    module = graph.module([("y", y)])
    run(module, DropIdentities())
    return names(module)


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        *[("mul", 1.0, False), ("mul", 1.0, True), ("div", 1.0, False)],
        *[("add", -0.0, False), ("add", -0.0, True), ("sub", 0.0, False)],
        *[("pow", 1.0, False), ("max", -np.inf, True), ("min", np.inf, False)],
    ],
)
@pytest.mark.parametrize("shape", [(), (1,), (1, 1), (1, 3), (2, 3)])
def test_neutral_constants_go(
    name: str, value: float, left: bool, shape: tuple[int, ...]
) -> None:
    assert binary(name, np.full(shape, value), left=left) == []


@pytest.mark.parametrize(
    ("name", "value", "left"),
    [
        *[("add", 0.0, False), ("sub", -0.0, False), ("sub", 0.0, True)],
        *[("div", 1.0, True), ("pow", 1.0, True), ("mul", 1.0000001, False)],
    ],
)
def test_what_is_not_neutral_stays(name: str, value: float, left: bool) -> None:
    assert binary(name, scalar(value, "f64"), left=left) == [name]


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 2, 3)])
def test_a_neutral_constant_that_raises_the_rank_stays(shape: tuple[int, ...]) -> None:
    assert binary("mul", np.ones(shape)) == ["mul"]


def test_a_neutral_constant_that_may_stretch_an_unknown_size_stays() -> None:
    assert binary("mul", np.ones((2, 1)), (DYN, 3)) == ["mul"]
    assert binary("mul", np.ones((1, 3)), (DYN, 3)) == []


def test_views_merge_and_vanish() -> None:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (2, 3, 4))
    y = graph.op("reshape", x, result=tensor("f32", (6, 4)))
    y = graph.op("reshape", y, result=tensor("f32", (2, 3, 4)))
    y = graph.op("transpose", y, permutation=(2, 0, 1))
    y = graph.op("transpose", y, permutation=(1, 2, 0))
    y = graph.op("slice", y, starts=(0, 0, 0), stops=(END, 3, 9), steps=(1, 1, 1))
    y = graph.op("concat", y, axis=0)
    y = graph.op("pad", y, low=(0, 0, 0), high=(0, 0, 0))
    y = graph.op("cast", y, result=tensor("f32", (2, 3, 4)))
    module = graph.module([("y", graph.op("neg", graph.op("neg", y)))])
    run(module, DropIdentities())
    assert names(module) == []


def test_a_pair_that_states_more_sizes_stays() -> None:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (DYN, 3))
    y = graph.op(
        "transpose", graph.op("transpose", x, permutation=(1, 0)), permutation=(1, 0)
    )
    known = NegOp.create(operands=[y], result_types=[tensor("f32", (2, 3))])
    again = NegOp.create(operands=known.results, result_types=[tensor("f32", (2, 3))])
    graph.block.add_ops([known, again])
    module = graph.module([("y", again.results[0])])
    run(module, NormaliseGraph())
    assert names(module) == ["neg", "neg"]


def test_what_holds_nothing_leaves_a_concat() -> None:
    graph = GraphBuilder()
    x, none = graph.input("x", "f32", (2, 3)), graph.input("none", "f32", (2, 0))
    one = graph.op("concat", none, x, axis=-1)
    two = graph.op("concat", x, none, x, axis=1)
    nothing = graph.op("concat", none, none, axis=1)
    module = graph.module([("one", one), ("two", two), ("nothing", nothing)])
    run(module, DropIdentities())
    assert names(module) == ["concat", "concat"]
    assert "tensor<2x0xf32>, tensor<2x3xf32>" not in str(module)


def cast_pair(source: str, middle: str, target: str) -> list[str]:
    graph = GraphBuilder()
    x = graph.input("x", source, (2,))
    y = graph.op("cast", x, result=tensor(middle, (2,)))
    y = graph.op("cast", y, result=tensor(target, (2,)))
    module = graph.module([("y", y)])
    run(module, DropIdentities())
    return names(module)


@pytest.mark.parametrize(
    ("types", "left"),
    [
        *[(("f16", "f32", "f16"), 0), (("bf16", "f32", "bf16"), 0)],
        *[(("i8", "f32", "i8"), 0), (("f16", "f32", "f64"), 1)],
        *[(("f32", "f16", "f32"), 2), (("f16", "bf16", "f16"), 2)],
        *[(("bf16", "f16", "bf16"), 2), (("i64", "f64", "i64"), 2)],
        *[
            (("i8", "ui8", "i32"), 2),
            (("i32", "f32", "i32"), 2),
            (("i1", "i8", "f32"), 1),
        ],
    ],
)
def test_casts_merge_when_nothing_is_lost(
    types: tuple[str, str, str], left: int
) -> None:
    assert len(cast_pair(*types)) == left


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize(
    "name", ["softmax", "gelu", "silu", "softplus", "tanh", "sigmoid"]
)
def test_casts_around_a_function_go_to_the_last_bit(name: str, dtype: str) -> None:
    graph = GraphBuilder()
    x = graph.input("x", dtype, (64, 33))
    wide = graph.op("cast", x, result=tensor("f32", (64, 33)))
    y = graph.op("cast", graph.op(name, wide), result=tensor(dtype, (64, 33)))
    module = graph.module([("y", y)])
    inputs = {"x": (4 * RNG.normal(size=(64, 33))).astype(scalar(0, dtype).dtype)}
    before = evaluate(module, inputs)["y"]
    run(module, DropIdentities(), DropDeadCode())
    assert names(module) == [name]
    np.testing.assert_array_equal(evaluate(module, inputs)["y"], before)


def test_a_known_choice_is_made() -> None:
    graph = GraphBuilder()
    a, b = graph.input("a", "f32", (2,)), graph.input("b", "f32", (2,))
    y = graph.op("select", graph.const(np.array([True, True])), a, b)
    z = graph.op("select", graph.const(np.array([True, False])), a, b)
    module = graph.module([("y", y), ("z", z)])
    run(module, DropIdentities())
    assert names(module) == ["select"]


# absorb-transposes


def contraction(
    order: tuple[int, ...], side: int = 1, **flags: Any
) -> tuple[ModuleOp, list[str]]:
    graph = GraphBuilder()
    rank = len(order)
    values: list[SSAValue] = [graph.input(n, "f32", (3,) * rank) for n in "ab"]
    values[side] = graph.op("transpose", values[side], permutation=order)
    module = graph.module([("y", graph.op("matmul", *values, **flags))])
    run(module, AbsorbTransposes())
    return module, names(module)


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("order", [(1, 0), (0, 2, 1), (0, 1, 3, 2)])
def test_a_swap_becomes_a_flag(order: tuple[int, ...], side: int) -> None:
    flag = ("transpose_a", "transpose_b")[side]
    for before in (False, True):
        module, left = contraction(order, side, **{flag: before})
        assert left == ["matmul"]
        (matmul,) = [op for op in module.walk() if isinstance(op, MatmulOp)]
        assert matmul.options()[flag] is not before


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 0, 1), (1, 2, 0), (1, 0, 3, 2)])
def test_another_order_stays(order: tuple[int, ...]) -> None:
    assert contraction(order)[1] == ["transpose", "matmul"]


def tied(also: bool, flagged: bool) -> ModuleOp:
    graph = GraphBuilder()
    w = graph.const(RNG.normal(size=(8, 4)).astype("f"), "w")
    x = graph.input("x", "f32", (2, 4))
    if flagged:
        y = graph.op("matmul", x, w, transpose_b=True)
    else:
        y = graph.op("matmul", x, graph.op("transpose", w, permutation=(1, 0)))
    results = [("y", y)]
    if also:
        rows = graph.input("rows", "i64", (2,))
        results.append(("z", graph.op("gather", w, rows)))
    return graph.module(results)


@pytest.mark.parametrize("flagged", [False, True])
def test_a_weight_is_stored_as_it_is_read(flagged: bool) -> None:
    module = tied(also=False, flagged=flagged)
    run(module, NormaliseGraph())
    assert [c.shape for c in constants(module)] == [(4, 8)]
    assert "transpose_b = true" not in str(module)


@pytest.mark.parametrize("flagged", [False, True])
def test_a_weight_with_other_readers_is_not_copied(flagged: bool) -> None:
    module = tied(also=True, flagged=flagged)
    run(module, NormaliseGraph())
    assert [c.shape for c in constants(module)] == [(8, 4)]
    assert names(module) == ["matmul", "gather"]
    assert "transpose_b = true" in str(module)


# hoist-constants


@pytest.mark.parametrize("size", [2, 8, 300])
def test_values_decide_which_constants_merge(size: int) -> None:
    w = RNG.normal(size=(size, size))
    cases = {"same": w.copy(), "negated": -w, "permuted": w[::-1].copy()}
    for name, other in cases.items():
        graph = GraphBuilder()
        x = graph.input("x", "f64", (1, size))
        first = graph.op("matmul", x, graph.const(w, "w1"))
        second = graph.op("matmul", x, graph.const(other, "w2"))
        module = graph.module([("y", graph.op("add", first, second))])
        before = evaluate(module, {"x": np.ones((1, size))})["y"]
        run(module, NormaliseGraph())
        merged = name == "same" and w.nbytes <= 1 << 16
        assert len(constants(module)) == (1 if merged else 2)
        assert (evaluate(module, {"x": np.ones((1, size))})["y"] == before).all()


def test_constants_of_other_types_and_shapes_stay_apart() -> None:
    graph = GraphBuilder()
    arrays = [
        np.zeros(2, np.float32),
        np.zeros(2, np.int32),
        np.zeros((1, 2), np.float32),
    ]
    arrays += [-np.zeros(2, np.float32), np.zeros(2, np.float32)]
    module = graph.module([(f"y{i}", graph.const(a)) for i, a in enumerate(arrays)])
    run(module, HoistConstants())
    assert len(constants(module)) == 4


def test_constants_stand_in_order_of_first_use() -> None:
    graph = GraphBuilder()
    x = graph.input("x", "f32", ())
    graph.const(scalar(9))
    late, early = graph.const(scalar(1)), graph.const(scalar(2))
    y = graph.op("add", graph.op("add", x, early), late)
    module = graph.module([("y", y)])
    run(module, HoistConstants())
    assert [c.item() for c in constants(module)] == [2, 1]


# write-defaults


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("softmax", {}, "{axis = -1 : i64}"),
        ("softmax", {"axis": 1}, "{axis = -1 : i64}"),
        ("softmax", {"axis": -2}, "{axis = 0 : i64}"),
        ("argmax", {"axis": 1}, "{axis = -1 : i64, keepdims = false}"),
        ("gelu", {}, '{approximate = "none"}'),
        (
            "reduce_sum",
            {"axes": (-1, 0)},
            "{axes = array<i64: 0, -1>, keepdims = false}",
        ),
    ],
)
def test_attributes_are_canonical(
    name: str, given: dict[str, Any], wanted: str
) -> None:
    module = unary("f32", (2, 3), name, **given)
    run(module, WriteDefaults())
    assert wanted in str(module)


def test_a_default_that_depends_on_shapes_stays_absent() -> None:
    graph = GraphBuilder()
    q = graph.input("q", "f32", (2, 4, 8))
    module = graph.module([("y", graph.op("flash_attn", q, q, q))])
    run(module, WriteDefaults())
    assert 'causal = "none"' in str(module)
    assert "scale" not in str(module)


def test_bounds_of_slices_are_those_taken() -> None:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (5, DYN, 4, 3))
    options: dict[str, Any] = {
        "starts": (-3, -2, 9, -1),
        "stops": (END, END, END, -(1 << 62)),
    }
    y = graph.op("slice", x, **options, steps=(1, 1, 1, -1))
    module = graph.module([("y", y)])
    run(module, WriteDefaults())
    assert f"starts = array<i64: 2, -2, 0, 2>, stops = array<i64: 5, {END}, 0, " in str(
        module
    )


# notes


def stamped(name: str = "matmul_gelu") -> tuple[GraphBuilder, SSAValue, SSAValue]:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (2, 2))
    h = graph.op("matmul", x, graph.op("transpose", x, permutation=(1, 0)))
    stamp(h, name)
    return graph, x, h


def test_a_rewritten_op_keeps_its_notes() -> None:
    graph, _, h = stamped()
    module = graph.module([("y", h)])
    assert len(run(module, NormaliseGraph())) == 0
    assert 'tessera.fusion.intent = "matmul_gelu"' in str(module)
    assert names(module) == ["matmul"]


def test_a_note_moves_to_the_value_that_stands_for_its_op() -> None:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (2, 2))
    y = graph.op("mul", graph.op("gelu", x), graph.const(scalar(1)))
    stamp(y, "matmul_gelu")
    module = graph.module([("y", y)])
    assert len(run(module, NormaliseGraph())) == 0
    assert names(module) == ["gelu"]
    assert 'tessera.fusion.intent = "matmul_gelu"' in str(module)


def test_a_dropped_note_is_reported() -> None:
    graph, x, _ = stamped()
    module = graph.module([("y", x)])
    (warning,) = run(module, DropDeadCode())
    assert warning.severity == "warning"
    assert warning.code is not None
    assert warning.code.id == "TSR-G043"


def test_the_list_names_each_pass_once() -> None:
    assert len(set(NORMALISE)) == len(NORMALISE)
