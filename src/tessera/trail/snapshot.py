"""A module at one moment, and the part of it that belongs to one site.

A site is followed by places: a rewrite gives what it makes the location of the op it
stands for, so the last op of a site has one location from import to the call.  Its
region is what that op needs, back to the ops that outlive normalisation elsewhere.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import LocationAttr, ModuleOp, StringAttr, UnknownLoc
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult

from tessera.graph.operation import GraphOp

CONST = "tessera.const"


@dataclass(frozen=True)
class Node:
    """One op as it was: `inputs` number the nodes of the snapshot that it reads."""

    op: Operation
    name: str
    place: LocationAttr
    inputs: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Snapshot:
    """The ops of a module's functions in program order."""

    nodes: tuple[Node, ...]

    @cached_property
    def at(self) -> Mapping[LocationAttr, tuple[int, ...]]:
        """The nodes of each known place, constants left out."""
        found: defaultdict[LocationAttr, list[int]] = defaultdict(list)
        for number, node in enumerate(self.nodes):
            if node.name != CONST and not isinstance(node.place, UnknownLoc):
                found[node.place].append(number)
        return {place: tuple(numbers) for place, numbers in found.items()}


@dataclass(frozen=True)
class Anchor:
    """How a site is found in any snapshot: its root's place, and where it may end.

    The root is turn `turn` of `turns` at that place: a loop makes several.  A walk back
    from it ends at the places in `elsewhere` that are not among the site's `own`.
    """

    root: LocationAttr
    turn: int
    turns: int
    own: frozenset[LocationAttr]
    elsewhere: Collection[LocationAttr]

    def ends(self, node: Node) -> bool:
        """Whether a node belongs to the site no more."""
        if node.name == CONST or isinstance(node.place, UnknownLoc):
            return True
        return node.place in self.elsewhere and node.place not in self.own


def take(module: ModuleOp, options: bool = False) -> Snapshot:
    """The module as it is now; `options` keeps each op's too."""
    nodes: list[Node] = []
    for function in module.ops:
        if isinstance(function, FuncOp):
            number: dict[Operation, int] = {}
            for op in function.walk():
                if op is function or op.name == "func.return":
                    continue
                owners = [v.op for v in op.operands if isinstance(v, OpResult)]
                inputs = tuple(number[o] for o in owners if o in number)
                number[op] = len(nodes)
                kept = op.options() if options and isinstance(op, GraphOp) else {}
                nodes.append(Node(op, _name(op), op.location, inputs, kept))
    return Snapshot(tuple(nodes))


def _name(op: Operation) -> str:
    """The op's name; of a call, what it computes."""
    what = op.attributes.get("op")
    called = op.name.startswith("tessera_apple.") and isinstance(what, StringAttr)
    return f"call {what.data}" if called and isinstance(what, StringAttr) else op.name


def region(snapshot: Snapshot, anchor: Anchor) -> list[int]:
    """The nodes of a site in program order; none when its root's place is not there.

    They are the last node that the site's turn made at that place, and all it reads, up
    to where the site ends or another turn begins.
    """
    here = snapshot.at.get(anchor.root, ())
    each, rest = divmod(len(here), anchor.turns)
    if not here or rest:
        return _walk_back(snapshot, here, anchor, frozenset())
    first = each * anchor.turn
    others = frozenset(here[:first] + here[first + each :])
    return _walk_back(snapshot, [here[first + each - 1]], anchor, others)


def _walk_back(
    snapshot: Snapshot, roots: Sequence[int], anchor: Anchor, others: frozenset[int]
) -> list[int]:
    found, todo = set(roots), list(roots)
    while todo:
        for number in snapshot.nodes[todo.pop()].inputs:
            known = number in found or number in others
            if not known and not anchor.ends(snapshot.nodes[number]):
                found.add(number)
                todo.append(number)
    return sorted(found)
