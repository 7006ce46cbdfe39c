"""Functions of several primitives that models and kernels know by name."""

from __future__ import annotations

from tessera.frontend.traced.apply import apply, element_of
from tessera.frontend.traced.layout import ones
from tessera.frontend.traced.symbol import Array, Operand


def softmax(x: Operand, axis: int = -1) -> Array:
    """exp(x) / sum along an axis; a slice that is all -inf gives zeros."""
    return apply("softmax", x, axis=axis)


def layernorm(
    x: Operand, w: Operand = None, b: Operand = None, axis: int = -1, eps: float = 1e-5
) -> Array:
    """(x - mean) / sqrt(variance + eps) * w + b over axes `axis` to the last."""
    if w is None and b is not None:
        w = ones((), element_of(x))
    return apply("layernorm", x, w, b, axis=axis, eps=eps)


def rmsnorm(
    x: Operand,
    w: Operand = None,
    eps: float = 1e-5,
    weight_offset: float = 0.0,
    axis: int = -1,
) -> Array:
    """`x / sqrt(mean(x²) + eps) * (w + weight_offset)` over axes `axis` to the last."""
    return apply("rmsnorm", x, w, axis=axis, eps=eps, weight_offset=weight_offset)


def gelu(x: Operand, approximate: str = "none") -> Array:
    """`x` times the normal CDF: exact ("none"), "tanh", or "quick" (x·σ(1.702x))."""
    return apply("gelu", x, approximate=approximate)


def silu_mul(gate: Operand, up: Operand) -> Array:
    """silu(gate) * up."""
    return apply("silu_mul", gate, up)


def glu(gate: Operand, up: Operand, activation: str = "silu") -> Array:
    """activation(gate) * up: silu, gelu, gelu_tanh, quick_gelu, sigmoid or relu."""
    return apply("glu", gate, up, activation=activation)


def rope(x: Operand, cos: Operand, sin: Operand, style: str = "half") -> Array:
    """x*cos + rotated(x)*sin on the first cos.shape[-1] features; others pass."""
    return apply("rope", x, cos, sin, style=style)


def swiglu_fused(
    x: Operand,
    w_gate: Operand,
    w_up: Operand,
    w_down: Operand = None,
    b_gate: Operand = None,
    b_up: Operand = None,
    b_down: Operand = None,
    *,
    packed: str = "none",
    limit: float | None = None,
    alpha: float = 1.0,
    up_offset: float = 0.0,
) -> Array:
    """(g·σ(alpha·g) ⊙ (u + up_offset)) w_down with g, u = x w_gate, x w_up.

    With `packed` = "halves" or "interleaved" the operands are x, w_gate_up, w_down
    [, b_gate_up, b_down]. With `limit` L: g = min(g, L), u = clip(u, -L, L).
    """
    given = {"packed": packed, "limit": limit, "alpha": alpha, "up_offset": up_offset}
    operands = (x, w_gate, w_up, w_down, b_gate, b_up, b_down)
    return apply("swiglu_fused", *operands, **given)
