"""`x[…]` on traced values: slices, integers, new axes, and one array of integers."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tessera.diagnostics import TesseraError
from tessera.frontend.traced import layout
from tessera.frontend.traced.codes import INDEX
from tessera.frontend.traced.places import here
from tessera.frontend.traced.symbol import Array, Symbol

PAST_BEGINNING = -(1 << 63)


@dataclass
class _Cut:
    """What an index asks of the axes of x, gathered from left to right."""

    starts: list[int]
    stops: list[int]
    steps: list[int]
    shape: list[int]
    gathered: tuple[int, Any] | None = None

    def take(self, size: int, part: slice) -> None:
        """Keep a slice of an axis of that size."""
        start, stop, step = part.indices(size)
        count = len(range(start, stop, step))
        if not count:
            start, stop, step = 0, 0, 1
        self.starts.append(start)
        self.stops.append(PAST_BEGINNING if stop < 0 else stop)
        self.steps.append(step)
        self.shape.append(count)

    def whole(self, size: int) -> None:
        """Keep an axis as it is."""
        self.take(size, slice(None))

    def pick(self, size: int, index: int) -> None:
        """Keep one element of an axis, and drop the axis."""
        if not -size <= index < size:
            axis = len(self.starts)
            raise _refuse(
                f"index {index} is out of range for axis {axis} of size {size}"
            )
        self.take(size, slice(index % size, index % size + 1))
        self.shape.pop()

    def gather(self, size: int, indices: Any) -> None:
        """Take elements of an axis by an array of integers."""
        if self.gathered is not None:
            text = "an index holds two arrays of integers, wanted at most one"
            raise _refuse(text, "use tessera.ops.gather_nd")
        self.whole(size)
        self.gathered = len(self.shape) - 1, indices


def indexed(x: Symbol, index: Any) -> Array:
    """x[index]."""
    given = cast("tuple[Any, ...]", index if isinstance(index, tuple) else (index,))
    items = _expanded(x, given)
    cut, axis = _Cut([], [], [], []), 0
    for item in items:
        if item is None:
            cut.shape.append(1)
            continue
        _apply(cut, x.shape[axis], item)
        axis += 1
    value: Array = x
    if any(cut.starts) or cut.steps != [1] * x.ndim or tuple(cut.stops) != x.shape:
        value = layout.slice(value, cut.starts, cut.stops, cut.steps)
    if tuple(cut.shape) != value.shape:
        value = layout.reshape(value, cut.shape)
    if cut.gathered is not None:
        value = layout.gather(value, cut.gathered[1], cut.gathered[0])
    return value


def _expanded(x: Symbol, items: tuple[Any, ...]) -> list[Any]:
    """The index with `...` written out: one entry an axis, besides None."""
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise _refuse("an index holds two `...`, wanted at most one")
    used = sum(item is not None and item is not Ellipsis for item in items)
    if used > x.ndim:
        raise _refuse(f"an index of {used} axes meets a value of {x.ndim}")
    rest = [slice(None)] * (x.ndim - used)
    at = dots[0] if dots else len(items)
    return [*items[:at], *rest, *items[at + 1 :]]


def _apply(cut: _Cut, size: int, item: Any) -> None:
    if isinstance(item, slice):
        cut.take(size, cast("slice[Any, Any, Any]", item))
        return
    item = layout.indices_of(item)
    if isinstance(item, (Symbol, np.ndarray)):
        array = cast("Symbol | np.ndarray[Any, Any]", item)
        if array.dtype.kind not in "iu":
            text = f"an index is an array of {array.dtype}, wanted integers"
            raise _refuse(text, "use tessera.ops.where to choose by a mask")
        cut.gather(size, array)
        return
    if isinstance(item, (bool, np.bool_)) or not hasattr(item, "__index__"):
        raise _refuse(
            f"an index holds {item!r}, wanted integers, slices, `...` or None"
        )
    cut.pick(size, operator.index(item))


def _refuse(text: str, remedy: str = "") -> TesseraError:
    return TesseraError(INDEX, text, here(), remedy)
