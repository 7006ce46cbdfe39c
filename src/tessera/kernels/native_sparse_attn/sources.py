"""Where the operands of an attention come from, before heads were repeated."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.algebra import SsaAlgebra
from tessera.graph.sampling import Array, NotSampled, sample
from tessera.graph.types import Shape, value_shape
from tessera.kernels.native_sparse_attn.branches import Branch
from tessera.kernels.native_sparse_attn.views import moves, same, unscaled


@dataclass(frozen=True)
class Source:
    """A value whose axes, in this order, are an operand of `shape` [..., H, S, D].

    `top` is what the value is a mere move of, `places` where its entries go: two sources
    with equal ones hold the same numbers.
    """

    value: SSAValue
    shape: Shape
    order: Shape
    top: SSAValue
    places: Array

    def build(self, g: SsaAlgebra) -> SSAValue:
        """The operand."""
        value = self.value
        if list(self.order) != sorted(self.order):
            value = g.apply("transpose", value, permutation=self.order)
        return (
            value if value_shape(value) == self.shape else g.reshape(value, self.shape)
        )

    def array(self, operand: Array) -> Array:
        """The array of the value for one of the operand."""
        sizes = value_shape(self.value)
        ordered = operand.reshape([sizes[axis] for axis in self.order])
        return ordered.transpose(np.argsort(self.order))

    def alike(self, other: Source) -> bool:
        """Whether another source is the same operand."""
        return (
            self.shape == other.shape
            and same(self.top, other.top)
            and np.array_equal(self.places, other.places)
        )


def query_source(found: Branch) -> Source:
    """Where the queries come from; constant factors on the way belong to the scale."""
    count, queries, _ = found.rows
    shape = value_shape(found.q)
    heads = count if len(shape) < 4 else count // max(1, shape[0])
    lead = () if len(shape) < 4 else shape[:1]
    wanted = (*lead, heads, queries, shape[len(shape) - 1])
    value = unscaled(found.q)
    order = tuple(range(len(value_shape(value))))
    return Source(value, wanted, order, value, np.zeros(0))


def key_source(found: Branch, role: str, lead: Shape) -> Source | None:
    """Where keys ("k") or values ("v") come from; `lead` are the batch axes of q.

    Found by running moves on the places of entries; None where the heads are no plain
    repeat.
    """
    full = found.k if role == "k" else found.v
    flag = found.turned[0 if role == "k" else 1]
    count, _, keys = found.rows
    batch = int(np.prod(lead))
    sizes = (batch, count // max(1, batch), keys)
    best: Source | None = None
    top, there = full, np.zeros(0)
    for value in moves(full, scaled=role == "k"):
        shape = value_shape(value)
        places = np.arange(math.prod(shape), dtype=np.float64).reshape(shape)
        moved = _moved(value, full, places)
        if moved is None:
            break
        own = _unrepeated(moved.swapaxes(-1, -2) if flag else moved, sizes, places.size)
        if own is None:
            continue
        top, there = value, own
        order = _order(places, own)
        shape = (*lead, *own.shape[1:])
        if order is None:
            continue
        effort = _effort(value, order, shape)
        if best is None or effort < _effort(best.value, best.order, best.shape):
            best = Source(value, shape, order, value, own)
    if best is None:
        return None
    return Source(best.value, best.shape, best.order, top, there)


def _moved(value: SSAValue, full: SSAValue, places: Array) -> Array | None:
    """The places of a value's entries in `full`, a positive factor taken off."""
    try:
        (moved,) = sample([full], {value: places + 1})
    except NotSampled:
        return None
    factor = float(moved.min(initial=1.0, where=moved > 0))
    return np.rint(moved / factor - 1)


def _effort(value: SSAValue, order: Shape, shape: Shape) -> tuple[int, bool, bool]:
    """What it takes to make an operand: its heads, a transpose, a reshape."""
    return shape[-3], list(order) != sorted(order), value_shape(value) != shape


def _unrepeated(moved: Array, sizes: tuple[int, int, int], total: int) -> Array | None:
    """The places [B, Hkv, Sk, D] of `total` entries whose heads `moved` repeats."""
    batch, queries, keys = sizes
    width = moved.shape[-1]
    rows = batch * keys * width
    heads = total // rows if rows else 0
    if not heads or heads * rows != total or queries % heads or moved.shape[-2] != keys:
        return None
    if int(np.prod(moved.shape[:-2])) != batch * queries:
        moved = _widened(moved, batch, queries)
    if moved.size != queries * rows:
        return None
    grouped = moved.reshape(batch, heads, queries // heads, keys, width)
    own: Array = grouped[:, :, 0]
    whole = np.array_equal(np.sort(own, axis=None), np.arange(float(total)))
    return own if whole and bool(np.all(grouped == own[:, :, None])) else None


def _widened(moved: Array, batch: int, queries: int) -> Array:
    """Heads that a product itself repeats: [B, 1, …] and [B, Hkv, 1, …]."""
    axes = moved.shape[:-2]
    held = int(np.prod(axes)) // batch
    if not axes or not held or queries % held or axes[-1] != 1:
        return moved
    grouped = moved.reshape(batch, held, 1, *moved.shape[-2:])
    return np.repeat(grouped, queries // held, axis=2)


def _order(places: Array, own: Array) -> Shape | None:
    """The order of a value's axes in which its entries lie as an operand's do."""
    ones = [axis for axis, size in enumerate(places.shape) if size == 1]
    axes = [axis for axis, size in enumerate(places.shape) if size != 1]
    if np.array_equal(places.ravel(), own.ravel()):
        return tuple(range(places.ndim))
    for order in permutations(axes):
        if np.array_equal(places.transpose(*ones, *order).ravel(), own.ravel()):
            return (*ones, *order)
    return None
