"""Kernels called straight, between guard pages: a byte out of bounds ends the test."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping
from typing import Any

import numpy as np

from tessera.artifact import Native, Value, code_name
from tessera.codegen.cpu.host import Host, find_host
from tessera.fusion.kernel import FusedKernel, Spec
from tessera.graph.algebra import NumpyAlgebra
from tessera.reference.dtypes import DTYPES, dtype_name
from tessera.runtime.native import Launcher, host_features

PAGE = mmap.PAGESIZE
_LIBC = ctypes.CDLL(None, use_errno=True)
_HELD: list[mmap.mmap] = []
ERRORS = {"f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}


def guarded(shape: Any, dtype: Any, at_start: bool = False) -> np.ndarray:
    """An array that ends (or starts) where a page begins that may not be touched."""
    dtype = np.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    size = int(np.prod(shape, dtype=int)) * dtype.itemsize
    pages = -(-size // PAGE)
    memory = mmap.mmap(-1, (pages + 2) * PAGE)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for place in (base, base + (pages + 1) * PAGE):
        assert _LIBC.mprotect(ctypes.c_void_p(place), PAGE, 0) == 0
    _HELD.append(memory)
    offset = PAGE if at_start else (pages + 1) * PAGE - size
    return np.ndarray(shape, dtype, memory, offset)


def release() -> None:
    """Give up the guarded arrays; none may be read after that."""
    for memory in _HELD:
        base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        _LIBC.mprotect(ctypes.c_void_p(base), len(memory), 3)
    _HELD.clear()


def guard(array: np.ndarray, at_start: bool = False) -> np.ndarray:
    """A copy between guard pages, with the strides' order and signs kept."""
    order = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
    turned = array.transpose(order)
    made = guarded(turned.shape, array.dtype, at_start)
    made[...] = turned
    return made.transpose(np.argsort(order)) if order else made


def here() -> Host:
    found = find_host(host_features())
    assert found is not None
    return found


def native(
    kernel: FusedKernel,
    arrays: Mapping[str, np.ndarray],
    options: Mapping[str, Any],
    rank: int,
    host: Host | None = None,
    fixed: bool = False,
) -> Launcher:
    """The kernel's machine code for these arrays' signature; `fixed`: with their sizes."""
    dtype = dtype_name(next(iter(arrays.values())).dtype)
    values = {
        name: Value(name, dtype_name(a.dtype), a.shape if fixed else (None,) * a.ndim)
        for name, a in arrays.items()
        if name != "scale"
    }
    if "scale" in arrays:
        values["scale"] = Value("scale", dtype, arrays["scale"].shape)
    values["out"] = Value("out", dtype, (None,) * rank)
    text = text_of(kernel, values, options, host or here())
    kinds = [(value.dtype, len(value.shape)) for value in values.values()]
    made = Native(code_name(text), tuple(kinds[:-1]), tuple(kinds[-1:]))
    return Launcher(made, text, guarded)


def text_of(
    kernel: FusedKernel,
    values: Mapping[str, Value],
    options: Mapping[str, Any],
    host: Host,
) -> str:
    """The kernel in LLVM's language."""
    assert kernel.cpu is not None
    text = kernel.cpu(Spec(values, {**kernel.defaults(), **options}), host)
    assert text is not None
    return text


def meaning(
    kernel: FusedKernel, arrays: Mapping[str, np.ndarray], options: Mapping[str, Any]
) -> np.ndarray:
    """The kernel's meaning in f64 on the same (rounded) inputs."""
    wide = {
        name: a if a.dtype == bool else a.astype("f8") for name, a in arrays.items()
    }
    with np.errstate(all="ignore"):
        return kernel.meaning(NumpyAlgebra(), wide, {**kernel.defaults(), **options})[0]


def random(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, layout: str = "plain"
) -> np.ndarray:
    """Normal values; `layout` plain, swapped (last two axes), spaced, or reversed."""
    if layout == "swapped" and len(shape) > 1:
        turned = (*shape[:-2], shape[-1], shape[-2])
        return np.swapaxes(rng.standard_normal(turned).astype(DTYPES[dtype]), -1, -2)
    if layout == "spaced" and shape:
        wide = (*shape[:-1], shape[-1] * 3)
        return rng.standard_normal(wide).astype(DTYPES[dtype])[..., 1::3]
    found = rng.standard_normal(shape).astype(DTYPES[dtype])
    return found[..., ::-1] if layout == "reversed" and shape else found


def near(found: np.ndarray, wanted: np.ndarray, dtype: str) -> None:
    """Equal within the dtype's rounding, relative to the largest value."""
    assert found.shape == wanted.shape
    with np.errstate(all="ignore"):
        finite = np.abs(wanted[np.isfinite(wanted)])
    scale = max(1.0, float(finite.max(initial=0.0)))
    np.testing.assert_allclose(
        found.astype("f8"), wanted, atol=ERRORS[dtype] * scale, rtol=ERRORS[dtype]
    )
