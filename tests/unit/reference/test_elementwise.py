"""Elementwise meanings against torch, Python's integers, and the limits at infinity."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.reference import DTYPES
from tests.unit.reference.oracles import close, drawn, meaning

torch = pytest.importorskip("torch")

SPECIAL = [0.0, -0.0, 0.5, -3.0, 20.0, -20.0, 88.0, -104.0, 700.0, -750.0, 1e30, -1e30]
ENDLESS = [*SPECIAL, np.inf, -np.inf, np.nan]
UNARY = {
    "neg": torch.neg, "abs": torch.abs, "exp": torch.exp, "log": torch.log,
    "sqrt": torch.sqrt, "rsqrt": torch.rsqrt, "tanh": torch.tanh, "erf": torch.erf,
    "sin": torch.sin, "cos": torch.cos, "sigmoid": torch.sigmoid, "isnan": torch.isnan,
    "softplus": torch.nn.functional.softplus,
}  # fmt: skip
INTEGERS = st.integers(-128, 127)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary_ops_agree_with_torch(name: str, dtype: str) -> None:
    x = np.array([*ENDLESS[:-1], *drawn(1, 200)], DTYPES[dtype])
    if name in ("sin", "cos"):
        x = x[np.abs(x) < 1e3]
    close(meaning(name, x), UNARY[name](torch.from_numpy(x)).numpy(), 2e-6)
    assert bool(meaning(name, np.array(np.nan, x.dtype)).astype(bool))


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "bf16"])
def test_activations_at_the_ends(dtype: str) -> None:
    x = np.array([-np.inf, -30000.0, 30000.0, np.inf, np.nan], DTYPES[dtype])
    high = float(x[2])
    for name, options in [
        ("silu", {}),
        ("gelu", {}),
        ("gelu", {"approximate": "tanh"}),
        ("gelu", {"approximate": "quick"}),
        ("softplus", {}),
    ]:
        close(meaning(name, x, **options), [0.0, 0.0, high, np.inf, np.nan], 0.0)
    close(meaning("sigmoid", x), [0.0, 0.0, 1.0, 1.0, np.nan], 0.0)
    close(meaning("erf", x), [-1.0, -1.0, 1.0, 1.0, np.nan], 0.0)
    close(meaning("tanh", x), [-1.0, -1.0, 1.0, 1.0, np.nan], 0.0)


def test_erf_is_right_to_a_few_ulps() -> None:
    x = np.concatenate([np.linspace(-7, 7, 20001), np.geomspace(1e-300, 30, 2000)])
    wanted = np.array([math.erf(v) for v in x])
    assert np.all(np.abs(meaning("erf", x) - wanted) <= 4 * np.spacing(abs(wanted)))
    narrow = x.astype(np.float32)
    wanted = np.array([math.erf(float(v)) for v in narrow], np.float32)
    assert np.all(abs(meaning("erf", narrow) - wanted) <= np.spacing(abs(wanted)))


def test_the_tail_of_gelu_keeps_its_digits() -> None:
    x = np.linspace(-37.0, 0.0, 500)
    wanted = [0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x]
    np.testing.assert_allclose(meaning("gelu", x), wanted, rtol=2e-12, atol=1e-300)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
def test_gelu_and_silu_agree_with_torch(approximate: str) -> None:
    x = np.array([*SPECIAL, *drawn(2, 300)], np.float64)
    functional = torch.nn.functional
    wanted = functional.gelu(torch.from_numpy(x), approximate=approximate).numpy()
    np.testing.assert_allclose(
        meaning("gelu", x, approximate=approximate), wanted, rtol=1e-9, atol=1e-14
    )
    wanted = functional.silu(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(meaning("silu", x), wanted, rtol=1e-13)


@pytest.mark.parametrize(
    ("activation", "act"),
    [
        ("silu", torch.nn.functional.silu),
        ("gelu", torch.nn.functional.gelu),
        ("gelu_tanh", lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
        ("quick_gelu", lambda x: x * torch.sigmoid(1.702 * x)),
        ("sigmoid", torch.sigmoid),
        ("relu", torch.relu),
    ],
)
def test_glu_gates_its_first_operand(activation: str, act: Callable[..., Any]) -> None:
    gate, up = drawn(1, 4, 6), drawn(2, 4, 6)
    wanted = (act(torch.from_numpy(gate)) * torch.from_numpy(up)).numpy()
    close(meaning("glu", gate, up, activation=activation), wanted, 1e-6)
    if activation == "silu":
        close(meaning("silu_mul", gate, up), wanted, 1e-6)


@given(INTEGERS, INTEGERS)
def test_integers_divide_toward_zero_and_remain_by_sign(a: int, b: int) -> None:
    left, right = np.array([a], np.int32), np.array([b], np.int32)
    if b == 0:
        assert meaning("div", left, right) == 0
        return
    quotient = int(math.copysign(abs(a) // abs(b), a * b)) if a else 0
    assert meaning("div", left, right) == quotient
    assert meaning("mod", left, right) == a % b
    assert meaning("mod", left, right, fmod=True) == a - quotient * b
    assert meaning("div", left, right).dtype == np.int32


@given(st.integers(-3, 3), st.integers(-4, 6))
def test_integer_powers(base: int, exponent: int) -> None:
    found = meaning("pow", np.array(base, np.int64), np.array(exponent, np.int64))
    if exponent >= 0:
        assert found == base**exponent
    else:
        assert found == {1: 1, -1: (-1) ** exponent}.get(base, 0)


def test_integers_wrap() -> None:
    top = np.array([127], np.int8)
    assert meaning("add", top, np.array([1], np.int8)) == -128
    assert meaning("abs", np.array([-128], np.int8)) == -128
    assert meaning("sub", np.array([0], np.uint8), np.array([1], np.uint8)) == 255


def test_float_division_follows_ieee() -> None:
    found = meaning("div", np.array([1, -1, 0], np.float32), np.zeros(3, np.float32))
    close(found, [np.inf, -np.inf, np.nan])


def test_nan_goes_through_max_and_min() -> None:
    a, b = np.array([np.nan, 1, 3], np.float32), np.array([0, np.nan, 2], np.float32)
    close(meaning("max", a, b), [np.nan, np.nan, 3])
    close(meaning("min", a, b), [np.nan, np.nan, 2])


def test_a_comparison_with_nan_is_false() -> None:
    """A compiler that folds x == x to true lets the NaN through."""
    x = np.array([1, np.nan, -np.inf, 2], np.float32)
    same = meaning("cmp", x, x, kind="eq")
    close(meaning("select", same, x, np.zeros(4, np.float32)), [1, 0, -np.inf, 2])
    assert meaning("cmp", x, x, kind="ne").tolist() == [False, True, False, False]
    assert meaning("isnan", x).tolist() == [False, True, False, False]


@pytest.mark.parametrize("name", ["and", "or", "xor"])
def test_logic_is_bitwise_on_integers(name: str) -> None:
    fn = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}[name]
    a, b = np.arange(8), np.arange(8)[::-1]
    wanted = [fn(int(x), int(y)) for x, y in zip(a, b, strict=True)]
    assert meaning(name, a, b).tolist() == wanted
    assert meaning(name, a > 3, b > 3).dtype == np.bool_
    with pytest.raises(TypeError):
        meaning(name, drawn(1, 2), drawn(1, 2))


def test_rounding_kinds() -> None:
    x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.7], np.float32)
    wanted = {
        "floor": [-3, -2, -1, 0, 1, 2, 2],
        "ceil": [-2, -1, 0, 1, 2, 3, 3],
        "round": [-2, -2, 0, 0, 2, 2, 3],
        "trunc": [-2, -1, 0, 0, 1, 2, 2],
    }
    for kind, values in wanted.items():
        assert meaning("floor", x, kind=kind).tolist() == values
    assert meaning("floor", np.array([3], np.int32), kind="ceil").dtype == np.int32
    with pytest.raises(ValueError, match="'nearest'"):
        meaning("floor", x, kind="nearest")


def test_a_row_bias_and_a_column_bias_differ() -> None:
    x, column = drawn(1, 5, 5), drawn(2, 5, 1)
    wanted = [[x[i, j] + column[i, 0] for j in range(5)] for i in range(5)]
    close(meaning("add", x, column), wanted)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("cmp", {"kind": "is"}),
        ("gelu", {"approximate": "fast"}),
        ("glu", {"activation": "selu"}),
    ],
)
def test_an_unknown_word_is_named(name: str, option: dict[str, str]) -> None:
    operands = [drawn(1, 2)] * (1 if name == "gelu" else 2)
    with pytest.raises(ValueError, match=repr(next(iter(option.values())))):
        meaning(name, *operands, **option)
