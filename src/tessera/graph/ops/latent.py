"""Composite ops of multi-head latent attention (DeepSeek-V2, arXiv 2405.04434)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tessera.graph.attributes import Bool, Float, Int, Kind
from tessera.graph.operation import GraphOp, Options, malformed
from tessera.graph.ops.rules import (
    SHAPE,
    Types,
    broadcast,
    matmul_shape,
    need_rank,
    need_size,
    promote,
    result,
)
from tessera.graph.types import DYN, Shape, compatible, show


class LatentKvCompressOp(GraphOp):
    """c = x w_dkv: x[…, Sk, Dx] w_dkv[Dx, R] gives the latent c[…, Sk, R]."""

    name = "tessera.latent_kv_compress"
    ins = ("x", "w_dkv")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = matmul_shape(types[0].get_shape(), types[1].get_shape(), False, False)
        return result(promote(types), shape)


class LatentKvExpandOp(GraphOp):
    """c[…, Sk, R] times w[R, D]; with `heads` H, w[R, H·D] head-major gives […, H, Sk, D].

    The result may carry extra leading axes of size 1.
    """

    attrs: ClassVar[Mapping[str, Kind]] = {"heads": Int(None)}
    typed = ("shape",)

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = expanded_shape(
            types[0].get_shape(), types[1].get_shape(), options["heads"]
        )
        if declared:
            wanted = declared[0].get_shape()
            extra = len(wanted) - len(shape)
            if extra > 0 and set(wanted[:extra]) == {1}:
                shape = (*wanted[:extra], *shape)
            if not compatible(wanted, shape):
                text = f"result has shape {show(wanted)}, wanted {show(shape)}"
                raise malformed(SHAPE, text)
        return result(promote(types), shape)


def expanded_shape(c: Shape, w: Shape, heads: int | None) -> Shape:
    """The shape of an expanded latent, without extra leading axes."""
    shape = matmul_shape(c, w, False, False)
    if heads is None:
        return shape
    if heads < 1 or (shape[-1] != DYN and shape[-1] % heads):
        raise malformed(SHAPE, f"{shape[-1]} columns in {heads} heads")
    width = DYN if shape[-1] == DYN else shape[-1] // heads
    return (*shape[:-2], heads, shape[-2], width)


class LatentKvExpandKOp(LatentKvExpandOp):
    """Keys from the latent."""

    name = "tessera.latent_kv_expand_k"
    ins = ("c", "w_uk")


class LatentKvExpandVOp(LatentKvExpandOp):
    """Values from the latent."""

    name = "tessera.latent_kv_expand_v"
    ins = ("c", "w_uv")


class MlaDecodeFusedOp(GraphOp):
    """Attention of q over keys and values expanded from the latent of x.

    flash_attn(q, K, V) with K = (x w_dkv) w_uk and V = (x w_dkv) w_uv; causal is
    bottom right; scale absent is 1/sqrt(D).
    """

    name = "tessera.mla_decode_fused"
    ins = ("x", "w_dkv", "w_uk", "w_uv", "q")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "scale": Float(None),
        "causal": Bool(False),
        "heads": Int(None),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        x, w_dkv, w_uk, w_uv, q = (t.get_shape() for t in types)
        c = matmul_shape(x, w_dkv, False, False)
        k = expanded_shape(c, w_uk, options["heads"])
        v = expanded_shape(c, w_uv, options["heads"])
        need_rank(types[4], 2, "q")
        need_size(q[-1], k[-1], "head sizes of q and the expanded keys differ")
        lead = broadcast(q[:-2], k[:-2])
        return result(promote(types), (*lead, q[-2], v[-1]))


class MlaCachedFusedOp(GraphOp):
    """Latent attention over a cache, with the rope part beside the latent.

    q_nope[B,H,Sq,Dn], q_rope[B,H,Sq,Dr], c[B,Sk,R], k_rope[B,Sk,Dr], w_uk[H,R,Dn],
    w_uv[H,R,Dv]: s_h = scale (q_nope_h (c w_uk_h)ᵀ + q_rope_h k_ropeᵀ),
    o_h = softmax(mask(s_h)) (c w_uv_h); scale absent is 1/sqrt(Dn + Dr).
    """

    name = "tessera.mla_cached_fused"
    ins = ("q_nope", "q_rope", "c", "k_rope", "w_uk", "w_uv", "mask?")
    attrs: ClassVar[Mapping[str, Kind]] = {"scale": Float(None), "causal": Bool(False)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        ranks = (4, 4, 3, 3, 3, 3)
        for name, type, rank in zip(cls.ins, types, ranks, strict=False):
            need_size(len(type.get_shape()), rank, f"rank of {name}")
        q_nope, q_rope, c, k_rope, w_uk, w_uv = (t.get_shape() for t in types[:6])
        need_size(q_nope[-1], w_uk[-1], "Dn of q_nope and w_uk differ")
        need_size(q_rope[-1], k_rope[-1], "Dr of q_rope and k_rope differ")
        need_size(c[-1], w_uk[1], "latent width of c and w_uk differ")
        need_size(c[-1], w_uv[1], "latent width of c and w_uv differ")
        need_size(c[1], k_rope[1], "key counts of c and k_rope differ")
        need_size(q_nope[1], w_uk[0], "heads of q_nope and w_uk differ")
        need_size(q_nope[1], w_uv[0], "heads of q_nope and w_uv differ")
        need_size(q_nope[2], q_rope[2], "query counts of q_nope and q_rope differ")
        batch = broadcast(q_nope[:1], c[:1])
        return result(promote(types[:6]), (*batch, *q_nope[1:3], w_uv[-1]))


LATENT: tuple[type[GraphOp], ...] = (
    *(LatentKvCompressOp, LatentKvExpandKOp, LatentKvExpandVOp),
    *(MlaDecodeFusedOp, MlaCachedFusedOp),
)
