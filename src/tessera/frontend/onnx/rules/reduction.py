"""Reductions, order, and running sums."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.shapes import arange, expand_dims
from tessera.frontend.onnx.step import Step
from tessera.graph.types import DYN, FLOATS

Reduce = Callable[[Step, Operand, Sequence[int], bool], Operand]
Rule = Callable[[Step], Operand]


def axes_of(step: Step, rank: int) -> tuple[int, ...]:
    """The axes of a reduction, counted from 0: an attribute or, later, an input.

    None given means all, or no reduction where the node says so.
    """
    if step.given("axes"):
        axes = step.integers("axes")
    elif step.has(1):
        axes = step.known_ints(1, "axes")
    else:
        axes = ()
    if not axes:
        noop = step.flag("noop_with_empty_axes")
        return () if noop else tuple(range(rank))
    step.ignore("noop_with_empty_axes")
    return tuple(step.axis(axis, rank) for axis in axes)


def reduction(reduce: Reduce) -> Rule:
    """A reduction by axes and keepdims."""

    def rule(step: Step) -> Operand:
        x = step.input(0)
        keep = step.flag("keepdims", True)
        return reduce(step, x, axes_of(step, x.rank), keep)

    return rule


def plain(op: str) -> Reduce:
    """A reduction that the vocabulary has as it is."""

    def reduce(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
        return step.emit(op, x, axes=axes, keepdims=keep)

    return reduce


def largest(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
    """ReduceMax; of i1 whether any holds."""
    op = "reduce_any" if x.dtype == "i1" else "reduce_max"
    return step.emit(op, x, axes=axes, keepdims=keep)


def flipped(step: Step, x: Operand) -> Operand:
    """A tensor whose order is the reverse of x's, by an involution that never overflows."""
    return step.emit("neg" if x.dtype in FLOATS else "not", x)


def smallest(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
    """ReduceMin: the largest of the flipped."""
    return flipped(step, largest(step, flipped(step, x), axes, keep))


def absolute_sum(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
    """ReduceL1: the sum of |x|."""
    return step.emit("reduce_sum", step.emit("abs", x), axes=axes, keepdims=keep)


def square_sum(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
    """ReduceSumSquare: the sum of x²."""
    return step.emit("reduce_sum", step.emit("mul", x, x), axes=axes, keepdims=keep)


def euclidean(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
    """ReduceL2: the root of the sum of squares."""
    if x.dtype in FLOATS:
        return step.emit("sqrt", square_sum(step, x, axes, keep))
    wide = step.cast(x, "f64")
    return step.cast(step.emit("sqrt", square_sum(step, wide, axes, keep)), x.dtype)


def log_sum(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
    """ReduceLogSum: the logarithm of the sum."""
    return step.emit("log", step.emit("reduce_sum", x, axes=axes, keepdims=keep))


def log_sum_exp(step: Step, x: Operand, axes: Sequence[int], keep: bool) -> Operand:
    """ReduceLogSumExp, shifted by the largest so that nothing overflows."""
    peak = step.emit("reduce_max", x, axes=axes, keepdims=True)
    finite = step.emit("cmp", step.emit("abs", peak), step.const(np.inf, x), kind="lt")
    shift = step.emit("select", finite, peak, step.const(0, x))
    powers = step.emit("exp", step.emit("sub", x, shift))
    total = step.emit("log", step.emit("reduce_sum", powers, axes=axes, keepdims=True))
    result = step.emit("add", total, shift)
    # an axis of size 1 holds one value: its sum only drops the axis
    return result if keep else step.emit("reduce_sum", result, axes=axes)


def _position(step: Step, x: Operand) -> Operand:
    axis = step.axis(step.integer("axis", 0), x.rank)
    keep = step.flag("keepdims", True)
    if not step.flag("select_last_index"):
        return step.emit("argmax", x, axis=axis, keepdims=keep)
    size = x.shape[axis]
    if size == DYN:
        raise step.unsupported("select_last_index on an unknown size", "a known size")
    starts, stops, steps = [0] * x.rank, [(1 << 63) - 1] * x.rank, [1] * x.rank
    starts[axis], stops[axis], steps[axis] = -1, -(1 << 63), -1
    backward = step.emit("slice", x, starts=starts, stops=stops, steps=steps)
    found = step.emit("argmax", backward, axis=axis, keepdims=keep)
    return step.emit("sub", step.const(size - 1, "i64"), found)


def argmax(step: Step) -> Operand:
    """ArgMax: the first (or last) position of the largest."""
    return _position(step, step.input(0))


def argmin(step: Step) -> Operand:
    """ArgMin: ArgMax of the flipped."""
    return _position(step, flipped(step, step.input(0)))


def topk(step: Step) -> Sequence[Operand]:
    """TopK: values and indices, sorted whether asked for or not."""
    step.ignore("sorted")
    x = step.input(0)
    k = step.integer("k") if step.opset < 10 else step.known_integer(1, "k")
    axis, largest = step.integer("axis", -1), step.flag("largest", True)
    return step.emits("topk", x, k=k, axis=axis, largest=largest)


def cumsum(step: Step) -> Operand:
    """CumSum along a constant axis."""
    axis = step.known_integer(1, "axis")
    exclusive, reverse = step.flag("exclusive"), step.flag("reverse")
    x = step.input(0)
    return step.emit("cumsum", x, axis=axis, exclusive=exclusive, reverse=reverse)


def hardmax(step: Step) -> Operand:
    """1 at the first largest along the axis, else 0."""
    x = step.input(0)
    if step.opset < 13:
        raise step.unsupported("Hardmax before opset 13", "opset 13 or later")
    axis = step.axis(step.integer("axis", -1), x.rank)
    found = step.emit("argmax", x, axis=axis, keepdims=True)
    places = arange(step, x, axis)
    places = expand_dims(step, places, range(1, x.rank - axis))
    return step.cast(step.emit("cmp", places, found, kind="eq"), x.dtype)
