"""Which chains of a function fuse: the one analysis that stamping and consuming share.

Intents come first.  Of the other matches the one that covers most ops wins, ties go to
the earliest terminal op; a match never takes an op that is intended for another kernel.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tessera.diagnostics import Refusal
from tessera.fusion import codes
from tessera.fusion.draft import Match, Miss
from tessera.fusion.kernel import FusedKernel
from tessera.fusion.match import INTENT, match, seek
from tessera.fusion.seen import see
from tessera.graph.locations import location_of


@dataclass(frozen=True)
class Group:
    """A chain that one fused call computes; `intended` when an intent asked for it."""

    kernel: FusedKernel
    match: Match
    intended: bool = False

    @property
    def root(self) -> Operation:
        """The terminal op."""
        return self.match.root

    @property
    def source(self) -> str:
        """By whose decision: an intent's, or recognition's own."""
        return "descriptor" if self.intended else "rediscovered"


@dataclass(frozen=True)
class Contradiction:
    """An intent that the program does not bear out."""

    root: Operation
    intent: str
    refusal: Refusal
    reached: tuple[Operation, ...] = ()


@dataclass(frozen=True)
class NearMiss:
    """A chain that came close to a kernel and is not fused with it."""

    kernel: FusedKernel
    root: Operation
    miss: Miss


@dataclass
class Recognition:
    """All that was decided about one function; `order` numbers its ops."""

    groups: list[Group] = field(default_factory=list[Group])
    contradictions: list[Contradiction] = field(default_factory=list[Contradiction])
    misses: list[NearMiss] = field(default_factory=list[NearMiss])
    order: dict[Operation, int] = field(default_factory=dict[Operation, int])
    composites: dict[str, str] = field(default_factory=dict[str, str])

    def instead(self, contradiction: Contradiction) -> str:
        """What runs where an intent was contradicted: other kernels, or nothing fused."""
        ops = {contradiction.root, *contradiction.reached}
        for group in self.groups:
            if ops & set(group.match.members):
                return f"{group.kernel.name} ({group.source})"
        fused = self.composites.get(contradiction.root.name)
        return f"{fused} (composite_op)" if fused else "the unfused ops"


def intent_of(op: Operation) -> str | None:
    """The kernel an op is stamped for; a stamp that is no string reads as its text."""
    attribute = op.attributes.get(INTENT)
    if attribute is None:
        return None
    return attribute.data if isinstance(attribute, StringAttr) else str(attribute)


def recognise(
    function: FuncOp, kernels: Sequence[FusedKernel], only: FusedKernel | None = None
) -> Recognition:
    """Decide every chain of a function.  Nothing is changed.

    With `only`, what has no bearing on the chains of that kernel may be left out.
    """
    chains = [k for k in kernels if k.is_chain]
    order = {op: i for i, op in enumerate(function.walk())}
    composites = {f"tessera.{op}": k.name for k in kernels for op in k.composites}
    found = Recognition(order=order, composites=composites)
    _honour(order, chains, found)
    if only is None or found.contradictions or _is_offered(only, order, found):
        held = {op for seen in see(function) for op in seen.held}
        _rediscover(order, chains, found, held)
    found.groups.sort(key=lambda group: order[group.root])
    return found


def _is_offered(
    kernel: FusedKernel, order: Iterable[Operation], found: Recognition
) -> bool:
    """Whether a chain of the kernel could end in an op that no intent speaks for."""
    intended = {group.root for group in found.groups}
    return kernel.is_chain and any(
        kernel.fitting(op) for op in order if op not in intended
    )


def _placed(
    result: Match | Miss | None, op: Operation, order: Mapping[Operation, int]
) -> Match | Miss | None:
    """A match at `op` whose call could stand where its first reader needs it, or a miss."""
    role = result.late(order) if isinstance(result, Match) else None
    if not isinstance(result, Match) or role is None:
        return result
    found, wanted = f"'{role}' is made later", "every operand before the first reader"
    refusal = Refusal(codes.ORDER, op.name, location_of(op), "order", found, wanted)
    return Miss(refusal, result.members, len(result.members))


def _honour(
    order: Mapping[Operation, int], chains: Sequence[FusedKernel], found: Recognition
) -> None:
    by_name = {kernel.name: kernel for kernel in chains}
    for op in order:
        intent = intent_of(op)
        if intent is None:
            continue
        kernel = by_name.get(intent)
        if kernel is None:
            refusal = _unknown(op, intent, by_name)
            found.contradictions.append(Contradiction(op, intent, refusal))
            continue
        result = _placed(match(kernel, op), op, order)
        if isinstance(result, Match):
            found.groups.append(Group(kernel, result, True))
            continue
        refusal = _not_terminal(op, kernel) if result is None else result.refusal
        reached = () if result is None else result.members
        found.contradictions.append(Contradiction(op, intent, refusal, reached))


def _unknown(op: Operation, intent: str, known: Iterable[str]) -> Refusal:
    wanted = ", ".join(known)
    place = location_of(op)
    return Refusal(
        codes.UNKNOWN_KERNEL, op.name, place, "kernel name", f'"{intent}"', wanted
    )


def _not_terminal(op: Operation, kernel: FusedKernel) -> Refusal:
    ends = ", ".join(f"tessera.{pattern.op}" for pattern, _ in kernel.patterns)
    place = location_of(op)
    return Refusal(codes.TERMINAL, op.name, place, "terminal op", op.name, ends)


def _rediscover(
    order: Mapping[Operation, int],
    chains: Sequence[FusedKernel],
    found: Recognition,
    held: AbstractSet[Operation],
) -> None:
    taken = {member for group in found.groups for member in group.match.members}
    reserved = {group.root for group in found.groups}
    told = {(c.root, c.intent) for c in found.contradictions}
    offers: list[Group] = []
    misses: list[NearMiss] = []
    names = {name for kernel in chains for name in kernel.ends}
    ends = {name: [k for k in chains if name in k.ends] for name in names}
    for op in order:
        if op in reserved or op in held:
            continue
        for kernel in ends.get(op.name, ()):
            result = _placed(seek(kernel, op), op, order)
            if isinstance(result, Match):
                offers.append(Group(kernel, result))
            elif (op, kernel.name) in told or result is None:
                continue
            elif result.depth >= kernel.seen_at:
                misses.append(NearMiss(kernel, op, result))
    offers.sort(key=lambda g: (-len(g.match.members), order[g.root]))
    for group in offers:
        if taken.isdisjoint(group.match.members):
            taken.update(group.match.members)
            found.groups.append(group)
        else:
            misses.append(NearMiss(group.kernel, group.root, _owned(group)))
    within = taken | {
        op for root, ops in _reached(found, misses) for op in ops - {root}
    }
    found.misses = [m for m in misses if m.root not in within]


def _reached(
    found: Recognition, misses: Iterable[NearMiss]
) -> Iterator[tuple[Operation, set[Operation]]]:
    """Every chain that came close, by its end: what lies inside is no site of its own."""
    for miss in misses:
        yield miss.root, set(miss.miss.members)
    for contradiction in found.contradictions:
        yield contradiction.root, set(contradiction.reached)


def _owned(group: Group) -> Miss:
    place = location_of(group.root)
    refusal = Refusal(
        codes.OWNED,
        group.root.name,
        place,
        "owner of the chain",
        "ops of another fused site",
        "a chain of its own",
    )
    return Miss(refusal, group.match.members, len(group.match.members))
