"""The operands of the fused call in a program, and sample values for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.sampling import Array
from tessera.graph.types import value_shape
from tessera.kernels.native_sparse_attn.branches import Branch
from tessera.kernels.native_sparse_attn.sources import Source, key_source, query_source

ORDER = ("q", "k", "v", "kc", "vc")
SPREAD, PEAK = 0.7, 1e6


@dataclass(frozen=True)
class Roles:
    """Where each operand comes from; several values may be the same one.

    `scores` are the block scores where they are an operand of their own.
    """

    sources: dict[str, Source]
    given: tuple[tuple[str, Source], ...]
    gates: tuple[SSAValue, ...]
    scores: SSAValue | None = None

    @property
    def values(self) -> list[SSAValue]:
        """All values that samples are drawn for."""
        own = [] if self.scores is None else [self.scores]
        return [*(source.value for _, source in self.given), *self.gates, *own]

    def draw(self, seed: int, peaked: bool = False) -> Sample:
        """Sample values; `peaked` ones put each compressed weight on one block."""
        rng = np.random.default_rng(seed)
        values: dict[SSAValue, Array] = {}
        arrays: dict[str, Array] = {}
        for role, source in self.sources.items():
            array = rng.normal(size=source.shape) * SPREAD
            arrays[role] = array * PEAK if peaked and role == "kc" else array
        for role, source in self.given:
            values.setdefault(source.value, source.array(arrays[role]))
        for value in self.values:
            values.setdefault(value, rng.normal(size=value_shape(value)))
        return Sample(values, arrays)


@dataclass(frozen=True)
class Sample:
    """Arrays for values of the program, and the operands they make."""

    values: dict[SSAValue, Array]
    arrays: dict[str, Array]

    def scores(self, keys: str) -> Array:
        """Unscaled q·kᵀ [..., Hq, Sq, Sk] with the keys of a role."""
        q, k = self.arrays["q"], self.arrays[keys]
        spread = np.repeat(k, q.shape[-3] // max(1, k.shape[-3]), axis=-3)
        return np.matmul(q, np.swapaxes(spread, -1, -2))


def roles_of(
    compressed: Branch, selected: Branch, window: Branch, gates: Sequence[SSAValue]
) -> Roles | str:
    """The operands of three branches; else the first that the branches do not share."""
    places = {
        "q": [query_source(b) for b in (selected, window, compressed)],
        "k": _keys("k", selected, window),
        "v": _keys("v", selected, window),
        "kc": _keys("k", compressed),
        "vc": _keys("v", compressed),
    }
    sources: dict[str, Source] = {}
    given: list[tuple[str, Source]] = []
    for role, found in places.items():
        first = found[0]
        if first is None or not all(one and first.alike(one) for one in found):
            return role
        sources[role] = first
        given += [(role, one) for one in found if one is not None]
    return Roles(sources, tuple(given), tuple(dict.fromkeys(gates)))


def _keys(role: str, *branches: Branch) -> list[Source | None]:
    return [key_source(b, role, query_source(b).shape[:-3]) for b in branches]
