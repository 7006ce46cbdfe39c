"""Latent attention against its equations, head by head, expanded and absorbed."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from tessera.reference import DTYPES
from tests.unit.reference.oracles import (
    allowed,
    attention,
    close,
    drawn,
    f64,
    meaning,
    soft,
)


def test_a_latent_buffer_that_is_key_and_value() -> None:
    """Width 576 of latent and rope, values its first 512, scale of the head before."""
    q, kv = 0.2 * drawn(70, 1, 16, 1, 576), drawn(71, 1, 1, 33, 576)
    scale = 1 / sqrt(192)
    wanted = attention(q, kv, kv[..., :512], scale=scale)
    close(meaning("flash_attn", q, kv, kv[..., :512], scale=scale), wanted)


def decode_operands(lead: tuple[int, ...] = (), dtype: str = "f32") -> dict[str, Any]:
    return {
        "x": drawn(1, *lead, 7, 10, dtype=dtype),
        "w_dkv": drawn(2, 10, 6, dtype=dtype),
        "w_uk": drawn(3, 6, 4, dtype=dtype),
        "w_uv": drawn(4, 6, 5, dtype=dtype),
    }


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_decode_is_attention_over_expanded_keys(
    causal: bool, scale: float | None, lead: tuple[int, ...]
) -> None:
    w = decode_operands()
    q = drawn(5, *lead, 4, 4)
    c = f64(w["x"]) @ f64(w["w_dkv"])
    wanted = attention(
        q, c @ f64(w["w_uk"]), c @ f64(w["w_uv"]), scale=scale,
        allow=allowed(4, 7, "bottom_right") if causal else None,
    )  # fmt: skip
    found = meaning("mla_decode_fused", *w.values(), q, causal=causal, scale=scale)
    close(found, wanted)


def test_decode_with_heads_splits_the_weights_head_major() -> None:
    x, w_dkv = drawn(1, 2, 7, 10), drawn(2, 10, 6)
    w_uk, w_uv, q = drawn(3, 6, 3 * 4), drawn(4, 6, 3 * 5), drawn(5, 2, 3, 2, 4)
    found = meaning("mla_decode_fused", x, w_dkv, w_uk, w_uv, q, heads=3, causal=True)
    assert found.shape == (2, 3, 2, 5)
    for b in range(2):
        c = f64(x[b]) @ f64(w_dkv)
        for h in range(3):
            k = c @ f64(w_uk[:, 4 * h : 4 * h + 4])
            v = c @ f64(w_uv[:, 5 * h : 5 * h + 5])
            wanted = attention(q[b, h], k, v, allow=allowed(2, 7, "bottom_right"))
            close(found[b, h], wanted)


def test_decode_never_groups_batches_as_heads() -> None:
    w = decode_operands((2,))
    with pytest.raises(ValueError, match=r"broadcast|mismatch"):
        meaning("mla_decode_fused", *w.values(), drawn(5, 1, 4, 3, 4))


def test_the_chain_equals_the_op() -> None:
    w = decode_operands()
    q = drawn(5, 1, 4, 4)
    c = meaning("latent_kv_compress", w["x"], w["w_dkv"])
    k = meaning("latent_kv_expand_k", c, w["w_uk"], shape=(1, 7, 4))
    v = meaning("latent_kv_expand_v", c, w["w_uv"], shape=(1, -1, 5))
    assert (k.shape, v.shape) == ((1, 7, 4), (1, 7, 5))
    chain = meaning("flash_attn", q, k, v, causal="bottom_right")
    close(meaning("mla_decode_fused", *w.values(), q, causal=True), f64(chain))


def test_expansion_refuses() -> None:
    c, w = drawn(1, 7, 6), drawn(2, 6, 8)
    assert meaning("latent_kv_expand_k", c, w, heads=2).shape == (2, 7, 4)
    assert meaning("latent_kv_expand_v", c, w, heads=2, shape=(1, 1, 2, 7, 4)).ndim == 5
    with pytest.raises(ValueError, match="heads = 3"):
        meaning("latent_kv_expand_k", c, w, heads=3)
    for shape in [(7, 4), (8,), (2, 7, 8)]:
        with pytest.raises(ValueError, match="behind ones"):
            meaning("latent_kv_expand_k", c, w, shape=shape)


def cached(
    b: int = 2, h: int = 3, sq: int = 2, sk: int = 6, dr: int = 4, dtype: str = "f32"
) -> list[Any]:
    dn, r, dv = 8, 5, 7
    shapes = [
        (b, h, sq, dn),
        (b, h, sq, dr),
        (b, sk, r),
        (b, sk, dr),
        (h, r, dn),
        (h, r, dv),
    ]
    return [drawn(i, *shape, dtype=dtype) for i, shape in enumerate(shapes)]


def absorbed(
    operands: list[Any], scale: float | None, allow: Any = None, bias: Any = None
) -> Any:
    """The other order of the same sums: q' = q_nope w_uk^T, o = (p c) w_uv."""
    q_nope, q_rope, c, k_rope, w_uk, w_uv = map(f64, operands)
    b, h, sq, dn = q_nope.shape
    out = np.zeros((b, h, sq, w_uv.shape[-1]))
    factor = 1 / sqrt(dn + q_rope.shape[-1]) if scale is None else scale
    for i in range(b):
        for j in range(h):
            inner = q_nope[i, j] @ w_uk[j].T
            s = factor * (inner @ c[i].T + q_rope[i, j] @ k_rope[i].T)
            s = s + (
                0.0 if bias is None else np.broadcast_to(bias, (b, h, *s.shape))[i, j]
            )
            if allow is not None:
                s = np.where(np.broadcast_to(allow, (b, h, *s.shape))[i, j], s, -np.inf)
            out[i, j] = soft(s) @ c[i] @ w_uv[j]
    return out


@pytest.mark.parametrize("dr", [0, 4])
@pytest.mark.parametrize("scale", [None, 0.2])
@pytest.mark.parametrize("causal", [False, True])
def test_cached_equals_the_absorbed_form(
    dr: int, scale: float | None, causal: bool
) -> None:
    operands = cached(dr=dr)
    wanted = absorbed(
        operands, scale, allow=allowed(2, 6, "bottom_right") if causal else None
    )
    found = meaning("mla_cached_fused", *operands, scale=scale, causal=causal)
    close(found, wanted)


def test_cached_masks() -> None:
    operands, bias = cached(), drawn(9, 2, 1, 1, 6)
    keep = np.arange(6) < np.array([4, 5])[:, None, None, None]
    close(meaning("mla_cached_fused", *operands, keep), absorbed(operands, None, keep))
    found = meaning("mla_cached_fused", *operands, bias)
    close(found, absorbed(operands, None, bias=f64(bias)))
    both = keep & allowed(2, 6, "bottom_right")
    found = meaning("mla_cached_fused", *operands, keep, causal=True)
    close(found, absorbed(operands, None, both))


def test_the_unwritten_end_of_a_cache_has_no_influence() -> None:
    operands = cached()
    keep = np.arange(6) < 4
    clean = meaning("mla_cached_fused", *operands, keep)
    operands[2][:, 4:] = operands[3][:, 4:] = np.nan
    close(meaning("mla_cached_fused", *operands, keep), f64(clean), 0.0)


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_types_round_once(dtype: str) -> None:
    operands = cached(dtype=dtype)
    found = meaning("mla_cached_fused", *operands, drawn(1, 2, 6))
    exact = meaning("mla_cached_fused", *map(f64, operands), drawn(1, 2, 6))
    assert found.dtype == DTYPES[dtype]
    assert np.mean(found == exact.astype(np.float32).astype(DTYPES[dtype])) > 0.95


@pytest.mark.parametrize(
    "sizes", [{"b": 0}, {"sq": 0}, {"sk": 0}, {"b": 1, "h": 1, "sk": 1}]
)
def test_sizes_0_and_1(sizes: dict[str, Any]) -> None:
    operands = cached(**sizes)
    close(meaning("mla_cached_fused", *operands), absorbed(operands, None))
