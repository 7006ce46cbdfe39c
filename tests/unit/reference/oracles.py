"""What the reference tests compare with: draws, tolerances, plain f64 equations."""

from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from tessera.reference import DTYPES, PRIMITIVES, dtype_name

Array = npt.NDArray[Any]

# Half an ulp of the result, and what the f32 arithmetic before it may add.
TOLERANCE = {"f64": 1e-12, "f32": 2e-5, "f16": 1.2e-3, "bf16": 9e-3}


def meaning(name: str, *operands: Any, **attributes: Any) -> Any:
    return PRIMITIVES[name](*operands, **attributes)


def drawn(seed: int, *shape: int, dtype: str = "f32") -> Array:
    values = np.random.default_rng(seed).standard_normal(shape)
    return values.astype(DTYPES[dtype])


def f64(x: Any) -> Array:
    return np.asarray(x).astype(np.float64)


def close(found: Any, wanted: Any, tolerance: float | None = None) -> None:
    """Same shape, same NaN and inf places, and near by the type of `found`."""
    assert isinstance(found, np.ndarray)
    if tolerance is None:
        tolerance = TOLERANCE.get(dtype_name(found.dtype), 0.0)
    wanted = f64(wanted)
    assert found.shape == wanted.shape
    finite = wanted[np.isfinite(wanted)]
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    np.testing.assert_allclose(
        f64(found), wanted, rtol=tolerance, atol=tolerance * scale
    )


def soft(scores: Array) -> Array:
    """softmax over the last axis by its equation; rows of -inf give zeros."""
    peak = np.max(scores, axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0.0, peak))
    total = weights.sum(axis=-1, keepdims=True)
    return np.where(total == 0, 0.0, weights / np.where(total == 0, 1.0, total))


def attention(
    q: Array,
    k: Array,
    v: Array,
    *,
    scale: float | None = None,
    allow: Array | None = None,
    bias: Array | None = None,
    softcap: float | None = None,
) -> Array:
    """Attention in f64, heads already equal."""
    factor = 1.0 / sqrt(q.shape[-1]) if scale is None else scale
    scores = f64(q) @ f64(k).swapaxes(-1, -2) * factor
    if softcap is not None:
        scores = softcap * np.tanh(scores / softcap)
    if bias is not None:
        scores = scores + f64(bias)
    if allow is not None:
        scores = np.where(allow, scores, -np.inf)
    return soft(scores) @ f64(v)


def allowed(
    queries: int,
    keys: int,
    align: str | None = None,
    window: int | None = None,
) -> Array:
    """Which pairs a causal rule and a window keep, by their sentences, one by one."""
    keep = np.zeros((queries, keys), bool)
    shift = keys - queries if align == "bottom_right" else 0
    for i in range(queries):
        for j in range(keys):
            past = align is None or j <= i + shift
            near = window is None or i + shift - window < j
            keep[i, j] = past and near
    return keep
