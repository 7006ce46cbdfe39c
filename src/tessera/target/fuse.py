"""The consume half: one pass per kernel and target turns chains and pre-fused ops into calls.

A pass honours the intents of its kernel, reports every intent that the program
contradicts, finds unstamped chains again, and lowers the kernel's pre-fused ops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tessera.diagnostics import Diagnostics, Refusal
from tessera.fusion.draft import Match, erase_unused, owner
from tessera.fusion.kernel import Binding, FusedKernel
from tessera.fusion.match import INTENT, bind
from tessera.fusion.recognise import (
    Contradiction,
    Group,
    Recognition,
    intent_of,
    recognise,
)
from tessera.fusion.sites import name_sites, site_kinds
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.context import sink_of
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConstOp
from tessera.graph.rewriting import functions
from tessera.graph.types import dtype_of
from tessera.target.device import Target
from tessera.target.dialect import KERNEL, NOTES, SITE, SOURCE, CallOp, words


@dataclass(frozen=True)
class FuseKernel(ModulePass):
    """Fuse the chains and pre-fused ops of one kernel; `kernels` are all there are."""

    kernel: ClassVar[FusedKernel]
    kernels: ClassVar[Sequence[FusedKernel]]
    target: ClassVar[Target]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite every function of the module; report to the context's sink."""
        for function in functions(op):
            if function.body.blocks and self._may_change(function):
                _Consumer(self, function, sink_of(ctx)).run()

    def _may_change(self, function: FuncOp) -> bool:
        """Whether an op may end a chain of the kernel, be pre-fused, or is intended."""
        kernel = self.kernel
        fused = {f"tessera.{name}" for name in kernel.composites}
        return any(
            op.name in fused
            or (kernel.is_chain and kernel.fitting(op))
            or intent_of(op) == kernel.name
            for op in function.walk()
        )


def fusion_pass(
    kernel: FusedKernel, kernels: Sequence[FusedKernel], target: Target
) -> type[FuseKernel]:
    """The pass class of a kernel and a target."""
    dashed = kernel.name.replace("_", "-")
    body = {
        "name": f"tessera-{dashed}-fusion-to-{target.name}",
        "kernel": kernel,
        "kernels": kernels,
        "target": target,
        "__module__": __name__,
    }
    return type("FuseKernel", (FuseKernel,), body)


class _Consumer:
    """One run of the pass over one function."""

    def __init__(self, owner: FuseKernel, function: FuncOp, sink: Diagnostics) -> None:
        self.kernel, self.kernels = owner.kernel, owner.kernels
        self.target = owner.target
        self.function = function
        self.now: dict[SSAValue, SSAValue] = {}
        self.sink = sink

    def run(self) -> None:
        found = recognise(self.function, self.kernels, self.kernel)
        self.order = found.order
        kinds = site_kinds(self.function, found, self.kernels)
        self.sites = name_sites(self.function, kinds)
        groups = [g for g in found.groups if g.kernel is self.kernel]
        self._report(found, groups)
        composites = [op for op in self.order if self._is_composite(op)]
        for group in groups:
            self._fuse(group)
        for op in composites:
            self._lower_composite(op)

    def _is_composite(self, op: Operation) -> bool:
        name = op.name.removeprefix("tessera.")
        return isinstance(op, GraphOp) and name in self.kernel.composites

    def _report(self, found: Recognition, groups: Sequence[Group]) -> None:
        swallowed = {member for group in groups for member in group.match.members}
        for contradiction in found.contradictions:
            mine = contradiction.intent == self.kernel.name
            if mine or contradiction.root in swallowed:
                report_contradiction(self.sink, contradiction, found)
                del contradiction.root.attributes[INTENT]
        for near in found.misses:
            if near.kernel is self.kernel:
                refusal = near.miss.refusal
                text = f"not fused as {self.kernel.name}: {refusal.text}"
                self.sink.remark(location_of(near.root), text, refusal.code)

    def _fuse(self, group: Group) -> None:
        """Replace a chain by one call."""
        match = group.match
        outside = match.outside()
        point = match.place(self.order)
        lift_constants(match, point, self.order)
        g = SsaAlgebra(
            lambda op: Rewriter.insert_op(op, InsertPoint.before(point)),
            match.root.location,
        )
        roles = self.kernel.role_order(match.operands)
        values = [match.operands[role].renewed(self.now).build(g) for role in roles]
        binding = Binding(dict(zip(roles, values, strict=True)), match.options)
        given: dict[str, SSAValue] = {"out": match.root.results[0]}
        given.update({name: match.shared[name] for name in outside})
        call = self._call(match.root, binding, group.source, list(given.values()))
        if len(given) > 1:
            call.attributes["gives"] = words(list(given))
        Rewriter.insert_op(call, InsertPoint.before(point))
        self.order[call] = self.order[point]
        for old, new in zip(given.values(), call.results, strict=True):
            old.replace_all_uses_with(new)
            self.now[old] = new
        erase_unused(match.members)

    def _lower_composite(self, op: Operation) -> None:
        """Replace a pre-fused op by one call, or say why not."""
        assert isinstance(op, GraphOp)
        binding = bind(self.kernel, op)
        if isinstance(binding, Refusal):
            text = f"'{op.name}' is not fused as {self.kernel.name}: {binding.text}"
            self.sink.warning(location_of(op), text, binding.code)
            return
        call = self._call(op, binding, "composite_op", [op.results[0]])
        Rewriter.insert_op(call, InsertPoint.before(op))
        op.results[0].replace_all_uses_with(call.results[0])
        op.detach()
        op.erase()

    def _call(
        self,
        root: Operation,
        binding: Binding,
        source: str,
        results: Sequence[SSAValue],
    ) -> CallOp:
        kernel = self.kernel
        roles = kernel.role_order(binding.operands)
        attributes: dict[str, Attribute] = {
            "op": StringAttr(kernel.name),
            "roles": words(roles),
            **option_attributes(kernel, binding.options),
            **kept_notes(root),
            KERNEL: StringAttr(kernel.name),
            SOURCE: StringAttr(source),
            SITE: StringAttr(self.sites.get(root, "")),
        }
        types = [value.type for value in results]
        operands = [binding.operands[role] for role in roles]
        symbol = self.target.symbol(kernel.name, dtype_of(types[0]))
        return self.target.call.of(symbol, operands, types, attributes, root.location)


def option_attributes(
    kernel: FusedKernel, options: Mapping[str, Any]
) -> dict[str, Attribute]:
    """Every semantic option of a call that has a value."""
    return {
        name: kind.write(options[name])
        for name, kind in kernel.options.items()
        if options.get(name) is not None
    }


def kept_notes(op: Operation) -> dict[str, Attribute]:
    """Discardable notes of other tools, which move with the op; fusion's own do not."""
    return {
        key: value
        for key, value in op.attributes.items()
        if "." in key and not key.startswith(NOTES)
    }


def report_contradiction(
    sink: Diagnostics, contradiction: Contradiction, found: Recognition
) -> None:
    """One warning for one contradicted intent: what was promised, found, and runs."""
    text = (
        f"intent '{contradiction.intent}' is not what the program says: "
        f"{contradiction.refusal.text}; runs instead: {found.instead(contradiction)}"
    )
    sink.warning(location_of(contradiction.root), text, contradiction.refusal.code)


def lift_constants(
    match: Match, point: Operation, order: Mapping[Operation, int]
) -> None:
    """Move constants of a chain that stand after its call to before it."""
    for operand in match.operands.values():
        maker = owner(operand.value)
        if isinstance(maker, ConstOp) and order.get(maker, 0) > order[point]:
            maker.detach()
            Rewriter.insert_op(maker, InsertPoint.before(point))
