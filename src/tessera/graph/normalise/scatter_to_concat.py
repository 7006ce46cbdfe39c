"""Writes that cover a fresh tensor row by row become a concatenation."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tessera.graph.constants import constant_of
from tessera.graph.ops.layout import ConcatOp, ScatterNdOp
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import value_shape


@dataclass(frozen=True)
class ScatterToConcat(ModulePass):
    """Read a chain of `scatter_nd` as the concatenation of its updates.

    Each write replaces a run of whole rows at known positions, no two overlap, and
    together they cover the tensor: nothing of what was there before is left.
    """

    name = "tessera-scatter-to-concat"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in list(block.ops):
                if isinstance(item, ScatterNdOp) and not _is_inner(item):
                    _rewrite(item, rewrites)


def _is_inner(op: ScatterNdOp) -> bool:
    """Whether the only reader writes over it: then the last write stands for all."""
    uses = list(op.results[0].uses)
    readers = [u.operation for u in uses if u.index == 0]
    return len(uses) == 1 and len(readers) == 1 and isinstance(readers[0], ScatterNdOp)


def _rewrite(op: ScatterNdOp, rewrites: Rewrites) -> None:
    rows = value_shape(op.results[0])[:1]
    runs: dict[int, tuple[int, SSAValue]] = {}
    covered, value = 0, op.results[0]
    while (covered,) != rows and isinstance(value.owner, ScatterNdOp):
        run = _run(value.owner)
        if run is None or any(a < run[1] and run[0] < b for a, (b, _) in runs.items()):
            return
        runs[run[0]] = run[1], value.owner.operands[2]
        covered += run[1] - run[0]
        value = value.owner.operands[0]
    if not runs or (covered,) != rows:
        return
    parts = [runs[start][1] for start in sorted(runs)]
    rewrites.replace(op, ConcatOp.build(parts, axis=0))


def _run(op: ScatterNdOp) -> tuple[int, int] | None:
    """First row and the row after the last of a write to consecutive whole rows."""
    indices = constant_of(op.operands[1])
    if indices is None or op.options()["reduction"] != "none":
        return None
    if indices.ndim != 2 or indices.shape[1] != 1 or indices.shape[0] == 0:
        return None
    first, count = int(indices[0, 0]), indices.shape[0]
    if first < 0 or indices[:, 0].tolist() != list(range(first, first + count)):
        return None
    return first, first + count
