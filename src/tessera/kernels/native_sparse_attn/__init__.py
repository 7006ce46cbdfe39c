"""Native sparse attention (arXiv 2502.11089): compressed, selected and window branches."""

from __future__ import annotations

import math
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
from tessera.graph.attributes import Bool, Float, Int
from tessera.graph.operation import GraphOp
from tessera.graph.types import DYN, show, value_shape
from tessera.kernels.native_sparse_attn.recognise import reread
from tessera.reference.sparse_attention import block_count, tokens_behind

V = TypeVar("V")

CAUSAL = declare(
    "TSR-K601",
    "native_sparse_attn: not causal",
    "Every branch reads tokens at or before the query; causal must be true.",
)
FORCED = declare(
    "TSR-K602",
    "native_sparse_attn: top_k is smaller than the forced blocks",
    "The first init_blocks and the last local_blocks are always selected and count in top_k; "
    "raise top_k to at least init_blocks + local_blocks.",
)
GATES = declare(
    "TSR-K603",
    "native_sparse_attn: a gate is not one value a head and query",
    "Gates are [B, Hq, Sq, 1] each, after the sigmoid.",
)
TOKENS = declare(
    "TSR-K604",
    "native_sparse_attn: compressed blocks of another number of tokens",
    "Which compressed blocks a query sees follows from the number of keys. Give the compressed "
    "branch the same k as the others, as its fourth operand.",
)
ROLES = ("q", "k", "v", "gates", "kc", "vc", "scores")
OPTIONS = {
    "window_size": Int(),
    "block_size": Int(),
    "top_k": Int(),
    "cmp_len": Int(None),
    "cmp_stride": Int(None),
    "init_blocks": Int(1),
    "local_blocks": Int(2),
    "scale": Float(None),
    "causal": Bool(True),
}
BRANCHES = ("compressed", "selected", "window")


def meaning(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> tuple[V, ...]:
    """What one call must equal; an `outer` reading is the gated sum it is raised from."""
    if "outer" not in o:
        operands = [x[role] for role in ROLES if role in x]
        return (g.apply("native_sparse_attn_fused", *operands, **o),)
    branches = {name: _branch(g, x, o, name) for name in BRANCHES}
    gated = {
        name: g.apply("mul", x[f"gate_{name}"], branch)
        for name, branch in branches.items()
    }
    first, second = (name for name in BRANCHES if name != o["outer"])
    inner = g.apply("add", gated[first], gated[second])
    return (g.apply("add", inner, gated[o["outer"]]),)


def _branch(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any], name: str) -> V:
    shared = {"scale": o["scale"], "causal": o["causal"]}
    q, k, v = x["q"], x["k"], x["v"]
    if name == "compressed":
        sizes = {"cmp_len": o["cmp_len"], "cmp_stride": o["cmp_stride"]}
        blocks = (x["kc"], x["vc"], x["k_compressed"])
        return g.apply("attn_compressed_blocks", q, *blocks, **sizes, **shared)
    if name == "window":
        size = {"window_size": o["window_size"]}
        return g.apply("attn_sliding_window", q, k, v, **size, **shared)
    names = ("block_size", "top_k", "init_blocks", "local_blocks")
    sizes = {key: o[key] for key in names}
    return g.apply("attn_top_k_blocks", q, k, v, x["scores"], **sizes, **shared)


def raise_(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> V:
    """The pre-fused op of a matched sum; the three gates become one operand."""
    gates = g.apply("concat", *(x[f"gate_{name}"] for name in BRANCHES), axis=-1)
    operands = [x["q"], x["k"], x["v"], gates, x["kc"], x["vc"], x["scores"]]
    options = {name: o[name] for name in OPTIONS if name in o}
    return g.apply("native_sparse_attn_fused", *operands, **options)


def from_fused(op: GraphOp) -> Binding:
    """`native_sparse_attn_fused` is this kernel."""
    operands = by_role(ROLES, op.operands)
    options = op.options()
    width = value_shape(operands["q"])[-1]
    if options["scale"] is None and width > 0:
        options["scale"] = 1.0 / math.sqrt(width)
    for name in ("cmp_len", "cmp_stride"):
        options[name] = options[name] or options["block_size"]
    return Binding(operands, options)


def _causal(b: Binding) -> Objection | None:
    return None if b.options["causal"] else Objection("causal = false", "causal = true")


def _room(b: Binding) -> Objection | None:
    forced = b.options["init_blocks"] + b.options["local_blocks"]
    top_k = b.options["top_k"]
    if top_k >= forced:
        return None
    return Objection(f"top_k = {top_k}", f"at least {forced} forced blocks")


def _gates_fit(b: Binding) -> Objection | None:
    for name in BRANCHES:
        gate = b.operands.get(f"gate_{name}")
        if gate is None:
            continue
        shape, q = value_shape(gate), value_shape(b.operands["q"])
        if shape != (*q[:-1], 1):
            return Objection(f"a gate of {show(shape)}", show((*q[:-1], 1)))
    return None


def _tokens_agree(b: Binding) -> Objection | None:
    """Whether the compressed branch counts its positions over k's tokens."""
    if "gates" in b.operands:
        return None
    given, k = b.operands.get("k_compressed"), b.operands["k"]
    keys = value_shape(k)[-2]
    wanted = f"{_count(keys)} keys, as in k"
    if given is None:
        blocks = value_shape(b.operands["kc"])[-2]
        found = f"{_count(blocks)} blocks and no k in the compressed branch"
        return None if _counted_alike(b, keys) else Objection(found, wanted)
    found = value_shape(given)[-2]
    if given is k or DYN != found == keys:
        return None
    return Objection(f"{_count(found)} keys in the compressed branch", wanted)


def _count(size: int) -> str:
    return "?" if size == DYN else str(size)


def _counted_alike(b: Binding, keys: int) -> bool:
    """Whether the number of keys that blocks and queries tell means the same as k's."""
    queries, blocks = (value_shape(b.operands[role])[-2] for role in ("q", "kc"))
    spans = b.options["cmp_len"], b.options["cmp_stride"]
    if DYN in (queries, blocks, keys):
        return False
    if queries <= 1 or blocks == 0:
        return blocks <= block_count(keys, *spans)
    try:
        return tokens_behind(queries, blocks, *spans) == keys
    except ValueError:
        return False


KERNEL = FusedKernel(
    name="native_sparse_attn",
    kind="nsa",
    summary="g₀·compressed + g₁·selected + g₂·window",
    roles=("q", "k", "v", "gates", "kc?", "vc?", "scores?"),
    options=OPTIONS,
    meaning=meaning,
    readings=tuple({"outer": name} for name in reversed(BRANCHES)),
    holes=("k_compressed", *(f"gate_{name}" for name in BRANCHES)),
    composites={"native_sparse_attn_fused": from_fused},
    raised_to="native_sparse_attn_fused",
    raise_=raise_,
    reread=reread,
    demands=(
        one_float_type(),
        Demand(CAUSAL, "causal", _causal),
        Demand(FORCED, "top_k", _room),
        Demand(GATES, "gates", _gates_fit),
        Demand(TOKENS, "tokens", _tokens_agree),
    ),
    seen_at=4,
    launches=3,
)
