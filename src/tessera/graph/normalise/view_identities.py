"""Casts and views that change nothing, and pairs of them that make one.

A rule gives the value or the new op that stands for its op, or None.  The caller holds
them to the type of their op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

from xdsl.ir import SSAValue

from tessera.graph.normalise.view_chains import hoisted, shortest
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import (
    END,
    BroadcastOp,
    CastOp,
    ConcatOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from tessera.graph.types import DYN, Tensor, is_static, value_dtype, value_shape

Replacement = SSAValue | GraphOp | None
Rule = Callable[[GraphOp], Replacement]

# Significant bits and exponent bits of a type: what it holds without rounding.
_PRECISION = {"f64": (53, 11), "f32": (24, 8), "f16": (11, 5), "bf16": (8, 8)}


def keeps_type(op: GraphOp, index: int = 0) -> bool:
    """Whether the result has the very type of an operand."""
    found, wanted = op.operands[index].type, op.results[0].type
    return found is wanted or found == wanted


def lossless(narrow: str, wide: str) -> bool:
    """Whether every value of one element type is one of another."""
    if narrow in _PRECISION:
        a, b = _PRECISION[narrow], _PRECISION.get(wide)
        return b is not None and a[0] <= b[0] and a[1] <= b[1]
    signed, bits = _integer(narrow)
    if wide in _PRECISION:
        return bits <= _PRECISION[wide][0] and 1 << (_PRECISION[wide][1] - 1) > bits
    wider, room = _integer(wide)
    return bits < room if wider and not signed else signed == wider and bits <= room


def _integer(name: str) -> tuple[bool, int]:
    if name == "i1":
        return False, 1
    return not name.startswith("u"), int(name.lstrip("ui"))


def cast_rule(op: GraphOp) -> Replacement:
    """Cast to the same type; cast after a cast that loses nothing."""
    if keeps_type(op):
        return op.operands[0]
    inner = op.operands[0].owner
    if not isinstance(inner, CastOp):
        return None
    source, middle = value_dtype(inner.operands[0]), value_dtype(inner.results[0])
    target = value_dtype(op.results[0])
    if not lossless(source, middle):
        return None
    if target.startswith("ui") and source != target:
        return None  # negative floats to unsigned have no value of their own
    if target == source:
        return inner.operands[0] if _same_result(op, inner) else None
    return CastOp.build([inner.operands[0]], [_type(op)])


def _same_result(op: GraphOp, inner: GraphOp) -> bool:
    return op.results[0].type == inner.operands[0].type


def _type(op: GraphOp) -> Tensor:
    return cast(Tensor, op.results[0].type)


def reshape_rule(op: GraphOp) -> Replacement:
    """Reshape to the same shape; reshape of a reshape."""
    shape = value_shape(op.results[0])
    if keeps_type(op) and (is_static(shape) or _one_unknown(op, shape)):
        return op.operands[0]
    inner = op.operands[0].owner
    if not isinstance(inner, ReshapeOp):
        return None
    return ReshapeOp.build([inner.operands[0], *op.operands[1:]], [_type(op)])


def _one_unknown(op: GraphOp, shape: tuple[int, ...]) -> bool:
    """Whether the sizes known on both sides leave only one choice for the last."""
    return len(op.operands) == 1 and shape.count(DYN) == 1 and 0 not in shape


def broadcast_rule(op: GraphOp) -> Replacement:
    """Broadcast to the same shape; broadcast of a broadcast."""
    static = is_static(value_shape(op.results[0]))
    if keeps_type(op) and static:
        return op.operands[0]
    inner = op.operands[0].owner
    if not isinstance(inner, BroadcastOp) or not static:
        return None
    return BroadcastOp.build([inner.operands[0]], [_type(op)])


def transpose_rule(op: GraphOp) -> Replacement:
    """Transpose to the same order; transpose of a transpose."""
    order: tuple[int, ...] = op.options()["permutation"]
    if order == tuple(range(len(order))):
        return op.operands[0]
    inner = op.operands[0].owner
    if not isinstance(inner, TransposeOp):
        return None
    before: tuple[int, ...] = inner.options()["permutation"]
    joined = tuple(before[axis] for axis in order)
    return TransposeOp.build([inner.operands[0]], permutation=joined)


def slice_rule(op: GraphOp) -> Replacement:
    """A slice that takes everything."""
    options = op.options()
    bounds = zip(options["starts"], options["stops"], options["steps"], strict=True)
    shape = value_shape(op.operands[0])
    whole = all(map(_takes_all, shape, bounds))
    return op.operands[0] if whole and keeps_type(op) else None


def _takes_all(size: int, bounds: tuple[int, int, int]) -> bool:
    start, stop, step = bounds
    if step != 1:
        return False
    if size == DYN:
        return start == 0 and stop == END
    return range(*slice(start, stop, step).indices(size)) == range(size)


def concat_rule(op: GraphOp) -> Replacement:
    """A concat of one tensor, or with tensors that hold nothing."""
    if len(op.operands) == 1 and keeps_type(op):
        return op.operands[0]
    axis: int = op.options()["axis"]
    full = [operand for operand in op.operands if value_shape(operand)[axis] != 0]
    if len(full) == len(op.operands) or not full:
        return None
    return ConcatOp.build(full, axis=axis)


def pad_rule(op: GraphOp) -> Replacement:
    """A border of nothing."""
    options = op.options()
    empty = not any((*options["low"], *options["high"]))
    return op.operands[0] if empty and keeps_type(op) else None


def first(*rules: Rule) -> Rule:
    """The rule that does what the first fitting one does."""

    def rule(op: GraphOp) -> Replacement:
        found = (rule(op) for rule in rules)
        return next((item for item in found if item is not None), None)

    return rule


VIEW_RULES: Mapping[type[GraphOp], Rule] = {
    CastOp: cast_rule,
    ReshapeOp: first(reshape_rule, shortest),
    BroadcastOp: broadcast_rule,
    TransposeOp: first(transpose_rule, shortest),
    SliceOp: slice_rule,
    ConcatOp: first(concat_rule, hoisted),
    PadOp: pad_rule,
}
