"""The lock file: one line per site, and what of it no longer holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

from tessera.artifact.files import replacing
from tessera.decisions import Document, Site
from tessera.diagnostics import TesseraError, declare

SCHEMA = "tessera.lock/1"
NONE = "-"
FIELDS = ("id", "outcome", "kernel", "source", "code")

BAD_LOCK = declare(
    "TSR-R050",
    "the lock file cannot be read",
    "A lock file is written by `tessera audit MODEL --lock FILE`: a header line, then "
    "one line per site with tabs between id, outcome, kernel, source and code. Write "
    "it again.",
    "error",
)

OTHER_TARGET = declare(
    "TSR-R051",
    "the lock file is for another target",
    "Decisions differ from target to target, so each target has a lock file of its "
    "own. Check with the target that the lock file names, or write another.",
    "error",
)

What = Literal[
    "lost_kernel", "changed_kernel", "changed_source", "disappeared", "new", "gained"
]


@dataclass(frozen=True)
class Finding:
    """One difference from the lock; an `error` fails the check, a `note` does not."""

    severity: Literal["error", "note"]
    what: What
    site: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.site}: {self.message}"


@dataclass(frozen=True)
class Locked:
    """One line of a lock file."""

    id: str
    outcome: str
    kernel: str
    source: str
    code: str


def lock_text(document: Document) -> str:
    """The lock file of a document: sorted, so that a diff shows what changed."""
    lines = [_line(_locked(site)) for site in document.sites]
    header = f"# {SCHEMA}\t{_escape(document.model)}\t{document.target}"
    return "\n".join([header, *sorted(lines)]) + "\n"


def write_lock(document: Document, path: str | Path) -> None:
    """Write the lock file; TesseraError TSR-R009 when the file system refuses."""
    with replacing(path) as file:
        file.write(lock_text(document).encode())


def check_lock(document: Document, path: str | Path) -> list[Finding]:
    """What the document lost or gained since the lock, errors first.

    Raises TesseraError TSR-R050 when the lock cannot be read, TSR-R051 when it is for
    another target.
    """
    target, locked = read_lock(path)
    if target != document.target:
        raise TesseraError(
            OTHER_TARGET,
            f"'{path}' is for target '{target}', the audit is of '{document.target}'",
            remedy=f"use `--target {target}`, or another lock file",
        )
    sites = {site.id: site for site in document.sites}
    findings: list[Finding] = []
    for line in locked.values():
        findings += _compare(line, sites, locked)
    for site in document.sites:
        if site.id not in locked:
            text = f"new site: {_now(site)}"
            findings.append(Finding("note", "new", site.id, text))
    return sorted(findings, key=lambda finding: finding.severity == "note")


def read_lock(path: str | Path) -> tuple[str, dict[str, Locked]]:
    """The target of a lock file, and its lines by site id."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        _refuse(f"'{path}': {reason}")
    header = lines[0].split("\t") if lines else [""]
    if header[0] != f"# {SCHEMA}" or len(header) != 3:
        _refuse(f"'{path}' does not begin with '# {SCHEMA}', model and target")
    locked: dict[str, Locked] = {}
    for number, line in enumerate(lines[1:], 2):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) != len(FIELDS):
            _refuse(
                f"'{path}' line {number}: {len(cells)} fields, wanted {len(FIELDS)}"
            )
        name = _unescape(cells[0])
        if name in locked:
            _refuse(f"'{path}' line {number}: site '{name}' is there twice")
        locked[name] = Locked(name, *cells[1:])
    return header[2], locked


def _compare(
    line: Locked, sites: Mapping[str, Site], locked: Mapping[str, Locked]
) -> Iterable[Finding]:
    site = sites.get(line.id)
    if site is None:
        yield _gone(line, sites.values(), locked)
    elif line.outcome != "fused":
        if site.fused:
            yield Finding("note", "gained", line.id, f"is fused now: {_now(site)}")
    elif not site.fused:
        text = f"lost its kernel {line.kernel}: {_now(site)}"
        yield Finding("error", "lost_kernel", line.id, text)
    elif site.kernel != line.kernel:
        text = f"changed kernel from {line.kernel} to {site.kernel}{_why(site)}"
        yield Finding("error", "changed_kernel", line.id, text)
    elif site.source != line.source:
        text = f"changed source from {line.source} to {site.source}{_why(site)}"
        yield Finding("error", "changed_source", line.id, text)


def _gone(line: Locked, sites: Iterable[Site], locked: Mapping[str, Locked]) -> Finding:
    """A site that is no longer seen, with the new sites of its scope as a hint."""
    if line.outcome != "fused":
        text = f"disappeared (it was {line.outcome.replace('_', ' ')})"
        return Finding("note", "disappeared", line.id, text)
    scope = line.id.rpartition("/")[0]
    near = [
        f"{site.id} {_now(site)}"
        for site in sites
        if site.id not in locked and site.id.rpartition("/")[0] == scope
    ]
    text = f"disappeared: no site is recognised there now (it had {line.kernel})"
    if near:
        text = f"disappeared (it had {line.kernel}); in its scope: {'; '.join(near)}"
    return Finding("error", "disappeared", line.id, text)


def _now(site: Site) -> str:
    if site.fused:
        return f"{site.kernel}, decided by {site.source}{_why(site)}"
    return f"{site.outcome.replace('_', ' ')}{_why(site)}"


def _why(site: Site) -> str:
    if site.code is None:
        return ""
    text = f", {site.code} {site.predicate}"
    text += f": found {site.found}" if site.found else ""
    return text + (f", wanted {site.wanted}" if site.wanted else "")


def _locked(site: Site) -> Locked:
    optional = (site.kernel, site.source, site.code)
    return Locked(site.id, site.outcome, *(value or NONE for value in optional))


def _line(locked: Locked) -> str:
    return "\t".join(_escape(getattr(locked, name)) for name in FIELDS)


def _escape(text: str) -> str:
    escapes = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
    return "".join(escapes.get(letter, letter) for letter in text)


def _unescape(text: str) -> str:
    plain = {"t": "\t", "n": "\n", "r": "\r"}
    out, letters = "", iter(text)
    for letter in letters:
        follower = next(letters, "") if letter == "\\" else ""
        out += plain.get(follower, follower) if letter == "\\" else letter
    return out


def _refuse(text: str) -> NoReturn:
    raise TesseraError(
        BAD_LOCK,
        f"the lock file cannot be read: {text}",
        remedy="write it again with `tessera audit MODEL --lock FILE`",
    )
