"""The element types of the project by name, and their NumPy spelling."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: Mapping[str, np.dtype[Any]] = MappingProxyType(
    {
        "f64": np.dtype(np.float64),
        "f32": np.dtype(np.float32),
        "f16": np.dtype(np.float16),
        "bf16": np.dtype(ml_dtypes.bfloat16),
        "i1": np.dtype(np.bool_),
        "i8": np.dtype(np.int8),
        "i16": np.dtype(np.int16),
        "i32": np.dtype(np.int32),
        "i64": np.dtype(np.int64),
        "ui8": np.dtype(np.uint8),
        "ui16": np.dtype(np.uint16),
        "ui32": np.dtype(np.uint32),
        "ui64": np.dtype(np.uint64),
    }
)

FLOATS: tuple[str, ...] = ("f64", "f32", "f16", "bf16")
NARROW_FLOATS: tuple[str, ...] = ("f16", "bf16")

_NAMES: Mapping[np.dtype[Any], str] = {dtype: name for name, dtype in DTYPES.items()}


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype called `name`; ValueError for a name outside the vocabulary."""
    if name not in DTYPES:
        raise ValueError(f"dtype {name!r}: wanted one of {', '.join(DTYPES)}")
    return DTYPES[name]


def dtype_name(dtype: np.dtype[Any]) -> str:
    """The name of a NumPy dtype; ValueError when the vocabulary has none for it."""
    name = _NAMES.get(np.dtype(dtype).newbyteorder("="))
    if name is None:
        raise ValueError(f"numpy dtype {dtype}: wanted one of {', '.join(DTYPES)}")
    return name


def itemsize(name: str) -> int:
    """Bytes one element takes in memory (an i1 takes a whole byte)."""
    return dtype_of(name).itemsize


def is_float(dtype: np.dtype[Any]) -> bool:
    """True for the four float types, bf16 included (NumPy's own kind is void)."""
    return _NAMES.get(dtype) in FLOATS


def is_narrow(dtype: np.dtype[Any]) -> bool:
    """True for f16 and bf16, whose arithmetic runs in f32."""
    return _NAMES.get(dtype) in NARROW_FLOATS
