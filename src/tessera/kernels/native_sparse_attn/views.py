"""Views: what only moves values, followed up to its source and repeated on another value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import OpResult, SSAValue

from tessera.graph.algebra import SsaAlgebra
from tessera.graph.constants import constant_of, uniform
from tessera.graph.operation import GraphOp
from tessera.graph.ops import elementwise as ew
from tessera.graph.ops import layout
from tessera.graph.types import FLOATS, Shape, value_dtype, value_shape

# How a layout is reached: ("reshape", shape) or ("transpose", permutation).
Step = tuple[str, Shape]
REACH = 24
ELEMENTWISE = (
    *(ew.AddOp, ew.SubOp, ew.MulOp, ew.DivOp, ew.MaxOp, ew.MinOp, ew.TanhOp),
    *(ew.NegOp, ew.SelectOp, layout.CastOp),
    *(layout.ReshapeOp, layout.TransposeOp, layout.BroadcastOp),
)


def producer(value: SSAValue) -> GraphOp | None:
    """The graph op that makes a value, or None."""
    op = value.op if isinstance(value, OpResult) else None
    return op if isinstance(op, GraphOp) else None


def is_float(value: SSAValue) -> bool:
    """Whether a value holds floats."""
    return value_dtype(value) in FLOATS


def through_views(value: SSAValue) -> tuple[SSAValue, list[Step]]:
    """Up through reshapes, transposes and casts; the steps lead back down."""
    steps: list[Step] = []
    for _ in range(REACH):
        op = producer(value)
        if isinstance(op, layout.ReshapeOp):
            steps.append(("reshape", value_shape(value)))
        elif isinstance(op, layout.TransposeOp):
            steps.append(("transpose", tuple(op.options()["permutation"])))
        elif not isinstance(op, layout.CastOp) or not is_float(op.operands[0]):
            break
        value = op.operands[0]
    return value, steps[::-1]


def replay(g: SsaAlgebra, value: SSAValue, steps: Sequence[Step]) -> SSAValue:
    """The steps on another value."""
    for kind, argument in steps:
        if kind == "reshape":
            value = g.reshape(value, argument)
        else:
            value = g.apply("transpose", value, permutation=argument)
    return value


def follow(array: np.ndarray, steps: Sequence[Step]) -> np.ndarray:
    """The steps on an array."""
    for kind, argument in steps:
        moved = array.reshape if kind == "reshape" else array.transpose
        array = moved(argument)
    return array


def undo(start: Shape, steps: Sequence[Step]) -> list[Step]:
    """The steps that lead back to a value of shape `start`."""
    back: list[Step] = []
    for kind, argument in steps:
        if kind == "reshape":
            back.append(("reshape", start))
            start = argument
        else:
            back.append(("transpose", tuple(int(i) for i in np.argsort(argument))))
            start = tuple(start[axis] for axis in argument)
    return back[::-1]


def moves(value: SSAValue, scaled: bool = False) -> list[SSAValue]:
    """The value and all it is a mere copy, move or repeat of, the nearest first.

    With `scaled`, constant factors are passed too.
    """
    found = [value]
    for _ in range(REACH):
        op = producer(value)
        factored = _factored(op) if scaled and op is not None else None
        if op is None or (factored is None and not _moves(op)):
            break
        value = op.operands[0] if factored is None else factored
        found.append(value)
    return found


def _factored(op: GraphOp) -> SSAValue | None:
    """What an op multiplies by a constant, or divides by one."""
    if isinstance(op, ew.MulOp):
        sides = [uniform(operand) for operand in op.operands]
        if (sides[0] is None) != (sides[1] is None):
            return op.operands[1 if sides[1] is None else 0]
    if isinstance(op, ew.DivOp) and uniform(op.operands[1]) is not None:
        return op.operands[0]
    return None


def _moves(op: GraphOp) -> bool:
    if isinstance(op, layout.CastOp):
        return is_float(op.operands[0])
    if isinstance(op, layout.GatherOp):
        return constant_of(op.operands[1]) is not None
    if isinstance(op, layout.ConcatOp):
        return len(set(op.operands)) == 1
    return isinstance(op, layout.ReshapeOp | layout.TransposeOp | layout.BroadcastOp)


def unscaled(value: SSAValue) -> SSAValue:
    """Up through constant factors, reshapes and casts."""
    for _ in range(REACH):
        op = producer(value)
        if op is None:
            break
        factored = _factored(op)
        if factored is None and not _keeps_order(op):
            break
        value = op.operands[0] if factored is None else factored
    return value


def _keeps_order(op: GraphOp) -> bool:
    if isinstance(op, layout.CastOp):
        return is_float(op.operands[0])
    return isinstance(op, layout.ReshapeOp)


def same(a: SSAValue, b: SSAValue) -> bool:
    """Whether two values are the same by the ops that make them, a few levels up."""
    todo = [(a, b, 0)]
    while todo:
        x, y, depth = todo.pop()
        if x is y:
            continue
        left, right = producer(x), producer(y)
        if left is None or right is None or depth > REACH or x.type != y.type:
            return False
        if left.name != right.name or left.options() != right.options():
            return False
        if len(left.operands) != len(right.operands) or len(todo) > REACH:
            return False
        if isinstance(left, layout.ConstOp) and left.attributes != right.attributes:
            return False
        pairs = zip(left.operands, right.operands, strict=True)
        todo.extend((one, other, depth + 1) for one, other in pairs)
    return True


def float_sources(value: SSAValue, limit: int = REACH) -> list[SSAValue]:
    """The floats that a value is made of, element by element, the nearest first.

    Conditions are not followed; views are.
    """
    found = [value]
    for current in found:
        op = producer(current)
        if len(found) > limit or op is None or not isinstance(op, ELEMENTWISE):
            continue
        found += [o for o in op.operands if is_float(o) and o not in found]
    return found
