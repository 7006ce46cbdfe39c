"""A match under construction, and what comes out of it: operands with their edits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, OpResult, SSAValue

from tessera.diagnostics import Code, Refusal
from tessera.fusion.codes import VIEW
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import DYN, Shape, show, value_shape

Edit = tuple[str, Any]


@dataclass(frozen=True)
class Operand:
    """A value of the program and the edits that make it the kernel's operand.

    `layout` says which trailing axes the kernel works on ("matrix" 2, "row" 1, "mask",
    "column", "residual", "free"); `hops` are the reshapes between it and the root, the
    root's first.
    """

    value: SSAValue
    edits: tuple[Edit, ...] = ()
    layout: str = "free"
    hops: tuple[Hop, ...] = ()

    def edited(self, *edits: Edit) -> Operand:
        """The operand with more edits."""
        return replace(self, edits=(*self.edits, *edits))

    def renewed(self, now: Mapping[SSAValue, SSAValue]) -> Operand:
        """The operand once values it reads were replaced."""
        edits = tuple(
            (name, part.renewed(now) if isinstance(part, Operand) else part)
            for name, part in self.edits
        )
        return replace(self, value=now.get(self.value, self.value), edits=edits)

    def shape(self) -> Shape:
        """The shape after the edits."""
        shape = value_shape(self.value)
        for name, argument in self.edits:
            if name == "reshape":
                shape = argument
            elif name == "reshape_by":
                shape = argument[0]
            elif name == "swap":
                shape = (*shape[:-2], shape[-1], shape[-2])
        return shape

    def build(self, g: SsaAlgebra) -> SSAValue:
        """The edited value; new ops go through `g`."""
        value = self.value
        for name, argument in self.edits:
            if name == "reshape":
                value = g.reshape(value, argument)
            elif name == "swap":
                value = g.swapped(value)
            elif name == "reshape_by":
                value = _reshape_by(g, value, *argument)
            elif name == "mul":
                value = g.apply("mul", value, g.scalar(argument, value))
            elif name == "add":
                value = g.apply("add", value, argument.build(g))
            elif name == "and":
                value = g.apply("and", value, argument.build(g))
            elif name == "not":
                value = g.apply("not", value)
            else:
                value = g.apply("div", g.scalar(1.0, value), value)
        return value


def _reshape_by(
    g: SsaAlgebra, value: SSAValue, target: Shape, sizes: SSAValue, tail: int
) -> SSAValue:
    """Reshape to the leading `sizes` of a chain and the value's own last axes."""
    (rank,) = value_shape(sizes)
    ends = {"starts": (0,), "stops": (rank - tail,), "steps": (1,)}
    lead = g.apply("slice", sizes, **ends)
    own = g.constant(np.asarray(target[-tail:], dtype=np.int64))
    return g.reshape(value, target, g.apply("concat", lead, own, axis=0))


@dataclass(frozen=True)
class Hop:
    """A reshape inside a chain: from the producer's shape to the reader's."""

    before: Shape
    after: Shape
    sizes: SSAValue | None = None


@dataclass
class Draft:
    """What has been bound so far on the way up from `root`."""

    root: Operation
    operands: dict[str, Operand] = field(default_factory=dict[str, Operand])
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    members: list[Operation] = field(default_factory=list[Operation])
    hops: list[Hop] = field(default_factory=list[Hop])  # between here and the root
    shared: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    depth: int = 0

    def copy(self) -> Draft:
        """An independent draft in the same state."""
        return Draft(
            self.root,
            dict(self.operands),
            dict(self.options),
            list(self.members),
            list(self.hops),
            dict(self.shared),
            self.depth,
        )

    def become(self, other: Draft) -> None:
        """Take over the state of a draft that went further."""
        self.__dict__.update(other.copy().__dict__)

    def refuse(
        self,
        code: Code,
        predicate: str,
        found: str,
        wanted: str,
        at: Operation | None = None,
        suggestion: str = "",
    ) -> Refusal:
        """A refusal at an op of the chain (the root unless given)."""
        op = at or self.root
        place = location_of(op)
        return Refusal(code, op.name, place, predicate, found, wanted, suggestion)


@dataclass(frozen=True)
class Match:
    """A chain that is the kernel's computation."""

    root: Operation
    operands: Mapping[str, Operand]
    options: Mapping[str, Any]
    members: tuple[Operation, ...]
    shared: Mapping[str, SSAValue]

    def outside(self) -> dict[str, list[Operation]]:
        """Shared values with readers outside the chain, and those readers."""
        members = set(self.members)
        readers: dict[str, list[Operation]] = {}
        for name, value in self.shared.items():
            found = [u.operation for u in value.uses if u.operation not in members]
            if found:
                readers[name] = found
        return readers

    def place(self, order: Mapping[Operation, int]) -> Operation:
        """The op before which a call of this chain must stand: its first reader's.

        `order` numbers the ops of the function.
        """
        waiting = [op for readers in self.outside().values() for op in readers]
        return min((self.root, *waiting), key=lambda op: order.get(op, len(order)))

    def late(self, order: Mapping[Operation, int]) -> str | None:
        """The role of an operand that is not known yet where the call must stand."""
        place = order[self.place(order)]
        for role, operand in self.operands.items():
            maker = owner(operand.value)
            is_const = isinstance(maker, ConstOp)
            if maker is not None and not is_const and order.get(maker, 0) >= place:
                return role
        return None


@dataclass(frozen=True)
class Miss:
    """A chain that is not, and where it stopped being so."""

    refusal: Refusal
    members: tuple[Operation, ...]
    depth: int


def operands_of(found: Match) -> Mapping[str, SSAValue]:
    """The program's values of a match, by role."""
    return {role: operand.value for role, operand in found.operands.items()}


def owner(value: SSAValue) -> Operation | None:
    """The op that makes a value; None for an argument."""
    return value.op if isinstance(value, OpResult) else None


def layout_of(role: str) -> str:
    """Which trailing axes of an operand the kernel works on, by the operand's role."""
    if role == "x":
        return "row"
    return "weight" if role.startswith("w") else "matrix"


def describe(value: SSAValue) -> str:
    """What makes a value, for a message."""
    op = owner(value)
    if op is None:
        return "a function argument"
    kernel = op.attributes.get("tessera.fusion.kernel")
    return f"a call of {kernel.data}" if isinstance(kernel, StringAttr) else op.name


def options_of(op: Operation) -> dict[str, Any]:
    """The declared attributes of a graph op."""
    assert isinstance(op, GraphOp)
    return op.options()


def constant(value: SSAValue) -> float | None:
    """The number a value always holds: a constant of one element."""
    op = owner(value)
    if isinstance(op, ConstOp) and math.prod(value_shape(value)) == 1:
        return float(op.array.reshape(()))
    return None


def is_scalar(value: SSAValue) -> bool:
    """Whether a value has exactly one element."""
    return all(size == 1 for size in value_shape(value))


def relead(lead: Shape, before: Shape, after: Shape) -> Shape | None:
    """An operand's leading axes once a chain's are regrouped from `before` to `after`.

    None where the operand is broadcast along some of the axes that are regrouped.
    """
    if lead == before:
        return after
    unclear = 0 in before or before.count(DYN) > 1
    if len(lead) > len(before) or (unclear and _wide(before) != _wide(after)):
        return None
    padded = (1,) * (len(before) - len(lead)) + lead
    if set(padded) <= {1}:
        return ()
    return _regroup(padded, before, after)


def _wide(shape: Shape) -> Shape:
    return tuple(size for size in shape if size != 1)


def _regroup(found: Shape, before: Shape, after: Shape) -> Shape | None:
    """`found`, of `before`'s rank and broadcast to it, in the axes of `after`."""
    made: list[int] = []
    i = j = 0
    while i < len(before) or j < len(after):
        if i < len(before) and j < len(after) and before[i] == after[j]:
            made.append(found[i])
            i, j = i + 1, j + 1
        elif i < len(before) and before[i] == 1:
            i += 1
        elif j < len(after) and after[j] == 1:
            made.append(1)
            j += 1
        else:
            ends = _group(before, after, i, j)
            if ends is None:
                return None
            here, old, new = found[i : ends[0]], before[i : ends[0]], after[j : ends[1]]
            if here != old and set(here) != {1}:
                return None
            made.extend(new if here == old else (1,) * len(new))
            i, j = ends
    return tuple(made)


def _group(before: Shape, after: Shape, i: int, j: int) -> tuple[int, int] | None:
    """Where the shortest runs of axes with the same number of elements end."""
    left = right = 1
    while left != right or left == 1:
        if left <= right:
            if i == len(before) or before[i] == DYN:
                return None
            left, i = left * before[i], i + 1
        else:
            if j == len(after) or after[j] == DYN:
                return None
            right, j = right * after[j], j + 1
    return i, j


def adapt(draft: Draft, role: str, operand: Operand) -> Operand | Refusal:
    """Carry an operand, and what is added to it, through the reshapes up to the root."""
    own = tuple(edit for edit in operand.edits if edit[0] != "add")
    made = _adapt(draft, role, replace(operand, edits=own))
    for _, other in [edit for edit in operand.edits if edit[0] == "add"]:
        added = adapt(draft, role, other)
        if isinstance(made, Refusal) or isinstance(added, Refusal):
            return added if isinstance(added, Refusal) else made
        made = made.edited(("add", added))
    return made


def _adapt(draft: Draft, role: str, operand: Operand) -> Operand | Refusal:
    tail = {"matrix": 2, "row": 1, "mask": 2}.get(operand.layout)
    if operand.layout == "residual":
        return _reshaped(operand, value_shape(draft.root.operands[0]))
    rows, hops = tail or 1, operand.hops
    if hops and hops[-1].before[:-rows] == hops[0].after[:-rows]:
        return operand  # what the reshapes did they also undid
    for hop in reversed(operand.hops):
        shape = operand.shape()
        if operand.layout == "weight" and len(shape) > 2:
            found = f"{role} of {show(shape)} under a reshape"
            return draft.refuse(VIEW, "reshape in the chain", found, "a matrix")
        if tail is None or (operand.layout == "mask" and len(shape) <= tail):
            continue
        lead = relead(shape[:-tail], hop.before[:-tail], hop.after[:-tail])
        target = None if lead is None else (*lead, *shape[-tail:])
        many = target is not None and target.count(DYN) > 1
        if target and many and hop.sizes is not None and DYN not in shape[-tail:]:
            operand = operand.edited(("reshape_by", (target, hop.sizes, tail)))
            continue
        if target is None or many:
            found = (
                f"{role} of {show(shape)} under {show(hop.before)} -> {show(hop.after)}"
            )
            wanted = "an operand with the same leading axes"
            return draft.refuse(VIEW, "reshape in the chain", found, wanted)
        operand = _reshaped(operand, target)
    return operand


def _reshaped(operand: Operand, shape: Shape) -> Operand:
    return operand if operand.shape() == shape else operand.edited(("reshape", shape))


def erase_unused(members: Sequence[Operation]) -> None:
    """Erase the ops of a chain as far as nothing reads them."""
    left = [op for op in members if op.parent is not None]
    while dead := [op for op in left if all(r.first_use is None for r in op.results)]:
        for op in dead:
            op.detach()
            op.erase()
        left = [op for op in left if op not in dead]
