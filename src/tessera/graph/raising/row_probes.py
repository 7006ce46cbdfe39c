"""Probe rows for functions along axes, and how far two results are apart."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.ops.reduction import ReduceMaxOp, ReduceMeanOp, ReduceOp, ReduceSumOp
from tessera.graph.raising.regions import Region
from tessera.graph.types import DYN, value_shape

Axes = tuple[int, ...]
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

    def arrays(self, region: Region) -> dict[SSAValue, np.ndarray]:
        """What to run the region on."""
        values = {region.x: self.x}
        values.update(zip(region.params, self.params, strict=True))
        return values


def reduced_axes(region: Region) -> Axes | None:
    """The axes of the input, counted from the end, that each reduction reduces.

    None when they differ, or when there are none.
    """
    rank = len(value_shape(region.x))
    found = {axes_from_end(op) for op in region.ops if isinstance(op, ReduceOp)}
    same = all(
        len(value_shape(op.operands[0])) == rank
        for op in region.ops
        if isinstance(op, ReduceOp)
    )
    return found.pop() if len(found) == 1 and same else None


def axes_from_end(op: ReduceOp) -> Axes:
    """The axes of a reduction in order, counted from the end."""
    rank = len(value_shape(op.operands[0]))
    return tuple(sorted(axis % rank - rank for axis in op.options()["axes"]))


def row_probes(region: Region, axes: Axes, seed: int) -> Iterator[RowProbe]:
    """Probes whose rows cover every scale; nothing when sizes along `axes` are unknown.

    Other axes get small sizes that differ from each other and from the row's: a region
    that mixes them up cannot run.
    """
    shape = value_shape(region.x)
    lengths = [shape[axis] for axis in axes]
    params = [value_shape(value) for value in region.params]
    if any(DYN in sizes for sizes in (lengths, *params)) or math.prod(lengths) < 2:
        return
    sizes = _sizes(shape, axes)
    if sizes is None or math.prod(sizes) > MOST_ELEMENTS:
        return
    rng = np.random.default_rng(seed)
    rows = math.prod(sizes) // math.prod(lengths)
    across = [1 if i - len(sizes) in axes else n for i, n in enumerate(sizes)]
    for start in range(0, len(SCALES), rows):
        taken = [SCALES[(start + i) % len(SCALES)] for i in range(rows)]
        scales = np.reshape(taken, across)
        x = (rng.normal(size=sizes) + 0.3 * rng.normal(size=scales.shape)) * scales
        drawn = tuple(rng.normal(size=p) + 0.7 for p in params)
        yield RowProbe(x, drawn)


def _sizes(shape: Sequence[int], axes: Axes) -> tuple[int, ...] | None:
    lengths = {shape[axis] for axis in axes}
    spare = iter([size for size in LEADING if size not in lengths])
    sizes: list[int] = []
    for place, size in enumerate(shape):
        if place - len(shape) in axes:
            sizes.append(size)
            continue
        small = 1 if size == 1 else next(spare, None)
        if small is None:
            return None
        sizes.append(small)
    return tuple(sizes)


def row_error(found: np.ndarray, wanted: np.ndarray, axes: Axes) -> float:
    """The largest difference, relative to the largest value of its row."""
    if found.shape != wanted.shape or not np.isfinite(found).all():
        return math.inf
    with np.errstate(all="ignore"):
        size = np.max(np.abs(wanted), axis=axes, keepdims=True)
        return float(np.max(np.abs(found - wanted) / np.maximum(size, 1e-300)))
