"""`tessera why`: one site's story, from the model's own ops to what runs them."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer
from rich.text import Text

from tessera.audit import render_json, render_story
from tessera.audit.table import OUTCOMES
from tessera.cli.audit import Format
from tessera.cli.codes import NO_SITE
from tessera.cli.console import colored, emit, say, width
from tessera.cli.models import open_model
from tessera.cli.options import ModelArgument, TargetOption
from tessera.decisions import Document, Site
from tessera.diagnostics import TesseraError

SHOWN = 5
NUMBERED = re.compile(r"([\w-]+)#(\d+)")


def why(
    model: ModelArgument,
    site: Annotated[
        str,
        typer.Argument(
            metavar="[SITE]",
            help="An id, the end of one, or a kind and number (attention#0); "
            "without, the sites are listed.",
        ),
    ] = "",
    target: TargetOption = "",
    form: Annotated[
        Format, typer.Option("--format", help="A story, or a document of that site.")
    ] = Format.text,
) -> None:
    """Tell how one site came to its decision, pass by pass, and what to do about it.

    An artifact tells what its record holds; the model file tells every pass.
    """
    document = _open(model, target)
    chosen = (find_site(document.sites, site),) if site else document.sites
    if form is Format.json:
        emit(render_json(replace(document, sites=chosen)))
    elif site:
        color = colored(sys.stdout)
        emit(render_story(document, chosen[0], width=width(), color=color))
    else:
        say(*_listed(document))


def _open(model: ModelArgument, target: str) -> Document:
    from tessera.trail.watch import Watch

    return open_model(model, target, watch=Watch()).document


def find_site(sites: Sequence[Site], text: str) -> Site:
    """The site that SITE means; TesseraError TSR-R066 when none or several do.

    An id; a kind and its number in program order; else the one id that ends so, or the
    one that holds the text.
    """
    exact = [site for site in sites if site.id == text]
    if exact:
        return exact[0]
    numbered = NUMBERED.fullmatch(text)
    alike = [site for site in sites if numbered and site.kind == numbered[1]]
    if numbered and alike:
        return _nth(alike, int(numbered[2]))
    for fits in (str.endswith, str.__contains__):
        found = [site for site in sites if fits(site.id, text)]
        if len(found) == 1:
            return found[0]
        if found:
            raise _several(found, text)
    raise _none(sites, text)


def _nth(alike: Sequence[Site], number: int) -> Site:
    if number < len(alike):
        return alike[number]
    kind, last = alike[0].kind, len(alike) - 1
    count = f"{len(alike)} {kind} site{'s' if last else ''}"
    remedy = f"give {kind}#0" + (f" to {kind}#{last}" if last else "")
    text = f"no site '{kind}#{number}': the model has {count}"
    raise TesseraError(NO_SITE, text, remedy=remedy)


def _several(found: Sequence[Site], text: str) -> TesseraError:
    names = ", ".join(site.id for site in found[:SHOWN])
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    message = f"'{text}' could be {len(found)} sites: {names}{more}"
    return TesseraError(NO_SITE, message, remedy="give more of the id")


def _none(sites: Sequence[Site], text: str) -> TesseraError:
    close = difflib.get_close_matches(text, [site.id for site in sites], 3, 0.5)
    kinds = list(dict.fromkeys(site.kind for site in sites))
    name = text.partition("#")[0]
    close = close or [f"{k}#0" for k in difflib.get_close_matches(name, kinds, 2)]
    hint = f"did you mean {' or '.join(close)}; " if close else ""
    remedy = f"{hint}`tessera why MODEL` lists the sites"
    return TesseraError(NO_SITE, f"no site '{text}'", remedy=remedy)


def _listed(document: Document) -> list[Text]:
    """Every site with its outcome, and how to ask about one."""
    if not document.sites:
        cpu = "target cpu fuses nothing" if document.target == "cpu" else "it has none"
        return [Text(f"{document.model}: no sites, {cpu}")]
    lines: list[Text] = []
    numbers: dict[str, int] = {}
    for site in document.sites:
        number = numbers[site.kind] = numbers.get(site.kind, -1) + 1
        symbol, word, color = OUTCOMES[site.outcome]
        name = f"{site.kind}#{number}"
        says = (site.kernel or f"{word} {site.code or ''}").strip()
        lines.append(Text.assemble((symbol, color), f" {name:<14}", (says, color)))
        lines.append(Text(f"    {site.id}", style="dim"))
    first = document.sites[0]
    hint = f"`tessera why {document.model} {first.kind}#0` tells the first one's story"
    return [*lines, Text(), Text(hint, style="dim")]
