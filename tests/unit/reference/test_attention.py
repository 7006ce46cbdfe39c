"""Attention against torch and a plain f64 equation, on the failures others shipped."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.reference import DTYPES
from tests.unit.reference.oracles import (
    allowed,
    attention,
    close,
    drawn,
    f64,
    meaning,
)

torch = pytest.importorskip("torch")

CAUSAL = st.sampled_from([None, "top_left", "bottom_right"])


def qkv(
    seed: int, b: int, h: int, sq: int, sk: int, d: int, dv: int = 0, hk: int = 0
) -> Any:
    kv = hk or h
    return (
        drawn(seed, b, h, sq, d),
        drawn(seed + 1, b, kv, sk, d),
        drawn(seed + 2, b, kv, sk, dv or d),
    )


KEY_MASK = np.array([[[True, True, False, True, False]]])
CASES = {
    "values narrower than keys": (qkv(8, 1, 1, 16, 16, 32, dv=24), {}, {}),
    "causal, more keys than queries": (
        qkv(9, 1, 4, 2, 5, 16), {"causal": "top_left"}, {"allow": allowed(2, 5, "top_left")}
    ),
    "true is top left": (
        qkv(9, 1, 4, 2, 5, 16), {"causal": True}, {"allow": allowed(2, 5, "top_left")}
    ),
    "a decoder's causal mask": (
        qkv(9, 1, 4, 2, 5, 16), {"causal": "bottom_right"},
        {"allow": allowed(2, 5, "bottom_right")},
    ),
    "a window keeps the query itself": (
        qkv(10, 1, 2, 12, 12, 16), {"causal": "top_left", "window": 4},
        {"allow": np.tril(np.ones((12, 12), bool)) & ~np.tril(np.ones((12, 12), bool), -4)},
    ),
    "a window acts without a mask": (
        qkv(11, 1, 2, 10, 10, 16), {"causal": "top_left", "window": 2},
        {"allow": np.tril(np.ones((10, 10), bool)) & ~np.tril(np.ones((10, 10), bool), -2)},
    ),
    "a window without causal bounds the past only": (
        qkv(11, 1, 2, 6, 6, 16), {"window": 2},
        {"allow": ~np.tril(np.ones((6, 6), bool), -2)},
    ),
    "an additive mask": (
        (*qkv(13, 2, 4, 3, 3, 8), drawn(99, 3, 3)), {}, {"bias": drawn(99, 3, 3)}
    ),
    "a boolean mask is not added": (
        (*qkv(15, 1, 2, 4, 4, 8), np.tril(np.ones((4, 4), bool))), {},
        {"allow": np.tril(np.ones((4, 4), bool))},
    ),
    "the cap comes before the mask": (
        qkv(17, 1, 1, 4, 4, 16), {"softcap": 1.0, "causal": "top_left"},
        {"softcap": 1.0, "allow": np.tril(np.ones((4, 4), bool))},
    ),
    "a scale of its own": (qkv(1, 1, 2, 8, 8, 64), {"scale": 2.83}, {"scale": 2.83}),
    "many batches with a bias": (
        (*qkv(22, 12, 4, 49, 49, 32), drawn(5, 1, 4, 49, 49)), {},
        {"bias": drawn(5, 1, 4, 49, 49)},
    ),
    "rank 5 with a mask of rank 3": (
        (drawn(23, 3, 2, 4, 7, 16), drawn(24, 3, 2, 4, 5, 16), drawn(25, 3, 2, 4, 5, 32),
         KEY_MASK),
        {}, {"allow": KEY_MASK},
    ),
    "rank 5": (tuple(drawn(22 + i, 3, 7, 4, 9, 16) for i in range(3)), {}, {}),
    "rank 2": ((drawn(1, 3, 4), drawn(2, 5, 4), drawn(3, 5, 2)), {}, {}),
    "all operands are views": (
        tuple(drawn(18 + i, 84, 3, 3, 16).transpose(0, 2, 1, 3) for i in range(3)), {}, {}
    ),
    "only the values are a view": (
        (drawn(18, 1, 4, 6, 16), drawn(19, 1, 4, 6, 16),
         drawn(20, 1, 6, 4, 16).transpose(0, 2, 1, 3)),
        {}, {},
    ),
    "strides of every kind": (
        (drawn(1, 2, 8, 32)[:, ::-2, ::2], drawn(2, 2, 16, 5).swapaxes(1, 2),
         drawn(3, 2, 10, 6)[:, ::2]),
        {}, {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_attention_of_public_failures(name: str) -> None:
    operands, options, oracle = CASES[name]
    close(
        meaning("flash_attn", *operands, **options), attention(*operands[:3], **oracle)
    )


@pytest.mark.parametrize("keys", [1, 31, 33, 38, 39, 70])
def test_decoding_reads_keys_past_the_last_full_block(keys: int) -> None:
    operands = qkv(19, 1, 2, 1, keys, 64)
    close(meaning("flash_attn", *operands), attention(*operands))


@pytest.mark.parametrize("width", [1, 4, 20, 72, 80, 96, 128, 160, 256])
def test_every_head_size(width: int) -> None:
    operands = qkv(20, 1, 2, 4, 7, width)
    close(meaning("flash_attn", *operands), attention(*operands))


@pytest.mark.parametrize("mask", [False, True])
def test_query_head_h_reads_kv_head_h_over_group(mask: bool) -> None:
    q, k, v = qkv(12, 2, 6, 5, 5, 16, hk=2)
    extra = [drawn(99, 5, 5)] if mask else []
    found = meaning("flash_attn", q, k, v, *extra)
    for head in range(6):
        one = q[:, head], k[:, head // 3], v[:, head // 3]
        wanted = attention(*one, bias=extra[0] if mask else None)
        close(found[:, head], wanted)
    with pytest.raises(ValueError, match="6 query heads over 4"):
        meaning("flash_attn", q, drawn(1, 2, 4, 5, 16), drawn(2, 2, 4, 5, 16))


def test_a_row_without_keys_is_zeros() -> None:
    q, k, v = qkv(14, 1, 1, 2, 2, 4)
    keep = np.array([[[[False, False], [True, True]]]])
    close(meaning("flash_attn", q, k, v, keep), attention(q, k, v, allow=keep))
    assert (meaning("flash_attn", q, k, v, keep)[..., 0, :] == 0).all()
    ahead = meaning("flash_attn", *qkv(14, 1, 1, 5, 2, 4), causal="bottom_right")
    assert (ahead[..., :3, :] == 0).all()
    assert (ahead[..., 3:, :] != 0).all()


def test_a_finite_bias_is_an_ordinary_number() -> None:
    q, k, v = qkv(14, 1, 1, 2, 3, 4)
    bias = np.full((2, 3), -3.4e38, np.float32)
    mean = f64(v).mean(-2, keepdims=True)
    close(meaning("flash_attn", q, k, v, bias), np.repeat(mean, 2, axis=-2))


@pytest.mark.parametrize("poison", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_a_removed_key_has_no_influence(poison: float, dtype: str) -> None:
    q, k, v = (t.astype(DTYPES[dtype]) for t in qkv(3, 2, 2, 4, 6, 8))
    dirty_k, dirty_v = k.copy(), v.copy()
    dirty_k[..., 4:, :] = dirty_v[..., 4:, :] = poison
    keep = np.arange(6) < 4
    clean = meaning("flash_attn", q, k, v, keep)
    assert np.isfinite(f64(clean)).all()
    close(meaning("flash_attn", q, dirty_k, dirty_v, keep), f64(clean), 0.0)
    dirty_k[..., 4:, :] = dirty_v[..., 4:, :] = 0
    dirty_k[..., 3, :] = dirty_v[..., 3, :] = poison
    for causal in ("top_left", True):
        found = meaning("flash_attn", q, dirty_k, dirty_v, causal=causal)
        assert np.isfinite(f64(found[..., :3, :])).all()
        assert not np.isfinite(f64(found[..., 3:, :])).any()


def test_an_additive_mask_is_arithmetic() -> None:
    q, k, v = qkv(3, 1, 1, 2, 3, 4)
    mask = np.array([0, 0, -np.inf], np.float32)
    v[..., 2, 0] = np.nan
    found = meaning("flash_attn", q, k, v, mask)
    assert np.isnan(found[..., 0]).all()
    assert np.isfinite(found[..., 1:]).all()
    k[..., 2, :] = np.nan
    assert np.isnan(meaning("flash_attn", q, k, v, mask)).all()


def test_a_nan_query_spoils_its_own_row_only() -> None:
    q, k, v = qkv(3, 1, 1, 3, 3, 4)
    q[..., 1, :] = np.nan
    found = meaning("flash_attn", q, k, v, causal="top_left")
    assert np.isnan(found).any(axis=-1).tolist() == [[[False, True, False]]]


def test_f16_scores_may_pass_its_range() -> None:
    q = (48 + 0.05 * drawn(16, 1, 1, 4, 64)).astype(np.float16)
    k = (48 + 0.05 * drawn(17, 1, 1, 6, 64)).astype(np.float16)
    v = drawn(18, 1, 1, 6, 64, dtype="f16")
    found = meaning("flash_attn", q, k, v, scale=0.125)
    assert found.dtype == np.float16
    close(found, attention(q, k, v, scale=0.125), 5e-3)


@pytest.mark.parametrize("shape", [(0, 1, 3, 4, 2), (1, 0, 3, 4, 2), (1, 1, 0, 4, 2)])
def test_empty_results(shape: tuple[int, ...]) -> None:
    b, h, sq, sk, d = shape
    mask = drawn(3, sq, sk)
    found = meaning("flash_attn", *qkv(24, b, h, sq, sk, d), mask, causal=True)
    assert found.shape == (b, h, sq, d)


def test_no_keys_and_no_features() -> None:
    close(meaning("flash_attn", *qkv(1, 1, 1, 2, 0, 3)), np.zeros((1, 1, 2, 3)), 0.0)
    q, k, v = drawn(1, 2, 0), drawn(2, 3, 0), drawn(3, 3, 4)
    close(meaning("flash_attn", q, k, v), np.tile(f64(v).mean(0), (2, 1)))


@settings(max_examples=80)
@given(
    st.integers(0, 6),
    st.integers(0, 6),
    CAUSAL,
    st.one_of(st.none(), st.integers(1, 7)),
)
def test_keep_mask_by_its_sentences(
    queries: int, keys: int, causal: str | None, window: int | None
) -> None:
    q, k = drawn(1, 2, queries, 3), drawn(2, 2, keys, 3)
    found = meaning("keep_mask", q, k, causal=causal, window=window)
    assert found.dtype == np.bool_
    assert found.tolist() == allowed(queries, keys, causal, window).tolist()
    wanted = attention(q, k, q[..., :0, :] if not keys else k, allow=found)
    close(meaning("flash_attn", q, k, k, causal=causal, window=window), wanted)


@pytest.mark.parametrize("causal", [None, False, "none"])
def test_no_causal_has_three_spellings(causal: Any) -> None:
    q, k = drawn(1, 2, 3), drawn(2, 4, 3)
    assert meaning("keep_mask", q, k, causal=causal).all()
    close(meaning("flash_attn", q, k, k, causal=causal), attention(q, k, k))


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"window": 0}, "window = 0, wanted at least 1"),
        ({"window": -3}, "window = -3, wanted at least 1"),
        ({"causal": "left"}, "causal = 'left'"),
        ({"softcap": 0.0}, "softcap = 0.0"),
        ({"softcap": -1.0}, "softcap = -1.0"),
    ],
)
def test_attention_refuses_by_name(option: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        meaning("flash_attn", *qkv(1, 1, 1, 2, 2, 4), **option)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [2, 4])
def test_attention_agrees_with_torch(causal: bool, heads: int) -> None:
    q, k, v = qkv(7, 2, 4, 5, 7, 16, hk=heads)
    wanted = torch.nn.functional.scaled_dot_product_attention(
        *(torch.from_numpy(f64(t)) for t in (q, k, v)),
        is_causal=causal,
        enable_gqa=True,
    )
    close(meaning("flash_attn", q, k, v, causal=causal), wanted.numpy())


@settings(max_examples=60)
@given(st.integers(0, 99), st.sampled_from([(), (2,), (1, 3)]))
def test_masked_matmul_sums_over_kept_keys_only(
    seed: int, lead: tuple[int, ...]
) -> None:
    random = np.random.default_rng(seed)
    p, v = drawn(seed, *lead, 3, 5, dtype="f64"), drawn(seed + 1, 5, 2, dtype="f64")
    v[random.random(v.shape) < 0.2] = random.choice([np.nan, np.inf, -np.inf])
    p[random.random(p.shape) < 0.2] = 0.0
    keep = random.random((3, 5)) < 0.6
    found = meaning("masked_matmul", p, v, keep)
    with np.errstate(invalid="ignore"):
        for place in np.ndindex(*lead, 3, 2):
            *batch, i, n = place
            terms = [p[(*batch, i, j)] * v[j, n] for j in range(5) if keep[i, j]]
            np.testing.assert_allclose(found[place], np.sum(terms), atol=1e-12)


def test_masked_matmul_broadcasts_its_mask_and_rounds_once() -> None:
    p, v = drawn(1, 3, 4, dtype="bf16"), drawn(2, 4, 2, dtype="bf16")
    keep = np.array([[[True, False, True, True]], [[False, False, False, False]]])
    found = meaning("masked_matmul", p, v, keep)
    assert (found.shape, found.dtype) == ((2, 3, 2), DTYPES["bf16"])
    close(found[0], f64(p)[:, [0, 2, 3]] @ f64(v)[[0, 2, 3]])
    close(found[1], np.zeros((3, 2)), 0.0)


def test_repeat_heads() -> None:
    x, like = drawn(1, 2, 2, 3, 4), drawn(2, 2, 6, 5, 4)
    found = meaning("repeat_heads", x, like)
    close(found, np.stack([x[:, h // 3] for h in range(6)], axis=1), 0.0)
    close(meaning("repeat_heads", x, x), x, 0.0)
    close(meaning("repeat_heads", x[0, 0], like), x[0, 0], 0.0)
    close(meaning("repeat_heads", x, like[0, 0]), x, 0.0)
    with pytest.raises(ValueError, match="5 query heads over 2"):
        meaning("repeat_heads", x, drawn(1, 2, 5, 3, 4))
