"""One compilation followed: each site's own ops in the model, and what stands there now."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation

from tessera.decisions import Member, Site
from tessera.fusion.sites import SITE
from tessera.graph.ops.layout import ConstOp
from tessera.target.dialect import CallOp
from tessera.trail.digest import digest
from tessera.trail.places import call_record, member
from tessera.trail.snapshot import Anchor, Snapshot, region, take
from tessera.trail.watch import Watch


class Trace:
    """The modules of one compilation: as the model wrote it, decided, and lowered.

    `roots` are the ops of the decided module that stand for sites, in program order.
    Without `source` nothing is said of the model's own ops, without `watch` of passes.
    """

    def __init__(
        self,
        source: ModuleOp | None,
        decided: ModuleOp,
        lowered: ModuleOp,
        roots: Iterable[Operation],
        watch: Watch | None = None,
    ) -> None:
        self._source, self._lowered, self._watch = source, lowered, watch
        self._alive = _alive(source, decided)
        self._turns: dict[Operation, int] = {}
        self._count: Counter[tuple[str, LocationAttr]] = Counter()
        for op in roots:
            key = (op.name, op.location)
            self._turns[op] = self._count[key]
            self._count[key] += 1

    def follow(self, site: Site, root: Operation, members: Sequence[Operation]) -> Site:
        """The site with its trail; `members` are its ops in program order."""
        own = frozenset(op.location for op in members)
        count = self._count[root.name, root.location]
        anchor = Anchor(
            root.location, self._turns.get(root, 0), max(count, 1), own, self._alive
        )
        call = self._fused.get(site.id)
        now = [call] if call is not None else self._there(anchor)
        return replace(
            site,
            before=digest(members),
            after=digest(now) if now else None,
            members=tuple(member(op.name, op.location) for op in members),
            imported=self._written(anchor),
            call=None if call is None else call_record(call),
            runs=tuple(op.symbol for op in now),
            trail=self._watch.steps(anchor) if self._watch is not None else (),
        )

    def _written(self, anchor: Anchor) -> tuple[Member, ...]:
        """The ops that the model wrote for a site."""
        if self._source is None:
            return ()
        nodes = [self._imported.nodes[i] for i in region(self._imported, anchor)]
        return tuple(member(node.name, node.place) for node in nodes)

    def _there(self, anchor: Anchor) -> list[CallOp]:
        """The calls that stand where an unfused site stood."""
        found = [self._made.nodes[i].op for i in region(self._made, anchor)]
        return [op for op in found if isinstance(op, CallOp)]

    @cached_property
    def _imported(self) -> Snapshot:
        assert self._source is not None
        return take(self._source)

    @cached_property
    def _made(self) -> Snapshot:
        return take(self._lowered)

    @cached_property
    def _fused(self) -> Mapping[str, CallOp]:
        """The fused calls by the site that each computes."""
        calls = [op for op in self._lowered.walk() if isinstance(op, CallOp)]
        return {site: call for call in calls if (site := call.note(SITE))}


def _alive(source: ModuleOp | None, decided: ModuleOp) -> frozenset[LocationAttr]:
    """The places whose value is still made somewhere once normalised.

    A constant that was imported has the place of its reader: it is no sign of that op.
    """
    given = {
        (op.location, op.attributes["value"])
        for op in (source.walk() if source is not None else ())
        if isinstance(op, ConstOp)
    }
    return frozenset(
        op.location
        for op in decided.walk()
        if not isinstance(op, ConstOp)
        or (op.location, op.attributes["value"]) not in given
    )


def in_order(
    members: Iterable[Operation], order: Mapping[Operation, int]
) -> list[Operation]:
    """Ops in program order, constants left out."""
    kept = [op for op in dict.fromkeys(members) if not isinstance(op, ConstOp)]
    return sorted(kept, key=lambda op: order.get(op, len(order)))
