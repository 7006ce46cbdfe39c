"""Binary, logical and unary ops. Operands broadcast as NumPy's.

NaN goes through max and min. Integers wrap; an integer divided by zero gives zero.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tessera.reference.dtypes import is_float
from tessera.reference.rounding import Array, exact, wide
from tessera.reference.special import erf_f64

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_ROUND: dict[str, Callable[[Any], Any]] = {
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "trunc": np.trunc,
}


@wide
def add(a: Array, b: Array) -> Array:
    """`a + b`."""
    return np.add(a, b)


@wide
def sub(a: Array, b: Array) -> Array:
    """`a - b`."""
    return np.subtract(a, b)


@wide
def mul(a: Array, b: Array) -> Array:
    """`a * b`."""
    return np.multiply(a, b)


def divided(a: Array, b: Array) -> Array:
    """`a / b`; integers truncate toward zero, and by zero give zero."""
    if is_float(np.result_type(a, b)):
        return np.true_divide(a, b)
    quotient = np.floor_divide(a, b)
    inexact = (b != 0) & (a - quotient * b != 0)
    return quotient + (inexact & ((a < 0) != (b < 0))).astype(quotient.dtype)


@wide
def div(a: Array, b: Array) -> Array:
    """`a / b`; integers truncate toward zero."""
    return divided(a, b)


@wide
def power(a: Array, b: Array) -> Array:
    """`a ** b`. A float base keeps its type under an integer exponent. An integer to a
    negative power is 0, unless the base is 1 or -1.
    """
    if is_float(a.dtype):
        return np.power(a, b.astype(a.dtype) if not is_float(b.dtype) else b)
    if b.dtype.kind == "u" or not (b < 0).any():
        return np.power(a, b)
    unit = np.where(a == 1, 1, np.where(a == -1, np.where(b % 2 == 0, 1, -1), 0))
    whole = np.power(a, np.maximum(b, 0))
    return np.where(b < 0, unit.astype(whole.dtype), whole)


@wide
def maximum(a: Array, b: Array) -> Array:
    """The larger; NaN when either is NaN."""
    return np.maximum(a, b)


@wide
def minimum(a: Array, b: Array) -> Array:
    """The smaller; NaN when either is NaN."""
    return np.minimum(a, b)


@wide
def mod(a: Array, b: Array, *, fmod: bool = False) -> Array:
    """The remainder with the sign of the divisor, of the dividend with `fmod`."""
    return np.fmod(a, b) if fmod else np.mod(a, b)


@wide
def compare(a: Array, b: Array, *, kind: str) -> Array:
    """`a <kind> b` as i1."""
    if kind not in _COMPARE:
        raise ValueError(f"cmp: kind = {kind!r}, wanted one of {', '.join(_COMPARE)}")
    return _COMPARE[kind](a, b)


@exact
def logical_and(a: Array, b: Array) -> Array:
    """And of i1 operands, bit by bit of integers."""
    return np.bitwise_and(a, b)


@exact
def logical_or(a: Array, b: Array) -> Array:
    """Or of i1 operands, bit by bit of integers."""
    return np.bitwise_or(a, b)


@exact
def logical_xor(a: Array, b: Array) -> Array:
    """Exclusive or of i1 operands, bit by bit of integers."""
    return np.bitwise_xor(a, b)


@exact
def logical_not(x: Array) -> Array:
    """Not of an i1 operand, the complement of an integer."""
    return np.invert(x)


@wide
def neg(x: Array) -> Array:
    """-x."""
    return np.negative(x)


@wide
def absolute(x: Array) -> Array:
    """|x|."""
    return np.absolute(x)


@wide
def exp(x: Array) -> Array:
    """`e ** x`."""
    return np.exp(x)


@wide
def log(x: Array) -> Array:
    """The natural logarithm: -inf at 0, NaN below."""
    return np.log(x)


@wide
def sqrt(x: Array) -> Array:
    """The square root: NaN below 0."""
    return np.sqrt(x)


@wide
def rsqrt(x: Array) -> Array:
    """1 / sqrt(x): inf at 0, NaN below."""
    return np.reciprocal(np.sqrt(x))


@wide
def tanh(x: Array) -> Array:
    """The hyperbolic tangent."""
    return np.tanh(x)


@wide
def erf(x: Array) -> Array:
    """The error function (`special.erf_f64`), f32 through f64."""
    return erf_f64(x.astype(np.float64, copy=False)).astype(x.dtype, copy=False)


@wide
def sin(x: Array) -> Array:
    """The sine of x in radians."""
    return np.sin(x)


@wide
def cos(x: Array) -> Array:
    """The cosine of x in radians."""
    return np.cos(x)


@wide
def floor(x: Array, *, kind: str = "floor") -> Array:
    """A whole number near x: floor, ceil, round (half to even) or trunc."""
    if kind not in _ROUND:
        raise ValueError(f"floor: kind = {kind!r}, wanted one of {', '.join(_ROUND)}")
    return _ROUND[kind](x) if is_float(x.dtype) else x


@wide
def sign(x: Array) -> Array:
    """-1, 0 or 1; NaN of NaN."""
    return np.sign(x)


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x)), exact in both tails."""
    tail = np.exp(-np.absolute(x))
    return np.where(x < 0, tail, 1) / (1 + tail)


@wide
def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    return logistic(x)


@wide
def isnan(x: Array) -> Array:
    """True where x is NaN."""
    return np.isnan(x)
