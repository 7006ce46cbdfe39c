"""Spellings of one attention give one verdict and one result on every target."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pytest
from xdsl.ir import SSAValue

from tests.support.chains import Bench, agree, near

ATTENTION = "matmul_softmax_matmul"
B, H, S, T, D, E = 2, 4, 6, 7, 8, 5
SCALE = 1 / math.sqrt(D)
Step = Callable[[Bench, SSAValue], SSAValue]


def same(b: Bench, x: SSAValue) -> SSAValue:
    return x


@dataclass(frozen=True)
class Spelling:
    """softmax(mask(scale · q kᵀ)) v, one step at a time, each in its own words."""

    q: Step = same
    k: Step = same
    scores: tuple[Step, ...] = ()
    weights: tuple[Step, ...] = ()
    product: dict[str, bool] = field(default_factory=lambda: {"transpose_b": True})

    def __call__(self, b: Bench) -> SSAValue:
        q, k = b.x("q", B, H, S, D), b.x("k", B, H, T, D)
        v = b.x("v", B, H, T, E)
        s = b.op("matmul", self.q(b, q), self.k(b, k), **self.product)
        for step in self.scores:
            s = step(b, s)
        p = b.op("softmax", s, axis=-1)
        for step in self.weights:
            p = step(b, p)
        return b.op("matmul", p, v)


def number(b: Bench, value: float, *shape: int) -> SSAValue:
    return b.const(np.full(shape, value))


def mul(value: float, left: bool = False) -> Step:
    def step(b: Bench, x: SSAValue) -> SSAValue:
        operands = (x, number(b, value))
        return b.op("mul", *(operands[::-1] if left else operands))

    return step


def div(value: float) -> Step:
    return lambda b, x: b.op("div", x, number(b, value))


def hidden(shape: tuple[int, ...] = (S, T)) -> np.ndarray:
    """0 and -inf: a few keys are hidden from each query."""
    hide = np.arange(math.prod(shape)).reshape(shape) % 3 == 1
    return np.where(hide, -np.inf, 0.0)


def add_mask(left: bool = False, shape: tuple[int, ...] = (S, T)) -> Step:
    def step(b: Bench, x: SSAValue) -> SSAValue:
        operands = (x, b.const(hidden(shape), "mask"))
        return b.op("add", *(operands[::-1] if left else operands))

    return step


def swap(b: Bench, x: SSAValue) -> SSAValue:
    return b.op("transpose", x, permutation=(0, 1, 3, 2))


def unit(*shape: int) -> Step:
    return lambda b, x: b.reshape(x, *shape)


def cast(b: Bench, x: SSAValue) -> SSAValue:
    return b.op("cast", x, result=x.type)


SPELLINGS = {
    "scale_on_the_right": Spelling(scores=(mul(SCALE),)),
    "scale_on_the_left": Spelling(scores=(mul(SCALE, left=True),)),
    "scale_divides": Spelling(scores=(div(1 / SCALE),)),
    "scale_on_q": Spelling(q=mul(SCALE)),
    "scale_on_k": Spelling(k=mul(SCALE, left=True)),
    "scale_divides_k": Spelling(k=div(1 / SCALE)),
    "scale_split": Spelling(q=mul(math.sqrt(SCALE)), k=mul(math.sqrt(SCALE))),
    "scale_twice": Spelling(scores=(mul(SCALE * 4), div(4.0))),
    "k_transposed_by_op": Spelling(k=swap, product={}, scores=(mul(SCALE),)),
    "k_transposed_then_scaled": Spelling(
        k=lambda b, k: mul(SCALE)(b, swap(b, k)), product={}
    ),
    "k_scaled_then_transposed": Spelling(
        k=lambda b, k: swap(b, mul(SCALE)(b, k)), product={}
    ),
    "k_transposed_twice": Spelling(
        k=lambda b, k: swap(b, swap(b, k)), scores=(mul(SCALE),)
    ),
    "identity_casts": Spelling(
        q=cast, k=cast, scores=(cast, mul(SCALE), cast), weights=(cast,)
    ),
    "unit_axis_on_top_and_off": Spelling(
        scores=(mul(SCALE), unit(1, B, H, S, T)), weights=(unit(B, H, S, T),)
    ),
    "unit_axis_in_the_middle_and_off": Spelling(
        scores=(unit(B, 1, H, S, T), mul(SCALE)), weights=(unit(B, H, S, T),)
    ),
    "batch_and_heads_merged_and_split": Spelling(
        scores=(mul(SCALE), unit(B * H, S, T)), weights=(unit(B, H, S, T),)
    ),
}
MASKED = {
    "after_the_scale": Spelling(scores=(mul(SCALE), add_mask())),
    "before_the_scale": Spelling(scores=(add_mask(), mul(SCALE))),
    "before_a_division": Spelling(scores=(add_mask(), div(1 / SCALE))),
    "mask_plus_scores": Spelling(scores=(mul(SCALE), add_mask(left=True))),
    "scaled_q": Spelling(q=mul(SCALE), scores=(add_mask(),)),
    "as_wide_as_the_scores": Spelling(
        scores=(mul(SCALE), add_mask(shape=(1, 1, S, T)))
    ),
    "inside_unit_axes": Spelling(
        scores=(unit(B, 1, H, S, T), add_mask(), mul(SCALE)),
        weights=(unit(B, H, S, T),),
    ),
}


def results(build: Callable[[Bench], SSAValue]) -> np.ndarray:
    bench = Bench("f64", "f32")
    return bench.close(build(bench)).meant()["y0"]


@pytest.mark.parametrize("name", SPELLINGS)
def test_one_attention(name: str) -> None:
    compiled = agree(SPELLINGS[name], ATTENTION)
    (site,) = compiled.decisions.sites
    assert site.semantics["scale"] == pytest.approx(SCALE, rel=1e-6)
    wanted = results(SPELLINGS["scale_on_the_right"])
    near({"y0": results(SPELLINGS[name])}, {"y0": wanted})


@pytest.mark.parametrize("name", MASKED)
def test_one_masked_attention(name: str) -> None:
    compiled = agree(MASKED[name], ATTENTION)
    (site,) = compiled.decisions.sites
    assert site.semantics["scale"] == pytest.approx(SCALE, rel=1e-6)
    wanted = results(MASKED["after_the_scale"])
    near({"y0": results(MASKED[name])}, {"y0": wanted})


def test_k_may_be_produced_transposed() -> None:
    def build(b: Bench) -> SSAValue:
        q, k = b.x("q", B, H, S, D), b.x("k", B, H, D, T)
        p = b.op("softmax", b.op("matmul", q, k))
        return b.op("matmul", p, b.x("v", B, H, T, E))

    agree(build, ATTENTION)


def test_an_unrelated_op_between_each_pair() -> None:
    def build(b: Bench) -> tuple[SSAValue, ...]:
        other = [b.x("other", 3)]

        def unrelated(_: Bench, x: SSAValue) -> SSAValue:
            other.append(b.op("tanh", other[-1]))
            return x

        spelling = Spelling(
            q=unrelated,
            k=unrelated,
            scores=(unrelated, mul(SCALE), unrelated, add_mask(), unrelated),
            weights=(unrelated,),
        )
        return spelling(b), other[-1]

    agree(build, ATTENTION)


@pytest.mark.parametrize("merged", [False, True])
def test_v_stands_under_the_reshape(merged: bool) -> None:
    lead = (B * H,) if merged else (1, B, H)

    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", B, H, S, D), b.x("k", B, H, D, T))
        p = b.op("softmax", b.reshape(s, *lead, S, T))
        return b.op("matmul", p, b.x("v", *lead, T, E))

    agree(build, ATTENTION)


@pytest.mark.parametrize("mask", [(S, T), (1, T), (B * H, S, T), (B * H, 1, T)])
def test_masks_after_a_reshape(mask: tuple[int, ...]) -> None:
    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", B, H, S, D), b.x("k", B, H, D, T))
        s = b.op("add", b.reshape(s, B * H, S, T), b.x("mask", *mask))
        return b.op("matmul", b.op("softmax", s), b.x("v", B * H, T, E))

    agree(build, ATTENTION)


def test_masks_on_both_sides_of_a_reshape() -> None:
    def build(b: Bench) -> SSAValue:
        s = b.op("matmul", b.x("q", B, H, S, D), b.x("k", B, H, D, T))
        s = b.op("add", s, b.x("inner", B, H, S, T))
        s = b.op("add", b.x("outer", B * H, 1, T), b.reshape(s, B * H, S, T))
        return b.op("matmul", b.op("softmax", s), b.x("v", B * H, T, E))

    agree(build, ATTENTION)


def test_every_pair_of_steps_in_either_order() -> None:
    """Steps that commute in meaning are found in any order."""
    steps = [mul(0.5), div(3.0), cast, unit(1, B, H, S, T), mul(2.0, left=True)]
    for first, second in pairwise(steps):
        for pair in ((first, second), (second, first)):
            agree(Spelling(scores=pair, weights=(unit(B, H, S, T),)), ATTENTION)
