"""A product of which one part is normalised becomes one product for each part."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tessera.graph.constants import constant_of
from tessera.graph.ops.composite import RmsnormOp
from tessera.graph.ops.elementwise import AddOp
from tessera.graph.ops.layout import ReshapeOp, SliceOp
from tessera.graph.ops.reduction import MatmulOp
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import value_shape

Columns = tuple[int, int]


@dataclass(frozen=True)
class SplitProducts(ModulePass):
    """Cut a constant weight (and bias) where slices cut its product.

    Only where every reader takes whole columns, no column twice, and a norm reads one
    part: the norm can then be computed with its product.  The work stays the same.
    """

    name = "tessera-split-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in list(block.ops):
                if isinstance(item, MatmulOp) and item.parent is not None:
                    _split(item, rewrites)


def _split(op: MatmulOp, rewrites: Rewrites) -> None:
    weight = constant_of(op.operands[1])
    if weight is None or weight.ndim != 2 or op.options()["transpose_b"]:
        return
    value, bias = _biased(op)
    parts = _parts(value)
    if parts is None or not any(_is_normed(part.results[0]) for part in parts):
        return
    flag = op.options()["transpose_a"]
    for part, (start, stop) in parts.items():
        cut = rewrites.constant(weight[:, start:stop], op)
        product: Operation = MatmulOp.build(
            (op.operands[0], cut.results[0]), None, op.location, transpose_a=flag
        )
        rewrites.insert(product, part)
        if bias is not None:
            added = rewrites.constant(bias[start:stop], part)
            product = AddOp.build((product.results[0], added.results[0]))
        rewrites.replace(part, product)


def _biased(op: MatmulOp) -> tuple[SSAValue, np.ndarray | None]:
    """The product with its bias, if a constant one is all that reads it."""
    value = op.results[0]
    uses = list(value.uses)
    reader = uses[0].operation if len(uses) == 1 else None
    if not isinstance(reader, AddOp):
        return value, None
    bias = constant_of(reader.operands[1 - uses[0].index])
    if bias is None or bias.shape != value_shape(value)[-1:]:
        return value, None
    return reader.results[0], bias


def _parts(value: SSAValue) -> dict[SliceOp, Columns] | None:
    """The slices that share out the columns of a value; None where others read it."""
    parts: dict[SliceOp, Columns] = {}
    shape = value_shape(value)
    for use in value.uses:
        op = use.operation
        if not isinstance(op, SliceOp) or value_shape(op.results[0])[:-1] != shape[:-1]:
            return None
        options = op.options()
        columns = options["starts"][-1], min(options["stops"][-1], shape[-1])
        if options["steps"][-1] != 1 or not 0 <= columns[0] < columns[1]:
            return None
        parts[op] = columns
    bounds = sorted(parts.values())
    disjoint = all(a[1] <= b[0] for a, b in pairwise(bounds))
    return parts if len(parts) > 1 and disjoint else None


def _is_normed(value: SSAValue) -> bool:
    """Whether a norm reads a value, through reshapes at most."""
    return any(
        isinstance(use.operation, RmsnormOp)
        or (
            isinstance(use.operation, ReshapeOp)
            and _is_normed(use.operation.results[0])
        )
        for use in value.uses
    )
