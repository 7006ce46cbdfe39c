"""Functions of rows spelled out in arithmetic become rmsnorm, layernorm and softmax.

A region of one input, with up to two weights along the axes it reduces, is run on probe
rows and compared with each composite for every eps that its own numbers offer: any order
of mean, root and weight is one spelling.  An eps outside the root is another function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tessera.graph.dialect import OPS
from tessera.graph.operation import GraphOp
from tessera.graph.ops import elementwise as ew
from tessera.graph.ops.layout import BroadcastOp, CastOp, ReshapeOp
from tessera.graph.raising.norm_weights import fit_weights, weights_of
from tessera.graph.raising.probing import NotProbed, probe, tolerance
from tessera.graph.raising.regions import (
    ELEMENTWISE,
    Grammar,
    Numbers,
    Region,
    cuts,
    hops_to,
    program_order,
)
from tessera.graph.raising.row_probes import (
    REDUCTIONS,
    Axes,
    reduced_axes,
    row_error,
    row_probes,
)
from tessera.graph.raising.spelling import BySpelling
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import value_dtype, value_shape
from tessera.reference import PRIMITIVES

ROOTS = (ew.MulOp, ew.DivOp, ew.AddOp, ew.SubOp, CastOp)
VIEWS = (ReshapeOp, BroadcastOp)
MOST_OPS = 48
MOST_HOPS = 16
MOST_CUTS = 4
LARGEST_EPS = 0.5
SEEDS = (11, 12)


@dataclass(frozen=True)
class RowFunction:
    """A composite with its options; `roles` are the parameters it takes, in order."""

    op: str
    roles: tuple[int, ...]
    options: tuple[tuple[str, Any], ...]

    def __call__(self, x: np.ndarray, params: Sequence[np.ndarray]) -> np.ndarray:
        operands = [x, *(params[role] for role in self.roles)]
        result = PRIMITIVES[self.op](*operands, **dict(self.options))
        assert isinstance(result, np.ndarray)
        return result


@dataclass(frozen=True)
class RaiseNorms(ModulePass):
    """Raise row-wise regions to rmsnorm, layernorm (last axes) and softmax (any axis).

    The best match within tolerance, on two sets of rows, wins.  Casts inside are raised
    through only when the composite rounds as the region does.
    """

    name = "tessera-raise-norms"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            _raise_block(block, rewrites)


def _raise_block(block: Block, rewrites: Rewrites) -> None:
    order, numbers, asked = program_order(block), Numbers(), BySpelling(recognise)
    every = Grammar(_holds, lambda value: False, MOST_OPS)
    hops = hops_to(block, lambda op: isinstance(op, REDUCTIONS), every)
    for root in reversed(list(block.ops)):
        if not isinstance(root, ROOTS) or root.parent is None:
            continue
        if hops.get(root, MOST_HOPS) < MOST_HOPS:
            found = _best_match(_regions(root, order, numbers), asked)
            if found is not None:
                op, operands, options = found.composite
                rewrites.replace(root, OPS[op].build(operands, **options))


def _regions(
    root: GraphOp, order: Mapping[Operation, int], numbers: Numbers
) -> Iterator[Region]:
    """What may be a row function that ends in a root, the smallest first."""
    shape = value_shape(root.results[0])
    if not shape:
        return iter(())
    grammar = Grammar(_holds, weights_of(root, shape), MOST_OPS)
    return islice(filter(_plausible, cuts(root, order, grammar, numbers)), MOST_CUTS)


Composite = tuple[str, list[SSAValue], dict[str, Any]]


@dataclass(frozen=True)
class Match:
    """A region and the composite that stands for it."""

    region: Region
    composite: Composite


def reductions(region: Region) -> int:
    """How many reductions a region holds."""
    return sum(isinstance(op, REDUCTIONS) for op in region.ops)


def _best_match(
    regions: Iterator[Region], asked: Callable[[Region], RowFunction | None]
) -> Match | None:
    """The smallest region that is a row function with all of its reductions.

    A softmax is one without its maximum, a layernorm is an rmsnorm of what is centred:
    the region with more reductions is the function meant.
    """
    found: Match | None = None
    for region in regions:
        if found is not None and reductions(region) <= reductions(found.region):
            continue
        function = asked(region)
        composite = None if function is None else _composite(region, function)
        if composite is not None:
            found = Match(region, composite)
    return found


def _composite(region: Region, function: RowFunction) -> Composite | None:
    """The op with operands and options; None when a weight is wider than the input."""
    options = dict(function.options)
    weights = fit_weights(region)
    taken = [weights[role] for role in function.roles]
    if function.op == "rmsnorm" and taken and not options["weight_offset"]:
        without_one = taken[0].without_one
        if without_one is not None:
            return (
                function.op,
                [region.x, without_one],
                options | {"weight_offset": 1.0},
            )
    operands = [weight.operand for weight in taken if weight.operand is not None]
    if len(operands) < len(taken):
        return None
    return function.op, [region.x, *operands], options


def _holds(op: GraphOp) -> bool:
    if isinstance(op, REDUCTIONS):
        return len(op.options()["axes"]) > 0
    if isinstance(op, VIEWS):
        return len(op.operands) == 1
    return type(op) in ELEMENTWISE


def _plausible(region: Region) -> bool:
    """Whether the region could be a row function: cheap tests before the probes."""
    shape = value_shape(region.x)
    if shape != value_shape(region.root.results[0]) or len(region.params) > 2:
        return False
    reduces = any(isinstance(op, REDUCTIONS) for op in region.ops)
    return reduces and region.one_rounding()


def recognise(region: Region) -> RowFunction | None:
    """The composite that the region computes, or None."""
    axes = reduced_axes(region)
    if axes is None:
        return None
    best: RowFunction | None = None
    candidates = dict.fromkeys(_candidates(region, axes), 0.0)
    limit = tolerance(region)
    for seed in SEEDS:
        for rows in row_probes(region, axes, seed):
            try:
                found = probe(region, rows.arrays(region))
            except NotProbed:
                return None
            for function in list(candidates):
                error = row_error(found, function(rows.x, rows.params), axes)
                candidates[function] = max(error, candidates[function])
                if not error <= limit:
                    del candidates[function]
            if not candidates:
                return None
            best = min(candidates, key=candidates.__getitem__)
    return best


def _candidates(region: Region, axes: Axes) -> Iterator[RowFunction]:
    count = len(region.params)
    # Without its maximum the function overflows where a softmax does not.
    safe = any(op.name == "tessera.reduce_max" for op in region.ops)
    if safe and not count and len(axes) == 1:
        rank = len(value_shape(region.x))
        place = axes[0] if axes[0] == -1 else axes[0] + rank
        yield RowFunction("softmax", (), (("axis", place),))
    if axes != tuple(range(-len(axes), 0)):
        return
    first = ("axis", axes[0])
    for eps in _epsilons(region):
        if count < 2:
            offsets = (0.0, 1.0) if count else (0.0,)
            for offset in offsets:
                options = (first, ("eps", eps), ("weight_offset", offset))
                yield RowFunction("rmsnorm", tuple(range(count)), options)
        orders = ((0, 1), (1, 0)) if count == 2 else (tuple(range(count)),)
        for roles in orders:
            yield RowFunction("layernorm", roles, (first, ("eps", eps)))


def _epsilons(region: Region) -> Iterator[float]:
    """What eps may be: the region's own small numbers, and none."""
    yield 0.0
    for value, number in region.numbers.items():
        if isinstance(number, float) and 0 < number < LARGEST_EPS:
            yield shortest(number, value_dtype(value))


def shortest(number: float, dtype: str) -> float:
    """The number in f64 as written: the shortest decimal that rounds to it in f32."""
    return float(str(np.float32(number))) if dtype == "f32" else number
