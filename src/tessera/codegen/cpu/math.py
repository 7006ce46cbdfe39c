"""Functions of f32 vectors, with their errors against the exact value.

All give NaN for NaN.  Built from multiply-add alone: the same text on every CPU.
"""

from __future__ import annotations

from tessera.codegen.cpu.builder import Builder, Num, Reg

LOG2E = 1.4426950408889634
_ROUND = (
    12582912.0 + 127.0
)  # 1.5 * 2^23: adding it rounds to an integer in the low bits
# least relative error on [-1/2, 1/2] among polynomials of degree 5, with 2^0 = 1
_EXP2 = (0.0013276461, 0.009675541, 0.0555071346, 0.2402212024, 0.693146944, 1.0)
_ERFC = (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592)
_TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1)


def exp2(b: Builder, x: Reg) -> Reg:
    """`2^x` for x <= 127: relative error 3e-7; 0 below -126.5."""
    x = above(b, x, -127.0)
    shifted = x + _ROUND
    rest = x - (shifted - _ROUND)
    bits = b.convert("bitcast", shifted, b.ints)
    power = b.convert("bitcast", b.binary("shl", bits, 23), b.floats)
    return polynomial(b, rest, _EXP2) * power


def above(b: Builder, x: Reg, low: float) -> Reg:
    """`x`, or `low` where x is below it."""
    bound = b.constant(low)
    return b.select(b.compare("ogt", bound, x), bound, x)


def below(b: Builder, x: Reg, high: float) -> Reg:
    """`x`, or `high` where x is above it."""
    bound = b.constant(high)
    return b.select(b.compare("olt", bound, x), bound, x)


def polynomial(b: Builder, x: Reg, coefficients: tuple[float, ...]) -> Reg:
    """Horner's rule, highest power first."""
    value: Num = coefficients[0]
    for coefficient in coefficients[1:]:
        value = b.fma(x, value, coefficient)
    assert isinstance(value, Reg)
    return value


def sigmoid(b: Builder, x: Reg) -> Reg:
    """`1 / (1 + e^-x)`: absolute error 2e-7."""
    power = exp2(b, below(b, x * -LOG2E, 126.0))
    return b.constant(1.0) / (power + 1.0)


def tanh(b: Builder, x: Reg) -> Reg:
    """Absolute error 2e-7, relative error 3e-7 near 0 (Cephes' split at 0.625)."""
    square = x * x
    small = b.fma(polynomial(b, square, (*_TANH, -3.33332819422e-1)) * square, x, x)
    double = below(b, above(b, x * (2.0 * LOG2E), -126.0), 126.0)
    large = b.constant(1.0) - b.constant(2.0) / (exp2(b, double) + 1.0)
    near = b.compare("olt", b.intrinsic("fabs", b.floats, x), 0.625)
    return b.select(near, small, large)


def erfc_positive(b: Builder, x: Reg) -> Reg:
    """`1 - erf(x)` for x >= 0: absolute error 5e-7 (Abramowitz and Stegun 7.1.26)."""
    t = b.constant(1.0) / b.fma(x, 0.3275911, 1.0)
    power = exp2(b, x * x * -LOG2E)
    return polynomial(b, t, _ERFC) * t * power


def erf(b: Builder, x: Reg) -> Reg:
    """Absolute error 5e-7."""
    rest = erfc_positive(b, b.intrinsic("fabs", b.floats, x))
    return b.intrinsic("copysign", b.floats, b.constant(1.0) - rest, x)


def gelu(b: Builder, x: Reg, approximate: str) -> Reg:
    """The three forms of gelu: absolute error 2e-7 times the larger of 1 and |x|.

    Below -60 every form is 0 in f32, for -inf too.
    """
    x = above(b, x, -60.0)
    if approximate == "quick":
        return x * sigmoid(b, x * 1.702)
    if approximate == "tanh":
        cubic = b.fma(x * x, 0.044715, 1.0) * x
        return x * sigmoid(b, cubic * 1.5957691216057308)
    size = b.intrinsic("fabs", b.floats, x)
    half = erfc_positive(b, size * 0.7071067811865476) * 0.5
    upper = b.compare("oge", x, 0.0)
    return x * b.select(upper, b.constant(1.0) - half, half)
