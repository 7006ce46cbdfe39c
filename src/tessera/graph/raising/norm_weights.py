"""Which operands a norm takes as its weights, so that it rounds as its spelling does."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from tessera.graph.constants import uniform
from tessera.graph.ops.elementwise import AddOp
from tessera.graph.ops.layout import CastOp, ReshapeOp
from tessera.graph.raising.regions import NARROW, Region
from tessera.graph.types import value_dtype, value_shape


@dataclass(frozen=True)
class Weight:
    """A parameter as a norm takes it: the operand, or w where the parameter is 1 + w.

    An operand may not be wider than the input, which would widen the result; it is then
    None.  A cast that widened it is undone, since the norm computes in f32 anyway.
    """

    operand: SSAValue | None
    without_one: SSAValue | None


def fit_weights(region: Region) -> list[Weight]:
    """What stands for each parameter of a region."""
    name = value_dtype(region.x)
    return [_fit(value, name) for value in region.params]


def _fit(value: SSAValue, name: str) -> Weight:
    operand = _fitted(value, name)
    addend = _addend(_flat(value))
    if addend is None or value_dtype(value) in NARROW:
        return Weight(operand, None)
    return Weight(operand, _fitted(addend, name))


def _flat(value: SSAValue) -> SSAValue:
    """A vector that was only given more axes of size 1, as it was."""
    owner = value.owner
    if not isinstance(owner, ReshapeOp) or len(owner.operands) > 1:
        return value
    source = owner.operands[0]
    return source if value_shape(source) == value_shape(value)[-1:] else value


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
    value = _flat(value)
    owner = value.owner
    if isinstance(owner, CastOp) and name in NARROW:
        source = _flat(owner.operands[0])
        if value_dtype(source) == name:
            return source
    wide = value_dtype(value) != name and name in NARROW
    return None if wide or (name == "f32" and value_dtype(value) == "f64") else value
