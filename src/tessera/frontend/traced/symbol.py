"""The core of a traced value: one SSA value of a graph under construction."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.types import numpy_dtype, value_dtype, value_shape

if TYPE_CHECKING:
    from tessera.frontend.traced.recording import Recording

Array: TypeAlias = Any
"""A traced value while tracing; in eager use, a NumPy array."""

Operand: TypeAlias = Any
"""A traced value, a NumPy array, or a number."""


class Symbol:
    """An array of known shape and element type whose elements are not known."""

    __slots__ = ("recording", "ssa")

    def __init__(self, recording: Recording, ssa: SSAValue) -> None:
        self.recording = recording
        self.ssa = ssa

    @property
    def element(self) -> str:
        """The element type's name in the graph, such as `f32`."""
        return value_dtype(self.ssa)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The element type as NumPy's."""
        return numpy_dtype(self.element)

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes."""
        return tuple(value_shape(self.ssa))

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """How many elements there are."""
        return prod(self.shape)
