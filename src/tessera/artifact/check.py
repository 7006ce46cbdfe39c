"""What every program promises: names given before use, known ops, honest defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NoReturn

from tessera.artifact.codes import AGAIN, MALFORMED, UNKNOWN_OP
from tessera.artifact.program import Native, Program, Step, Value, code_name
from tessera.diagnostics import TesseraError
from tessera.reference import PRIMITIVES
from tessera.reference.dtypes import DTYPES


def check_program(program: Program) -> None:
    """Raise TesseraError TSR-R005 or TSR-R006 when a promise is broken."""
    known = {*program.weights}
    for value in program.inputs:
        _check_value("input", value)
        _give(known, value.name, "an input")
    for name, weight in program.defaults.items():
        _check_default(program, name, weight)
    for number, step in enumerate(program.steps):
        _check_step(number, step, known, program.weights, program.code)
    for value in program.outputs:
        _check_value("output", value)
        if value.name not in known:
            _refuse(f"output '{value.name}' is given by no step")


def _check_value(role: str, value: Value) -> None:
    if not value.name:
        _refuse(f"an {role} has no name")
    if value.dtype not in DTYPES:
        _refuse(f"{role} '{value.name}' has dtype '{value.dtype}'")


def _check_default(program: Program, name: str, weight: str) -> None:
    found = next((value for value in program.inputs if value.name == name), None)
    if found is None:
        _refuse(f"the default '{name}' belongs to no input")
    array = program.weights.get(weight)
    if array is None:
        _refuse(f"the default of '{name}' is weight '{weight}', which is not there")
    sizes = zip(array.shape, found.shape, strict=False)
    fits = array.ndim == len(found.shape) and all(w in (None, s) for s, w in sizes)
    if array.dtype != DTYPES[found.dtype] or not fits:
        text = f"is {array.dtype}{list(array.shape)}, wanted {found}"
        _refuse(f"the default of '{name}' {text}")


def _check_step(
    number: int,
    step: Step,
    known: set[str],
    weights: Mapping[str, Any],
    code: Mapping[str, str],
) -> None:
    place = f"step {number} ({step.op})"
    _check_inputs(place, step, known)
    if step.call is None:
        _check_op(place, step)
    else:
        inner = {*weights, *filter(None, step.inputs)}
        for index, part in enumerate(step.call.expansion):
            inside = f"{place}, expansion {index} ({part.op})"
            if part.call is not None:
                _refuse(f"{inside} is a fused call inside a fused call")
            _check_inputs(inside, part, inner)
            _check_op(inside, part)
            _give_outputs(inside, part, inner)
        for name in step.outputs:
            if name not in inner:
                _refuse(f"{place}: its expansion does not give '{name}'")
        _check_native(place, step, step.call.native, code)
    _give_outputs(place, step, known)


def _check_native(
    place: str, step: Step, native: Native | None, code: Mapping[str, str]
) -> None:
    if native is None:
        return
    text = code.get(native.code)
    if text is None:
        _refuse(f"{place}: its native code '{native.code}' is not there")
    if code_name(text) != native.code:
        _refuse(f"{place}: its native code is not the text that '{native.code}' names")
    present = len(tuple(filter(None, step.inputs)))
    found = (len(native.operands), len(native.results))
    if found != (present, len(step.outputs)):
        text = f"{found[0]} operands and {found[1]} results"
        _refuse(f"{place}: its native code has {text}, wanted those of the step")


def _check_inputs(place: str, step: Step, known: set[str]) -> None:
    for name in step.inputs:
        if name and name not in known:
            _refuse(f"{place} reads '{name}', which nothing before it gives")


def _give_outputs(place: str, step: Step, known: set[str]) -> None:
    if not step.outputs:
        _refuse(f"{place} gives nothing")
    for name in step.outputs:
        _give(known, name, place)


def _give(known: set[str], name: str, place: str) -> None:
    if name in known or not name:
        _refuse(f"{place} gives '{name}', a name that is empty or taken")
    known.add(name)


def _check_op(place: str, step: Step) -> None:
    meaning = PRIMITIVES.get(step.op)
    if meaning is None:
        raise TesseraError(
            UNKNOWN_OP,
            f"{place}: the op '{step.op}' is not known to this release",
            remedy="upgrade Tessera, or compile the model again with this release",
        )
    names = _keywords(meaning)
    for key in step.attributes:
        if names is not None and key not in names:
            _refuse(f"{place} has no attribute '{key}'")


@cache
def _keywords(meaning: Callable[..., Any]) -> frozenset[str] | None:
    """The keyword arguments of a meaning; None when it takes any."""
    parameters = inspect.signature(meaning).parameters
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return None
    kinds = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return frozenset(name for name, p in parameters.items() if p.kind in kinds)


def _refuse(text: str) -> NoReturn:
    raise TesseraError(MALFORMED, f"the program is malformed: {text}", remedy=AGAIN)
