"""Ops that cut tensors apart or put a border around them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.shapes import (
    Size,
    count_to,
    need_vector,
    size_operand,
    target_sizes,
)
from tessera.frontend.onnx.step import FOLD_ELEMENTS, Step
from tessera.graph.types import DYN, tensor

END = (1 << 63) - 1


def cut(step: Step, x: Operand, axis: int, start: int, stop: int) -> Operand:
    """x[start:stop] along one axis."""
    starts, stops = [0] * x.rank, [END] * x.rank
    starts[axis], stops[axis] = start, stop
    return step.emit("slice", x, starts=starts, stops=stops, steps=[1] * x.rank)


def split(step: Step) -> Sequence[Operand]:
    """Split by listed sizes, or into equal parts with a smaller last one."""
    x = step.input(0)
    axis = step.axis(step.integer("axis", 0), x.rank)
    count = len(step.node.outputs)
    size = x.shape[axis]
    if step.given("split"):
        sizes = step.integers("split")
    elif step.has(1):
        sizes = step.known_ints(1, "split")
    elif size == DYN:
        raise step.unsupported("equal parts of an unknown size", "a known size")
    else:
        if step.integer("num_outputs", count) != count:
            raise step.misfit(f"num_outputs is not the number of results, {count}")
        chunk = ceil(size / count) if count > 0 else size
        sizes = [max(0, min(chunk, size - i * chunk)) for i in range(count)]
    step.ignore("num_outputs")
    if min(sizes, default=0) < 0 or len(sizes) < len(step.node.outputs):
        raise step.misfit(f"sizes {list(sizes)} for {len(step.node.outputs)} results")
    if size not in (DYN, sum(sizes)):
        raise step.misfit(f"sizes {list(sizes)} of axis {axis}, which has {size}")
    ends = np.cumsum(sizes).tolist()
    spans = zip([0, *ends], ends, strict=False)
    return [cut(step, x, axis, start, stop) for start, stop in spans]


def slice_axes(step: Step) -> Operand:
    """Slice by Python's rules; bounds are attributes before opset 10."""
    x = step.input(0)
    if step.opset < 10:
        starts, ends = step.integers("starts"), step.integers("ends")
        axes = step.integers("axes", range(len(starts)))
        return _sliced(step, x, starts, ends, axes, [1] * len(starts))
    count = step.input(1).shape[0] if step.input(1).rank == 1 else 0
    axes = step.known_ints(3, "axes") if step.has(3) else range(count)
    steps = step.known_ints(4, "steps") if step.has(4) else [1] * count
    if step.input(1).array is None or step.input(2).array is None:
        return _sliced_at_run_time(step, x, axes, steps)
    starts, ends = step.known_ints(1, "starts"), step.known_ints(2, "ends")
    return _sliced(step, x, starts, ends, axes, steps)


def _sliced(
    step: Step,
    x: Operand,
    starts: Sequence[int],
    ends: Sequence[int],
    axes: Sequence[int],
    steps: Sequence[int],
) -> Operand:
    if not len(starts) == len(ends) == len(axes) == len(steps):
        raise step.misfit(
            f"{len(starts)} starts and {len(ends)} ends for {len(axes)} axes"
        )
    bounds = [[0] * x.rank, [END] * x.rank, [1] * x.rank]
    for axis, *bound in zip(axes, starts, ends, steps, strict=True):
        place = step.axis(axis, x.rank)
        for row, value in zip(bounds, bound, strict=True):
            row[place] = value
    return step.emit("slice", x, starts=bounds[0], stops=bounds[1], steps=bounds[2])


def _sliced_at_run_time(
    step: Step, x: Operand, axes: Sequence[int], steps: Sequence[int]
) -> Operand:
    """Bounds that only run time knows: rows start, start + 1, … by index."""
    if set(steps) - {1}:
        raise step.unsupported(
            f"run-time bounds with steps {list(steps)}", "steps of 1"
        )
    starts, ends = need_vector(step, 1, "starts"), need_vector(step, 2, "ends")
    if not starts.shape == ends.shape == (len(axes),) == (len(steps),):
        text = f"{starts.shape[0]} starts and {ends.shape[0]} ends for {len(axes)} axes"
        raise step.misfit(text)
    for place, axis in enumerate(axes):
        at = step.axis(axis, x.rank)
        low, high = (_bound(step, bound, place, x, at) for bound in (starts, ends))
        count = step.emit("max", step.emit("sub", high, low), step.const([0], "i64"))
        rows = step.emit("add", count_to(step, count), low)
        known = target_sizes(count)[0]
        if known != DYN:
            rows = step.emit("reshape", rows, result=tensor("i64", (known,)))
        x = step.emit("gather", x, rows, axis=at)
    return x


def _bound(step: Step, bounds: Operand, place: int, x: Operand, axis: int) -> Operand:
    """One bound, counted from 0 and clipped to the axis, as an i64 vector of one."""
    one = cut(step, bounds, 0, place, place + 1)
    size = size_operand(step, [Size(x, (axis,))])
    zero = step.const([0], "i64")
    negative = step.emit("cmp", one, zero, kind="lt")
    counted = step.emit("select", negative, step.emit("add", one, size), one)
    return step.emit("min", step.emit("max", counted, zero), size)


def pad(step: Step) -> Operand:
    """Pad with a constant, or by indices that mirror, repeat or wrap the tensor."""
    x = step.input(0)
    mode = step.word("mode", ("constant", "reflect", "edge", "wrap"), "constant")
    if step.opset < 11:
        pads, value = step.integers("pads"), step.number("value", 0.0)
    else:
        pads = step.known_ints(1, "pads")
        value = float(step.known_scalar(2, "constant_value")) if step.has(2) else 0.0
    axes = step.known_ints(3, "axes") if step.has(3) else range(x.rank)
    low, high = [0] * x.rank, [0] * x.rank
    if len(pads) != 2 * len(axes):
        raise step.misfit(f"{len(pads)} pads for {len(axes)} axes")
    for axis, before, after in zip(
        axes, pads[: len(axes)], pads[len(axes) :], strict=True
    ):
        at = step.axis(axis, x.rank)
        low[at], high[at] = before, after
    if mode == "constant":
        return step.emit("pad", x, low=low, high=high, value=value)
    for axis in range(x.rank):
        if low[axis] or high[axis]:
            x = _pad_by_index(step, x, axis, (low[axis], high[axis]), mode)
    return x


def _pad_by_index(
    step: Step, x: Operand, axis: int, counts: tuple[int, int], mode: str
) -> Operand:
    size = x.shape[axis]
    if size < 1 or min(counts) < 0:
        raise step.unsupported(
            f"{mode} padding of {counts} on size {size}", "known sizes"
        )
    if size + sum(counts) > FOLD_ELEMENTS:
        raise step.unsupported(f"{mode} padding of {counts}", "a smaller tensor")
    line = np.arange(size)
    rows = {
        "reflect": lambda: np.pad(line, counts, "reflect"),
        "edge": lambda: np.pad(line, counts, "edge"),
        "wrap": lambda: np.pad(line, counts, "wrap"),
    }[mode]()
    return step.emit("gather", x, step.const(rows, "i64"), axis=axis)
