"""Reductions and order. Reduced axes of size 0 give the reduction's identity.

No axes means no reduction: the operand itself. Sums keep the operand's type.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tessera.reference.dtypes import is_float
from tessera.reference.elementwise import divided
from tessera.reference.rounding import Array, axis_in, wide


def _axes(x: Array, axes: Sequence[int], what: str) -> tuple[int, ...]:
    found = tuple(axis_in(axis, x.ndim, what) for axis in axes)
    if len(set(found)) != len(found):
        raise ValueError(f"{what}: axes = {tuple(axes)}, wanted each axis once")
    return found


def lowest(dtype: np.dtype[Any]) -> Any:
    """The identity of max: -inf, the smallest integer, or false."""
    if is_float(dtype):
        return -np.inf
    return False if dtype == np.bool_ else int(np.iinfo(dtype).min)


def mean(x: Array, axes: tuple[int, ...], keepdims: bool = True) -> Array:
    """The mean over `axes`, NaN over nothing; integers truncate toward zero."""
    total = np.sum(x, axis=axes, keepdims=keepdims, dtype=x.dtype)
    count = np.asarray(prod(x.shape[axis] for axis in axes), dtype=x.dtype)
    return divided(np.asarray(total), count)


@wide
def reduce_sum(x: Array, *, axes: Sequence[int], keepdims: bool = False) -> Array:
    """The sum over `axes`."""
    over = _axes(x, axes, "reduce_sum")
    return np.sum(x, axis=over, keepdims=keepdims, dtype=x.dtype) if over else x


@wide
def reduce_mean(x: Array, *, axes: Sequence[int], keepdims: bool = False) -> Array:
    """The mean over `axes`; NaN over no elements."""
    over = _axes(x, axes, "reduce_mean")
    return mean(x, over, keepdims) if over else x


@wide
def reduce_max(x: Array, *, axes: Sequence[int], keepdims: bool = False) -> Array:
    """The largest over `axes`; NaN wins."""
    over = _axes(x, axes, "reduce_max")
    if not over:
        return x
    return np.max(x, axis=over, keepdims=keepdims, initial=lowest(x.dtype))


@wide
def reduce_any(x: Array, *, axes: Sequence[int], keepdims: bool = False) -> Array:
    """True where any element over `axes` is not zero; i1."""
    over = _axes(x, axes, "reduce_any")
    return np.any(x != 0, axis=over, keepdims=keepdims) if over else x != 0


@wide
def argmax(x: Array, *, axis: int = -1, keepdims: bool = False) -> Array:
    """The index of the first largest element (of the first NaN, if any) as i64."""
    axis = axis_in(axis, x.ndim, "argmax")
    if x.shape[axis] == 0:
        raise ValueError(f"argmax: axis {axis} has size 0, wanted at least 1")
    return np.argmax(x, axis=axis, keepdims=keepdims).astype(np.int64)


@wide
def cumsum(
    x: Array, *, axis: int, exclusive: bool = False, reverse: bool = False
) -> Array:
    """Running sums along `axis`; `exclusive` leaves the element itself out."""
    axis = axis_in(axis, x.ndim, "cumsum")
    ordered = np.flip(x, axis) if reverse else x
    sums = np.cumsum(ordered, axis=axis, dtype=x.dtype)
    if exclusive:
        moved = np.zeros_like(sums)
        lead = (slice(None),) * axis
        moved[(*lead, slice(1, None))] = sums[(*lead, slice(None, -1))]
        sums = moved
    return np.flip(sums, axis) if reverse else sums


@wide
def topk(
    x: Array, *, k: int, axis: int = -1, largest: bool = True
) -> tuple[Array, Array]:
    """The k largest (or smallest) along `axis` and their i64 indices, in order; equal
    elements by lower index, NaN counts as largest.
    """
    axis = axis_in(axis, x.ndim, "topk")
    size = x.shape[axis]
    if not 0 <= k <= size:
        raise ValueError(f"topk: k = {k}, wanted 0 <= k <= {size}")
    if largest:
        backward = np.argsort(np.flip(x, axis), axis=axis, kind="stable")
        order = size - 1 - np.flip(backward, axis)
    else:
        order = np.argsort(x, axis=axis, kind="stable")
    first = np.take(order, np.arange(k), axis=axis).astype(np.int64)
    return np.take_along_axis(x, first, axis=axis), first
