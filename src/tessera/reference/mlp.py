"""The gated MLP as one op: (silu(x Wg) * (x Wu)) Wd and its variants."""

import numpy as np

from tessera.reference.activations import swish
from tessera.reference.contraction import product
from tessera.reference.rounding import Array, wide


def _projected(x: Array, w: Array, b: Array | None) -> Array:
    """`x @ w + b`; a bias with the weight's own batch axes spans the rows."""
    y = product(x, w)
    if b is None:
        return y
    per_batch = b.ndim == w.ndim - 1 and b.ndim >= 2
    return y + (b[..., None, :] if per_batch else b)


def _halved(both: Array, packed: str) -> tuple[Array, Array]:
    if both.shape[-1] % 2:
        raise ValueError(
            f"swiglu_fused: packed gate-up of {both.shape[-1]} columns, wanted even"
        )
    if packed == "interleaved":
        return both[..., 0::2], both[..., 1::2]
    half = both.shape[-1] // 2
    return both[..., :half], both[..., half:]


def _gate_and_up(
    x: Array, operands: tuple[Array | None, ...], packed: str
) -> tuple[Array, Array, Array, Array | None]:
    """gate, up, w_down and the down bias from either operand list."""
    weights = 3 if packed == "none" else 2
    most = 6 if packed == "none" else 4
    given = len(operands)
    missing = any(w is None for w in operands[:weights])
    if not weights <= given <= most or missing:
        raise ValueError(
            f"swiglu_fused: {given} operands after x with packed = {packed!r},"
            f" wanted {weights} weights and up to {most - weights} biases"
        )
    filled = (*operands, *[None] * (most - given))
    if packed == "none":
        w_gate, w_up, w_down, b_gate, b_up, b_down = filled
        assert w_gate is not None
        assert w_up is not None
        assert w_down is not None
        return _projected(x, w_gate, b_gate), _projected(x, w_up, b_up), w_down, b_down
    w_both, w_down, b_both, b_down = filled
    assert w_both is not None
    assert w_down is not None
    return *_halved(_projected(x, w_both, b_both), packed), w_down, b_down


@wide
def swiglu_fused(
    x: Array,
    *operands: Array | None,
    packed: str = "none",
    limit: float | None = None,
    alpha: float = 1.0,
    up_offset: float = 0.0,
) -> Array:
    """(g * sigmoid(alpha * g) * (u + up_offset)) @ w_down + b_down with g = x @ w_gate
    + b_gate and u = x @ w_up + b_up (Shazeer, arXiv 2002.05202).

    Operands after x: w_gate, w_up, w_down, b_gate?, b_up?, b_down?; with packed =
    halves or interleaved: w_gate_up, w_down, b_gate_up?, b_down?, the gate in the
    first half or the even columns. Weights may carry batch axes. `limit` L clamps
    first: g = min(g, L), u = clip(u, -L, L).
    """
    if packed not in ("none", "halves", "interleaved"):
        raise ValueError(
            f"swiglu_fused: packed = {packed!r}, wanted none, halves or interleaved"
        )
    gate, up, w_down, b_down = _gate_and_up(x, operands, packed)
    if limit is not None:
        gate, up = np.minimum(gate, limit), np.clip(up, -limit, limit)
    return _projected(swish(gate, alpha) * (up + up_offset), w_down, b_down)
