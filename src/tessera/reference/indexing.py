"""Gathers and scatters, with ONNX's meaning.

A negative index counts from the end, once; any other index outside its axis raises
IndexError, it never reads zeros or wraps further.
"""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from tessera.reference.rounding import Array, axis_in, exact, wide_following

_ACCUMULATE: dict[str, Callable[..., Any]] = {
    "add": np.add.at,
    "mul": np.multiply.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}


def _wrapped(indices: Array, size: int, what: str) -> Array:
    """Indices with negatives counted from the end, all checked against `size`."""
    if indices.dtype.kind not in "iu":
        raise ValueError(f"{what}: indices of {indices.dtype}, wanted integers")
    bad = (indices < -size) | (indices >= size)
    if bad.any():
        raise IndexError(
            f"{what}: index {indices[bad].flat[0]}, wanted {-size} <= index < {size}"
        )
    signed = indices.astype(np.int64, copy=False)
    return np.where(signed < 0, signed + size, signed)


@exact
def gather(x: Array, indices: Array, *, axis: int = 0) -> Array:
    """The slices of x at `indices`; their shape takes the place of `axis`."""
    axis = axis_in(axis, x.ndim, "gather")
    return np.take(x, _wrapped(indices, x.shape[axis], "gather"), axis=axis)


def _grid(indices: Array, axis: int) -> tuple[Array, ...]:
    """The full index of every element of `indices` along `axis`."""
    grid: list[Array] = list(np.indices(indices.shape, sparse=True))
    grid[axis] = indices
    return tuple(grid)


def _elements(x: Array, indices: Array, axis: int, what: str) -> tuple[Array, ...]:
    axis = axis_in(axis, x.ndim, what)
    fits = indices.ndim == x.ndim and all(
        n <= m
        for i, (n, m) in enumerate(zip(indices.shape, x.shape, strict=True))
        if i != axis
    )
    if not fits:
        raise ValueError(
            f"{what}: indices of shape {indices.shape}, wanted the rank of x"
            f" {x.shape} and no axis longer but axis {axis}"
        )
    return _grid(_wrapped(indices, x.shape[axis], what), axis)


@exact
def gather_elements(x: Array, indices: Array, *, axis: int = 0) -> Array:
    """out[i, j, ...] = x[..., indices[i, j, ...] in place of the axis index, ...]."""
    return x[_elements(x, indices, axis, "gather_elements")]


@wide_following(1)
def scatter(
    x: Array, indices: Array, updates: Array, *, axis: int = 0, reduction: str = "none"
) -> Array:
    """ScatterElements: a copy of x with each update written, or reduced, to the place
    its index names. With reduction none the last of equal places wins.
    """
    places = _elements(x, indices, axis, "scatter")
    if updates.shape != indices.shape:
        raise ValueError(
            f"scatter: updates of shape {updates.shape}, wanted {indices.shape}"
        )
    return _written(x.copy(), places, updates, reduction, "scatter")


def _written(
    out: Array, places: Any, updates: Array, reduction: str, what: str
) -> Array:
    if reduction == "none":
        out[places] = updates
    elif reduction in _ACCUMULATE:
        _ACCUMULATE[reduction](out, places, updates.astype(out.dtype, copy=False))
    else:
        raise ValueError(
            f"{what}: reduction = {reduction!r}, wanted none, add, mul, max or min"
        )
    return out


def _linear(indices: Array, sizes: tuple[int, ...], what: str) -> Array:
    """The row-major number of each index tuple along the last axis of `indices`."""
    flat = np.zeros(indices.shape[:-1], dtype=np.int64)
    for column, size in enumerate(sizes):
        flat = flat * size + _wrapped(indices[..., column], size, what)
    return flat


def _tuple_width(indices: Array, rank: int, what: str) -> int:
    if indices.ndim < 1 or indices.shape[-1] > rank:
        raise ValueError(
            f"{what}: indices of shape {indices.shape},"
            f" wanted a last axis of at most {rank}"
        )
    return indices.shape[-1]


@exact
def gather_nd(x: Array, indices: Array, *, batch_dims: int = 0) -> Array:
    """The slices of x at the index tuples along indices' last axis; the first
    `batch_dims` axes of both are walked together.
    """
    batch = x.shape[:batch_dims]
    if (
        not 0 <= batch_dims < max(indices.ndim, 1)
        or indices.shape[:batch_dims] != batch
    ):
        raise ValueError(
            f"gather_nd: batch_dims = {batch_dims} with shapes {x.shape} and"
            f" {indices.shape}, wanted that many equal leading axes"
        )
    width = _tuple_width(indices, x.ndim - batch_dims, "gather_nd")
    named = x.shape[batch_dims : batch_dims + width]
    rest = x.shape[batch_dims + width :]
    flat = _linear(indices, named, "gather_nd").reshape(
        prod(batch), prod(indices.shape[batch_dims:-1])
    )
    rows = x.reshape(prod(batch), prod(named), *rest)
    picked = rows[np.arange(prod(batch))[:, None], flat]
    return picked.reshape(*indices.shape[:-1], *rest)


@wide_following(1)
def scatter_nd(
    x: Array, indices: Array, updates: Array, *, reduction: str = "none"
) -> Array:
    """A copy of x with each slice of `updates` written, or reduced, to the place the
    index tuple names. With reduction none the last of equal places wins.
    """
    width = _tuple_width(indices, x.ndim, "scatter_nd")
    named, rest = x.shape[:width], x.shape[width:]
    wanted = (*indices.shape[:-1], *rest)
    if updates.shape != wanted:
        raise ValueError(
            f"scatter_nd: updates of shape {updates.shape}, wanted {wanted}"
        )
    flat = _linear(indices, named, "scatter_nd")
    out = x.copy().reshape(prod(named), *rest)
    return _written(out, flat, updates, reduction, "scatter_nd").reshape(x.shape)
