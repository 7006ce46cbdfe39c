"""The normal form of Graph IR: one spelling for every idea, as a list of passes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tessera.graph.context import run_passes
from tessera.graph.normalise.absorb_transposes import AbsorbTransposes
from tessera.graph.normalise.drop_dead_code import DropDeadCode
from tessera.graph.normalise.drop_identities import DropIdentities
from tessera.graph.normalise.fold_constants import FoldConstants
from tessera.graph.normalise.hoist_constants import HoistConstants
from tessera.graph.normalise.row_products import RowProducts
from tessera.graph.normalise.scatter_to_concat import ScatterToConcat
from tessera.graph.normalise.write_defaults import WriteDefaults

NORMALISE: tuple[type[ModulePass], ...] = (
    DropDeadCode,
    FoldConstants,
    ScatterToConcat,
    RowProducts,
    DropIdentities,
    AbsorbTransposes,
    WriteDefaults,
    HoistConstants,
)


@dataclass(frozen=True)
class NormaliseGraph(ModulePass):
    """Run every normalising pass once, in order; a second run changes nothing."""

    name = "tessera-normalise-graph"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        run_passes(NORMALISE, ctx, op)
