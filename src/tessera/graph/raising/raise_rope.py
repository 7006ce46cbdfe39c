"""Rotary embeddings spelled out in slices and products become `rope`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from tessera.graph.operation import GraphOp
from tessera.graph.ops.composite import RopeOp
from tessera.graph.ops.elementwise import AddOp, MulOp, SubOp
from tessera.graph.ops.layout import BroadcastOp, ConcatOp, ReshapeOp
from tessera.graph.raising.rotations import Part, joined, negated, part
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import DYN, tensor, value_dtype, value_shape

Pair = tuple[SSAValue, SSAValue]


@dataclass(frozen=True)
class Rotation:
    """rope(x, cos, sin), found at one op; x may be two parts still to be joined."""

    x: SSAValue | Pair
    cos: SSAValue
    sin: SSAValue
    style: str
    halved: bool
    """Whether cos and sin hold one column a pair of features."""


@dataclass(frozen=True)
class RaiseRope(ModulePass):
    """Raise `x*cos + rotated(x)*sin`, and the form of two halves, to `rope`.

    Both pairings: a feature with the one half the width further, or with its neighbour.
    All operands have one element type; tables broadcast to x and not beyond.
    """

    name = "tessera-raise-rope"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in reversed(list(block.ops)):
                if isinstance(item, GraphOp) and item.parent is not None:
                    _raise(item, rewrites)


def _raise(op: GraphOp, rewrites: Rewrites) -> None:
    finders = FINDERS.get(type(op))
    found = finders(op) if finders else None
    if found is None or not _one_type(op, found):
        return
    made: list[Operation] = []
    new = _build(found, made)
    if new is None or new.results[0].type != op.results[0].type:
        for item in (*([new] if new else []), *reversed(made)):
            item.erase()
        return
    for item in made:
        item.location = op.location
        rewrites.insert(item, op)
    rewrites.replace(op, new)


def _build(found: Rotation, made: list[Operation]) -> RopeOp | None:
    """The op of a rotation, and what it needs made before it; None when it has no type."""
    x = _join(found.x, made) if isinstance(found.x, tuple) else found.x
    cos, sin = found.cos, found.sin
    if found.halved:
        cos, sin = (_whole(table, found.style, made) for table in (cos, sin))
    try:
        return RopeOp.build([x, cos, sin], style=found.style)
    except VerifyException:
        return None


def _one_type(op: GraphOp, found: Rotation) -> bool:
    values = (*(found.x if isinstance(found.x, tuple) else (found.x,)),)
    names = {value_dtype(v) for v in (*values, found.cos, found.sin, op.results[0])}
    tables = (value_shape(found.cos), value_shape(found.sin))
    return len(names) == 1 and all(sizes and sizes[-1] != DYN for sizes in tables)


def _join(pair: Pair, made: list[Operation]) -> SSAValue:
    made.append(ConcatOp.build(list(pair), axis=-1))
    return made[-1].results[0]


def _whole(table: SSAValue, style: str, made: list[Operation]) -> SSAValue:
    """A table with a column for each feature, from one with a column for each pair."""
    if style == "half":
        return _join((table, table), made)
    shape, name = value_shape(table), value_dtype(table)
    steps = [
        (ReshapeOp, (*shape, 1)),
        (BroadcastOp, (*shape, 2)),
        (ReshapeOp, (*shape[:-1], 2 * shape[-1])),
    ]
    for kind, sizes in steps:
        made.append(kind.build([table], [tensor(name, sizes)]))
        table = made[-1].results[0]
    return table


def _factors(value: SSAValue) -> Iterator[Pair]:
    """The operands of a product, in both orders."""
    owner = value.owner
    if isinstance(owner, MulOp):
        a, b = owner.operands
        yield a, b
        yield b, a


def _from_sum(op: GraphOp) -> Rotation | None:
    """x*cos + rotated(x)*sin, in any order."""
    for plain, turned in (op.operands, reversed(op.operands)):
        for rotated, sin in _factors(turned):
            found = _rotated(rotated)
            if found is None:
                continue
            for x, cos in _factors(plain):
                if x is found[0]:
                    return Rotation(x, cos, sin, found[1], halved=False)
    return None


def _rotated(value: SSAValue) -> tuple[SSAValue, str] | None:
    """X when a value is x turned by a quarter in each pair of features."""
    pair = joined(value)
    if pair is None:
        return None
    source = negated(pair[0])
    first, second = part(pair[1]), None if source is None else part(source)
    if first is None or second is None or first.pairs_with(second) != pair[2]:
        return None
    same = first.x.type == value.type
    return (first.x, pair[2]) if same else None


def _from_halves(op: GraphOp) -> Rotation | None:
    """x1*c - x2*s beside x2*c + x1*s."""
    pair = joined(op.results[0])
    if pair is None:
        return None
    low, high = pair[0].owner, pair[1].owner
    if not isinstance(low, SubOp) or not isinstance(high, AddOp):
        return None
    for x1, c in _factors(low.operands[0]):
        for x2, s in _factors(low.operands[1]):
            found = _paired(x1, x2, c, s, pair[2])
            if found is not None and _completes(high, (x2, c), (x1, s)):
                return found
    return None


def _completes(op: GraphOp, first: Pair, second: Pair) -> bool:
    """Whether a sum is of the products of two pairs, in any order."""
    for a, b in (op.operands, reversed(op.operands)):
        if first in _factors(a) and second in _factors(b):
            return True
    return False


def _paired(
    x1: SSAValue, x2: SSAValue, c: SSAValue, s: SSAValue, style: str
) -> Rotation | None:
    first, second = part(x1), part(x2)
    if not isinstance(first, Part) or not isinstance(second, Part):
        return None
    paired = first.pairs_with(second)
    if paired is None or x1.type != x2.type:
        return None
    if paired == style:
        return Rotation(first.x, c, s, style, halved=True)
    if style == "half":
        return Rotation((x1, x2), c, s, style, halved=True)
    return None


FINDERS: dict[type[GraphOp], Callable[[GraphOp], Rotation | None]] = {
    AddOp: _from_sum,
    ConcatOp: _from_halves,
    ReshapeOp: _from_halves,
}
