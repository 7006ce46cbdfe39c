"""SwiGLU, latent and sparse attention through the whole pipeline, against plain loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from xdsl.ir import SSAValue

from tessera.driver import compile_graph_module
from tessera.graph.types import tensor
from tests.support.chains import APPLE, Bench, fused, near, run
from tests.unit.fusion import oracles

SHARP = 3.0  # inputs large enough that a wrong mask or scale shows


def check(
    b: Bench, value: SSAValue, wanted: np.ndarray, kernel: str, dtype: str = "f32"
) -> None:
    """Every target computes `wanted`, the Apple ones in one call of the kernel."""
    made = b.close(value)
    for target in ("cpu", *APPLE):
        compiled = compile_graph_module(made.module, target)
        near(run(compiled, made.inputs), {"y0": wanted}, dtype)
        expected = [] if target == "cpu" else [(kernel, "composite_op")]
        assert fused(compiled) == expected
        assert not compiled.diagnostics.of("warning")


def wide(b: Bench, *names: str) -> list[np.ndarray]:
    return [b.inputs[name].astype(np.float64) for name in names]


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("biases", [0, 2, 3])
@pytest.mark.parametrize("clamped", [False, True])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_swiglu(dtype: str, biases: int, clamped: bool, lead: tuple[int, ...]) -> None:
    b = Bench(dtype)
    options = {"limit": 1.5, "alpha": 1.7, "up_offset": 1.0} if clamped else {}
    operands = [b.x("x", *lead, 5, 8)]
    operands += [b.x("gate", *lead, 8, 6), b.x("up", *lead, 8, 6)]
    operands += [b.x("down", *lead, 6, 4)]
    names = ("b_gate", "b_up", "b_down")[:biases]
    operands += [b.x(n, s) for n, s in zip(names, (6, 6, 4), strict=False)]
    value = b.op("swiglu_fused", *operands, **options)
    given = [*wide(b, *names), 0.0, 0.0, 0.0][:3]
    limit, alpha, offset = (1.5, 1.7, 1.0) if clamped else (math.inf, 1.0, 0.0)
    x, gate, up, down = wide(b, "x", "gate", "up", "down")
    wanted = oracles.swiglu(x, gate, up, down, given, limit, alpha, offset)
    check(b, value, wanted, "swiglu", dtype)


@pytest.mark.parametrize("packed", ["halves", "interleaved"])
@pytest.mark.parametrize("biases", [0, 1, 2])
def test_packed_swiglu(packed: str, biases: int) -> None:
    b = Bench()
    operands = [b.x("x", 2, 5, 8), b.x("both", 8, 12), b.x("down", 6, 4)]
    operands += [b.x("b_both", 12), b.x("b_down", 4)][:biases]
    value = b.op("swiglu_fused", *operands, packed=packed)
    parts = (np.s_[..., :6], np.s_[..., 6:])
    if packed == "interleaved":
        parts = (np.s_[..., 0::2], np.s_[..., 1::2])
    x, both, down = wide(b, "x", "both", "down")
    given: list[Any] = [0.0, 0.0, 0.0]
    if biases:
        (b_both,) = wide(b, "b_both")
        given[:2] = b_both[parts[0]], b_both[parts[1]]
    if biases == 2:
        given[2:] = wide(b, "b_down")
    wanted = oracles.swiglu(x, both[:, parts[0][1]], both[:, parts[1][1]], down, given)
    check(b, value, wanted, "swiglu")


def spelled_swiglu(b: Bench, form: str, order: int) -> SSAValue:
    x = b.x("x", 2, 5, 8)
    g, u = (b.op("matmul", x, b.x(name, 8, 6)) for name in ("gate", "up"))
    if form == "op":
        h = b.op("silu_mul", g, u)
    else:
        act = b.op("silu", g) if form == "silu" else b.op("mul", g, b.op("sigmoid", g))
        h = b.op("mul", *((act, u), (u, act))[order])
    return b.op("matmul", h, b.x("down", 6, 4))


@pytest.mark.parametrize("form", ["op", "silu", "sigmoid"])
@pytest.mark.parametrize("order", [0, 1])
def test_spelled_swiglu_is_raised(form: str, order: int) -> None:
    b = Bench()
    value = spelled_swiglu(b, form, order)
    x, gate, up, down = wide(b, "x", "gate", "up", "down")
    wanted = oracles.swiglu(x, gate, up, down)
    check(b, value, wanted, "swiglu")


@pytest.mark.parametrize("packed", ["halves", "interleaved"])
def test_spelled_packed_swiglu_is_raised(packed: str) -> None:
    b = Bench()
    h = b.op("matmul", b.x("x", 5, 8), b.x("both", 8, 12))
    spans = ((0, 6, 1), (6, 12, 1)) if packed == "halves" else ((0, 12, 2), (1, 12, 2))
    g, u = (
        b.op("slice", h, starts=(0, s), stops=(5, e), steps=(1, d)) for s, e, d in spans
    )
    value = b.op("matmul", b.op("mul", b.op("silu", g), u), b.x("down", 6, 4))
    x, both, down = wide(b, "x", "both", "down")
    gate, up = (both[:, s:e:d] for s, e, d in spans)
    check(b, value, oracles.swiglu(x, gate, up, down), "swiglu")


def latent(b: Bench, heads: int | None) -> tuple[SSAValue, ...]:
    """x [8, 24], and weights to 32, then 16 and 10 (a head)."""
    width = heads or 1
    shapes = {"x": (8, 24), "w_dkv": (24, 32)}
    shapes |= {"w_uk": (32, 16 * width), "w_uv": (32, 10 * width)}
    return tuple(b.x(n, *s, scale=0.5) for n, s in shapes.items())


def expanded(b: Bench, heads: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Keys and values [heads, 8, …] from the latent."""
    x, w_dkv, w_uk, w_uv = wide(b, "x", "w_dkv", "w_uk", "w_uv")
    found = []
    for w in (w_uk, w_uv):
        flat = x @ w_dkv @ w
        split = flat.reshape(8, heads or 1, -1)
        found.append(split.transpose(1, 0, 2))
    return found[0], found[1]


@pytest.mark.parametrize("heads", [None, 4])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("queries", [1, 3, 8])
def test_mla_from_x(
    heads: int | None, causal: bool, scale: float | None, queries: int
) -> None:
    b = Bench()
    operands = latent(b, heads)
    q = b.x("q", *((heads,) if heads else ()), queries, 16)
    options = {"heads": heads, "causal": causal, "scale": scale}
    value = b.op("mla_decode_fused", *operands, q, **options)
    k, v = expanded(b, heads)
    queries_of = wide(b, "q")[0].reshape(-1, queries, 16)
    rule = oracles.bottom_right(queries, 8, causal)
    factor = scale or 1 / math.sqrt(16)
    rows = zip(queries_of, k, v, strict=True)
    found = np.stack([oracles.attend(*row, factor, rule) for row in rows])
    check(b, value, found if heads else found[0], "mla_decode")


@pytest.mark.parametrize("spelled", ["flash_attn", "matmul"])
@pytest.mark.parametrize("ones", [(), (1,), (1, 1)])
@pytest.mark.parametrize("causal", ["none", "bottom_right"])
def test_an_expansion_with_leading_ones_is_raised(
    spelled: str, ones: tuple[int, ...], causal: str
) -> None:
    if spelled == "matmul" and causal != "none":
        return
    b = Bench()
    x, w_dkv, w_uk, w_uv = latent(b, None)
    q = b.x("q", 3, 16)
    c = b.op("latent_kv_compress", x, w_dkv)
    k = b.op("latent_kv_expand_k", c, w_uk, result=tensor("f32", (*ones, 8, 16)))
    v = b.op("latent_kv_expand_v", c, w_uv, result=tensor("f32", (*ones, 8, 10)))
    if spelled == "flash_attn":
        value = b.op("flash_attn", q, k, v, causal=causal)
    else:
        s = b.op("mul", b.op("matmul", q, k, transpose_b=True), b.const(0.25))
        value = b.op("matmul", b.op("softmax", s), v)
    keys, values = expanded(b, None)
    rule = oracles.bottom_right(3, 8, causal != "none")
    wanted = oracles.attend(wide(b, "q")[0], keys[0], values[0], 0.25, rule)
    check(b, value, wanted.reshape(*ones, 3, 10), "mla_decode")


@pytest.mark.parametrize("rope", [0, 6])
@pytest.mark.parametrize("queries", [1, 3])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("scale", [None, 0.3])
def test_mla_from_a_cache(
    rope: int, queries: int, causal: bool, masked: bool, scale: float | None
) -> None:
    b = Bench()
    shapes = {"q_nope": (2, 3, queries, 8), "q_rope": (2, 3, queries, rope)}
    shapes |= {"c": (2, 7, 5), "k_rope": (2, 7, rope)}
    shapes |= {"w_uk": (3, 5, 8), "w_uv": (3, 5, 4)}
    operands = [b.x(n, *s, scale=SHARP / 3) for n, s in shapes.items()]
    keep = np.arange(queries * 7).reshape(queries, 7) % 3 != 1 if masked else None
    if keep is not None:
        operands.append(b.given("mask", keep))
    value = b.op("mla_cached_fused", *operands, causal=causal, scale=scale)
    factor = scale or 1 / math.sqrt(8 + rope)
    wanted = oracles.mla_cached(wide(b, *shapes), factor, causal, keep)
    check(b, value, wanted, "mla_decode")


SPARSE: dict[str, dict[str, Any]] = {
    "plain": {"tokens": 16},
    "grouped": {"tokens": 16, "heads": (6, 2)},
    "one_group": {"tokens": 12, "heads": (4, 1)},
    "ragged": {"tokens": 19},
    "short": {"tokens": 3},
    "one_token": {"tokens": 1},
    "few_queries": {"tokens": 17, "queries": 2},
    "decode": {"tokens": 18, "queries": 1},
    "top_k_beyond": {"tokens": 16, "top_k": 9},
    "overlapping": {"tokens": 20, "cmp_len": 4, "cmp_stride": 2},
    "long_blocks": {"tokens": 32, "block_size": 8, "cmp_len": 8, "cmp_stride": 4},
    "one_forced": {"tokens": 24, "init_blocks": 0, "local_blocks": 1, "top_k": 2},
}


def sparse(b: Bench, **sizes: Any) -> tuple[list[SSAValue], dict[str, int]]:
    tokens, heads = sizes.pop("tokens"), sizes.pop("heads", (4, 2))
    queries = sizes.pop("queries", tokens)
    options = {"window_size": 5, "block_size": 4, "top_k": 3, **sizes}
    q = b.x("q", 2, heads[0], queries, 8, scale=SHARP)
    k, v = b.x("k", 2, heads[1], tokens, 8), b.x("v", 2, heads[1], tokens, 6)
    gates = b.given("gates", b.rng.uniform(size=(2, heads[0], queries, 3)))
    return [q, k, v, gates], options


@pytest.mark.parametrize("name", SPARSE)
def test_native_sparse_attention(name: str) -> None:
    b = Bench()
    operands, options = sparse(b, **SPARSE[name])
    value = b.op("native_sparse_attn_fused", *operands, **options)
    rows = zip(*wide(b, "q", "k", "v", "gates"), strict=True)
    wanted = [oracles.Nsa(q, k, v, **options)(gates) for q, k, v, gates in rows]
    check(b, value, np.stack(wanted), "native_sparse_attn")


def branches(
    b: Bench, operands: list[SSAValue], o: dict[str, int], named: bool
) -> list[SSAValue]:
    """The three gated branches as a graph spells them."""
    q, k, v, gates = operands
    spans = {"cmp_len": 4, "cmp_stride": 4}
    kc, vc = (b.op("compress_blocks", x, **spans) for x in (k, v))
    scores = b.op("nsa_block_scores", q, kc, k, block_size=4, **spans)
    own = (k,) if named else ()
    found = [
        b.op("attn_compressed_blocks", q, kc, vc, *own, **spans),
        b.op("attn_top_k_blocks", q, k, v, scores, block_size=4, top_k=o["top_k"]),
        b.op("attn_sliding_window", q, k, v, window_size=o["window_size"]),
    ]
    ends = (1 << 63) - 1
    for n, branch in enumerate(found):
        slots = {"starts": (0, 0, 0, n), "stops": (ends, ends, ends, n + 1)}
        gate = b.op("slice", gates, **slots, steps=(1, 1, 1, 1))
        found[n] = b.op("mul", *((gate, branch), (branch, gate))[n % 2])
    return found


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("name", ["plain", "grouped", "ragged", "few_queries"])
def test_the_gated_sum_is_raised(name: str, order: tuple[int, int, int]) -> None:
    b = Bench()
    operands, options = sparse(b, **SPARSE[name])
    found = branches(b, operands, options, named=True)
    first, second, third = (found[n] for n in order)
    value = b.op("add", b.op("add", first, second), third)
    rows = zip(*wide(b, "q", "k", "v", "gates"), strict=True)
    wanted = [oracles.Nsa(q, k, v, **options)(gates) for q, k, v, gates in rows]
    check(b, value, np.stack(wanted), "native_sparse_attn")


def test_blocks_that_do_not_tell_the_tokens_are_not_raised() -> None:
    """Without k the compressed branch counts as many tokens as queries."""
    b = Bench()
    operands, options = sparse(b, tokens=17, queries=16)
    found = branches(b, operands, options, named=False)
    made = b.close(b.op("add", b.op("add", *found[:2]), found[2]))
    compiled = compile_graph_module(made.module, "apple_cpu")
    assert fused(compiled) == []
    assert any("TSR-K604" in str(d) for d in compiled.diagnostics)
    near(run(compiled, made.inputs), made.meant())
