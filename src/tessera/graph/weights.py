"""Weights by handle: an attribute that names an array and costs nothing to hold.

Equality and hashing are by key and identity of the array, so a gigabyte is never read,
copied or printed by the IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, IntegerType
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from tessera.diagnostics import TesseraError, declare
from tessera.graph.types import dtype_of, numpy_dtype, shape_of, type_of_array

NO_DATA = declare(
    "TSR-G010",
    "a weight has no data",
    "The text names a weight whose values are kept elsewhere. Text alone holds only small "
    "constants; run or compile the artifact folder that carries the weights.",
    "error",
)

INLINE_ELEMENTS = 16

WEIGHT_IRDL = """\
irdl.attribute @weight {
  %key = irdl.base "#builtin.string"
  irdl.parameters(key: %key)
}"""


@dataclass(frozen=True, eq=False)
class Weight:
    """A named array; `array` is None when only the name is known (read from text)."""

    key: str
    array: np.ndarray | None = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Weight):
            return NotImplemented
        return self.key == other.key and self.array is other.array

    def __hash__(self) -> int:
        return hash(self.key)


@irdl_attr_definition
class WeightAttr(Data[Weight]):
    """`#tessera.weight<"key">`."""

    name = "tessera.weight"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Weight:
        """Read the key; the array stays unknown."""
        with parser.in_angle_brackets():
            return Weight(parser.parse_str_literal())

    def print_parameter(self, printer: Printer) -> None:
        """Print the key only."""
        with printer.in_angle_brackets():
            printer.print_string_literal(self.data.key)


def dense(array: np.ndarray) -> DenseIntOrFPElementsAttr:
    """The literal of an array, element for element."""
    type = type_of_array(array)
    data = np.ascontiguousarray(array)
    if data.dtype == np.bool_:
        data = data.astype(np.int8)
    return DenseIntOrFPElementsAttr(type, BytesAttr(data.tobytes()))  # pyright: ignore[reportArgumentType]


def constant_attribute(array: np.ndarray, key: str) -> Attribute:
    """A literal for a small array, a handle for a large one."""
    if array.size <= INLINE_ELEMENTS:
        return dense(array)
    return WeightAttr(Weight(key, array))


def dense_array(value: DenseIntOrFPElementsAttr) -> np.ndarray:
    """The array of a literal, expanding a splat."""
    shape: Sequence[int] = shape_of(value.type)
    name = dtype_of(value.type)
    raw = np.int8 if value.type.element_type == IntegerType(1) else numpy_dtype(name)
    flat = np.frombuffer(value.data.data, dtype=raw)
    if flat.size == 1:
        flat = np.broadcast_to(flat, (int(np.prod(shape)),))
    return flat.reshape(shape).astype(numpy_dtype(name), copy=False)


def array_of(value: Attribute) -> np.ndarray:
    """The array of a constant's attribute; TesseraError when its data is elsewhere."""
    if isinstance(value, WeightAttr):
        if value.data.array is None:
            raise TesseraError(
                NO_DATA,
                f'weight "{value.data.key}" has a name but no values',
                remedy="load the artifact folder it belongs to instead of its text",
            )
        return value.data.array
    if isinstance(value, DenseIntOrFPElementsAttr):
        return dense_array(cast("DenseIntOrFPElementsAttr[Any]", value))
    raise TypeError(f"not a constant: {value}")
