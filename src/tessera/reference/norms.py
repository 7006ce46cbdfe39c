"""softmax, layernorm, rmsnorm and rotary embedding."""

import numpy as np

from tessera.reference.reductions import mean
from tessera.reference.rounding import Array, axis_in, wide, wide_following


def soft_weights(scores: Array, axis: int = -1) -> Array:
    """exp(s) / sum(exp(s)) along `axis`. Rows that are all -inf give zeros; a NaN
    score makes its row NaN; an empty axis gives an empty result.
    """
    if scores.dtype.kind != "f":
        raise ValueError(f"softmax: x of {scores.dtype}, wanted a float type")
    peak: Array = np.max(scores, axis=axis, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=axis, keepdims=True)
    weights /= np.where(total == 0, 1, total)
    return weights


@wide
def softmax(x: Array, *, axis: int = -1) -> Array:
    """exp(x) / sum(exp(x)) along `axis`; a row that is all -inf gives zeros."""
    return soft_weights(x, axis_in(axis, x.ndim, "softmax"))


@wide_following(1)
def layernorm(
    x: Array,
    w: Array | None = None,
    b: Array | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-5,
) -> Array:
    """(x - mean) / sqrt(variance + eps) * w + b over the axes from `axis` to the last;
    the variance is the mean square deviation, w and b broadcast to x.
    """
    axes = tuple(range(axis_in(axis, x.ndim, "layernorm"), x.ndim))
    centred = x - mean(x, axes)
    y = centred / np.sqrt(mean(centred * centred, axes) + eps)
    scaled = y if w is None else y * w
    return scaled if b is None else scaled + b


@wide_following(1)
def rmsnorm(
    x: Array,
    w: Array | None = None,
    *,
    axis: int = -1,
    eps: float = 1e-5,
    weight_offset: float = 0.0,
) -> Array:
    """`x / sqrt(mean(x * x) + eps) * (w + weight_offset)` over the axes from `axis` to
    the last (Zhang and Sennrich, arXiv 1910.07467); w broadcasts to x.
    """
    axes = tuple(range(axis_in(axis, x.ndim, "rmsnorm"), x.ndim))
    y = x * np.reciprocal(np.sqrt(mean(x * x, axes) + eps))
    return y if w is None else y * (w + weight_offset)


def _rotated(x: Array, style: str) -> Array:
    half = x.shape[-1] // 2
    if style == "half":
        return np.concatenate([-x[..., half:], x[..., :half]], axis=-1)
    turned = np.empty_like(x)
    turned[..., 0::2] = -x[..., 1::2]
    turned[..., 1::2] = x[..., 0::2]
    return turned


@wide_following(1)
def rope(x: Array, cos: Array, sin: Array, *, style: str = "half") -> Array:
    """Rotary embedding (Su et al., arXiv 2104.09864): x * cos + rot(x) * sin on the
    first r features, r the last size of cos; features past r pass through.

    rot takes feature i together with i + r/2 (`half`), or 2i with 2i + 1
    (`interleaved`). cos and sin broadcast to x[..., :r].
    """
    if style not in ("half", "interleaved"):
        raise ValueError(f"rope: style = {style!r}, wanted half or interleaved")
    width = cos.shape[-1]
    if width % 2 or width > x.shape[-1] or sin.shape[-1] != width:
        raise ValueError(
            f"rope: cos of {width} and sin of {sin.shape[-1]} features, wanted one"
            f" even count of at most {x.shape[-1]}"
        )
    turned = x[..., :width]
    y = turned * cos + _rotated(turned, style) * sin
    return np.concatenate([y, x[..., width:].astype(y.dtype, copy=False)], axis=-1)
