"""The Llama of `benchmarks.llama` in torch: the same ops, with weights as parameters."""

from __future__ import annotations

import torch
from torch import Tensor, nn

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


def _weight(*shape: int) -> nn.Parameter:
    return nn.Parameter(torch.randn(*shape) * 0.1, requires_grad=False)


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    return weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


def _turned(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    half = WIDTH // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


def _repeated(x: Tensor) -> Tensor:
    wide = x[:, :, None].expand(BATCH, KV_HEADS, HEADS // KV_HEADS, TOKENS, WIDTH)
    return wide.reshape(BATCH, HEADS, TOKENS, WIDTH)


class Layer(nn.Module):
    """One layer of the decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = _weight(HIDDEN), _weight(HIDDEN)
        self.q, self.o = _weight(HIDDEN, HIDDEN), _weight(HIDDEN, HIDDEN)
        self.k, self.v = (_weight(HIDDEN, KV_HEADS * WIDTH) for _ in range(2))
        self.gate, self.up = (_weight(HIDDEN, INNER) for _ in range(2))
        self.down = _weight(INNER, HIDDEN)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, added: Tensor) -> Tensor:
        """Hidden states in and out, [BATCH, TOKENS, HIDDEN]."""
        h = _norm(x, self.first)
        q, k, v = (
            (h @ w).view(BATCH, TOKENS, -1, WIDTH).transpose(1, 2)
            for w in (self.q, self.k, self.v)
        )
        q, k = _turned(q, cos, sin), _repeated(_turned(k, cos, sin))
        scores = q @ k.transpose(2, 3) * WIDTH**-0.5 + added
        out = torch.softmax(scores, -1) @ _repeated(v)
        x = x + out.transpose(1, 2).reshape(BATCH, TOKENS, HIDDEN) @ self.o
        h = _norm(x, self.second)
        gate = h @ self.gate
        return x + (gate * torch.sigmoid(gate) * (h @ self.up)) @ self.down


class Llama(nn.Module):
    """Token ids to logits."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.embed, self.head = _weight(VOCABULARY, HIDDEN), _weight(HIDDEN, VOCABULARY)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.norm = _weight(HIDDEN)
        self.cos, self.sin = map(torch.from_numpy, tables())
        self.added = torch.from_numpy(mask())

    def forward(self, ids: Tensor) -> Tensor:
        """[BATCH, TOKENS] to [BATCH, TOKENS, VOCABULARY]."""
        x = self.embed[ids]
        for layer in self.layers:
            x = layer(x, self.cos, self.sin, self.added)
        return _norm(x, self.norm) @ self.head
