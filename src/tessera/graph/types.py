"""Tensor types: MLIR element types by name, shapes with dynamic sizes, NumPy dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerType,
    Signedness,
    TensorType,
    bf16,
    f16,
    f32,
    f64,
)
from xdsl.ir import Attribute, SSAValue

from tessera.reference.dtypes import DTYPES, dtype_name

Shape = tuple[int, ...]
Tensor = TensorType[Attribute]
DYN = DYNAMIC_INDEX

ELEMENTS: dict[str, Attribute] = {
    "f64": f64,
    "f32": f32,
    "f16": f16,
    "bf16": bf16,
    **{f"i{w}": IntegerType(w) for w in (1, 8, 16, 32, 64)},
    **{f"ui{w}": IntegerType(w, Signedness.UNSIGNED) for w in (8, 16, 32, 64)},
}
NAMES: dict[Attribute, str] = {element: name for name, element in ELEMENTS.items()}
FLOATS = frozenset({"f64", "f32", "f16", "bf16"})


@cache
def tensor(dtype: str, shape: Shape) -> Tensor:
    """The interned tensor type of an element name and a shape (DYN for unknown)."""
    return TensorType(ELEMENTS[dtype], list(shape))


def dtype_of(type: Attribute) -> str:
    """The element name of a tensor type; KeyError when it is not one of ours."""
    assert isinstance(type, TensorType)
    return NAMES[type.element_type]  # pyright: ignore[reportUnknownMemberType]


def shape_of(type: Attribute) -> Shape:
    """The sizes of a tensor type, DYN where unknown."""
    assert isinstance(type, TensorType)
    return tuple([size.data for size in type.shape.data])


def value_shape(value: SSAValue) -> Shape:
    """The sizes of a value's tensor type."""
    return shape_of(value.type)


def value_dtype(value: SSAValue) -> str:
    """The element name of a value's tensor type."""
    return dtype_of(value.type)


def is_static(shape: Sequence[int]) -> bool:
    """Whether every size is known."""
    return DYN not in shape


def numpy_dtype(name: str) -> np.dtype[np.generic]:
    """The NumPy dtype of an element name."""
    return DTYPES[name]


def type_of_array(array: np.ndarray) -> Tensor:
    """The tensor type of a NumPy array."""
    return tensor(dtype_name(array.dtype), array.shape)


def same_size(a: int, b: int) -> bool:
    """Whether two sizes can be equal (unknown agrees with anything)."""
    return a == b or DYN in (a, b)


def compatible(found: Shape, wanted: Shape) -> bool:
    """Whether two shapes can be equal."""
    return len(found) == len(wanted) and all(map(same_size, found, wanted))


def broadcast_sizes(a: int, b: int) -> int | None:
    """NumPy's rule for one axis; None when the sizes clash."""
    if a == b or b == 1:
        return a
    if a == 1:
        return b
    if a == DYN:
        return b
    return a if b == DYN else None


def broadcast_shapes(a: Shape, b: Shape) -> Shape | None:
    """NumPy's broadcast of two shapes; None when they clash."""
    rank = max(len(a), len(b))
    a = (1,) * (rank - len(a)) + a
    b = (1,) * (rank - len(b)) + b
    sizes = [broadcast_sizes(x, y) for x, y in zip(a, b, strict=True)]
    if None in sizes:
        return None
    return tuple(s for s in sizes if s is not None)


def show(shape: Sequence[int]) -> str:
    """A shape as people write it: 3x?x8."""
    return "x".join("?" if s == DYN else str(s) for s in shape) or "scalar"
