"""Reading masks and scales from the weights that branches give on samples.

Weights are [N, Sq, Sk] and positive exactly where a key is seen; query i stands at
position t = i + Sk - Sq.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tessera.graph.sampling import Array

Spans = tuple[int, int]
CLOSE = 1e-7


def static(weights: Array) -> Array | None:
    """The keys [Sq, Sk] that every sample sees, or None where samples differ."""
    seen = weights > 0
    first: Array = seen[0]
    return first if bool(np.all(seen == first)) else None


def numbers(count: int) -> Array:
    """0, 1, … as integers."""
    return np.arange(count, dtype=np.int64)


def positions(queries: int, keys: int) -> Array:
    """The position of each query."""
    return numbers(queries) + (keys - queries)


def window_of(seen: Array) -> int | None:
    """The window of a causal mask, or None when it is no such mask."""
    queries, keys = seen.shape
    t, j = positions(queries, keys)[:, None], numbers(keys)[None, :]
    size = int(seen[-1].sum()) if queries else 0
    return size if size and np.array_equal(seen, (j <= t) & (j > t - size)) else None


def spans_of(seen: Array, keys: int) -> list[Spans]:
    """Every (length, stride) whose visible blocks these are, the likeliest first.

    Block b is seen iff b·stride + length - 1 <= t.
    """
    queries, blocks = seen.shape
    t = positions(queries, keys)
    if not blocks or not np.array_equal(seen, np.sort(seen, axis=0)):
        return []
    hidden = (~seen).sum(axis=0)  # block b is hidden from the first `hidden` queries
    first = int(t[0]) if queries else 0
    found = list(_spans(hidden, queries, first, keys))
    return sorted(found, key=lambda span: _oddness(span, blocks, keys))[:16]


def _spans(hidden: Array, queries: int, first: int, keys: int) -> Iterator[Spans]:
    starts = numbers(len(hidden))
    low = np.where(hidden > 0, first + hidden, 0)  # the end is in [low, high]
    high = np.where(hidden < queries, first + hidden, 2 * keys)
    for stride in range(1, keys + 1):
        least = max(1, int(np.max(low - starts * stride)) + 1)
        most = min(keys, int(np.min(high - starts * stride)) + 1)
        yield from ((length, stride) for length in range(least, most + 1))


def _oddness(span: Spans, blocks: int, keys: int) -> tuple[bool, bool, bool, int]:
    length, stride = span
    count = max(0, (keys - length) // stride + 1)
    return count != blocks, length % stride != 0, length != stride, length


def scale_of(weights: Array, scores: Array) -> float | None:
    """The factor with which softmax(factor · scores) gives the weights.

    None when there is no such factor; NaN when no row tells.
    """
    seen = weights > 0
    told = seen & (seen.sum(axis=-1, keepdims=True) > 1)
    if not told.any():
        return float("nan")
    logs = _centred(np.log(np.where(told, weights, 1.0)), told)
    plain = _centred(scores, told)
    factor = float((logs * plain).sum() / (plain * plain).sum())
    off = float(np.abs(logs - factor * plain).max())
    return factor if off <= CLOSE * max(1.0, float(np.abs(logs).max())) else None


def _centred(values: Array, told: Array) -> Array:
    count = np.maximum(told.sum(axis=-1, keepdims=True), 1)
    mean = np.where(told, values, 0.0).sum(axis=-1, keepdims=True) / count
    return np.where(told, values - mean, 0.0)


def rounded(scale: float, width: int) -> float:
    """The scale as a program writes it: 1/√D, or an f32 number, where it is one."""
    for wanted in (1.0 / np.sqrt(width), float(np.float32(scale))):
        if abs(scale - wanted) <= CLOSE * abs(wanted):
            return float(wanted)
    return scale
