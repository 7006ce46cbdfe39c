"""Reading float and tensor literals: exact bits, and splats that stay small."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias, TypeGuard

import numpy as np
from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.parser import AttrParser
from xdsl.utils.mlir_lexer import MLIRTokenKind

Element: TypeAlias = AnyFloat | IntegerType | IndexType

BIT = IntegerType(1)
SPLAT_ELEMENTS = 1024
"""A splat of more elements keeps one, as `data` of that single element."""


def _is_element(type: Any) -> TypeGuard[Element]:
    return isinstance(type, AnyFloat | IntegerType | IndexType)


def packed(data: bytes) -> bytes:
    """A byte for each element of type i1 as MLIR packs them, the first bit lowest."""
    return np.packbits(np.frombuffer(data, np.bool_), bitorder="little").tobytes()


def _unpacked(data: bytes, count: int) -> bytes:
    """What `packed` undoes; a single byte for more than eight elements is a splat."""
    if len(data) == 1 and count > 8:
        return bytes([data[0] & 1])
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    return bits[:count].tobytes() if len(data) == -(-count // 8) else bits.tobytes()


@dataclass(frozen=True)
class _Number:
    """One number as written; a hexadecimal one holds a float's bits."""

    value: bool | int | float
    hexadecimal: bool
    start: int
    end: int


class LiteralParser(AttrParser):
    """Reads hexadecimal numbers of float type as bits, wherever they stand."""

    def parse_optional_builtin_int_or_float_attr(
        self,
    ) -> IntegerAttr | FloatAttr | None:
        start = self.pos
        if self._current_token.kind == MLIRTokenKind.MINUS:
            self._consume_token()
            if self._current_token.text[:2] == "0x":
                self._no_sign(start)
            self._resume_from(start)
        return super().parse_optional_builtin_int_or_float_attr()

    def _no_sign(self, start: int) -> None:
        self.raise_error("hexadecimal numbers take no sign", start, self.pos)

    def _parse_builtin_densearray_attr(self) -> DenseArrayBase | None:
        start = self.pos
        self.parse_characters("<", " in dense array")
        element = self.parse_attribute()
        if not isinstance(element, AnyFloat) or self._current_token.text != ":":
            self._resume_from(start)
            return super()._parse_builtin_densearray_attr()
        self.parse_characters(":")
        numbers = self.parse_comma_separated_list(self.Delimiter.NONE, self._number)
        self.parse_characters(">", " in dense array")
        values = [element.unpack(self._pack(n, element), 1)[0] for n in numbers]
        return DenseArrayBase.from_list(element, values)

    def parse_dense_int_or_fp_elements_attr(
        self, type: Any | None
    ) -> DenseIntOrFPElementsAttr:
        """A tensor literal.  A splat keeps one element when the tensor is large."""
        start = self.pos
        self.parse_punctuation("<", " in dense attribute")
        numbers: list[_Number] = []
        shape: tuple[int, ...] | None = (0,)
        text = self.parse_optional_str_literal()
        if text is None and self._current_token.kind != MLIRTokenKind.GREATER:
            shape = self._rows(numbers)
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        element: Any = type.element_type
        wanted = tuple(type.get_shape())
        if not _is_element(element):
            self.raise_error(f"literals of {element} are not read", start, self.pos)
        count = math.prod(wanted)
        if text is not None:
            data = self._bytes(text, start)
            if element == BIT:
                data = _unpacked(data, count)
        else:
            data = b"".join([self._pack(number, element) for number in numbers])
            if shape not in ((), wanted) and (count or numbers):
                found = f"literal has shape {list(shape)}, its type {list(wanted)}"
                self.raise_error(f"shape mismatch: {found}", start, self.pos)
        data = self._sized(data, element.compile_time_size, count, start)
        return DenseIntOrFPElementsAttr(type, BytesAttr(data))

    def _rows(self, numbers: list[_Number]) -> tuple[int, ...]:
        """Append the numbers of a literal in order and return its shape."""
        if self.parse_optional_punctuation("[") is None:
            numbers.append(self._number())
            return ()
        if self.parse_optional_punctuation("]"):
            return (0,)
        rows, shape = 1, self._rows(numbers)
        while self.parse_optional_punctuation(","):
            if self._rows(numbers) != shape:
                self.raise_error("rows of a tensor literal differ in shape")
            rows += 1
        self.parse_punctuation("]", " in tensor literal")
        return (rows, *shape)

    def _bytes(self, text: str, start: int) -> bytes:
        """The bytes of a hexadecimal string."""
        try:
            return bytes.fromhex(text.removeprefix("0x"))
        except ValueError:
            self.raise_error("expected hexadecimal digits", start, self.pos)

    def _sized(self, data: bytes, size: int, count: int, start: int) -> bytes:
        """The elements as kept: all of them, or one of a large splat."""
        one = data[:size]
        if len(data) not in (size, size * count):
            text = f"literal has {len(data)} bytes, its type {size * count}"
            self.raise_error(text, start, self.pos)
        if count > SPLAT_ELEMENTS:
            return one if data == one or data == one * count else data
        return one * count if len(data) == size else data

    def _number(self) -> _Number:
        start = self.pos
        negative = self.parse_optional_punctuation("-") is not None
        token = self._current_token
        hexadecimal = token.text[:2] == "0x"
        value = None if negative else self.parse_optional_boolean()
        if value is None:
            value = self._unsigned()
        if value is None:
            self.raise_error("expected a number")
        if negative and hexadecimal:
            self._no_sign(start)
        return _Number(
            -value if negative else value, hexadecimal, start, token.span.end
        )

    def _unsigned(self) -> int | float | None:
        """An integer or float without a sign, if present."""
        if self._current_token.kind == MLIRTokenKind.MINUS:
            return None
        return self.parse_optional_number()

    def _pack(self, number: _Number, element: Element) -> bytes:
        """The bytes of one element; ParseError where it does not fit."""
        value = number.value
        if isinstance(element, AnyFloat):
            if not number.hexadecimal:
                return element.pack((element.round(float(value)),))
            bits = int(value)
            if bits.bit_length() > element.bitwidth:
                self._unfit(number, f"0x{bits:X} does not fit {element}")
            return bits.to_bytes(element.compile_time_size, "little")
        if isinstance(value, float):
            self._unfit(number, f"{value!r} is no integer, wanted {element}")
        if isinstance(element, IntegerType):
            if isinstance(value, bool) and element.width.data != 1:
                self._unfit(number, f"booleans are of type i1, wanted {element}")
            normal = element.normalized_value(int(value))
            if normal is None:
                self._unfit(number, f"{value} does not fit {element}")
            value = abs(normal) if element.width.data == 1 else normal
        return element.pack((int(value),))

    def _unfit(self, number: _Number, text: str) -> NoReturn:
        self.raise_error(text, number.start, number.end)
