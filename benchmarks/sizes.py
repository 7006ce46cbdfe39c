"""The sizes of the benchmark's Llama, and its constant tables; NumPy alone."""

from __future__ import annotations

import numpy as np

BATCH, TOKENS, HEADS, KV_HEADS, WIDTH = 1, 8, 4, 2, 8
HIDDEN, INNER, VOCABULARY = HEADS * WIDTH, 48, 80
Array = np.ndarray


def tables() -> tuple[Array, Array]:
    """Cosines and sines of rotary positions, [1, 1, TOKENS, WIDTH]."""
    rates = 1e4 ** -(np.arange(0, WIDTH, 2) / WIDTH)
    angles = np.outer(np.arange(TOKENS), rates)
    both = np.concatenate([angles, angles], axis=-1)[None, None]
    return np.cos(both).astype(np.float32), np.sin(both).astype(np.float32)


def mask() -> Array:
    """The causal mask, added to scores: [BATCH, 1, TOKENS, TOKENS]."""
    above = np.triu(np.ones((TOKENS, TOKENS), bool), 1)
    low = np.where(above, np.finfo(np.float32).min, 0).astype(np.float32)
    return np.broadcast_to(low, (BATCH, 1, TOKENS, TOKENS)).copy()
