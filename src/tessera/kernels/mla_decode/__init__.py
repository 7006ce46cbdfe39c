"""Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434), from x or from a cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tessera.diagnostics import declare
from tessera.fusion.demands import one_float_type
from tessera.fusion.kernel import (
    Binding,
    Demand,
    FusedKernel,
    Objection,
    by_role,
)
from tessera.graph.algebra import Algebra
from tessera.graph.attributes import Bool, Float, Int, Word
from tessera.graph.operation import GraphOp
from tessera.graph.types import DYN, value_shape
from tessera.kernels.mla_decode.latent import reread
from tessera.reference.attention import default_scale

V = TypeVar("V")

ALIGNMENT = declare(
    "TSR-K501",
    "mla_decode: a causal mask aligned top left",
    "Latent attention aligns its causal mask bottom right: the last query sees every key. Use "
    'causal = "bottom_right", or the plain attention op.',
)
FROM_X = ("x", "w_dkv", "w_uk", "w_uv", "q")
CACHED = ("q_nope", "q_rope", "c", "k_rope", "w_uk", "w_uv", "mask")


def meaning(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> tuple[V, ...]:
    """What one call must equal; `spelled` readings are the chains it is raised from."""
    if "spelled" not in o:
        cached = "c" in x
        order = CACHED if cached else FROM_X
        names = ("scale", "causal") if cached else ("scale", "causal", "heads")
        operands = [x[role] for role in order if role in x]
        op = "mla_cached_fused" if cached else "mla_decode_fused"
        return (g.apply(op, *operands, **{name: o[name] for name in names}),)
    c = g.apply("latent_kv_compress", x["x"], x["w_dkv"])
    k = g.apply("latent_kv_expand_k", c, x["w_uk"], heads=o["heads"])
    v = g.apply("latent_kv_expand_v", c, x["w_uv"], heads=o["heads"])
    if o["spelled"] == "flash_attn":
        options = {"scale": o["scale"], "causal": o["alignment"]}
        return (g.apply("flash_attn", x["q"], k, v, **options),)
    s = g.matmul(x["q"], k, transpose_b=True)
    return (g.attend(g.softmax(g.scaled(s, o["scale"])), v, None),)


def raise_(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> V:
    """The pre-fused op of a matched chain."""
    scale, causal = o["scale"], o.get("alignment", "none") == "bottom_right"
    operands = [x[role] for role in FROM_X]
    options = {"scale": scale, "causal": causal, "heads": o["heads"]}
    return g.apply("mla_decode_fused", *operands, **options)


def from_x(op: GraphOp) -> Binding:
    """`mla_decode_fused` is this kernel without a cache."""
    operands = by_role(FROM_X, op.operands)
    options = op.options()
    if options["scale"] is None:
        options["scale"] = _default_scale(value_shape(operands["q"])[-1])
    q, w_uk = value_shape(operands["q"]), value_shape(operands["w_uk"])
    heads = options["heads"] or 1
    sizes = (value_shape(operands["x"])[-2], q[-2], heads, w_uk[0], q[-1], 0)
    width_v = value_shape(operands["w_uv"])[-1] // heads
    return Binding(operands, {**options, "form": _cheaper(*sizes, width_v)})


def from_cache(op: GraphOp) -> Binding:
    """`mla_cached_fused` is this kernel over a cached latent."""
    operands = by_role(CACHED, op.operands)
    options = op.options()
    q_nope, q_rope = value_shape(operands["q_nope"]), value_shape(operands["q_rope"])
    if options["scale"] is None:
        options["scale"] = _default_scale(q_nope[-1], q_rope[-1])
    c, w_uv = value_shape(operands["c"]), value_shape(operands["w_uv"])
    sizes = (c[1], q_nope[2], q_nope[1], c[2], q_nope[3], q_rope[3])
    return Binding(operands, {**options, "form": _cheaper(*sizes, w_uv[2])})


def _default_scale(*widths: int) -> float | None:
    """1 / sqrt of the whole head size; left to run time where a part is not known."""
    return None if DYN in widths else default_scale(sum(widths))


def _cheaper(
    keys: int, queries: int, heads: int, latent: int, nope: int, rope: int, value: int
) -> str:
    """The form with fewer multiplications: expand K and V, or absorb W_uk and W_uv in q."""
    if DYN in (keys, queries, heads, latent, nope, rope, value):
        return "expanded"
    both = nope + value
    expanded = keys * latent * heads * both + queries * keys * heads * (both + rope)
    absorbed = queries * heads * latent * both
    absorbed += queries * keys * heads * (2 * latent + rope)
    return "absorbed" if absorbed < expanded else "expanded"


def _aligned(b: Binding) -> Objection | None:
    found = b.options.get("alignment", "none")
    if found != "top_left":
        return None
    return Objection('causal = "top_left"', 'causal = "bottom_right"')


KERNEL = FusedKernel(
    name="mla_decode",
    kind="mla",
    summary="attention over keys and values expanded from a latent",
    roles=(
        *("x?", "w_dkv?", "q?", "q_nope?", "q_rope?", "c?", "k_rope?"),
        *("w_uk", "w_uv", "mask?"),
    ),
    options={
        "scale": Float(None),
        "causal": Bool(False),
        "heads": Int(None),
        "form": Word("expanded", ("expanded", "absorbed")),
    },
    meaning=meaning,
    readings=({"spelled": "flash_attn"}, {"spelled": "matmul"}),
    captures=("alignment",),
    composites={"mla_decode_fused": from_x, "mla_cached_fused": from_cache},
    raised_to="mla_decode_fused",
    raise_=raise_,
    reread=reread,
    demands=(one_float_type("mask"), Demand(ALIGNMENT, "causal alignment", _aligned)),
    seen_at=4,
    launches=3,
)
