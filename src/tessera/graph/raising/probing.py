"""Running a region on probe arrays in f64, whatever its sizes and element types are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import BroadcastOp, CastOp, ReshapeOp
from tessera.graph.raising.regions import Number, Region
from tessera.graph.types import FLOATS, value_dtype, value_shape

Array = np.ndarray
# A result further away, relative to what is wanted, is of another function.
EXACT, POLYNOMIAL, NARROW = 1e-7, 2e-6, 5e-4
LONG = 30


class NotProbed(Exception):
    """The region cannot be run on probes."""


def tolerance(region: Region) -> float:
    """How far a region may be from a function that it spells."""
    if region.narrow_numbers():
        return NARROW
    return POLYNOMIAL if len(region.ops) > LONG else EXACT


def probe(region: Region, arrays: Mapping[SSAValue, Array]) -> Array:
    """The root's value in f64 for values of the input and parameters.

    Sizes are those of the arrays: a reshape may only add and drop axes of size 1, a
    broadcast only repeat up to the input's sizes.  Raises NotProbed otherwise.
    """
    values: dict[SSAValue, Array] = dict(arrays)
    sizes = value_shape(region.x), values[region.x].shape
    for value, number in region.numbers.items():
        values[value] = _array(number)
    for op in region.ops:
        operands = [values[operand] for operand in op.operands]
        values[op.results[0]] = _compute(op, operands, sizes)
    return values[region.root.results[0]]


def _array(number: Number) -> Array:
    return np.asarray(number if isinstance(number, bool) else float(number))


Sizes = tuple[Sequence[int], Sequence[int]]


def _compute(op: GraphOp, operands: Sequence[Array], sizes: Sizes) -> Array:
    if isinstance(op, CastOp):
        names = value_dtype(op.operands[0]), value_dtype(op.results[0])
        if not all(name in FLOATS for name in names):
            raise NotProbed
        return operands[0]
    if isinstance(op, ReshapeOp):
        return _reshaped(op, operands[0])
    if isinstance(op, BroadcastOp):
        return _broadcast(op, operands[0], sizes)
    try:
        return op.meaning()(*operands, **op.keywords())
    except (ValueError, IndexError, TypeError) as bad:
        raise NotProbed from bad


def _reshaped(op: GraphOp, array: Array) -> Array:
    found, wanted = value_shape(op.operands[0]), value_shape(op.results[0])
    if array.ndim != len(found):
        raise NotProbed
    kept = [size for size, known in zip(array.shape, found, strict=True) if known != 1]
    if [n for n in found if n != 1] != [n for n in wanted if n != 1]:
        raise NotProbed
    if array.size != int(np.prod(kept)):
        raise NotProbed
    rest = iter(kept)
    return array.reshape([1 if size == 1 else next(rest) for size in wanted])


def _broadcast(op: GraphOp, array: Array, sizes: Sizes) -> Array:
    """`array` repeated to the input's probe sizes, axes aligned at the right."""
    wanted = value_shape(op.results[0])
    if len(wanted) > len(sizes[0]):
        raise NotProbed
    found: list[int] = []
    known, probed = (tail(s, len(wanted)) for s in sizes)
    for size, full, given in zip(wanted, known, probed, strict=True):
        if size not in (1, full):
            raise NotProbed
        found.append(given if size == full else 1)
    try:
        return np.broadcast_to(array, found)
    except ValueError as bad:
        raise NotProbed from bad


def tail(sizes: Sequence[int], count: int) -> Sequence[int]:
    """The last `count` sizes."""
    return sizes[len(sizes) - count :]
