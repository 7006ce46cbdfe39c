"""The equations of the pre-fused attention kernels and the gated MLP as plain loops in f64.

Written from the design's formulas, one query and one key at a time; nothing is shared
with the package's own references.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

Array = np.ndarray


def weights(scores: Sequence[float]) -> Array:
    """The softmax of the scores of some keys; of none, no weight."""
    if not len(scores):
        return np.zeros(0)
    raised = np.exp(np.asarray(scores) - max(scores))
    return raised / raised.sum()


def attend(
    q: Array, k: Array, v: Array, scale: float, seen: Callable[[int, int], bool]
) -> Array:
    """One head: q[Sq, D], k[Sk, D], v[Sk, Dv]; `seen(i, j)` says if query i reads key j."""
    out = np.zeros((len(q), v.shape[-1]))
    for i in range(len(q)):
        keys = [j for j in range(len(k)) if seen(i, j)]
        p = weights([scale * float(q[i] @ k[j]) for j in keys])
        for weight, j in zip(p, keys, strict=True):
            out[i] += weight * v[j]
    return out


def swiglu(
    x: Array,
    gate: Array,
    up: Array,
    down: Array,
    biases: Sequence[Array | float] = (0.0, 0.0, 0.0),
    limit: float = math.inf,
    alpha: float = 1.0,
    offset: float = 0.0,
) -> Array:
    """(g σ(α g) ⊙ (u + offset)) Wd with g = min(x Wg, L) and u = clip(x Wu, -L, L)."""
    g = np.minimum(x @ gate + biases[0], limit)
    u = np.clip(x @ up + biases[1], -limit, limit)
    return (g / (1 + np.exp(-alpha * g)) * (u + offset)) @ down + biases[2]


def bottom_right(queries: int, keys: int, causal: bool) -> Callable[[int, int], bool]:
    """Query i stands at i + Sk - Sq and, if causal, reads no later key."""
    return lambda i, j: not causal or j <= i + keys - queries


def mla_cached(
    operands: Sequence[Array], scale: float, causal: bool, mask: Array | None = None
) -> Array:
    """Heads h: s = scale (q_nope (c w_uk_h)ᵀ + q_rope k_ropeᵀ), o = softmax(s) c w_uv_h."""
    q_nope, q_rope, c, k_rope, w_uk, w_uv = operands
    batch, heads, queries, _ = q_nope.shape
    out = np.zeros((batch, heads, queries, w_uv.shape[-1]))
    rule = bottom_right(queries, c.shape[1], causal)

    def seen(i: int, j: int) -> bool:
        return rule(i, j) and (mask is None or bool(mask[i, j]))

    for b in range(batch):
        for h in range(heads):
            q = np.concatenate([q_nope[b, h], q_rope[b, h]], -1)
            k = np.concatenate([c[b] @ w_uk[h], k_rope[b]], -1)
            out[b, h] = attend(q, k, c[b] @ w_uv[h], scale, seen)
    return out


class Nsa:
    """Native sparse attention of one batch entry, query head by query head."""

    def __init__(self, q: Array, k: Array, v: Array, **options: int) -> None:
        self.q, self.k, self.v = q, k, v
        self.block, self.top_k = options["block_size"], options["top_k"]
        self.window = options["window_size"]
        self.length = options.get("cmp_len", self.block)
        self.stride = options.get("cmp_stride", self.block)
        self.first = options.get("init_blocks", 1)
        self.local = options.get("local_blocks", 2)
        self.queries, self.keys = q.shape[1], k.shape[1]
        self.group = q.shape[0] // k.shape[0]
        self.scale = 1 / math.sqrt(q.shape[-1])
        self.shift = self.keys - self.queries
        self.count = max(0, (self.keys - self.length) // self.stride + 1)
        self.kc, self.vc = self.means(k), self.means(v)

    def means(self, x: Array) -> Array:
        """The mean of each full block of tokens, head by head."""
        starts = [b * self.stride for b in range(self.count)]
        means = [x[:, s : s + self.length].mean(1) for s in starts]
        return np.stack(means, 1) if means else x[:, :0]

    def over(self, i: int, b: int) -> bool:
        """Whether compressed block b is over when query i reads."""
        return b * self.stride + self.length - 1 <= i + self.shift

    def compressed(self, h: int) -> Array:
        g = h // self.group
        return attend(self.q[h], self.kc[g], self.vc[g], self.scale, self.over)

    def sliding(self, h: int) -> Array:
        g = h // self.group

        def seen(i: int, j: int) -> bool:
            return i + self.shift - self.window < j <= i + self.shift

        return attend(self.q[h], self.k[g], self.v[g], self.scale, seen)

    def importance(self, g: int, i: int) -> list[float]:
        """Of each selection block: what the heads of a group give its compressed blocks."""
        blocks = math.ceil(self.keys / self.block)
        total = [0.0] * blocks
        for h in range(g * self.group, (g + 1) * self.group):
            seen = [b for b in range(self.count) if self.over(i, b)]
            p = dict.fromkeys(range(self.count), 0.0)
            found = weights([self.scale * self.q[h, i] @ self.kc[g, b] for b in seen])
            p.update(zip(seen, found, strict=True))
            per, parts = self.block // self.stride, self.length // self.stride
            for j in range(blocks):
                for m in range(per):
                    for n in range(parts):
                        total[j] += p.get(per * j + m - n, 0.0)
        return total

    def chosen(self, scores: Sequence[float], i: int) -> set[int]:
        """Forced blocks first, then the best of the rest, ties to the lower index."""
        here = (i + self.shift) // self.block
        blocks = [j for j in range(math.ceil(self.keys / self.block)) if j <= here]
        forced = [j for j in blocks if j < self.first or j > here - self.local]
        rest = sorted(set(blocks) - set(forced), key=lambda j: (-scores[j], j))
        return {*forced, *rest[: max(0, self.top_k - len(forced))]}

    def selected(self, h: int, scores: Callable[[int], Sequence[float]]) -> Array:
        g = h // self.group
        chosen = [self.chosen(scores(i), i) for i in range(self.queries)]

        def seen(i: int, j: int) -> bool:
            return j <= i + self.shift and j // self.block in chosen[i]

        return attend(self.q[h], self.k[g], self.v[g], self.scale, seen)

    def __call__(self, gates: Array) -> Array:
        """g₀·compressed + g₁·selected + g₂·window, heads first."""
        heads = []
        for h in range(self.q.shape[0]):
            g = h // self.group
            sparse = self.selected(h, lambda i, g=g: self.importance(g, i))
            branches = (self.compressed(h), sparse, self.sliding(h))
            gated = [gates[h, :, n, None] * x for n, x in enumerate(branches)]
            heads.append(sum(gated))
        return np.stack(heads)
