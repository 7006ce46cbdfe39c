"""Watching a compilation: what each pass did to the ops of one site."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tessera.decisions import Step
from tessera.trail.snapshot import CONST, Anchor, Node, Snapshot, region, take

LAST = 2**63 - 1


@dataclass
class Watch:
    """Takes a snapshot after each pass; give one to `compile_graph_module`.

    Called with the name of the pass and the module it left; with "" for a module that
    is the start of what follows.  Snapshots hold every op, so a watched compilation
    takes longer and more memory.
    """

    seen: list[tuple[str, Snapshot]] = field(default_factory=list[tuple[str, Snapshot]])

    def __call__(self, name: str, module: ModuleOp) -> None:
        """Remember the module as it is now."""
        self.seen.append((name, take(module, options=True)))

    def steps(self, anchor: Anchor) -> tuple[Step, ...]:
        """What each pass did to the site, passes that left it alone left out."""
        found = [(n, s, region(s, anchor)) for n, s in self.seen]
        steps: list[Step] = []
        for (_, old, before), (name, new, after) in pairwise(found):
            if not name:
                continue
            step = _step(name, _of(old, before), _of(new, after))
            if step.removed or step.made or step.changed:
                steps.append(step)
        return tuple(steps)


def _of(snapshot: Snapshot, numbers: Sequence[int]) -> dict[Operation, Node]:
    nodes = [snapshot.nodes[number] for number in numbers]
    return {node.op: node for node in nodes if node.name != CONST}


def _step(name: str, old: dict[Operation, Node], new: dict[Operation, Node]) -> Step:
    removed = Counter(node.name for op, node in old.items() if op not in new)
    made = Counter(node.name for op, node in new.items() if op not in old)
    return Step(name, dict(removed), dict(made), tuple(_changes(old, new)))


def _changes(old: dict[Operation, Node], new: dict[Operation, Node]) -> Iterator[str]:
    for op, node in new.items():
        before = old[op].options if op in old else node.options
        for key, value in node.options.items():
            if before.get(key) != value:
                old_text, new_text = _told(before.get(key)), _told(value)
                yield f"{node.name} {key} = {old_text} -> {new_text}"


def _told(value: object) -> str:
    """A value of an option, short; the largest integers stand for an end."""
    if isinstance(value, tuple):
        parts = [_told(item) for item in cast("tuple[object, ...]", value)]
        return f"[{', '.join(parts)}]"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= LAST:
        return "end"
    return str(value)
