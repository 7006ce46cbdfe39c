"""From the caller's arrays to the program's inputs: checked, never rounded."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from tessera.artifact import Program, Value
from tessera.diagnostics import TesseraError
from tessera.reference import Array, dtype_name, dtype_of
from tessera.runtime.codes import INPUT_NAMES, INPUT_SHAPE, INPUT_TYPE


def bind(program: Program, given: Mapping[str, Any]) -> dict[str, Array]:
    """An array for each input: what the caller gave, or the input's default.

    The element type must match; integers of another width are converted when every
    value fits.  Raises TesseraError TSR-R030 (names), TSR-R031 (element type) or
    TSR-R032 (shape), naming the input, what was found and what was wanted.
    """
    _check_names(program, given)
    bound: dict[str, Array] = {}
    for value in program.inputs:
        if value.name in given:
            bound[value.name] = _bind(value, given[value.name])
        else:
            bound[value.name] = program.weights[program.defaults[value.name]]
    return bound


def _check_names(program: Program, given: Mapping[str, Any]) -> None:
    names = [value.name for value in program.inputs]
    for name in given:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"did you mean '{near[0]}'" if near else _listing(program)
            raise TesseraError(INPUT_NAMES, f"no input '{name}'", remedy=hint)
    missing = [n for n in names if n not in given and n not in program.defaults]
    if missing:
        plural = "inputs" if len(missing) > 1 else "input"
        text = f"{plural} {_quoted(missing)} not given"
        raise TesseraError(INPUT_NAMES, text, remedy=_listing(program))


def _listing(program: Program) -> str:
    inputs = ", ".join(f"{v.name}: {v}" for v in program.inputs) or "none"
    return f"the model's inputs are {inputs}"


def _quoted(names: list[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _bind(value: Value, given: Any) -> Array:
    array = _convert(value, np.asarray(given))
    sizes = zip(array.shape, value.shape, strict=False)
    if len(array.shape) != len(value.shape) or any(
        wanted is not None and found != wanted for found, wanted in sizes
    ):
        found = Value(value.name, value.dtype, array.shape)
        raise TesseraError(
            INPUT_SHAPE,
            f"input '{value.name}': found {found}, wanted {value}",
            remedy="reshape or pad the array, or export the model with free sizes",
        )
    return array


def _convert(value: Value, array: Array) -> Array:
    wanted = dtype_of(value.dtype)
    if array.dtype == wanted:
        return array.astype(wanted, copy=False)
    if array.dtype.newbyteorder("=") == wanted:
        return array.astype(wanted)
    if array.dtype.kind not in "iu" or wanted.kind not in "iu":
        remedy = f"convert the array to {wanted}"
        if wanted.kind == "b":
            remedy = "give booleans, for example `mask != 0`"
        _refuse_type(value, _name(array), remedy)
    limits = np.iinfo(wanted)
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    if low < limits.min or high > limits.max:
        found = f"{_name(array)} with values from {low} to {high}"
        remedy = f"{value.dtype} holds {limits.min} to {limits.max}"
        _refuse_type(value, found, remedy)
    return array.astype(wanted)


def _refuse_type(value: Value, found: str, remedy: str) -> None:
    text = f"input '{value.name}': found {found}, wanted {value.dtype}"
    raise TesseraError(INPUT_TYPE, text, remedy=remedy)


def _name(array: Array) -> str:
    try:
        return dtype_name(array.dtype)
    except ValueError:
        return str(array.dtype)
