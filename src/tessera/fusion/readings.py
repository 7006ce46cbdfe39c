"""Reading single ops of a graph: slices, swaps, repeats of heads, fused producers."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from tessera.fusion.draft import Operand, constant, describe, options_of, owner
from tessera.fusion.pattern import Part
from tessera.graph.algebra import part_bounds
from tessera.graph.operation import GraphOp
from tessera.graph.types import value_shape

NOTES = ("kernel", "source")
MOST_STEPS = 32  # that one walk takes; a longer chain is no spelling of anything


def owns_product(op: Operation | None) -> bool:
    """Whether an op stands for a whole fused call that ends in a product.

    So does a pre-fused op, and the call of one; a chain kernel is named by its ops, and
    what other chains end in is no product before they are calls either.
    """
    if op is None:
        return False
    kernel, source = (op.attributes.get(f"tessera.fusion.{k}") for k in NOTES)
    if isinstance(kernel, StringAttr):
        raised = isinstance(source, StringAttr) and source.data == "composite_op"
        return raised or kernel.data.endswith("_matmul")
    return op.name.endswith("_fused") or op.name == "tessera.flash_attn"


def makers(value: SSAValue) -> tuple[str, bool]:
    """What makes a value, for a message: of a sum, what it adds.

    The flag tells that a fused call is among them, and then the text names it.
    """
    op = owner(value)
    for _ in range(MOST_STEPS):
        inner = _scaled(op)
        if inner is None:
            break
        value, op = inner, owner(inner)
    sums = op is not None and op.name == "tessera.add"
    values = [through_reshapes(v) for v in op.operands] if op and sums else [value]
    owned = next((v for v in values if owns_product(owner(v))), None)
    if owned is not None:
        return f"{describe(owned)}, another fused site", True
    return " + ".join(map(describe, values)), False


def _scaled(op: Operation | None) -> SSAValue | None:
    """What an op scales by a constant, which no chain stops at."""
    if op is None or op.name not in ("tessera.mul", "tessera.div"):
        return None
    numbers = [constant(operand) for operand in op.operands]
    if numbers[1] is not None:
        return op.operands[0]
    return (
        op.operands[1] if op.name == "tessera.mul" and numbers[0] is not None else None
    )


def default_of(op: Operation, name: str) -> Any:
    """The value of a declared attribute where it is absent."""
    assert isinstance(op, GraphOp)
    return op.attrs[name].default


def is_last_axis(axis: Any, op: Operation) -> bool:
    """Whether an axis is the last of an op's operand."""
    return axis == -1 or axis == len(value_shape(op.operands[0])) - 1


def spell(value: Any) -> str:
    """An option's value as a message writes it."""
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def through_reshapes(value: SSAValue) -> SSAValue:
    """The value that a chain of reshapes begins with."""
    for _ in range(MOST_STEPS):
        op = owner(value)
        if op is None or op.name != "tessera.reshape":
            break
        value = op.operands[0]
    return value


def is_part(op: Operation, term: Part) -> bool:
    """Whether a slice takes that part of a packed product's last axis."""
    size = value_shape(op.operands[0])[-1]
    options = options_of(op)
    start, stop, step = part_bounds(size, term.index, term.packing)
    found = (
        options["starts"][-1],
        min(options["stops"][-1], size),
        options["steps"][-1],
    )
    lead = value_shape(op.operands[0])[:-1] == value_shape(op.results[0])[:-1]
    return lead and found == (start, stop, step)


def swaps_last(op: Operation) -> bool:
    """Whether an op swaps the last two axes and nothing else."""
    if op.name != "tessera.transpose":
        return False
    order = list(options_of(op)["permutation"])
    rank = len(order)
    return rank >= 2 and order == [*range(rank - 2), rank - 1, rank - 2]


def ungroup(operand: Operand) -> Operand:
    """Take a repeat of heads (reshape of broadcast of reshape) off an operand."""
    chain: list[Operation] = []
    value = operand.value
    for name in ("tessera.reshape", "tessera.broadcast", "tessera.reshape"):
        op = owner(value)
        if op is None or op.name != name or len(op.operands) != 1:
            return operand
        chain.append(op)
        value = op.operands[0]
    source, out = value_shape(value), value_shape(operand.value)
    opened, repeated = (
        value_shape(chain[1].operands[0]),
        value_shape(chain[1].results[0]),
    )
    if len(source) < 3 or len(out) != len(source) or len(repeated) != len(source) + 1:
        return operand
    group = repeated[-3]
    lead, heads, tail = source[:-3], source[-3], source[-2:]
    wanted = (
        (*lead, heads, 1, *tail),
        (*lead, heads, group, *tail),
        (*lead, heads * group, *tail),
    )
    if (opened, repeated, out) != wanted or heads < 1 or group < 1:
        return operand
    return Operand(value, operand.edits, operand.layout, operand.hops)
