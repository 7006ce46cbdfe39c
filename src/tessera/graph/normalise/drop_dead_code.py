"""Dead code: ops whose results nothing reads."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tessera.graph.operation import GraphOp
from tessera.graph.rewriting import Rewrites, blocks


@dataclass(frozen=True)
class DropDeadCode(ModulePass):
    """Erase every graph op without uses, in one sweep from the last op to the first."""

    name = "tessera-drop-dead-code"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in reversed(list(block.ops)):
                if isinstance(item, GraphOp):
                    rewrites.erase_dead(item)
