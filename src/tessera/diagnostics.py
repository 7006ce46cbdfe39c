"""Everything the compiler says to a person: codes, places, severities, refusals.

A code is declared once, beside the demand it names, and never reused.  A refusal is a
value that a stage returns; an error is raised.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["error", "warning", "remark", "note"]


@dataclass(frozen=True)
class Code:
    """A promise: this id, once published, always means this.

    `kind` tells a capability refusal (cannot) from a profitability one (would not pay).
    """

    id: str
    title: str
    help: str
    kind: Literal["capability", "profitability", "error"] = "capability"

    def __str__(self) -> str:
        return self.id


CODES: dict[str, Code] = {}


def declare(
    id: str,
    title: str,
    help: str,
    kind: Literal["capability", "profitability", "error"] = "capability",
) -> Code:
    """Publish a code.  `help` is what `tessera explain` prints: meaning and remedy.

    Raises ValueError when the id is taken.
    """
    if id in CODES:
        raise ValueError(f"diagnostic code {id} is declared twice")
    CODES[id] = code = Code(id, title, help, kind)
    return code


@dataclass(frozen=True)
class Location:
    """Where something was written: a file position, and the model's own names for it."""

    file: str = ""
    line: int = 0
    column: int = 0
    name: str = ""
    layer: str = ""

    def __str__(self) -> str:
        if self.file:
            return f"{self.file}:{self.line}:{self.column}"
        return self.name or "<unknown>"


@dataclass(frozen=True)
class Refusal:
    """Why a step declined: the op and place, what was found, what was wanted."""

    code: Code
    op: str
    location: Location
    predicate: str
    found: str
    wanted: str
    suggestion: str = ""

    @property
    def text(self) -> str:
        """The refusal without its code: predicate, found, wanted."""
        return f"{self.predicate}: found {self.found}, wanted {self.wanted}"

    def __str__(self) -> str:
        return f"[{self.code.id}] {self.text}"


@dataclass(frozen=True)
class Diagnostic:
    """One message at one place; notes belong to it and are printed under it."""

    severity: Severity
    location: Location
    message: str
    code: Code | None = None
    notes: tuple[Diagnostic, ...] = ()

    def __str__(self) -> str:
        code = f"[{self.code.id}] " if self.code else ""
        head = f"{self.location}: {self.severity}: {code}{self.message}"
        return "\n".join([head, *map(str, self.notes)])


@dataclass
class Diagnostics:
    """A sink that keeps what it is told, in order."""

    items: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def emit(self, diagnostic: Diagnostic) -> None:
        """Keep one diagnostic."""
        self.items.append(diagnostic)

    def warning(self, location: Location, message: str, code: Code) -> None:
        """Keep a warning: an intent says one thing and the program another."""
        self.emit(Diagnostic("warning", location, message, code))

    def remark(self, location: Location, message: str, code: Code) -> None:
        """Keep a remark: something nearby was not done, and why."""
        self.emit(Diagnostic("remark", location, message, code))

    def error(self, location: Location, message: str, code: Code | None = None) -> None:
        """Keep an error: the program is broken."""
        self.emit(Diagnostic("error", location, message, code))

    def of(self, severity: Severity) -> list[Diagnostic]:
        """The kept diagnostics of one severity."""
        return [d for d in self.items if d.severity == severity]

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)


class TesseraError(Exception):
    """An error a user can cause and mend: what is wrong, where, and the remedy."""

    def __init__(
        self,
        code: Code,
        message: str,
        location: Location | None = None,
        remedy: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.location = location
        self.remedy = remedy

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        remedy = f"; {self.remedy}" if self.remedy else ""
        return f"{place}[{self.code.id}] {self.message}{remedy}"
