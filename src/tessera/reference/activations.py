"""Activations and gated units.

Each activation x * gate(x) goes to 0 at -inf, where the product itself would be NaN.
"""

from collections.abc import Callable
from math import pi, sqrt

import numpy as np

from tessera.reference.elementwise import logistic
from tessera.reference.rounding import Array, wide
from tessera.reference.special import erfc_f64


def _gated(x: Array, gate: Array) -> Array:
    return np.where(gate == 0, np.zeros((), x.dtype), x * gate)


def gelu_erf(x: Array) -> Array:
    """`x * (1 + erf(x / sqrt(2))) / 2` by erfc, so that the tail is exact."""
    wider = x.astype(np.float64, copy=False)
    return _gated(wider, 0.5 * erfc_f64(wider * -sqrt(0.5))).astype(x.dtype)


def gelu_tanh(x: Array) -> Array:
    """`x * (1 + tanh(u)) / 2` with u = sqrt(2 / pi) * (x + 0.044715 * x**3).

    The second factor is sigmoid(2 * u).
    """
    return _gated(x, logistic(2 * sqrt(2 / pi) * x * (1 + 0.044715 * x * x)))


def gelu_quick(x: Array) -> Array:
    """`x * sigmoid(1.702 * x)`."""
    return _gated(x, logistic(1.702 * x))


def swish(x: Array, alpha: float = 1.0) -> Array:
    """`x * sigmoid(alpha * x)`."""
    return _gated(x, logistic(alpha * x))


def relu(x: Array) -> Array:
    """max(x, 0); NaN stays."""
    return np.maximum(x, 0)


_GELU: dict[str, Callable[[Array], Array]] = {
    "none": gelu_erf,
    "tanh": gelu_tanh,
    "quick": gelu_quick,
}
_GATES: dict[str, Callable[[Array], Array]] = {
    "silu": swish,
    "gelu": gelu_erf,
    "gelu_tanh": gelu_tanh,
    "quick_gelu": gelu_quick,
    "sigmoid": logistic,
    "relu": relu,
}


@wide
def gelu(x: Array, *, approximate: str = "none") -> Array:
    """The Gaussian error linear unit (Hendrycks and Gimpel, arXiv 1606.08415): exact,
    by tanh, or by a sigmoid.
    """
    if approximate not in _GELU:
        raise ValueError(
            f"gelu: approximate = {approximate!r}, wanted one of {', '.join(_GELU)}"
        )
    return _GELU[approximate](x)


@wide
def silu(x: Array) -> Array:
    """`x * sigmoid(x)`."""
    return swish(x)


@wide
def softplus(x: Array) -> Array:
    """log(1 + exp(x)), without overflow."""
    return np.logaddexp(x, np.zeros((), x.dtype))


@wide
def silu_mul(gate: Array, up: Array) -> Array:
    """silu(gate) * up."""
    return swish(gate) * up


@wide
def glu(gate: Array, up: Array, *, activation: str = "silu") -> Array:
    """activation(gate) * up."""
    if activation not in _GATES:
        raise ValueError(
            f"glu: activation = {activation!r}, wanted one of {', '.join(_GATES)}"
        )
    return _GATES[activation](gate) * up
