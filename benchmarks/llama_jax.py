"""The Llama of `benchmarks.llama` in JAX: the same ops, weights given as arguments."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.sizes import (
    BATCH,
    HEADS,
    HIDDEN,
    INNER,
    KV_HEADS,
    TOKENS,
    VOCABULARY,
    WIDTH,
    mask,
    tables,
)

jax: Any = import_module("jax")  # may be absent
jnp: Any = import_module("jax.numpy")
Weights = dict[str, Any]
KV = KV_HEADS * WIDTH
SHAPES = {
    **{"first": (HIDDEN,), "second": (HIDDEN,), "q": (HIDDEN, HIDDEN)},
    **{"k": (HIDDEN, KV), "v": (HIDDEN, KV), "o": (HIDDEN, HIDDEN)},
    **{"gate": (HIDDEN, INNER), "up": (HIDDEN, INNER), "down": (INNER, HIDDEN)},
}


def weights(layers: int) -> Weights:
    """Random weights by name."""
    draw = np.random.default_rng(1).normal
    made: Weights = {
        f"{name}.{layer}": draw(size=shape).astype(np.float32)
        for layer in range(layers)
        for name, shape in SHAPES.items()
    }
    outer = {"embed": (VOCABULARY, HIDDEN), "norm": (HIDDEN,)}
    for name, shape in {**outer, "head": (HIDDEN, VOCABULARY)}.items():
        made[name] = draw(size=shape).astype(np.float32)
    return made


def _norm(x: Any, weight: Any) -> Any:
    mean = jnp.mean(x * x, -1, keepdims=True)
    return weight * (x * jax.lax.rsqrt(mean + 1e-6))


def _turned(x: Any, cos: Any, sin: Any) -> Any:
    half = WIDTH // 2
    turned = jnp.concatenate((-x[..., half:], x[..., :half]), -1)
    return x * cos + turned * sin


def _repeated(x: Any) -> Any:
    wide = (BATCH, KV_HEADS, HEADS // KV_HEADS, TOKENS, WIDTH)
    return jnp.broadcast_to(x[:, :, None], wide).reshape(BATCH, HEADS, TOKENS, WIDTH)


def _layer(x: Any, w: Weights) -> Any:
    cos, sin = tables()
    h = _norm(x, w["first"])
    q, k, v = (
        (h @ w[name]).reshape(BATCH, TOKENS, -1, WIDTH).transpose(0, 2, 1, 3)
        for name in "qkv"
    )
    q, k = _turned(q, cos, sin), _repeated(_turned(k, cos, sin))
    scores = q @ k.swapaxes(2, 3) * WIDTH**-0.5 + mask()
    out = jax.nn.softmax(scores, -1) @ _repeated(v)
    x = x + out.transpose(0, 2, 1, 3).reshape(BATCH, TOKENS, HIDDEN) @ w["o"]
    h = _norm(x, w["second"])
    gate = h @ w["gate"]
    return x + (gate * jax.nn.sigmoid(gate) * (h @ w["up"])) @ w["down"]


def llama(layers: int) -> Any:
    """A function of weights and token ids, to be jitted."""

    def run(w: Weights, ids: Any) -> Any:
        x = w["embed"][ids]
        for layer in range(layers):
            x = _layer(x, {name: w[f"{name}.{layer}"] for name in SHAPES})
        return _norm(x, w["norm"]) @ w["head"]

    return run
