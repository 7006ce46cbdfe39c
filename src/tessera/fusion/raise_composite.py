"""Raising: a spelled-out chain becomes the pre-fused op that a kernel lowers.

One pass per kernel that has such an op.  A stamped op is never taken; a chain that came
close is a remark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tessera.diagnostics import Refusal
from tessera.fusion.draft import Match, Miss, Operand, erase_unused
from tessera.fusion.kernel import Attention, FusedKernel, Reread
from tessera.fusion.match import INTENT, bind, seek
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.context import sink_of
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.rewriting import functions
from tessera.graph.types import value_shape


@dataclass(frozen=True)
class RaiseComposite(ModulePass):
    """Raise the chains of one kernel; `attention` is the kernel of plain attention."""

    kernel: ClassVar[FusedKernel]
    attention: ClassVar[FusedKernel]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every function of the module; report near misses."""
        sink = sink_of(ctx)
        for function in functions(op):
            for near, refusal in self._raise(function):
                text = f"not raised to {self.kernel.raised_to}: {refusal.text}"
                sink.remark(location_of(near), text, refusal.code)

    def _raise(self, function: FuncOp) -> list[tuple[Operation, Refusal]]:
        """Raise what can be; the chains that came close and stay."""
        near: list[tuple[Operation, Refusal]] = []
        changed = False
        for op in list(function.walk()):
            found = None if op.parent is None else read(self.kernel, self.attention, op)
            if isinstance(found, Refusal):
                near.append((op, found))
            elif found is not None and INTENT not in op.attributes:
                self._replace(found)
                changed = True
        return near_misses(self.kernel, self.attention, function) if changed else near

    def _replace(self, found: Match | Reread) -> None:
        if isinstance(found, Reread):
            replace(found.root, found.build)
        else:
            replace(found.root, lambda g: _build(self.kernel, found, g))
            erase_unused(found.members)


def raising_pass(
    kernel: FusedKernel, attention: FusedKernel, name: str
) -> type[RaiseComposite]:
    """The pass class that raises the chains of a kernel."""
    body = {"name": name, "kernel": kernel, "attention": attention}
    return type("RaiseComposite", (RaiseComposite,), {**body, "__module__": __name__})


def reader(attention: FusedKernel) -> Attention:
    """How to read an op as plain attention: its edited operands, and its options."""

    def plain(op: Operation) -> Match | None:
        if isinstance(op, GraphOp) and op.short() in attention.composites:
            binding = bind(attention, op)
            if isinstance(binding, Refusal):
                return None
            operands = {role: Operand(v) for role, v in binding.operands.items()}
            return Match(op, operands, binding.options, (op,), {})
        found = seek(attention, op)
        return found if isinstance(found, Match) else None

    return plain


def read(
    kernel: FusedKernel, attention: FusedKernel, op: Operation
) -> Match | Reread | Refusal | None:
    """What an op ends: a chain or region that can be raised, one that came close, or none."""
    found = seek(kernel, op)
    if isinstance(found, Match):
        return found
    again = kernel.reread(op, reader(attention)) if kernel.reread else None
    if isinstance(found, Miss) and not isinstance(again, Reread):
        return found.refusal if found.depth >= kernel.seen_at else again
    return again


def near_misses(
    kernel: FusedKernel, attention: FusedKernel, function: FuncOp
) -> list[tuple[Operation, Refusal]]:
    """The chains of a function that came close and stay, without changing anything."""
    found = ((op, read(kernel, attention, op)) for op in function.walk())
    return [(op, near) for op, near in found if isinstance(near, Refusal)]


def _build(kernel: FusedKernel, found: Match, g: SsaAlgebra) -> SSAValue:
    operands = {role: operand.build(g) for role, operand in found.operands.items()}
    assert kernel.raise_ is not None
    return kernel.raise_(g, operands, found.options)


def replace(root: Operation, build: Callable[[SsaAlgebra], SSAValue]) -> None:
    """Put what `build` makes in the place of an op's result; notes move along."""
    result = root.results[0]
    g = SsaAlgebra(
        lambda op: Rewriter.insert_op(op, InsertPoint.before(root)), root.location
    )
    value = build(g)
    if value.type != result.type:
        value = g.reshape(value, value_shape(result))
    for key, note in root.attributes.items():
        if "." in key and isinstance(value.owner, Operation):
            value.owner.attributes[key] = note
    result.replace_all_uses_with(value)
