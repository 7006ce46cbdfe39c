"""Weights on disk: the safetensors format, written in a stream and read by mapping.

The format: 8 bytes little-endian header length, a JSON header that gives each tensor
its dtype, shape and byte range, then the bytes of all tensors without gaps.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

import numpy as np

from tessera.artifact.codes import AGAIN, BAD_WEIGHTS
from tessera.diagnostics import TesseraError
from tessera.reference.dtypes import DTYPES, dtype_name

TAGS: Mapping[str, str] = {
    "f64": "F64",
    "f32": "F32",
    "f16": "F16",
    "bf16": "BF16",
    "i1": "BOOL",
    "i8": "I8",
    "i16": "I16",
    "i32": "I32",
    "i64": "I64",
    "ui8": "U8",
    "ui16": "U16",
    "ui32": "U32",
    "ui64": "U64",
}
NAMES = {tag: name for name, tag in TAGS.items()}

ALIGNMENT = 64
HEADER_LIMIT = 100_000_000


def write_tensors(path: Path, tensors: Mapping[str, np.ndarray]) -> None:
    """Write arrays by key, widest element first so that every tensor is aligned."""
    order = sorted(tensors, key=lambda key: (-tensors[key].dtype.itemsize, key))
    header: dict[str, Any] = {}
    start = 0
    for key in order:
        array = tensors[key]
        stop = start + array.nbytes
        header[key] = {
            "dtype": TAGS[dtype_name(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [start, stop],
        }
        start = stop
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % ALIGNMENT)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little"))
        file.write(text)
        for key in order:
            file.write(_bytes(tensors[key]).data)


def _bytes(array: np.ndarray) -> np.ndarray:
    """The array's bytes in row order, little-endian; a view where possible."""
    dense = np.ascontiguousarray(
        array.astype(array.dtype.newbyteorder("<"), copy=False)
    )
    return dense.reshape(-1).view(np.uint8)


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """All tensors as read-only views of the mapped file: nothing is copied.

    Raises TesseraError TSR-R007 when the file is not well formed.
    """
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < 8:
            _refuse(f"it has {size} bytes, wanted at least 8")
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    length = int.from_bytes(mapped[:8], "little")
    if length > min(HEADER_LIMIT, size - 8):
        _refuse(f"its header claims {length} bytes, the file has {size - 8}")
    entries = _header(mapped[8 : 8 + length])
    data = np.frombuffer(mapped, np.uint8)[8 + length :]
    return {key: _tensor(key, entry, data) for key, entry in entries.items()}


def _header(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse(f"its header is not JSON: {error}")
    if not isinstance(header, dict):
        _refuse("its header is not an object")
    entries = cast("dict[str, Any]", header)
    return {key: entry for key, entry in entries.items() if key != "__metadata__"}


def _tensor(key: str, entry: Any, data: np.ndarray) -> np.ndarray:
    fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    name = NAMES.get(str(fields.get("dtype")))
    if name is None:
        _refuse(f"tensor '{key}' has no dtype of the vocabulary")
    shape = _sizes(key, fields.get("shape"))
    offsets = _sizes(key, fields.get("data_offsets"))
    count = 1
    for size in shape:
        count *= size
    dtype = DTYPES[name]
    if len(offsets) != 2 or offsets[1] - offsets[0] != count * dtype.itemsize:
        wanted = count * dtype.itemsize
        _refuse(f"tensor '{key}' has byte range {offsets}, wanted {wanted} bytes")
    if offsets[1] > data.size:
        _refuse(f"tensor '{key}' ends at byte {offsets[1]}, the data has {data.size}")
    return data[offsets[0] : offsets[1]].view(dtype).reshape(shape)


def _sizes(key: str, value: Any) -> list[int]:
    if not isinstance(value, list):
        _refuse(f"tensor '{key}' has no list of sizes")
    for size in cast("list[Any]", value):
        if type(size) is not int or size < 0:
            _refuse(f"tensor '{key}' has size {size!r}, wanted an integer ≥ 0")
    return cast("list[int]", value)


def _refuse(text: str) -> NoReturn:
    raise TesseraError(BAD_WEIGHTS, f"weights.safetensors: {text}", remedy=AGAIN)
