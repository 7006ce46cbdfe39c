"""Arrays in and out of the command line: .npz files, and seeded random inputs."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tessera.artifact import Program, Step, Value, replacing
from tessera.cli.codes import BAD_ARRAYS
from tessera.diagnostics import TesseraError
from tessera.reference import Array, dtype_of, is_float

BF16_BYTES = np.dtype("V2")  # how .npy files spell bf16, which NumPy has no name for

FREE_FIRST, FREE_OTHER = 2, 8  # the size of a free first axis, and of any other
INTEGERS = 8

# Ops that hand indices on, so that the size they index limits the input they come from.
CARRIERS = frozenset(
    {"cast", "reshape", "broadcast", "transpose", "slice", "concat", "select"}
)


def read_arrays(path: Path, program: Program) -> dict[str, Array]:
    """The arrays of an .npz file by input name; results kept beside them are skipped.

    Raises TesseraError TSR-R062 when the file is not such a file.
    """
    try:
        data = np.load(path, allow_pickle=False)
        if not isinstance(data, np.lib.npyio.NpzFile):
            raise ValueError("it is a single array, wanted an .npz file")
        with data:
            arrays: dict[str, Array] = {name: data[name] for name in data.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise TesseraError(
            BAD_ARRAYS,
            f"cannot read arrays from '{path}': {reason}",
            remedy="write it with numpy.savez, one array per input name",
        ) from None
    inputs = {value.name: value for value in program.inputs}
    outputs = {value.name for value in program.outputs} - set(inputs)
    return {
        name: _as_bf16(array, inputs.get(name))
        for name, array in arrays.items()
        if name not in outputs
    }


def _as_bf16(array: Array, value: Value | None) -> Array:
    if value is not None and value.dtype == "bf16" and array.dtype == BF16_BYTES:
        return array.view(dtype_of("bf16"))
    return array


def write_arrays(path: Path, arrays: Mapping[str, Array]) -> None:
    """Write an .npz file whole or not at all; TesseraError TSR-R009 if refused."""
    with replacing(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)


def random_inputs(program: Program, seed: int) -> dict[str, Array]:
    """An array for each input without a default, the same for the same seed and name.

    Floats are normal, booleans fair coins; integers are below 8, below the size of a
    table they look up in, or 0 and 1 when the name speaks of a mask (the first of each
    row is 1, so that no row is masked out whole).  A free first axis has size 2, any
    other free axis size 8.
    """
    limits = index_limits(program)
    return {
        value.name: _random(value, seed, limits.get(value.name, INTEGERS))
        for value in program.inputs
        if value.name not in program.defaults
    }


def _random(value: Value, seed: int, limit: int) -> Array:
    draw = np.random.default_rng([seed, zlib.crc32(value.name.encode())])
    free = (FREE_FIRST if axis == 0 else FREE_OTHER for axis in range(len(value.shape)))
    shape = [f if s is None else s for s, f in zip(value.shape, free, strict=True)]
    dtype = dtype_of(value.dtype)
    if is_float(dtype):
        return draw.standard_normal(shape).astype(dtype)
    if "mask" not in value.name.lower():
        high = 2 if value.dtype == "i1" else max(1, min(limit, INTEGERS))
        return draw.integers(0, high, shape).astype(dtype)
    mask = draw.integers(0, 2, shape)
    mask[..., :1] = 1
    return mask.astype(dtype)


def index_limits(program: Program) -> dict[str, int]:
    """The size of the smallest table that each input is an index into."""
    origin: dict[str, set[str]] = {value.name: {value.name} for value in program.inputs}
    limits: dict[str, int] = {}
    for step in _primitive(program.steps):
        if step.op == "gather" and step.inputs[0] in program.weights:
            axis: Any = step.attributes.get("axis", 0)
            size = program.weights[step.inputs[0]].shape[axis]
            for name in origin.get(step.inputs[1], ()):
                limits[name] = min(size, limits.get(name, size))
        if step.op in CARRIERS:
            sources = [origin.get(name, set[str]()) for name in step.inputs]
            for name in step.outputs:
                origin[name] = set[str]().union(*sources)
    return limits


def _primitive(steps: Iterable[Step]) -> Iterable[Step]:
    for step in steps:
        yield from step.call.expansion if step.call is not None else (step,)
