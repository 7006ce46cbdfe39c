"""What a fused call computes, op by op: its kernel's meaning over its own operands.

Narrow floats widen to f32 first and round once at the end, as the fused kernel does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Block, SSAValue

from tessera.fusion.kernel import FusedKernel
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.operation import read_options
from tessera.graph.types import value_dtype
from tessera.target.dialect import CallOp

NARROW = frozenset({"f16", "bf16"})


class _Expansion(SsaAlgebra):
    """Builds into a block; a shared value is rounded where it is also a result."""

    def __init__(self, block: Block, call: CallOp, rounds: str | None) -> None:
        super().__init__(block.add_op, call.location)
        self._rounds = rounds

    def shared(self, role: str, h: SSAValue) -> SSAValue:
        if self._rounds is None:
            return h
        return self.cast(self.cast(h, self._rounds), "f32")


def expand(call: CallOp, kernel: FusedKernel) -> tuple[Block, list[SSAValue]]:
    """A block with the call's operands as arguments, and its result values.

    The block's ops are graph primitives; results come in the call's order.
    """
    block = Block(arg_types=[operand.type for operand in call.operands])
    gives = call.words("gives") or ("out",)
    dtype = value_dtype(call.results[0])
    narrow = dtype if dtype in NARROW else None
    g = _Expansion(block, call, narrow if len(gives) > 1 else None)
    operands = {
        role: g.cast(value, "f32") if value_dtype(value) in NARROW else value
        for role, value in zip(call.words("roles"), block.args, strict=True)
    }
    options: Mapping[str, Any] = read_options(kernel.options, call.attributes)
    values = kernel.meaning(g, operands, options)[: len(gives)]
    return block, [g.cast(value, narrow) if narrow else value for value in values]
