"""Random graphs full of near chains: whatever is fused, the numbers stay as they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.ir import SSAValue

from tessera.driver import compile_graph_module
from tessera.graph.types import value_shape
from tests.support.chains import Bench, Case, near, run

Step = Callable[[SSAValue], SSAValue]
Sizes = tuple[int, ...]
# Beside a spread, those that once found something.
SEEDS = (*range(150), 1266, 1325, 1967, 2693, 4030)


class Maker:
    """Draws a function op by op, with a taste for what stands in chains."""

    def __init__(self, seed: int) -> None:
        self.b = Bench("f32", seed=seed)
        self.rng = self.b.rng
        self.count = 0
        lead = [(), (2,), (2, 2)][int(self.rng.integers(3))]
        self.width = int(self.rng.choice([1, 4]))
        self.values = [self.fresh(*lead, 4, self.width) for _ in range(2)]

    def fresh(self, *shape: int) -> SSAValue:
        self.count += 1
        return self.b.x(f"i{self.count}", *shape, scale=0.7)

    def pick(self) -> SSAValue:
        """A late value more often than an early one."""
        back = min(int(self.rng.geometric(0.6)), len(self.values))
        return self.values[-back]

    def number(self) -> SSAValue:
        value = float(self.rng.choice([0.5, 2.0, -1.0, 0.3]))
        shape = ((), (1,), (1, 1))[int(self.rng.integers(3))]
        return self.b.const(np.full(shape, value))

    def coin(self) -> bool:
        return bool(self.rng.random() < 0.5)

    def either(self, name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        return self.b.op(name, *((a, b) if self.coin() else (b, a)))

    def matmul(self, x: SSAValue) -> SSAValue:
        *lead, _, columns = value_shape(x)
        if self.coin():
            w = self.fresh(columns, 4)
            return self.b.op("matmul", x, w)
        others = [v for v in (x, *self.values) if value_shape(v)[-1] == columns]
        other = others[int(self.rng.integers(len(others)))]
        try:
            np.broadcast_shapes(value_shape(other)[:-2], tuple(lead))
        except ValueError:
            other = x
        return self.b.op("matmul", x, other, transpose_b=True)

    def weighted(self, x: SSAValue) -> SSAValue:
        """A product with fresh values on the right: the end of an attention."""
        *lead, _, columns = value_shape(x)
        kept = lead if self.coin() else lead[1:] if self.coin() else ()
        return self.b.op("matmul", x, self.fresh(*kept, columns, 4))

    def scale(self, x: SSAValue) -> SSAValue:
        if self.coin():
            return self.either("mul", x, self.number())
        by = self.fresh() if self.coin() else self.number()
        return self.b.op("div", x, by) if self.coin() else self.either("mul", x, by)

    def add(self, x: SSAValue) -> SSAValue:
        shape = value_shape(x)
        masks: list[Sizes] = [shape[-2:], shape[-1:], (1, shape[-1]), shape]
        masks += [(*(1 for _ in shape[:-1]), shape[-1]), (shape[-2], 1)]
        return self.either("add", x, self.fresh(*masks[int(self.rng.integers(6))]))

    def residual(self, x: SSAValue) -> SSAValue:
        like = [v for v in self.values if value_shape(v) == value_shape(x)] or [x]
        return self.either("add", x, like[int(self.rng.integers(len(like)))])

    def select(self, x: SSAValue) -> SSAValue:
        keep = self.rng.random(value_shape(x)[-2:]) < 0.7
        self.count += 1
        cond = self.b.given(f"i{self.count}", keep)
        low = self.b.const(float(self.rng.choice([-np.inf, -50.0])))
        operands = (x, low) if self.coin() else (low, x)
        return self.b.op("select", cond, *operands)

    def reshape(self, x: SSAValue) -> SSAValue:
        *lead, rows, columns = value_shape(x)
        whole = int(np.prod(lead, dtype=int))
        shapes: list[Sizes] = [(whole, rows, columns), (1, *lead, rows, columns)]
        shapes += [(*lead, 1, rows, columns), (*lead, 1, columns, rows)]
        shapes += [(whole * rows, columns), (rows, whole, columns)]
        if columns % 2 == 0:
            shapes.append((*lead, rows, 2, columns // 2))
        shape = shapes[int(self.rng.integers(len(shapes)))]
        return self.b.reshape(x, *shape) if len(shape) < 6 else x

    def unary(self, x: SSAValue) -> SSAValue:
        names = ["gelu", "silu", "tanh", "rmsnorm", "softmax", "softmax", "neg"]
        return self.b.op(str(self.rng.choice(names)), x)

    def normed(self, x: SSAValue) -> SSAValue:
        return self.b.op("rmsnorm", x, self.fresh(value_shape(x)[-1]))

    def gated(self, x: SSAValue) -> SSAValue:
        width = value_shape(x)[-1]
        g, u = (self.b.op("matmul", x, self.fresh(width, 4)) for _ in range(2))
        return self.either("mul", self.b.op("silu", g), u)

    def turned(self, x: SSAValue) -> SSAValue:
        rank = len(value_shape(x))
        order = (*range(rank - 2), rank - 1, rank - 2)
        return self.b.op("transpose", x, permutation=order)

    def capped(self, x: SSAValue) -> SSAValue:
        cap = self.b.const(3.0)
        return self.either("mul", self.b.op("tanh", x), cap)

    def through(self, x: SSAValue, most: int, *steps: Step) -> SSAValue:
        """Up to that many steps, drawn from a list."""
        for _ in range(int(self.rng.integers(most + 1))):
            x = steps[int(self.rng.integers(len(steps)))](x)
        return x

    def attention(self, x: SSAValue) -> SSAValue:
        """A whole chain with what models put between its ops, and some that they do not."""
        s = self.matmul(self.through(x, 1, self.scale, self.turned, self.reshape))
        steps = (self.scale, self.add, self.select, self.reshape, self.capped)
        s = self.b.op("softmax", self.through(s, 3, *steps))
        p = self.through(s, 1, self.reshape, self.reshape, self.turned)
        return self.weighted(p)

    def ended(self, x: SSAValue) -> SSAValue:
        """A product with an epilogue."""
        h = self.matmul(x)
        h = self.through(h, 3, self.add, self.add, self.residual, self.reshape)
        return self.through(h, 1, self.normed, self.normed, self.unary)

    def mlp(self, x: SSAValue) -> SSAValue:
        return self.matmul(self.through(self.gated(x), 1, self.reshape))

    def make(self, size: int) -> Case:
        """A function of about that many ops; its last values are results."""
        steps: list[Step] = [
            *(self.matmul, self.matmul, self.weighted, self.weighted, self.scale),
            *(self.add, self.add, self.residual, self.select, self.reshape),
            *(self.unary, self.unary, self.unary, self.normed, self.gated),
            *(self.turned, self.capped),
            *(self.attention, self.ended, self.mlp) * 5,
        ]
        for _ in range(size):
            self.values.append(steps[int(self.rng.integers(len(steps)))](self.pick()))
        chosen = {self.values[-1]: None, self.pick(): None}
        made = [v for v in chosen if v.owner is not self.b.graph.block]
        return self.b.close(*made)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graph(seed: int) -> None:
    maker = Maker(seed)
    made = maker.make(8)
    wanted = made.meant()
    compiled = compile_graph_module(made.module, "apple_cpu")
    assert not compiled.diagnostics.of("warning")
    near(run(compiled, made.inputs), wanted)
    sites = [site.id for site in compiled.decisions.sites]
    assert len(set(sites)) == len(sites)
