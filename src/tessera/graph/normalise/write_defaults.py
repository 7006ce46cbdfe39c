"""Canonical attributes: absent defaults written out, each fact in one spelling."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from tessera.graph.attributes import Kind
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import END, ConstOp, IotaOp, SliceOp
from tessera.graph.rewriting import blocks, notes_of
from tessera.graph.types import DYN, value_shape

PAST_START = -(1 << 63)
Bounds = tuple[int, int, int]


@dataclass(frozen=True)
class WriteDefaults(ModulePass):
    """Write every declared attribute in its canonical form, in declared order.

    The last axis is -1, the others count from 0; axes of a reduction are in order;
    flags are booleans, floats f64, lists array<i64>; bounds of slices are those taken.
    An attribute whose default depends on other things (a scale, say) stays absent.
    """

    name = "tessera-write-defaults"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        written: dict[tuple[Kind, Any], Attribute] = {}
        for block in blocks(op):
            for item in block.ops:
                if (
                    isinstance(item, GraphOp)
                    and item.attrs
                    and type(item) is not ConstOp
                ):
                    _write(item, written)


def _write(op: GraphOp, written: dict[tuple[Kind, Any], Attribute]) -> None:
    attributes: dict[str, Attribute] = {}
    for key, value in canonical(op).items():
        if value is None:
            continue
        kind = op.attrs[key]
        known = kind, repr(value)
        if known not in written:
            written[known] = kind.write(value)
        attributes[key] = written[known]
    op.attributes = attributes | notes_of(op)


def canonical(op: GraphOp) -> Mapping[str, Any]:
    """The options of an op, each in its one spelling."""
    options = op.options()
    if "axis" in options:
        value = op.results[0] if isinstance(op, IotaOp) else op.operands[0]
        rank = len(value_shape(value))
        options["axis"] = _from_end(options["axis"], rank)
    if "axes" in options:
        rank = len(value_shape(op.operands[0]))
        axes = sorted(axis % rank for axis in options["axes"])
        options["axes"] = tuple(_from_end(axis, rank) for axis in axes)
    if isinstance(op, SliceOp):
        return _sliced(options, value_shape(op.operands[0]))
    return options


def _from_end(axis: int, rank: int) -> int:
    """-1 for the last axis, a count from 0 for the others."""
    place = axis % rank if rank else axis
    return -1 if place == rank - 1 else place


def _sliced(options: Mapping[str, Any], shape: tuple[int, ...]) -> Mapping[str, Any]:
    bounds = zip(options["starts"], options["stops"], options["steps"], strict=True)
    found = list(map(_bounded, shape, bounds))
    keys = ("starts", "stops", "steps")
    return {key: tuple(b[i] for b in found) for i, key in enumerate(keys)}


def _bounded(size: int, bounds: Bounds) -> Bounds:
    """The bounds that Python's rules give on a known size; nothing taken is 0:0."""
    if size == DYN:
        start, stop, step = bounds
        return start, END if stop > END else stop, step
    start, stop, step = slice(*bounds).indices(size)
    if not range(start, stop, step):
        return 0, 0, 1
    return start, stop if stop >= 0 else PAST_START, step
