"""Identities: ops that change nothing, and pairs of ops that undo each other."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tessera.graph.constants import uniform
from tessera.graph.normalise.view_identities import (
    VIEW_RULES,
    Replacement,
    Rule,
    cast_rule,
    first,
    keeps_type,
)
from tessera.graph.normalise.widened_casts import widened_rule
from tessera.graph.operation import GraphOp
from tessera.graph.ops import elementwise as ew
from tessera.graph.ops import reduction as red
from tessera.graph.ops.layout import CastOp
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import DYN, FLOATS, value_dtype, value_shape


@dataclass(frozen=True)
class DropIdentities(ModulePass):
    """Replace ops that change nothing by their operand: same bits, same type.

    `x + 0` stays for floats, since it turns -0 into 0; `x + -0`, `x - 0`, `x * 1`,
    `x / 1` go.  An operand that would change the rank or shape of the result keeps its
    op.  One forward sweep: a rule looks at operands only, which are normal already.
    """

    name = "tessera-drop-identities"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in list(block.ops):
                _simplify(item, rewrites)


def _simplify(op: object, rewrites: Rewrites) -> None:
    """Apply rules to one op, and to what they make of it, until none fits."""
    while isinstance(op, GraphOp) and op.parent is not None:
        rule = RULES.get(type(op))
        found = rule(op) if rule else None
        if found is None or not _same_type(op, found):
            return
        if isinstance(found, SSAValue):
            rewrites.forward(op, [found])
            return
        rewrites.replace(op, found)
        op = found


def _same_type(op: GraphOp, found: SSAValue | GraphOp) -> bool:
    """Whether a replacement states the sizes that its op states; else it is undone."""
    value = found if isinstance(found, SSAValue) else found.results[0]
    if value.type == op.results[0].type:
        return True
    if isinstance(found, GraphOp):
        found.erase()
    return False


def _neutral(side: str, test: Callable[[float, bool], bool]) -> Rule:
    """A rule: the op gives back one operand when the other is neutral.

    `test(value, is float)` says so of a uniform constant; `side` names the operand that
    may be it: "right" or "either".
    """

    def rule(op: GraphOp) -> Replacement:
        for index in (1, 0) if side == "either" else (1,):
            if not keeps_type(op, 1 - index):
                continue
            value = uniform(op.operands[index])
            kept = op.operands[1 - index]
            if value is None or not _fits(op.operands[index], kept):
                continue
            if test(value, value_dtype(kept) in FLOATS):
                return kept
        return None

    return rule


def _fits(constant: SSAValue, kept: SSAValue) -> bool:
    """Whether the constant cannot stretch an unknown size of the value kept."""
    sizes, shape = value_shape(constant), value_shape(kept)
    pairs = zip(reversed(sizes), reversed(shape), strict=False)
    return all(size == 1 or other != DYN for size, other in pairs)


def _zero(value: float, negative: bool) -> bool:
    return value == 0 and bool(np.signbit(value)) == negative


def _undo(op: GraphOp) -> Replacement:
    """Neg of neg, not of not."""
    inner = op.operands[0].owner
    if isinstance(inner, GraphOp) and type(inner) is type(op):
        return inner.operands[0]
    return None


def _select(op: GraphOp) -> Replacement:
    """A choice that is made already, between equals, or by what does not hold."""
    test, first, second = op.operands
    if isinstance(test.owner, ew.NotOp):
        return ew.SelectOp.build((test.owner.operands[0], second, first))
    taken = uniform(test)
    if op.operands[1] is op.operands[2]:
        taken = True
    if taken is None:
        return None
    index = 1 if taken else 2
    if not keeps_type(op, index):
        return None
    others = [operand for operand in op.operands if operand is not op.operands[index]]
    kept = op.operands[index]
    return kept if all(_fits(other, kept) for other in others) else None


def _no_axes(op: GraphOp) -> Replacement:
    """A reduction over no axes."""
    empty = not op.options()["axes"]
    return op.operands[0] if empty and keeps_type(op) else None


RULES: Mapping[type[GraphOp], Rule] = {
    **VIEW_RULES,
    CastOp: first(cast_rule, widened_rule),
    ew.MulOp: _neutral("either", lambda value, real: value == 1),
    ew.DivOp: _neutral("right", lambda value, real: value == 1),
    ew.PowOp: _neutral("right", lambda value, real: value == 1),
    ew.AddOp: _neutral("either", lambda value, real: _zero(value, negative=real)),
    ew.SubOp: _neutral("right", lambda value, real: _zero(value, negative=False)),
    ew.MaxOp: _neutral("either", lambda value, real: real and value == -np.inf),
    ew.MinOp: _neutral("either", lambda value, real: real and value == np.inf),
    ew.AndOp: _neutral("either", lambda value, real: value is True or value == -1),
    ew.OrOp: _neutral("either", lambda value, real: value == 0),
    ew.XorOp: _neutral("either", lambda value, real: value == 0),
    ew.NegOp: _undo,
    ew.NotOp: _undo,
    ew.SelectOp: _select,
    red.ReduceSumOp: _no_axes,
    red.ReduceMeanOp: _no_axes,
    red.ReduceMaxOp: _no_axes,
    red.ReduceAnyOp: _no_axes,
}
