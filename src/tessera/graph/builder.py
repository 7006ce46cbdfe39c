"""Building a graph function op by op: what every frontend speaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tessera.diagnostics import TesseraError, declare
from tessera.graph.dialect import OPS
from tessera.graph.locations import read_location
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import Shape, Tensor, tensor
from tessera.graph.weights import Weight, WeightAttr

MALFORMED = declare(
    "TSR-G011",
    "an operation cannot be built from these operands",
    "The model asks for an op whose operands or options do not fit; the message repeats the "
    "op's own complaint. Correct the model at the place named.",
    "error",
)

NAME = "tessera.name"
DEFAULT = "tessera.default"


class GraphBuilder:
    """One function under construction."""

    def __init__(self, name: str = "main") -> None:
        self.name = name
        self.block = Block()
        self._arguments: list[dict[str, Attribute]] = []

    def input(
        self, name: str, dtype: str, shape: Shape, default: np.ndarray | None = None
    ) -> SSAValue:
        """Add an argument; `default` is used where the caller gives nothing."""
        notes: dict[str, Attribute] = {NAME: StringAttr(name)}
        if default is not None:
            notes[DEFAULT] = WeightAttr(Weight(name, default))
        self._arguments.append(notes)
        type = tensor(dtype, tuple(shape))
        return self.block.insert_arg(type, len(self.block.args))

    def const(
        self,
        array: np.ndarray,
        key: str = "constant",
        location: LocationAttr | None = None,
    ) -> SSAValue:
        """Add a constant; `key` names a large one and must be unique in the module."""
        op = ConstOp.of(np.asarray(array), key, location)
        self.block.add_op(op)
        return op.results[0]

    def op(
        self,
        name: str,
        *operands: SSAValue,
        result: Tensor | None = None,
        location: LocationAttr | None = None,
        **options: Any,
    ) -> SSAValue:
        """Add `tessera.<name>` and return its only (or first) result."""
        return self.ops(name, *operands, result=result, location=location, **options)[0]

    def ops(
        self,
        name: str,
        *operands: SSAValue,
        result: Tensor | None = None,
        location: LocationAttr | None = None,
        **options: Any,
    ) -> Sequence[SSAValue]:
        """Add `tessera.<name>` and return all its results.

        `result` is the type of an op whose result type is free (reshape, cast, …).
        Raises TesseraError naming op and place when the operands do not fit.
        """
        kind = OPS[name]
        types = None if result is None else (result,)
        try:
            op = kind.build(operands, types, location, **options)
            if types is not None:
                op.verify_()
        except VerifyException as bad:
            place = read_location(location) if location is not None else None
            raise TesseraError(MALFORMED, f"'tessera.{name}' op {bad}", place) from None
        self.block.add_op(op)
        return op.results

    def finish(self, outputs: Sequence[tuple[str, SSAValue]]) -> FuncOp:
        """Close the function with its named results."""
        values = [value for _, value in outputs]
        self.block.add_op(ReturnOp(*values))
        arguments = [arg.type for arg in self.block.args]
        types = [value.type for value in values]
        function = FuncOp(self.name, (arguments, types), Region(self.block))
        notes = [DictionaryAttr(note) for note in self._arguments]
        function.arg_attrs = ArrayAttr(notes)
        named = [DictionaryAttr({NAME: StringAttr(name)}) for name, _ in outputs]
        function.res_attrs = ArrayAttr(named)
        return function

    def module(self, outputs: Sequence[tuple[str, SSAValue]]) -> ModuleOp:
        """Close the function and put it into a module of its own."""
        return ModuleOp([self.finish(outputs)])
