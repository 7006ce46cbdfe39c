"""Running a Python function once on stand-ins for its arrays, which gives its graph."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tessera.diagnostics import Location, TesseraError
from tessera.frontend.traced.apply import as_known
from tessera.frontend.traced.codes import ARGUMENT, ESCAPED
from tessera.frontend.traced.operands import native
from tessera.frontend.traced.places import here, place_of
from tessera.frontend.traced.pytree import Leaf, Tree, flatten, unflatten, unique
from tessera.frontend.traced.recording import Recording, recording
from tessera.frontend.traced.symbol import Symbol
from tessera.frontend.traced.traced import Traced
from tessera.reference.dtypes import dtype_name


@dataclass(frozen=True)
class Call:
    """The arguments of one call, taken apart.

    Two calls with equal `key` run the same program.
    """

    tree: Tree
    names: tuple[str, ...]
    arrays: tuple[np.ndarray, ...] = field(repr=False)

    @property
    def types(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Element type and shape of each array."""
        return tuple((dtype_name(a.dtype), a.shape) for a in self.arrays)

    @property
    def key(self) -> tuple[Any, ...]:
        """What the program depends on: structure, static values, types."""
        return self.tree, self.types

    @property
    def feeds(self) -> dict[str, np.ndarray]:
        """The arrays by input name."""
        return dict(zip(self.names, self.arrays, strict=True))


@dataclass(frozen=True)
class Trace:
    """What a run on stand-ins gave: a fresh module, and its results' structure."""

    module: ModuleOp
    results: Tree
    names: tuple[str, ...]


def arguments(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Call:
    """Take a call's arguments apart; TypeError when they do not fit the signature."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    tree, leaves = flatten(bound.arguments, _argument)
    arrays = tuple(array for _, array in leaves)
    return Call(tree, tuple(unique(path for path, _ in leaves)), arrays)


def _argument(value: Any, path: str) -> np.ndarray | None:
    """An array of an argument; None when it is no array.

    A NumPy scalar is an array of rank 0, but for float64: that is a Python float.
    """
    if isinstance(value, Symbol):
        text = f"argument {path} is a traced value of another call"
        raise TesseraError(ESCAPED, text, here(), "pass a NumPy array")
    if isinstance(value, (float, type)) or not hasattr(value, "__array__"):
        return None
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, RuntimeError) as bad:
        text = f"argument {path}: {bad}"
        raise TesseraError(ARGUMENT, text, here(), "pass a NumPy array") from None
    return native(array, f"argument {path}")


def trace(
    function: Callable[..., Any],
    signature: inspect.Signature,
    call: Call,
    name: str = "main",
) -> Trace:
    """Run the function on stand-ins; errors of the function itself pass through."""
    into = Recording(name, Traced)
    inputs = [
        into.input(given, *type)
        for given, type in zip(call.names, call.types, strict=True)
    ]
    bound = inspect.BoundArguments(signature, unflatten(call.tree, inputs))
    with recording(into):
        value = function(*bound.args, **bound.kwargs)
        tree, leaves = flatten(value, _result)
        _check_results(tree, function)
        wanted = (_result_name(path) for path, _ in leaves)
        names = unique([*call.names, *wanted])[len(call.names) :]
        outputs = [into.value(_operand(leaf), place_of("const")) for leaf in leaves]
    module = into.finish(list(zip(names, outputs, strict=True)))
    return Trace(module, tree, tuple(names))


def _result(value: Any, path: str) -> Any | None:
    """A result that is an array or number; None when it is something else."""
    if isinstance(value, (Symbol, np.ndarray, np.generic, bool, int, float)):
        return cast(Any, value)
    return None


def _operand(leaf: Leaf) -> Symbol | np.ndarray:
    path, value = leaf
    return as_known(value, f"result {path}" if path else "the result")


def _result_name(path: str) -> str:
    """The name of a result: its keys, or its number in a tuple."""
    if not path:
        return "output"
    return f"output_{path}" if path[0].isdigit() else path


def _check_results(tree: Tree, function: Callable[..., Any]) -> None:
    """Refuse a function that gives nothing, or something else than arrays."""
    name = getattr(function, "__qualname__", "the function")
    if tree.kind == "static" and tree.keys[0].value is None:
        text = f"{name} returns nothing"
        raise TesseraError(ARGUMENT, text, _defined(function), "return its results")
    for found in _statics(tree):
        if found is not None:
            text = f"{name} returns {found!r}, wanted arrays or numbers"
            raise TesseraError(ARGUMENT, text, _defined(function))


def _statics(tree: Tree) -> list[Any]:
    todo, found = [tree], list[Any]()
    while todo:
        item = todo.pop()
        todo += item.children
        if item.kind == "static":
            found.append(item.keys[0].value)
    return found


def _defined(function: Callable[..., Any]) -> Location:
    code = getattr(function, "__code__", None)
    if code is None:
        return here()
    return Location(code.co_filename, code.co_firstlineno, 1, code.co_name)
