"""Ops and values as the record and a person name them."""

from __future__ import annotations

from xdsl.dialects.builtin import LocationAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from tessera.decisions import Call, Member, Operand
from tessera.diagnostics import Location, Refusal
from tessera.graph.constants import weight_key
from tessera.graph.locations import location_of, read_location
from tessera.graph.operation import GraphOp
from tessera.graph.types import DYN, value_dtype, value_shape
from tessera.target.dialect import CallOp

NAME = "tessera.name"
VIEWS = frozenset({"reshape", "transpose"})


def member(op: str, place: LocationAttr) -> Member:
    """An op by name and the place it has."""
    return member_at(op, read_location(place))


def member_at(op: str, place: Location) -> Member:
    """An op by name and its place as read."""
    position = str(place) if place.file else ""
    return Member(op, position, place.layer, place.name)


def refused_at(refusal: Refusal) -> Member:
    """The op at which a predicate failed."""
    return member_at(refusal.op, refusal.location)


def call_record(call: CallOp) -> Call:
    """A fused call with what each of its operands is."""
    pairs = zip(call.words("roles"), call.operands, strict=True)
    return Call(
        call.symbol, tuple(_operand(role, value, call) for role, value in pairs)
    )


def _operand(role: str, value: SSAValue, call: CallOp) -> Operand:
    """An operand as the call takes it; a view made for the call is looked through."""
    sizes = "x".join("?" if s == DYN else str(s) for s in value_shape(value))
    type_text = f"{value_dtype(value)}[{sizes}]"
    maker = value.owner
    while isinstance(maker, CallOp) and maker.op in VIEWS:
        if maker.location != call.location:
            break
        value = maker.operands[0]
        maker = value.owner
    if isinstance(value, BlockArgument) or not isinstance(maker, Operation):
        return Operand(role, "argument", type_text, _argument(value))
    if key := weight_key(value):
        return Operand(role, maker.name, type_text, key)
    place = location_of(maker)
    name = f"tessera.{maker.op}" if isinstance(maker, CallOp) else maker.name
    position = str(place) if place.file else ""
    return Operand(role, name, type_text, place.name, position)


def _argument(value: SSAValue) -> str:
    """The name of a function's argument, or its number."""
    if not isinstance(value, BlockArgument):
        return ""
    function = value.block.parent_op()
    if isinstance(function, FuncOp) and function.arg_attrs is not None:
        name = function.arg_attrs.data[value.index].data.get(NAME)
        if isinstance(name, StringAttr):
            return name.data
    return value.name_hint or str(value.index)


def told(op: Operation) -> str:
    """An op for a sentence: what it is, the model's own name, and where."""
    return told_at(op.name, location_of(op))


def told_at(name: str, place: Location) -> str:
    """An op's name and place for a sentence: the cast 'to_half' (model.onnx:12:1)."""
    short = name.removeprefix("tessera.")
    own = f" '{place.name}'" if place.name and place.name != short else ""
    where = f" ({place})" if place.file else ""
    return f"the {short}{own}{where}"


def told_value(value: SSAValue) -> str:
    """A value for a sentence: what makes it."""
    if isinstance(value, BlockArgument):
        return f"the input '{_argument(value)}'"
    if key := weight_key(value):
        return f"the weight '{key}'"
    return told(value.owner) if isinstance(value.owner, GraphOp) else "a value"
