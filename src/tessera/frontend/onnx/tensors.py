"""Tensor messages to arrays: every size checked before anything is allocated.

Bytes in the file become a view, external data a memory map: no weight is copied.
"""

from __future__ import annotations

from functools import cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from tessera.diagnostics import TesseraError, declare
from tessera.frontend.onnx.external import map_external
from tessera.frontend.onnx.model import Load
from tessera.reference.dtypes import DTYPES

BAD_TENSOR = declare(
    "TSR-I005",
    "a tensor's data does not fill its shape",
    "A stored tensor needs exactly as many elements as its dims say, none of them "
    "negative. The file is damaged or was written by a broken exporter.",
    "error",
)
ELEMENT_TYPE = declare(
    "TSR-I006",
    "an element type that the graph does not know",
    "Tensors hold f16, bf16, f32, f64, bool, or integers of 8 to 64 bits. Strings, complex "
    "numbers and 8-bit or narrower floats are not among them; cast before exporting.",
)

# TensorProto.DataType, by number
ELEMENTS: dict[int, str] = {
    1: "f32",
    2: "ui8",
    3: "i8",
    4: "ui16",
    5: "i16",
    6: "i32",
    7: "i64",
    9: "i1",
    10: "f16",
    11: "f64",
    12: "ui32",
    13: "ui64",
    16: "bf16",
}
# The field that holds an element type's values one by one, and the type of that field
_FIELDS: dict[str, tuple[str, type[np.generic]]] = {
    "f32": ("float_data", np.float32),
    "f64": ("double_data", np.float64),
    "i64": ("int64_data", np.int64),
    "ui32": ("uint64_data", np.uint64),
    "ui64": ("uint64_data", np.uint64),
}
EXTERNAL = 1  # TensorProto.DataLocation


def text(value: str | bytes) -> str:
    """A string field, which protobuf gives as bytes when it is not UTF-8."""
    if isinstance(value, str):
        return value
    return value.decode("utf-8", "backslashreplace")


class Tensors:
    """Reads the tensors of one file; `folder` is where its external data may lie."""

    def __init__(self, file: str, folder: Path | None) -> None:
        self.file = file
        self.folder = folder

    def lazy(self, proto: Any) -> Load:
        """The tensor, read once, when it is first asked for."""
        return cache(lambda: self.read(proto))

    def read(self, proto: Any) -> np.ndarray:
        """The array of a TensorProto; TesseraError when its fields disagree."""
        if proto.data_type not in ELEMENTS:
            found = f"has element type number {proto.data_type}"
            raise TesseraError(ELEMENT_TYPE, f"{self._name(proto)} {found}")
        dtype = ELEMENTS[proto.data_type]
        dims = tuple(int(d) for d in proto.dims)
        if min(dims, default=0) < 0:
            raise TesseraError(BAD_TENSOR, f"{self._name(proto)} has dims {list(dims)}")
        if proto.data_location == EXTERNAL:
            fields = [(text(e.key), text(e.value)) for e in proto.external_data]
            return map_external(self._name(proto), fields, self.folder, dtype, dims)
        if proto.HasField("raw_data"):
            return self._view(proto, dtype, dims)
        return self._listed(proto, dtype, dims)

    def _view(self, proto: Any, dtype: str, dims: tuple[int, ...]) -> np.ndarray:
        raw: bytes = proto.raw_data
        element = DTYPES[dtype]
        self._count(proto, len(raw), prod(dims) * element.itemsize, "bytes")
        if dtype == "i1":
            return (np.frombuffer(raw, np.uint8) != 0).reshape(dims)
        return np.frombuffer(raw, element.newbyteorder("<")).reshape(dims)

    def _listed(self, proto: Any, dtype: str, dims: tuple[int, ...]) -> np.ndarray:
        field, held = _FIELDS.get(dtype, ("int32_data", np.int32))
        values = np.array(getattr(proto, field), held)
        self._count(proto, values.size, prod(dims), f"elements in {field}")
        if dtype in ("f16", "bf16"):  # the bits of each, as an integer
            return values.astype(np.uint16).view(DTYPES[dtype]).reshape(dims)
        return values.astype(DTYPES[dtype]).reshape(dims)

    def _count(self, proto: Any, held: int, wanted: int, what: str) -> None:
        if held != wanted:
            dims = list(proto.dims)
            found = f"has {held} {what}, wanted {wanted} for dims {dims}"
            raise TesseraError(BAD_TENSOR, f"{self._name(proto)} {found}")

    def _name(self, proto: Any) -> str:
        return f"'{self.file}': tensor '{text(proto.name)}'"
