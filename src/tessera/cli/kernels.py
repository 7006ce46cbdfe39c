"""`tessera kernels`: the fused kernels of the catalog."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.text import Text

from tessera.cli.console import say, width

if TYPE_CHECKING:
    from tessera.fusion.kernel import FusedKernel


MARGIN = 14


def kernels() -> None:
    """List the fused kernels: what each computes, its options, and its targets."""
    from tessera.catalog import CONSUME, KERNELS

    for kernel in KERNELS:
        say(*_entry(kernel, sorted(CONSUME)))


def _entry(kernel: FusedKernel, targets: list[str]) -> list[Text]:
    head = Text.assemble((kernel.name, "bold"), (f"  {kernel.kind} sites", "cyan"))
    operands = ", ".join(
        f"[{role.rstrip('?')}]" if role.endswith("?") else role for role in kernel.roles
    )
    facts = {
        "computes": kernel.summary,
        "operands": operands,
        "options": ", ".join(_option(kernel, name) for name in kernel.options),
        "fused from": _origins(kernel),
        "targets": ", ".join(targets),
    }
    lines = [line for fact in facts.items() if fact[1] for line in _fact(*fact)]
    return [head, *lines, Text()]


def _fact(name: str, value: str) -> list[Text]:
    """A fact over as many lines as it needs, its name before the first."""
    lines = textwrap.wrap(value, width() - MARGIN, break_on_hyphens=False)
    first, *rest = (line.replace("\u00a0", " ") for line in lines)
    head = Text.assemble((f"  {name}".ljust(MARGIN), "dim"), first)
    return [head, *(Text(" " * MARGIN + line) for line in rest)]


def _option(kernel: FusedKernel, name: str) -> str:
    kind = kernel.options[name]
    if kind.required:
        return f"{name}\u00a0(required)"
    if kind.default is None:
        return name
    default = str(kind.default).lower()
    # no-break spaces keep an option on one line
    return f"{name}\u00a0=\u00a0{default}"


def _origins(kernel: FusedKernel) -> str:
    origins = ["its chain of ops"] if kernel.readings else []
    return ", ".join([*origins, *(f"tessera.{name}" for name in kernel.composites)])
