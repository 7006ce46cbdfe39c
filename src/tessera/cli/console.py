"""How the commands speak: results to stdout, everything else to stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TextIO

from rich.console import Console
from rich.text import Text

from tessera.diagnostics import Diagnostic, Severity, TesseraError

PIPED_WIDTH = 100
COLORS: dict[Severity, str] = {
    "error": "bold red",
    "warning": "bold yellow",
    "remark": "bold blue",
    "note": "bold cyan",
}


class PipeClosed(Exception):
    """The reader of our output has seen enough."""


def colored(stream: TextIO) -> bool:
    """Whether colour helps: a terminal, and the user has not said no."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


def width() -> int:
    """Columns to fill: the terminal's, COLUMNS, or a fixed number in a pipe."""
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns) > 0:
        return int(columns)
    return Console().width if sys.stdout.isatty() else PIPED_WIDTH


def emit(text: str) -> None:
    """Write text that ends its own lines to stdout."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        raise PipeClosed from None


def say(*lines: Text | str) -> None:
    """Write styled lines to stdout, plain when it is no terminal."""
    console = _console(sys.stdout)
    with console.capture() as captured:
        for line in lines:
            console.print(line, soft_wrap=True)
    emit(captured.get())


def report(diagnostics: Iterable[Diagnostic], remarks: bool = False) -> None:
    """Print warnings (and remarks, when asked for) to stderr."""
    wanted = {"error", "warning", "remark" if remarks else "error"}
    for diagnostic in diagnostics:
        if diagnostic.severity in wanted:
            _tell(diagnostic)


def fail(error: TesseraError) -> None:
    """Print an error to stderr: one paragraph, with the remedy."""
    message = error.message + (f"; {error.remedy}" if error.remedy else "")
    place = str(error.location) if error.location else "tessera"
    _print_headed(place, "error", f"[{error.code.id}] {message}")


def fail_plainly(place: str, message: str) -> None:
    """Print an error that has no code: a wrong argument, or our own fault."""
    _print_headed(place, "error", message)


def working(what: str) -> AbstractContextManager[object]:
    """Show on a terminal that something takes its time."""
    if not sys.stderr.isatty():
        return nullcontext()
    return _console(sys.stderr).status(what)


def _tell(diagnostic: Diagnostic) -> None:
    code = f"[{diagnostic.code.id}] " if diagnostic.code else ""
    place = str(diagnostic.location)
    _print_headed(place, diagnostic.severity, code + diagnostic.message)
    for note in diagnostic.notes:
        _tell(note)


def _print_headed(place: str, severity: Severity, message: str) -> None:
    head = (f"{severity}: ", COLORS[severity])
    line = Text.assemble((f"{place}: ", "bold"), head, " ".join(message.split()))
    try:
        _console(sys.stderr).print(line, soft_wrap=True)
    except BrokenPipeError:
        raise PipeClosed from None


def _console(stream: TextIO) -> Console:
    color = colored(stream)
    return Console(
        file=stream,
        width=width(),
        force_terminal=color,
        color_system="auto" if color else None,
        highlight=False,
        legacy_windows=False,
    )
