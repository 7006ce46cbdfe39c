"""Which operands a norm takes as its weights, so that it rounds as its spelling does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tessera.graph.constants import uniform
from tessera.graph.ops.elementwise import AddOp
from tessera.graph.ops.layout import CastOp
from tessera.graph.raising.regions import NARROW, Region
from tessera.graph.types import value_dtype


@dataclass(frozen=True)
class Weights:
    """The operand for each parameter; `offsets` gives w where a parameter is 1 + w."""

    values: tuple[SSAValue, ...]
    offsets: Mapping[int, SSAValue]


def fit_weights(region: Region) -> Weights | None:
    """The operands that stand for the parameters of a region, or None.

    An operand may not be wider than the input, which would widen the result: a cast that
    widened it is undone, since the norm computes in f32 anyway.
    """
    name = value_dtype(region.x)
    values: list[SSAValue] = []
    offsets: dict[int, SSAValue] = {}
    for index, value in enumerate(region.params):
        addend = _addend(value)
        if addend is not None and value_dtype(value) not in NARROW:
            addend = _fitted(addend, name)
            if addend is not None:
                offsets[index] = addend
        fitted = _fitted(value, name)
        if fitted is None and index not in offsets:
            return None
        values.append(fitted if fitted is not None else value)
    return Weights(tuple(values), offsets)


def _addend(value: SSAValue) -> SSAValue | None:
    """W when the value is 1 + w of one shape, else None."""
    owner = value.owner
    if not isinstance(owner, AddOp):
        return None
    for number, rest in (owner.operands, reversed(owner.operands)):
        if uniform(number) == 1 and rest.type == value.type:
            return rest
    return None


def _fitted(value: SSAValue, name: str) -> SSAValue | None:
    """The value, or what it was cast from, if it is no wider than `name`."""
    owner = value.owner
    if isinstance(owner, CastOp) and name in NARROW:
        source = owner.operands[0]
        if value_dtype(source) == name:
            return source
    wide = value_dtype(value) != name and name in NARROW
    return None if wide or (name == "f32" and value_dtype(value) == "f64") else value
