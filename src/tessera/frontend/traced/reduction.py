"""Reductions, ordering and contractions."""

from __future__ import annotations

from collections.abc import Sequence

from tessera.frontend.traced.apply import apply, shape_of
from tessera.frontend.traced.layout import axis_of, sizes_of
from tessera.frontend.traced.symbol import Array, Operand

Axes = int | Sequence[int] | None


def _axes(x: Operand, axes: Axes) -> list[int]:
    """Axes counted from the front; None means all."""
    rank = len(shape_of(x))
    named = range(rank) if axes is None else sizes_of(axes)
    return sorted({axis_of(axis, rank) for axis in named})


def reduce_sum(x: Operand, axes: Axes = None, keepdims: bool = False) -> Array:
    """The sum along axes (all of them when None)."""
    return apply("reduce_sum", x, axes=_axes(x, axes), keepdims=keepdims)


def reduce_mean(x: Operand, axes: Axes = None, keepdims: bool = False) -> Array:
    """The mean along axes (all of them when None)."""
    return apply("reduce_mean", x, axes=_axes(x, axes), keepdims=keepdims)


def reduce_max(x: Operand, axes: Axes = None, keepdims: bool = False) -> Array:
    """The largest along axes (all of them when None); NaN wins."""
    return apply("reduce_max", x, axes=_axes(x, axes), keepdims=keepdims)


def reduce_any(x: Operand, axes: Axes = None, keepdims: bool = False) -> Array:
    """Whether any element holds, along axes (all of them when None)."""
    return apply("reduce_any", x, axes=_axes(x, axes), keepdims=keepdims)


def sum(x: Operand, axis: Axes = None, keepdims: bool = False) -> Array:
    """NumPy's spelling of `reduce_sum`."""
    return reduce_sum(x, axis, keepdims)


def mean(x: Operand, axis: Axes = None, keepdims: bool = False) -> Array:
    """NumPy's spelling of `reduce_mean`."""
    return reduce_mean(x, axis, keepdims)


def amax(x: Operand, axis: Axes = None, keepdims: bool = False) -> Array:
    """NumPy's spelling of `reduce_max`."""
    return reduce_max(x, axis, keepdims)


def amin(x: Operand, axis: Axes = None, keepdims: bool = False) -> Array:
    """The smallest along axes."""
    return apply("neg", reduce_max(apply("neg", x), axis, keepdims))


def argmax(x: Operand, axis: int = -1, keepdims: bool = False) -> Array:
    """The index (i64) of the first largest element along `axis`."""
    return apply("argmax", x, axis=axis, keepdims=keepdims)


def cumsum(
    x: Operand, axis: int = -1, exclusive: bool = False, reverse: bool = False
) -> Array:
    """Running sums along `axis`; `exclusive` leaves the element itself out."""
    return apply("cumsum", x, axis=axis, exclusive=exclusive, reverse=reverse)


def topk(
    x: Operand, k: int, axis: int = -1, largest: bool = True
) -> tuple[Array, Array]:
    """The k largest (or smallest) in order and their i64 indices; ties: lower index."""
    return apply("topk", x, k=k, axis=axis, largest=largest)


def matmul(
    a: Operand, b: Operand, transpose_a: bool = False, transpose_b: bool = False
) -> Array:
    """`a @ b` with NumPy's ranks and batch axes; flags swap the last two axes."""
    return apply("matmul", a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def conv(
    x: Operand,
    w: Operand,
    b: Operand = None,
    *,
    strides: int | Sequence[int] = 1,
    pads_low: int | Sequence[int] = 0,
    pads_high: int | Sequence[int] | None = None,
    dilations: int | Sequence[int] = 1,
    groups: int = 1,
) -> Array:
    """Cross-correlation of x[N, C, …] with w[O, C/groups, …], plus b[O].

    One number serves every spatial axis; `pads_high` is `pads_low` unless given.
    """
    count = max(len(shape_of(x)) - 2, 0)

    def each(given: int | Sequence[int]) -> list[int]:
        sizes = sizes_of(given)
        return list(sizes) * count if isinstance(given, int) else list(sizes)

    return apply(
        "conv",
        *(x, w, b),
        strides=each(strides),
        pads_low=each(pads_low),
        pads_high=each(pads_low if pads_high is None else pads_high),
        dilations=each(dilations),
        groups=groups,
    )


def grouped_matmul(x: Operand, w: Operand, group_sizes: Operand) -> Array:
    """Consecutive groups of rows of x[M, K], each times its own w[g, K, N]."""
    return apply("grouped_matmul", x, w, group_sizes)
