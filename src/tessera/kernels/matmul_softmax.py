"""`softmax(mask(scale · A B))` along the last axis in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tessera.fusion import codes
from tessera.fusion.demands import fits_scores, last_two, matrices, one_float_type
from tessera.fusion.kernel import Binding, Demand, FusedKernel, Objection
from tessera.graph.algebra import Algebra
from tessera.graph.attributes import Bool, Float
from tessera.graph.types import broadcast_shapes, value_shape

V = TypeVar("V")


def meaning(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> tuple[V, ...]:
    """What one call must equal."""
    s = g.matmul(x["a"], x["b"], transpose_b=o["transpose_b"])
    s = g.scaled(s, o["scale"], x.get("scale"))
    return (g.softmax(g.masked(s, x.get("mask"), g.fill(o["mask_fill"]))),)


def _mask_fits(b: Binding) -> Objection | None:
    if "mask" not in b.operands:
        return None
    a, other = b.operands["a"], b.operands["b"]
    lead = broadcast_shapes(value_shape(a)[:-2], value_shape(other)[:-2]) or ()
    rows, _ = last_two(a, False)
    _, columns = last_two(other, b.options["transpose_b"])
    return fits_scores(value_shape(b.operands["mask"]), (*lead, rows, columns))


KERNEL = FusedKernel(
    name="matmul_softmax",
    kind="matmul_softmax",
    summary="softmax(mask(scale · A B)), last axis",
    roles=("a", "b", "mask?", "scale?"),
    options={
        "scale": Float(1.0),
        "mask_fill": Float(None),
        "transpose_b": Bool(False),
    },
    meaning=meaning,
    readings=({},),
    unfused={},
    scaled=("a", "b"),
    demands=(
        matrices("a", "b"),
        one_float_type("mask"),
        Demand(codes.MASK, "mask", _mask_fits),
    ),
)
