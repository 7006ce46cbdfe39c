"""Casts that widen around one function, which computes in the wide type anyway."""

from __future__ import annotations

from typing import cast

from tessera.graph.normalise.view_identities import Replacement
from tessera.graph.operation import GraphOp
from tessera.graph.ops import elementwise as ew
from tessera.graph.ops.composite import GeluOp, SoftmaxOp
from tessera.graph.ops.layout import CastOp
from tessera.graph.rewriting import notes_of
from tessera.graph.types import Tensor, value_dtype

NARROW = frozenset({"f16", "bf16"})
# Each computes f16 and bf16 in f32 and rounds once, at its end.
ROUND_ONCE = (SoftmaxOp, GeluOp, ew.SiluOp, ew.SoftplusOp, ew.TanhOp, ew.SigmoidOp)


def widened_rule(op: GraphOp) -> Replacement:
    """A narrow value cast to f32, one function of it, and the cast back: the function.

    The same bits, since a function of narrow values is computed so.  A result that is
    also read in f32 stays, and so does one that carries a note.
    """
    name, inner = value_dtype(op.results[0]), op.operands[0].owner
    if name not in NARROW or not isinstance(inner, ROUND_ONCE):
        return None
    wide = inner.operands[0].owner
    if not isinstance(wide, CastOp) or value_dtype(inner.results[0]) != "f32":
        return None
    source = wide.operands[0]
    if value_dtype(source) != name or not inner.results[0].has_one_use():
        return None
    if notes_of(inner):
        return None
    result = cast(Tensor, op.results[0].type)
    return type(inner).build([source], (result,), inner.location, **inner.options())
