"""Activations spelled out in arithmetic become the ops the field knows by name.

A region of one input is run on probe points and compared with each function of a table,
so every algebraic spelling is one: x*sigmoid(x), x/(1+exp(-x)), a polynomial erfc.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from tessera.graph.dialect import OPS
from tessera.graph.operation import GraphOp
from tessera.graph.ops import elementwise as ew
from tessera.graph.ops.layout import CastOp
from tessera.graph.raising.probing import NARROW, NotProbed, probe, tolerance
from tessera.graph.raising.regions import (
    ELEMENTWISE,
    Grammar,
    Numbers,
    Region,
    cuts,
    hops_to,
    program_order,
)
from tessera.graph.raising.spelling import BySpelling
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import value_shape
from tessera.reference import PRIMITIVES

ROOTS = (
    *(ew.MulOp, ew.DivOp, ew.AddOp, ew.SubOp, ew.SelectOp, ew.LogOp, ew.MaxOp),
    CastOp,
)
ANCHORS = (ew.ExpOp, ew.TanhOp, ew.ErfOp, ew.SigmoidOp)
MOST_OPS = 96
MOST_CUTS = 4
FEW_OPS = 6

_GRID = np.linspace(-6, 6, 49)
_NEAR = np.array([0.37, -0.37, 2.2, 1e-3, -1e-3, 1e-6])
_FAR = np.array([-30.0, -12.0, 12.0, 30.0])
PROBES = np.concatenate([_FAR, _GRID, _NEAR])
SAMPLES = np.random.default_rng(20).normal(size=257) * 3


@dataclass(frozen=True)
class Function:
    """One function of the table: an op and its options."""

    op: str
    options: tuple[tuple[str, Any], ...] = ()

    def __call__(self, x: np.ndarray) -> np.ndarray:
        result = PRIMITIVES[self.op](x, **dict(self.options))
        assert isinstance(result, np.ndarray)
        return result


FUNCTIONS = (
    *(Function("gelu", (("approximate", a),)) for a in ("none", "tanh", "quick")),
    Function("silu"),
    Function("softplus"),
    Function("sigmoid"),
)


@cache
def expected() -> Mapping[Function, np.ndarray]:
    """Each function of the table at the probe points."""
    return {function: function(PROBES) for function in FUNCTIONS}


@dataclass(frozen=True)
class RaiseElementwise(ModulePass):
    """Raise one-input elementwise regions to gelu, silu, softplus and sigmoid.

    The best match within tolerance wins, and is then proven on random inputs.  The root
    is replaced; ops of the region that others read live on.
    """

    name = "tessera-raise-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            _raise_block(block, rewrites)


def _raise_block(block: Block, rewrites: Rewrites) -> None:
    every = _grammar(None)
    order, numbers, asked = program_order(block), Numbers(), BySpelling(recognise)
    hops = hops_to(block, lambda op: isinstance(op, ANCHORS), every)
    for root in reversed(list(block.ops)):
        if not isinstance(root, ROOTS) or root.parent is None:
            continue
        if hops.get(root, MOST_OPS) < MOST_OPS:
            regions = filter(_plausible, cuts(root, order, _grammar(root), numbers))
            _raise_root(root, islice(regions, MOST_CUTS), asked, rewrites)


def _raise_root(
    root: GraphOp,
    regions: Iterator[Region],
    asked: Callable[[Region], Function | None],
    rewrites: Rewrites,
) -> None:
    for region in regions:
        function = asked(region)
        if function is not None:
            new = OPS[function.op].build([region.x], **dict(function.options))
            rewrites.replace(root, new)
            return


def _grammar(root: GraphOp | None) -> Grammar:
    shape = None if root is None else value_shape(root.results[0])

    def holds(op: GraphOp) -> bool:
        if type(op) not in ELEMENTWISE:
            return False
        return shape is None or value_shape(op.results[0]) == shape

    return Grammar(holds, _nothing, MOST_OPS)


def _nothing(value: SSAValue) -> bool:
    return False


def _plausible(region: Region) -> bool:
    """Whether the region could be one of the table: cheap tests before the probes.

    All but the shortest spellings read their input twice.
    """
    if value_shape(region.x) != value_shape(region.root.results[0]):
        return False
    if len(region.ops) > FEW_OPS and region.reads_of_x() < 2:
        return False
    anchored = any(isinstance(op, ANCHORS) for op in region.ops)
    return anchored and region.one_rounding()


def recognise(region: Region) -> Function | None:
    """The function of the table that the region computes, or None."""
    try:
        values = probe(region, {region.x: PROBES})
    except NotProbed:
        return None
    if values.shape != PROBES.shape or not np.isfinite(values).all():
        return None
    limit = tolerance(region)
    errors = {f: _error(values, wanted) for f, wanted in expected().items()}
    best = min(errors, key=errors.__getitem__)
    if not errors[best] <= limit or not _tails_agree(values, expected()[best], limit):
        return None
    samples = probe(region, {region.x: SAMPLES})
    return best if _error(samples, best(SAMPLES)) <= limit else None


def _error(values: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.max(np.abs(values - wanted) / (1 + np.abs(wanted))))


def _tails_agree(values: np.ndarray, wanted: np.ndarray, limit: float) -> bool:
    """Rounded numbers bend a function in the middle; they do not move its ends."""
    if limit < NARROW:
        return True
    ends = slice(0, len(_FAR))
    return _error(values[ends], wanted[ends]) <= 1e-5
