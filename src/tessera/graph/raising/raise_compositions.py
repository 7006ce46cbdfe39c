"""Decomposed functions become the composite ops they spell."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tessera.graph.normalise.normalise_graph import NormaliseGraph
from tessera.graph.raising.raise_elementwise import RaiseElementwise
from tessera.graph.raising.raise_norms import RaiseNorms
from tessera.graph.raising.raise_rope import RaiseRope

RAISE: tuple[type[ModulePass], ...] = (RaiseNorms, RaiseElementwise, RaiseRope)


@dataclass(frozen=True)
class RaiseCompositions(ModulePass):
    """Run every raising pass, then bring what they made into the normal form."""

    name = "tessera-raise-compositions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for item in RAISE:
            item().apply(ctx, op)
        NormaliseGraph().apply(ctx, op)
