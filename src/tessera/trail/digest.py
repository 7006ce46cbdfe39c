"""Digests of what some ops compute: the same wherever they stand and whoever compiles."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from tessera.graph.constants import uniform
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import value_dtype, value_shape

SIZE = 16


def digest(ops: Sequence[Operation]) -> str:
    """32 hexadecimal digits for the form of `ops`, which stand in program order.

    The form is each op's name, declared attributes, types, and how its operands hang
    together; values from outside count by their type alone.  A constant of one element
    is part of the form (a scale, an eps); the values of larger ones are not, nor are
    names, places, notes and what else is in the module.
    """
    numbers: dict[SSAValue, int] = {}
    form = [_form(op, numbers) for op in ops]
    text = json.dumps(form, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=SIZE).hexdigest()


def _form(op: Operation, numbers: dict[SSAValue, int]) -> list[Any]:
    read = [_operand(value, numbers) for value in op.operands]
    made = [[numbers.setdefault(v, len(numbers)), *_type(v)] for v in op.results]
    return [op.name, _declared(op), read, made]


def _declared(op: Operation) -> dict[str, Any]:
    """The attributes that say what is computed; notes have a dialect prefix."""
    if isinstance(op, GraphOp):
        options = {k: v for k, v in op.options().items() if k != "value"}
        return {key: _plain(value) for key, value in options.items()}
    kept = {k: v for k, v in op.attributes.items() if "." not in k and k != "value"}
    return {key: str(value) for key, value in kept.items()}


def _operand(value: SSAValue, numbers: dict[SSAValue, int]) -> list[Any]:
    known = value in numbers
    number = numbers.setdefault(value, len(numbers))
    if known:
        return [number]
    constant = isinstance(value.owner, ConstOp) and math.prod(value_shape(value)) == 1
    held = [_plain(uniform(value))] if constant else []
    return [number, *_type(value), *held]


def _type(value: SSAValue) -> list[Any]:
    return [value_dtype(value), list(value_shape(value))]


def _plain(given: Any) -> Any:
    """A value of an option as JSON: exact, and the same for equal values."""
    value = cast("Any", given.item()) if isinstance(given, np.generic) else given
    if isinstance(value, float):
        return value.hex() if math.isfinite(value) else repr(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
