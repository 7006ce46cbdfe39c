"""`--verify-diagnostics`: what a file's comments expect, against what was reported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tessera.diagnostics import Diagnostic

_EXPECTED = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<re>-re)?"
    r"(?:\s*@(?P<where>[+-]\d+|\d+|above|below|unknown))?"
    r"\s*(?P<count>\d+)?\s*\{\{(?P<text>(?(re).*|.*?))\}\}(?!\})"
)
_HINT = re.compile(r"//.*expected-(error|warning|remark|note)(-re)?\s*(@|\{\{|\d|$)")


@dataclass
class Expectation:
    """One expected message: its line (None: outside the file), and how often."""

    severity: str
    line: int | None
    text: str
    pattern: re.Pattern[str]
    missing: int
    written: int

    def meets(self, diagnostic: Diagnostic, line: int | None) -> bool:
        """Whether a diagnostic at a line is the expected one."""
        if self.missing == 0 or diagnostic.severity != self.severity:
            return False
        return line == self.line and bool(self.pattern.search(said(diagnostic)))


def said(diagnostic: Diagnostic) -> str:
    """The message with its code in front, as printed."""
    code = f"[{diagnostic.code.id}] " if diagnostic.code else ""
    return code + diagnostic.message


def read_expectations(
    text: str, first_line: int
) -> tuple[list[Expectation], list[tuple[int, str]]]:
    """The expectations of a text whose first line has that number, and malformed ones.

    `@above` and `@below` skip lines that hold expectations themselves.
    """
    found: list[Expectation] = []
    broken: list[tuple[int, str]] = []
    waiting: list[Expectation] = []
    above = first_line
    for number, content in enumerate(text.splitlines(), first_line):
        here = list(_EXPECTED.finditer(content))
        if not here:
            if _HINT.search(content):
                broken.append((number, "expectation without {{text}}"))
            for expectation in waiting:
                expectation.line = number
            waiting, above = [], number
        for match in here:
            expectation = _expectation(match, number, above)
            found.append(expectation)
            if match["where"] == "below":
                waiting.append(expectation)
    return found, broken


def _expectation(match: re.Match[str], number: int, above: int) -> Expectation:
    where, line = match["where"], number
    if where == "unknown":
        line = None
    elif where == "above":
        line = above
    elif where and where[0] in "+-":
        line = number + int(where)
    elif where and where != "below":
        line = int(where)
    text = match["text"]
    count = int(match["count"] or 1)
    pattern = _pattern(text, match["re"] is not None)
    return Expectation(match["severity"], line, text, pattern, count, number)


def _pattern(text: str, regular: bool) -> re.Pattern[str]:
    """Finds the text; with `-re`, `{{…}}` inside it are regular expressions."""
    if not regular:
        return re.compile(re.escape(text))
    parts = re.split(r"\{\{(.*?)\}\}", text)
    spelled = [p if i % 2 else re.escape(p) for i, p in enumerate(parts)]
    try:
        return re.compile("".join(spelled))
    except re.error:
        return re.compile(re.escape(text))


def check_expectations(
    file: str,
    text: str,
    first_line: int,
    diagnostics: Iterable[Diagnostic],
    remarks: bool,
) -> list[str]:
    """What is wrong, one message each; nothing when all is as expected.

    Without `remarks`, expected remarks are not looked at.
    """
    expected, broken = read_expectations(text, first_line)
    expected = [e for e in expected if remarks or e.severity != "remark"]
    wrong = [f"{file}:{line}:1: error: {what}" for line, what in broken]
    for diagnostic in _flat(diagnostics):
        place = diagnostic.location
        line = place.line if place.file == file else None
        for expectation in expected:
            if expectation.meets(diagnostic, line):
                expectation.missing -= 1
                break
        else:
            text = f"unexpected {diagnostic.severity}: {said(diagnostic)}"
            wrong.append(f"{place}: error: {text}")
    for e in expected:
        line = e.written if e.line is None else e.line
        what = f'error: expected {e.severity} "{e.text}" was not produced'
        wrong += [f"{file}:{line}:1: {what}"] * e.missing
    return wrong


def _flat(diagnostics: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    for diagnostic in diagnostics:
        yield diagnostic
        yield from diagnostic.notes
