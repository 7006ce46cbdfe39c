"""Transposes of the last two axes that feed a contraction become its flags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tessera.graph.constants import constant_of
from tessera.graph.ops.layout import ConstOp, TransposeOp
from tessera.graph.ops.reduction import MatmulOp
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import value_shape

FLAGS = ("transpose_a", "transpose_b")


@dataclass(frozen=True)
class AbsorbTransposes(ModulePass):
    """Give `matmul` the operand before its transpose, and toggle the flag.

    Only a plain swap of the last two axes is one; any other order stays.  A constant
    that is read transposed everywhere is transposed itself (its memory is shared), so a
    weight has one spelling: [in, out] without a flag.  A flag on a vector says nothing
    and is cleared.
    """

    name = "tessera-absorb-transposes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in list(block.ops):
                if isinstance(item, MatmulOp):
                    _absorb(item, rewrites)
            for item in list(block.ops):
                if isinstance(item, ConstOp):
                    _turn(item, rewrites)


def _absorb(op: MatmulOp, rewrites: Rewrites) -> None:
    options = op.options()
    operands = list(op.operands)
    flags = [cast(bool, options[flag]) for flag in FLAGS]
    for index in (0, 1):
        if len(value_shape(operands[index])) < 2:
            flags[index] = False
        while (source := _swapped(operands[index])) is not None:
            operands[index], flags[index] = source, not flags[index]
    named: dict[str, bool] = dict(zip(FLAGS, flags, strict=True))
    if all(options[flag] == named[flag] for flag in FLAGS) and operands == [
        *op.operands
    ]:
        return
    new = MatmulOp.create(
        operands=operands,
        result_types=[op.results[0].type],
        attributes=MatmulOp.write(named),
    )
    rewrites.replace(op, new)


def _swapped(value: SSAValue) -> SSAValue | None:
    """What `value` is the transpose of, last two axes swapped, others in place."""
    owner = value.owner
    if not isinstance(owner, TransposeOp):
        return None
    order = owner.options()["permutation"]
    return owner.operands[0] if order == last_two(len(order)) else None


def last_two(rank: int) -> tuple[int, ...]:
    """The permutation that swaps the last two axes; of no rank below two."""
    return (*range(rank - 2), rank - 1, rank - 2) if rank > 1 else ()


def _turn(op: ConstOp, rewrites: Rewrites) -> None:
    """Transpose a constant whose every use is a matmul that reads it transposed."""
    value = op.results[0]
    uses = list(value.uses)
    users = [use.operation for use in uses]
    if len(value_shape(value)) < 2 or not uses:
        return
    if not all(isinstance(user, MatmulOp) for user in users):
        return
    flags = [FLAGS[use.index] for use in uses]
    matmuls = cast("list[MatmulOp]", users)
    if not all(m.options()[flag] for m, flag in zip(matmuls, flags, strict=True)):
        return
    array = constant_of(value)
    if array is None:
        return
    turned = rewrites.constant(np.swapaxes(array, -1, -2), op)
    for matmul, flag in zip(matmuls, flags, strict=True):
        matmul.attributes[flag] = MatmulOp.attrs[flag].write(False)
    rewrites.forward(op, turned.results)
