"""Running Graph IR op by op by meaning: the oracle of every pass and every target."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from tessera.diagnostics import TesseraError, declare
from tessera.graph.builder import DEFAULT, NAME
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import compatible, dtype_of, numpy_dtype, shape_of, show
from tessera.graph.weights import array_of

BAD_INPUT = declare(
    "TSR-G040",
    "an input is missing, unknown or of another type",
    "Every argument of the function needs an array of its element type and shape, "
    "unless it has a default. The message names the argument, found and wanted.",
    "error",
)
FAILED = declare(
    "TSR-G041",
    "an operation cannot be computed on these values",
    "The values an op met break its rules: an index out of range, sizes that do not "
    "broadcast, a reshape to another number of elements. Correct inputs or model.",
    "error",
)
UNKNOWN = declare(
    "TSR-G042",
    "an operation has no meaning here",
    "Only ops of the `tessera` dialect inside one function can be computed op by op.",
    "error",
)

Arrays = Mapping[str, np.ndarray]
Notes = Sequence[Mapping[str, Attribute]]


def evaluate(
    module: ModuleOp, inputs: Arrays, function: str | None = None
) -> dict[str, np.ndarray]:
    """The named results of a function (the only one, or `function`) on named inputs.

    Arguments with a default may be left out.  An argument without a name is called
    `arg<i>`, a result `result<i>`.  Raises TesseraError naming the input or the op.
    """
    graph = _function(module, function)
    results = evaluate_function(graph, bind(graph, inputs))
    return dict(zip(result_names(graph), results, strict=True))


def evaluate_function(
    graph: FuncOp, arguments: Sequence[np.ndarray]
) -> Sequence[np.ndarray]:
    """The results on positional arguments; no value outlives its last use."""
    values: dict[SSAValue, np.ndarray] = dict(
        zip(graph.body.block.args, arguments, strict=True)
    )
    uses: dict[SSAValue, int] = {}
    for op in graph.body.block.ops:
        if isinstance(op, ReturnOp):
            return [values[operand] for operand in op.operands]
        arrays = [values[operand] for operand in op.operands]
        values.update(zip(op.results, compute(op, arrays), strict=True))
        for operand in op.operands:
            left = uses.get(operand)
            left = operand.uses.get_length() if left is None else left
            uses[operand] = left - 1
            if left == 1:
                del values[operand]
    raise AssertionError("a function ends with a return")


def compute(op: Operation, arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
    """The results of one op by its meaning; TesseraError names the op and place."""
    if isinstance(op, ConstOp):
        return (op.array,)
    if not isinstance(op, GraphOp):
        raise TesseraError(
            UNKNOWN, f"'{op.name}' has no NumPy meaning", location_of(op)
        )
    try:
        results = op.meaning()(*arrays, **op.keywords())
    except (ValueError, IndexError, OverflowError) as bad:
        text = f"'{op.name}' op {bad}"
        raise TesseraError(FAILED, text, location_of(op)) from bad
    return cast(
        "Sequence[np.ndarray]", results if isinstance(results, tuple) else (results,)
    )


def bind(graph: FuncOp, inputs: Arrays) -> list[np.ndarray]:
    """The arguments of a function from named arrays and defaults, each checked."""
    names = argument_names(graph)
    unknown = sorted(set(inputs) - set(names))
    if unknown:
        text = f"no input is called '{unknown[0]}', wanted {', '.join(names)}"
        raise TesseraError(BAD_INPUT, text)
    bound: list[np.ndarray] = []
    for arg, name, notes in zip(
        graph.body.block.args, names, _notes(graph.arg_attrs, len(names)), strict=True
    ):
        if name in inputs:
            array = np.asarray(inputs[name])
        elif DEFAULT in notes:
            array = array_of(notes[DEFAULT])
        else:
            raise TesseraError(BAD_INPUT, f"input '{name}' is missing")
        _check(name, array, arg.type)
        bound.append(array)
    return bound


def argument_names(graph: FuncOp) -> list[str]:
    """The names of a function's arguments."""
    notes = _notes(graph.arg_attrs, len(graph.body.block.args))
    return list(_names(notes, "arg"))


def result_names(graph: FuncOp) -> list[str]:
    """The names of a function's results."""
    notes = _notes(graph.res_attrs, len(graph.function_type.outputs.data))
    return list(_names(notes, "result"))


def _names(notes: Notes, prefix: str) -> Iterator[str]:
    for index, note in enumerate(notes):
        name = note.get(NAME)
        yield name.data if isinstance(name, StringAttr) else f"{prefix}{index}"


def _notes(attribute: Any, count: int) -> Notes:
    if attribute is None:
        empty: dict[str, Attribute] = {}
        return [empty] * count
    return [cast(DictionaryAttr, note).data for note in attribute.data]


def _check(name: str, array: np.ndarray, type: Attribute) -> None:
    shape, dtype = shape_of(type), dtype_of(type)
    if array.dtype != numpy_dtype(dtype) or not compatible(array.shape, shape):
        found = f"{array.dtype} of shape {show(array.shape)}"
        text = f"input '{name}' is {found}, wanted {dtype} of shape {show(shape)}"
        raise TesseraError(BAD_INPUT, text)


def _function(module: ModuleOp, name: str | None) -> FuncOp:
    functions = [
        op for op in module.ops if isinstance(op, FuncOp) and not op.is_declaration
    ]
    chosen = [f for f in functions if name in (None, f.sym_name.data)]
    if len(chosen) == 1:
        return chosen[0]
    known = ", ".join(f.sym_name.data for f in functions) or "none"
    wanted = f"a function called '{name}'" if name else "one function"
    raise TesseraError(UNKNOWN, f"the module holds {known}, wanted {wanted}")
