"""`tessera kernels`: the fused kernels of the catalog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from tessera.cli.console import say

if TYPE_CHECKING:
    from tessera.fusion.kernel import FusedKernel


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
    lines = [
        Text.assemble((f"  {name:<12}", "dim"), value)
        for name, value in facts.items()
        if value
    ]
    return [head, *lines, Text()]


def _option(kernel: FusedKernel, name: str) -> str:
    default = kernel.options[name].default
    return name if default is None else f"{name} = {str(default).lower()}"


def _origins(kernel: FusedKernel) -> str:
    origins = ["its chain of ops"] if kernel.readings else []
    return ", ".join([*origins, *(f"tessera.{name}" for name in kernel.composites)])
