"""Composite ops: functions of several primitives that models and kernels know by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tessera.graph.attributes import Causal, Float, Int, Kind, Word
from tessera.graph.operation import GraphOp, Options, malformed
from tessera.graph.ops.rules import (
    AXIS,
    SHAPE,
    Types,
    axis_of,
    broadcast,
    float_unary,
    matmul_shape,
    need_float,
    need_rank,
    need_size,
    promote,
    result,
)
from tessera.graph.types import DYN, Shape, dtype_of, same_size, show

GELUS = ("none", "tanh", "quick")
GATES = ("silu", "gelu", "gelu_tanh", "quick_gelu", "sigmoid", "relu")
PACKINGS = ("none", "halves", "interleaved")


class SoftmaxOp(GraphOp):
    """exp(x - max) / sum along an axis; a row that is all -inf gives zeros."""

    name = "tessera.softmax"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {"axis": Int(-1)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        axis_of(options["axis"], len(types[0].get_shape()))
        return float_unary(types, options, declared)


class LayernormOp(GraphOp):
    """(x - mean) / sqrt(variance + eps) * w + b over axes `axis` to the last."""

    name = "tessera.layernorm"
    ins = ("x", "w?", "b?")
    attrs: ClassVar[Mapping[str, Kind]] = {"axis": Int(-1), "eps": Float(1e-5)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        axis_of(options["axis"], len(types[0].get_shape()))
        _need_fitting(types)
        return float_unary(types, options, declared)


class RmsnormOp(GraphOp):
    """x / sqrt(mean(x²) + eps) * (w + weight_offset) over axes `axis` to the last."""

    name = "tessera.rmsnorm"
    ins = ("x", "w?")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "axis": Int(-1),
        "eps": Float(1e-5),
        "weight_offset": Float(0.0),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        need_rank(types[0], 1, "x")
        axis_of(options["axis"], len(types[0].get_shape()))
        _need_fitting(types)
        return float_unary(types, options, declared)


def _need_fitting(types: Types) -> None:
    """Weights of a norm broadcast to x without changing its shape."""
    shape = types[0].get_shape()
    for type in types[1:]:
        need_float(type, "weight")
        if len(type.get_shape()) > len(shape):
            text = f"weight {show(type.get_shape())} has more axes than x {show(shape)}"
            raise malformed(SHAPE, text)
        joined = broadcast(shape, type.get_shape())
        if not all(map(same_size, joined, shape)):
            text = (
                f"weight {show(type.get_shape())} does not broadcast to {show(shape)}"
            )
            raise malformed(SHAPE, text)


class GeluOp(GraphOp):
    """x times the normal distribution's CDF: exact (erf), tanh form, or sigmoid(1.702 x)."""

    name = "tessera.gelu"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {"approximate": Word("none", GELUS)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        return float_unary(types, options, declared)


class SiluMulOp(GraphOp):
    """silu(gate) * up."""

    name = "tessera.silu_mul"
    ins = ("gate", "up")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        need_float(types[0], "gate")
        return result(promote(types), broadcast(*(t.get_shape() for t in types)))


class GluOp(SiluMulOp):
    """activation(gate) * up."""

    name = "tessera.glu"
    attrs: ClassVar[Mapping[str, Kind]] = {"activation": Word("silu", GATES)}


class RopeOp(GraphOp):
    """x*cos + rotated(x)*sin on the first cos.shape[-1] features; the rest pass through."""

    name = "tessera.rope"
    ins = ("x", "cos", "sin")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "style": Word("half", ("half", "interleaved"))
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        x, cos, sin = (need_rank(t, 1, "operand") for t in types)
        need_float(types[0], "x")
        width = need_size(cos[-1], sin[-1], "widths of cos and sin differ")
        if DYN not in (width, x[-1]) and (width > x[-1] or width % 2):
            raise malformed(
                SHAPE, f"rotates {width} of {x[-1]} features, wanted an even part"
            )
        for table in (cos, sin):
            joined = broadcast(x[:-1], table[:-1])
            need_size(len(joined), len(x) - 1, "rank of cos or sin is above that of x")
        return types[:1]


class FlashAttnOp(GraphOp):
    """softmax(mask(cap(scale · q kᵀ))) v.

    q[…, Hq, Sq, D], k[…, Hkv, Sk, D], v[…, Hkv, Sk, Dv];
    scale absent is 1/sqrt(D); causal aligns top left or bottom right; a window of W keeps
    the last W keys; an i1 mask removes keys where false, a float mask is added.
    """

    name = "tessera.flash_attn"
    ins = ("q", "k", "v", "mask?")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "scale": Float(None),
        "causal": Causal(),
        "window": Int(None),
        "softcap": Float(None),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        q, k, v = (
            need_rank(t, 2, n) for t, n in zip(types, ("q", "k", "v"), strict=False)
        )
        need_float(types[0], "q")
        need_size(q[-1], k[-1], "head sizes of q and k differ")
        need_size(k[-2], v[-2], "key counts of k and v differ")
        if options["window"] is not None and options["window"] < 1:
            text = f"window is {options['window']}, wanted at least 1; leave it out for none"
            raise malformed(AXIS, text)
        lead = broadcast(q[:-2], attention_lead(q, k), attention_lead(q, v))
        if len(types) > 3:
            scores = (*lead, q[-2], k[-2])
            joined = broadcast(scores, types[3].get_shape())
            if not all(map(same_size, joined[::-1], scores[::-1])):
                text = f"mask {show(types[3].get_shape())} does not broadcast to {show(scores)}"
                raise malformed(SHAPE, text)
            lead = joined[:-2]
        return result(promote(types[:3]), (*lead, q[-2], v[-1]))


def attention_lead(q: Shape, k: Shape) -> Shape:
    """The leading axes of k once its heads are repeated to those of q."""
    if len(q) < 3 or len(k) < 3 or k[-3] == DYN or q[-3] == DYN or k[-3] in (0, q[-3]):
        return k[:-2]
    if q[-3] % k[-3]:
        raise malformed(SHAPE, f"{q[-3]} query heads over {k[-3]} key heads")
    return (*k[:-3], q[-3])


class SwigluFusedOp(GraphOp):
    """(g·sigmoid(alpha·g) ⊙ (u + up_offset)) w_down with g, u = x w_gate, x w_up (+ biases).

    With `packed`, one weight holds gate and up side by side (halves) or in turns
    (interleaved): operands are then x, w_gate_up, w_down[, b_gate_up[, b_down]].
    With `limit` L: g = min(g, L), u = clip(u, -L, L).
    """

    name = "tessera.swiglu_fused"
    ins = ("x", "w_gate", "w_up", "w_down?", "b_gate?", "b_up?", "b_down?")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "packed": Word("none", PACKINGS),
        "limit": Float(None),
        "alpha": Float(1.0),
        "up_offset": Float(0.0),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        packed = options["packed"] != "none"
        allowed = (3, 4, 5) if packed else (4, 6, 7)
        if len(types) not in allowed:
            text = (
                f"takes {allowed[0]} to {allowed[-1]} operands here, found {len(types)}"
            )
            raise malformed(SHAPE, text)
        x, gate = types[0].get_shape(), types[1].get_shape()
        hidden = matmul_shape(x, gate, False, False)
        if packed:
            if hidden[-1] != DYN and hidden[-1] % 2:
                raise malformed(SHAPE, f"packed width {hidden[-1]} is odd")
            width = DYN if hidden[-1] == DYN else hidden[-1] // 2
            hidden = (*hidden[:-1], width)
        else:
            up = matmul_shape(x, types[2].get_shape(), False, False)
            need_size(hidden[-1], up[-1], "widths of gate and up differ")
        down = types[2 if packed else 3].get_shape()
        return result(promote(types), matmul_shape(hidden, down, False, False))


class MaskedMatmulOp(GraphOp):
    """p @ v over the keys that `keep` holds: a removed key has no influence, NaN included."""

    name = "tessera.masked_matmul"
    ins = ("p", "v", "keep")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = matmul_shape(types[0].get_shape(), types[1].get_shape(), False, False)
        keep = types[2].get_shape()
        lead = broadcast(shape[:-2], keep[:-2])
        return result(promote(types[:2]), (*lead, *shape[-2:]))


class KeepMaskOp(GraphOp):
    """Which keys each query may read under a causal rule and a window: i1[Sq, Sk]."""

    name = "tessera.keep_mask"
    ins = ("q", "k")
    attrs: ClassVar[Mapping[str, Kind]] = {"causal": Causal(), "window": Int(None)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        q, k = need_rank(types[0], 2, "q"), need_rank(types[1], 2, "k")
        return result("i1", (q[-2], k[-2]))


class RepeatHeadsOp(GraphOp):
    """x with its heads (axis -3) repeated to those of `like`: head h reads h // group."""

    name = "tessera.repeat_heads"
    ins = ("x", "like")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        x, like = types[0].get_shape(), types[1].get_shape()
        return result(dtype_of(types[0]), (*attention_lead(like, x), *x[-2:]))


COMPOSITE: tuple[type[GraphOp], ...] = (
    *(SoftmaxOp, LayernormOp, RmsnormOp, GeluOp, SiluMulOp, GluOp, RopeOp),
    *(FlashAttnOp, SwigluFusedOp, MaskedMatmulOp, KeepMaskOp, RepeatHeadsOp),
)
