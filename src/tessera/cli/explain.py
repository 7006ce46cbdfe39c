"""`tessera explain`: the page of a diagnostic code."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import textwrap
from typing import Annotated

import typer
from rich.text import Text

from tessera.cli.codes import NO_CODE
from tessera.cli.console import say, width
from tessera.diagnostics import CODES, Code, TesseraError

KINDS = {
    "capability": "a refusal: the kernel cannot",
    "profitability": "a refusal: it would not pay",
    "error": "an error",
}
PAGE_WIDTH = 88


def explain(
    code: Annotated[
        str, typer.Argument(metavar="[CODE]", help="Such as TSR-F101; all without.")
    ] = "",
) -> None:
    """Explain a diagnostic code: what it means and what to do."""
    declare_all()
    if not code:
        say(*(Text.assemble((c, "bold"), f"  {CODES[c].title}") for c in sorted(CODES)))
        return
    say(*_page(find_code(code)))


def declare_all() -> None:
    """Import every module that can be imported here: importing one declares its codes."""
    import tessera

    for module in pkgutil.walk_packages(tessera.__path__, "tessera."):
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ImportError:  # it needs an extra that is not installed
            continue


def find_code(text: str) -> Code:
    """The code of that id, in any case, with or without its TSR-."""
    wanted = text.strip().upper()
    for name in (wanted, f"TSR-{wanted}"):
        if name in CODES:
            return CODES[name]
    family = [name for name in CODES if name.startswith(wanted[:5])]
    close = difflib.get_close_matches(wanted, family or CODES, 3, 0.5)
    hint = f"did you mean {', '.join(close)}; " if close else ""
    remedy = f"{hint}`tessera explain` lists all codes"
    raise TesseraError(NO_CODE, f"no code '{text}'", remedy=remedy)


def _page(code: Code) -> list[Text]:
    columns = min(width(), PAGE_WIDTH)
    lines = textwrap.wrap(code.help, columns)
    head = Text.assemble((code.id, "bold"), "  ", code.title)
    kind = Text(KINDS[code.kind], style="dim")
    return [head, kind, Text(), *map(Text, lines)]
