"""Leaves and layout: ops that make, move and name values without arithmetic.

Results may be views of their operands; nobody writes into a result.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np

from tessera.reference.dtypes import dtype_of
from tessera.reference.rounding import Array, axis_in, exact, wide


def _known(shape: Sequence[int], what: str) -> tuple[int, ...]:
    dims = tuple(int(n) for n in shape)
    if any(n < 0 for n in dims):
        raise ValueError(f"{what}: shape = {dims}, wanted every size known")
    return dims


@exact
def iota(*, shape: Sequence[int], dtype: str, axis: int = 0) -> Array:
    """0, 1, 2, ... along `axis`, the same along every other axis."""
    dims = _known(shape, "iota")
    axis = axis_in(axis, len(dims), "iota")
    line = np.arange(dims[axis]).astype(dtype_of(dtype))
    column = line.reshape([-1 if i == axis else 1 for i in range(len(dims))])
    return np.broadcast_to(column, dims)


@exact
def fill(*, value: float, shape: Sequence[int], dtype: str) -> Array:
    """An array of one value."""
    return np.full(_known(shape, "fill"), value, dtype=dtype_of(dtype))


@exact
def cast_to(x: Array, *, dtype: str) -> Array:
    """The elements in another type; to i1 is x != 0.

    Float to integer truncates toward zero; what does not fit, NaN included, is
    undefined as in C.
    """
    target = dtype_of(dtype)
    return x != 0 if target == np.bool_ else x.astype(target)


@exact
def reshape(
    x: Array, shape_operand: Array | None = None, *, shape: Sequence[int]
) -> Array:
    """The elements in row-major order under another shape.

    The operand, when given, overrules `shape`; either may hold one -1, which takes
    what is left.
    """
    wanted = shape if shape_operand is None else shape_operand.tolist()
    dims = tuple(int(n) for n in cast("Sequence[int]", wanted))
    if dims.count(-1) > 1 or min(dims, default=0) < -1:
        raise ValueError(f"reshape: shape = {dims}, wanted at most one -1")
    return x.reshape(dims)


@exact
def broadcast(
    x: Array, shape_operand: Array | None = None, *, shape: Sequence[int]
) -> Array:
    """NumPy's broadcast_to, axes aligned at the right.

    The operand, when given, overrules `shape`; a 1 in it keeps the size x has there,
    as ONNX's Expand does. A -1 keeps that size in either.
    """
    if shape_operand is None:
        dims = [int(n) for n in shape]
    else:
        dims = [int(n) for n in cast("list[int]", shape_operand.tolist())]
    lead = len(dims) - x.ndim
    keep = (-1,) if shape_operand is None else (-1, 1)
    for axis in range(max(lead, 0), len(dims)):
        if dims[axis] in keep:
            dims[axis] = x.shape[axis - lead]
    return np.broadcast_to(x, _known(dims, "broadcast"))


@exact
def transpose(x: Array, *, permutation: Sequence[int]) -> Array:
    """Axis i of the result is axis permutation[i] of x."""
    if sorted(permutation) != list(range(x.ndim)):
        raise ValueError(
            f"transpose: permutation = {tuple(permutation)},"
            f" wanted a permutation of the axes of rank {x.ndim}"
        )
    return np.transpose(x, tuple(permutation))


@exact
def slice_axes(
    x: Array, *, starts: Sequence[int], stops: Sequence[int], steps: Sequence[int]
) -> Array:
    """Python's x[start:stop:step] on every axis. A stop past either end is clipped:
    2**63 - 1 means to the end, -2**63 with a negative step past the beginning.
    """
    if not len(starts) == len(stops) == len(steps) == x.ndim:
        raise ValueError(
            f"slice: {len(starts)} starts, {len(stops)} stops, {len(steps)} steps,"
            f" wanted one each per axis of rank {x.ndim}"
        )
    if 0 in steps:
        raise ValueError(f"slice: steps = {tuple(steps)}, wanted no step of 0")
    return x[tuple(map(slice, starts, stops, steps))]


@wide
def concat(*xs: Array, axis: int) -> Array:
    """The operands one after another along `axis`."""
    if not xs:
        raise ValueError("concat: no operands, wanted at least one")
    return np.concatenate(xs, axis=axis_in(axis, xs[0].ndim, "concat"))


@exact
def pad(
    x: Array, *, low: Sequence[int], high: Sequence[int], value: float = 0.0
) -> Array:
    """The array with `low` elements of `value` before and `high` after it on each axis;
    a negative count removes elements instead.
    """
    if not len(low) == len(high) == x.ndim:
        raise ValueError(
            f"pad: {len(low)} low and {len(high)} high counts,"
            f" wanted one each per axis of rank {x.ndim}"
        )
    dims = [n + a + b for n, a, b in zip(x.shape, low, high, strict=True)]
    if min(dims, default=0) < 0:
        raise ValueError(f"pad: result shape {tuple(dims)}, wanted no negative size")
    out = np.full(dims, value, dtype=x.dtype)
    kept = [
        slice(max(0, -a), n - max(0, -b))
        for n, a, b in zip(x.shape, low, high, strict=True)
    ]
    if any(part.stop <= part.start for part in kept):
        return out
    placed = tuple(
        slice(max(0, a), size - max(0, b))
        for size, a, b in zip(dims, low, high, strict=True)
    )
    out[placed] = x[tuple(kept)]
    return out


@wide
def select(cond: Array, a: Array, b: Array) -> Array:
    """`a` where cond holds, b elsewhere; the three broadcast together."""
    return np.where(cond != 0, a, b)


@exact
def shape_of(x: Array) -> Array:
    """The sizes of x as i64[rank]."""
    return np.array(x.shape, dtype=np.int64)
