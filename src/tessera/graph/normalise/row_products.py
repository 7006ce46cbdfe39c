"""A weight times one column becomes one row times the weight."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tessera.graph.ops.layout import (
    ConstOp,
    GatherNdOp,
    GatherOp,
    ReshapeOp,
)
from tessera.graph.ops.reduction import MatmulOp
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import DYN, Tensor, tensor, value_dtype, value_shape


@dataclass(frozen=True)
class RowProducts(ModulePass):
    """Rewrite W[…, M, K] x[…, K, 1] as x[…, 1, K] Wᵀ, so that activations stand left.

    Only where W is a weight (a constant, or rows gathered from one) and x is not.
    """

    name = "tessera-row-products"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in list(block.ops):
                if isinstance(item, MatmulOp) and _is_column(item):
                    _turn(item, rewrites)


def _is_column(op: MatmulOp) -> bool:
    weight, x = op.operands
    shape, result = value_shape(x), value_shape(op.results[0])
    if len(shape) < 2 or len(value_shape(weight)) < 2 or len(shape) != len(result):
        return False
    column = result[-1] == 1 and result[-2] not in (1, DYN) and DYN not in shape
    return column and is_weight(weight) and not is_weight(x)


def is_weight(value: SSAValue) -> bool:
    """Whether a value is a constant or rows picked from one."""
    op = value.owner
    while isinstance(op, ReshapeOp | GatherOp | GatherNdOp):
        op = op.operands[0].owner
    return isinstance(op, ConstOp)


def _turn(op: MatmulOp, rewrites: Rewrites) -> None:
    weight, x = op.operands
    options, shape = op.options(), value_shape(x)
    row = x
    if not options["transpose_b"]:
        turned = _type(x, (*shape[:-2], 1, shape[-2]))
        made = ReshapeOp.build((x,), (turned,), op.location)
        rewrites.insert(made, op)
        row = made.results[0]
    flag = not options["transpose_a"]
    product = MatmulOp.build((row, weight), None, op.location, transpose_b=flag)
    rewrites.insert(product, op)
    result = value_shape(op.results[0])
    back = ReshapeOp.build(product.results, (_type(op.results[0], result),))
    rewrites.replace(op, back)


def _type(value: SSAValue, shape: tuple[int, ...]) -> Tensor:
    return tensor(value_dtype(value), shape)
