"""Raising: a spelled-out chain becomes the pre-fused op that a kernel lowers.

One pass per kernel that has such an op.  A stamped op is never taken; a chain that came
close is a remark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tessera.fusion.draft import Match, Miss, erase_unused
from tessera.fusion.kernel import FusedKernel
from tessera.fusion.match import INTENT, match
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.context import sink_of
from tessera.graph.locations import location_of
from tessera.graph.types import value_shape


@dataclass(frozen=True)
class RaiseComposite(ModulePass):
    """Raise the chains of one kernel."""

    kernel: ClassVar[FusedKernel]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every function of the module; report near misses."""
        sink = sink_of(ctx)
        for function in [f for f in op.walk() if isinstance(f, FuncOp)]:
            for root, miss in raise_chains(self.kernel, function):
                text = f"not raised to {self.kernel.raised_to}: {miss.refusal.text}"
                sink.remark(location_of(root), text, miss.refusal.code)


def raising_pass(kernel: FusedKernel, name: str) -> type[RaiseComposite]:
    """The pass class that raises the chains of a kernel."""
    body = {"name": name, "kernel": kernel, "__module__": __name__}
    return type("RaiseComposite", (RaiseComposite,), body)


def raise_chains(kernel: FusedKernel, function: FuncOp) -> list[tuple[Operation, Miss]]:
    """Raise every chain of a function; the near misses that stay."""
    misses: list[tuple[Operation, Miss]] = []
    for op in list(function.walk()):
        if op.parent is None or INTENT in op.attributes:
            continue
        found = match(kernel, op)
        if isinstance(found, Match):
            _replace(kernel, found)
        elif found is not None and found.depth >= kernel.seen_at:
            misses.append((op, found))
    return [(op, miss) for op, miss in misses if op.parent is not None]


def near_misses(
    kernels: Sequence[FusedKernel], function: FuncOp
) -> list[tuple[FusedKernel, Operation, Miss]]:
    """The chains that were not raised, without changing anything."""
    found: list[tuple[FusedKernel, Operation, Miss]] = []
    for kernel in kernels:
        if not kernel.raised_to:
            continue
        for op in function.walk():
            result = match(kernel, op)
            if isinstance(result, Miss) and result.depth >= kernel.seen_at:
                found.append((kernel, op, result))
    return found


def _replace(kernel: FusedKernel, found: Match) -> None:
    root, result = found.root, found.root.results[0]
    g = SsaAlgebra(
        lambda op: Rewriter.insert_op(op, InsertPoint.before(root)), root.location
    )
    operands = {role: operand.build(g) for role, operand in found.operands.items()}
    assert kernel.raise_ is not None
    value = kernel.raise_(g, operands, found.options)
    if value.type != result.type:
        value = g.reshape(value, value_shape(result))
    for key, note in root.attributes.items():
        if "." in key and isinstance(value.owner, Operation):
            value.owner.attributes[key] = note
    result.replace_all_uses_with(value)
    erase_unused(found.members)
