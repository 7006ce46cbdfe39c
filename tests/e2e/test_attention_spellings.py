"""One attention chain in all its spellings: one verdict, one result."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

import tessera
from tessera import ops

RNG = np.random.default_rng(0)
Q, K, V = (RNG.standard_normal((2, 3, 6, 16)).astype(np.float32) for _ in range(3))
W = RNG.standard_normal((16, 16)).astype(np.float32) / 4
MASK = np.where(np.tril(np.ones((6, 6), bool)), 0, -np.inf).astype(np.float32)
S = 0.25


def scores(q: Any, k: Any) -> Any:
    return ops.matmul(q, k, transpose_b=True)


def attend(scores: Any, v: Any) -> Any:
    return ops.softmax(scores) @ v


Spelling = Callable[[Any, Any, Any], Any]

SCALES: dict[str, Spelling] = {
    "x * s": lambda q, k, v: attend(scores(q, k) * S, v),
    "s * x": lambda q, k, v: attend(S * scores(q, k), v),
    "x / (1/s)": lambda q, k, v: attend(scores(q, k) / (1 / S), v),
    "on q": lambda q, k, v: attend(scores(q * S, k), v),
    "on k": lambda q, k, v: attend(scores(q, S * k), v),
    "split": lambda q, k, v: attend(scores(q * sqrt(S), k * sqrt(S)), v),
    "K by op": lambda q, k, v: attend(q @ ops.transpose(k, (0, 1, 3, 2)) * S, v),
    "K by swapaxes": lambda q, k, v: attend(q @ k.mT * S, v),
    "unit axis": lambda q, k, v: attend(
        scores(q, k).reshape(2, 3, 1, 6, 6).reshape(2, 3, 6, 6) * S, v
    ),
    "identity cast": lambda q, k, v: attend(ops.cast(scores(q, k), "f32") * S, v),
}

MASKS: dict[str, Spelling] = {
    "after the scale": lambda q, k, v: attend(scores(q, k) * S + MASK, v),
    "before the scale": lambda q, k, v: attend((scores(q, k) + MASK) * S, v),
    "mask + x": lambda q, k, v: attend(MASK + S * scores(q, k), v),
    "mask + x before": lambda q, k, v: attend(S * (MASK + scores(q, k)), v),
    "where": lambda q, k, v: attend(ops.where(MASK == 0, scores(q, k) * S, -np.inf), v),
}


def unrelated(q: Any, k: Any, v: Any) -> Any:
    """The chain with an op of another chain between each two of its own."""
    s = scores(q, k)
    a = ops.exp(q)
    s = s * S
    b = a + k
    p = ops.softmax(s)
    c = b * v
    return p @ v, c


def verdict(function: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    (site,) = tessera.jit(function).audit(*args).sites
    return site.kind, site.outcome, site.kernel, site.source, site.code


FUSED = ("attention", "fused", "matmul_softmax_matmul", "descriptor", None)


def check(function: Spelling, wanted: np.ndarray) -> None:
    assert verdict(function, Q, K, V) == FUSED
    found = tessera.jit(function)(Q, K, V)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", SCALES)
def test_a_scale(name: str) -> None:
    check(SCALES[name], ops.flash_attn(Q, K, V, scale=S))


@pytest.mark.parametrize("name", MASKS)
def test_a_mask(name: str) -> None:
    check(MASKS[name], ops.flash_attn(Q, K, V, MASK, scale=S))


def test_unrelated_ops_between() -> None:
    assert verdict(unrelated, Q, K, V) == FUSED
    found, other = tessera.jit(unrelated)(Q, K, V)
    wanted = ops.flash_attn(Q, K, V, scale=S)
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(other, (np.exp(Q) + K) * V, rtol=1e-5, atol=1e-5)


def test_k_produced_transposed() -> None:
    def plain(q: Any, x: Any, v: Any) -> Any:
        return attend(scores(q, x @ W) * S, v)

    def transposed(q: Any, x: Any, v: Any) -> Any:
        return attend(q @ ops.matmul(W.T, x.mT) * S, v)

    results = [tessera.jit(f)(Q, K, V) for f in (plain, transposed)]
    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-5)
    assert verdict(plain, Q, K, V) == verdict(transposed, Q, K, V) == FUSED
