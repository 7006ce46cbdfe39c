"""Raising: regions of arithmetic become the composite ops that they spell.

`RAISE` is the list, in order.  What raising makes is brought into the normal form at
the end: constants folded and hoisted, defaults written.
"""

from xdsl.passes import ModulePass

from tessera.graph.normalise.fold_constants import FoldConstants
from tessera.graph.normalise.hoist_constants import HoistConstants
from tessera.graph.normalise.write_defaults import WriteDefaults
from tessera.graph.raising.raise_elementwise import RaiseElementwise
from tessera.graph.raising.raise_norms import RaiseNorms
from tessera.graph.raising.raise_rope import RaiseRope
from tessera.graph.raising.split_products import SplitProducts

RAISE: tuple[type[ModulePass], ...] = (
    RaiseNorms,
    SplitProducts,
    RaiseElementwise,
    RaiseRope,
    FoldConstants,
    WriteDefaults,
    HoistConstants,
)

__all__ = ["RAISE"]
