"""Which rule selects the blocks that a branch was seen to read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tessera.graph.sampling import Array
from tessera.kernels.native_sparse_attn.masks import numbers, positions
from tessera.reference.attention import heads_like
from tessera.reference.sparse_attention import selected_blocks


@dataclass(frozen=True)
class Rule:
    """How many blocks are selected, and which of them always."""

    top_k: int
    init_blocks: int
    local_blocks: int


@dataclass(frozen=True)
class Chosen:
    """The blocks of `size` tokens that each head and query reads: i1 [..., Sq, blocks]."""

    size: int
    blocks: Array
    own: Array  # the block of each query

    @property
    def candidates(self) -> Array:
        """The blocks at or before each query's own."""
        return numbers(self.blocks.shape[-1])[None, :] <= self.own[:, None]

    def rules(self, top_k: int) -> Iterator[Rule]:
        """Rules that may have chosen, the fewest forced blocks first.

        `top_k` is what the program takes; forced blocks may come on top of it, and a
        sort takes more than is used.
        """
        most = int((self.blocks & self.candidates).sum(axis=-1).max(initial=0))
        init, local = self._forced(first=True), self._forced(first=False)
        counts = [n for n in (*range(top_k, top_k + 4), most) if n >= max(1, most)]
        for count in dict.fromkeys(counts):
            pairs = [
                (i, j)
                for i in range(min(init, count) + 1)
                for j in range(min(local, count - i) + 1)
            ]
            for i, j in sorted(pairs, key=sum):
                yield Rule(count, i, j)

    def _forced(self, first: bool) -> int:
        """How many first (or last) candidates were chosen every time."""
        count, blocks = 0, self.blocks.shape[-1]
        while count < blocks:
            place = np.full_like(self.own, count) if first else self.own - count
            there = (place >= 0) & (place <= self.own)
            taken = np.take_along_axis(
                self.blocks,
                np.broadcast_to(
                    np.maximum(place, 0)[:, None], (*self.blocks.shape[:-1], 1)
                ),
                axis=-1,
            )[..., 0]
            if not bool(np.all(taken[..., there])):
                break
            count += 1
        return count

    def agrees(self, rule: Rule, scores: Array) -> bool:
        """Whether the rule chooses these blocks by these scores."""
        made = selected_blocks(
            scores, self.own, rule.top_k, rule.init_blocks, rule.local_blocks
        )
        wanted = heads_like(made, self.blocks.shape[-3]) & self.candidates
        return bool(np.all(wanted == (self.blocks & self.candidates)))


def chosen(seen: Array, blocks: int) -> Iterator[Chosen]:
    """Every way to read seen keys [..., Sq, Sk] as whole blocks.

    First those of as many blocks as there are scores, then others, the largest first.
    """
    queries, keys = seen.shape[-2:]
    t = positions(queries, keys)
    past = numbers(keys)[None, :] <= t[:, None]
    if bool(np.any(seen & ~past)):
        return
    first = seen.reshape(-1, queries, keys)[:1]
    fitting = [n for n in range(1, keys + 1) if -(-keys // n) == blocks]
    others = [n for n in range(keys, 0, -1) if n not in fitting]
    for size in (*fitting, *others):
        if all(_in_blocks(part, size, past) for part in (first, seen)):
            yield Chosen(size, seen[..., ::size], t // size)


def _in_blocks(seen: Array, size: int, past: Array) -> bool:
    of = numbers(seen.shape[-1]) // size
    return bool(np.all(seen == (seen[..., ::size][..., of] & past)))


def first_rule(read: Chosen, scores: Array, top_k: int) -> Rule | None:
    """The first rule by which the blocks follow from the scores."""
    return next((rule for rule in read.rules(top_k) if read.agrees(rule, scores)), None)
