"""The table is complete, and every meaning treats element types by one rule."""

import inspect

import numpy as np
import pytest

from tessera.reference import (
    DTYPES,
    FLOATS,
    PRIMITIVES,
    dtype_name,
    dtype_of,
    is_float,
    itemsize,
)
from tests.unit.reference.oracles import drawn, f64, meaning

VOCABULARY = """
iota fill cast reshape broadcast transpose slice concat pad
gather gather_nd gather_elements scatter scatter_nd select shape
add sub mul div pow max min mod cmp and or xor not
neg abs exp log sqrt rsqrt tanh erf sin cos floor sign sigmoid isnan
reduce_sum reduce_mean reduce_max reduce_any argmax cumsum topk
matmul conv grouped_matmul
softmax layernorm rmsnorm gelu silu softplus silu_mul rope glu flash_attn swiglu_fused
latent_kv_compress latent_kv_expand_k latent_kv_expand_v
mla_decode_fused mla_cached_fused
compress_blocks attn_compressed_blocks attn_sliding_window attn_top_k_blocks
nsa_block_scores native_sparse_attn_fused
masked_matmul keep_mask repeat_heads
""".split()

UNARY = "neg abs exp log sqrt rsqrt tanh erf sin cos sign sigmoid gelu silu softplus"
BINARY = "add sub mul div pow max min mod silu_mul glu"


def test_every_op_has_a_meaning_and_every_meaning_an_op() -> None:
    assert sorted(PRIMITIVES) == sorted(VOCABULARY)


@pytest.mark.parametrize("name", VOCABULARY)
def test_operands_are_positional_and_attributes_keywords(name: str) -> None:
    attributes = {
        "axis", "axes", "keepdims", "eps", "scale", "causal", "window", "dtype",
        "heads", "permutation", "k" if name == "topk" else "kind", "approximate",
    }  # fmt: skip
    for parameter in inspect.signature(PRIMITIVES[name]).parameters.values():
        if parameter.name in attributes:
            assert parameter.kind is inspect.Parameter.KEYWORD_ONLY


def test_dtypes_have_one_name_each() -> None:
    assert [dtype_name(dtype_of(name)) for name in DTYPES] == list(DTYPES)
    assert {name for name in DTYPES if is_float(DTYPES[name])} == set(FLOATS)
    assert [itemsize(n) for n in ("f64", "bf16", "i1", "ui16")] == [8, 2, 1, 2]


def test_an_unknown_dtype_is_named() -> None:
    with pytest.raises(ValueError, match="'f8'"):
        dtype_of("f8")
    with pytest.raises(ValueError, match="complex64"):
        dtype_name(np.dtype(np.complex64))


def nearest(exact: np.ndarray, dtype: str) -> np.ndarray:
    """The value of a narrow type next to an f64, up to what f32 arithmetic blurs."""
    return exact.astype(np.float32).astype(DTYPES[dtype])


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
@pytest.mark.parametrize("name", f"{UNARY} {BINARY}".split())
def test_narrow_floats_round_once(name: str, dtype: str) -> None:
    """Nearly every result is the rounding of the f64 meaning on the same inputs."""
    operands = [np.abs(drawn(s, 500, dtype=dtype)) for s in (1, 2)]
    operands = operands[: 1 if name in UNARY.split() else 2]
    found = meaning(name, *operands)
    exact = meaning(name, *map(f64, operands))
    assert exact.dtype == np.float64
    assert found.dtype == DTYPES[dtype]
    assert np.mean(found == nearest(exact, dtype)) > 0.98


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_a_composite_rounds_at_its_end_only(dtype: str) -> None:
    x, w = drawn(1, 64, 96, dtype=dtype), drawn(2, 96, dtype=dtype)
    exact = meaning("rmsnorm", f64(x), f64(w))
    assert np.mean(meaning("rmsnorm", x, w) == nearest(exact, dtype)) > 0.98
    q, k, v = (drawn(s, 2, 3, 16, dtype=dtype) for s in (3, 4, 5))
    exact = meaning("flash_attn", f64(q), f64(k), f64(v))
    assert np.mean(meaning("flash_attn", q, k, v) == nearest(exact, dtype)) > 0.95


@pytest.mark.parametrize(
    ("left", "right", "wanted"),
    [("f16", "bf16", "f32"), ("f16", "f32", "f32"), ("bf16", "f64", "f64")],
)
def test_mixed_floats_give_the_wider(left: str, right: str, wanted: str) -> None:
    a, b = drawn(1, 3, dtype=left), drawn(2, 3, dtype=right)
    for name in ("add", "matmul", "max"):
        assert meaning(name, a, b).dtype == DTYPES[wanted]
    assert meaning("concat", a, b, axis=0).dtype == DTYPES[wanted]
    assert (
        meaning("select", np.array([True, False, True]), a, b).dtype == (DTYPES[wanted])
    )


def test_weights_and_masks_do_not_widen() -> None:
    x, wide = drawn(1, 2, 4, dtype="bf16"), drawn(2, 4)
    assert meaning("rmsnorm", x, wide).dtype == DTYPES["bf16"]
    assert meaning("layernorm", x, wide, wide).dtype == DTYPES["bf16"]
    assert meaning("rope", x, wide, wide).dtype == DTYPES["bf16"]
    assert meaning("flash_attn", x, x, x, drawn(3, 2, 2)).dtype == DTYPES["bf16"]
    assert meaning("flash_attn", x, x, x, mask=drawn(3, 2, 2)).dtype == DTYPES["bf16"]


def test_results_are_arrays_even_of_rank_0() -> None:
    one = np.float32(1.5)
    for found in (
        meaning("add", one, one),
        meaning("reduce_sum", drawn(1, 3), axes=[0]),
        meaning("matmul", drawn(1, 3), drawn(2, 3)),
        meaning("gather", drawn(1, 3), np.int64(1)),
        meaning("select", np.bool_(True), one, one),
    ):
        assert isinstance(found, np.ndarray)
        assert found.shape == ()
