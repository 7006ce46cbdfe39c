"""What regions compute, asked once for each spelling: layers of a model repeat it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from xdsl.ir import SSAValue

from tessera.graph.raising.regions import Region
from tessera.graph.types import value_dtype, value_shape

T = TypeVar("T")


class BySpelling(Generic[T]):
    """An answer about regions that follows from their spelling alone."""

    def __init__(self, ask: Callable[[Region], T]) -> None:
        self._ask = ask
        self._known: dict[Hashable, T] = {}

    def __call__(self, region: Region) -> T:
        """The answer for a region, computed for the first one that is so spelled."""
        key = spelling(region)
        if key not in self._known:
            self._known[key] = self._ask(region)
        return self._known[key]


def spelling(region: Region) -> Hashable:
    """What regions share that do the same ops, in order, on like values.

    Values are named by their place: input and parameters, then each op's result; a number
    is itself, and every value has its element type and sizes.
    """
    given = (region.x, *region.params)
    made = [op.results[0] for op in region.ops]
    names: dict[SSAValue, int] = {v: i for i, v in enumerate((*given, *made))}

    def operand(value: SSAValue) -> Hashable:
        if value in names:
            return names[value]
        return repr(region.numbers[value]), value_dtype(value), value_shape(value)

    ops = [
        (type(op), repr(op.options()), *map(operand, op.operands)) for op in region.ops
    ]
    types = [(value_dtype(value), value_shape(value)) for value in names]
    return tuple(ops), tuple(types)
