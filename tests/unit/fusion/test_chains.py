"""Chains beside plain attention: epilogues, masks, heads, ranks, sizes, narrow floats."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from xdsl.ir import SSAValue

from tessera.driver import compile_graph_module
from tessera.graph.types import value_shape
from tests.support.chains import Bench, agree, calls, case, near, options_of, run

ATTENTION, NORM, GELU = "matmul_softmax_matmul", "matmul_rmsnorm", "matmul_gelu"
NARROW = ["f32", "f16", "bf16"]
Build = Callable[[Bench], SSAValue | tuple[SSAValue, ...]]


def product(b: Bench, m: int = 3, k: int = 8, n: int = 6) -> SSAValue:
    return b.op("matmul", b.x("x", 2, m, k), b.x("w", k, n))


def no_bias(b: Bench) -> SSAValue:
    return b.op("gelu", product(b))


def bias_right(b: Bench) -> SSAValue:
    return b.op("gelu", b.op("add", product(b), b.x("bias", 6)))


def bias_left(b: Bench) -> SSAValue:
    return b.op("gelu", b.op("add", b.x("bias", 6), product(b)))


def bias_of_rank_3(b: Bench) -> SSAValue:
    return b.op("gelu", b.op("add", product(b), b.x("bias", 1, 1, 6)))


def reshape_between(b: Bench) -> SSAValue:
    rows = b.reshape(b.op("add", product(b), b.x("bias", 6)), 6, 6)
    return b.op("gelu", b.reshape(rows, 3, 1, 2, 6))


def weight_transposed(b: Bench) -> SSAValue:
    w = b.op("transpose", b.x("w", 6, 8), permutation=(1, 0))
    return b.op("gelu", b.op("matmul", b.x("x", 3, 8), w))


def batched_weight(b: Bench) -> SSAValue:
    return b.op("gelu", b.op("matmul", b.x("x", 4, 3, 8), b.x("w", 4, 8, 6)))


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize(
    "build",
    [
        *(no_bias, bias_right, bias_left, bias_of_rank_3),
        *(reshape_between, weight_transposed, batched_weight),
    ],
)
def test_gelu(build: Build, dtype: str) -> None:
    agree(build, GELU, dtype=dtype)


@pytest.mark.parametrize("form", ["none", "tanh", "quick"])
def test_gelu_forms(form: str) -> None:
    compiled = agree(lambda b: b.op("gelu", product(b), approximate=form), GELU)
    assert options_of(calls(compiled)[0])["approximate"] == form


def norm(b: Bench, h: SSAValue, *shape: int, **options: float) -> SSAValue:
    weight = (b.x("n", *shape),) if shape else ()
    return b.op("rmsnorm", h, *weight, **options)


NORMS: dict[str, Build] = {
    "plain": lambda b: norm(b, product(b)),
    "weight": lambda b: norm(b, product(b), 6),
    "weight_of_rank_3": lambda b: norm(b, product(b), 1, 1, 6),
    "one_plus_weight": lambda b: norm(b, product(b), 6, weight_offset=1.0, eps=1e-3),
    "residual_right": lambda b: norm(b, b.op("add", product(b), b.x("r", 2, 3, 6)), 6),
    "residual_left": lambda b: norm(b, b.op("add", b.x("r", 2, 3, 6), product(b)), 6),
    "bias_then_residual": lambda b: norm(
        b, b.op("add", b.x("r", 2, 3, 6), b.op("add", product(b), b.x("bias", 6))), 6
    ),
    "residual_then_bias": lambda b: norm(
        b, b.op("add", b.op("add", product(b), b.x("r", 2, 3, 6)), b.x("bias", 6)), 6
    ),
    "reshape_between": lambda b: norm(b, b.reshape(product(b), 6, 1, 6), 6),
    "residual_below_a_reshape": lambda b: norm(
        b, b.reshape(b.op("add", product(b), b.x("r", 2, 3, 6)), 6, 6), 6
    ),
    "heads": lambda b: norm(b, b.reshape(product(b), 2, 3, 2, 3), 3),
    "heads_with_bias": lambda b: norm(
        b, b.reshape(b.op("add", product(b), b.x("bias", 6)), 2, 3, 2, 3), 3
    ),
    "heads_with_residual_below": lambda b: norm(
        b, b.reshape(b.op("add", product(b), b.x("r", 2, 3, 6)), 2, 3, 2, 3), 3
    ),
    "heads_with_residual_above": lambda b: norm(
        b, b.op("add", b.reshape(product(b), 2, 3, 2, 3), b.x("r", 2, 3, 2, 3)), 3
    ),
}


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("name", NORMS)
def test_rmsnorm(name: str, dtype: str) -> None:
    agree(NORMS[name], NORM, dtype=dtype)


@pytest.mark.parametrize("dtype", NARROW)
def test_the_sum_is_also_a_result(dtype: str) -> None:
    def build(b: Bench) -> tuple[SSAValue, ...]:
        h = b.op("add", b.x("r", 2, 3, 6), product(b))
        return norm(b, h, 6), b.op("tanh", h)

    compiled = agree(build, NORM, dtype=dtype)
    call, _ = calls(compiled)
    assert call.words("gives") == ("out", "h")


def test_the_norm_reads_the_sum_as_it_is_rounded() -> None:
    def build(b: Bench) -> tuple[SSAValue, ...]:
        h = b.op("add", b.x("r", 2, 3, 6), product(b))
        return b.op("rmsnorm", h, eps=1e-12), h

    made = case(build, "f16")
    found = run(compile_graph_module(made.module, "apple_cpu"), made.inputs)
    h = found["y1"].astype(np.float64)
    wanted = h / np.sqrt((h**2).mean(-1, keepdims=True) + 1e-12)
    # one rounding of the norm: half a unit in the last place of f16, and f32's own
    assert np.max(np.abs(found["y0"] - wanted) / np.abs(wanted)) <= 2**-11 * 1.01


def test_residual_stream_of_a_transformer() -> None:
    """h1 = h0 + a; h2 = h1 + f(norm(h1)): each norm takes its own product and the sum."""

    def build(b: Bench) -> SSAValue:
        h = b.x("h0", 3, 6)
        for i in range(3):
            step = b.op("matmul", norm_of(b, h, i), b.x(f"w{i}", 6, 6))
            h = b.op("add", h, step)
        return b.op("add", h, norm_of(b, h, 3))

    def norm_of(b: Bench, h: SSAValue, i: int) -> SSAValue:
        return b.op("rmsnorm", h, b.x(f"n{i}", 6))

    agree(build, NORM, NORM, NORM)


def keep(*shape: int) -> np.ndarray:
    found = np.arange(math.prod(shape)).reshape(shape) % 3 != 1
    found[..., 0] = True
    return found


def masked(fill: float, kept: bool, before: bool = False) -> Build:
    """A boolean mask by select, in either order; the scale before or after it."""

    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", 2, 4, 6, 8), b.x("k", 2, 4, 8, 7))
        scale = b.const(0.25)
        s = s if before else b.op("mul", s, scale)
        mask = keep(2, 1, 6, 7)
        cond = b.given("mask", mask if kept else ~mask)
        low = b.const(fill)
        s = b.op("select", cond, *((s, low) if kept else (low, s)))
        s = b.op("mul", s, scale) if before else s
        return b.op("matmul", b.op("softmax", s), b.x("v", 2, 4, 7, 5))

    return build


@pytest.mark.parametrize("fill", [-math.inf, -1e4, -2.0])
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_boolean_masks(fill: float, kept: bool, before: bool, dtype: str) -> None:
    agree(masked(fill, kept, before), ATTENTION, dtype=dtype)


@pytest.mark.parametrize("outer", [1.0, 0.5])
def test_softcap(outer: float) -> None:
    """The cap is what multiplies tanh; what divides below it is part of the scale."""

    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", 6, 8), b.x("k", 8, 7))
        s = b.op("div", b.op("mul", s, b.const(0.5)), b.const(4.0))
        s = b.op("mul", b.op("tanh", s), b.const(4.0))
        s = b.op("add", b.op("mul", s, b.const(outer)), b.x("mask", 6, 7))
        return b.op("matmul", b.op("softmax", s), b.x("v", 7, 5))

    compiled = agree(build, ATTENTION)
    options = options_of(calls(compiled)[0])
    assert options["softcap"] == 4.0 * outer
    assert options["scale"] == 0.5 * outer


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
@pytest.mark.parametrize("divides", [True, False])
@pytest.mark.parametrize("hop", [True, False])
def test_scale_operand(shape: tuple[int, ...], divides: bool, hop: bool) -> None:
    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", 2, 6, 8), b.x("k", 2, 8, 7))
        by = b.given("by", np.full(shape, 0.35))
        s = b.op("div" if divides else "mul", s, by)
        s = b.reshape(s, 1, 2, 6, 7) if hop else s
        s = b.op("add", s, b.x("mask", 6, 7))
        s = b.reshape(s, 2, 6, 7) if hop else s
        return b.op("matmul", b.op("softmax", s), b.x("v", 2, 7, 5))

    agree(build, ATTENTION)


@pytest.mark.parametrize("transposed", [True, False])
def test_grouped_heads(transposed: bool) -> None:
    """Repeats of heads by reshape, broadcast, reshape are not materialised."""

    def repeat(b: Bench, x: SSAValue, tokens: int, width: int) -> SSAValue:
        x = b.broadcast(b.reshape(x, 2, 2, 1, tokens, width), 2, 2, 3, tokens, width)
        return b.reshape(x, 2, 6, tokens, width)

    def build(b: Bench) -> SSAValue:
        q = b.x("q", 2, 6, 5, 8)
        tokens, width = (7, 8) if transposed else (8, 7)
        k = repeat(b, b.x("k", 2, 2, tokens, width), tokens, width)
        v = repeat(b, b.x("v", 2, 2, 7, 4), 7, 4)
        s = b.op("matmul", q, k, transpose_b=transposed)
        s = b.op("mul", s, b.const(0.3))
        return b.op("matmul", b.op("softmax", s), v)

    (call,) = calls(agree(build, ATTENTION))
    assert [value_shape(v)[1] for v in call.operands] == [6, 2, 2]


def test_several_chains_and_shared_operands() -> None:
    def build(b: Bench) -> tuple[SSAValue, ...]:
        q, k, v = b.x("q", 6, 8), b.x("k", 8, 7), b.x("v", 7, 8)
        first = b.op("matmul", b.op("softmax", b.op("matmul", q, k)), v)
        second = b.op("matmul", b.op("softmax", b.op("matmul", first, k)), v)
        router = b.op("softmax", b.op("matmul", q, k))
        return second, router, b.op("gelu", b.op("matmul", first, k)), first

    agree(build, ATTENTION, ATTENTION, "matmul_softmax", GELU)


def attention(*sizes: int, lead: tuple[int, ...] = ()) -> Build:
    s, t, d, e = sizes

    def build(b: Bench) -> SSAValue:
        scores = b.op("matmul", b.x("q", *lead, s, d), b.x("k", *lead, d, t))
        scores = b.op("mul", scores, b.const(0.4))
        return b.op("matmul", b.op("softmax", scores), b.x("v", *lead, t, e))

    return build


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("rank", [2, 3, 4, 5])
def test_ranks(rank: int, dtype: str) -> None:
    agree(attention(6, 7, 8, 5, lead=(2, 3, 2)[: rank - 2]), ATTENTION, dtype=dtype)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("size", [0, 1])
def test_sizes_0_and_1(place: int, size: int) -> None:
    sizes = [6, 7, 8, 5]
    sizes[place] = size
    agree(attention(*sizes, lead=(2,)), ATTENTION)


@pytest.mark.parametrize("size", [0, 1])
def test_lead_sizes_0_and_1(size: int) -> None:
    agree(attention(6, 7, 8, 5, lead=(size, 2)), ATTENTION)


@pytest.mark.parametrize("sizes", [(0, 8, 6), (3, 0, 6), (3, 8, 0), (1, 1, 1)])
def test_epilogues_of_sizes_0_and_1(sizes: tuple[int, ...]) -> None:
    agree(lambda b: b.op("gelu", product(b, *sizes)), GELU)
    agree(lambda b: b.op("rmsnorm", product(b, *sizes)), NORM)
    agree(lambda b: b.op("softmax", product(b, *sizes)), "matmul_softmax")


def test_f16_scores_beyond_f16_stay_finite() -> None:
    """Op by op the scores overflow; one call keeps them in f32."""

    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", 4, 64, scale=120.0), b.x("k", 64, 5, scale=120.0))
        p = b.op("softmax", b.op("mul", s, b.const(1 / 4096)))
        return b.op("matmul", p, b.x("v", 5, 3))

    made = case(build, "f16")
    assert not np.isfinite(made.meant()["y0"]).all()
    found = run(compile_graph_module(made.module, "apple_cpu"), made.inputs)
    near(found, case(build, "f64", "f16").meant(), "f16")


def test_a_removed_key_has_no_influence_once_fused() -> None:
    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", 3, 8), b.x("k", 8, 4))
        kept = b.given("keep", np.array([True, True, False, True]))
        s = b.op("select", kept, s, b.const(-math.inf))
        return b.op("matmul", b.op("softmax", s), b.x("v", 4, 5))

    made = case(build)
    wanted = made.meant()
    made.inputs["v"][2] = math.nan
    near(run(compile_graph_module(made.module, "apple_cpu"), made.inputs), wanted)


def test_a_row_without_keys_gives_zeros() -> None:
    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", 3, 8), b.x("k", 8, 4))
        kept = b.given("keep", np.arange(3)[:, None] + np.zeros(4, int) > 0)
        s = b.op("select", kept, s, b.const(-math.inf))
        return b.op("matmul", b.op("softmax", s), b.x("v", 4, 5))

    made = case(build)
    found = run(compile_graph_module(made.module, "apple_cpu"), made.inputs)["y0"]
    assert (found[0] == 0).all()
    assert (found[1:] != 0).all()
