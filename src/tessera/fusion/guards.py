"""Guards around a softmax: selects that put zero where a row has no key to look at.

Three forms are in use: NaN results, rows of scores that are all -inf, and rows that the
mask removes altogether.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tessera.fusion.draft import Operand, options_of, owner
from tessera.graph.constants import uniform
from tessera.graph.types import value_dtype, value_shape


@dataclass(frozen=True)
class Guard:
    """`chain` with zeros where `tested` is NaN, or where its row is all removed.

    `ops` are those of the test.
    """

    chain: SSAValue
    tested: SSAValue
    is_nan: bool
    ops: tuple[Operation, ...]

    @property
    def is_implied(self) -> bool:
        """Whether softmax gives these zeros by itself: its own scores are tested."""
        maker = owner(self.chain)
        if self.is_nan or maker is None or maker.name != "tessera.softmax":
            return False
        return maker.operands[0] is self.tested

    def tests(self, mask: Operand) -> bool:
        """Whether the mask of the chain is what is tested, up to what keeps its -inf."""
        flips = sum(name == "not" for name, _ in mask.edits)
        for name, argument in mask.edits:
            if name not in ("not", "mul") or (name == "mul" and not argument > 0.0):
                return False
        value, maker = self.tested, owner(self.tested)
        if flips and maker is not None and maker.name == "tessera.not":
            value, flips = maker.operands[0], flips - 1
        return value is mask.value and not flips


def read_guard(op: Operation) -> Guard | None:
    """A select as a guard; None where it is another choice."""
    condition, a, b = op.operands
    for chain, zero, holds in ((b, a, True), (a, b, False)):
        if uniform(zero) != 0 or value_shape(chain) != value_shape(op.results[0]):
            continue
        maker = owner(condition)
        if maker is None:
            continue
        if holds and maker.name == "tessera.isnan":
            nan = maker.operands[0] is chain
            return Guard(chain, chain, True, (maker,)) if nan else None
        found = _rows(condition, holds)
        if found is not None:
            return Guard(chain, found.tested, False, found.ops)
    return None


@dataclass(frozen=True)
class _Test:
    tested: SSAValue
    ops: tuple[Operation, ...]


def _rows(value: SSAValue, holds: bool) -> _Test | None:
    """What rows must be removed for a column of conditions to be `holds`."""
    op = owner(value)
    if op is None:
        return None
    if op.name == "tessera.not":
        inner = _rows(op.operands[0], not holds)
        return None if inner is None else _Test(inner.tested, (op, *inner.ops))
    reduction, views = _reduction(value)
    if reduction is not None and reduction.name == "tessera.reduce_any" and not holds:
        tested, ops = _kept(reduction.operands[0])
        return _Test(tested, (*views, reduction, *ops))
    for side in _sides_of_infinity(op, "eq" if holds else "ne"):
        reduction, views = _reduction(side)
        if reduction is not None and reduction.name == "tessera.reduce_max":
            return _Test(reduction.operands[0], (op, *views, reduction))
    return None


def _reduction(value: SSAValue) -> tuple[Operation | None, tuple[Operation, ...]]:
    """The reduction of rows that makes a column, and the reshape that kept its axis."""
    op, views = owner(value), ()
    keeps = True
    if op is not None and op.name == "tessera.reshape":
        source = value_shape(op.operands[0])
        if value_shape(value) != (*source, 1):
            return None, ()
        views, keeps, op = (op,), False, owner(op.operands[0])
    if op is None or op.name not in ("tessera.reduce_any", "tessera.reduce_max"):
        return None, ()
    options, rank = options_of(op), len(value_shape(op.operands[0]))
    last = [axis % rank for axis in options["axes"]] == [rank - 1]
    return (op, views) if last and options["keepdims"] == keeps else (None, ())


def _kept(value: SSAValue) -> tuple[SSAValue, tuple[Operation, ...]]:
    """What is compared with -inf to tell the keys that are kept; else the flags."""
    op, kind, above = owner(value), "ne", ()
    if op is not None and op.name == "tessera.not":
        op, kind, above = owner(op.operands[0]), "eq", (op,)
    if op is not None:
        for side in _sides_of_infinity(op, kind):
            return side, (*above, op)
    return value, ()


def _sides_of_infinity(op: Operation, kind: str) -> Iterator[SSAValue]:
    """What a comparison of that kind compares with -inf."""
    if op.name != "tessera.cmp" or options_of(op)["kind"] != kind:
        return
    for index in (0, 1):
        other = op.operands[1 - index]
        if value_dtype(other) != "i1" and uniform(other) == -math.inf:
            yield op.operands[index]
