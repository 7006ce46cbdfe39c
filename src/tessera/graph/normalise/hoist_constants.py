"""Constants stand at the top of their function, each once, in order of first use."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from operator import is_

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block
from xdsl.passes import ModulePass

from tessera.graph.constants import constant_of
from tessera.graph.ops.layout import ConstOp
from tessera.graph.rewriting import Rewrites, blocks

COMPARED_BYTES = 1 << 16


@dataclass(frozen=True)
class HoistConstants(ModulePass):
    """Move constants to the top of the function and merge equal ones.

    Equal is of one element type and shape and the same bytes (up to 64 KiB; above, the
    same memory): values decide, never shapes.  Constants that nothing reads go.
    """

    name = "tessera-hoist-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            _hoist(block, _merge(block, rewrites), rewrites)


def _read(block: Block) -> Iterable[ConstOp]:
    """The constants of a block in order of first use."""
    seen: dict[ConstOp, None] = {}
    for op in block.ops:
        for operand in op.operands:
            if isinstance(owner := operand.owner, ConstOp):
                seen.setdefault(owner)
    return seen


def _merge(block: Block, rewrites: Rewrites) -> Sequence[ConstOp]:
    """The constants that are left, in order of first use."""
    first: dict[Hashable, ConstOp] = {}
    for const in _read(block):
        kept = first.setdefault(identity(const), const)
        if kept is not const:
            rewrites.fold(const, kept.results)
    return list(first.values())


def _hoist(block: Block, order: Sequence[ConstOp], rewrites: Rewrites) -> None:
    rewrites.erase_dead(*(op for op in block.ops if type(op) is ConstOp))
    if all(map(is_, block.ops, order)):
        return
    for const in order:
        const.detach()
    if order and block.first_op is not None:
        block.insert_ops_before(order, block.first_op)


def identity(const: ConstOp) -> Hashable:
    """What two constants share exactly when they are equal."""
    array = constant_of(const.results[0])
    if array is None:
        return const.results[0].type, const.attributes["value"]
    return array.dtype.str, const.results[0].type, contents(array)


def contents(array: np.ndarray) -> Hashable:
    """The bytes of a small array; where a large one lies in memory."""
    if array.nbytes <= COMPARED_BYTES:
        return array.tobytes()
    place = array.__array_interface__["data"][0]
    return place, array.strides
