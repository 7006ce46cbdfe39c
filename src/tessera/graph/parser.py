"""xDSL's parser with places: each op knows where it stands in the text.

It also reads location aliases that are defined after their use, and is several times
quicker on long modules, for it keeps the types that it has read.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FunctionType,
    LocationAttr,
    ModuleOp,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tessera.diagnostics import Location
from tessera.graph.lexer import QuickLexer
from tessera.graph.literals import LiteralParser
from tessera.graph.locations import file_location

_TENSOR = re.compile(r"tensor<[^<>\n#!]*>")
_SIGNATURE = re.compile(
    r"\([^()\n]*\) -> (?:\([^()\n]*\)|tensor<[^<>\n]*>|[a-z]\w*)(?=[ \n])"
)
_ALIAS = re.compile(r"^[ \t]*(#[\w$.\-]+)[ \t]*=", re.MULTILINE)
LARGEST_SIZE = (1 << 63) - 1

T = TypeVar("T", bound=Attribute)


class TextParser(LiteralParser, Parser):
    """Parses one module; use `tessera.graph.text.parse_module`."""

    def __init__(
        self, context: Context, text: str, file: str, line_offset: int
    ) -> None:
        super().__init__(context, "", file)
        state = self._parser_state
        state.lexer = QuickLexer(Input(text, file))
        state.current_token = state.lexer.lex()
        self._text = text
        self._file = file
        self._lines = [0, *(match.end() for match in re.finditer("\n", text))]
        self._line_offset = line_offset
        self._unknown = UnknownLoc()
        self._names: list[int] = []
        self._undefined: dict[str, Span] = {}
        self._signatures: dict[str, FunctionType] = {}
        self._tensors: dict[str, Any] = {}
        self._aliases: dict[str, int] | None = None
        self._later: dict[str, LocationAttr | None] = {}

    def place(self, position: int | None = None) -> Location:
        """The file, line and column of a position, by default the current one."""
        position = self.pos if position is None else position
        line = bisect_right(self._lines, position)
        column = position - self._lines[line - 1] + 1
        return Location(self._file, line + self._line_offset, column)

    def _stamp(self, op: Operation, position: int) -> None:
        """Give an op the place of its name, unless the text says one, be it unknown."""
        place = op.location
        if isinstance(place, UnknownLoc) and place is not self._unknown:
            place = self.place(position)
            op.location = file_location(place.file, place.line, place.column)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        if self._current_token.kind == MLIRTokenKind.EOF:
            module = ModuleOp([])
        else:
            module = super().parse_module(allow_implicit_module)
        self._stamp(module, 0)
        return module

    def raise_error(
        self, msg: str, at_position: Any = None, end_position: int | None = None
    ) -> NoReturn:
        """ParseError; a name that is never defined is reported where it is used."""
        if msg.startswith("values used but not defined"):
            name = next(iter(self.forward_ssa_references))
            msg, at_position = (
                f"%{name} is used but never defined",
                self._undefined[name],
            )
        if msg.startswith("Could not parse entire input"):
            msg = "expected an operation"
        if end_position is None:
            super().raise_error(msg, at_position)
        super().raise_error(msg, at_position, end_position)

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._names.append(self.pos)
        return results

    def parse_operation(self) -> Operation:
        """An operation; without `loc(…)` its place is that of its name."""
        op = super().parse_operation()
        self._stamp(op, self._names.pop())
        return op

    def resolve_operand(self, operand: UnresolvedOperand, type: T) -> SSAValue[T]:
        name = operand.operand_name
        if name not in self.ssa_values and name not in self.forward_ssa_references:
            self._undefined[name] = operand.span
        return super().resolve_operand(operand, type)

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        start = self.pos
        size = super().parse_shape_dimension(allow_dynamic)
        if size > LARGEST_SIZE:
            self.raise_error(f"a size of {size} does not fit 64 bits", start, self.pos)
        return size

    def parse_function_type(self) -> FunctionType:
        return self._known(_SIGNATURE, self._signatures, super().parse_function_type)

    def parse_optional_type(self) -> TypeAttribute | None:
        if self._current_token.text != "tensor":
            return super().parse_optional_type()
        return self._known(_TENSOR, self._tensors, super().parse_optional_type)

    def _known(
        self, pattern: re.Pattern[str], known: dict[str, Any], read: Callable[[], Any]
    ) -> Any:
        """What `read` gives, remembered by the text that it took."""
        match = pattern.match(self._text, self.pos)
        if match is None:
            return read()
        found = known.get(match[0])
        if found is not None:
            self._resume_from(match.end())
            return found
        found = read()
        taken = self._text[match.end() : self.pos]
        if self.pos >= match.end() and not taken.strip():
            known[match[0]] = found
        return found

    def parse_optional_location(self) -> LocationAttr | None:
        place = super().parse_optional_location()
        return self._unknown if isinstance(place, UnknownLoc) else place

    def _parse_location(self) -> LocationAttr:
        token = self._current_token
        if (
            token.kind != MLIRTokenKind.HASH_IDENT
            or token.text in self.attribute_aliases
        ):
            return super()._parse_location()
        name = token.text
        if name not in self._later:
            self._later[name] = None
            self._later[name] = self._read_later(name)
        found = self._later[name]
        if found is None:
            self.raise_error(f"alias {name} is defined by itself")
        self._consume_token()
        return found

    def _read_later(self, name: str) -> LocationAttr:
        """The location an alias is given further down; the parser stays where it is."""
        if self._aliases is None:
            found = _ALIAS.finditer(self._text)
            self._aliases = {match[1]: match.end() for match in found}
        if name not in self._aliases:
            self.raise_error(f"alias {name} is not defined")
        here = self.pos
        self._resume_from(self._aliases[name])
        location = self.parse_optional_location()
        if location is None:
            self.raise_error(f"expected a location as the value of {name}")
        self._resume_from(here)
        return location


def lower_first(message: str) -> str:
    """A message of xDSL's as ours are written: lower case, no full stop."""
    if message[:1].isupper() and not message[1:2].isupper():
        message = message[0].lower() + message[1:]
    return message.rstrip(".!")
