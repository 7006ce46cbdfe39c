"""Composite ops of native sparse attention (arXiv 2502.11089).

q[B,Hq,Sq,D], k[B,Hkv,Sk,D], v[B,Hkv,Sk,Dv]; query i stands at position i + Sk - Sq.
Every op is causal: `causal` false is a refusal of the kernel, not a broken program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tessera.graph.attributes import Bool, Float, Int, Kind
from tessera.graph.operation import GraphOp, Options, malformed
from tessera.graph.ops.composite import attention_lead
from tessera.graph.ops.rules import (
    SHAPE,
    Types,
    broadcast,
    need_rank,
    need_size,
    promote,
    result,
)
from tessera.graph.types import DYN, Shape, dtype_of, same_size

SCALE_CAUSAL: Mapping[str, Kind] = {"scale": Float(None), "causal": Bool(True)}
COMPRESSION: Mapping[str, Kind] = {"cmp_len": Int(), "cmp_stride": Int()}


def _positive(options: Options, *keys: str) -> None:
    for key in keys:
        if options[key] is not None and options[key] < 1:
            raise malformed(SHAPE, f"{key} is {options[key]}, wanted at least 1")


def _attention(types: Types) -> Types:
    q, k, v = (need_rank(t, 3, "operand") for t in types[:3])
    need_size(q[-1], k[-1], "head sizes of q and k differ")
    need_size(k[-2], v[-2], "key counts of k and v differ")
    lead = broadcast(q[:-2], attention_lead(q, k), attention_lead(q, v))
    return result(promote(types[:3]), (*lead, q[-2], v[-1]))


def blocks(size: int, length: int, stride: int) -> int:
    """How many full blocks of `length` tokens start every `stride` tokens."""
    return DYN if size == DYN else max(0, (size - length) // stride + 1)


class CompressBlocksOp(GraphOp):
    """The mean of every full block of tokens along axis -2."""

    name = "tessera.compress_blocks"
    ins = ("k",)
    attrs: ClassVar[Mapping[str, Kind]] = COMPRESSION

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        _positive(options, "cmp_len", "cmp_stride")
        k = need_rank(types[0], 2, "k")
        count = blocks(k[-2], options["cmp_len"], options["cmp_stride"])
        return result(dtype_of(types[0]), (*k[:-2], count, k[-1]))


class AttnCompressedBlocksOp(GraphOp):
    """Attention over compressed blocks that lie wholly at or before the query.

    The number of tokens is read from `k`; without it, it is the number of queries where
    that gives as many blocks.
    """

    name = "tessera.attn_compressed_blocks"
    ins = ("q", "kc", "vc", "k?")
    attrs: ClassVar[Mapping[str, Kind]] = {**COMPRESSION, **SCALE_CAUSAL}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        _positive(options, "cmp_len", "cmp_stride")
        return _attention(types)


class AttnSlidingWindowOp(GraphOp):
    """Attention over the last `window_size` keys."""

    name = "tessera.attn_sliding_window"
    ins = ("q", "k", "v")
    attrs: ClassVar[Mapping[str, Kind]] = {"window_size": Int(), **SCALE_CAUSAL}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        _positive(options, "window_size")
        return _attention(types)


SELECTION: Mapping[str, Kind] = {
    "block_size": Int(),
    "top_k": Int(),
    "init_blocks": Int(1),
    "local_blocks": Int(2),
}


class AttnTopKBlocksOp(GraphOp):
    """Attention over the best-scored blocks, forced initial and local ones included.

    scores[B, Hkv or Hq, Sq, ⌈Sk / block_size⌉].
    """

    name = "tessera.attn_top_k_blocks"
    ins = ("q", "k", "v", "scores")
    attrs: ClassVar[Mapping[str, Kind]] = {**SELECTION, **SCALE_CAUSAL}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        _positive(options, "block_size", "top_k")
        q, k = types[0].get_shape(), types[1].get_shape()
        scores = need_rank(types[3], 3, "scores")
        need_size(scores[-2], q[-2], "query counts of q and scores differ")
        need_size(
            scores[-1], _ceil(k[-2], options["block_size"]), "block counts differ"
        )
        if not any(same_size(scores[-3], s[-3]) for s in (q, k)):
            text = f"scores have {scores[-3]} heads, wanted {k[-3]} or {q[-3]}"
            raise malformed(SHAPE, text)
        return _attention(types)


def _ceil(size: int, block: int) -> int:
    return DYN if size == DYN else -(-size // block)


class NsaBlockScoresOp(GraphOp):
    """Block importances from the compressed softmax, summed over a head group."""

    name = "tessera.nsa_block_scores"
    ins = ("q", "kc", "k")
    attrs: ClassVar[Mapping[str, Kind]] = {
        **COMPRESSION,
        "block_size": Int(),
        "scale": Float(None),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        _positive(options, "cmp_len", "cmp_stride", "block_size")
        q, kc, k = (need_rank(t, 3, "operand") for t in types)
        need_size(q[-1], kc[-1], "head sizes of q and kc differ")
        count = _ceil(k[-2], options["block_size"])
        return result(promote(types), (*k[:-2], q[-2], count))


class NativeSparseAttnFusedOp(GraphOp):
    """g₀·compressed + g₁·selected + g₂·window, gates[B,Hq,Sq,3] after the sigmoid.

    kc, vc are the compressed keys and values; absent, they are block means.  scores are
    the block importances; absent, they come from the compressed softmax.
    """

    name = "tessera.native_sparse_attn_fused"
    ins = ("q", "k", "v", "gates", "kc?", "vc?", "scores?")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "window_size": Int(),
        **SELECTION,
        "cmp_len": Int(None),
        "cmp_stride": Int(None),
        **SCALE_CAUSAL,
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        _positive(
            options, "window_size", "block_size", "top_k", "cmp_len", "cmp_stride"
        )
        if len(types) == 5:
            raise malformed(SHAPE, "kc needs vc beside it")
        q, gates = types[0].get_shape(), need_rank(types[3], 3, "gates")
        wanted: Shape = (*q[:-1], 3)
        for found, size in zip(gates[::-1], wanted[::-1], strict=False):
            need_size(found, size, "gates differ from q's heads and queries, 3 a query")
        return _attention(types)


SPARSE: tuple[type[GraphOp], ...] = (
    *(CompressBlocksOp, AttnCompressedBlocksOp, AttnSlidingWindowOp),
    *(AttnTopKBlocksOp, NsaBlockScoresOp, NativeSparseAttnFusedOp),
)
