"""Raising: regions of arithmetic become the composite ops that they spell.

`RAISE` is the list, in order.  What raising makes (the tables of a rope) is folded and
hoisted at the end.
"""

from xdsl.passes import ModulePass

from tessera.graph.normalise.fold_constants import FoldConstants
from tessera.graph.normalise.hoist_constants import HoistConstants
from tessera.graph.raising.raise_elementwise import RaiseElementwise
from tessera.graph.raising.raise_norms import RaiseNorms
from tessera.graph.raising.raise_rope import RaiseRope

RAISE: tuple[type[ModulePass], ...] = (
    RaiseNorms,
    RaiseElementwise,
    RaiseRope,
    FoldConstants,
    HoistConstants,
)

__all__ = ["RAISE"]
