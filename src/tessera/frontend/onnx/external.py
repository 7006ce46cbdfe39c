"""External tensor data: confined to the model's folder, sizes checked, memory-mapped."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from tessera.diagnostics import TesseraError, declare
from tessera.reference.dtypes import DTYPES

OUTSIDE = declare(
    "TSR-I007",
    "external data lies outside the model's folder",
    "A model may name data files only in its own folder or below it: no absolute path, no "
    "`..`, no link that leads out. Such a file is never opened. Move the data beside the "
    "model and save it again with a plain relative location.",
    "error",
)
BAD_EXTENT = declare(
    "TSR-I008",
    "external data does not hold the tensor",
    "The data file is missing or shorter than offset plus length, or offset and length are "
    "not decimal numbers that fit the tensor's dims. Nothing is allocated before that is "
    "known. The data file belongs to another version of the model, or is cut off.",
    "error",
)


def map_external(
    name: str,
    fields: Sequence[tuple[str, str]],
    folder: Path | None,
    dtype: str,
    dims: tuple[int, ...],
) -> np.ndarray:
    """The memory-mapped array that external-data fields describe.

    Only `location`, `offset` and `length` are read; other keys mean nothing here.
    """
    known = dict(fields)
    if "location" not in known:
        raise TesseraError(BAD_EXTENT, f"{name} names no location of its data")
    path = _confined(name, known["location"], folder)
    element = DTYPES[dtype]
    needed = prod(dims) * element.itemsize
    offset = _number(name, "offset", known.get("offset", "0"))
    length = _number(name, "length", known.get("length", str(needed)))
    if length != needed:
        text = f"{name} says length {length}, its dims {list(dims)} need {needed} bytes"
        raise TesseraError(BAD_EXTENT, text)
    try:
        held = path.stat().st_size if path.is_file() else None
        if held is None or offset + length > held:
            found = "no such file" if held is None else f"{held} bytes"
            text = f"{name} needs bytes {offset} to {offset + length} of '{path.name}'"
            raise TesseraError(BAD_EXTENT, f"{text}, found {found}")
        if needed == 0:
            return np.empty(dims, element)
        mapped = np.memmap(path, element.newbyteorder("<"), "r", offset, dims)
    except OSError as bad:
        text = f"{name}: '{path.name}' cannot be read: {bad.strerror or bad}"
        raise TesseraError(BAD_EXTENT, text) from None
    array = np.asarray(mapped)
    return array.view(np.uint8) != 0 if dtype == "i1" else array


def _confined(name: str, location: str, folder: Path | None) -> Path:
    """The real path of a location, if it stays in the folder."""
    if folder is None:
        text = f"{name} keeps its data in '{location}', and the model has no folder"
        raise TesseraError(OUTSIDE, text, remedy="import the model from its file")
    parts = PureWindowsPath(location)  # splits at both kinds of slash
    rooted = bool(parts.drive or parts.root) or PurePosixPath(location).is_absolute()
    if not location or "\0" in location or rooted or ".." in parts.parts:
        text = f"{name} keeps its data in '{location}', wanted a path below the model's"
        raise TesseraError(OUTSIDE, text + " folder")
    try:
        home, path = folder.resolve(), (folder / location).resolve()
    except (OSError, RuntimeError, ValueError) as bad:
        text = f"{name}: '{location}' cannot be resolved: {bad}"
        raise TesseraError(OUTSIDE, text) from None
    if not path.is_relative_to(home):
        text = f"{name}: '{location}' is a link that leads out of the model's folder"
        raise TesseraError(OUTSIDE, text)
    return path


def _number(name: str, key: str, text: str) -> int:
    """A decimal number of at most 19 digits, as the format wants it."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise TesseraError(
            BAD_EXTENT, f"{name} has {key} {text!r}, wanted a number of bytes"
        )
    return int(text)
