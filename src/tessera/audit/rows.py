"""From sites to the rows of a table: what is the same in every layer is one row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tessera.decisions import Document, Site

# What must agree for two sites to share a row, beside their place.
SHARED = (
    "kind",
    "outcome",
    "kernel",
    "source",
    "intent",
    "intent_verdict",
    "code",
    "predicate",
    "found",
    "wanted",
    "nearest",
    "placement",
)


@dataclass(frozen=True)
class Row:
    """One or more sites that read the same; `label` says where they are."""

    label: str
    sites: tuple[Site, ...]

    @property
    def site(self) -> Site:
        """What the row says: any of its sites."""
        return self.sites[0]

    @property
    def reason(self) -> str:
        """Why the site, or the intent on it, was not taken; "" when all went well."""
        site = self.site
        if site.code is None:
            return ""
        near = f" ({site.nearest})" if site.nearest and not site.intent else ""
        asked = ""
        if site.intent_verdict == "contradicted":
            asked = f"the intent {site.intent} is contradicted: "
        text = f"{site.code}{near} {asked}{site.predicate}"
        if site.found:
            text += f": found {site.found}"
        if site.wanted:
            text += f"; wanted {site.wanted}"
        return text


@dataclass(frozen=True)
class Section:
    """The rows of one kind of site."""

    kind: str
    rows: tuple[Row, ...]
    fused: int
    total: int


def sections(document: Document, full: bool = False) -> list[Section]:
    """The sections of the table, those with a fused site first; `full`: a row a site."""
    prefix = common_prefix([site.layer for site in document.sites if site.layer])
    found: list[Section] = []
    for kind in dict.fromkeys(site.kind for site in document.sites):
        sites = [site for site in document.sites if site.kind == kind]
        rows = [Row(_label(s, prefix), (s,)) for s in sites] if full else None
        fused = sum(site.fused for site in sites)
        rows = rows or collapse(sites, prefix)
        found.append(Section(kind, tuple(rows), fused, len(sites)))
    return sorted(found, key=lambda section: section.fused == 0)


def advice(document: Document) -> list[tuple[Site, int]]:
    """What a reader can do: a site for each kind of suggestion, and how many have it.

    Suggestions are of one kind when they differ in names, places and numbers alone.
    """
    alike: dict[tuple[str, str], list[Site]] = {}
    for site in document.sites:
        if site.code and site.suggestion:
            shape = re.sub(r"'[^']*'|\([^()]*:\d+\)|\d+", "#", site.suggestion)
            alike.setdefault((site.code, shape), []).append(site)
    return [(sites[0], len(sites)) for sites in alike.values()]


def common_prefix(layers: Sequence[str]) -> str:
    """The scope that all layers share, with its final dot, up to a numbered part."""
    if len(set(layers)) < 2:
        return ""
    parts = [layer.split(".")[:-1] for layer in layers]
    shared: list[str] = []
    for column in zip(*parts, strict=False):
        if len(set(column)) > 1 or column[0].isdigit():
            break
        shared.append(column[0] + ".")
    return "".join(shared)


def collapse(sites: Iterable[Site], prefix: str = "") -> list[Row]:
    """Rows in order of first appearance; sites that differ only in numbers share one."""
    groups: dict[tuple[object, ...], list[Site]] = {}
    for site in sites:
        shared = tuple(getattr(site, name) for name in SHARED)
        pattern = re.sub(r"(?<![^.])\d+(?![^.])", "#", _label(site, prefix))
        groups.setdefault((pattern, *shared), []).append(site)
    rows: list[Row] = []
    for group in groups.values():
        rows += _rows(group, prefix)
    return rows


def _rows(sites: Sequence[Site], prefix: str) -> list[Row]:
    """One row when the numbers form a full grid, else one row a combination of rest."""
    labels = list(dict.fromkeys(_label(site, prefix) for site in sites))
    columns = _columns(labels)
    size = 1
    for column in columns:
        size *= len(set(column))
    if size == len(labels):
        return [Row(_merge(labels), tuple(sites))]
    first = next(i for i, c in enumerate(columns) if len(set(c)) > 1)
    rest: dict[tuple[str, ...], list[Site]] = {}
    for site in sites:
        parts = _label(site, prefix).split(".")
        key = tuple(part for i, part in enumerate(parts) if i != first)
        rest.setdefault(key, []).append(site)
    return [
        Row(_merge([_label(s, prefix) for s in group]), tuple(group))
        for group in rest.values()
    ]


def _columns(labels: Sequence[str]) -> list[tuple[str, ...]]:
    return list(zip(*(label.split(".") for label in labels), strict=True))


def _merge(labels: Sequence[str]) -> str:
    """`layer.0.mlp`, `layer.1.mlp` as `layer.0–1.mlp`."""
    parts: list[str] = []
    for column in _columns(labels):
        same = len(set(column)) == 1
        parts.append(column[0] if same else ranges({int(part) for part in column}))
    return ".".join(parts)


def ranges(numbers: Iterable[int]) -> str:
    """Sorted numbers with runs shortened: 0–2,5."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return ",".join(str(a) if a == b else f"{a}–{b}" for a, b in runs)


def _label(site: Site, prefix: str = "") -> str:
    """Where a site is: its layer, else its place in the file, else its id."""
    if site.layer:
        return site.layer.removeprefix(prefix)
    return site.location or site.id
