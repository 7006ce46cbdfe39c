"""`(silu(X Wg) ⊙ (X Wu)) Wd` as two launches: a paired product, then the down projection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tessera.diagnostics import declare
from tessera.fusion.demands import matrices, one_float_type
from tessera.fusion.kernel import (
    Binding,
    Demand,
    FusedKernel,
    Objection,
    by_role,
)
from tessera.graph.algebra import Algebra
from tessera.graph.attributes import Float, Kind, Word
from tessera.graph.operation import GraphOp
from tessera.graph.ops.composite import PACKINGS

V = TypeVar("V")

LIMIT = declare(
    "TSR-K401",
    "swiglu: a clamp limit that is not positive",
    "The clamped form is g = min(g, L), u = clip(u, -L, L) with L > 0.",
)
WEIGHTS = ("w_gate", "w_up", "w_down", "b_gate", "b_up", "b_down")
PACKED = ("w_gate", "w_down", "b_gate", "b_down")
TURNED = ("w_gate", "w_up", "w_down")
OPTIONS: Mapping[str, Kind] = {
    "packed": Word("none", PACKINGS),
    "limit": Float(None),
    "alpha": Float(1.0),
    "up_offset": Float(0.0),
}


def meaning(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> tuple[V, ...]:
    """What one call must equal.  The plain form is spelled out: it is the pattern."""
    if o.get("spelled"):
        return (_spelled(g, x, o),)
    order = WEIGHTS if o["packed"] == "none" else PACKED
    operands = [x[role] for role in ("x", *order) if role in x]
    return (g.apply("swiglu_fused", *operands, **o),)


def _spelled(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> V:
    turned = {role: {"transpose_b": o.get(f"turned_{role}", False)} for role in TURNED}
    gate = g.matmul(x["x"], x["w_gate"], **turned["w_gate"])
    gate = g.biased(gate, x.get("b_gate"))
    if o["packed"] == "none":
        up = g.matmul(x["x"], x["w_up"], **turned["w_up"])
        up = g.biased(up, x.get("b_up"))
    else:
        gate, up = (g.part(gate, i, o["packed"]) for i in (0, 1))
    if o["spelled"] == "silu_mul":
        hidden = g.apply("silu_mul", gate, up)
    else:
        hidden = g.apply("mul", g.apply("silu", gate), up)
    return g.matmul(hidden, x["w_down"], **turned["w_down"])


def raise_(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> V:
    """The pre-fused op of a matched chain; weights are read as [in, out]."""
    operands = {
        role: g.swapped(value) if o.get(f"turned_{role}") else value
        for role, value in x.items()
    }
    return meaning(g, operands, {name: o[name] for name in OPTIONS})[0]


def from_swiglu_fused(op: GraphOp) -> Binding:
    """`swiglu_fused` is this kernel."""
    options = op.options()
    order = WEIGHTS if options["packed"] == "none" else PACKED
    return Binding(by_role(("x", *order), op.operands), options)


def _limit_is_sane(b: Binding) -> Objection | None:
    limit = b.options["limit"]
    if limit is None or limit > 0:
        return None
    return Objection(f"limit = {limit}", "a limit above 0, or none")


KERNEL = FusedKernel(
    name="swiglu",
    kind="swiglu",
    summary="(silu(X Wg) ⊙ (X Wu)) Wd",
    roles=("x", "w_gate", "w_up?", "w_down", "b_gate?", "b_up?", "b_down?"),
    options=OPTIONS,
    meaning=meaning,
    readings=tuple(
        {"packed": packing, "spelled": form}
        for packing in PACKINGS
        for form in ("mul", "silu_mul")
    ),
    composites={"swiglu_fused": from_swiglu_fused},
    captures=tuple(f"turned_{role}" for role in TURNED),
    raised_to="swiglu_fused",
    raise_=raise_,
    demands=(
        matrices("x", "w_gate", "w_down"),
        one_float_type(),
        Demand(LIMIT, "limit", _limit_is_sane),
    ),
    seen_at=4,
    launches=2,
    unfused={"spelled": "mul"},
)
