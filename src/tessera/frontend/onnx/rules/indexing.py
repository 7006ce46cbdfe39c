"""Ops that read and write by index, and tensors that are made from numbers."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.shapes import (
    arange,
    count_to,
    expand_dims,
    need_vector,
    reshape,
    target_sizes,
)
from tessera.frontend.onnx.rules.slicing import cut
from tessera.frontend.onnx.step import FOLD_ELEMENTS, Step
from tessera.graph.types import DYN, tensor

REDUCTIONS = ("none", "add", "mul", "max", "min")
Rule = Callable[[Step], Operand]


def gather(step: Step) -> Operand:
    """Gather rows along an axis."""
    axis = step.integer("axis", 0)
    return step.emit("gather", step.input(0), step.input(1), axis=axis)


def gather_elements(step: Step) -> Operand:
    """GatherElements along an axis."""
    axis = step.integer("axis", 0)
    return step.emit("gather_elements", step.input(0), step.input(1), axis=axis)


def gather_nd(step: Step) -> Operand:
    """GatherND by index tuples."""
    batch = step.integer("batch_dims", 0)
    return step.emit("gather_nd", step.input(0), step.input(1), batch_dims=batch)


def scatter_elements(step: Step) -> Operand:
    """ScatterElements (and its old name Scatter) along an axis."""
    xs = [step.input(i) for i in range(3)]
    axis, how = step.integer("axis", 0), step.word("reduction", REDUCTIONS, "none")
    return step.emit("scatter", *xs, axis=axis, reduction=how)


def scatter_nd(step: Step) -> Operand:
    """ScatterND by index tuples."""
    xs = [step.input(i) for i in range(3)]
    how = step.word("reduction", REDUCTIONS, "none")
    return step.emit("scatter_nd", *xs, reduction=how)


def shape_of(step: Step) -> Operand:
    """Shape, or a stretch of it; known sizes are known at import."""
    x = step.input(0)
    start, end = step.integer("start", 0), step.integer("end", x.rank)
    stretch = x.shape[start:end]
    if DYN not in stretch:
        return step.const(stretch, "i64")
    return cut(step, step.emit("shape", x), 0, start, end)


def size_of(step: Step) -> Operand:
    """Size: the number of elements."""
    x = step.input(0)
    if x.static:
        return step.const(np.prod(x.shape, dtype=np.int64), "i64")
    shape, total = step.emit("shape", x), step.const([1], "i64")
    for axis in range(x.rank):
        total = step.emit("mul", total, cut(step, shape, 0, axis, axis + 1))
    return reshape(step, total, [])


def span(step: Step) -> Operand:
    """Range: start, start + delta, … before limit."""
    start, limit, delta = (step.input(i) for i in range(3))
    if {start.rank, limit.rank, delta.rank} != {0}:
        raise step.misfit("wanted three scalars")
    known = [x.array.item() for x in (start, limit, delta) if x.array is not None]
    if len(known) < 3:
        return _span_at_run_time(step, start, limit, delta)
    if known[2] == 0:
        raise step.misfit("delta is 0")
    count = max(0, ceil((known[1] - known[0]) / known[2]))
    if count <= FOLD_ELEMENTS:
        return step.const(known[0] + np.arange(count) * known[2], start)
    line = step.emit("iota", result=tensor(start.dtype, (count,)))
    return step.emit("add", step.emit("mul", line, delta), start)


def _span_at_run_time(
    step: Step, start: Operand, limit: Operand, delta: Operand
) -> Operand:
    wide = [step.cast(x, "f64") for x in (start, limit, delta)]
    steps = step.emit("div", step.emit("sub", wide[1], wide[0]), wide[2])
    length = step.cast(step.emit("floor", steps, kind="ceil"), "i64")
    count = step.emit("max", length, step.const(0, "i64"))
    line = step.cast(count_to(step, reshape(step, count, [1])), start.dtype)
    if delta.array is None or delta.array.item() != 1:
        line = step.emit("mul", line, delta)
    return step.emit("add", line, start)


def constant_of_shape(step: Step) -> Operand:
    """ConstantOfShape: one value, zero f32 by default, everywhere."""
    target = need_vector(step, 0, "shape")
    value = step.attribute("value", np.ndarray, np.zeros(1, np.float32))
    if value.size != 1:
        raise step.misfit(f"value has {value.size} elements, wanted 1")
    sizes = target_sizes(target)
    if any(s < 0 and s != DYN for s in sizes):
        raise step.misfit(f"shape {list(sizes)} holds a negative size")
    one = Operand.of(value.reshape(()))
    result = tensor(one.dtype, sizes)
    if DYN in sizes:
        return step.emit("broadcast", one, target, result=result)
    return step.emit("broadcast", one, result=result)


def trilu(step: Step) -> Operand:
    """Trilu: the upper (or lower) triangle of the last two axes, zeros elsewhere."""
    x, upper = step.input(0), step.flag("upper", True)
    offset = step.known_integer(1, "k") if step.has(1) else 0
    if x.rank < 2:
        raise step.misfit(f"rank {x.rank}, wanted at least 2")
    rows = expand_dims(step, arange(step, x, -2), [1])
    edge = step.emit("add", rows, step.const(offset, "i64"))
    kind = "ge" if upper else "le"
    kept = step.emit("cmp", arange(step, x, -1), edge, kind=kind)
    return step.emit("select", kept, x, step.const(0, x))


def eye_like(step: Step) -> Operand:
    """EyeLike: ones on one diagonal."""
    x, offset = step.input(0), step.integer("k", 0)
    dtype = x.dtype
    if step.given("dtype"):
        dtype = step.element("dtype")
    if x.rank != 2:
        raise step.misfit(f"rank {x.rank}, wanted 2")
    rows = expand_dims(step, arange(step, x, 0), [1])
    edge = step.emit("add", rows, step.const(offset, "i64"))
    return step.cast(step.emit("cmp", arange(step, x, 1), edge, kind="eq"), dtype)


def one_hot(step: Step) -> Operand:
    """OneHot: off and on values by index; negative indices count from the end."""
    indices = step.cast(step.input(0), "i64")
    depth, values = step.known_integer(1, "depth"), step.input(2)
    if values.shape != (2,) or not 0 <= depth <= FOLD_ELEMENTS:
        raise step.misfit(f"depth {depth} and values {list(values.shape)}")
    axis = step.axis(step.integer("axis", -1), indices.rank + 1)
    wrapped = step.emit("add", indices, step.const(depth, "i64"))
    negative = step.emit("cmp", indices, step.const(0, "i64"), kind="lt")
    indices = step.emit("select", negative, wrapped, indices)
    found = expand_dims(step, indices, [axis])
    places = step.const(np.arange(depth), "i64")
    places = expand_dims(step, places, range(1, found.rank - axis))
    hit = step.emit("cmp", found, places, kind="eq")
    off, on = (reshape(step, cut(step, values, 0, i, i + 1), []) for i in (0, 1))
    return step.emit("select", hit, on, off)


def tensor_scatter(step: Step) -> Operand:
    """TensorScatter: rows of a cache replaced from a written position on, per sample."""
    cache, update = step.input(0), step.input(1)
    mode = step.word("mode", ("linear", "circular"), "linear")
    axis = step.axis(step.integer("axis", -2), cache.rank)
    if axis == 0 or not update.static or not cache.static:
        raise step.unsupported(f"axis {axis} or unknown sizes", "known sizes, axis > 0")
    starts = step.cast(
        step.optional(2) or step.const([0] * cache.shape[0], "i64"), "i64"
    )
    places = arange(step, update, axis)
    rows = step.emit("add", expand_dims(step, starts, [1]), places)
    if mode == "circular":
        rows = step.emit("mod", rows, step.const(cache.shape[axis], "i64"))
    middle = [i for i in range(1, update.rank) if i != axis]
    rows = expand_dims(step, rows, middle)
    indices = step.emit("broadcast", rows, result=tensor("i64", update.shape))
    return step.emit("scatter", cache, indices, update, axis=axis, reduction="none")
