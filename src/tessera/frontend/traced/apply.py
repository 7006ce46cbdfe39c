"""Asking for one op: recorded while tracing, computed at once in eager use."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import LocationAttr
from xdsl.utils.exceptions import VerifyException

from tessera.diagnostics import TesseraError
from tessera.frontend.traced.codes import OPTION
from tessera.frontend.traced.operands import Known, Weak, known, settle, strong_alone
from tessera.frontend.traced.places import here, place_of
from tessera.frontend.traced.recording import Recording, active
from tessera.frontend.traced.symbol import Symbol
from tessera.graph.attributes import Bool, Causal, Float, Int, Ints, Kind, Word
from tessera.graph.builder import MALFORMED
from tessera.graph.dialect import OPS
from tessera.graph.locations import read_location
from tessera.graph.operation import GraphOp
from tessera.graph.types import Shape, Tensor, dtype_of, tensor, type_of_array
from tessera.reference.dtypes import DTYPES, dtype_name


def apply(name: str, *values: Any, **options: Any) -> Any:
    """The value of `tessera.<name>`; a tuple when the op gives several.

    Trailing operands and options that are None are absent. Raises TesseraError at the
    user's line.
    """
    return _apply(name, values, options, None)


def apply_to_type(
    name: str, dtype: str, shape: Shape, *values: Any, **options: Any
) -> Any:
    """As `apply`, for an op whose result type is free: its element type and shape."""
    return _apply(name, values, options, tensor(dtype, shape))


def _apply(
    name: str, values: tuple[Any, ...], options: dict[str, Any], declared: Tensor | None
) -> Any:
    kind = OPS[name]
    while values and values[-1] is None:
        values = values[:-1]
    operands = settle(kind, values)
    chosen = {
        key: _option(kind, key, value)
        for key, value in options.items()
        if value is not None
    }
    place = place_of(name)
    into = _recording(operands)
    if into is not None:
        made: Sequence[Any] = into.record(name, operands, declared, place, chosen)
    else:
        arrays = cast("list[np.ndarray]", operands)
        made = _evaluate(kind, arrays, declared, place, chosen)
    return made[0] if len(kind.outs) == 1 else tuple(made)


def _recording(operands: Sequence[Known]) -> Recording | None:
    for operand in operands:
        if isinstance(operand, Symbol):
            return operand.recording
    return active()


def _evaluate(
    kind: type[GraphOp],
    arrays: Sequence[np.ndarray],
    declared: Tensor | None,
    place: LocationAttr,
    options: dict[str, Any],
) -> Sequence[np.ndarray]:
    """What the op means, after the checks its graph form would meet."""
    try:
        filled = kind.fill(options)
        types = [type_of_array(array) for array in arrays]
        inferred = kind.infer(types, filled, () if declared is None else (declared,))
        if "shape" in kind.typed:
            filled["shape"] = inferred[0].get_shape()
        if "dtype" in kind.typed:
            filled["dtype"] = dtype_of(inferred[0])
        made = kind.meaning()(*arrays, **filled)
    except (VerifyException, ValueError, IndexError) as bad:
        text = f"'{kind.name}' op {bad}"
        raise TesseraError(MALFORMED, text, read_location(place)) from None
    return cast("tuple[np.ndarray, ...]", made if isinstance(made, tuple) else (made,))


def _option(kind: type[GraphOp], key: str, value: Any) -> Any:
    """A plain Python value of the option's kind; TesseraError when it is another."""
    declared = kind.attrs[key]
    try:
        read = _read_option(declared, value)
    except (TypeError, ValueError):
        read = None
    if read is None:
        text = (
            f"option '{key}' of '{kind.name}' is {value!r}, wanted {_wanted(declared)}"
        )
        raise TesseraError(OPTION, text, here())
    return read


def _read_option(kind: Kind, value: Any) -> Any:
    match kind:
        case Bool():
            return bool(value) if _is_flag(value) else None
        case Int():
            return operator.index(value)
        case Float():
            return float(value)
        case Ints():
            return tuple(operator.index(item) for item in value)
        case Word() | Causal():
            if isinstance(kind, Causal) and _is_flag(value):
                return "top_left" if value else "none"
            return value if value in kind.words else None
        case _:
            return value


def _is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))


def _wanted(kind: Kind) -> str:
    if isinstance(kind, Word):
        return "one of " + ", ".join(f'"{word}"' for word in kind.words)
    return kind.wanted


def element_named(dtype: Any) -> str:
    """The element type a user means: `"f32"`, `numpy.float32`, `"float32"`, a dtype."""
    if isinstance(dtype, str) and dtype in DTYPES:
        return dtype
    try:
        return dtype_name(np.dtype(dtype))
    except (TypeError, ValueError):
        text = f"{dtype!r} is no element type, wanted one of {', '.join(DTYPES)}"
        raise TesseraError(OPTION, text, here()) from None


def as_known(value: Any, what: str = "operand") -> Known:
    """An operand by itself: a number becomes a rank-0 array of f32, i64 or i1."""
    found = known(value, what)
    return strong_alone(found) if isinstance(found, Weak) else found


def shape_of(value: Any) -> Shape:
    """The sizes of an operand."""
    return tuple(as_known(value).shape)


def element_of(value: Any) -> str:
    """The element type's name of an operand."""
    found = as_known(value)
    return found.element if isinstance(found, Symbol) else dtype_name(found.dtype)
