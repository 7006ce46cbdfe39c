"""Probe rows for functions along one axis, and how far two results are apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.ops.reduction import ReduceMaxOp, ReduceMeanOp, ReduceOp, ReduceSumOp
from tessera.graph.raising.regions import Region
from tessera.graph.types import DYN, value_shape

REDUCTIONS = (ReduceSumOp, ReduceMeanOp, ReduceMaxOp)
# Small rows make eps matter; the largest are those of real activations.
SCALES = (3.0, 0.3, 1e-2, 3e-3, 1e-3, 1e-6)
LEADING = (3, 2, 5, 7, 4)
MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class RowProbe:
    """Values of a region's input and parameters."""

    x: np.ndarray
    params: tuple[np.ndarray, ...]
    axis: int

    def arrays(self, region: Region) -> dict[SSAValue, np.ndarray]:
        """What to run the region on."""
        values = {region.x: self.x}
        values.update(zip(region.params, self.params, strict=True))
        return values


def reduced_axis(region: Region) -> int | None:
    """The one axis of the input, counted from the end, that the region reduces."""
    rank = len(value_shape(region.x))
    axes: set[int] = set()
    for op in region.ops:
        if isinstance(op, ReduceOp):
            found = op.options()["axes"]
            if len(found) != 1 or len(value_shape(op.operands[0])) != rank:
                return None
            axes.add(found[0] % rank - rank)
    return axes.pop() if len(axes) == 1 else None


def row_probes(region: Region, axis: int, seed: int) -> Iterator[RowProbe]:
    """Probes whose rows cover every scale; nothing when sizes along `axis` are unknown.

    Other axes get small sizes that differ from each other and from the row's: a region
    that mixes them up cannot run.
    """
    shape = value_shape(region.x)
    length = shape[axis]
    params = [value_shape(value) for value in region.params]
    if length == DYN or length < 2 or any(DYN in sizes for sizes in params):
        return
    sizes = _sizes(shape, axis, length)
    if sizes is None or math.prod(sizes) > MOST_ELEMENTS:
        return
    rng = np.random.default_rng(seed)
    rows = math.prod(sizes) // length
    for start in range(0, len(SCALES), rows):
        taken = [SCALES[(start + i) % len(SCALES)] for i in range(rows)]
        scales = np.expand_dims(
            np.reshape(
                taken, [n for i, n in enumerate(sizes) if i - len(sizes) != axis]
            ),
            axis,
        )
        x = (rng.normal(size=sizes) + 0.3 * rng.normal(size=scales.shape)) * scales
        drawn = tuple(rng.normal(size=p) + 0.7 for p in params)
        yield RowProbe(x, drawn, axis)


def _sizes(shape: Sequence[int], axis: int, length: int) -> tuple[int, ...] | None:
    spare = iter([size for size in LEADING if size != length])
    sizes: list[int] = []
    for place, size in enumerate(shape):
        if place - len(shape) == axis:
            sizes.append(length)
            continue
        small = 1 if size == 1 else next(spare, None)
        if small is None:
            return None
        sizes.append(small)
    return tuple(sizes)


def row_error(found: np.ndarray, wanted: np.ndarray, axis: int) -> float:
    """The largest difference, relative to the largest value of its row."""
    if found.shape != wanted.shape or not np.isfinite(found).all():
        return math.inf
    with np.errstate(all="ignore"):
        size = np.max(np.abs(wanted), axis=axis, keepdims=True)
        return float(np.max(np.abs(found - wanted) / np.maximum(size, 1e-300)))
