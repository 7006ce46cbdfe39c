"""Equal transposes of everything that is joined become one transpose of the whole."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tessera.graph.ops.layout import ConcatOp, TransposeOp
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import value_shape


@dataclass(frozen=True)
class HoistTransposes(ModulePass):
    """concat(transpose(a), transpose(b)) is transpose(concat(a, b)) along another axis."""

    name = "tessera-hoist-transposes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in list(block.ops):
                if isinstance(item, ConcatOp):
                    _hoist(item, rewrites)


def _hoist(op: ConcatOp, rewrites: Rewrites) -> None:
    makers = [operand.owner for operand in op.operands]
    turned = [maker for maker in makers if isinstance(maker, TransposeOp)]
    if len(turned) < len(makers):
        return
    orders = {maker.options()["permutation"] for maker in turned}
    if len(orders) != 1:
        return
    (order,) = orders
    axis = op.options()["axis"] % len(value_shape(op.results[0]))
    sources = [maker.operands[0] for maker in turned]
    joined = ConcatOp.build(sources, None, op.location, axis=order[axis])
    rewrites.insert(joined, op)
    rewrites.replace(op, TransposeOp.build(joined.results, permutation=order))
