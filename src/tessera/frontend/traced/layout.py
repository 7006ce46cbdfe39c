"""Ops that make, move and name values without arithmetic."""

from __future__ import annotations

import operator
import typing
from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tessera.diagnostics import TesseraError
from tessera.frontend.traced.apply import (
    apply,
    apply_to_type,
    as_known,
    element_named,
    element_of,
    shape_of,
)
from tessera.frontend.traced.codes import INDEX, OPERAND, OPTION
from tessera.frontend.traced.places import here, place_of
from tessera.frontend.traced.recording import active
from tessera.frontend.traced.symbol import Array, Operand, Symbol
from tessera.graph.types import numpy_dtype


def refuse_option(text: str, remedy: str = "") -> TesseraError:
    """The error of an option that does not fit its operand."""
    return TesseraError(OPTION, text, here(), remedy)


def axis_of(axis: int, rank: int, what: str = "axis") -> int:
    """`axis` counted from the front; TesseraError when the rank has no such axis."""
    if not -rank <= operator.index(axis) < rank:
        raise TesseraError(
            INDEX, f"{what} {axis} is out of range for rank {rank}", here()
        )
    return operator.index(axis) % rank


def sizes_of(shape: Any) -> tuple[int, ...]:
    """A shape as users write it: a number or a sequence of numbers."""
    if isinstance(shape, (int, np.integer)):
        return (operator.index(typing.cast(Any, shape)),)
    return tuple(operator.index(n) for n in shape)


def const(value: Any, dtype: Any = None) -> Array:
    """A known array as a value: a constant of the graph while tracing."""
    array = as_known(indices_of(value))
    if dtype is not None:
        return cast(array, dtype)
    into = active()
    if into is None or isinstance(array, Symbol):
        return array
    return into.symbol(into.constant(array, place_of("const")))


def iota(shape: Any, axis: int = 0, dtype: Any = "i64") -> Array:
    """0, 1, 2, … along `axis`, the same along every other axis."""
    sizes = sizes_of(shape)
    axis = axis_of(axis, len(sizes))
    return apply_to_type("iota", element_named(dtype), sizes, axis=axis)


def arange(
    start: int | float,
    stop: int | float | None = None,
    step: int | float = 1,
    dtype: Any = None,
) -> Array:
    """start, start + step, … below stop, as numpy.arange; i64, or f32 for floats."""
    first, last = (0, start) if stop is None else (start, stop)
    name = element_named(dtype or np.asarray(first + last + step).dtype)
    name = "f32" if name == "f64" and dtype is None else name
    count = len(np.arange(first, last, step))
    line = iota(count, dtype=name)
    line = line if step == 1 else apply("mul", line, step)
    return line if first == 0 else apply("add", line, first)


def fill(shape: Any, value: float, dtype: Any = "f32") -> Array:
    """An array of one value."""
    name, sizes = element_named(dtype), sizes_of(shape)
    if float(value) != value and value == value:  # an integer that no f64 holds
        return broadcast(np.asarray(value).astype(numpy_dtype(name)), sizes)
    return apply_to_type("fill", name, sizes, value=value)


def zeros(shape: Any, dtype: Any = "f32") -> Array:
    """An array of zeros."""
    return fill(shape, 0.0, dtype)


def ones(shape: Any, dtype: Any = "f32") -> Array:
    """An array of ones."""
    return fill(shape, 1.0, dtype)


def cast(x: Operand, dtype: Any) -> Array:
    """`x` in another element type ("f32", numpy.float32, …).

    Float to integer truncates toward zero; to i1 is x != 0.
    """
    return apply_to_type("cast", element_named(dtype), shape_of(x), x)


def reshape(x: Operand, *shape: Any) -> Array:
    """The elements of x in row-major order under another shape; one size may be -1."""
    found = shape_of(x)
    sizes = sizes_of(shape[0] if len(shape) == 1 else shape)
    if sizes.count(-1) == 1:
        known = prod(n for n in sizes if n != -1)
        if known and prod(found) % known == 0:
            sizes = tuple(prod(found) // known if n == -1 else n for n in sizes)
    if min(sizes, default=0) < 0:
        raise refuse_option(
            f"shape {sizes} cannot hold the {prod(found)} elements of x"
        )
    return apply_to_type("reshape", element_of(x), sizes, x)


def broadcast(x: Operand, shape: Any) -> Array:
    """`x` repeated along axes of size 1, as numpy.broadcast_to."""
    return apply_to_type("broadcast", element_of(x), sizes_of(shape), x)


def transpose(x: Operand, permutation: Sequence[int] | None = None) -> Array:
    """Axis i of the result is axis permutation[i] of x; without one, reversed axes."""
    rank = len(shape_of(x))
    if permutation is None:
        permutation = range(rank)[::-1]
    order = [axis_of(axis, rank) for axis in permutation]
    return apply("transpose", x, permutation=order)


def swapaxes(x: Operand, a: int, b: int) -> Array:
    """`x` with two axes exchanged."""
    order = list(range(len(shape_of(x))))
    a, b = axis_of(a, len(order)), axis_of(b, len(order))
    order[a], order[b] = order[b], order[a]
    return transpose(x, order)


def expand_dims(x: Operand, axis: int) -> Array:
    """`x` with an axis of size 1 put in at `axis`."""
    shape = list(shape_of(x))
    shape.insert(axis_of(axis, len(shape) + 1), 1)
    return reshape(x, shape)


def squeeze(x: Operand, axis: int | Sequence[int] | None = None) -> Array:
    """`x` without its axes of size 1, or without the named ones."""
    shape = shape_of(x)
    named = range(len(shape)) if axis is None else sizes_of(axis)
    axes = {axis_of(a, len(shape)) for a in named}
    if axis is None:
        axes = {a for a in axes if shape[a] == 1}
    if any(shape[a] != 1 for a in axes):
        raise refuse_option(f"axes {sorted(axes)} of {shape} are not all of size 1")
    return reshape(x, [n for i, n in enumerate(shape) if i not in axes])


def slice(
    x: Operand, starts: Sequence[int], stops: Sequence[int], steps: Sequence[int]
) -> Array:
    """Python's x[start:stop:step] on every axis."""
    return apply("slice", x, starts=starts, stops=stops, steps=steps)


def concat(xs: Sequence[Operand], axis: int = 0) -> Array:
    """The operands one after another along `axis`."""
    values = list(xs)
    if not values:
        raise TesseraError(
            OPERAND, "concat of no operands, wanted at least one", here()
        )
    return apply("concat", *values, axis=axis)


def stack(xs: Sequence[Operand], axis: int = 0) -> Array:
    """The operands side by side along a new axis."""
    return concat([expand_dims(x, axis) for x in xs], axis)


def split(x: Operand, parts: int | Sequence[int], axis: int = -1) -> tuple[Array, ...]:
    """`x` cut along `axis` into that many equal parts, or into parts of those sizes."""
    shape = shape_of(x)
    axis = axis_of(axis, len(shape))
    sizes = [int(n) for n in parts] if isinstance(parts, Sequence) else []
    if not isinstance(parts, Sequence) and parts > 0 and shape[axis] % parts == 0:
        sizes = [shape[axis] // parts] * parts
    if sum(sizes) != shape[axis] or min(sizes, default=-1) < 0:
        text = f"cannot split axis {axis} of size {shape[axis]} into {parts}"
        raise refuse_option(text)
    cuts: list[Array] = []
    for end, size in zip(np.cumsum(sizes).tolist(), sizes, strict=True):
        starts, stops = [0] * len(shape), list(shape)
        starts[axis], stops[axis] = end - size, end
        cuts.append(slice(x, starts, stops, [1] * len(shape)))
    return tuple(cuts)


def pad(
    x: Operand, low: Sequence[int], high: Sequence[int], value: float = 0.0
) -> Array:
    """`x` with `low` elements of `value` before and `high` after it on each axis."""
    return apply("pad", x, low=low, high=high, value=value)


def indices_of(indices: Any) -> Any:
    """Indices as an operand: lists of integers become arrays."""
    if isinstance(indices, (list, tuple)):
        return np.asarray(typing.cast("list[Any]", indices))
    return indices


def gather(x: Operand, indices: Operand, axis: int = 0) -> Array:
    """Slices of x along `axis` by index; a negative index counts from the end."""
    return apply("gather", x, indices_of(indices), axis=axis)


def embedding(table: Operand, ids: Operand) -> Array:
    """The rows of table[V, D] that `ids` name: ids.shape + (D,)."""
    return gather(table, ids)


def gather_nd(x: Operand, indices: Operand, batch_dims: int = 0) -> Array:
    """Slices of x by index tuples (the last axis of indices)."""
    return apply("gather_nd", x, indices_of(indices), batch_dims=batch_dims)


def gather_elements(x: Operand, indices: Operand, axis: int = 0) -> Array:
    """One element of x per index, along `axis`."""
    return apply("gather_elements", x, indices_of(indices), axis=axis)


def scatter(
    x: Operand,
    indices: Operand,
    updates: Operand,
    axis: int = 0,
    reduction: str = "none",
) -> Array:
    """`x` with one element per index replaced or combined, along `axis`."""
    operands = (x, indices_of(indices), updates)
    return apply("scatter", *operands, axis=axis, reduction=reduction)


def scatter_nd(
    x: Operand, indices: Operand, updates: Operand, reduction: str = "none"
) -> Array:
    """`x` with slices replaced or combined, by index tuples."""
    return apply("scatter_nd", x, indices_of(indices), updates, reduction=reduction)


def shape(x: Operand) -> Array:
    """The sizes of x as i64[rank]; `x.shape` gives them as Python numbers."""
    return apply("shape", x)
