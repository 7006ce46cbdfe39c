"""Values of a model under import: computed by an op, or known already."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.types import Shape, Tensor, dtype_of, is_static, type_of_array


@dataclass(frozen=True)
class Partial:
    """An integer tensor of which some elements are known: `values` where `known`."""

    values: np.ndarray
    known: np.ndarray


@dataclass(eq=False)
class Operand:
    """A tensor by its type; at least one of `array` (known) and `ssa` (computed) is set.

    A known tensor becomes a constant op when an op first takes it as an operand. `key`
    names it then. `partial` holds what is known of a computed shape.
    """

    type: Tensor
    array: np.ndarray | None = None
    ssa: SSAValue | None = None
    key: str = ""
    partial: Partial | None = None

    @classmethod
    def of(cls, array: np.ndarray, key: str = "") -> Operand:
        """A known tensor."""
        return cls(type_of_array(array), array, key=key)

    @property
    def shape(self) -> Shape:
        """The sizes, DYN where unknown."""
        return self.type.get_shape()

    @property
    def dtype(self) -> str:
        """The element type's name."""
        return dtype_of(self.type)

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.type.get_shape())

    @property
    def static(self) -> bool:
        """Whether every size is known."""
        return is_static(self.type.get_shape())

    @property
    def facts(self) -> Partial | None:
        """What is known of the elements: all, some, or nothing (None)."""
        if self.array is not None:
            return Partial(self.array, np.ones(self.array.shape, np.bool_))
        return self.partial
