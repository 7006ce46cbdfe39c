"""The audit as a person reads it first, and as a program does."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from tessera.audit.rows import Row, Section, advice, common_prefix, sections
from tessera.decisions import Document, Site

DEFAULT_WIDTH = 100
NARROWEST = 72
GAP = 2
INDENT = 2

FIXED = ("outcome", "decided by", "ran on")
EXTRA = "extra"

# symbol, word and colour of each outcome
OUTCOMES = {
    "fused": ("✓", "fused", "green"),
    "refused": ("✗", "refused", "red"),
    "not_profitable": ("○", "not profitable", "yellow"),
}


def render_json(document: Document) -> str:
    """Exactly the document, as `decisions.json` holds it."""
    return document.dumps()


def render_text(
    document: Document,
    *,
    width: int = DEFAULT_WIDTH,
    color: bool = False,
    full: bool = False,
) -> str:
    """The table: what was fused, by whose decision, into what, where, and why not.

    `width` in terminal columns; `full` gives each site a row of its own and its place.
    """
    width = max(width, NARROWEST)
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        legacy_windows=False,
    )
    for line in _lines(document, width, full):
        line.rstrip()
        console.print(line, soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def _lines(document: Document, width: int, full: bool) -> Iterable[Text]:
    yield from _header(document)
    if not document.sites:
        yield Text(_nothing(document))
        return
    found = sections(document, full)
    layout = _Layout.of(document, found, width, full)
    yield from layout.titles()
    for section in found:
        yield layout.heading(section)
        for row, reason in _with_reasons(section.rows):
            yield from layout.row(row)
            yield from layout.reason(row.site, reason)
    yield Text()
    yield from _summary(document, found, width)
    yield from _advice(document, width)


def _header(document: Document) -> Iterable[Text]:
    yield Text(document.model or "(unnamed model)", style="bold")
    count = len(document.sites)
    facts = [f"target {document.target}"]
    if document.device:
        facts.append(f"device {document.device}")
    facts.append(f"{count} site{'' if count == 1 else 's'}")
    yield Text(" · ".join(facts), style="dim")
    yield Text()


def _nothing(document: Document) -> str:
    if document.target == "cpu":
        return "Target cpu is the reference: it runs op by op and never fuses."
    return "No site that a fused kernel could take was found."


def _with_reasons(rows: Sequence[Row]) -> Iterable[tuple[Row, str]]:
    """Each row with its reason, said once under the last row that shares it."""
    following = [row.reason for row in rows[1:]] + [""]
    for row, after in zip(rows, following, strict=True):
        yield row, "" if row.reason == after else row.reason


@dataclass(frozen=True)
class _Column:
    title: str
    width: int
    right: bool = False


@dataclass(frozen=True)
class _Layout:
    """Column widths for one document; the first column takes what is left."""

    columns: tuple[_Column, ...]
    width: int
    full: bool

    @classmethod
    def of(
        cls, document: Document, found: Sequence[Section], width: int, full: bool
    ) -> _Layout:
        rows = [row for section in found for row in section.rows]
        cells = [_cells(row, full) for row in rows]
        titles = {key: Text(key) for key in FIXED} | {EXTRA: Text(_extra(full))}
        columns = [
            _Column(
                titles[key].plain,
                max(cell_len(line[key].plain) for line in [*cells, titles]),
                key == EXTRA and not full,
            )
            for key in titles
        ]
        label = max(cell_len(_label(row).plain) for row in rows) + INDENT
        # the last column is dropped where it would fold the labels, or says nothing
        rest = sum(c.width + GAP for c in columns)
        if label + rest > width or not any(c[EXTRA].plain for c in cells):
            rest -= columns.pop().width + GAP
        prefix = common_prefix([s.layer for s in document.sites if s.layer])
        title = f"site in {prefix.rstrip('.')}" if prefix else "site"
        first = max(min(label, width - rest), cell_len(title), 16)
        return cls((_Column(title, first), *columns), width, full)

    def titles(self) -> Iterable[Text]:
        """The lines above the rows."""
        yield self.line([Text(column.title, style="dim") for column in self.columns])
        rule = sum(column.width + GAP for column in self.columns) - GAP
        yield Text("─" * rule, style="dim")

    def heading(self, section: Section) -> Text:
        """A kind of site and how many of it are fused."""
        kind = Text(section.kind, style="bold")
        color = "green" if section.fused == section.total else "yellow"
        count = f"{section.fused} of {section.total} fused"
        return self.line([kind, Text(count, style=color if section.fused else "dim")])

    def row(self, row: Row) -> Iterable[Text]:
        """A row; a label that does not fit continues on the next line."""
        parts = _fold(_label(row), self.columns[0].width - INDENT)
        cells = _cells(row, self.full)
        rest = [cells[key] for key in (*FIXED, EXTRA)]
        yield self.line([_indented(parts[0], INDENT), *rest])
        for part in parts[1:]:
            yield _indented(part, 2 * INDENT)

    def reason(self, site: Site, text: str) -> Iterable[Text]:
        """Why not, under its row, over the whole width."""
        if not text:
            return
        shown = [column.title for column in self.columns]
        if self.full and site.location and "at" not in shown:
            text += f" (at {site.location})"
        style = "yellow" if site.fused else ""
        lead = " " * 2 * INDENT
        for line in textwrap.wrap(
            text, self.width - 3 * INDENT, break_on_hyphens=False
        ):
            out = Text(lead + line, style=style)
            code = len(line.split(" ", 1)[0]) if line.startswith("TSR-") else 0
            out.stylize("bold", 2 * INDENT, 2 * INDENT + code)
            lead = " " * 3 * INDENT
            yield out

    def line(self, cells: Sequence[Text]) -> Text:
        """Cells padded to their columns."""
        out = Text()
        for cell, column in zip(cells, self.columns, strict=False):
            room = " " * max(column.width - cell_len(cell.plain), 0)
            out.append(room if column.right else "").append_text(cell)
            out.append("" if column.right else room).append(" " * GAP)
        return out


def _label(row: Row) -> Text:
    count = len(row.sites)
    text = Text(row.label)
    return text.append(f" ×{count}", style="cyan") if count > 1 else text


def _cells(row: Row, full: bool) -> dict[str, Text]:
    site = row.site
    symbol, word, color = OUTCOMES[site.outcome]
    text = f"{symbol} {site.kernel or word}"
    decided = "yellow" if site.intent_verdict == "contradicted" else ""
    return {
        "outcome": Text(text, style=color),
        "decided by": Text(site.source or "—", style=decided),
        "ran on": Text(site.placement or "—"),
        EXTRA: Text(site.location if full else _saves(row.sites), style="dim"),
    }


def _extra(full: bool) -> str:
    return "at" if full else "saves"


def _fold(label: Text, width: int) -> list[Text]:
    """The label in lines of at most `width`, broken after a dot or slash."""
    lines: list[Text] = []
    rest = label
    while cell_len(rest.plain) > width:
        room = width if not lines else width - INDENT
        cut = max(rest.plain.rfind(mark, 0, room) for mark in "./")
        cut = cut + 1 if cut > 0 else room
        head, tail = rest.divide([cut])
        lines.append(head)
        rest = tail
    return [*lines, rest]


def _indented(text: Text, by: int) -> Text:
    return Text(" " * by).append_text(text)


def _saves(sites: Sequence[Site]) -> str:
    size, launches = _totals(sites)
    parts = [show_bytes(size)] if size else []
    if launches:
        parts.append(f"{launches} launches" if launches > 1 else "1 launch")
    return ", ".join(parts)


def _totals(sites: Sequence[Site]) -> tuple[int, int]:
    size = sum(site.bytes_saved or 0 for site in sites)
    return size, sum(site.launches_saved or 0 for site in sites)


def show_bytes(count: int) -> str:
    """A number of bytes in the largest unit that keeps it at 1 or more."""
    size, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"


def _summary(
    document: Document, found: Sequence[Section], width: int
) -> Iterable[Text]:
    fused = sum(section.fused for section in found)
    total = len(document.sites)
    kinds = ", ".join(f"{s.kind} {s.fused}/{s.total}" for s in found)
    style = "bold green" if fused == total else "bold"
    text = f"{fused} of {total} site{'' if total == 1 else 's'} fused: {kinds}"
    for line in textwrap.wrap(text, width, subsequent_indent=" " * INDENT):
        yield Text(line, style=style)
    saves = _saves([site for site in document.sites if site.fused])
    if saves:
        yield Text(f"saves {saves} per run", style="dim")


def _advice(document: Document, width: int) -> Iterable[Text]:
    """What a reader can do about refusals: one entry a code and suggestion."""
    found = advice(document)
    if not found:
        return
    yield Text()
    yield Text("What you can do", style="bold")
    for site, count in found:
        times = f" ×{count}" if count > 1 else ""
        yield Text.assemble("  ", (site.code or "", "bold"), (times, "cyan"))
        for line in textwrap.wrap(site.suggestion or "", width - 2 * INDENT):
            yield Text(" " * 2 * INDENT + line)
    first = found[0][0]
    yield Text(
        f"  `tessera explain {first.code}` says what the code means", style="dim"
    )
    text = f"  `tessera why MODEL {_shortest(first, document)}` tells the site's story"
    yield Text(text, style="dim")


def _shortest(site: Site, document: Document) -> str:
    """The site as its kind and number in the program: what `tessera why` accepts."""
    alike = [other.id for other in document.sites if other.kind == site.kind]
    return f"{site.kind}#{alike.index(site.id)}"
