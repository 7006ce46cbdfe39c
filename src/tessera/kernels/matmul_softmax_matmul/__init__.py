"""`softmax(mask(cap(scale · Q Kᵀ))) V` in one call; the scores are never written out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tessera.diagnostics import declare
from tessera.fusion import codes
from tessera.fusion.demands import fits_scores, matrices, one_float_type, positive
from tessera.fusion.kernel import (
    Binding,
    Demand,
    FusedKernel,
    Objection,
    by_role,
)
from tessera.graph.algebra import Algebra
from tessera.graph.attributes import Bool, Causal, Float, Int
from tessera.graph.operation import GraphOp
from tessera.graph.types import DYN, Shape, broadcast_shapes, show, value_shape
from tessera.kernels.matmul_softmax_matmul import cpu
from tessera.reference.attention import default_scale

V = TypeVar("V")

HEADS = declare(
    "TSR-K101",
    "matmul_softmax_matmul: query heads are not a multiple of key heads",
    "Query head h reads key and value head h // (Hq / Hkv), so Hkv must divide Hq. Repeat or "
    "split the heads accordingly.",
)
SOFTCAP = declare(
    "TSR-K103",
    "matmul_softmax_matmul: a softcap that is not positive",
    "cap * tanh(s / cap) needs cap > 0. Leave it out for none.",
)


def meaning(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> tuple[V, ...]:
    """What one call must equal; order in scores: scale, softcap, mask, softmax."""
    q = x["q"]
    k, v = g.repeated(x["k"], q), g.repeated(x["v"], q)
    s = g.matmul(q, k, transpose_b=o["transpose_b"])
    s = g.capped(g.scaled(s, o["scale"], x.get("scale")), o["softcap"])
    mask, fill = x.get("mask"), g.fill(o["mask_fill"])
    rule = g.rule(q, x["v"], causal=o["causal"], window=o["window"])
    s = g.ruled(g.masked(s, mask, fill), rule)
    p = g.row_guarded(g.softmax(s), o["mask_guard"], mask)
    p = g.guarded(p, o["nan_guard"])
    return (g.attend(p, v, g.removed(mask, fill, rule)),)


def from_flash_attn(op: GraphOp) -> Binding:
    """`flash_attn` is this kernel with K given row by row."""
    roles = ("q", "k", "v", "mask")
    operands = by_role(roles, op.operands)
    options = op.options()
    width = value_shape(operands["q"])[-1]
    if options["scale"] is None:
        options["scale"] = default_scale(max(width, 0))
    return Binding(operands, {**options, "transpose_b": True})


def scores_shape(b: Binding) -> Shape | None:
    """The shape of the scores; None when heads or batch axes do not fit."""
    q, k = value_shape(b.operands["q"]), value_shape(b.operands["k"])
    lead = k[:-2]
    if min(len(q), len(k)) > 2 and k[-3] not in (q[-3], DYN, 1) and q[-3] != DYN:
        lead = (*k[:-3], q[-3])
    joined = broadcast_shapes(q[:-2], lead)
    keys = k[-2] if b.options["transpose_b"] else k[-1]
    return None if joined is None else (*joined, q[-2], keys)


def _mask_fits(b: Binding) -> Objection | None:
    if "mask" not in b.operands:
        return None
    scores = scores_shape(b)
    if scores is None:
        return Objection("batch axes that do not broadcast", "axes that do")
    return fits_scores(value_shape(b.operands["mask"]), scores)


def _heads_divide(b: Binding) -> Objection | None:
    q = value_shape(b.operands["q"])
    for role, name in (("k", "key"), ("v", "value")):
        heads = value_shape(b.operands[role])[-3:-2]
        if len(q) < 3 or not heads or DYN in (q[-3], *heads) or heads[0] in (0, q[-3]):
            continue
        if q[-3] % heads[0]:
            return Objection(
                f"{q[-3]} query heads over {heads[0]} {name} heads", "a multiple"
            )
    return None


def _width_known(b: Binding) -> Objection | None:
    q = value_shape(b.operands["q"])
    if q[-1] != DYN:
        return None
    return Objection(f"q of {show(q)}", "a known head size")


KERNEL = FusedKernel(
    name="matmul_softmax_matmul",
    kind="attention",
    summary="softmax(mask(cap(scale · Q Kᵀ))) V",
    roles=("q", "k", "v", "mask?", "scale?"),
    options={
        "scale": Float(1.0),
        "softcap": Float(None),
        "causal": Causal(),
        "window": Int(None),
        "mask_fill": Float(None),
        "mask_guard": Bool(False),
        "nan_guard": Bool(False),
        "transpose_b": Bool(False),
    },
    meaning=meaning,
    readings=({},),
    unfused={},
    composites={"flash_attn": from_flash_attn},
    scaled=("q", "k"),
    demands=(
        matrices("q", "k", "v"),
        one_float_type("mask"),
        Demand(codes.RANK, "head size", _width_known),
        Demand(HEADS, "grouped heads", _heads_divide),
        positive(SOFTCAP, "softcap"),
        Demand(codes.MASK, "mask", _mask_fits),
    ),
    cpu=cpu.emit,
)
