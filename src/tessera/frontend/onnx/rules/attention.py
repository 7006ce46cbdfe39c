"""Attention and rotary embedding, kept as the composites they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.elementwise import same_type
from tessera.frontend.onnx.rules.shapes import (
    Size,
    arange,
    expand_dims,
    reshape,
    sizes_of,
    swap,
)
from tessera.frontend.onnx.step import Step
from tessera.graph.types import DYN, FLOATS

END = (1 << 63) - 1


@dataclass
class _Mask:
    """What removes or biases scores: keys to keep (i1), and numbers to add."""

    step: Step
    keep: Operand | None = None
    bias: Operand | None = None

    def remove(self, keep: Operand) -> None:
        """Keep only what both keep."""
        if self.keep is not None:
            keep = self.step.emit("and", self.keep, keep)
        self.keep = keep

    def operand(self) -> Operand | None:
        """The one mask that says both."""
        if self.keep is None or self.bias is None:
            return self.bias if self.keep is None else self.keep
        none = self.step.const(-np.inf, self.bias)
        return self.step.emit("select", self.keep, self.bias, none)


def attention(step: Step) -> Sequence[Operand]:
    """Attention in its 3-D and 4-D forms, with cache, masks, windows and softcap."""
    step.ignore("softmax_precision")  # a meaning computes in f32 or wider
    q, k, v = (step.input(i) for i in range(3))
    same_type(step, q, k)
    flat = q.rank == 3
    if not q.rank == k.rank == v.rank or q.rank not in (3, 4):
        raise step.misfit(f"q, k, v of ranks {q.rank}, {k.rank}, {v.rank}")
    heads = step.integer("q_num_heads", 0), step.integer("kv_num_heads", 0)
    if flat:
        q = _split_heads(step, q, heads[0], "q_num_heads")
        k, v = (_split_heads(step, x, heads[1], "kv_num_heads") for x in (k, v))
    fresh = k.shape[2]
    if step.has(4) != step.has(5):
        raise step.misfit("past_key and past_value come together or not at all")
    if step.has(4):
        k = step.emit("concat", step.input(4), k, axis=2)
        v = step.emit("concat", step.input(5), v, axis=2)
    mask = _Mask(step)
    _given_mask(step, mask, k)
    rule = _position_rule(step, mask, q, k, fresh)
    scale = step.number("scale") if step.given("scale") else None
    cap = step.number("softcap", 0.0) or None
    masks = [] if (whole := mask.operand()) is None else [whole]
    out = step.emit("flash_attn", q, k, v, *masks, scale=scale, softcap=cap, **rule)
    if flat:
        out = swap(step, out, (0, 2, 1, 3))
        out = reshape(step, out, [*sizes_of(out)[:2], Size(out, (2, 3))])
    step.ignore("qk_matmul_output_mode")
    results = [out, k, v]
    if step.wants(3):
        results.append(_scores(step, q, k, whole, scale, cap, rule))
    return results


def _split_heads(step: Step, x: Operand, heads: int, name: str) -> Operand:
    """x[B, S, H·D] as [B, H, S, D]."""
    width = x.shape[2]
    if heads < 1 or width == DYN or width % heads:
        raise step.misfit(f"{name} = {heads} does not divide width {width}")
    parts = [Size(x, (0,)), Size(x, (1,)), heads, width // heads]
    return swap(step, reshape(step, x, parts), (0, 2, 1, 3))


def _given_mask(step: Step, mask: _Mask, k: Operand) -> None:
    """The mask operand, filled up to the number of keys when it is shorter."""
    given = step.optional(3)
    if given is None:
        return
    if given.rank < 1 or not (given.dtype == "i1" or given.dtype in FLOATS):
        raise step.unsupported(f"a mask of {given.dtype}", "i1 or a float mask")
    missing = (
        0 if DYN in (given.shape[-1], k.shape[2]) else k.shape[2] - given.shape[-1]
    )
    if missing > 0 and given.shape[-1] != 1:
        high = [0] * (given.rank - 1) + [missing]
        fill = 0.0 if given.dtype == "i1" else float("-inf")
        low = [0] * given.rank
        given = step.emit("pad", given, low=low, high=high, value=fill)
    if given.dtype == "i1":
        mask.keep = given
    else:
        mask.bias = given


def _position_rule(
    step: Step, mask: _Mask, q: Operand, k: Operand, fresh: int
) -> dict[str, Any]:
    """Causal and window as attributes where an alignment says them, else in the mask.

    Query i stands at i + offset; offset is the cached keys, or what a sample's count of
    filled keys leaves before the queries, else 0.
    """
    causal = step.flag("is_causal")
    left, right = (
        step.integer("left_window_size", -1),
        step.integer("right_window_size", -1),
    )
    if min(left, right) < -1:
        raise step.misfit(f"window sizes {left} and {right}, wanted -1 or more")
    filled = step.optional(6)
    if filled is not None:
        if step.has(4):
            raise step.misfit("nonpad_kv_seqlen and past_key exclude each other")
        filled = expand_dims(step, step.cast(filled, "i64"), (1, 2, 3))
        keys = arange(step, k, 2)
        mask.remove(step.emit("cmp", keys, filled, kind="lt"))
    if not causal and left < 0 and right < 0:
        return {}
    cached = step.has(4)
    aligned = not cached or (causal and DYN != fresh == q.shape[2])
    if filled is None and aligned and right < 0:
        rule: dict[str, Any] = {"window": min(left, END - 1) + 1} if left >= 0 else {}
        if causal:
            rule["causal"] = "bottom_right" if cached else "top_left"
        return rule
    _mask_by_position(step, mask, (q, k), filled, (left, 0 if causal else right))
    return {}


def _mask_by_position(
    step: Step,
    mask: _Mask,
    qk: tuple[Operand, Operand],
    filled: Operand | None,
    bounds: tuple[int, int],
) -> None:
    """Remove keys more than `bounds` before or after the query's own position."""
    q, k = qk
    place = expand_dims(step, arange(step, q, 2), [1])
    if filled is not None:
        if q.shape[2] == DYN:
            raise step.unsupported(
                "nonpad_kv_seqlen with unknown queries", "known sizes"
            )
        offset = step.emit("sub", filled, step.const(q.shape[2], "i64"))
        place = step.emit("add", place, offset)
    elif step.has(4):
        past = step.input(4).shape[2]
        if past == DYN:
            raise step.unsupported(
                "a window over a cache of unknown size", "known sizes"
            )
        place = step.emit("add", place, step.const(past, "i64"))
    keys = arange(step, k, 2)
    behind = step.emit("sub", place, keys)
    for bound, kind, sign in ((bounds[0], "le", 1), (bounds[1], "ge", -1)):
        if bound >= 0:
            edge = step.const(sign * bound, "i64")
            mask.remove(step.emit("cmp", behind, edge, kind=kind))


def _scores(
    step: Step,
    q: Operand,
    k: Operand,
    mask: Operand | None,
    scale: float | None,
    cap: float | None,
    rule: dict[str, Any],
) -> Operand:
    """The scores as an extra result: raw, capped, masked, or after softmax."""
    mode = step.integer("qk_matmul_output_mode", 0)
    if not 0 <= mode <= 3 or q.shape[3] == DYN:
        raise step.unsupported(f"qk_matmul_output_mode = {mode}", "0, 1, 2 or 3")
    k = step.emit("repeat_heads", k, q)
    scores = step.emit("matmul", q, k, transpose_b=True)
    factor = scale if scale is not None else q.shape[3] ** -0.5
    scores = step.emit("mul", scores, step.const(factor, scores))
    if mode > 0 and cap is not None:
        limit = step.const(cap, scores)
        scores = step.emit("tanh", step.emit("div", scores, limit))
        scores = step.emit("mul", scores, limit)
    if mode < 2:
        return scores
    none = step.const(-np.inf, scores)
    if rule:
        keep = step.emit("keep_mask", q, k, **rule)
        scores = step.emit("select", keep, scores, none)
    if mask is not None and mask.dtype == "i1":
        scores = step.emit("select", mask, scores, none)
    elif mask is not None:
        scores = step.emit("add", scores, step.cast(mask, scores.dtype))
    return step.emit("softmax", scores, axis=-1) if mode == 3 else scores


def rotary_embedding(step: Step) -> Operand:
    """RotaryEmbedding: caches of half width, by position where positions are given."""
    x, caches = step.input(0), [step.input(1), step.input(2)]
    same_type(step, x, *caches)
    heads = step.integer("num_heads", 0)
    width = step.integer("rotary_embedding_dim", 0)
    style = "interleaved" if step.flag("interleaved") else "half"
    if x.rank not in (3, 4):
        raise step.misfit(f"x has rank {x.rank}, wanted 3 or 4")
    y = x
    if x.rank == 3:
        if heads < 1 or x.shape[2] == DYN or x.shape[2] % heads:
            raise step.misfit(f"num_heads = {heads} does not divide width {x.shape[2]}")
        y = reshape(step, x, [*sizes_of(x)[:2], heads, x.shape[2] // heads])
    positions = step.optional(3)
    wanted = (width or y.shape[3]) // 2
    tables: list[Operand] = []
    for cache in caches:
        table = cache if positions is None else step.emit("gather", cache, positions)
        if table.rank != 3 or table.shape[2] not in (DYN, wanted):
            text = f"cache has shape {list(cache.shape)}, wanted width {wanted}"
            raise step.misfit(text)
        table = expand_dims(step, table, [2 if x.rank == 3 else 1])
        tables.append(_doubled(step, table, style))
    turned = step.emit("rope", y, *tables, style=style)
    return reshape(step, turned, sizes_of(x)) if x.rank == 3 else turned


def _doubled(step: Step, table: Operand, style: str) -> Operand:
    """A table of one angle a pair as one of an angle a feature."""
    if style == "half":
        return step.emit("concat", table, table, axis=table.rank - 1)
    pair = expand_dims(step, table, [table.rank])
    pairs = step.emit("concat", pair, pair, axis=table.rank)
    width = table.shape[-1]
    last = DYN if width == DYN else 2 * width
    return reshape(step, pairs, [*sizes_of(table)[:-1], last])
