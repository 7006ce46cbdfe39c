"""One site's story: what the model wrote, what each pass made of it, what runs it now."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from rich.console import Console
from rich.text import Text

from tessera.audit.table import NARROWEST, OUTCOMES, show_bytes
from tessera.decisions import Document, Member, Site, Step

LABEL = 12
INDENT = 2
MOST = 24
SOURCES = {
    "descriptor": "the intent stamped on it was honoured",
    "rediscovered": "found again, without an intent for it",
    "composite_op": "a pre-fused op, which says itself what it is",
}
Block = Iterable[Text]


def render_story(
    document: Document, site: Site, *, width: int = 100, color: bool = False
) -> str:
    """The story of one site of a document, for a terminal of `width` columns."""
    width = max(width, NARROWEST)
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=color,
        color_system="standard" if color else None,
        highlight=False,
        legacy_windows=False,
    )
    teller = _Teller(document, site, width)
    for line in teller.lines():
        line.rstrip()
        console.print(line, soft_wrap=True)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


class _Teller:
    def __init__(self, document: Document, site: Site, width: int) -> None:
        self.document, self.site, self.width = document, site, width
        self.room = width - LABEL

    def lines(self) -> Iterator[Text]:
        yield from self._title()
        chapters: tuple[tuple[str, Block], ...] = (
            ("written", self._written()),
            ("passes", self._passes()),
            ("read as", self._read()),
            ("intent", self._intent()),
            ("refused", self._refused()),
            ("became", self._became()),
            ("runs", self._runs()),
            ("digests", self._digests()),
            ("to do", self._to_do()),
        )
        for label, block in chapters:
            for number, line in enumerate(block):
                if number == 0:
                    yield Text()
                head = Text(f"{label if number == 0 else '':<{LABEL}}", style="bold")
                yield head.append_text(line)

    def _title(self) -> Block:
        site, document = self.site, self.document
        symbol, word, color = OUTCOMES[site.outcome]
        for line in _fold(site.id, self.width, " " * INDENT):
            yield Text(line, style="bold")
        said = f"fused into {site.kernel}" if site.fused else f"{word}, {site.code}"
        yield Text(f"{symbol} {said}", style=color)
        facts = [document.model, f"target {document.target}", document.device]
        yield Text(" · ".join(fact for fact in facts if fact), style="dim")

    def _written(self) -> Block:
        """The model's own ops, by the module that wrote them."""
        members = self.site.imported or self.site.members
        count = f"{len(members)} op{'' if len(members) == 1 else 's'}"
        yield Text(f"{count}, as the model was imported")
        yield from self._rows(members)

    def _rows(self, members: Sequence[Member]) -> Block:
        shown = members[:MOST]
        ops = max((len(_short(m.op)) for m in shown), default=0)
        names = max((len(m.name) for m in shown), default=0)
        for layer, group in groupby(shown, key=lambda m: m.layer):
            if layer:
                yield from self._wrap(f"in {layer}", style="cyan")
            for m in group:
                own = m.name if m.name != _short(m.op) else ""
                line = Text(f"  {_short(m.op):<{ops}}  ").append(f"{own:<{names}}")
                yield line.append(f"  {m.location}", style="dim")
        if len(members) > MOST:
            text = f"  … and {len(members) - MOST} more (--format json has all)"
            yield Text(text, style="dim")

    def _passes(self) -> Block:
        """What happened before the site was decided."""
        if not self.site.trail:
            yield from self._wrap(
                "not in the record; ask about the model file for them"
            )
            return
        early = [step for step in self.site.trail if not _calls(step)]
        if not early:
            yield Text("none changed it")
        for step in early:
            yield Text(step.pass_)
            yield from self._did(step)

    def _did(self, step: Step) -> Block:
        if step.removed or step.made:
            before = _counted(step.removed) or "nothing"
            after = _counted(step.made) or "nothing"
            yield from self._wrap(f"{before} → {after}", INDENT, "dim")
        for change in step.changed[:2]:
            text = change.replace("tessera.", "").replace(" -> ", " → ")
            yield from self._wrap(text, INDENT, "dim")
        if len(step.changed) > 2:
            more = f"and {len(step.changed) - 2} more options"
            yield from self._wrap(more, INDENT, "dim")

    def _read(self) -> Block:
        site = self.site
        names = ", ".join(_short(op.op) for op in site.members)
        kernel = site.kernel or site.nearest
        if site.fused:
            yield from self._wrap(f"{kernel}: {names}")
        elif kernel:
            yield from self._wrap(f"nearly {kernel}, which read {names}")
        else:
            yield from self._wrap(f"{site.kind}: {names}")

    def _intent(self) -> Block:
        site = self.site
        if site.intent is None:
            if site.source in ("rediscovered", "composite_op"):
                yield from self._wrap(f"none: {SOURCES[site.source]}")
            return
        place = site.members[-1] if site.members else None
        where = f" on {_told(place)}" if place else ""
        yield from self._wrap(f"{site.intent}{where}")
        color = "yellow" if site.intent_verdict == "contradicted" else "green"
        yield Text(site.intent_verdict, style=color)

    def _refused(self) -> Block:
        """The first predicate that failed, and where."""
        site = self.site
        if site.code is None:
            return
        by = "the intent, not the site" if site.fused else f"by {site.pass_}"
        yield from self._wrap(by)
        yield Text.assemble((site.code, "bold"), f" {site.predicate}")
        for label, text in (("found", site.found), ("wanted", site.wanted)):
            yield from self._wrap(f"{label:<7} {text}", INDENT, hang=8)
        if site.at is not None:
            yield from self._wrap(f"{'at':<7} {_told(site.at)}", INDENT, hang=8)

    def _became(self) -> Block:
        """The call that computes the site, its operands and options."""
        site = self.site
        if site.call is None:
            return
        yield from self._wrap(f"by {site.pass_}")
        yield from self._wrap(f"@{site.call.symbol}", style="green")
        operands = site.call.operands
        roles = max((len(o.role) for o in operands), default=0)
        types = max((len(o.type) for o in operands), default=0)
        for o in operands:
            what = "weight" if o.op == "tessera.const" else _short(o.op)
            what = "input" if what == "argument" else what
            place = f" ({o.location})" if o.location else ""
            text = f"{o.role:<{roles}}  {o.type:<{types}}  {what} {o.name}{place}"
            yield from self._wrap(text, INDENT, hang=roles + types + 4)
        options = [f"{key} = {_plain(v)}" for key, v in site.semantics.items()]
        yield from self._wrap(", ".join(options), INDENT, "cyan")

    def _runs(self) -> Block:
        site = self.site
        where = f"on {site.placement}" if site.placement else "not on this machine"
        if site.call is not None:
            yield Text(f"{where}, as one call")
        elif site.runs:
            count = len(site.runs)
            calls = f"{count} call{'' if count == 1 else 's'}"
            yield from self._wrap(f"{where}, unfused, as {calls}")
            yield from self._wrap(", ".join(f"@{s}" for s in site.runs), INDENT, "dim")
        else:
            yield Text(f"{where}, unfused")
        if site.bytes_saved is not None or site.launches_saved is not None:
            yield from self._wrap(_figures(site), style="dim")

    def _digests(self) -> Block:
        site = self.site
        if site.before or site.after:
            yield Text(f"before  {site.before or '—'}", style="dim")
            yield Text(f"after   {site.after or '—'}", style="dim")

    def _to_do(self) -> Block:
        site = self.site
        if site.suggestion:
            yield from self._wrap(site.suggestion, style="yellow")
        if site.code:
            yield Text(f"`tessera explain {site.code}` has more", style="dim")

    def _wrap(
        self, text: str, indent: int = 0, style: str = "", hang: int = 0
    ) -> Block:
        """Text in lines of the width that is left; later ones `hang` further in."""
        lines = textwrap.wrap(
            text,
            self.room,
            initial_indent=" " * indent,
            subsequent_indent=" " * (indent + hang),
            break_on_hyphens=False,
            break_long_words=False,
        )
        deeper = " " * (indent + hang + INDENT)
        folded = [part for line in lines for part in _fold(line, self.room, deeper)]
        return [Text(line, style=style) for line in folded]


def _fold(line: str, width: int, lead: str) -> Iterator[str]:
    """A line that is too long in several, broken after a dot, slash or underscore."""
    while len(line) > width:
        cut = max(line.rfind(mark, len(lead), width) for mark in "./_") + 1
        cut = cut if cut > len(lead) else width
        yield line[:cut]
        line = lead + line[cut:]
    yield line


def _short(name: str) -> str:
    return name.removeprefix("tessera.")


def _calls(step: Step) -> bool:
    """Whether a step made calls: it came after the decision."""
    return any(name.startswith("call ") for name in step.made)


def _told(member: Member) -> str:
    short = _short(member.op)
    own = f" '{member.name}'" if member.name and member.name != short else ""
    return f"{short}{own}" + (f" ({member.location})" if member.location else "")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{_short(name)} ×{count}" if count > 1 else _short(name)
        for name, count in counts.items()
    )


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _figures(site: Site) -> str:
    parts: list[str] = []
    if site.bytes_saved is not None:
        parts.append(f"saves {show_bytes(site.bytes_saved)}")
    if site.launches_saved is not None:
        count = site.launches_saved
        lead = "" if parts else "saves "
        parts.append(f"{lead}{count} launch{'' if count == 1 else 'es'}")
    if site.flops:
        parts.append(f"{site.flops:,} operations")
    return ", ".join(parts) + " a run"
