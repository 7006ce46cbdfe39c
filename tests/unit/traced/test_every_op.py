"""Every op of the vocabulary: traced, eager, and torch's where torch has it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from tessera import ops
from tessera.graph.dialect import OPS
from tests.unit.traced.support import normal, op_names, traced, traced_module

X, Y = normal(0, 3, 4), normal(1, 3, 4)
ROW, SQUARE = normal(2, 4), normal(3, 4, 4)
Q, K, V = normal(4, 1, 4, 5, 8), normal(5, 1, 2, 6, 8), normal(6, 1, 2, 6, 8)
POSITIVE = np.abs(X) + np.float32(0.1)
BOOLS = X > 0
INTS = np.array([[7, -7, 3], [0, 5, -4]], np.int64)
IDS = np.array([[0, 2, -1], [1, 1, 0]], np.int64)
LONG_Q, LONG_K, LONG_V = (normal(s, 1, h, 16, 8) for s, h in ((7, 4), (8, 2), (9, 2)))
GATES = np.abs(normal(10, 1, 4, 16, 3))


@dataclass(frozen=True)
class Case:
    """A call of one op and, where torch has it, the same in torch."""

    name: str
    call: Callable[..., Any]
    args: tuple[Any, ...]
    torch: Callable[..., Any] | None = None


def heads(x: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    return x.repeat_interleave(like.shape[-3] // x.shape[-3], dim=-3)


def torch_rope(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


def torch_mla(
    x: torch.Tensor,
    d: torch.Tensor,
    uk: torch.Tensor,
    uv: torch.Tensor,
    q: torch.Tensor,
) -> torch.Tensor:
    c = x @ d
    return F.scaled_dot_product_attention(q, c @ uk, c @ uv)


def torch_mla_cached(*args: torch.Tensor) -> torch.Tensor:
    q_nope, q_rope, c, k_rope, w_uk, w_uv = args
    k = torch.einsum("bsr,hrd->bhsd", c, w_uk)
    v = torch.einsum("bsr,hrd->bhsd", c, w_uv)
    scores = q_nope @ k.mT + q_rope @ k_rope[:, None].mT
    width = q_nope.shape[-1] + q_rope.shape[-1]
    return torch.softmax(scores / width**0.5, -1) @ v


def window_attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    at = torch.arange(16)
    keep = (at[None] <= at[:, None]) & (at[None] > at[:, None] - 4)
    return F.scaled_dot_product_attention(q, heads(k, q), heads(v, q), attn_mask=keep)


UNARY = {
    "neg": torch.neg,
    "abs": torch.abs,
    "sign": torch.sign,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "sin": torch.sin,
    "cos": torch.cos,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "softplus": F.softplus,
    "isnan": torch.isnan,
}
BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "max": torch.maximum,
    "min": torch.minimum,
    "mod": torch.remainder,
}
SLICED = {"starts": [0, 3], "stops": [2, -(1 << 63)], "steps": [1, -1]}
NSA: dict[str, Any] = {"window_size": 4, "block_size": 4, "top_k": 4}

CASES = [
    *(Case(name, getattr(ops, name), (X,), fn) for name, fn in UNARY.items()),
    *(
        Case(name, getattr(ops, name), (POSITIVE,), getattr(torch, name))
        for name in ("log", "sqrt", "rsqrt")
    ),
    *(Case(name, getattr(ops, name), (X, Y), fn) for name, fn in BINARY.items()),
    Case("pow", ops.pow, (POSITIVE, Y), torch.pow),
    Case("and", ops.and_, (BOOLS, ~BOOLS), torch.logical_and),
    Case("or", ops.or_, (BOOLS, Y > 0), torch.logical_or),
    Case("xor", ops.xor, (BOOLS, Y > 0), torch.logical_xor),
    Case("not", ops.not_, (BOOLS,), torch.logical_not),
    Case("cmp", lambda a, b: ops.cmp(a, b, "le"), (X, Y), torch.le),
    Case("floor", lambda x: ops.floor(x, "round"), (X * 3,), torch.round),
    Case("select", ops.select, (BOOLS, X, Y), torch.where),
    Case("const", lambda: ops.const(X), (), lambda: torch.from_numpy(X)),
    Case(
        "iota",
        lambda: ops.iota((2, 3), axis=1, dtype="i32"),
        (),
        lambda: torch.arange(3, dtype=torch.int32).expand(2, 3),
    ),
    Case("fill", lambda: ops.full((2, 3), 1.5), (), lambda: torch.full((2, 3), 1.5)),
    Case("cast", lambda x: ops.cast(x, "i32"), (X * 3,), lambda x: x.int()),
    Case("reshape", lambda x: ops.reshape(x, (2, -1)), (X,), lambda x: x.view(2, -1)),
    Case(
        "broadcast",
        lambda x: ops.broadcast_to(x, (3, 4)),
        (ROW,),
        lambda x: x.expand(3, 4),
    ),
    Case(
        "transpose",
        lambda x: ops.transpose(x, (0, 2, 1, 3)),
        (Q,),
        lambda x: x.permute(0, 2, 1, 3),
    ),
    Case("slice", lambda x: ops.slice(x, **SLICED), (X,), lambda x: x[:2].flip(-1)),
    Case("concat", lambda a, b: ops.concat([a, b]), (X, Y), lambda *x: torch.cat(x)),
    Case(
        "pad",
        lambda x: ops.pad(x, (1, 0), (0, 2), value=0.5),
        (X,),
        lambda x: F.pad(x, (0, 2, 1, 0), value=0.5),
    ),
    Case("gather", ops.embedding, (X, IDS), lambda x, i: x[i]),
    Case(
        "gather_nd",
        ops.gather_nd,
        (X, np.array([[0, 1], [2, 3]])),
        lambda x, i: x[i[:, 0], i[:, 1]],
    ),
    Case(
        "gather_elements",
        lambda x, i: ops.gather_elements(x, i, axis=1),
        (X, np.array([[0, 1], [2, 3], [1, 1]])),
        lambda x, i: x.gather(1, i),
    ),
    Case(
        "scatter",
        lambda x, i, u: ops.scatter(x, i, u, axis=1, reduction="add"),
        (X, np.array([[0, 0], [2, 3], [1, 1]]), Y[:, :2].copy()),
        lambda x, i, u: x.scatter_add(1, i, u),
    ),
    Case("scatter_nd", ops.scatter_nd, (X, np.array([[1]]), Y[:1].copy())),
    Case("shape", ops.shape, (X,), lambda x: torch.tensor(x.shape)),
    Case("reduce_sum", lambda x: ops.sum(x, -1), (X,), lambda x: x.sum(-1)),
    Case("reduce_mean", lambda x: ops.mean(x), (X,), torch.mean),
    Case(
        "reduce_max",
        lambda x: ops.reduce_max(x, (0,), keepdims=True),
        (X,),
        lambda x: x.amax(0, keepdim=True),
    ),
    Case("reduce_any", lambda x: ops.reduce_any(x, 0), (BOOLS,), lambda x: x.any(0)),
    Case("argmax", ops.argmax, (X,), lambda x: x.argmax(-1)),
    Case("cumsum", lambda x: ops.cumsum(x, 0), (X,), lambda x: x.cumsum(0)),
    Case("topk", lambda x: ops.topk(x, 2), (X,), lambda x: torch.topk(x, 2)),
    Case("matmul", ops.matmul, (X, SQUARE), torch.matmul),
    Case(
        "conv",
        lambda x, w, b: ops.conv(x, w, b, strides=(2, 1), pads_low=1, groups=2),
        (normal(11, 1, 4, 6, 6), normal(12, 6, 2, 3, 3), normal(13, 6)),
        None,
    ),
    Case(
        "grouped_matmul",
        ops.grouped_matmul,
        (X, normal(14, 2, 4, 5), np.array([1, 2])),
        lambda x, w, _: torch.cat([x[:1] @ w[0], x[1:] @ w[1]]),
    ),
    Case("softmax", lambda x: ops.softmax(x, axis=0), (X,), lambda x: x.softmax(0)),
    Case(
        "layernorm",
        ops.layernorm,
        (X, ROW, ROW),
        lambda x, w, b: F.layer_norm(x, (4,), w, b),
    ),
    Case("rmsnorm", ops.rmsnorm, (X, ROW), lambda x, w: F.rms_norm(x, (4,), w, 1e-5)),
    Case(
        "gelu",
        lambda x: ops.gelu(x, approximate="tanh"),
        (X,),
        lambda x: F.gelu(x, approximate="tanh"),
    ),
    Case("silu_mul", ops.silu_mul, (X, Y), lambda g, u: F.silu(g) * u),
    Case(
        "glu",
        lambda g, u: ops.glu(g, u, activation="gelu"),
        (X, Y),
        lambda g, u: F.gelu(g) * u,
    ),
    Case("rope", ops.rope, (Q, Q[0, 0].copy(), Q[0, 1].copy()), torch_rope),
    Case(
        "flash_attn",
        lambda q, k, v: ops.flash_attn(q, k, v, causal="top_left"),
        (Q, K, V),
        lambda q, k, v: F.scaled_dot_product_attention(
            q, heads(k, q), heads(v, q), is_causal=True
        ),
    ),
    Case(
        "swiglu_fused",
        ops.swiglu_fused,
        (X, SQUARE, SQUARE.T.copy(), normal(15, 4, 4)),
        lambda x, g, u, d: (F.silu(x @ g) * (x @ u)) @ d,
    ),
    Case(
        "masked_matmul",
        ops.masked_matmul,
        (X, SQUARE, BOOLS),
        lambda p, v, keep: (p * keep) @ v,
    ),
    Case(
        "keep_mask",
        lambda q, k: ops.keep_mask(q, k, causal=True),
        (Q, K),
        lambda q, k: torch.ones(5, 6).tril().bool(),
    ),
    Case("repeat_heads", ops.repeat_heads, (K, Q), heads),
    Case("latent_kv_compress", ops.latent_kv_compress, (X, SQUARE), torch.matmul),
    Case(
        "latent_kv_expand_k",
        lambda c, w: ops.latent_kv_expand_k(c, w, heads=2),
        (X, SQUARE),
        lambda c, w: (c @ w).reshape(3, 2, 2).permute(1, 0, 2),
    ),
    Case("latent_kv_expand_v", ops.latent_kv_expand_v, (X, SQUARE), torch.matmul),
    Case(
        "mla_decode_fused",
        ops.mla_decode_fused,
        (X, normal(16, 4, 6), normal(17, 6, 4), normal(18, 6, 5), Y),
        torch_mla,
    ),
    Case(
        "mla_cached_fused",
        ops.mla_cached_fused,
        (
            normal(19, 2, 3, 4, 8),
            normal(20, 2, 3, 4, 2),
            normal(21, 2, 7, 5),
            normal(22, 2, 7, 2),
            normal(23, 3, 5, 8),
            normal(24, 3, 5, 6),
        ),
        torch_mla_cached,
    ),
    Case(
        "compress_blocks",
        lambda k: ops.compress_blocks(k, 4, 4),
        (LONG_K,),
        lambda k: k.reshape(1, 2, 4, 4, 8).mean(-2),
    ),
    Case(
        "attn_compressed_blocks",
        lambda q, k, v: ops.attn_compressed_blocks(q, k, v, cmp_len=4, cmp_stride=4),
        (LONG_Q, LONG_K[:, :, :4].copy(), LONG_V[:, :, :4].copy()),
    ),
    Case(
        "attn_sliding_window",
        lambda q, k, v: ops.attn_sliding_window(q, k, v, window_size=4),
        (LONG_Q, LONG_K, LONG_V),
        window_attention,
    ),
    Case(
        "attn_top_k_blocks",
        lambda q, k, v, s: ops.attn_top_k_blocks(q, k, v, s, block_size=4, top_k=4),
        (LONG_Q, LONG_K, LONG_V, normal(25, 1, 2, 16, 4)),
        lambda q, k, v, s: F.scaled_dot_product_attention(
            q, heads(k, q), heads(v, q), is_causal=True
        ),
    ),
    Case(
        "nsa_block_scores",
        lambda q, c, k: ops.nsa_block_scores(
            q, c, k, cmp_len=4, cmp_stride=4, block_size=4
        ),
        (LONG_Q, LONG_K[:, :, :4].copy(), LONG_K),
    ),
    Case(
        "native_sparse_attn_fused",
        lambda q, k, v, g: ops.native_sparse_attn_fused(q, k, v, g, **NSA),
        (LONG_Q, LONG_K, LONG_V, GATES),
    ),
]  # fmt: skip


def arrays(result: Any) -> list[np.ndarray]:
    return [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_traced_is_eager_is_torch(case: Case) -> None:
    eager = arrays(case.call(*case.args))
    graph = arrays(traced(case.call, *case.args))
    for found, wanted in zip(graph, eager, strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)
    if case.torch is None:
        return
    expected = case.torch(*map(torch.from_numpy, case.args))
    expected = tuple(expected) if isinstance(expected, tuple) else (expected,)
    for found, wanted in zip(eager, expected, strict=True):
        np.testing.assert_allclose(found, wanted.numpy(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_traced_is_the_op_of_that_name(case: Case) -> None:
    assert case.name in op_names(traced_module(case.call, *case.args))


def test_the_vocabulary_is_whole() -> None:
    assert {case.name for case in CASES} == set(OPS)
    assert all(callable(getattr(ops, name)) for name in OPS)


def test_conv_is_torch() -> None:
    x, w, b = normal(11, 1, 4, 6, 6), normal(12, 6, 2, 3, 3), normal(13, 6)
    found = ops.conv(x, w, b, strides=(2, 1), pads_low=1, groups=2)
    tx, tw, tb = torch.from_numpy(x), torch.from_numpy(w), torch.from_numpy(b)
    wanted = F.conv2d(tx, tw, tb, stride=(2, 1), padding=1, groups=2)
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-5)
