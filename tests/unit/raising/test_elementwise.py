"""Every spelling of an activation is raised; near misses are not."""

from collections.abc import Callable
from math import pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.locations import file_location, location_of
from tessera.graph.raising import RAISE
from tessera.graph.raising.raise_elementwise import RaiseElementwise
from tessera.graph.types import tensor
from tests.support.graphs import check_pass, names, random_graph, run, scalar, stamp

RNG = np.random.default_rng(5)
Value = SSAValue | float


class Curve:
    """Writes functions of one input, op by op."""

    def __init__(self, dtype: str = "f32", shape: tuple[int, ...] = (3, 4)) -> None:
        self.graph = GraphBuilder()
        self.dtype = dtype
        self.x = self.graph.input("x", dtype, shape)

    def op(self, name: str, *operands: Value) -> SSAValue:
        return self.graph.op(name, *map(self.value, operands))

    def value(self, value: Value) -> SSAValue:
        if isinstance(value, SSAValue):
            return value
        return self.graph.const(scalar(value, self.dtype))

    def add(self, a: Value, b: Value) -> SSAValue:
        return self.op("add", a, b)

    def mul(self, a: Value, b: Value) -> SSAValue:
        return self.op("mul", a, b)

    def div(self, a: Value, b: Value) -> SSAValue:
        return self.op("div", a, b)

    def cdf(self, x: Value) -> SSAValue:
        return self.add(1.0, self.op("erf", self.div(x, sqrt(2))))

    def logistic(self, x: Value) -> SSAValue:
        return self.div(1.0, self.add(1.0, self.op("exp", self.op("neg", x))))

    def bend(self, cube: SSAValue) -> SSAValue:
        inner = self.mul(sqrt(2 / pi), self.add(self.x, self.mul(0.044715, cube)))
        return self.add(self.op("tanh", inner), 1.0)

    def finish(self, y: SSAValue) -> ModuleOp:
        return self.graph.module([("y", y)])


Spelling = Callable[[Curve], SSAValue]


def cubed(c: Curve) -> SSAValue:
    return c.mul(c.mul(c.x, c.x), c.x)


def folded_tanh(c: Curve) -> SSAValue:
    """x * (0.5 * (1 + tanh(x * 0.7979 * (1 + 0.0447 x²))))."""
    bracket = c.add(1.0, c.mul(0.044715, c.mul(c.x, c.x)))
    inner = c.op("tanh", c.mul(c.mul(c.x, 0.7978845608), bracket))
    return c.mul(c.x, c.mul(0.5, c.add(1.0, inner)))


def stable_softplus(c: Curve) -> SSAValue:
    tail = c.op("exp", c.op("neg", c.op("abs", c.x)))
    return c.add(c.op("max", c.x, 0.0), c.op("log", c.add(1.0, tail)))


def guarded_softplus(c: Curve) -> SSAValue:
    soft = c.op("log", c.add(1.0, c.op("exp", c.x)))
    large = c.graph.op("cmp", c.x, c.value(20.0), kind="gt")
    return c.op("select", large, c.x, soft)


def half(c: Curve) -> SSAValue:
    return c.mul(c.x, 0.5)


SPELLINGS: list[tuple[str, Spelling]] = [
    ("gelu none", lambda c: c.mul(c.mul(c.x, 0.5), c.cdf(c.x))),
    ("gelu none", lambda c: c.mul(c.x, c.mul(0.5, c.cdf(c.x)))),
    ("gelu none", lambda c: c.div(c.mul(c.x, c.cdf(c.x)), 2.0)),
    (
        "gelu none",
        lambda c: c.add(
            c.mul(c.x, 0.5), c.mul(c.mul(c.x, 0.5), c.op("erf", c.mul(c.x, sqrt(0.5))))
        ),
    ),
    ("gelu tanh", lambda c: c.mul(c.mul(0.5, c.x), c.bend(c.op("pow", c.x, 3.0)))),
    ("gelu tanh", lambda c: c.mul(c.bend(cubed(c)), c.mul(c.x, 0.5))),
    ("gelu tanh", folded_tanh),
    ("gelu quick", lambda c: c.mul(c.x, c.op("sigmoid", c.mul(c.x, 1.702)))),
    ("gelu quick", lambda c: c.mul(c.logistic(c.mul(1.702, c.x)), c.x)),
    ("silu", lambda c: c.mul(c.x, c.op("sigmoid", c.x))),
    ("silu", lambda c: c.div(c.x, c.add(1.0, c.op("exp", c.op("neg", c.x))))),
    ("silu", lambda c: c.mul(c.logistic(c.x), c.x)),
    (
        "silu",
        lambda c: c.mul(c.mul(c.x, 0.5), c.add(1.0, c.op("tanh", c.mul(c.x, 0.5)))),
    ),
    ("softplus", lambda c: c.op("log", c.add(1.0, c.op("exp", c.x)))),
    ("softplus", stable_softplus),
    ("softplus", guarded_softplus),
    ("sigmoid", lambda c: c.logistic(c.x)),
]


@pytest.mark.parametrize(("wanted", "spelling"), SPELLINGS)
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_spellings(wanted: str, spelling: Spelling, dtype: str) -> None:
    curve = Curve(dtype)
    module = curve.finish(spelling(curve))
    x = (RNG.normal(size=(3, 4)) * 2).astype(scalar(0, dtype).dtype)
    before = evaluate(module, {"x": x})["y"].astype(np.float64)
    run(module, RaiseElementwise())
    name, _, form = wanted.partition(" ")
    assert names(module) == [name]
    assert f'approximate = "{form}"' in str(module) or not form
    after = evaluate(module, {"x": x})["y"].astype(np.float64)
    limit = {"f64": 1e-7, "f32": 1e-5, "f16": 1e-2, "bf16": 8e-2}[dtype]
    np.testing.assert_allclose(after, before, rtol=limit, atol=limit)


NEAR_MISSES: list[Spelling] = [
    lambda c: c.add(c.op("sigmoid", c.x), 1e-6),
    lambda c: c.mul(c.x, c.op("sigmoid", c.mul(c.x, 1.0001))),
    lambda c: c.mul(c.x, c.op("sigmoid", c.mul(c.x, 1.7))),
    lambda c: c.mul(c.mul(c.x, 0.5), c.add(1.00001, c.op("erf", c.div(c.x, sqrt(2))))),
    lambda c: c.mul(c.mul(c.x, 0.5), c.bend(c.mul(cubed(c), 1.001))),
    lambda c: c.op("log", c.add(1.001, c.op("exp", c.x))),
    lambda c: c.mul(c.x, c.op("tanh", c.x)),
    lambda c: c.mul(30.0, c.op("tanh", c.div(c.x, 30.0))),
    lambda c: c.op("max", c.x, 0.0),
]


@pytest.mark.parametrize("spelling", NEAR_MISSES)
@pytest.mark.parametrize("dtype", ["f64", "f32"])
def test_near_misses_stay(spelling: Spelling, dtype: str) -> None:
    curve = Curve(dtype)
    module = curve.finish(spelling(curve))
    before = str(module)
    run(module, RaiseElementwise())
    assert str(module) == before


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("offset", [1e-3, 1e-4])
def test_a_narrow_near_miss_stays(dtype: str, offset: float) -> None:
    curve = Curve(dtype)
    module = curve.finish(curve.add(curve.op("sigmoid", curve.x), offset))
    run(module, RaiseElementwise())
    assert names(module) == ["sigmoid", "add"]


def test_a_number_that_raises_the_rank_is_not_of_the_curve() -> None:
    curve = Curve()
    one = curve.graph.const(np.ones((1, 1, 1), np.float32))
    exp = curve.op("exp", curve.op("neg", curve.x))
    module = curve.finish(curve.div(curve.x, curve.add(one, exp)))
    run(module, RaiseElementwise())
    assert "silu" not in names(module)


def test_an_overridable_number_is_not_known() -> None:
    curve = Curve()
    half = curve.graph.input("half", "f32", (), scalar(0.5))
    module = curve.finish(curve.mul(curve.mul(curve.x, half), curve.cdf(curve.x)))
    run(module, RaiseElementwise())
    assert "gelu" not in names(module)


def test_rounding_in_the_middle_is_another_function() -> None:
    curve = Curve()
    half = curve.graph.op("cast", curve.x, result=tensor("f16", (3, 4)))
    back = curve.graph.op("cast", half, result=tensor("f32", (3, 4)))
    module = curve.finish(curve.mul(curve.x, curve.op("sigmoid", back)))
    run(module, RaiseElementwise())
    assert "silu" not in names(module)


def test_one_rounding_at_the_end_is_the_op() -> None:
    curve = Curve("bf16")
    wide = curve.graph.op("cast", curve.x, result=tensor("f32", (3, 4)))
    y = curve.mul(wide, curve.op("sigmoid", wide))
    y = curve.graph.op("cast", y, result=tensor("bf16", (3, 4)))
    module = curve.finish(y)
    run(module, RaiseElementwise())
    assert names(module) == ["silu"]


def test_what_others_read_lives_on() -> None:
    curve = Curve()
    gate = curve.op("sigmoid", curve.x)
    y = curve.mul(curve.x, gate)
    module = curve.graph.module([("y", y), ("gate", gate)])
    run(module, RaiseElementwise())
    assert names(module) == ["sigmoid", "silu"]


def test_place_and_notes_are_those_of_the_root() -> None:
    curve = Curve()
    gate = curve.op("sigmoid", curve.x)
    place = file_location("net.py", 7, 3)
    y = curve.graph.op("mul", curve.x, gate, location=place)
    stamp(y, "matmul_gelu")
    stamp(gate, "matmul_gelu")
    module = curve.finish(y)
    (dropped,) = run(module, RaiseElementwise())
    assert dropped.code is not None
    assert dropped.code.id == "TSR-G043"
    (silu,) = [op for op in module.walk() if op.name == "tessera.silu"]
    assert str(location_of(silu)) == "net.py:7:3"
    assert "tessera.fusion.intent" in silu.attributes


NEAR_ZERO = (7.85386146e-5, -8.0101937e-4, 5.18832775e-3, -2.68538129e-2)
NEAR_ZERO += (0.112835854, -0.37612626, 1.12837911)
BELOW_TWO = (2.326820e-2, -0.138703942, 0.368742466, -0.582473278, 0.621000468)
BELOW_TWO += (-0.494451523, 0.340488, -0.274112701, 0.563825965)
ABOVE_TWO = (-10.477664, 12.9772, -7.49551868, 2.92101908, -1.01526523)
ABOVE_TWO += (0.42184633, -0.282076746, 0.564189494)


def erfc_expanded(c: Curve, x: SSAValue) -> SSAValue:
    """erfc as XLA expands it in f32: three polynomials and four choices."""

    def polynomial(at: SSAValue, coefficients: tuple[float, ...]) -> SSAValue:
        total = c.value(coefficients[0])
        for coefficient in coefficients[1:]:
            total = c.add(c.mul(total, at), coefficient)
        return total

    def choose(kind: str, a: Value, b: Value, yes: Value, no: Value) -> SSAValue:
        cond = c.graph.op("cmp", c.value(a), c.value(b), kind=kind)
        return c.op("select", cond, yes, no)

    square, size = c.mul(x, x), c.op("abs", x)
    minus = c.op("neg", square)
    inverse = c.div(1.0, square)
    below, above = polynomial(inverse, BELOW_TWO), polynomial(inverse, ABOVE_TWO)
    tail = c.mul(
        c.mul(c.op("exp", minus), c.div(1.0, size)),
        choose("lt", size, 2.0, below, above),
    )
    tail = choose("lt", minus, -88.7228394, 0.0, tail)
    tail = choose("lt", x, 0.0, c.op("sub", 2.0, tail), tail)
    near = c.op("sub", 1.0, c.mul(x, polynomial(square, NEAR_ZERO)))
    return choose("lt", size, 1.0, near, tail)


def test_erfc_expanded_into_polynomials() -> None:
    curve = Curve()
    scaled = curve.mul(curve.op("neg", curve.x), 0.707106769)
    y = curve.mul(curve.mul(0.5, curve.x), erfc_expanded(curve, scaled))
    module = curve.finish(y)
    assert len(names(module)) > 60
    run(module, RaiseElementwise())
    assert names(module) == ["gelu"]


def erfc_by_polynomials(c: Curve) -> SSAValue:
    """1 + erf by Abramowitz and Stegun 7.1.28 raised to more terms than a spelling."""
    z = c.mul(c.x, sqrt(0.5))
    a = c.op("abs", z)
    p = (0.0705230784, 0.0422820123, 0.0092705272, 0.0001520143, 0.0002765672)
    total: SSAValue = c.mul(a, 0.0000430638)
    for coefficient in reversed(p):
        total = c.mul(a, c.add(coefficient, total))
    power = c.op("pow", c.add(1.0, total), -16.0)
    return c.add(1.0, c.mul(c.op("sign", z), c.op("sub", 1.0, power)))


def test_a_rough_polynomial_is_not_erf() -> None:
    curve = Curve("f64")
    y = curve.mul(curve.mul(curve.x, 0.5), erfc_by_polynomials(curve))
    module = curve.finish(curve.mul(y, curve.op("exp", 0.0)))
    run(module, RaiseElementwise())
    assert "gelu" not in names(module)


@pytest.mark.parametrize("item", RAISE, ids=lambda item: item.name)
@given(seed=st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_random_graphs_keep_their_meaning(item: type, seed: int) -> None:
    check_pass(item(), *random_graph(seed, size=20))


def test_a_deep_chain_needs_no_recursion() -> None:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (2,))
    for _ in range(2500):
        x = graph.op("mul", x, graph.op("sigmoid", x))
    module = graph.module([("y", x)])
    run(module, RaiseElementwise())
    assert names(module) == ["silu"] * 2500
