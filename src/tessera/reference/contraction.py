"""Contractions: matmul (BLAS for f32 and f64), convolution, grouped matmul.

f16 and bf16 accumulate in f32; a contraction over nothing gives zeros.
"""

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tessera.reference.rounding import Array, wide


def _unit_stride(x: Array) -> Array:
    """x, copied when neither of its last two axes is packed (BLAS needs one)."""
    packed = x.ndim < 2 or x.itemsize in x.strides[-2:]
    return x if packed else np.ascontiguousarray(x)


def product(a: Array, b: Array) -> Array:
    """NumPy's matmul, kept on BLAS for every layout."""
    return np.matmul(_unit_stride(a), _unit_stride(b))


def _swapped(x: Array, swap: bool) -> Array:
    return np.swapaxes(x, -1, -2) if swap and x.ndim >= 2 else x


@wide
def matmul(
    a: Array, b: Array, *, transpose_a: bool = False, transpose_b: bool = False
) -> Array:
    """`a @ b` with NumPy's ranks (1-D included) and broadcast batch axes; a transpose
    swaps the last two axes first (a vector has none to swap).
    """
    return product(_swapped(a, transpose_a), _swapped(b, transpose_b))


def _conv_demands(
    x: Array, w: Array, attributes: dict[str, Sequence[int]], groups: int
) -> None:
    spatial = x.ndim - 2
    if spatial < 1 or w.ndim != x.ndim:
        raise ValueError(
            f"conv: x of rank {x.ndim} and w of rank {w.ndim},"
            " wanted one rank of at least 3"
        )
    for name, values in attributes.items():
        if len(values) != spatial:
            raise ValueError(f"conv: {name} = {tuple(values)}, wanted {spatial} values")
    if groups < 1 or w.shape[0] % groups or x.shape[1] != w.shape[1] * groups:
        raise ValueError(
            f"conv: groups = {groups} with x {x.shape} and w {w.shape}, wanted"
            " x channels = groups * w channels and groups dividing the outputs"
        )


def _windows(
    x: Array, kernel: tuple[int, ...], strides: Sequence[int], dilations: Sequence[int]
) -> Array:
    """Views [N, C, *out, *kernel] of the padded x [N, C, *spatial], size 0 along an
    axis that is shorter than the kernel's reach.
    """
    reach = tuple(d * (n - 1) + 1 for n, d in zip(kernel, dilations, strict=True))
    if any(n < r for n, r in zip(x.shape[2:], reach, strict=True)):
        counts = (
            max(0, (n - r) // s + 1)
            for n, r, s in zip(x.shape[2:], reach, strides, strict=True)
        )
        return np.zeros((*x.shape[:2], *counts, *kernel), dtype=x.dtype)
    axes = tuple(range(2, x.ndim))
    full: Array = np.lib.stride_tricks.sliding_window_view(x, reach, axis=axes)
    steps: list[Any] = [slice(None), slice(None)]
    steps += [slice(None, None, s) for s in strides]
    steps += [slice(None, None, d) for d in dilations]
    return full[tuple(steps)]


@wide
def conv(
    x: Array,
    w: Array,
    b: Array | None = None,
    *,
    strides: Sequence[int],
    pads_low: Sequence[int],
    pads_high: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
) -> Array:
    """Cross-correlation of x [N, C, *spatial] with w [O, C / groups, *kernel], plus
    b [O]: the convolution of ONNX and torch, any number of spatial axes.
    """
    named = {"strides": strides, "pads_low": pads_low, "pads_high": pads_high}
    _conv_demands(x, w, {**named, "dilations": dilations}, groups)
    margins = [(0, 0), (0, 0), *zip(pads_low, pads_high, strict=True)]
    kernel = w.shape[2:]
    seen = _windows(np.pad(x, margins), kernel, strides, dilations)
    batch, outputs, spatial = x.shape[0], w.shape[0], x.ndim - 2
    out = seen.shape[2 : 2 + spatial]
    columns = np.moveaxis(seen, range(2, 2 + spatial), range(-spatial, 0)).reshape(
        batch, groups, w.shape[1] * prod(kernel), prod(out)
    )
    weights = w.reshape(groups, outputs // groups, w.shape[1] * prod(kernel))
    y = np.matmul(weights, columns).reshape(batch, outputs, *out)
    return y if b is None else y + b.reshape(-1, *[1] * spatial)


@wide
def grouped_matmul(x: Array, w: Array, group_sizes: Array) -> Array:
    """Rows of x [M, K] in consecutive groups of group_sizes [G] rows, group g times
    w[g] of w [G, K, N]; the sizes add up to M.
    """
    sizes = [int(n) for n in group_sizes]
    if len(sizes) != w.shape[0] or min(sizes, default=0) < 0 or sum(sizes) != len(x):
        raise ValueError(
            f"grouped_matmul: group_sizes = {sizes}, wanted {w.shape[0]} counts"
            f" that add up to {len(x)} rows"
        )
    ends = np.cumsum(sizes, dtype=np.int64)
    out = np.zeros((x.shape[0], w.shape[2]), dtype=np.result_type(x, w))
    for group, (end, size) in enumerate(zip(ends, sizes, strict=True)):
        out[end - size : end] = product(x[end - size : end], w[group])
    return out
