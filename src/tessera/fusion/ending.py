"""How a chain may end: one reading of a meaning, and how much of it could be there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xdsl.ir import SSAValue

from tessera.fusion.draft import owner
from tessera.fusion.pattern import Apply, Hole, Part, Shared, Term, Walk
from tessera.fusion.readings import through_reshapes
from tessera.fusion.walks import REACH, WALKABLE

MANY = 99


@dataclass(frozen=True)
class Ending:
    """A reading of a kernel's meaning as a pattern, with the options that it fixes."""

    pattern: Apply
    options: Mapping[str, Any]

    @cached_property
    def size(self) -> int:
        """How many ops the pattern names."""
        return _size(self.pattern)

    @cached_property
    def opening(self) -> frozenset[str]:
        """The names of which one must make an operand for a match to get anywhere."""
        return frozenset[str]().union(*map(_opening, self.pattern.args))

    def most(self, read: Sequence[SSAValue]) -> int:
        """The most ops of the pattern that a match could find above these operands.

        Told by names alone, with operands in any order and every option as wanted: a
        match never comes deeper.  The last op itself counts.
        """
        return 1 + _most_of(self.pattern, read)


def _opening(term: Term) -> frozenset[str]:
    match term:
        case Hole():
            return frozenset()
        case Apply():
            return frozenset({f"tessera.{term.op}"})
        case Walk():
            return WALKABLE | _opening(term.inner)
        case Shared():
            return _opening(term.inner)
        case Part():
            return frozenset({"tessera.slice"})


def _size(term: Term) -> int:
    match term:
        case Hole():
            return 0
        case Apply():
            return 1 + sum(map(_size, term.args))
        case _:
            return _size(term.inner)


def _most_of(term: Apply, read: Sequence[SSAValue]) -> int:
    """The most over all arguments of an op, each at the operand that suits it best."""
    return sum(
        max((_most(argument, value) for value in read), default=0)
        for argument in term.args
        if not isinstance(argument, Hole)
    )


def _most(term: Term, value: SSAValue) -> int:
    while isinstance(term, Shared):
        term = term.inner
    if isinstance(term, Walk):
        return MANY if _leads_up(value, term.inner) else 0
    op = owner(through_reshapes(value))
    if op is None or isinstance(term, Hole):
        return 0
    if isinstance(term, Part):
        return _most(term.inner, op.operands[0]) if op.name == "tessera.slice" else 0
    if op.name != f"tessera.{term.op}":
        return 0
    return 1 + _most_of(term, tuple(op.operands))


def _leads_up(value: SSAValue, inner: Term) -> bool:
    """Whether steps of a chain may lead up from a value to what the walk is for.

    After REACH values that may be steps the answer is that they may.
    """
    while isinstance(inner, Shared):
        inner = inner.inner
    assert isinstance(inner, Apply)
    name, level, seen = f"tessera.{inner.op}", [value], 0
    while level:
        makers = [op for op in map(owner, level) if op is not None]
        seen += len(level)
        if seen > REACH or any(op.name == name for op in makers):
            return True
        level = [v for op in makers if op.name in WALKABLE for v in op.operands]
    return False
