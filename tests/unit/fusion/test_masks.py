"""Masks of known values: read as a rule where they spell one, left alone where not."""

import math

import numpy as np
import pytest

from tessera.driver import Compiled, compile_graph_module
from tessera.fusion.masks import Rule, kept, read_rule
from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.runtime import execute
from tessera.target.dialect import CallOp

LOWEST = float(np.finfo(np.float32).min)


def pairs(
    queries: int, keys: int, shift: int = 0, window: int | None = None
) -> np.ndarray:
    i, j = np.arange(queries)[:, None] + shift, np.arange(keys)[None, :]
    return (j <= i) & (True if window is None else j > i - window)


@pytest.mark.parametrize(
    ("queries", "keys", "shift", "window", "rule"),
    [
        (5, 5, 0, None, Rule("top_left")),
        (3, 7, 4, None, Rule("bottom_right")),
        (3, 7, 0, None, Rule("top_left")),
        (9, 9, 0, 4, Rule("top_left", 4)),
        (4, 9, 5, 3, Rule("bottom_right", 3)),
        (9, 9, 0, 1, Rule("top_left", 1)),
    ],
)
def test_rules_are_read(
    queries: int, keys: int, shift: int, window: int | None, rule: Rule
) -> None:
    keep = pairs(queries, keys, shift, window)
    assert read_rule(keep, queries) == rule
    assert read_rule(np.broadcast_to(keep, (2, 1, queries, keys)), queries) == rule


def test_a_mask_that_keeps_all_says_nothing() -> None:
    assert read_rule(np.ones((3, 1, 1, 7), bool), 5) == Rule()


@pytest.mark.parametrize(
    "keep",
    [
        pairs(5, 5) & (np.arange(5) != 2),
        pairs(5, 5, window=3) | (np.arange(5) == 0),
        pairs(5, 7, shift=1),
        pairs(5, 5, shift=-1),
        np.stack([pairs(5, 5), pairs(5, 5, window=2)]),
        np.arange(5)[None, :] < 3,
    ],
    ids=["a hole", "a global key", "a shift between", "an empty row", "two", "padding"],
)
def test_other_masks_are_no_rule(keep: np.ndarray) -> None:
    assert read_rule(keep, 5) is None


def test_what_a_mask_keeps() -> None:
    keep = pairs(3, 3)
    for low in (-math.inf, LOWEST):
        found = kept(np.where(keep, 0.0, low), None)
        assert found is not None
        assert np.array_equal(found, keep)
    assert kept(np.where(keep, 0.0, -10.0), None) is None
    assert kept(np.where(keep, 0.5, -math.inf), None) is None
    assert kept(keep, None) is keep
    assert kept(keep, -5.0) is None


def attention(mask: np.ndarray, queries: int, keys: int) -> tuple[Compiled, float]:
    """Compile spelled-out attention under a constant mask; its error on apple_cpu."""
    b = GraphBuilder()
    rng = np.random.default_rng(7)
    shapes = {"q": (2, 3, queries, 8), "k": (2, 3, keys, 8), "v": (2, 3, keys, 4)}
    inputs = {n: rng.standard_normal(s).astype("f4") for n, s in shapes.items()}
    q, k, v = (b.input(name, "f32", shape) for name, shape in shapes.items())
    scores = b.op("matmul", q, b.op("transpose", k, permutation=(0, 1, 3, 2)))
    if mask.dtype == np.bool_:
        low = b.const(np.asarray(LOWEST, np.float32))
        scores = b.op("select", b.const(mask, "mask"), scores, low)
    else:
        scores = b.op("add", scores, b.const(mask.astype("f4"), "mask"))
    module = b.module([("y", b.op("matmul", b.op("softmax", scores), v))])
    made = compile_graph_module(module, "apple_cpu")
    found = execute(made.program(), inputs)["y"]
    return made, float(np.abs(found - evaluate(module, inputs)["y"]).max())


def call_of(made: Compiled) -> CallOp:
    (call,) = [op for op in made.walk() if isinstance(op, CallOp) and op.words("roles")]
    return call


@pytest.mark.parametrize("boolean", [False, True])
@pytest.mark.parametrize(
    ("queries", "keys", "shift", "window"), [(6, 6, 0, None), (4, 9, 5, 3)]
)
def test_a_rule_replaces_the_operand(
    queries: int, keys: int, shift: int, window: int | None, boolean: bool
) -> None:
    keep = pairs(queries, keys, shift, window)
    mask = keep if boolean else np.where(keep, 0.0, -np.inf)
    made, error = attention(mask, queries, keys)
    call = call_of(made)
    assert call.words("roles") == ("q", "k", "v")
    (site,) = made.decisions.sites
    assert site.semantics["causal"] == ("bottom_right" if shift else "top_left")
    assert site.semantics.get("window") == window
    assert error < 1e-6


def test_a_bias_stays_an_operand() -> None:
    bias = np.random.default_rng(1).standard_normal((1, 3, 5, 5))
    made, error = attention(bias, 5, 5)
    assert call_of(made).words("roles") == ("q", "k", "v", "mask")
    assert error < 1e-6
