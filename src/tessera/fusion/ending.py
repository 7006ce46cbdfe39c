"""How a chain may end: one reading of a meaning, and what its last op may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xdsl.ir import Operation

from tessera.fusion.draft import owner
from tessera.fusion.pattern import Apply, Hole, Part, Shared, Term, Walk
from tessera.fusion.readings import through_reshapes
from tessera.fusion.walks import HANDLERS


@dataclass(frozen=True)
class Ending:
    """A reading of a kernel's meaning as a pattern, with the options that it fixes."""

    pattern: Apply
    options: Mapping[str, Any]

    @cached_property
    def makers(self) -> frozenset[str]:
        """The ops of which one makes an operand of the last op of every such chain.

        Empty where any value will do.
        """
        return frozenset[str]().union(*map(_makers, self.pattern.args))

    def fits(self, root: Operation) -> bool:
        """Whether a chain may end in `root`, told one step up by names alone.

        Where it may not, a match refuses the first value that it looks at.
        """
        made_by = self.makers
        if not made_by:
            return True
        ops = (owner(through_reshapes(operand)) for operand in root.operands)
        return any(op is not None and op.name in made_by for op in ops)


def _makers(term: Term) -> frozenset[str]:
    """The ops that may make a value of the term; a hole asks for none."""
    match term:
        case Hole():
            return frozenset()
        case Apply():
            return frozenset({f"tessera.{term.op}"})
        case Walk():
            return _makers(term.inner) | HANDLERS.keys()
        case Shared():
            return _makers(term.inner)
        case Part():
            return frozenset({"tessera.slice"})
