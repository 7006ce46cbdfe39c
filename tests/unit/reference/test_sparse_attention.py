"""Native sparse attention against naive loops over tokens, blocks and heads."""

from math import ceil, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.reference import DTYPES
from tests.unit.reference.oracles import close, drawn, f64, meaning


def weighted(q: Any, keys: list[Any], values: list[Any], scale: float) -> Any:
    """One query over a list of keys; no keys give zeros."""
    s = np.array([float(q @ k) * scale for k in keys])
    if not keys:
        return s, None
    p = np.exp(s - s.max())
    p /= p.sum()
    return p, sum(w * v for w, v in zip(p, values, strict=True))


def block_count(keys: int, length: int, stride: int) -> int:
    return len([b for b in range(keys) if b * stride + length <= keys])


def means(x: Any, length: int, stride: int) -> Any:
    count = block_count(len(x), length, stride)
    rows = [x[b * stride : b * stride + length].mean(0) for b in range(count)]
    return np.array(rows).reshape(count, x.shape[1])


def chosen_blocks(
    scores: Any, t: int, size: int, top_k: int, init: int, local: int
) -> list[int]:
    candidates = [j for j in range(len(scores)) if t >= 0 and j <= t // size]
    forced = {j for j in candidates if j < init}
    forced |= set(candidates[max(0, len(candidates) - local) :])
    rest = sorted(set(candidates) - forced, key=lambda j: (-scores[j], j))
    return sorted([*forced, *rest][: min(top_k, len(candidates))])


class Naive:
    """The equations, for one q [B, Hq, Sq, D], k, v [B, Hkv, Sk, D or Dv]."""

    def __init__(self, q: Any, k: Any, v: Any, scale: float | None = None) -> None:
        self.q, self.k, self.v = f64(q), f64(k), f64(v)
        self.group = q.shape[1] // k.shape[1]
        self.keys = k.shape[2]
        self.scale = 1 / sqrt(q.shape[-1]) if scale is None else scale
        self.blank = np.zeros((*q.shape[:3], v.shape[-1]))

    def each(self) -> Any:
        for b, h, i in np.ndindex(self.q.shape[:3]):
            yield b, h, h // self.group, i, i + self.keys - self.q.shape[2]

    def over(self, tokens: Any) -> Any:
        """Attention where tokens(b, h, g, i, t) lists the keys a query reads."""
        out = self.blank.copy()
        for b, h, g, i, t in self.each():
            js = tokens(b, h, g, i, t)
            keys, values = [self.k[b, g, j] for j in js], [self.v[b, g, j] for j in js]
            if js:
                out[b, h, i] = weighted(self.q[b, h, i], keys, values, self.scale)[1]
        return out

    def window(self, size: int) -> Any:
        near = lambda b, h, g, i, t: [j for j in range(self.keys) if t - size < j <= t]  # noqa: E731
        return self.over(near)

    def selected(
        self, scores: Any, size: int, top_k: int, init: int, local: int
    ) -> Any:
        def tokens(b: int, h: int, g: int, i: int, t: int) -> list[int]:
            head = g if scores.shape[1] == self.k.shape[1] else h
            found = chosen_blocks(scores[b, head, i], t, size, top_k, init, local)
            return [j for j in range(self.keys) if j <= t and j // size in found]

        return self.over(tokens)

    def compressed(self, kc: Any, vc: Any, length: int, stride: int) -> Any:
        """The output and each query's weights over the blocks."""
        out, p = self.blank.copy(), np.zeros((*self.q.shape[:3], kc.shape[2]))
        for b, h, g, i, t in self.each():
            seen = [c for c in range(kc.shape[2]) if c * stride + length - 1 <= t]
            if seen:
                keys, values = [kc[b, g, c] for c in seen], [vc[b, g, c] for c in seen]
                p[b, h, i, seen], out[b, h, i] = weighted(
                    self.q[b, h, i], keys, values, self.scale
                )
        return out, p

    def scores(self, p: Any, length: int, stride: int, size: int) -> Any:
        out = np.zeros((*self.k.shape[:2], self.q.shape[2], ceil(self.keys / size)))
        for b, h, g, i, _ in self.each():
            for j in range(out.shape[-1]):
                for m in range(size // stride):
                    for n in range(length // stride):
                        c = size // stride * j + m - n
                        if 0 <= c < p.shape[-1]:
                            out[b, g, i, j] += p[b, h, i, c]
        return out

    def means(self, length: int, stride: int) -> list[Any]:
        stack = lambda x: np.stack([[means(h, length, stride) for h in b] for b in x])  # noqa: E731
        return [stack(self.k), stack(self.v)]


def qkv(sq: int = 9, sk: int = 9, hq: int = 4, hkv: int = 2, dtype: str = "f64") -> Any:
    shapes = [(2, hq, sq, 6), (2, hkv, sk, 6), (2, hkv, sk, 5)]
    return [drawn(i, *shape, dtype=dtype) for i, shape in enumerate(shapes)]


LENGTHS = st.integers(0, 11)


@given(LENGTHS, st.integers(1, 5), st.integers(1, 5))
def test_block_means(keys: int, length: int, stride: int) -> None:
    k = drawn(1, 3, keys, 2, dtype="f64")
    found = meaning("compress_blocks", k, cmp_len=length, cmp_stride=stride)
    wanted = np.stack([means(row, length, stride) for row in k])
    close(found, wanted)
    assert found.shape[-2] == max(0, (keys - length) // stride + 1)


@given(st.integers(1, 7), st.integers(0, 4), st.integers(1, 9))
def test_sliding_window(queries: int, more: int, window: int) -> None:
    operands = qkv(queries, queries + more)
    found = meaning("attn_sliding_window", *operands, window_size=window)
    close(found, Naive(*operands).window(window))


@pytest.mark.parametrize("name", ["attn_sliding_window", "attn_top_k_blocks"])
def test_more_queries_than_keys_leave_zeros(name: str) -> None:
    q, k, v = qkv(6, 4)
    if name == "attn_sliding_window":
        found = meaning(name, q, k, v, window_size=3)
    else:
        found = meaning(name, q, k, v, drawn(4, 2, 2, 6, 2), block_size=2, top_k=3)
    assert (found[:, :, :2] == 0).all()
    assert (found[:, :, 2:] != 0).all()


@settings(deadline=None)
@given(
    st.integers(1, 6), st.integers(0, 5), st.integers(1, 4), st.integers(1, 4),
    st.booleans(),
)  # fmt: skip
def test_compressed_blocks(
    queries: int, more: int, length: int, stride: int, plain_scale: bool
) -> None:
    scale = None if plain_scale else 0.7
    q, k, v = qkv(queries, queries + more)
    naive = Naive(q, k, v, scale)
    kc, vc = naive.means(length, stride)
    wanted, _ = naive.compressed(kc, vc, length, stride)
    options = {"cmp_len": length, "cmp_stride": stride, "scale": scale}
    close(meaning("attn_compressed_blocks", q, kc, vc, k, **options), wanted)
    if more == 0 or queries == 1 or stride == 1:
        blocks = kc.shape[2]
        if more and (queries - length) // stride + 1 == blocks:
            return  # as many blocks as if Sk were Sq: read as such without k
        close(meaning("attn_compressed_blocks", q, kc, vc, **options), wanted)


def test_compressed_blocks_ask_for_k_when_it_matters() -> None:
    q, k, v = qkv(3, 9)
    kc, vc = Naive(q, k, v).means(2, 2)
    with pytest.raises(ValueError, match="wanted k"):
        meaning("attn_compressed_blocks", q, kc, vc, cmp_len=2, cmp_stride=2)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 6), st.integers(0, 6), st.integers(1, 4), st.integers(0, 2),
    st.integers(0, 2), st.integers(0, 3), st.booleans(), st.booleans(),
)  # fmt: skip
def test_top_k_blocks(
    queries: int, more: int, size: int, init: int, local: int, extra: int,
    grouped: bool, tied: bool,
) -> None:  # fmt: skip
    top_k = max(1, init + local + extra)
    q, k, v = qkv(queries, queries + more)
    heads = 2 if grouped else 4
    scores = drawn(9, 2, heads, queries, ceil((queries + more) / size), dtype="f64")
    if tied:
        scores = np.round(scores)
    found = meaning(
        "attn_top_k_blocks", q, k, v, scores, block_size=size, top_k=top_k,
        init_blocks=init, local_blocks=local,
    )  # fmt: skip
    close(found, Naive(q, k, v).selected(scores, size, top_k, init, local))


def test_equal_scores_take_the_lower_block() -> None:
    q, k, v = qkv(1, 8, 1, 1)
    scores = np.zeros((2, 1, 1, 8))
    options = {"block_size": 1, "top_k": 3, "init_blocks": 0, "local_blocks": 1}
    found = meaning("attn_top_k_blocks", q, k, v, scores, **options)
    close(found, Naive(q, k, v).over(lambda *_: [0, 1, 7]))
    scores[..., 2:5] = [np.nan, -np.inf, 1]
    found = meaning("attn_top_k_blocks", q, k, v, scores, **options)
    close(found, Naive(q, k, v).over(lambda *_: [0, 4, 7]))


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 5), st.integers(0, 8), st.integers(1, 2), st.integers(1, 3),
    st.integers(1, 3),
)  # fmt: skip
def test_block_scores(
    queries: int, more: int, stride: int, lengths: int, sizes: int
) -> None:
    length, size = stride * lengths, stride * sizes
    q, k, v = qkv(queries, queries + more)
    naive = Naive(q, k, v)
    kc, vc = naive.means(length, stride)
    _, p = naive.compressed(kc, vc, length, stride)
    found = meaning(
        "nsa_block_scores", q, kc, k, cmp_len=length, cmp_stride=stride, block_size=size
    )
    close(found, naive.scores(p, length, stride, size))


def whole(naive: Naive, gates: Any, kc: Any, vc: Any, **o: Any) -> Any:
    size = o["block_size"]
    length, stride = o.get("cmp_len", size), o.get("cmp_stride", size)
    compressed, p = naive.compressed(kc, vc, length, stride)
    scores = naive.scores(p, length, stride, size)
    init, local = o.get("init_blocks", 1), o.get("local_blocks", 2)
    selected = naive.selected(scores, size, o["top_k"], init, local)
    window = naive.window(o["window_size"])
    g = f64(gates)
    return g[..., :1] * compressed + g[..., 1:2] * selected + g[..., 2:] * window


@pytest.mark.parametrize("sizes", [(24, 24), (1, 23), (5, 17), (1, 1), (3, 2)])
@pytest.mark.parametrize(
    "options",
    [
        {"window_size": 5, "block_size": 4, "top_k": 3},
        {"window_size": 1, "block_size": 4, "top_k": 4, "cmp_len": 4, "cmp_stride": 2},
        {
            "window_size": 30, "block_size": 4, "top_k": 2, "cmp_len": 8, "cmp_stride": 4,
            "init_blocks": 0, "local_blocks": 1, "scale": 0.9,
        },
    ],
)  # fmt: skip
@pytest.mark.parametrize("learned", [False, True])
def test_the_whole(
    sizes: tuple[int, int], options: dict[str, Any], learned: bool
) -> None:
    q, k, v = qkv(*sizes)
    gates = np.random.default_rng(5).random((2, 4, sizes[0], 3))
    naive = Naive(q, k, v, options.get("scale"))
    size = options["block_size"]
    kc, vc = naive.means(options.get("cmp_len", size), options.get("cmp_stride", size))
    if learned:
        kc, vc = (drawn(s, *x.shape, dtype="f64") for s, x in ((6, kc), (7, vc)))
    given_kv = [kc, vc] if learned else []
    found = meaning("native_sparse_attn_fused", q, k, v, gates, *given_kv, **options)
    close(found, whole(naive, gates, kc, vc, **options))


@pytest.mark.parametrize("heads", [2, 4])
def test_scores_may_be_given(heads: int) -> None:
    q, k, v = qkv(10, 10)
    gates, scores = np.ones((2, 4, 10, 3)), drawn(9, 2, heads, 10, 4, dtype="f64")
    naive = Naive(q, k, v)
    kc, vc = naive.means(4, 2)
    options = {"cmp_len": 4, "cmp_stride": 2, "block_size": 3, "top_k": 3}
    found = meaning(
        "native_sparse_attn_fused", q, k, v, gates, None, None, scores, window_size=2,
        **options,
    )  # fmt: skip
    compressed, _ = naive.compressed(kc, vc, 4, 2)
    selected = naive.selected(scores, 3, 3, 1, 2)
    close(found, compressed + selected + naive.window(2))


def test_one_kv_head_per_query_head() -> None:
    q, k, v = qkv(10, 10, 3, 3)
    gates = np.random.default_rng(5).random((2, 3, 10, 3))
    options = {"window_size": 3, "block_size": 2, "top_k": 3}
    naive = Naive(q, k, v)
    found = meaning("native_sparse_attn_fused", q, k, v, gates, **options)
    close(found, whole(naive, gates, *naive.means(2, 2), **options))


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
def test_narrow_types_follow_q_k_v(dtype: str) -> None:
    q, k, v = qkv(16, 16, dtype=dtype)
    gates = np.random.default_rng(5).random((2, 4, 16, 3)).astype(np.float32)
    options = {"window_size": 4, "block_size": 4, "top_k": 4}
    found = meaning("native_sparse_attn_fused", q, k, v, gates, **options)
    assert found.dtype == DTYPES[dtype]
    naive = Naive(q, k, v)
    close(found, whole(naive, gates, *naive.means(4, 4), **options))


def test_the_future_has_no_influence() -> None:
    q, k, v = qkv(12, 12)
    gates = np.ones((2, 4, 12, 3))
    options = {"window_size": 3, "block_size": 2, "top_k": 3}
    clean = meaning("native_sparse_attn_fused", q, k, v, gates, **options)
    k[:, :, 7:] = v[:, :, 7:] = np.nan
    found = meaning("native_sparse_attn_fused", q, k, v, gates, **options)
    close(found[:, :, :7], clean[:, :, :7])
    assert np.isnan(found[:, :, 7:]).any(axis=-1).all()


def test_512_tokens_are_no_trouble() -> None:
    shapes = [(1, 4, 512, 16), (1, 2, 512, 16), (1, 2, 512, 16), (1, 4, 512, 3)]
    found = meaning(
        "native_sparse_attn_fused", *(drawn(i, *s) for i, s in enumerate(shapes)),
        window_size=64, block_size=32, top_k=6, cmp_len=32, cmp_stride=16,
    )  # fmt: skip
    assert found.shape == (1, 4, 512, 16)


@pytest.mark.parametrize("sizes", [(0, 4), (0, 0), (2, 0)])
def test_no_queries_and_no_keys(sizes: tuple[int, int]) -> None:
    q, k, v = qkv(*sizes)
    gates = np.ones((2, 4, sizes[0], 3))
    options = {"window_size": 2, "block_size": 2, "top_k": 3}
    found = meaning("native_sparse_attn_fused", q, k, v, gates, **options)
    close(found, np.zeros((2, 4, sizes[0], 5)), 0.0)


FUSED = {"window_size": 2, "block_size": 2, "top_k": 3}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"causal": False}, "causal = False, wanted true"),
        ({"window_size": 0}, "window_size = 0"),
        ({"block_size": 0}, "= 0, wanted at least 1"),
        ({"top_k": 2}, "top_k = 2, wanted at least init_blocks . local_blocks = 1 . 2"),
        ({"init_blocks": -1}, "init_blocks = -1"),
        (
            {"cmp_len": 3, "cmp_stride": 2},
            "cmp_len = 3, wanted a multiple of cmp_stride",
        ),
        ({"cmp_len": 4, "cmp_stride": 4}, "block_size = 2, wanted a multiple"),
        ({"cmp_stride": 0}, "cmp_stride = 0"),
    ],
)
def test_the_whole_refuses_by_name(change: dict[str, Any], text: str) -> None:
    q, k, v = qkv(4, 4)
    with pytest.raises(ValueError, match=text):
        meaning(
            "native_sparse_attn_fused", q, k, v, np.ones((2, 4, 4, 3)), **FUSED | change
        )


def test_operands_that_do_not_fit_are_named() -> None:
    q, k, v = qkv(4, 4)
    gates, fused = np.ones((2, 4, 4, 3)), "native_sparse_attn_fused"
    with pytest.raises(ValueError, match="both or none"):
        meaning(fused, q, k, v, gates, k[:, :, :2], **FUSED)
    with pytest.raises(ValueError, match=r"gates of shape \(2, 4, 4, 2\)"):
        meaning(fused, q, k, v, gates[..., :2], **FUSED)
    with pytest.raises(ValueError, match=r"scores of shape \(2, 2, 4, 3\)"):
        meaning(
            "attn_top_k_blocks", q, k, v, np.ones((2, 2, 4, 3)), block_size=2, top_k=3
        )


@pytest.mark.parametrize(
    "name", ["attn_sliding_window", "attn_top_k_blocks", "attn_compressed_blocks"]
)
def test_every_branch_is_causal(name: str) -> None:
    q, k, v = qkv(4, 4)
    options: dict[str, dict[str, int]] = {
        "attn_sliding_window": {"window_size": 2},
        "attn_top_k_blocks": {"block_size": 2, "top_k": 3},
        "attn_compressed_blocks": {"cmp_len": 1, "cmp_stride": 1},
    }
    extra = [np.ones((2, 2, 4, 2))] if name == "attn_top_k_blocks" else []
    with pytest.raises(ValueError, match=f"{name}: causal = False"):
        meaning(name, q, k, v, *extra, causal=False, **options[name])
