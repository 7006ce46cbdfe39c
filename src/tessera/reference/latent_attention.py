"""Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434).

Keys and values are expanded from a latent c = x @ w_dkv of width R. Every form
computes in f32 or f64 throughout and rounds once, at its own end.
"""

from collections.abc import Sequence

import numpy as np

from tessera.reference.attention import (
    attend,
    both_kept,
    default_scale,
    kept_pairs,
    split_mask,
    weigh,
)
from tessera.reference.contraction import product
from tessera.reference.rounding import Array, wide, wide_following


def _expanded(c: Array, w: Array, heads: int | None, what: str) -> Array:
    """`c @ w`; with heads, w [R, H * D] head-major gives [..., H, Sk, D]."""
    flat = product(c, w)
    if heads is None:
        return flat
    if heads < 1 or flat.shape[-1] % heads:
        raise ValueError(
            f"{what}: heads = {heads}, wanted a divisor of {flat.shape[-1]} columns"
        )
    split = flat.reshape(*flat.shape[:-1], heads, flat.shape[-1] // heads)
    return np.swapaxes(split, -2, -3)


def _with_leading_ones(x: Array, shape: Sequence[int] | None, what: str) -> Array:
    """A view of x under `shape`, which may only add leading ones (-1: not known)."""
    if shape is None:
        return x
    extra = len(shape) - x.ndim
    dims = (1,) * extra + x.shape
    fits = extra >= 0 and all(n in (-1, m) for n, m in zip(shape, dims, strict=True))
    if not fits:
        raise ValueError(
            f"{what}: result shape {tuple(shape)}, wanted {x.shape} behind ones"
        )
    return x.reshape(dims)


@wide
def latent_kv_compress(x: Array, w_dkv: Array) -> Array:
    """The latent x [..., Sk, Dx] @ w_dkv [Dx, R]."""
    return product(x, w_dkv)


@wide
def latent_kv_expand_k(
    c: Array,
    w_uk: Array,
    *,
    heads: int | None = None,
    shape: Sequence[int] | None = None,
) -> Array:
    """Keys c @ w_uk [R, D]; with heads = H, [R, H * D] gives [..., H, Sk, D]. The
    result's shape may carry extra leading ones.
    """
    keys = _expanded(c, w_uk, heads, "latent_kv_expand_k")
    return _with_leading_ones(keys, shape, "latent_kv_expand_k")


@wide
def latent_kv_expand_v(
    c: Array,
    w_uv: Array,
    *,
    heads: int | None = None,
    shape: Sequence[int] | None = None,
) -> Array:
    """Values c @ w_uv [R, Dv]; heads and shape as for keys."""
    values = _expanded(c, w_uv, heads, "latent_kv_expand_v")
    return _with_leading_ones(values, shape, "latent_kv_expand_v")


@wide
def mla_decode_fused(
    x: Array,
    w_dkv: Array,
    w_uk: Array,
    w_uv: Array,
    q: Array,
    *,
    scale: float | None = None,
    causal: bool = False,
    heads: int | None = None,
) -> Array:
    """flash_attn(q, K, V) with K = x @ w_dkv @ w_uk and V = x @ w_dkv @ w_uv.

    x [..., Sk, Dx], q [..., Sq, D]; K and V broadcast over q's leading axes as NumPy
    does (never grouped). causal is bottom_right; scale defaults to 1 / sqrt(D).
    """
    c = product(x, w_dkv)
    k = _expanded(c, w_uk, heads, "mla_decode_fused")
    v = _expanded(c, w_uv, heads, "mla_decode_fused")
    keep = None
    if causal:
        keep = kept_pairs(q.shape[-2], k.shape[-2], "bottom_right")
    return attend(q, k, v, scale=scale, keep=keep)


@wide_following(6)
def mla_cached_fused(
    q_nope: Array,
    q_rope: Array,
    c: Array,
    k_rope: Array,
    w_uk: Array,
    w_uv: Array,
    mask: Array | None = None,
    *,
    scale: float | None = None,
    causal: bool = False,
) -> Array:
    """Attention over a cached latent.

    For head h, s = scale * (q_nope @ (c @ w_uk[h]).T + q_rope @ k_rope.T),
    out = softmax(mask(s)) @ (c @ w_uv[h]).

    q_nope [B, H, Sq, Dn], q_rope [B, H, Sq, Dr] (Dr may be 0), c [B, Sk, R],
    k_rope [B, Sk, Dr], w_uk [H, R, Dn], w_uv [H, R, Dv]; mask broadcasts to
    [B, H, Sq, Sk]. causal is bottom_right; scale defaults to 1 / sqrt(Dn + Dr).
    """
    width = q_nope.shape[-1] + q_rope.shape[-1]
    factor = default_scale(width) if scale is None else float(scale)
    latent = c[..., None, :, :]
    k, v = product(latent, w_uk), product(latent, w_uv)
    plain = product(q_nope, np.swapaxes(k, -1, -2))
    turned = product(q_rope, np.swapaxes(k_rope[..., None, :, :], -1, -2))
    additive, keep = split_mask(mask)
    if causal:
        pairs = kept_pairs(q_nope.shape[-2], c.shape[-2], "bottom_right")
        keep = both_kept(keep, pairs)
    return weigh((plain + turned) * factor, v, keep, additive)
