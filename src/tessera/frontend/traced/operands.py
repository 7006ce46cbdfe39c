"""Operands as users write them (arrays, numbers), and their element types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from tessera.diagnostics import TesseraError
from tessera.frontend.traced.codes import MIXED, OPERAND
from tessera.frontend.traced.places import here
from tessera.frontend.traced.symbol import Symbol
from tessera.graph.operation import GraphOp
from tessera.graph.types import FLOATS, numpy_dtype, show
from tessera.reference.dtypes import dtype_name

Known = Symbol | np.ndarray
Number = bool | int | float

# What these operands hold does not follow the element type of the others.
FIXED = {
    "indices": "i64",
    "group_sizes": "i64",
    "shape": "i64",
    "cond": "i1",
    "keep": "i1",
}
FREE = frozenset({*FIXED, "mask", "gates", "scores", "cos", "sin"})
# Weights of a norm may be of another float type than x.
NORMS = frozenset({"layernorm", "rmsnorm"})
WIDENING = frozenset(
    "add sub mul div pow max min mod cmp select concat scatter scatter_nd".split()
)


@dataclass(frozen=True)
class Weak:
    """A number that takes the element type of the array it meets."""

    value: Number


def known(value: Any, what: str) -> Known | Weak:
    """An operand, classified; TesseraError when ops cannot work on it."""
    if isinstance(value, Symbol):
        return value
    if isinstance(value, np.ndarray):
        return native(cast("np.ndarray[Any, Any]", value), what)
    if isinstance(value, (bool, int, float)):
        return Weak(value)
    if isinstance(value, np.generic):
        return _weak_scalar(cast("np.generic[Any]", value), what)
    text = f"{what} is of type {type(value).__name__}, wanted an array or a number"
    raise TesseraError(OPERAND, text, here(), "turn it into one with numpy.asarray")


def _weak_scalar(value: np.generic, what: str) -> Weak:
    """A NumPy scalar is a number like Python's: it widens no array."""
    array = native(np.asarray(value), what)
    name = dtype_name(array.dtype)
    if name in FLOATS:
        return Weak(float(cast(Any, value)))
    return Weak(bool(value) if name == "i1" else int(cast(Any, value)))


def native(array: np.ndarray, what: str) -> np.ndarray:
    """The array in native byte order; TesseraError for an unknown element type."""
    try:
        name = dtype_name(array.dtype)
    except ValueError as bad:
        raise TesseraError(OPERAND, f"{what}: {bad}", here()) from None
    return np.asarray(array).astype(numpy_dtype(name), copy=False)


def element(operand: Known) -> str:
    """The name of an operand's element type."""
    if isinstance(operand, Symbol):
        return operand.element
    return dtype_name(operand.dtype)


def settle(kind: type[GraphOp], values: Sequence[Any]) -> list[Known]:
    """The operands of an op with numbers turned into arrays of the right element type.

    TesseraError names both types when operands do not go together.
    """
    fewest, _ = kind.arity()
    if len(values) < fewest:
        text = f"'{kind.name}' needs its operand '{kind.ins[len(values)].rstrip('*')}'"
        raise TesseraError(OPERAND, text, here())
    names = operand_names(kind, len(values))
    found = [
        known(v, f"'{n}' of {kind.name}") for n, v in zip(names, values, strict=True)
    ]
    typed = [
        (n, v)
        for n, v in zip(names, found, strict=True)
        if n not in FREE and not isinstance(v, Weak)
    ]
    _agree(kind, typed)
    dtype = element(typed[0][1]) if typed else _default(found)
    return [
        _strong(kind.name, v, FIXED.get(n, dtype)) if isinstance(v, Weak) else v
        for n, v in zip(names, found, strict=True)
    ]


def operand_names(kind: type[GraphOp], count: int) -> list[str]:
    """What the operands of an op are called; those of a list are numbered."""
    if any(name.endswith("*") for name in kind.ins):
        return [f"{kind.ins[0].rstrip('*')}[{i}]" for i in range(count)]
    return [name.rstrip("?") for name in kind.ins[:count]]


def _agree(kind: type[GraphOp], typed: Sequence[tuple[str, Known]]) -> None:
    short = kind.short()
    elements = {element(value) for _, value in typed}
    if len(elements) < 2 or short in NORMS:
        return
    if short in WIDENING and elements <= FLOATS:
        return
    first = typed[0]
    other = next(t for t in typed if element(t[1]) != element(first[1]))
    shown = " and ".join(
        f"{n} is {element(v)}[{show(v.shape)}]" for n, v in (first, other)
    )
    wanted = element(first[1])
    raise TesseraError(
        MIXED,
        f"'{kind.name}' mixes {wanted} and {element(other[1])}: {shown}",
        here(),
        f'cast one of them, such as tessera.ops.cast({other[0]}, "{wanted}")',
    )


def _default(values: Sequence[Known | Weak]) -> str:
    """The element type of numbers among themselves."""
    kinds = {type(v.value) for v in values if isinstance(v, Weak)}
    if float in kinds:
        return "f32"
    return "i64" if int in kinds else "i1"


def strong_alone(weak: Weak) -> np.ndarray:
    """A number without an array beside it: f32, i64 or i1."""
    return _strong("the number", weak, _default([weak]))


def _strong(op: str, weak: Weak, name: str) -> np.ndarray:
    """A number as a rank-0 array of that element type."""
    value = weak.value
    fits = name in FLOATS or isinstance(value, bool)
    if not fits and isinstance(value, int) and name != "i1":
        limits = np.iinfo(cast(Any, numpy_dtype(name)))
        fits = limits.min <= value <= limits.max
    if not fits:
        word = type(value).__name__
        raise TesseraError(
            MIXED,
            f"'{op}' mixes {name} and the {word} {value}, which {name} cannot hold",
            here(),
            'cast the array first, such as tessera.ops.cast(x, "f32")',
        )
    with np.errstate(over="ignore"):  # beyond the largest float lies infinity
        return np.asarray(value).astype(numpy_dtype(name))
