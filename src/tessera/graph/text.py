"""MLIR text in and out: places on every op, exact numbers, one error if broken."""

from __future__ import annotations

from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from tessera.diagnostics import Location, TesseraError, declare
from tessera.graph.context import graph_context
from tessera.graph.parser import TextParser, lower_first
from tessera.graph.printing import TextPrinter

SYNTAX = declare(
    "TSR-G020",
    "the text is not MLIR",
    "The text cannot be read at the place named: it is cut off, misspelled, uses a "
    "name that nothing defines, or names an op of a dialect that is not loaded "
    "(`--allow-unregistered-dialect` reads those).",
    "error",
)
NESTING = declare(
    "TSR-G021",
    "the text is nested too deeply",
    "Regions, attributes or types stand inside each other more often than the parser "
    "follows. No model needs this; flatten the text.",
    "error",
)


def parse_module(
    text: str,
    file_name: str = "<text>",
    context: Context | None = None,
    line_offset: int = 0,
) -> ModuleOp:
    """The module that a text spells, not yet verified.

    Ops without `loc(…)` get the place of their name: `file_name`, the line (counted
    from 1, plus `line_offset`) and the column.  Hexadecimal numbers of float type are
    bits.
    Raises TesseraError with a place for any text that is not MLIR.
    """
    start = Location(file_name, line_offset + 1, 1)
    parser = None
    try:
        parser = TextParser(context or graph_context(), text, file_name, line_offset)
        return parser.parse_module()
    except ParseError as bad:
        place = _place(text, bad.span.start, start)
        raise TesseraError(SYNTAX, _said(bad, text), place) from None
    except RecursionError:
        place = parser.place() if parser else start
        raise TesseraError(NESTING, "nested too deeply", place) from None
    except Exception as bad:  # attribute and op constructors refuse in many ways
        place = parser.place() if parser else start
        what = str(bad).strip() or f"cannot be read ({type(bad).__name__})"
        raise TesseraError(SYNTAX, lower_first(what.splitlines()[0]), place) from None


def print_module(
    module: Operation, debuginfo: bool = False, generic: bool = False
) -> str:
    """The text of a module; it reads back as the same module.

    Floats keep their bits, large literals print as hexadecimal bytes, arguments carry
    the model's names.  `debuginfo` adds `loc(…)`, `generic` spells every op in the
    generic form.
    """
    stream = StringIO()
    printer = TextPrinter(stream, debuginfo, generic)
    printer.print_op(module)
    printer.print_metadata([Builtin])
    return stream.getvalue() + "\n"


def _place(text: str, position: int, start: Location) -> Location:
    before = text[:position]
    line = before.count("\n")
    column = position - (before.rfind("\n") + 1) + 1
    return Location(start.file, start.line + line, column)


def _said(bad: ParseError, text: str) -> str:
    """What the parser says, and whether the text ends too early."""
    said = lower_first(bad.msg.strip())
    if bad.span.start >= len(text.rstrip()):
        joint = " " if said.startswith("in ") else ": "
        return f"the text ends here{joint}{said}"
    return f"unexpected token {said}" if said.startswith("in ") else said
