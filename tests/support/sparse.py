"""Native sparse attention (arXiv 2502.11089) spelled out, in many ways, in traced Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tessera import ops

Array = Any
LOW = -1e30
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Sizes:
    """Batch, query and key-value heads, queries, width; blocks of `length` every `stride`."""

    batch: int = 2
    heads: int = 4
    groups: int = 2
    tokens: int = 13
    width: int = 8
    length: int = 4
    stride: int = 4
    block: int = 4
    top_k: int = 2
    window: int = 5

    @property
    def compressed(self) -> int:
        return (self.tokens - self.length) // self.stride + 1

    @property
    def blocks(self) -> int:
        return -(-self.tokens // self.block)

    def inputs(self, seed: int = 0) -> Arrays:
        rng = np.random.default_rng(seed)
        lead, n, d = (self.batch, self.groups), self.compressed, self.width
        shapes = {
            "q": (self.batch, self.heads, self.tokens, d),
            "k": (*lead, self.tokens, d),
            "v": (*lead, self.tokens, d),
            "kc": (*lead, n, d),
            "vc": (*lead, n, d),
            "gates": (self.batch, self.heads, self.tokens, 3),
        }
        draw = rng.standard_normal
        return {name: draw(shape).astype(np.float32) for name, shape in shapes.items()}


@dataclass(frozen=True)
class Spelling:
    """One way to write it; called on the arrays of `Sizes.inputs`.

    `init` and `local` blocks are always selected.  The words of `ways` change the
    spelling and keep the meaning, those of `wrong` change the meaning.
    """

    sizes: Sizes = Sizes()
    init: int = 0
    local: int = 1
    ways: frozenset[str] = frozenset()
    wrong: str = ""

    def __call__(
        self, q: Array, k: Array, v: Array, kc: Array, vc: Array, gates: Array
    ) -> Array:
        t, j = self.places(self.sizes.tokens)
        scale = 0.3 if self.wrong == "scale" else self.sizes.width**-0.5
        compressed, p = self.compressed(q, kc, vc)
        logits = self.logits(q, k, self.sizes.width**-0.5)
        selected = self.attend(logits, self.chosen(p) & (j <= t), v)
        again = "logits" in self.ways or self.wrong == "scale"
        logits = self.logits(q, k, scale) if again else logits
        if self.wrong == "bias":
            logits = logits + ops.cast(j, "f32") * 0.1
        keep = (j <= t) & (t - j < self.sizes.window)
        keep = keep | (j == t - 7) if self.wrong == "mask" else keep
        other = k if self.wrong == "values" else v
        return self.mixed(gates, compressed, selected, self.attend(logits, keep, other))

    def places(self, columns: int) -> tuple[Array, Array]:
        """The position of each row, and the number of each column."""
        rows = ops.iota((self.sizes.tokens, 1), axis=0, dtype="i64")
        return rows, ops.iota((1, columns), axis=1, dtype="i64")

    def rep(self, x: Array) -> Array:
        """The heads of x repeated to those of q."""
        s = self.sizes
        group, tail = s.heads // s.groups, tuple(x.shape[2:])
        if "gathered heads" in self.ways:
            return ops.gather(x, np.repeat(np.arange(s.groups), group), axis=1)
        x = ops.reshape(x, (s.batch, s.groups, 1, *tail))
        x = ops.broadcast(x, (s.batch, s.groups, group, *tail))
        return ops.reshape(x, (s.batch, s.heads, *tail))

    def logits(self, q: Array, k: Array, scale: float) -> Array:
        if "scaled q" in self.ways:
            return ops.matmul(q * scale, self.rep(k), transpose_b=True)
        turned = ops.transpose(self.rep(k), (0, 1, 3, 2))
        return ops.matmul(q, turned) * scale

    def attend(self, logits: Array, keep: Array, v: Array) -> Array:
        if "added masks" in self.ways:
            masked = logits + ops.select(keep, np.float32(0), np.float32(LOW))
        else:
            masked = ops.select(keep, logits, np.float32(-np.inf))
        return ops.matmul(ops.softmax(masked), self.rep(v))

    def compressed(self, q: Array, kc: Array, vc: Array) -> tuple[Array, Array]:
        """The compressed branch and its weights."""
        s = self.sizes
        t, b = self.places(s.compressed)
        seen = b * s.stride + (s.length - 1) <= t
        p = ops.select(seen, self.logits(q, kc, s.width**-0.5), np.float32(LOW))
        p = ops.softmax(p)
        if "where" in self.ways:
            p = ops.select(seen, p, np.float32(0))
        elif self.wrong != "rows":
            p = p * ops.cast(seen, "f32")
        return ops.matmul(p, self.rep(vc)), p

    def chosen(self, p: Array) -> Array:
        """The tokens [B, Hq, Sq, Sk] of the selected blocks."""
        s = self.sizes
        t, b = self.places(s.blocks)
        own = ops.cast(ops.floor(ops.cast(t, "f32") * (1 / s.block)), "i64")
        group = (s.batch, s.groups, s.heads // s.groups, s.tokens, s.compressed)
        scores = ops.reduce_sum(ops.reshape(p, group), axes=(2,))
        scores = self.shared(scores)
        forced = ((b < self.init) | (b > own - self.local)) & (b <= own)
        scores = ops.select(forced, np.float32(1e9), scores)
        picked = self.picked(scores)
        at = np.arange(s.tokens) // s.block
        return self.rep(ops.gather(picked, at, axis=-1))

    def shared(self, scores: Array) -> Array:
        """The scores of blocks from those of compressed blocks."""
        s = self.sizes
        counts = np.zeros((s.compressed, s.blocks), np.float32)
        for block, m, n in np.ndindex(
            s.blocks, s.block // s.stride, s.length // s.stride
        ):
            c = s.block // s.stride * block + m - n
            if 0 <= c < s.compressed:
                counts[c, block] += 1
        if "own scores" in self.ways:
            counts[0] *= 3.0
        elif np.array_equal(counts, np.eye(len(counts))):
            return scores
        return ops.matmul(scores, counts)

    def picked(self, scores: Array) -> Array:
        s = self.sizes
        if self.wrong == "ties":
            where = (Ellipsis, slice(None, None, -1))
            _, found = ops.topk(scores[where], s.top_k)
            found = (s.blocks - 1) - found
        elif self.wrong == "threshold":
            values, _ = ops.topk(scores, s.top_k)
            return scores >= values[..., s.top_k - 1 :]
        else:
            _, found = ops.topk(scores, s.top_k)
        if "compared" in self.ways:
            lead = (s.batch, s.groups, s.tokens, s.top_k, 1)
            same = ops.reshape(found, lead) == np.arange(s.blocks)
            return ops.reduce_any(same, axes=(3,))
        shape = (s.batch, s.groups, s.tokens, s.blocks)
        none = ops.zeros(shape)
        ones = ops.ones((*shape[:-1], s.top_k))
        return ops.scatter(none, found, ones, axis=-1) > 0.5

    def mixed(self, gates: Array, *branches: Array) -> Array:
        """The gated sum of the compressed, selected and window branch."""
        gates = ops.sigmoid(gates)
        if self.wrong == "gate":
            first, second, third = branches
            return gates[..., 0:1] * first + gates[..., 1:2] * second + third
        if "stacked" in self.ways:
            return ops.reduce_sum(
                ops.stack(branches, axis=-1) * ops.expand_dims(gates, -2), axes=(-1,)
            )
        if "rows first" in self.ways:
            gates = ops.transpose(gates, (0, 2, 1, 3))
            branches = tuple(ops.transpose(x, (0, 2, 1, 3)) for x in branches)
        shares = [gates[..., i : i + 1] * branch for i, branch in enumerate(branches)]
        if "window first" in self.ways:
            return shares[2] + (branches[0] * gates[..., 0:1] + shares[1])
        return shares[0] + shares[1] + shares[2]
