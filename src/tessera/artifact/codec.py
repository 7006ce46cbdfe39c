"""A program as JSON data and back, read strictly: no field missing, none unknown."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

import numpy as np

from tessera.artifact.codes import AGAIN, BAD_WEIGHTS, MALFORMED
from tessera.artifact.program import Call, Native, Program, Step, Value
from tessera.decisions import JSON
from tessera.diagnostics import TesseraError
from tessera.reference.dtypes import DTYPES

SCHEMA = "tessera.program/1"
FLOAT = "float"  # {"float": "-inf"}: a float that JSON cannot hold
NESTING = 8


def parse_json(file: str, text: bytes) -> Any:
    """JSON data without repeated keys, NaN or infinities; TesseraError TSR-R005."""
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        _refuse(f"{file} is not JSON: {error}")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object repeats a key")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def tensor_keys(weights: Mapping[str, np.ndarray]) -> dict[str, str]:
    """The tensor that holds each weight; one array under two names is kept once."""
    keys: dict[int, str] = {}
    found: dict[str, str] = {}
    for name, array in weights.items():
        reserved = name == "__metadata__" or name.startswith("weight:")
        key = f"weight:{name}" if reserved else name
        found[name] = keys.setdefault(id(array), key)
    return found


def program_to_json(program: Program) -> dict[str, Any]:
    """Everything but the arrays themselves."""
    return {
        "schema": SCHEMA,
        "target": program.target,
        "inputs": [_value(value) for value in program.inputs],
        "outputs": [_value(value) for value in program.outputs],
        "defaults": dict(program.defaults),
        "weights": tensor_keys(program.weights),
        "steps": [_step(step) for step in program.steps],
    }


def program_text(program: Program) -> str:
    """The text of program.json, one line per value and step."""
    parts: list[str] = []
    for key, value in program_to_json(program).items():
        text = _dump(value)
        if isinstance(value, list) and value:
            lines = [_dump(item) for item in cast("list[Any]", value)]
            text = "[\n  " + ",\n  ".join(lines) + "\n]"
        parts.append(f"{_dump(key)}: {text}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _value(value: Value) -> dict[str, Any]:
    return {"name": value.name, "dtype": value.dtype, "shape": list(value.shape)}


def _step(step: Step) -> dict[str, Any]:
    data: dict[str, Any] = {
        "op": step.op,
        "inputs": list(step.inputs),
        "outputs": list(step.outputs),
        "attributes": {key: _encode(value) for key, value in step.attributes.items()},
    }
    if step.call is not None:
        data["call"] = _call(step.call)
    return data


def _call(call: Call) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kernel": call.kernel,
        "symbol": call.symbol,
        "source": call.source,
        "site": call.site,
        "expansion": [_step(inner) for inner in call.expansion],
    }
    if call.native is not None:
        data["native"] = _native(call.native)
    return data


def _native(native: Native) -> dict[str, Any]:
    return {
        "code": native.code,
        "operands": [list(array) for array in native.operands],
        "results": [list(array) for array in native.results],
    }


def _encode(value: object) -> Any:
    if isinstance(value, np.generic):
        value = cast("object", value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return {FLOAT: str(value)}
    if isinstance(value, (list, tuple)):
        return [_encode(item) for item in cast("Sequence[object]", value)]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"an attribute cannot be {type(value).__name__}")


def program_from_json(
    data: Any, tensors: Mapping[str, np.ndarray], code: Mapping[str, str]
) -> Program:
    """The program; TesseraError TSR-R005 or TSR-R007 when it is malformed."""
    names = ("schema", "target", "inputs", "outputs", "defaults", "weights", "steps")
    fields = _fields("program", data, names)
    weights = _strings("weights", fields["weights"])
    for name, key in weights.items():
        if key not in tensors:
            text = f"the program's weight '{name}' has no tensor '{key}'"
            raise TesseraError(BAD_WEIGHTS, text, remedy=AGAIN)
    return Program(
        target=_text("target", fields["target"]),
        inputs=tuple(map(_read_value, _list("inputs", fields["inputs"]))),
        outputs=tuple(map(_read_value, _list("outputs", fields["outputs"]))),
        defaults=_strings("defaults", fields["defaults"]),
        weights={name: tensors[key] for name, key in weights.items()},
        steps=tuple(map(_read_step, _list("steps", fields["steps"]))),
        code=code,
    )


def _read_value(data: Any) -> Value:
    fields = _fields("value", data, ("name", "dtype", "shape"))
    shape = _list("shape", fields["shape"])
    for size in shape:
        if size is not None and (type(size) is not int or size < 0):
            _refuse(f"size {size!r} is no integer ≥ 0 and not null")
    name, dtype = _text("name", fields["name"]), _text("dtype", fields["dtype"])
    return Value(name, dtype, tuple(shape))


def _read_step(data: Any) -> Step:
    names = ("op", "inputs", "outputs", "attributes")
    fields = _fields("step", data, names, optional=("call",))
    attributes = _object("attributes", fields["attributes"])
    return Step(
        op=_text("op", fields["op"]),
        inputs=_texts("inputs", fields["inputs"]),
        outputs=_texts("outputs", fields["outputs"]),
        attributes={key: _decode(value) for key, value in attributes.items()},
        call=_read_call(fields["call"]) if "call" in fields else None,
    )


def _read_call(data: Any) -> Call:
    names = ("kernel", "symbol", "source", "site")
    fields = _fields("call", data, (*names, "expansion"), optional=("native",))
    texts = [_text(name, fields[name]) for name in names]
    steps = _list("expansion", fields["expansion"])
    if any(isinstance(step, dict) and "call" in step for step in steps):
        _refuse("a fused call holds a fused call")
    native = _read_native(fields["native"]) if "native" in fields else None
    return Call(*texts, expansion=tuple(map(_read_step, steps)), native=native)


def _read_native(data: Any) -> Native:
    fields = _fields("native", data, ("code", "operands", "results"))
    return Native(
        code=_text("code", fields["code"]),
        operands=tuple(map(_read_array, _list("operands", fields["operands"]))),
        results=tuple(map(_read_array, _list("results", fields["results"]))),
    )


def _read_array(data: Any) -> tuple[str, int]:
    match _list("array", data):
        case [str() as dtype, int() as rank] if dtype in DTYPES and rank >= 0:
            return dtype, rank
        case _:
            _refuse(f"{data!r} is no element type and rank")


def _decode(value: Any, depth: int = 0) -> JSON:
    if depth > NESTING:
        _refuse("an attribute is nested too deeply")
    if isinstance(value, list):
        items = cast("list[Any]", value)
        return [_decode(item, depth + 1) for item in items]
    if isinstance(value, dict):
        text = _fields("float", value, (FLOAT,))[FLOAT]
        if text not in ("nan", "inf", "-inf"):
            _refuse(f"{text!r} is not the name of a float")
        return float(text)
    return value


def _fields(
    what: str, data: Any, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    found = _object(what, data)
    for name in required:
        if name not in found:
            _refuse(f"a {what} has no '{name}'")
    for name in found:
        if name not in required and name not in optional:
            _refuse(f"a {what} has an unknown field '{name}'")
    return found


def _object(what: str, data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        _refuse(f"{what} is {type(data).__name__}, wanted an object")
    return cast("dict[str, Any]", data)


def _list(what: str, data: Any) -> list[Any]:
    if not isinstance(data, list):
        _refuse(f"{what} is {type(data).__name__}, wanted a list")
    return cast("list[Any]", data)


def _text(what: str, data: Any) -> str:
    if not isinstance(data, str):
        _refuse(f"{what} is {type(data).__name__}, wanted text")
    return data


def _texts(what: str, data: Any) -> tuple[str, ...]:
    return tuple(_text(what, item) for item in _list(what, data))


def _strings(what: str, data: Any) -> dict[str, str]:
    return {key: _text(what, item) for key, item in _object(what, data).items()}


def _refuse(text: str) -> NoReturn:
    raise TesseraError(MALFORMED, f"the artifact is malformed: {text}", remedy=AGAIN)
