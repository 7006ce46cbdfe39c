"""Weights by handle between a graph's text and an artifact's arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from tessera.cli.codes import NO_WEIGHTS
from tessera.diagnostics import TesseraError
from tessera.graph.weights import Weight, WeightAttr

Change = Callable[[Weight], Weight]


def name_weights(modules: Collection[ModuleOp], taken: Collection[str]) -> None:
    """Give every array one key of its own, the same in all modules, in place.

    No key is in `taken` (the names of inputs and outputs), so that an artifact's
    program calls each weight by its key in the text.
    """
    keys: dict[int, str] = {}
    used = set(taken)

    def rename(weight: Weight) -> Weight:
        if weight.array is None:
            return weight
        key = keys.get(id(weight.array))
        if key is None:
            key, number = weight.key, 1
            while key in used:
                key, number = f"{weight.key}.{number}", number + 1
            keys[id(weight.array)] = key
            used.add(key)
        return Weight(key, weight.array)

    for module in modules:
        change_weights(module, rename)


def held_weights(module: ModuleOp) -> dict[str, np.ndarray]:
    """Every array that a module holds by handle, by its key."""
    held: dict[str, np.ndarray] = {}

    def keep(weight: Weight) -> Weight:
        if weight.array is not None:
            held[weight.key] = weight.array
        return weight

    change_weights(module, keep)
    return held


def bind_weights(module: ModuleOp, arrays: Mapping[str, np.ndarray]) -> None:
    """Give the handles of a module read from text their arrays, in place.

    Raises TesseraError TSR-R064 when one is not there.
    """

    def bind(weight: Weight) -> Weight:
        if weight.array is not None:
            return weight
        if weight.key not in arrays:
            raise TesseraError(
                NO_WEIGHTS,
                f"the artifact's graph names weight '{weight.key}', which its program "
                "does not have",
                remedy="verify the model that the artifact was compiled from",
            )
        return Weight(weight.key, arrays[weight.key])

    change_weights(module, bind)


def change_weights(module: ModuleOp, change: Change) -> None:
    """Replace every weight of a module, in constants and in defaults."""
    for op in module.walk():
        for key, value in op.attributes.items():
            if isinstance(value, WeightAttr):
                op.attributes[key] = WeightAttr(change(value.data))
        if isinstance(op, FuncOp) and op.arg_attrs is not None:
            notes = [_changed(note, change) for note in op.arg_attrs.data]
            op.arg_attrs = ArrayAttr(notes)


def _changed(note: DictionaryAttr, change: Change) -> DictionaryAttr:
    data: dict[str, Attribute] = {}
    for key, value in note.data.items():
        weight = isinstance(value, WeightAttr)
        data[key] = WeightAttr(change(value.data)) if weight else value
    return DictionaryAttr(data)
