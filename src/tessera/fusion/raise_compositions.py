"""Raising as one pass: decomposed functions first, then whole chains."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tessera.graph.context import run_passes


@dataclass(frozen=True)
class RaiseCompositions(ModulePass):
    """Run the raising passes that the catalog lists, in order."""

    name = "tessera-raise-compositions"

    passes: ClassVar[Sequence[type[ModulePass]]] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module."""
        run_passes(self.passes, ctx, op)


def compositions_pass(passes: Sequence[type[ModulePass]]) -> type[RaiseCompositions]:
    """The pass class that runs `passes`."""
    body = {"passes": tuple(passes), "__module__": __name__}
    return type("RaiseCompositions", (RaiseCompositions,), body)
