"""`tessera audit`: what was fused, by whose decision, where it ran, and why not."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tessera.audit import check_lock, render_json, render_text, write_lock
from tessera.cli.console import colored, emit, say, width
from tessera.cli.models import open_model
from tessera.cli.options import ModelArgument, RemarksOption, TargetOption
from tessera.decisions import Document


class Format(StrEnum):
    """How to print the decisions."""

    text = "text"
    json = "json"


def audit(
    model: ModelArgument,
    target: TargetOption = "",
    form: Annotated[
        Format, typer.Option("--format", help="A table, or exactly the document.")
    ] = Format.text,
    lock: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the decisions, one line per site."),
    ] = None,
    check: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Compare with a lock file; exit 1 if a site lost its kernel.",
        ),
    ] = None,
    full: Annotated[
        bool, typer.Option("--full", help="A row for every site, with its place.")
    ] = False,
    remarks: RemarksOption = False,
) -> None:
    """Show each fusion decision of a model: made, refused or not worth it, and why."""
    if lock is not None and check is not None:
        raise typer.BadParameter("--lock writes and --check reads: give one of them")
    document = open_model(model, target, remarks).document
    if form is Format.json:
        emit(render_json(document))
    elif check is None:
        color = colored(sys.stdout)
        emit(render_text(document, width=width(), color=color, full=full))
    if lock is not None:
        write_lock(document, lock)
        if form is Format.text:
            say("", Text(f"locked in {lock}", style="dim"))
    if check is not None:
        _check(document, check, quiet=form is Format.json)


def _check(document: Document, path: Path, quiet: bool) -> None:
    """Say what the lock finds, on stderr when stdout is for the document alone."""
    findings = check_lock(document, path)
    errors = [finding for finding in findings if finding.severity == "error"]
    if quiet:
        for finding in findings:
            print(finding, file=sys.stderr)
    else:
        for finding in findings:
            color = "red" if finding.severity == "error" else "cyan"
            head = (f"{finding.severity}: ", f"bold {color}")
            say(Text.assemble(head, f"{finding.site}: {finding.message}"))
        lost = f"{len(errors)} of them changed for the worse" if errors else "all hold"
        say(f"{path}: {len(document.sites)} sites checked, {lost}")
    if errors:
        raise typer.Exit(1)
