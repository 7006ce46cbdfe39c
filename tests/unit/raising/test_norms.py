"""Every spelling of a row function is raised; what is another function is not."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.normalise import NormaliseGraph
from tessera.graph.operation import GraphOp
from tessera.graph.raising import RAISE
from tessera.graph.raising.raise_norms import RaiseNorms
from tessera.graph.types import DYN, tensor, value_dtype, value_shape
from tests.support.graphs import names, run, scalar

RNG = np.random.default_rng(3)
Maker = Callable[["Rows"], SSAValue]


class Rows:
    """Writes row functions of x[…, 8] with vectors w and b."""

    def __init__(self, shape: tuple[int, ...] = (2, 3, 8), dtype: str = "f32") -> None:
        self.graph = GraphBuilder()
        self.dtype = dtype
        self.shape = shape
        self.x = self.graph.input("x", dtype, shape)
        self.w = self.graph.input("w", dtype, shape[-1:])
        self.b = self.graph.input("b", dtype, shape[-1:])

    def k(self, value: float) -> SSAValue:
        return self.graph.const(scalar(value, self.dtype))

    def op(self, name: str, *operands: SSAValue | float, **options: Any) -> SSAValue:
        values = [v if isinstance(v, SSAValue) else self.k(v) for v in operands]
        return self.graph.op(name, *values, **options)

    def reduced(self, name: str, x: SSAValue, how: str = "keep") -> SSAValue:
        if how == "keep":
            return self.op(name, x, axes=(-1,), keepdims=True)
        flat = self.op(name, x, axes=(len(value_shape(x)) - 1,))
        shape = (*value_shape(x)[:-1], 1)
        return self.op("reshape", flat, result=tensor(value_dtype(x), shape))

    def mean(self, x: SSAValue, how: str = "mean") -> SSAValue:
        if how == "mean":
            return self.reduced("reduce_mean", x)
        total = self.reduced("reduce_sum", x, "reshape" if how == "div" else "keep")
        size = value_shape(x)[-1]
        return (
            self.op("div", total, size)
            if how == "div"
            else self.op("mul", total, 1 / size)
        )

    def finish(self, y: SSAValue) -> ModuleOp:
        return self.graph.module([("y", y)])


SQUARES: dict[str, Callable[[Rows, SSAValue], SSAValue]] = {
    "pow": lambda r, x: r.op("pow", x, 2.0),
    "product": lambda r, x: r.op("mul", x, x),
}
ROOTS: dict[str, Callable[[Rows, SSAValue, SSAValue], SSAValue]] = {
    "rsqrt": lambda r, x, v: r.op("mul", x, r.op("rsqrt", v)),
    "reciprocal": lambda r, x, v: r.op("mul", r.op("div", 1.0, r.op("sqrt", v)), x),
    "quotient": lambda r, x, v: r.op("div", x, r.op("sqrt", v)),
    "power": lambda r, x, v: r.op("mul", x, r.op("pow", v, -0.5)),
}
WEIGHTS: dict[str, Callable[[Rows, SSAValue], SSAValue]] = {
    "none": lambda r, n: n,
    "right": lambda r, n: r.op("mul", n, r.w),
    "left": lambda r, n: r.op("mul", r.w, n),
    "offset": lambda r, n: r.op("mul", n, r.op("add", 1.0, r.w)),
}


def check(rows: Rows, y: SSAValue, wanted: str, **options: Any) -> ModuleOp:
    """`y` becomes one `wanted` op, and the results stay."""
    module = rows.finish(y)
    shape = tuple(2 if n == DYN else n for n in rows.shape)
    scale = np.array([3.0, 1e-2])[:, *[None] * (len(shape) - 1)]
    inputs = {
        "x": RNG.normal(size=shape) * scale,
        "w": RNG.normal(size=shape[-1:]),
        "b": RNG.normal(size=shape[-1:]),
    }
    dtype = scalar(0, rows.dtype).dtype
    inputs = {name: array.astype(dtype) for name, array in inputs.items()}
    before = evaluate(module, inputs)["y"].astype(np.float64)
    run(module, *everything())
    assert names(module) == [wanted]
    (op,) = [
        op for op in module.walk() if isinstance(op, GraphOp) and op.short() == wanted
    ]
    for key, value in options.items():
        assert op.options()[key] == value
    after = evaluate(module, inputs)["y"].astype(np.float64)
    limit = {"f64": 1e-12, "f32": 2e-5, "f16": 6e-3, "bf16": 5e-2}[rows.dtype]
    np.testing.assert_allclose(after, before, rtol=limit, atol=limit)
    return module


def everything() -> list[ModulePass]:
    return [item() for item in (*RAISE, NormaliseGraph)]


def unchanged(module: ModuleOp) -> None:
    before = str(module)
    run(module, RaiseNorms())
    assert str(module) == before


@pytest.mark.parametrize(
    ("square", "mean", "root", "weight"),
    [*product(SQUARES, ("mean", "div", "mul"), ROOTS, WEIGHTS)],
)
def test_spellings_of_rmsnorm(square: str, mean: str, root: str, weight: str) -> None:
    rows = Rows()
    variance = rows.mean(SQUARES[square](rows, rows.x), mean)
    normal = ROOTS[root](rows, rows.x, rows.op("add", variance, 1e-6))
    offset = 1.0 if weight == "offset" else 0.0
    y = WEIGHTS[weight](rows, normal)
    check(rows, y, "rmsnorm", eps=1e-6, weight_offset=offset)


@pytest.mark.parametrize("eps", [1e-12, 1.19e-7, 1e-5, 1e-3, 0.1])
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_eps_is_the_regions_own(eps: float, dtype: str) -> None:
    rows = Rows(dtype=dtype)
    variance = rows.op("add", eps, rows.mean(rows.op("mul", rows.x, rows.x)))
    y = rows.op("div", rows.x, rows.op("sqrt", variance))
    check(rows, y, "rmsnorm", eps=eps)


def test_a_weight_folded_into_the_factor() -> None:
    rows = Rows()
    variance = rows.op("add", rows.mean(rows.op("mul", rows.x, rows.x)), 1e-6)
    factor = rows.op("mul", rows.op("rsqrt", variance), rows.w)
    check(rows, rows.op("mul", rows.x, factor), "rmsnorm")


def over(rows: Rows, axes: tuple[int, ...], name: str, x: SSAValue) -> SSAValue:
    return rows.op(name, x, axes=axes, keepdims=True)


@pytest.mark.parametrize("axes", [(-2, -1), (1, 2), (0, 1, 2), (-1, 0, -2)])
@pytest.mark.parametrize("norm", ["rmsnorm", "layernorm"])
def test_norms_over_several_axes(norm: str, axes: tuple[int, ...]) -> None:
    """The weight has the sizes of the axes, even all of the input's."""
    rows = Rows()
    rows.w = rows.graph.input("wide", "f32", rows.shape[-len(axes) :])
    x = rows.x
    if norm == "layernorm":
        x = rows.op("sub", x, over(rows, axes, "reduce_mean", x))
    variance = over(rows, axes, "reduce_mean", rows.op("mul", x, x))
    normal = rows.op("div", x, rows.op("sqrt", rows.op("add", variance, 1e-6)))
    module = rows.finish(rows.op("mul", rows.w, normal))
    run(module, *everything())
    assert names(module) == [norm]
    (op,) = [op for op in module.walk() if isinstance(op, GraphOp) and op.attrs]
    assert op.options()["axis"] == 3 - len(axes)
    assert op.operands[1] is rows.w


@pytest.mark.parametrize("axes", [(0, 1), (0, 2)])
def test_a_norm_over_other_axes_is_none(axes: tuple[int, ...]) -> None:
    rows = Rows()
    variance = over(rows, axes, "reduce_mean", rows.op("mul", rows.x, rows.x))
    root = rows.op("rsqrt", rows.op("add", variance, 1e-6))
    unchanged(rows.finish(rows.op("mul", rows.x, root)))


@pytest.mark.parametrize(
    "shape", [(8,), (1, 8), (1, 1, 8), (5, 8), (DYN, 3, 8), (2, 2, 3, 8)]
)
def test_rmsnorm_of_any_rank(shape: tuple[int, ...]) -> None:
    rows = Rows(shape)
    if len(shape) == 1:
        rows.w = rows.graph.const(RNG.normal(size=shape).astype("f"))
    variance = rows.op("add", rows.mean(rows.op("mul", rows.x, rows.x)), 1e-6)
    normal = rows.op("mul", rows.x, rows.op("rsqrt", variance))
    module = rows.finish(rows.op("mul", normal, rows.w))
    run(module, *everything())
    assert names(module) == ["rmsnorm"]


def centred(rows: Rows) -> SSAValue:
    return rows.op("sub", rows.x, rows.mean(rows.x))


def variance_of_centred(rows: Rows) -> SSAValue:
    c = centred(rows)
    return rows.mean(rows.op("mul", c, c))


def variance_by_difference(rows: Rows) -> SSAValue:
    mean = rows.mean(rows.x)
    square = rows.mean(rows.op("mul", rows.x, rows.x))
    return rows.op("max", 0.0, rows.op("sub", square, rows.op("mul", mean, mean)))


@pytest.mark.parametrize("variance", [variance_of_centred, variance_by_difference])
@pytest.mark.parametrize("root", ROOTS)
@pytest.mark.parametrize("weights", ["none", "w", "w and b", "b + w"])
def test_spellings_of_layernorm(variance: Maker, root: str, weights: str) -> None:
    rows = Rows(dtype="f64")
    spread = rows.op("add", variance(rows), 1e-5)
    y = ROOTS[root](rows, centred(rows), spread)
    if weights != "none":
        y = rows.op("mul", y, rows.w)
    if weights == "w and b":
        y = rows.op("add", y, rows.b)
    if weights == "b + w":
        y = rows.op("add", rows.b, y)
    check(rows, y, "layernorm", eps=1e-5, axis=-1)


@pytest.mark.parametrize("weights", ["none", "w", "w and b"])
def test_a_layernorm_is_more_than_an_rmsnorm_of_what_is_centred(weights: str) -> None:
    rows = Rows()
    c = centred(rows)
    spread = rows.op("add", rows.mean(rows.op("mul", c, c)), 1e-5)
    y = rows.op("mul", c, rows.op("rsqrt", spread))
    y = y if weights == "none" else rows.op("mul", y, rows.w)
    y = rows.op("add", y, rows.b) if weights == "w and b" else y
    check(rows, y, "layernorm", eps=1e-5)


@pytest.mark.parametrize("axis", [-1, 1, 0])
@pytest.mark.parametrize("divided", [True, False])
def test_spellings_of_softmax(axis: int, divided: bool) -> None:
    rows = Rows((2, 3, 4))
    peak = rows.op("reduce_max", rows.x, axes=(axis,), keepdims=True)
    y = exponentials(rows, rows.op("sub", rows.x, peak), axis, divided)
    check(rows, y, "softmax", axis=axis)


def exponentials(rows: Rows, x: SSAValue, axis: int, divided: bool) -> SSAValue:
    e = rows.op("exp", x)
    total = rows.op("reduce_sum", e, axes=(axis,), keepdims=True)
    inverse = rows.op("div", 1.0, total)
    return rows.op("div", e, total) if divided else rows.op("mul", e, inverse)


@pytest.mark.parametrize("divided", [True, False])
def test_exponentials_that_overflow_are_no_softmax(divided: bool) -> None:
    rows = Rows((2, 3, 4))
    module = rows.finish(exponentials(rows, rows.x, -1, divided))
    run(module, *everything())
    assert "softmax" not in names(module)


def rms(rows: Rows, x: SSAValue) -> SSAValue:
    variance = rows.mean(rows.op("mul", x, x))
    return rows.op("mul", x, rows.op("rsqrt", rows.op("add", variance, 1e-6)))


def test_an_eps_outside_the_root_is_another_function() -> None:
    rows = Rows()
    root = rows.op("sqrt", rows.mean(rows.op("mul", rows.x, rows.x)))
    unchanged(rows.finish(rows.op("div", rows.x, rows.op("add", root, 1e-3))))


@pytest.mark.parametrize("shape", [(4, 1), (2, 4, 4), (2, 1, 4)])
def test_a_scale_of_another_axis_is_not_a_weight(shape: tuple[int, ...]) -> None:
    rows = Rows((2, 4, 4))
    scale = rows.graph.const(RNG.normal(size=shape).astype("f"), "scale")
    module = rows.finish(rows.op("mul", rms(rows, rows.x), scale))
    run(module, RaiseNorms())
    assert names(module) == ["rmsnorm", "mul"]
    assert len(next(op for op in module.walk() if "rmsnorm" in op.name).operands) == 1


def test_a_mean_that_drops_its_axis_is_not_a_norm() -> None:
    rows = Rows((4, 4))
    centre = rows.op("sub", rows.x, rows.op("reduce_mean", rows.x, axes=(-1,)))
    square = rows.op("reduce_mean", rows.op("mul", centre, centre), axes=(-1,))
    root = rows.op("sqrt", rows.op("add", square, 1e-5))
    unchanged(rows.finish(rows.op("div", centre, root)))


@pytest.mark.parametrize("name", ["reduce_max", "reduce_sum"])
def test_another_reduction_is_not_a_mean(name: str) -> None:
    rows = Rows()
    square = rows.reduced(name, rows.op("mul", rows.x, rows.x))
    root = rows.op("sqrt", rows.op("add", square, 1e-5))
    unchanged(rows.finish(rows.op("div", rows.x, root)))


def test_a_near_miss_stays() -> None:
    rows = Rows()
    unchanged_but = rows.op("add", rms(rows, rows.x), 1e-6)
    module = rows.finish(unchanged_but)
    run(module, RaiseNorms())
    assert names(module) == ["rmsnorm", "add"]


def test_two_inputs_are_not_one_row() -> None:
    rows = Rows()
    other = rows.graph.input("other", "f32", rows.shape)
    variance = rows.mean(rows.op("mul", other, other))
    y = rows.op("mul", rows.x, rows.op("rsqrt", rows.op("add", variance, 1e-6)))
    unchanged(rows.finish(y))


def test_what_others_read_lives_on() -> None:
    rows = Rows()
    variance = rows.op("add", rows.mean(rows.op("mul", rows.x, rows.x)), 1e-6)
    y = rows.op("mul", rows.x, rows.op("rsqrt", variance))
    module = rows.graph.module([("y", y), ("variance", variance)])
    run(module, RaiseNorms())
    assert names(module) == ["mul", "reduce_mean", "add", "rmsnorm"]


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("inside", [True, False])
def test_casts_keep_their_order(dtype: str, inside: bool) -> None:
    """w * norm.to(half) rounds twice, (w * norm).to(half) once."""
    rows = Rows(dtype=dtype)
    wide, half = (tensor(name, rows.shape) for name in ("f32", dtype))
    x, w = rows.x, rows.w
    rows.dtype = "f32"
    normal = rms(rows, rows.op("cast", x, result=wide))
    if inside:
        w = rows.op("cast", w, result=tensor("f32", (8,)))
        y = rows.op("cast", rows.op("mul", w, normal), result=half)
    else:
        y = rows.op("mul", w, rows.op("cast", normal, result=half))
    rows.dtype = dtype
    module = rows.finish(y)
    inputs = {"x": RNG.normal(size=(2, 3, 8)), "w": RNG.normal(size=8)}
    kind = scalar(0, dtype).dtype
    arrays = {name: array.astype(kind) for name, array in inputs.items()}
    arrays["b"] = arrays["w"]
    before = evaluate(module, arrays)["y"]
    run(module, *everything())
    assert names(module) == (["rmsnorm"] if inside else ["rmsnorm", "mul"])
    after = evaluate(module, arrays)["y"]
    assert after.dtype == kind
    assert (after == before).mean() > 0.95


def test_a_wider_weight_stays_outside() -> None:
    rows = Rows(dtype="bf16")
    w = rows.graph.input("wide", "f32", (8,))
    wide = tensor("f32", rows.shape)
    rows.dtype = "f32"
    normal = rms(rows, rows.op("cast", rows.x, result=wide))
    y = rows.op("cast", rows.op("mul", w, normal), result=tensor("bf16", rows.shape))
    module = rows.finish(y)
    run(module, *everything())
    assert names(module) == ["cast", "rmsnorm", "cast"]


def test_a_weight_is_taken_without_its_unit_axes() -> None:
    rows = Rows()
    row = rows.op("reshape", rows.w, result=tensor("f32", (1, 1, 8)))
    check(rows, rows.op("mul", rms(rows, rows.x), row), "rmsnorm")


@pytest.mark.parametrize("norm", ["rmsnorm", "layernorm"])
def test_one_plus_a_narrow_weight(norm: str) -> None:
    """1 + w in f32 fits an rmsnorm of halves by its offset; a layernorm has none."""
    rows = Rows(dtype="bf16")
    x = rows.op("cast", rows.x, result=tensor("f32", rows.shape))
    w = rows.op("cast", rows.w, result=tensor("f32", (8,)))
    rows.dtype = "f32"
    if norm == "layernorm":
        x = rows.op("sub", x, rows.mean(x))
    y = rows.op("mul", rms(rows, x), rows.op("add", 1.0, w))
    module = rows.finish(rows.op("cast", y, result=tensor("bf16", rows.shape)))
    run(module, *everything())
    if norm == "rmsnorm":
        assert names(module) == ["rmsnorm"]
        assert "weight_offset = 1.0" in str(module)
    else:
        assert names(module) == ["cast", "cast", "layernorm", "cast"] or "add" in names(
            module
        )
