"""Patterns that are recognised without a kernel of their own yet: seen, named, refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tessera.diagnostics import Refusal
from tessera.fusion.codes import NO_KERNEL
from tessera.fusion.draft import constant, owner
from tessera.graph.locations import location_of
from tessera.graph.ops.layout import ConstOp

THROUGH = frozenset(
    f"tessera.{name}" for name in ("reshape", "transpose", "cast", "add", "slice")
)
REACH = 16


Held = tuple[Operation, ...] | None


@dataclass(frozen=True)
class Seen:
    """A pattern without a kernel, at the op that stands for it.

    `held` are ops that belong to it and are no site of their own.
    """

    kind: str
    root: Operation
    refusal: Refusal
    held: tuple[Operation, ...] = ()


def see(function: FuncOp) -> list[Seen]:
    """Every pattern of a function that no kernel computes yet, in program order."""
    found: list[Seen] = []
    for op in function.walk():
        kind = DETECTORS.get(op.name)
        held = kind[1](op) if kind is not None else None
        if kind is not None and held is not None:
            refusal = Refusal(
                NO_KERNEL,
                op.name,
                location_of(op),
                "kernel",
                f"{kind[0]}, for which there is none yet",
                "a pattern of the catalog (`tessera kernels`)",
            )
            found.append(Seen(kind[0], op, refusal, held))
    return found


def _always(op: Operation) -> Held:
    return ()


def _relu_mlp(op: Operation) -> Held:
    """max(x, 0) between two products with weights."""
    zero = any(constant(operand) == 0.0 for operand in op.operands)
    fed = any(from_product(operand) for operand in op.operands)
    return () if zero and fed and _feeds_product(op.results[0]) else None


def _geglu(op: Operation) -> Held:
    """Gelu of one product times another product."""
    sides = [owner(operand) for operand in op.operands]
    for index, side in enumerate(sides):
        if side is None or side.name != "tessera.gelu":
            continue
        other = op.operands[1 - index]
        if from_product(side.operands[0]) and from_product(other):
            return (side,)
    return None


def from_product(value: SSAValue) -> bool:
    """Whether a value comes from a matmul with a weight, through bias and views."""
    return any(_is_weighted(op) for op in _above(value))


def _above(value: SSAValue) -> Iterable[Operation]:
    todo, seen = [value], 0
    while todo and seen < REACH:
        op = owner(todo.pop())
        seen += 1
        if op is None:
            continue
        if op.name in THROUGH:
            todo.extend(op.operands)
        else:
            yield op


def _is_weighted(op: Operation) -> bool:
    if op.name != "tessera.matmul":
        return False
    return any(isinstance(owner(operand), ConstOp) for operand in op.operands)


def _feeds_product(value: SSAValue) -> bool:
    todo, seen = [value], 0
    while todo and seen < REACH:
        value = todo.pop()
        seen += 1
        for use in value.uses:
            if _is_weighted(use.operation):
                return True
            if use.operation.name in THROUGH:
                todo.extend(use.operation.results)
    return False


DETECTORS: dict[str, tuple[str, Callable[[Operation], Held]]] = {
    "tessera.layernorm": ("layernorm", _always),
    "tessera.rope": ("rope", _always),
    "tessera.glu": ("geglu", _always),
    "tessera.max": ("relu", _relu_mlp),
    "tessera.mul": ("geglu", _geglu),
}
