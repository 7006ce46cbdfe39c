"""Native sparse attention (Yuan et al., arXiv 2502.11089).

q [..., Hq, Sq, D], k and v [..., Hkv, Sk, D or Dv]; query i stands at position
t = i + Sk - Sq and never sees past it; query head h belongs to group
g = h // (Hq / Hkv). Compressed blocks start every `cmp_stride` = d tokens and span
`cmp_len` = l; selected blocks are `block_size` = Bs tokens, side by side.
"""

from typing import TypedDict

import numpy as np
import numpy.typing as npt

from tessera.reference.attention import (
    attend,
    default_scale,
    heads_like,
    kept_pairs,
)
from tessera.reference.contraction import product
from tessera.reference.norms import soft_weights
from tessera.reference.rounding import Array, wide, wide_following


def _positive(what: str, **options: int) -> None:
    for name, value in options.items():
        if value < 1:
            raise ValueError(f"{what}: {name} = {value}, wanted at least 1")


def _is_causal(what: str, causal: bool) -> None:
    if not causal:
        raise ValueError(f"{what}: causal = {causal}, wanted true")


def _numbers(count: int) -> npt.NDArray[np.int64]:
    return np.arange(count, dtype=np.int64)


def _positions(queries: int, keys: int) -> Array:
    return _numbers(queries) + (keys - queries)


def _block_means(k: Array, length: int, stride: int) -> Array:
    tokens = k.shape[-2]
    if tokens < length:
        return np.zeros((*k.shape[:-2], 0, k.shape[-1]), dtype=k.dtype)
    spans: Array = np.lib.stride_tricks.sliding_window_view(k, length, axis=-2)
    return spans[..., ::stride, :, :].mean(axis=-1, dtype=k.dtype)


@wide
def compress_blocks(k: Array, *, cmp_len: int, cmp_stride: int) -> Array:
    """Means over the tokens [b * d, b * d + l) of each full block b: [..., nb, D]
    with nb = max(0, floor((Sk - l) / d) + 1).
    """
    _positive("compress_blocks", cmp_len=cmp_len, cmp_stride=cmp_stride)
    return _block_means(k, cmp_len, cmp_stride)


def _visible(positions: Array, blocks: int, length: int, stride: int) -> Array:
    """i1 [Sq, nb]: block b is over by position t, b * d + l - 1 <= t."""
    ends = np.arange(blocks) * stride + length - 1
    return ends[None, :] <= positions[:, None]


def block_count(tokens: int, length: int, stride: int) -> int:
    """How many full blocks of `length` tokens start every `stride` tokens."""
    return max(0, (tokens - length) // stride + 1)


def tokens_behind(queries: int, blocks: int, length: int, stride: int) -> int:
    """The number of keys that `blocks` compressed blocks came from.

    As many as queries when that fits the count of blocks; for one query, no block or
    stride 1 every fitting number means the same; anything else cannot be told.
    """
    if block_count(queries, length, stride) == blocks:
        return queries
    if blocks == 0 or queries <= 1 or stride == 1:
        return (blocks - 1) * stride + length
    raise ValueError(
        f"attn_compressed_blocks: {queries} queries over {blocks} blocks do not tell"
        " the number of keys, wanted k as fourth operand"
    )


@wide_following(3)
def attn_compressed_blocks(
    q: Array,
    kc: Array,
    vc: Array,
    k: Array | None = None,
    *,
    cmp_len: int,
    cmp_stride: int,
    scale: float | None = None,
    causal: bool = True,
) -> Array:
    """Attention over compressed blocks kc, vc [..., Hkv, nb, D or Dv], each visible
    from its last token on; a query that sees none gives zeros.

    Sk is read from k; without k it is Sq when that gives nb blocks, and for a single
    query any Sk gives the same result.
    """
    _is_causal("attn_compressed_blocks", causal)
    _positive("attn_compressed_blocks", cmp_len=cmp_len, cmp_stride=cmp_stride)
    queries, blocks = q.shape[-2], kc.shape[-2]
    tokens = (
        tokens_behind(queries, blocks, cmp_len, cmp_stride)
        if k is None
        else k.shape[-2]
    )
    seen = _visible(_positions(queries, tokens), blocks, cmp_len, cmp_stride)
    kc, vc = heads_like(kc, q.shape[-3]), heads_like(vc, q.shape[-3])
    return attend(q, kc, vc, scale=scale, keep=seen)


@wide
def attn_sliding_window(
    q: Array,
    k: Array,
    v: Array,
    *,
    window_size: int,
    scale: float | None = None,
    causal: bool = True,
) -> Array:
    """Attention over the last `window_size` tokens, itself included: t - w < j <= t."""
    _is_causal("attn_sliding_window", causal)
    _positive("attn_sliding_window", window_size=window_size)
    keep = kept_pairs(q.shape[-2], k.shape[-2], "bottom_right", window_size)
    k, v = heads_like(k, q.shape[-3]), heads_like(v, q.shape[-3])
    return attend(q, k, v, scale=scale, keep=keep)


def selected_blocks(
    scores: Array, own: Array, top_k: int, init_blocks: int, local_blocks: int
) -> Array:
    """i1 [..., Sq, nblocks]: the blocks each query reads.

    `own` [Sq] is the block of the query itself. Forced blocks come first, then the
    other candidates j <= own by score, equal scores (and NaN last) by lower index.
    """
    j = _numbers(scores.shape[-1])[None, :]
    here = own[:, None]
    candidate = j <= here
    forced = candidate & ((j < init_blocks) | (j > here - local_blocks))
    tier = np.broadcast_to(forced * 1 + candidate * 1, scores.shape)
    order = np.lexsort((-scores, -tier), axis=-1)[..., :top_k]
    chosen = np.zeros(scores.shape, dtype=np.bool_)
    np.put_along_axis(chosen, order, True, axis=-1)
    return chosen & candidate


def _top_k_demands(
    what: str, block_size: int, top_k: int, init_blocks: int, local_blocks: int
) -> None:
    _positive(what, block_size=block_size, top_k=top_k)
    for name, value in (("init_blocks", init_blocks), ("local_blocks", local_blocks)):
        if value < 0:
            raise ValueError(f"{what}: {name} = {value}, wanted at least 0")
    if top_k < init_blocks + local_blocks:
        raise ValueError(
            f"{what}: top_k = {top_k}, wanted at least init_blocks + local_blocks ="
            f" {init_blocks} + {local_blocks}"
        )


@wide_following(3)
def attn_top_k_blocks(
    q: Array,
    k: Array,
    v: Array,
    scores: Array,
    *,
    block_size: int,
    top_k: int,
    init_blocks: int = 1,
    local_blocks: int = 2,
    scale: float | None = None,
    causal: bool = True,
) -> Array:
    """Attention over the tokens j <= t of `top_k` blocks per query and group.

    scores [..., Hkv or Hq, Sq, ceil(Sk / Bs)]. Forced are the first `init_blocks` and
    the last `local_blocks` up to the query's own; they count in top_k.
    """
    what = "attn_top_k_blocks"
    _is_causal(what, causal)
    _top_k_demands(what, block_size, top_k, init_blocks, local_blocks)
    queries, keys = q.shape[-2], k.shape[-2]
    blocks = -(-keys // block_size)
    if scores.shape[-2:] != (queries, blocks):
        raise ValueError(
            f"{what}: scores of shape {scores.shape}, wanted [..., heads, {queries},"
            f" {blocks}] for {keys} keys in blocks of {block_size}"
        )
    own = _positions(queries, keys) // block_size
    chosen = selected_blocks(scores, own, top_k, init_blocks, local_blocks)
    block_of = _numbers(keys) // block_size
    past = kept_pairs(queries, keys, "bottom_right")
    keep = heads_like(chosen[..., block_of] & past, q.shape[-3])
    k, v = heads_like(k, q.shape[-3]), heads_like(v, q.shape[-3])
    return attend(q, k, v, scale=scale, keep=keep)


def _overlaps(
    cmp_blocks: int, blocks: int, length: int, stride: int, size: int
) -> Array:
    """[nb, nblocks]: how often p[c] counts in block j: the pairs m < Bs / d, n < l / d
    with (Bs / d) * j + m - n = c.
    """
    offset = (
        np.arange(cmp_blocks)[:, None] - (size // stride) * np.arange(blocks)[None, :]
    )
    m = np.arange(size // stride)[:, None]
    n = np.arange(length // stride)[None, :]
    differences = (m - n).ravel()
    return (offset[..., None] == differences).sum(axis=-1)


@wide
def nsa_block_scores(
    q: Array,
    kc: Array,
    k: Array,
    *,
    cmp_len: int,
    cmp_stride: int,
    block_size: int,
    scale: float | None = None,
) -> Array:
    """How much compressed attention each selection block of k gets, per group.

    score[g, j] = sum over h in g, m < Bs / d, n < l / d of p_h[(Bs / d) j + m - n],
    p the compressed softmax, 0 out of range; [..., Hkv, Sq, ceil(Sk / Bs)]. The
    paper's equation 9 with both indices from 0. d divides l and Bs.
    """
    what = "nsa_block_scores"
    _positive(what, cmp_len=cmp_len, cmp_stride=cmp_stride, block_size=block_size)
    for name, value in (("cmp_len", cmp_len), ("block_size", block_size)):
        if value % cmp_stride:
            raise ValueError(
                f"{what}: {name} = {value}, wanted a multiple of cmp_stride ="
                f" {cmp_stride}"
            )
    queries, keys, nb = q.shape[-2], k.shape[-2], kc.shape[-2]
    factor = default_scale(q.shape[-1]) if scale is None else float(scale)
    expanded = heads_like(kc, q.shape[-3])
    s = product(q, np.swapaxes(expanded, -1, -2)) * factor
    seen = _visible(_positions(queries, keys), nb, cmp_len, cmp_stride)
    p = soft_weights(np.where(seen, s, np.array(-np.inf, s.dtype)))
    groups = kc.shape[-3]
    members = q.shape[-3] // groups if groups else 0
    grouped = p.reshape(*p.shape[:-3], groups, members, queries, nb)
    summed = grouped.sum(axis=-3)
    blocks = -(-keys // block_size)
    counts = _overlaps(nb, blocks, cmp_len, cmp_stride, block_size)
    return product(summed, counts.astype(p.dtype))


def _gates_demand(q: Array, gates: Array) -> None:
    wanted = (*q.shape[-3:-1], 3)
    if gates.shape[-3:] != wanted:
        raise ValueError(
            f"native_sparse_attn_fused: gates of shape {gates.shape}, wanted [..., Hq,"
            f" Sq, 3] with {wanted}"
        )


class Spans(TypedDict):
    """How compressed blocks lie: their length and the distance of their starts."""

    cmp_len: int
    cmp_stride: int


def _spans(block_size: int, cmp_len: int | None, cmp_stride: int | None) -> Spans:
    length = block_size if cmp_len is None else cmp_len
    stride = block_size if cmp_stride is None else cmp_stride
    what = "native_sparse_attn_fused"
    _positive(what, block_size=block_size, cmp_len=length, cmp_stride=stride)
    return Spans(cmp_len=length, cmp_stride=stride)


def _compressed(
    k: Array, v: Array, kc: Array | None, vc: Array | None, spans: Spans
) -> tuple[Array, Array]:
    """The given compressed keys and values, block means when absent."""
    if (kc is None) != (vc is None):
        raise ValueError(
            "native_sparse_attn_fused: one of kc and vc is absent, wanted both or none"
        )
    if kc is None or vc is None:
        length, stride = spans["cmp_len"], spans["cmp_stride"]
        return _block_means(k, length, stride), _block_means(v, length, stride)
    return kc, vc


@wide_following(3)
def native_sparse_attn_fused(
    q: Array,
    k: Array,
    v: Array,
    gates: Array,
    kc: Array | None = None,
    vc: Array | None = None,
    scores: Array | None = None,
    *,
    window_size: int,
    block_size: int,
    top_k: int,
    cmp_len: int | None = None,
    cmp_stride: int | None = None,
    init_blocks: int = 1,
    local_blocks: int = 2,
    scale: float | None = None,
    causal: bool = True,
) -> Array:
    """gates[..., 0] * compressed + gates[..., 1] * selected + gates[..., 2] * window.

    gates [..., Hq, Sq, 3] arrive after their sigmoid; kc and vc absent are the block
    means of k and v, scores absent those of the compressed attention; cmp_len and
    cmp_stride default to block_size.
    """
    _is_causal("native_sparse_attn_fused", causal)
    _gates_demand(q, gates)
    spans = _spans(block_size, cmp_len, cmp_stride)
    kc, vc = _compressed(k, v, kc, vc, spans)
    if scores is None:
        scores = nsa_block_scores(q, kc, k, block_size=block_size, scale=scale, **spans)
    compressed = attn_compressed_blocks(q, kc, vc, k, scale=scale, **spans)
    selected = attn_top_k_blocks(
        q, k, v, scores, block_size=block_size, top_k=top_k, init_blocks=init_blocks,
        local_blocks=local_blocks, scale=scale,
    )  # fmt: skip
    window = attn_sliding_window(q, k, v, window_size=window_size, scale=scale)
    shares = gates[..., 0:1] * compressed, gates[..., 1:2] * selected
    return shares[0] + shares[1] + gates[..., 2:3] * window
