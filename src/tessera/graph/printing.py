"""Printing modules: readable value names, exact numbers, literals that stay short."""

from __future__ import annotations

import math
import re
from typing import IO, Any, TypeGuard, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerType,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from tessera.graph.groups import GroupedOp
from tessera.graph.literals import BIT, Element, packed

HEX_ELEMENTS = 100
"""A literal of more elements that are not all equal prints as hexadecimal bytes."""

_UNNAMEABLE = re.compile(r"[^\w$.\-]", re.ASCII)
_SHORT_DIGITS, _ALL_DIGITS = 5, 16


def _is_literal(attribute: Any) -> TypeGuard[DenseIntOrFPElementsAttr[Element]]:
    """Whether this is a literal of plain numbers."""
    if not isinstance(attribute, DenseIntOrFPElementsAttr):
        return False
    element: Any = cast(Any, attribute).type.element_type
    return isinstance(element, AnyFloat | IntegerType | IndexType)


class TextPrinter(Printer):
    """Prints a module; use `tessera.graph.text.print_module`."""

    def __init__(self, stream: IO[str], debuginfo: bool, generic: bool) -> None:
        super().__init__(
            stream, print_debuginfo=debuginfo, print_generic_format=generic
        )
        self._argument_names: dict[SSAValue, str] = {}

    def print_op(self, op: Operation) -> None:
        if isinstance(op, FuncOp):
            self._name_arguments(op)
        super().print_op(op)

    def print_op_with_default_format(self, op: Operation) -> None:
        """The generic form also says how many values each group of operands took."""
        sizes = op.segments() if isinstance(op, GroupedOp) else {}
        plain = not self.print_generic_format or op.regions or op.successors
        if plain or not sizes:
            super().print_op_with_default_format(op)
            return
        self.print_operands(op.operands)
        self.print_op_attributes({**op.attributes, **sizes})
        self.print_string(" : ")
        self.print_operation_type(op)

    def _name_arguments(self, function: FuncOp) -> None:
        """Call arguments as the model does, unless the text named them otherwise."""
        if function.is_declaration or function.arg_attrs is None:
            return
        for arg, notes in zip(function.args, function.arg_attrs, strict=False):
            name = notes.data.get("tessera.name")
            if not isinstance(name, StringAttr) or not name.data:
                continue
            spelled = _UNNAMEABLE.sub("_", name.data)
            if spelled[0].isdigit():
                spelled = f"_{spelled}"
            stem = SSAValue.extract_valid_name(spelled)
            if arg.name_hint is None or arg.name_hint == stem:
                self._argument_names[arg] = spelled

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._ssa_values.get(value)
        if name is None:
            hint = self._argument_names.get(value, value.name_hint)
            name = self._fresh(hint) if hint else self._get_new_valid_name_id()
            self._ssa_values[value] = name
        self.print_string(f"%{name}")
        return name

    def _fresh(self, hint: str) -> str:
        """The hint, or the hint with the first number that makes it a new name."""
        names = self.ssa_names
        count = names.get(hint, 0)
        name = f"{hint}_{count}" if count else hint
        while name in names:
            count += 1
            name = f"{hint}_{count}"
        names[name] = 1
        names[hint] = count + 1
        return name

    def print_float(self, value: float, type: AnyFloat) -> None:
        """The fewest digits, from six on, that read back as the same bits."""
        if not math.isfinite(value):
            self._print_bits(type.pack((value,)))
            return
        for digits in range(_SHORT_DIGITS, _ALL_DIGITS + 1):
            text = f"{value:.{digits}e}"
            if type.round(float(text)) == value:
                break
        else:
            text = f"{value:.{_ALL_DIGITS}e}"
        mantissa, exponent = text.split("e")
        padded = (
            f"{mantissa}0"
            if len(mantissa.lstrip("-")) == _SHORT_DIGITS + 2
            else mantissa
        )
        self.print_string(f"{padded}e{exponent}")

    def _print_bits(self, raw: bytes) -> None:
        self.print_string(f"0x{raw[::-1].hex().upper()}")

    def print_attribute(self, attribute: Attribute) -> None:
        if _is_literal(attribute):
            self._print_dense(attribute, attribute.type.element_type)
        else:
            super().print_attribute(attribute)

    def _print_dense(
        self,
        attribute: DenseIntOrFPElementsAttr[Element],
        element: Element,
    ) -> None:
        data, size = attribute.data.data, element.compile_time_size
        count = len(data) // size
        self.print_string("dense<")
        if count and data == data[:size] * count:
            self._print_element(data[:size], element)
        elif count > HEX_ELEMENTS:
            raw = packed(data) if element == BIT else data
            self.print_string(f'"0x{raw.hex().upper()}"')
        elif count:
            items = [data[i : i + size] for i in range(0, len(data), size)]
            self._print_rows(items, attribute.get_shape(), element)
        self.print_string("> : ")
        self.print_attribute(attribute.type)

    def _print_rows(
        self,
        items: list[bytes],
        shape: tuple[int, ...],
        element: Element,
    ) -> None:
        if not shape:
            self._print_element(items[0], element)
            return
        step = len(items) // shape[0]
        rows = [items[i : i + step] for i in range(0, len(items), step)]
        with self.in_square_brackets():
            self.print_list(rows, lambda row: self._print_rows(row, shape[1:], element))

    def _print_element(self, raw: bytes, element: Element) -> None:
        (value,) = element.unpack(raw, 1)
        if isinstance(value, float) and isinstance(element, AnyFloat):
            if math.isfinite(value):
                self.print_float(value, element)
            else:
                self._print_bits(raw)
        elif isinstance(element, IntegerType | IndexType):
            self.print_int(int(value), element)
