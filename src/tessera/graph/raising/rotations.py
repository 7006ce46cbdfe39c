"""Halves and alternate features of a tensor, and what puts them together again."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from tessera.graph.constants import uniform
from tessera.graph.ops.elementwise import MulOp, NegOp
from tessera.graph.ops.layout import ConcatOp, ReshapeOp, SliceOp
from tessera.graph.types import DYN, value_shape


@dataclass(frozen=True)
class Part:
    """Features start, start + step, … of x, half of them."""

    x: SSAValue
    start: int
    step: int

    def pairs_with(self, other: Part) -> str | None:
        """How this part and another make up one tensor: "half", "interleaved"."""
        if self.x is not other.x or self.step != other.step or self.start:
            return None
        half = value_shape(self.x)[-1] // 2
        wanted = {1: ("half", half), 2: ("interleaved", 1)}.get(self.step)
        return wanted[0] if wanted and other.start == wanted[1] else None


def part(value: SSAValue) -> Part | None:
    """The half of a tensor's features that a value is, or None.

    `x[..., :h]`, `x[..., h:]`, `x[..., i::2]`, and `x` as pairs, one of each taken.
    """
    owner = value.owner
    if isinstance(owner, SliceOp):
        bounds = last_bounds(owner)
        if bounds is None or value_shape(owner.operands[0])[-1] % 2:
            return None
        half = value_shape(owner.operands[0])[-1] // 2
        taken = range(*bounds)
        if len(taken) != half or taken.step not in (1, 2):
            return None
        return Part(owner.operands[0], taken.start, taken.step)
    if isinstance(owner, ReshapeOp):
        return _of_pairs(owner)
    return None


def _of_pairs(reshape: ReshapeOp) -> Part | None:
    """Element i of each pair: reshape to [..., h, 2], slice i, reshape to [..., h]."""
    inner = reshape.operands[0].owner
    if not isinstance(inner, SliceOp):
        return None
    pairs = inner.operands[0].owner
    bounds = last_bounds(inner)
    if bounds is None or len(range(*bounds)) != 1 or not isinstance(pairs, ReshapeOp):
        return None
    x = pairs.operands[0]
    shape = value_shape(x)
    if not shape or shape[-1] == DYN or shape[-1] % 2:
        return None
    lead, half = shape[:-1], shape[-1] // 2
    found = value_shape(pairs.results[0]), value_shape(reshape.results[0])
    if found != ((*lead, half, 2), (*lead, half)):
        return None
    return Part(x, bounds[0], 2)


def last_bounds(op: SliceOp) -> tuple[int, int, int] | None:
    """Start, stop and step on the last axis of a slice that takes all of the others."""
    shape, options = value_shape(op.operands[0]), op.options()
    if not shape or shape[-1] == DYN or shape[:-1] != value_shape(op.results[0])[:-1]:
        return None
    bounds = list(
        zip(options["starts"], options["stops"], options["steps"], strict=True)
    )
    for size, (start, stop, step) in zip(shape[:-1], bounds[:-1], strict=True):
        if (
            step != 1
            or (size == DYN and start != 0)
            or (size == DYN and stop < 1 << 62)
        ):
            return None
    return slice(*bounds[-1]).indices(shape[-1])


def negated(value: SSAValue) -> SSAValue | None:
    """What a value is the negative of, or None."""
    owner = value.owner
    if isinstance(owner, NegOp):
        return owner.operands[0]
    if isinstance(owner, MulOp):
        for number, rest in (owner.operands, reversed(owner.operands)):
            if uniform(number) == -1 and rest.type == value.type:
                return rest
    return None


def joined(value: SSAValue) -> tuple[SSAValue, SSAValue, str] | None:
    """Two values side by side ("half") or feature by feature in turns ("interleaved")."""
    owner = value.owner
    if isinstance(owner, ConcatOp) and len(owner.operands) == 2 and _on_last(owner):
        a, b = owner.operands
        return (a, b, "half") if a.type == b.type else None
    if not isinstance(owner, ReshapeOp):
        return None
    stack = owner.operands[0].owner
    if not isinstance(stack, ConcatOp) or len(stack.operands) != 2:
        return None
    columns = [operand.owner for operand in stack.operands]
    sources = [c.operands[0] for c in columns if isinstance(c, ReshapeOp)]
    if len(sources) != 2 or not _on_last(stack):
        return None
    shape = value_shape(sources[0])
    if not shape or shape[-1] == DYN or value_shape(sources[1]) != shape:
        return None
    stacked, whole = value_shape(stack.results[0]), value_shape(value)
    if stacked != (*shape, 2) or whole != (*shape[:-1], 2 * shape[-1]):
        return None
    return sources[0], sources[1], "interleaved"


def _on_last(op: ConcatOp) -> bool:
    rank = len(value_shape(op.results[0]))
    return rank > 0 and op.options()["axis"] % rank == rank - 1
