"""Sizes as values: targets of a reshape whether known at import or at run time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.step import FOLD_ELEMENTS, Step
from tessera.graph.types import DYN, tensor


@dataclass(frozen=True)
class Size:
    """The product of some sizes of a tensor."""

    of: Operand
    axes: tuple[int, ...]


Plan = Sequence[int | Size]


def _product(sizes: Sequence[int]) -> int:
    if 0 in sizes:
        return 0
    return DYN if DYN in sizes else prod(sizes)


def sizes_of(x: Operand) -> list[int | Size]:
    """The plan that keeps every size of a tensor."""
    return [Size(x, (axis,)) for axis in range(x.rank)]


def planned(plan: Plan) -> tuple[int, ...]:
    """The sizes of a plan, DYN where only known at run time."""
    return tuple(
        entry
        if isinstance(entry, int)
        else _product([entry.of.shape[a] for a in entry.axes])
        for entry in plan
    )


def size_operand(step: Step, plan: Plan) -> Operand:
    """A plan as an i64 vector, computed at run time where it must be."""
    if not plan:
        return step.const([], "i64")
    parts: list[Operand] = []
    for entry, known in zip(plan, planned(plan), strict=True):
        if isinstance(entry, int) or known != DYN:
            parts.append(step.const([known], "i64"))
        else:
            parts.append(_size(step, entry))
    return step.emit("concat", *parts, axis=0)


def _size(step: Step, size: Size) -> Operand:
    shape = step.emit("shape", size.of)
    total: Operand | None = None
    for axis in size.axes:
        one = step.emit("slice", shape, starts=[axis], stops=[axis + 1], steps=[1])
        total = one if total is None else step.emit("mul", total, one)
    return total or step.const([1], "i64")


def reshape(step: Step, x: Operand, plan: Plan) -> Operand:
    """`x` under planned sizes; a run-time operand only where one -1 cannot say it."""
    sizes = planned(plan)
    if sizes == x.shape and DYN not in sizes:
        return x
    result = tensor(x.dtype, sizes)
    if sizes.count(DYN) == 0 or (sizes.count(DYN) == 1 and 0 not in sizes):
        return step.emit("reshape", x, result=result)
    return step.emit("reshape", x, size_operand(step, plan), result=result)


def need_vector(step: Step, index: int, what: str) -> Operand:
    """An i64 vector of known length among the inputs."""
    operand = step.input(index)
    if operand.rank != 1 or operand.dtype not in ("i64", "i32"):
        text = (
            f"{what} is {operand.dtype} of rank {operand.rank}, wanted a vector of i64"
        )
        raise step.misfit(text)
    if not operand.static:
        raise step.unsupported(f"a {what} whose length is unknown", "a known rank")
    return step.cast(operand, "i64")


def target_sizes(operand: Operand) -> tuple[int, ...]:
    """What is known of a vector of sizes, DYN elsewhere."""
    if operand.facts is None:
        return (DYN,) * operand.shape[0]
    pairs = zip(
        operand.facts.values.tolist(), operand.facts.known.tolist(), strict=True
    )
    return tuple(int(v) if known else DYN for v, known in pairs)


def expand_dims(step: Step, x: Operand, axes: Sequence[int]) -> Operand:
    """`x` with axes of size 1 put in; `axes` counts in the result."""
    rank = x.rank + len(axes)
    wanted = {step.axis(axis, rank) for axis in axes}
    if len(wanted) != len(axes):
        raise step.misfit(f"axes {list(axes)} name one axis twice")
    rest = iter(range(x.rank))
    plan: Plan = [1 if i in wanted else Size(x, (next(rest),)) for i in range(rank)]
    return reshape(step, x, plan)


def swap(step: Step, x: Operand, order: Sequence[int]) -> Operand:
    """`x` with its axes in another order."""
    if list(order) == list(range(x.rank)):
        return x
    return step.emit("transpose", x, permutation=order)


def broadcast_to(step: Step, x: Operand, sizes: Sequence[int]) -> Operand:
    """`x` repeated to known sizes."""
    if x.shape == tuple(sizes):
        return x
    return step.emit("broadcast", x, result=tensor(x.dtype, tuple(sizes)))


def arange(step: Step, x: Operand, axis: int) -> Operand:
    """0, 1, … to the size of one axis of `x`, as an i64 vector."""
    axis = step.axis(axis, x.rank)
    size = x.shape[axis]
    if size == DYN:
        return count_to(step, _size(step, Size(x, (axis,))))
    if size > FOLD_ELEMENTS:
        return step.emit("iota", result=tensor("i64", (size,)))
    return step.const(np.arange(size), "i64")


def count_to(step: Step, count: Operand) -> Operand:
    """0, 1, … below a count that only run time knows (an i64 vector of one)."""
    ones = step.emit(
        "broadcast", step.const([1], "i64"), count, result=tensor("i64", (DYN,))
    )
    return step.emit("cumsum", ones, axis=0, exclusive=True)
