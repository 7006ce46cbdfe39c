"""Small random graphs over the vocabulary, and how passes are held to their meaning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tessera.diagnostics import Diagnostics
from tessera.graph.builder import GraphBuilder
from tessera.graph.context import graph_context
from tessera.graph.evaluate import evaluate
from tessera.graph.types import tensor, value_shape
from tessera.reference.dtypes import DTYPES

Inputs = dict[str, np.ndarray]


class Maker:
    """Draws ops one by one; every value is small f64 (or i1 for conditions)."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.graph = GraphBuilder()
        self.inputs: Inputs = {}
        self.values: list[SSAValue] = []

    def input(self, shape: tuple[int, ...]) -> SSAValue:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = self.rng.normal(size=shape)
        default = self.rng.normal(size=shape) if self.rng.random() < 0.3 else None
        return self.graph.input(name, "f64", shape, default)

    def const(self, array: np.ndarray) -> SSAValue:
        return self.graph.const(array, f"w{int(self.rng.integers(1 << 60))}")

    def pick(self) -> SSAValue:
        return self.values[int(self.rng.integers(len(self.values)))]

    def shape(self) -> tuple[int, ...]:
        rank = int(self.rng.integers(0, 4))
        return tuple(int(n) for n in self.rng.choice([1, 2, 3], size=rank))

    def leaf(self) -> SSAValue:
        value = float(self.rng.choice([0.0, -0.0, 1.0, -1.0, 2.0, 0.5]))
        if self.rng.random() < 0.6:
            return self.const(np.full(self.shape(), value))
        return self.const(self.rng.normal(size=self.shape()))

    def step(self) -> None:
        kinds: list[Callable[[], SSAValue]] = [
            *(self.unary, self.binary, self.binary, self.reshape, self.transpose),
            *(self.matmul, self.reduce, self.slice, self.cast, self.neutral, self.leaf),
            *(self.select, self.undone, self.broadcast, self.concat),
        ]
        self.values.append(kinds[int(self.rng.integers(len(kinds)))]())

    def unary(self) -> SSAValue:
        name = self.rng.choice(["neg", "tanh", "sigmoid", "abs", "sin", "erf"])
        return self.graph.op(str(name), self.pick())

    def binary(self) -> SSAValue:
        name = str(self.rng.choice(["add", "sub", "mul", "max", "min"]))
        a = self.pick()
        b = self.pick() if self.rng.random() < 0.5 else self.leaf()
        try:
            np.broadcast_shapes(value_shape(a), value_shape(b))
        except ValueError:
            b = self.const(scalar(2.0, "f64"))
        operands = (a, b) if self.rng.random() < 0.5 else (b, a)
        return self.graph.op(name, *operands)

    def neutral(self) -> SSAValue:
        ops = [("mul", 1.0), ("div", 1.0), ("add", 0.0), ("add", -0.0), ("sub", 0.0)]
        name, value = ops[int(self.rng.integers(len(ops)))]
        ones = (1,) * int(self.rng.integers(0, 4))
        return self.graph.op(name, self.pick(), self.const(np.full(ones, value)))

    def undone(self) -> SSAValue:
        return self.graph.op("neg", self.graph.op("neg", self.pick()))

    def reshape(self) -> SSAValue:
        x = self.pick()
        size = int(np.prod(value_shape(x)))
        options = [(size,), (1, size), (size, 1), value_shape(x)]
        shape = options[int(self.rng.integers(len(options)))]
        return self.graph.op("reshape", x, result=tensor("f64", shape))

    def broadcast(self) -> SSAValue:
        x = self.pick()
        shape = (2, *value_shape(x)) if len(value_shape(x)) < 3 else value_shape(x)
        return self.graph.op("broadcast", x, result=tensor("f64", shape))

    def transpose(self) -> SSAValue:
        x = self.pick()
        order = self.rng.permutation(len(value_shape(x)))
        return self.graph.op("transpose", x, permutation=tuple(map(int, order)))

    def matmul(self) -> SSAValue:
        x = self.pick()
        if len(value_shape(x)) < 2:
            return x
        rank = len(value_shape(x))
        order = (*range(rank - 2), rank - 1, rank - 2)
        left, right = bool(self.rng.random() < 0.5), bool(self.rng.random() < 0.5)
        other = self.const(self.rng.normal(size=value_shape(x)))
        y = other if self.rng.random() < 0.5 else x
        if self.rng.random() < 0.5:
            y = self.graph.op("transpose", y, permutation=order)
            return self.graph.op(
                "matmul",
                *(x, y),
                transpose_a=left,
                transpose_b=left,
            )
        return self.graph.op("matmul", x, y, transpose_a=right, transpose_b=not right)

    def reduce(self) -> SSAValue:
        x = self.pick()
        rank = len(value_shape(x))
        axes = tuple(a for a in range(-rank, 0) if self.rng.random() < 0.4)
        name = str(self.rng.choice(["reduce_sum", "reduce_mean", "reduce_max"]))
        keepdims = bool(self.rng.random() < 0.5)
        return self.graph.op(name, x, axes=axes, keepdims=keepdims)

    def slice(self) -> SSAValue:
        x = self.pick()
        rank = len(value_shape(x))
        whole = self.rng.random() < 0.5
        steps = tuple(
            1 if whole else int(self.rng.choice([1, -1])) for _ in range(rank)
        )
        starts = tuple(0 if s > 0 else -1 for s in steps)
        stops = tuple((1 << 63) - 1 if s > 0 else -(1 << 63) for s in steps)
        return self.graph.op("slice", x, starts=starts, stops=stops, steps=steps)

    def concat(self) -> SSAValue:
        x = self.pick()
        if not value_shape(x) or np.prod(value_shape(x)) > 64:
            return x
        count = int(self.rng.integers(1, 3))
        return self.graph.op("concat", *([x] * count), axis=-1)

    def cast(self) -> SSAValue:
        x = self.pick()
        shape = value_shape(x)
        if self.rng.random() < 0.5:
            return self.graph.op("cast", x, result=tensor("f64", shape))
        narrow = self.graph.op("cast", x, result=tensor("f32", shape))
        return self.graph.op("cast", narrow, result=tensor("f64", shape))

    def select(self) -> SSAValue:
        x = self.pick()
        if self.rng.random() < 0.5:
            cond = self.const(np.full((), bool(self.rng.random() < 0.5)))
        else:
            cond = self.graph.op("cmp", x, self.const(scalar(0.0, "f64")), kind="gt")
        return self.graph.op("select", cond, x, self.graph.op("neg", x))


def random_graph(seed: int, size: int = 14) -> tuple[ModuleOp, Inputs]:
    """A module of about `size` ops with one or two results, and its inputs."""
    maker = Maker(seed)
    shapes = [maker.shape() for _ in range(2)]
    maker.values = [maker.input(shape) for shape in shapes]
    for _ in range(size):
        maker.step()
    chosen = [maker.values[-1], maker.pick()]
    named = [(f"y{i}", value) for i, value in enumerate(chosen)]
    return maker.graph.module(named), maker.inputs


def run(module: ModuleOp, *passes: ModulePass) -> Diagnostics:
    """Apply passes in place, verify, and give what they reported."""
    context = graph_context()
    for item in passes:
        item.apply(context, module)
    module.verify()
    return context.diagnostics


def check_pass(item: ModulePass, module: ModuleOp, inputs: Inputs) -> None:
    """A pass keeps results to the last bits of f64 and changes nothing when run again."""
    before = evaluate(module, inputs)
    run(module, item)
    once = str(module)
    after = evaluate(module, inputs)
    for name, wanted in before.items():
        assert after[name].dtype == wanted.dtype
        assert after[name].shape == wanted.shape
        scale = np.nanmax(np.abs(wanted[np.isfinite(wanted)]), initial=1.0)
        np.testing.assert_allclose(after[name], wanted, rtol=1e-12, atol=1e-13 * scale)
    run(module, item)
    assert str(module) == once


def names(module: ModuleOp) -> list[str]:
    """The ops of a module's functions in order, constants left out."""
    ops = [op for op in module.walk() if op.name.startswith("tessera.")]
    return [op.name.removeprefix("tessera.") for op in ops if "const" not in op.name]


def scalar(value: float, dtype: str = "f32") -> np.ndarray:
    """An array of rank 0."""
    return np.asarray(value, DTYPES[dtype])


def stamp(value: SSAValue, kernel: str) -> None:
    """Write a fusion intent on the op that makes a value."""
    assert isinstance(value.owner, Operation)
    value.owner.attributes["tessera.fusion.intent"] = StringAttr(kernel)
