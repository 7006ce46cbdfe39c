"""A Llama as ONNX nodes, as an exporter writes them.

The nodes of a layer are those of `torch.onnx.export` (opset 20, eager attention): rmsnorm
and silu spelled out, rope in slices, heads of keys and values repeated by a view.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

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

Array = np.ndarray


@dataclass
class _Graph:
    """ONNX nodes and initialisers under construction."""

    nodes: list[onnx.NodeProto] = field(default_factory=list[onnx.NodeProto])
    held: dict[str, Array] = field(default_factory=dict[str, Array])
    random: np.random.Generator = field(
        default_factory=lambda: np.random.default_rng(1)
    )

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Append a node; the name of its result."""
        name = f"{kind.lower()}_{len(self.nodes)}"
        node = helper.make_node(kind, inputs, [name], f"node_{name}", **attributes)
        self.nodes.append(node)
        return name

    def hold(self, name: str, array: Any, dtype: Any = np.float32) -> str:
        """An initialiser of that name, made once."""
        self.held.setdefault(name, np.asarray(array, dtype))
        return name

    def ints(self, *values: int) -> str:
        """An initialiser of indices or sizes."""
        return self.hold("i_" + "_".join(map(str, values)), values, np.int64)

    def weight(self, name: str, *shape: int) -> str:
        """A random weight."""
        return self.hold(name, self.random.normal(size=shape) * 0.1)


def llama_onnx(layers: int) -> onnx.ModelProto:
    """A decoder of `layers` layers: 60 nodes each and 9 more.  `input_ids` to `logits`."""
    g = _Graph()
    for name, table in zip(("cos", "sin"), tables(), strict=True):
        g.hold(name, table)
    g.hold("mask", mask())
    x = g.op("Gather", g.weight("embed", VOCABULARY, HIDDEN), "input_ids", axis=0)
    for layer in range(layers):
        x = _layer(g, x, f"layers.{layer}")
    logits = g.op("MatMul", _norm(g, x, "norm"), g.weight("head", HIDDEN, VOCABULARY))
    g.nodes[-1].output[0] = logits = "logits"
    float32, int64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    graph = helper.make_graph(
        g.nodes,
        "llama",
        [helper.make_tensor_value_info("input_ids", int64, (BATCH, TOKENS))],
        [helper.make_tensor_value_info(logits, float32, (BATCH, TOKENS, VOCABULARY))],
        [numpy_helper.from_array(array, name) for name, array in g.held.items()],
    )
    opset = helper.make_opsetid("", 20)
    return helper.make_model(graph, opset_imports=[opset], ir_version=9)


def _layer(g: _Graph, x: str, name: str) -> str:
    normed = _norm(g, x, f"{name}.input_layernorm")
    x = g.op("Add", x, _attention(g, normed, f"{name}.self_attn"))
    normed = _norm(g, x, f"{name}.post_attention_layernorm")
    gate = g.op("MatMul", normed, g.weight(f"{name}.gate", HIDDEN, INNER))
    hidden = g.op("Mul", gate, g.op("Sigmoid", gate))
    up = g.op("MatMul", normed, g.weight(f"{name}.up", HIDDEN, INNER))
    hidden = g.op("Mul", hidden, up)
    down = g.weight(f"{name}.down", INNER, HIDDEN)
    return g.op("Add", x, g.op("MatMul", hidden, down))


def _norm(g: _Graph, x: str, name: str) -> str:
    square = g.op("Pow", x, g.hold("two", 2.0))
    mean = g.op("ReduceMean", square, g.ints(-1), keepdims=1, noop_with_empty_axes=0)
    root = g.op("Sqrt", g.op("Add", mean, g.hold("eps", 1e-6)))
    unit = g.op("Mul", x, g.op("Reciprocal", root))
    return g.op("Mul", g.weight(name, HIDDEN), unit)


def _attention(g: _Graph, x: str, name: str) -> str:
    q = _turned(g, _heads(g, x, f"{name}.q", HEADS))
    k = _turned(g, _heads(g, x, f"{name}.k", KV_HEADS))
    v = _heads(g, x, f"{name}.v", KV_HEADS)
    k, v = _repeated(g, k), _repeated(g, v)
    scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
    scores = g.op("Mul", scores, g.hold("scale", WIDTH**-0.5))
    p = g.op("Softmax", g.op("Add", scores, "mask"), axis=-1)
    out = g.op("Transpose", g.op("MatMul", p, v), perm=[0, 2, 1, 3])
    out = g.op("Reshape", out, g.ints(BATCH, TOKENS, HIDDEN), allowzero=1)
    return g.op("MatMul", out, g.weight(f"{name}.o", HIDDEN, HIDDEN))


def _heads(g: _Graph, x: str, name: str, heads: int) -> str:
    rows = g.op("MatMul", x, g.weight(name, HIDDEN, heads * WIDTH))
    rows = g.op("Reshape", rows, g.ints(BATCH, TOKENS, -1, WIDTH), allowzero=1)
    return g.op("Transpose", rows, perm=[0, 2, 1, 3])


def _turned(g: _Graph, x: str) -> str:
    half, axis, step = WIDTH // 2, g.ints(3), g.ints(1)
    plain = g.op("Mul", x, "cos")
    low = g.op("Slice", x, g.ints(0), g.ints(half), axis, step)
    high = g.op("Slice", x, g.ints(half), g.ints((1 << 63) - 1), axis, step)
    turned = g.op("Concat", g.op("Neg", high), low, axis=-1)
    return g.op("Add", plain, g.op("Mul", turned, "sin"))


def _repeated(g: _Graph, x: str) -> str:
    wide = (BATCH, KV_HEADS, HEADS // KV_HEADS, TOKENS, WIDTH)
    x = g.op("Expand", g.op("Unsqueeze", x, g.ints(2)), g.ints(*wide))
    return g.op("Reshape", x, g.ints(BATCH, HEADS, TOKENS, WIDTH), allowzero=1)
