"""What a fused kernel is, to every stage that meets one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, TypeVar

from xdsl.ir import Operation, SSAValue

from tessera.artifact import Value
from tessera.diagnostics import Code, Refusal
from tessera.fusion.draft import Match, owner
from tessera.fusion.ending import Ending
from tessera.fusion.pattern import Apply, Capture, Hole, Term, Terms
from tessera.fusion.readings import through_reshapes
from tessera.graph.algebra import Algebra, SsaAlgebra
from tessera.graph.attributes import Kind
from tessera.graph.operation import GraphOp

V = TypeVar("V")
FLOATS = ("f32", "f16", "bf16")


class Meaning(Protocol):
    """A computation over any algebra: operands by role, options by name."""

    def __call__(
        self, g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any], /
    ) -> tuple[V, ...]: ...


class Raise(Protocol):
    """Build the pre-fused op that a matched chain stands for."""

    def __call__(
        self, g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any], /
    ) -> V: ...


@dataclass(frozen=True)
class Reread:
    """A spelled-out region read as the pre-fused op that `build` makes of it.

    `root` is the op whose result it replaces; what nothing reads after that is dead.
    """

    root: Operation
    build: Callable[[SsaAlgebra], SSAValue]


Attention = Callable[[Operation], Match | None]
Rereader = Callable[[Operation, Attention], "Reread | Refusal | None"]


@dataclass(frozen=True)
class Binding:
    """What a kernel would be called with: operands by role, and its options."""

    operands: Mapping[str, SSAValue]
    options: Mapping[str, Any]


def by_role(roles: Sequence[str], values: Sequence[SSAValue]) -> dict[str, SSAValue]:
    """Operands by role, in order; trailing roles without an operand are absent."""
    return dict(zip(roles, values, strict=False))


@dataclass(frozen=True)
class Objection:
    """What one broken demand found and wanted; the demand adds its code."""

    found: str
    wanted: str
    suggestion: str = ""


@dataclass(frozen=True)
class Demand:
    """One thing a kernel needs of a binding.

    `check` returns an objection, or None when the demand holds.
    """

    code: Code
    predicate: str
    check: Callable[[Binding], Objection | None]


@dataclass(frozen=True)
class Spec:
    """The signature an emitter writes code for: a value by role, results as well."""

    values: Mapping[str, Value]
    options: Mapping[str, Any]


class Emit(Protocol):
    """The text of a kernel for one signature and host; None where it has none."""

    def __call__(self, spec: Spec, host: Any, /) -> str | None: ...


@dataclass(frozen=True, kw_only=True)
class FusedKernel:
    """One fused kernel: what it means, what it demands, what it honours.

    `roles`: operands in call order, `name?` optional.  `options`: the semantic attributes
    of a call.  `results`: `out`, and `name?` those that are given only where read.
    `readings`: option values fixed while the meaning is read as a pattern (one pattern
    each); empty when the kernel is never spelled out in a graph.  `composites`: how a
    pre-fused op binds to the kernel.  `raised_to`, `raise_`: the pre-fused op that a
    chain becomes, and how; `reread` finds what no pattern can say, given how to read an
    op as plain attention; `holes` and `captures` name what only that chain has.
    `scaled`: roles from which a constant factor may be taken.  `launches`: how many a
    call takes; `unfused`: the reading that spells out what it saves.  `seen_at`: how many
    ops of the pattern make a near miss a site worth recording.  `cpu` spells a call out
    in LLVM's language.
    """

    name: str
    kind: str
    summary: str
    roles: tuple[str, ...]
    options: Mapping[str, Kind]
    meaning: Meaning
    demands: tuple[Demand, ...] = ()
    results: tuple[str, ...] = ("out",)
    readings: tuple[Mapping[str, Any], ...] = ()
    composites: Mapping[str, Callable[[GraphOp], Binding]] = field(
        default_factory=dict[str, Callable[[GraphOp], Binding]]
    )
    raised_to: str = ""
    raise_: Raise | None = None
    reread: Rereader | None = None
    holes: tuple[str, ...] = ()
    captures: tuple[str, ...] = ()
    scaled: tuple[str, ...] = ()
    seen_at: int = 2
    launches: int = 1
    unfused: Mapping[str, Any] | None = None
    cpu: Emit | None = None

    @property
    def is_chain(self) -> bool:
        """Whether its sites are spelled-out chains that carry an intent."""
        return bool(self.readings) and not self.raised_to

    @cached_property
    def patterns(self) -> tuple[tuple[Apply, Mapping[str, Any]], ...]:
        """The meaning read as patterns, each with the options it fixes."""
        return tuple((self._pattern(reading), reading) for reading in self.readings)

    @cached_property
    def ends(self) -> Mapping[str, tuple[Ending, ...]]:
        """The patterns by the name of the op that a chain of theirs ends in."""
        found: dict[str, tuple[Ending, ...]] = {}
        for pattern, reading in self.patterns:
            name = f"tessera.{pattern.op}"
            found[name] = (*found.get(name, ()), Ending(pattern, reading))
        return found

    def fitting(self, root: Operation) -> list[Ending]:
        """The endings by which a match at `root` could succeed, or miss and be told."""
        endings = self.ends.get(root.name)
        if endings is None:
            return []
        read = [through_reshapes(operand) for operand in root.operands]
        makers = [op.name for op in map(owner, read) if op is not None]
        return [
            ending
            for ending in endings
            if (least := min(self.seen_at, ending.size)) < 2
            or (not ending.opening.isdisjoint(makers) and ending.most(read) >= least)
        ]

    def _pattern(self, reading: Mapping[str, Any]) -> Apply:
        names = [role.rstrip("?") for role in (*self.roles, *self.holes)]
        holes: dict[str, Term] = {name: Hole(name) for name in names}
        captures = {name: Capture(name) for name in (*self.options, *self.captures)}
        root = self.meaning(Terms(), holes, {**captures, **reading})[0]
        assert isinstance(root, Apply)
        return root

    def role_order(self, operands: Mapping[str, Any]) -> list[str]:
        """The roles present, in call order."""
        names = [role.rstrip("?") for role in self.roles]
        return [name for name in names if name in operands]

    def defaults(self) -> dict[str, Any]:
        """Every option at its default."""
        return {name: kind.default for name, kind in self.options.items()}
