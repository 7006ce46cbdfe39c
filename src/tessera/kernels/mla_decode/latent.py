"""Latent attention as models spell it: keys and values that share a latent.

What tells it from plain attention: part of each key is the same for all heads (the rope
part), the rest and the values are expanded, head by head, from one latent.  Two spellings
are read: expanded (keys and values are made) and absorbed (the query is taken to the
latent, so the scores are a sum of two products and the values are the latent itself).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from tessera.fusion.draft import Match, Operand, options_of, owner
from tessera.fusion.kernel import Attention, Reread
from tessera.fusion.readings import through_reshapes
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.types import DYN, Shape, value_shape

END = (1 << 63) - 1


@dataclass(frozen=True)
class Expansion:
    """A value [B, H, Sk, D] made of a latent [B, Sk, R] by one weight a head.

    `weight` is [H, R, D] (or [H, D, R] when `turned`), or a packed [R, H·W] of which
    each head's columns from `start` to `stop` are read.
    """

    latent: SSAValue
    weight: SSAValue
    heads: int
    turned: bool = False
    start: int | None = None
    stop: int = 0

    def build(self, g: SsaAlgebra) -> SSAValue:
        """The weight as [H, R, D]."""
        if self.start is None:
            return g.swapped(self.weight) if self.turned else self.weight
        rows, columns = value_shape(self.weight)
        split = g.reshape(self.weight, (rows, self.heads, columns // self.heads))
        by_head = g.apply("transpose", split, permutation=(1, 0, 2))
        return columns_of(g, by_head, self.start, self.stop)


@dataclass(frozen=True)
class Latent:
    """All operands of `mla_cached_fused`, each still to be built."""

    root: Operation
    q: Operand | None
    q_parts: tuple[SSAValue, SSAValue] | None
    keys: Expansion
    values: Expansion
    k_rope: SSAValue
    width: int
    scale: float
    causal: bool
    mask: Operand | None

    def build(self, g: SsaAlgebra) -> SSAValue:
        """The pre-fused op."""
        q_nope, q_rope = self.q_parts or self._split(g)
        batch, keys, latent = _flat(self.keys.latent)
        c = _shaped(g, self.keys.latent, (batch, keys, latent))
        k_rope = value_shape(self.k_rope)
        rope = _shaped(g, self.k_rope, (k_rope[0], k_rope[-2], k_rope[-1]))
        operands = [q_nope, q_rope, c, rope, self.keys.build(g), self.values.build(g)]
        if self.mask is not None:
            operands.append(self.mask.build(g))
        options = {"scale": self.scale, "causal": self.causal}
        return g.apply("mla_cached_fused", *operands, **options)

    def _split(self, g: SsaAlgebra) -> tuple[SSAValue, SSAValue]:
        assert self.q is not None
        q = self.q.build(g)
        width = value_shape(q)[-1]
        return columns_of(g, q, 0, self.width), columns_of(g, q, self.width, width)


def reread(op: Operation, attention: Attention) -> Reread | None:
    """Read an op as the end of a latent attention, in either spelling."""
    if op.name not in ("tessera.matmul", "tessera.flash_attn"):
        return None
    found = _absorbed(op, attention) or _expanded(op, attention)
    return None if found is None else Reread(found.root, found.build)


def _expanded(op: Operation, attention: Attention) -> Latent | None:
    """softmax(q [k_nope | k_rope]ᵀ) v with k_nope and v expanded from one latent."""
    found = attention(op)
    if found is None or not _is_plain(found) or not found.options["transpose_b"]:
        return None
    k, v = found.operands["k"].value, found.operands["v"].value
    joined = owner(k)
    if joined is None or joined.name != "tessera.concat" or len(joined.operands) != 2:
        return None
    if options_of(joined)["axis"] not in (-1, 3) or len(value_shape(k)) != 4:
        return None
    keys, shared = expansion(joined.operands[0]), _shared(joined.operands[1])
    values = expansion(v)
    if keys is None or values is None or shared is None:
        return None
    if keys.latent is not values.latent or keys.heads != values.heads:
        return None
    width = value_shape(joined.operands[0])[-1]
    q = found.operands["q"]
    mask = found.operands.get("mask")
    scale, causal = found.options["scale"], bool(_causal(found))
    parts = None if q.edits else _parts(q.value, width)
    return Latent(op, q, parts, keys, values, shared, width, scale, causal, mask)


def _absorbed(op: Operation, attention: Attention) -> Latent | None:
    """(softmax((q_nope W_ukᵀ) cᵀ + q_rope k_ropeᵀ) c) W_uv."""
    if op.name != "tessera.matmul" or len(value_shape(op.operands[1])) != 3:
        return None
    inner = owner(op.operands[0])
    found = attention(inner) if inner is not None and not _flags(op) else None
    if found is None or not _is_plain(found) or not found.options["transpose_b"]:
        return None
    k, v = found.operands["k"].value, found.operands["v"].value
    latent = through_reshapes(v)
    query = owner(found.operands["q"].value)
    if through_reshapes(k) is not latent or query is None or found.operands["q"].edits:
        return None
    heads = value_shape(op.operands[1])[0]
    if query.name != "tessera.matmul" or len(value_shape(query.operands[1])) != 3:
        return None
    turned = options_of(query) == {"transpose_a": False, "transpose_b": False}
    if not heads or options_of(query)["transpose_a"]:
        return None
    rope, mask = _rope_product(found.operands.get("mask"), found.options["scale"])
    if rope is None:
        return None
    keys = Expansion(latent, query.operands[1], heads, turned)
    values = Expansion(latent, op.operands[1], heads)
    parts = query.operands[0], rope.operands[0]
    width = value_shape(parts[0])[-1]
    shared, scale = rope.operands[1], found.options["scale"]
    causal = bool(_causal(found))
    return Latent(op, None, parts, keys, values, shared, width, scale, causal, mask)


def _rope_product(
    mask: Operand | None, scale: float
) -> tuple[Operation | None, Operand | None]:
    """The product among what is added to the scores, and the rest as the mask."""
    if mask is None:
        return None, None
    own = tuple(edit for edit in mask.edits if edit[0] != "add")
    parts = [Operand(mask.value, own, mask.layout)]
    parts += [added for name, added in mask.edits if name == "add"]
    wanted = () if scale == 1.0 else (("mul", scale),)
    for part in parts:
        product = owner(part.value)
        if product is None or product.name != "tessera.matmul" or part.edits != wanted:
            continue
        flags = options_of(product)
        k_rope = value_shape(product.operands[1])
        if flags != {"transpose_a": False, "transpose_b": True} or len(k_rope) != 4:
            continue
        if k_rope[1] != 1:
            continue
        rest = [other for other in parts if other is not part]
        return product, _sum(rest)
    return None, None


def _sum(parts: list[Operand]) -> Operand | None:
    if not parts:
        return None
    first, *others = parts
    return first.edited(*(("add", other) for other in others))


def expansion(value: SSAValue) -> Expansion | None:
    """Read a value as keys or values expanded from a latent."""
    op = owner(value)
    if op is not None and op.name == "tessera.matmul" and not _flags(op):
        c, w = value_shape(op.operands[0]), value_shape(op.operands[1])
        if len(w) == 3 and len(c) == 4 and c[1] == 1:
            return Expansion(through_reshapes(op.operands[0]), op.operands[1], w[0])
    start, stop, source = 0, value_shape(value)[-1], op
    if op is not None and op.name == "tessera.slice":
        bounds = _last_slice(op)
        if bounds is None:
            return None
        (start, stop), source = bounds, owner(op.operands[0])
    return _packed(source, start, stop)


def _packed(op: Operation | None, start: int, stop: int) -> Expansion | None:
    """Heads split out of one product with a packed weight: reshape, then heads first."""
    if op is None or op.name != "tessera.transpose":
        return None
    if tuple(options_of(op)["permutation"]) != (0, 2, 1, 3):
        return None
    heads = value_shape(op.results[0])[1]
    product = owner(through_reshapes(op.operands[0]))
    if product is None or product.name != "tessera.matmul" or _flags(product):
        return None
    weight = value_shape(product.operands[1])
    if len(weight) != 2 or DYN in weight or heads < 1 or weight[1] % heads:
        return None
    latent = through_reshapes(product.operands[0])
    return Expansion(latent, product.operands[1], heads, False, start, stop)


def _last_slice(op: Operation) -> tuple[int, int] | None:
    """Start and stop of a slice of the last axis alone."""
    options, shape = options_of(op), value_shape(op.operands[0])
    if shape[:-1] != value_shape(op.results[0])[:-1] or options["steps"][-1] != 1:
        return None
    return options["starts"][-1], min(options["stops"][-1], shape[-1])


def _shared(value: SSAValue) -> SSAValue | None:
    """The part of the keys that all heads share: broadcast from one head."""
    op = owner(value)
    if op is None or op.name != "tessera.broadcast":
        return None
    shape = value_shape(op.operands[0])
    return op.operands[0] if len(shape) == 4 and shape[1] == 1 else None


def _parts(q: SSAValue, width: int) -> tuple[SSAValue, SSAValue] | None:
    """The two parts of a query that was joined of them."""
    op = owner(q)
    if op is None or op.name != "tessera.concat" or len(op.operands) != 2:
        return None
    last = options_of(op)["axis"] in (-1, len(value_shape(q)) - 1)
    first, second = op.operands
    return (first, second) if last and value_shape(first)[-1] == width else None


def _is_plain(found: Match) -> bool:
    """Attention without options that the latent form has no place for."""
    options = found.options
    bare = options["softcap"] is None and options["window"] is None
    whole = options["mask_fill"] is None and _causal(found) is not None
    shapes = [value_shape(found.operands[role].value) for role in ("q", "k", "v")]
    fits = all(len(shape) == 4 for shape in shapes) and "scale" not in found.operands
    return bare and whole and fits and math.isfinite(options["scale"])


def _causal(found: Match) -> bool | None:
    """Whether a causal rule stands that aligns bottom right; None for any other."""
    rule = found.options["causal"]
    queries, keys = (value_shape(found.operands[r].value)[-2] for r in ("q", "k"))
    if rule == "top_left" and (queries != keys or queries == DYN):
        return None
    return rule != "none"


def _flags(op: Operation) -> bool:
    return any(options_of(op).values())


def _flat(latent: SSAValue) -> Shape:
    """[B, Sk, R] of a latent that may carry a head axis of size 1."""
    shape = value_shape(latent)
    return shape if len(shape) == 3 else (shape[0], shape[-2], shape[-1])


def _shaped(g: SsaAlgebra, value: SSAValue, shape: Shape) -> SSAValue:
    return value if value_shape(value) == shape else g.reshape(value, shape)


def columns_of(g: SsaAlgebra, value: SSAValue, start: int, stop: int) -> SSAValue:
    """Some of the last axis."""
    shape = value_shape(value)
    if (start, stop) == (0, shape[-1]):
        return value
    lead = len(shape) - 1
    return g.apply(
        "slice",
        value,
        starts=(0,) * lead + (start,),
        stops=(END,) * lead + (stop,),
        steps=(1,) * (lead + 1),
    )
