"""Graph IR modules of any length: what a compiler must not be more than linear in."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tessera.graph.builder import GraphBuilder
from tessera.graph.types import tensor

WIDTH = 16
Step = Callable[[GraphBuilder, SSAValue, int], SSAValue]


def _elementwise(b: GraphBuilder, x: SSAValue, i: int) -> SSAValue:
    return b.op(("tanh", "exp", "neg", "abs", "sin")[i % 5], x)


def _residual(b: GraphBuilder, x: SSAValue, i: int) -> SSAValue:
    return b.op("add", x, x) if i % 2 else b.op("tanh", x)


def _views(b: GraphBuilder, x: SSAValue, i: int) -> SSAValue:
    if i % 3 == 2:
        return b.op("neg", x)
    return b.op("transpose", x, permutation=(1, 0))


def _products(b: GraphBuilder, x: SSAValue, i: int) -> SSAValue:
    if i % 4 == 3:
        return b.op("softmax", x)
    if i % 4 == 1:
        return b.op("rmsnorm", x)
    return b.op("matmul", x, x)


CHAINS: Mapping[str, Step] = {
    "elementwise": _elementwise,
    "residual": _residual,
    "views": _views,
    "products": _products,
}


def chain(kind: str, length: int) -> ModuleOp:
    """A function of `length` steps, each of what the last one made."""
    b = GraphBuilder()
    value = b.input("x", "f32", (WIDTH, WIDTH))
    for i in range(length):
        value = CHAINS[kind](b, value, i)
    return b.module([("y", value)])


def layers(count: int) -> ModuleOp:
    """A transformer of `count` layers, 37 ops each, with norms as composites."""
    b = GraphBuilder()
    width, inner, heads, tokens = 32, 48, 4, 8
    x = b.input("x", "f32", (2, tokens, width))
    rng = np.random.default_rng(0)

    def weight(*shape: int) -> SSAValue:
        array = rng.normal(size=shape).astype(np.float32)
        return b.const(array, f"w{rng.integers(1 << 60)}")

    def split(rows: SSAValue) -> SSAValue:
        split_type = tensor("f32", (2, tokens, heads, width // heads))
        rows = b.op("matmul", rows, weight(width, width))
        parts = b.op("reshape", rows, result=split_type)
        return b.op("transpose", parts, permutation=(0, 2, 1, 3))

    for _ in range(count):
        n = b.op("rmsnorm", x, weight(width))
        q, k, v = split(n), split(n), split(n)
        scores = b.op("matmul", q, k, transpose_b=True)
        scores = b.op("mul", scores, b.const(np.asarray(0.3, np.float32)))
        p = b.op("softmax", b.op("add", scores, weight(tokens, tokens)))
        o = b.op("transpose", b.op("matmul", p, v), permutation=(0, 2, 1, 3))
        o = b.op("reshape", o, result=tensor("f32", (2, tokens, width)))
        x = b.op("add", x, b.op("matmul", o, weight(width, width)))
        n = b.op("rmsnorm", x, weight(width))
        gate = b.op("silu", b.op("matmul", n, weight(width, inner)))
        hidden = b.op("mul", gate, b.op("matmul", n, weight(width, inner)))
        x = b.op("add", x, b.op("matmul", hidden, weight(inner, width)))
    return b.module([("y", x)])
