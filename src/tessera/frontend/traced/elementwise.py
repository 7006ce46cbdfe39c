"""Elementwise ops: binary ones broadcast as NumPy's, and widen floats to floats.

x, a, b are traced values, arrays or numbers; a number takes the type of the array.
"""

from __future__ import annotations

from tessera.frontend.traced.apply import apply
from tessera.frontend.traced.symbol import Array, Operand


def add(a: Operand, b: Operand) -> Array:
    """`a + b`."""
    return apply("add", a, b)


def sub(a: Operand, b: Operand) -> Array:
    """`a - b`."""
    return apply("sub", a, b)


def mul(a: Operand, b: Operand) -> Array:
    """`a * b`."""
    return apply("mul", a, b)


def div(a: Operand, b: Operand) -> Array:
    """`a / b`; integers truncate toward zero."""
    return apply("div", a, b)


def pow(a: Operand, b: Operand) -> Array:
    """`a` to the power b."""
    return apply("pow", a, b)


def max(a: Operand, b: Operand) -> Array:
    """The larger, element by element; NaN when either is NaN."""
    return apply("max", a, b)


def min(a: Operand, b: Operand) -> Array:
    """The smaller, element by element; NaN when either is NaN."""
    return apply("min", a, b)


def mod(a: Operand, b: Operand, fmod: bool = False) -> Array:
    """The remainder with the sign of the divisor, of the dividend with `fmod`."""
    return apply("mod", a, b, fmod=fmod)


def cmp(a: Operand, b: Operand, kind: str) -> Array:
    """`a <kind> b` as i1; kind is eq, ne, lt, le, gt or ge."""
    return apply("cmp", a, b, kind=kind)


def and_(a: Operand, b: Operand) -> Array:
    """And of i1 operands, bit by bit of integers."""
    return apply("and", a, b)


def or_(a: Operand, b: Operand) -> Array:
    """Or of i1 operands, bit by bit of integers."""
    return apply("or", a, b)


def xor(a: Operand, b: Operand) -> Array:
    """Exclusive or of i1 operands, bit by bit of integers."""
    return apply("xor", a, b)


def not_(x: Operand) -> Array:
    """Not of an i1 operand, the complement of an integer."""
    return apply("not", x)


def select(cond: Operand, a: Operand, b: Operand) -> Array:
    """`a` where cond (i1) holds, b elsewhere; the three broadcast together."""
    return apply("select", cond, a, b)


def floor(x: Operand, kind: str = "floor") -> Array:
    """`x` made whole: floor, ceil, round (half to even) or trunc."""
    return apply("floor", x, kind=kind)


def clip(x: Operand, low: Operand, high: Operand) -> Array:
    """`x` held between low and high."""
    return apply("min", apply("max", x, low), high)


def relu(x: Operand) -> Array:
    """max(x, 0)."""
    return apply("max", x, 0)


def neg(x: Operand) -> Array:
    """-x."""
    return apply("neg", x)


def abs(x: Operand) -> Array:
    """|x|."""
    return apply("abs", x)


def exp(x: Operand) -> Array:
    """The exponential of x."""
    return apply("exp", x)


def log(x: Operand) -> Array:
    """The natural logarithm: -inf at 0, NaN below."""
    return apply("log", x)


def sqrt(x: Operand) -> Array:
    """The square root: NaN below 0."""
    return apply("sqrt", x)


def rsqrt(x: Operand) -> Array:
    """1 / sqrt(x)."""
    return apply("rsqrt", x)


def tanh(x: Operand) -> Array:
    """The hyperbolic tangent."""
    return apply("tanh", x)


def erf(x: Operand) -> Array:
    """The error function."""
    return apply("erf", x)


def sin(x: Operand) -> Array:
    """The sine of x in radians."""
    return apply("sin", x)


def cos(x: Operand) -> Array:
    """The cosine of x in radians."""
    return apply("cos", x)


def sign(x: Operand) -> Array:
    """-1, 0 or 1; NaN of NaN."""
    return apply("sign", x)


def sigmoid(x: Operand) -> Array:
    """1 / (1 + exp(-x))."""
    return apply("sigmoid", x)


def isnan(x: Operand) -> Array:
    """True where x is NaN."""
    return apply("isnan", x)


def silu(x: Operand) -> Array:
    """`x * sigmoid(x)`."""
    return apply("silu", x)


def softplus(x: Operand) -> Array:
    """log(1 + exp(x))."""
    return apply("softplus", x)
