"""A graph under construction, and which one is being recorded."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import SSAValue

from tessera.diagnostics import TesseraError
from tessera.frontend.traced.codes import ESCAPED
from tessera.frontend.traced.places import here
from tessera.frontend.traced.symbol import Symbol
from tessera.graph.builder import GraphBuilder
from tessera.graph.types import Shape, Tensor

COPIED_BYTES = 1 << 20

_ACTIVE: ContextVar[Recording | None] = ContextVar("tessera_recording", default=None)


class Recording:
    """One function being traced; `wrap` is the class of values the user sees."""

    def __init__(self, name: str, wrap: type[Symbol]) -> None:
        self._builder = GraphBuilder(name)
        self._wrap = wrap
        self._constants: dict[Any, SSAValue] = {}
        self._kept: list[np.ndarray] = []
        self._open = True

    def input(self, name: str, dtype: str, shape: Shape) -> Symbol:
        """Add an argument of the function."""
        return self.symbol(self._builder.input(name, dtype, shape))

    def symbol(self, ssa: SSAValue) -> Symbol:
        """A value of this graph as the user sees it."""
        return self._wrap(self, ssa)

    def constant(self, array: np.ndarray, place: LocationAttr) -> SSAValue:
        """The value of a known array; arrays of equal values share one.

        Arrays up to a mebibyte are copied, so that a later change of them by the traced
        function changes nothing; larger ones, such as weights, are held as they are.
        """
        small = array.nbytes <= COPIED_BYTES
        values = array.tobytes() if small else id(array)
        key = (str(array.dtype), array.shape, values)
        if key not in self._constants:
            self._kept.append(array)  # an id stays taken while its array lives
            held = np.array(array, order="C", copy=True if small else None)
            name = f"constant_{len(self._constants)}"
            self._constants[key] = self._builder.const(held, name, place)
        return self._constants[key]

    def record(
        self,
        name: str,
        operands: Sequence[Symbol | np.ndarray],
        result: Tensor | None,
        place: LocationAttr,
        options: dict[str, Any],
    ) -> tuple[Symbol, ...]:
        """Add one op; TesseraError when its operands do not fit."""
        values = [self.value(operand, place) for operand in operands]
        made = self._builder.ops(
            name, *values, result=result, location=place, **options
        )
        return tuple(self.symbol(ssa) for ssa in made)

    def value(self, operand: Symbol | np.ndarray, place: LocationAttr) -> SSAValue:
        """The SSA value of an operand of this graph."""
        if not isinstance(operand, Symbol):
            return self.constant(operand, place)
        if operand.recording is not self or not self._open:
            raise TesseraError(
                ESCAPED,
                "a traced value is used outside the call that made it",
                here(),
                "return it from the traced function instead of keeping it",
            )
        return operand.ssa

    def finish(self, outputs: Sequence[tuple[str, SSAValue]]) -> ModuleOp:
        """Close the graph."""
        self._open = False
        return self._builder.module(outputs)


def active() -> Recording | None:
    """What is being recorded in this thread; None in eager use."""
    return _ACTIVE.get()


@contextmanager
def recording(into: Recording) -> Generator[None]:
    """Record what ops are asked for inside."""
    token = _ACTIVE.set(into)
    try:
        yield
    finally:
        _ACTIVE.reset(token)
