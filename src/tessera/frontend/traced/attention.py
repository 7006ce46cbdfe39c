"""Attention: dense, latent (MLA) and native sparse (NSA)."""

from __future__ import annotations

from tessera.frontend.traced.apply import apply
from tessera.frontend.traced.symbol import Array, Operand


def flash_attn(
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand = None,
    *,
    scale: float | None = None,
    causal: str | bool = "none",
    window: int | None = None,
    softcap: float | None = None,
) -> Array:
    """softmax(mask(cap(scale · q kᵀ))) v.

    q[…, Hq, Sq, D], k[…, Hkv, Sk, D], v[…, Hkv, Sk, Dv] give […, Hq, Sq, Dv].

    scale defaults to 1/√D. A bool mask removes keys where false, a float mask is added.
    causal is "top_left" (or True) or "bottom_right"; a window keeps the last keys only.
    """
    given = {"scale": scale, "causal": causal, "window": window, "softcap": softcap}
    return apply("flash_attn", q, k, v, mask, **given)


def masked_matmul(p: Operand, v: Operand, keep: Operand) -> Array:
    """`p @ v` over the keys that `keep` holds: a removed key has no influence."""
    return apply("masked_matmul", p, v, keep)


def keep_mask(
    q: Operand, k: Operand, causal: str | bool = "none", window: int | None = None
) -> Array:
    """Which keys each query may read: i1[Sq, Sk]."""
    return apply("keep_mask", q, k, causal=causal, window=window)


def repeat_heads(x: Operand, like: Operand) -> Array:
    """`x` with its heads (axis -3) repeated to those of `like`."""
    return apply("repeat_heads", x, like)


def latent_kv_compress(x: Operand, w_dkv: Operand) -> Array:
    """The latent c = x w_dkv."""
    return apply("latent_kv_compress", x, w_dkv)


def latent_kv_expand_k(c: Operand, w_uk: Operand, heads: int | None = None) -> Array:
    """Keys c w_uk; with heads H, w_uk[R, H·D] gives […, H, Sk, D]."""
    return _expanded("latent_kv_expand_k", c, w_uk, heads)


def latent_kv_expand_v(c: Operand, w_uv: Operand, heads: int | None = None) -> Array:
    """Values c w_uv; with heads H, w_uv[R, H·D] gives […, H, Sk, D]."""
    return _expanded("latent_kv_expand_v", c, w_uv, heads)


def _expanded(name: str, c: Operand, w: Operand, heads: int | None) -> Array:
    return apply(name, c, w, heads=heads)


def mla_decode_fused(
    x: Operand,
    w_dkv: Operand,
    w_uk: Operand,
    w_uv: Operand,
    q: Operand,
    *,
    scale: float | None = None,
    causal: bool = False,
    heads: int | None = None,
) -> Array:
    """flash_attn(q, K, V) with K = (x w_dkv) w_uk and V = (x w_dkv) w_uv.

    causal aligns bottom right; scale defaults to 1/√D.
    """
    given = {"scale": scale, "causal": causal, "heads": heads}
    return apply("mla_decode_fused", x, w_dkv, w_uk, w_uv, q, **given)


def mla_cached_fused(
    q_nope: Operand,
    q_rope: Operand,
    c: Operand,
    k_rope: Operand,
    w_uk: Operand,
    w_uv: Operand,
    mask: Operand = None,
    *,
    scale: float | None = None,
    causal: bool = False,
) -> Array:
    """Latent attention over a cache, the rope part beside the latent.

    q_nope[B,H,Sq,Dn], q_rope[B,H,Sq,Dr], c[B,Sk,R], k_rope[B,Sk,Dr], w_uk[H,R,Dn],
    w_uv[H,R,Dv]; scale defaults to 1/√(Dn+Dr).
    """
    operands = (q_nope, q_rope, c, k_rope, w_uk, w_uv, mask)
    return apply("mla_cached_fused", *operands, scale=scale, causal=causal)


def compress_blocks(k: Operand, cmp_len: int, cmp_stride: int) -> Array:
    """The mean of every full block of cmp_len tokens, one each cmp_stride tokens."""
    return apply("compress_blocks", k, cmp_len=cmp_len, cmp_stride=cmp_stride)


def attn_compressed_blocks(
    q: Operand,
    kc: Operand,
    vc: Operand,
    *,
    cmp_len: int,
    cmp_stride: int,
    scale: float | None = None,
    causal: bool = True,
) -> Array:
    """Attention over compressed blocks that lie wholly at or before the query."""
    given = {"cmp_len": cmp_len, "cmp_stride": cmp_stride, "scale": scale}
    return apply("attn_compressed_blocks", q, kc, vc, causal=causal, **given)


def attn_sliding_window(
    q: Operand,
    k: Operand,
    v: Operand,
    *,
    window_size: int,
    scale: float | None = None,
    causal: bool = True,
) -> Array:
    """Attention over the last `window_size` keys, the query's own included."""
    given = {"window_size": window_size, "scale": scale, "causal": causal}
    return apply("attn_sliding_window", q, k, v, **given)


def attn_top_k_blocks(
    q: Operand,
    k: Operand,
    v: Operand,
    scores: Operand,
    *,
    block_size: int,
    top_k: int,
    init_blocks: int = 1,
    local_blocks: int = 2,
    scale: float | None = None,
    causal: bool = True,
) -> Array:
    """Attention over the best-scored blocks, the initial and local ones forced.

    scores[B, Hkv or Hq, Sq, ⌈Sk / block_size⌉].
    """
    given = {"block_size": block_size, "top_k": top_k, "init_blocks": init_blocks}
    given |= {"local_blocks": local_blocks, "causal": causal}
    return apply("attn_top_k_blocks", q, k, v, scores, scale=scale, **given)


def nsa_block_scores(
    q: Operand,
    kc: Operand,
    k: Operand,
    *,
    cmp_len: int,
    cmp_stride: int,
    block_size: int,
    scale: float | None = None,
) -> Array:
    """Block importances from the compressed softmax, summed over a head group."""
    given = {"cmp_len": cmp_len, "cmp_stride": cmp_stride, "block_size": block_size}
    return apply("nsa_block_scores", q, kc, k, scale=scale, **given)


def native_sparse_attn_fused(
    q: Operand,
    k: Operand,
    v: Operand,
    gates: Operand,
    kc: Operand = None,
    vc: Operand = None,
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
    """g₀·compressed + g₁·selected + g₂·window; gates[B, Hq, Sq, 3] after the sigmoid.

    kc, vc are compressed keys and values; absent, they are block means.
    """
    given = {"window_size": window_size, "block_size": block_size, "top_k": top_k}
    given |= {"init_blocks": init_blocks, "local_blocks": local_blocks}
    optional = {"cmp_len": cmp_len, "cmp_stride": cmp_stride, "scale": scale}
    operands = (q, k, v, gates, kc, vc)
    return apply(
        "native_sparse_attn_fused", *operands, causal=causal, **given, **optional
    )
