"""Rotary embeddings in all their spellings, and rotations that are not one."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.normalise import NormaliseGraph
from tessera.graph.raising import RAISE
from tessera.graph.raising.raise_rope import RaiseRope
from tessera.graph.types import tensor, value_shape
from tests.support.graphs import names, run

RNG = np.random.default_rng(9)
END = (1 << 63) - 1


class Turner:
    """Writes rotations of x[2, 3, 4, 8] by tables that are inputs or constants."""

    def __init__(self, width: int = 8, constant: bool = False, lead: int = 4) -> None:
        self.graph = GraphBuilder()
        self.inputs: dict[str, np.ndarray] = {}
        self.x = self.input("x", (2, 3, 4, 8))
        shape = (lead, width)
        if constant:
            self.cos, self.sin = (
                self.graph.const(RNG.normal(size=shape), name) for name in "cs"
            )
        else:
            self.cos, self.sin = (self.input(name, shape) for name in ("cos", "sin"))

    def input(self, name: str, shape: tuple[int, ...]) -> SSAValue:
        self.inputs[name] = RNG.normal(size=shape)
        return self.graph.input(name, "f64", shape)

    def op(self, name: str, *operands: SSAValue, **options: Any) -> SSAValue:
        return self.graph.op(name, *operands, **options)

    def part(self, start: int, stop: int = END, step: int = 1) -> SSAValue:
        whole = {"starts": (0, 0, 0, start), "stops": (END, END, END, stop)}
        return self.op("slice", self.x, **whole, steps=(1, 1, 1, step))

    def stack(self, a: SSAValue, b: SSAValue) -> SSAValue:
        shape = value_shape(a)
        column = tensor("f64", (*shape, 1))
        columns = [self.op("reshape", v, result=column) for v in (a, b)]
        whole = tensor("f64", (*shape[:-1], 2 * shape[-1]))
        return self.op("reshape", self.op("concat", *columns, axis=-1), result=whole)

    def finish(self, y: SSAValue) -> ModuleOp:
        return self.graph.module([("y", y)])


def raised(turner: Turner, y: SSAValue, style: str, left: list[str]) -> None:
    module = turner.finish(y)
    before = evaluate(module, turner.inputs)["y"]
    run(module, NormaliseGraph(), *(item() for item in RAISE))
    assert names(module) == left
    assert f'style = "{style}"' in str(module)
    after = evaluate(module, turner.inputs)["y"]
    np.testing.assert_allclose(after, before, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("first", "second"), [*product([True, False], repeat=2)])
@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("late", [True, False])
def test_rotated_halves(first: bool, second: bool, order: int, late: bool) -> None:
    turner = Turner()
    upper = turner.part(4)
    if late:
        upper = turner.op("neg", upper)
    else:
        minus = turner.graph.const(np.asarray(-1.0))
        upper = turner.op("mul", minus, upper)
    rotated = turner.op("concat", upper, turner.part(0, 4), axis=3)
    plain = [turner.x, turner.cos][:: 1 if first else -1]
    turned = [rotated, turner.sin][:: 1 if second else -1]
    terms = [turner.op("mul", *plain), turner.op("mul", *turned)]
    raised(turner, turner.op("add", *terms[::order]), "half", ["rope"])


def test_rotated_neighbours() -> None:
    turner = Turner()
    odd, even = turner.part(1, step=2), turner.part(0, step=2)
    rotated = turner.stack(turner.op("neg", odd), even)
    y = turner.op(
        "add",
        turner.op("mul", turner.x, turner.cos),
        turner.op("mul", rotated, turner.sin),
    )
    raised(turner, y, "interleaved", ["rope"])


def halves(
    turner: Turner,
    x1: SSAValue,
    x2: SSAValue,
    order: tuple[int, ...] = (1, -1, -1, 1, 1),
) -> tuple[SSAValue, SSAValue]:
    """The two halves of the result; an entry of `order` that is -1 swaps two operands."""
    c, s, op = turner.cos, turner.sin, turner.op
    pairs = [(x1, c), (x2, s), (x2, c), (x1, s)]
    products = [op("mul", *p[::o]) for p, o in zip(pairs, order[:4], strict=True)]
    low = op("sub", *products[:2])
    high = op("add", *products[2:][:: order[4]])
    return low, high


@pytest.mark.parametrize("order", [*product([1, -1], repeat=5)])
@pytest.mark.parametrize("constant", [True, False])
def test_the_form_of_two_halves(constant: bool, order: tuple[int, ...]) -> None:
    turner = Turner(4, constant)
    low, high = halves(turner, turner.part(0, 4), turner.part(4), order)
    tables = [] if constant else ["concat", "concat"]
    y = turner.op("concat", low, high, axis=-1)
    raised(turner, y, "half", [*tables, "rope"])


def test_the_form_of_two_halves_of_neighbours() -> None:
    turner = Turner(4, constant=True)
    low, high = halves(turner, turner.part(0, step=2), turner.part(1, step=2))
    raised(turner, turner.stack(low, high), "interleaved", ["rope"])


def test_neighbours_written_as_halves() -> None:
    turner = Turner(4, constant=True)
    low, high = halves(turner, turner.part(0, step=2), turner.part(1, step=2))
    y = turner.op("concat", low, high, axis=-1)
    raised(turner, y, "half", ["slice", "slice", "concat", "rope"])


def rotation(turner: Turner, upper: SSAValue, lower: SSAValue) -> ModuleOp:
    rotated = turner.op("concat", upper, lower, axis=-1)
    plain = turner.op("mul", turner.x, turner.cos)
    return turner.finish(turner.op("add", plain, turner.op("mul", rotated, turner.sin)))


def unchanged(module: ModuleOp) -> None:
    before = str(module)
    run(module, RaiseRope())
    assert str(module) == before


def test_a_turn_without_its_sign_stays() -> None:
    turner = Turner()
    unchanged(rotation(turner, turner.part(4), turner.part(0, 4)))


def test_a_turn_the_other_way_stays() -> None:
    turner = Turner()
    lower = turner.op("neg", turner.part(0, 4))
    unchanged(rotation(turner, turner.part(4), lower))


def test_uneven_parts_stay() -> None:
    turner = Turner()
    unchanged(rotation(turner, turner.op("neg", turner.part(3)), turner.part(0, 3)))


def test_parts_of_two_tensors_stay() -> None:
    turner = Turner()
    other = turner.input("other", (2, 3, 4, 8))
    mine, turner.x = turner.x, other
    upper = turner.op("neg", turner.part(4))
    turner.x = mine
    unchanged(rotation(turner, upper, turner.part(0, 4)))


def test_tables_larger_than_x_stay() -> None:
    turner = Turner()
    turner.cos, turner.sin = (turner.input(n, (5, 1, 1, 1, 8)) for n in ("c", "s"))
    upper = turner.op("neg", turner.part(4))
    unchanged(rotation(turner, upper, turner.part(0, 4)))


def test_halves_with_another_sine_stay() -> None:
    turner = Turner(4)
    low, _ = halves(turner, turner.part(0, 4), turner.part(4))
    turner.sin = turner.input("other", (4, 4))
    _, high = halves(turner, turner.part(0, 4), turner.part(4))
    unchanged(turner.finish(turner.op("concat", low, high, axis=-1)))
