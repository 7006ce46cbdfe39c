"""Scaled dot-product attention and its parts.

Order in the scores: scale, softcap, additive mask, removal of keys, softmax. A key
removed by a boolean, causal or window mask has no influence, even when K or V hold NaN
there; an additive mask is arithmetic. A query with no key left gives zeros.
"""

from math import sqrt

import numpy as np

from tessera.reference.contraction import product
from tessera.reference.norms import soft_weights
from tessera.reference.rounding import Array, exact, wide, wide_following

Causal = bool | str | None


def default_scale(width: int) -> float:
    """1 / sqrt(width); 1 for width 0, whose scores are zeros."""
    return 1.0 / sqrt(width) if width else 1.0


def _alignment(causal: Causal) -> str | None:
    if causal is None or causal is False or causal == "none":
        return None
    name = "top_left" if causal is True else causal
    if name not in ("top_left", "bottom_right"):
        raise ValueError(
            f"causal = {causal!r}, wanted 'none', 'top_left' or 'bottom_right'"
        )
    return name


def kept_pairs(
    queries: int, keys: int, causal: Causal = None, window: int | None = None
) -> Array:
    """Which key j a query i may see, as i1 [queries, keys].

    Causal keeps j <= t, a window W keeps t - W < j; t = i, shifted by keys - queries
    when causal is bottom_right. Without causal a window bounds the past only.
    """
    align = _alignment(causal)
    if window is not None and window < 1:
        raise ValueError(f"window = {window}, wanted at least 1, or none")
    shift = keys - queries if align == "bottom_right" else 0
    t = np.arange(queries)[:, None] + shift
    j = np.arange(keys)[None, :]
    keep = np.ones((queries, keys), dtype=np.bool_)
    if align is not None:
        keep &= j <= t
    if window is not None:
        keep &= j > t - window
    return keep


@exact
def keep_mask(
    q: Array, k: Array, *, causal: Causal = None, window: int | None = None
) -> Array:
    """`kept_pairs` for q [..., Sq, D] and k [..., Sk, D]."""
    return kept_pairs(q.shape[-2], k.shape[-2], causal, window)


def heads_like(x: Array, heads: int) -> Array:
    """Axis -3 of x repeated to `heads`: head h of the result is h // group of x."""
    if x.ndim < 3 or x.shape[-3] == heads:
        return x
    if x.shape[-3] == 0 or heads % x.shape[-3]:
        raise ValueError(
            f"{heads} query heads over {x.shape[-3]} key-value heads,"
            " wanted a whole multiple"
        )
    return np.repeat(x, heads // x.shape[-3], axis=-3)


@exact
def repeat_heads(x: Array, like: Array) -> Array:
    """Axis -3 of x repeated to equal like's; x itself below rank 3."""
    return x if like.ndim < 3 else heads_like(x, like.shape[-3])


def _wild_part(p: Array, v: Array, keep: Array, wild: Array) -> Array:
    """What the inf and NaN entries of v add: a sum over the keys that hold them."""
    total = np.zeros((), dtype=np.result_type(p, v))
    seen = keep.any(axis=tuple(range(keep.ndim - 1)))
    holds = wild.any(axis=(*range(wild.ndim - 2), wild.ndim - 1))
    for j in np.flatnonzero(seen & holds):
        counts = keep[..., j, None] & wild[..., None, j, :]
        product_j = p[..., j, None] * v[..., None, j, :]
        total = total + np.where(counts, product_j, np.zeros((), product_j.dtype))
    return total


def kept_product(p: Array, v: Array, keep: Array | None) -> Array:
    """`p @ v` summed over the keys with keep true only."""
    if keep is None:
        return product(p, v)
    keep = np.broadcast_to(keep, np.broadcast_shapes(keep.shape, p.shape))
    weights = np.where(keep, p, np.zeros((), p.dtype))
    wild = ~np.isfinite(v)
    if not wild.any():
        return product(weights, v)
    tame = product(weights, np.where(wild, np.zeros((), v.dtype), v))
    return tame + _wild_part(weights, v, keep, wild)


@wide
def masked_matmul(p: Array, v: Array, keep: Array) -> Array:
    """Sum over j of p[..., i, j] * v[..., j, :] where keep[..., i, j] holds; a key
    not kept adds nothing, whatever p and v hold there.
    """
    return kept_product(p, v, keep.astype(np.bool_))


def split_mask(mask: Array | None) -> tuple[Array | None, Array | None]:
    """(additive, keep): one of them is the mask, by its type."""
    if mask is None:
        return None, None
    return (None, mask) if mask.dtype == np.bool_ else (mask, None)


def both_kept(a: Array | None, b: Array | None) -> Array | None:
    """The keys both masks keep; None keeps everything."""
    if a is None or b is None:
        return b if a is None else a
    return a & b


def weigh(
    scores: Array, v: Array, keep: Array | None, additive: Array | None = None
) -> Array:
    """`softmax(scores + additive) @ v` with the keys not kept removed."""
    biased = scores if additive is None else scores + additive.astype(scores.dtype)
    if keep is not None:
        biased = np.where(keep, biased, np.array(-np.inf, biased.dtype))
    return kept_product(soft_weights(biased), v, keep)


def attend(
    q: Array,
    k: Array,
    v: Array,
    *,
    scale: float | None = None,
    keep: Array | None = None,
    additive: Array | None = None,
    softcap: float | None = None,
) -> Array:
    """softmax(mask(cap(scale * q @ k.T))) @ v in the type of its operands."""
    if softcap is not None and not softcap > 0:
        raise ValueError(f"softcap = {softcap}, wanted more than 0, or none")
    factor = default_scale(q.shape[-1]) if scale is None else float(scale)
    scores = product(q, np.swapaxes(k, -1, -2)) * factor
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    return weigh(scores, v, keep, additive)


@wide_following(3)
def flash_attn(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    *,
    scale: float | None = None,
    causal: Causal = None,
    window: int | None = None,
    softcap: float | None = None,
) -> Array:
    """Attention of q [..., Hq, Sq, Dk] over k [..., Hkv, Sk, Dk], v [..., Hkv, Sk, Dv].

    Leading axes broadcast; with fewer key-value heads, query head h reads h // group.
    mask broadcasts to [..., Hq, Sq, Sk]: i1 (false removes the key) or additive.
    scale defaults to 1 / sqrt(Dk).
    """
    if q.ndim >= 3:
        k, v = heads_like(k, q.shape[-3]), heads_like(v, q.shape[-3])
    additive, keep = split_mask(mask)
    if _alignment(causal) is not None or window is not None:
        pairs = kept_pairs(q.shape[-2], k.shape[-2], causal, window)
        keep = both_kept(keep, pairs)
    return attend(q, k, v, scale=scale, keep=keep, additive=additive, softcap=softcap)
