"""What rewrites of Graph IR share: places and notes kept, dead producers gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tessera.diagnostics import Diagnostics, declare
from tessera.graph.builder import DEFAULT
from tessera.graph.constants import weight_key
from tessera.graph.context import sink_of
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConstOp
from tessera.graph.weights import INLINE_ELEMENTS, WeightAttr

DROPPED = declare(
    "TSR-G043",
    "a note was dropped with the op that carried it",
    "An op with a `tessera.` note, such as a fusion intent, was folded, merged or "
    "dead, and no op is left that the note is true of. Stamp again after normalising.",
)
OURS = "tessera."


def functions(module: Operation) -> list[FuncOp]:
    """Every function of a module, and of modules inside it, in order."""
    found: list[FuncOp] = []
    todo = [module]
    while todo:
        op = todo.pop()
        if isinstance(op, FuncOp):
            found.append(op)
            continue
        for region in reversed(op.regions):
            todo += [op for block in region.blocks for op in block.ops][::-1]
    return found


def blocks(module: ModuleOp) -> Iterator[Block]:
    """The blocks of every function that has a body."""
    for function in module.ops:
        if isinstance(function, FuncOp):
            yield from function.body.blocks


def notes_of(op: Operation) -> dict[str, Attribute]:
    """The discardable attributes of an op: those with a dialect prefix."""
    return {key: value for key, value in op.attributes.items() if "." in key}


@dataclass(frozen=True)
class Rewrites:
    """One pass's changes to one module."""

    module: ModuleOp
    sink: Diagnostics
    what: str

    @classmethod
    def of(cls, module: ModuleOp, ctx: Context, what: str) -> Rewrites:
        """The changes of the pass called `what`."""
        return cls(module, sink_of(ctx), what)

    @cached_property
    def keys(self) -> set[str]:
        """The names of the weights in the module."""
        held: list[Attribute] = []
        for function in self.module.ops:
            if isinstance(function, FuncOp):
                notes = function.arg_attrs.data if function.arg_attrs else ()
                held += [note.data[DEFAULT] for note in notes if DEFAULT in note.data]
        for block in blocks(self.module):
            held += [op.attributes["value"] for op in block.ops if type(op) is ConstOp]
        return {item.data.key for item in held if isinstance(item, WeightAttr)}

    def constant(self, array: np.ndarray, near: Operation) -> ConstOp:
        """A constant at `near`, put before it; a large one gets a name of its own."""
        key = self._key(near) if array.size > INLINE_ELEMENTS else ""
        const = ConstOp.of(array, key, near.location)
        self.insert(const, near)
        return const

    def _key(self, near: Operation) -> str:
        bases = [weight_key(value) for value in (*near.results, *near.operands)]
        base = next(
            (base for base in bases if base), location_of(near).name or "folded"
        )
        made = (
            "transposed" if isinstance(near, ConstOp) else near.name.removeprefix(OURS)
        )
        stem = f"{base}.{made}"
        key, count = stem, 2
        while key in self.keys:
            key, count = f"{stem}.{count}", count + 1
        self.keys.add(key)
        return key

    def insert(self, new: Operation, before: Operation) -> None:
        """Put an op into the block, ahead of `before`."""
        block = before.parent
        assert block is not None
        block.insert_op_before(new, before)

    def replace(self, op: Operation, new: Operation) -> None:
        """Put `new` in the place of `op`; location, notes and names go with it."""
        new.location = op.location
        for old, fresh in zip(op.results, new.results, strict=True):
            fresh.name_hint = fresh.name_hint or old.name_hint
        for key, note in notes_of(op).items():
            new.attributes.setdefault(key, note)
        if new.parent is None:
            self.insert(new, op)
        self._retire(op, new.results)

    def forward(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Let values that exist already stand for the results of `op`.

        Notes of `op` go to the op that makes the value, if it has none of that name.
        """
        notes = notes_of(op)
        if notes:
            owner = values[0].owner
            if isinstance(owner, GraphOp) and not isinstance(owner, ConstOp):
                for key in [key for key in notes if key not in owner.attributes]:
                    owner.attributes[key] = notes.pop(key)
            self.report(op, notes)
        self._retire(op, values)

    def fold(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Let constants stand for the results of `op`; its notes are reported."""
        self.report(op, notes_of(op))
        self._retire(op, values)

    def report(self, op: Operation, notes: dict[str, Attribute]) -> None:
        """Warn of notes of this project that end here."""
        for key, note in notes.items():
            if key.startswith(OURS):
                text = f"'{op.name}' op with {key} = {note} is dropped by {self.what}"
                self.sink.warning(location_of(op), text, DROPPED)

    def _retire(self, op: Operation, values: Sequence[SSAValue]) -> None:
        for key in notes_of(op):
            del op.attributes[key]
        for old, new in zip(op.results, values, strict=True):
            old.replace_all_uses_with(new)
        self.erase_dead(op)

    def erase_dead(self, *ops: Operation) -> None:
        """Erase ops without uses, and the producers that lose their last use by it."""
        todo = list(ops)
        while todo:
            op = todo.pop()
            if op.parent is None or any(result.first_use for result in op.results):
                continue
            producers = dict.fromkeys(operand.owner for operand in op.operands)
            if op.attributes:
                self.report(op, notes_of(op))
            op.detach()
            op.erase()
            todo += [p for p in producers if isinstance(p, GraphOp)]


def producer(value: SSAValue) -> GraphOp | None:
    """The graph op that makes a value, or None."""
    return value.owner if isinstance(value.owner, GraphOp) else None
