"""The last step to Target IR: every graph op left becomes a call of its own entry."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, UnregisteredOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tessera.diagnostics import Diagnostics, Refusal, TesseraError, declare
from tessera.fusion import codes
from tessera.fusion.match import INTENT
from tessera.fusion.recognise import Contradiction, Recognition, intent_of
from tessera.graph.context import sink_of
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import FLOATS, value_dtype
from tessera.target.device import Target
from tessera.target.dialect import CallOp, DeclareOp
from tessera.target.fuse import kept_notes, report_contradiction
from tessera.target.routes import ROUTES

NO_ROUTE = declare(
    "TSR-T004",
    "the target has no lowering for an operation",
    "The op is not in the target's table of lowerings. Compile for `cpu`, the reference "
    "target, which runs every graph op.",
    "error",
)
ILLEGAL = declare(
    "TSR-T005",
    "an operation is not legal in Target IR",
    "Target IR holds functions, constants, declarations and calls. The op named is none of "
    "them and no pass lowers it.",
    "error",
)
LEGAL = frozenset(
    {
        "builtin.module",
        "func.func",
        "func.return",
        "func.call",
        "tessera.const",
        "tessera_apple.declare",
        "tessera_apple.gpu_call",
        "tessera_apple.cpu_call",
    }
)


@dataclass(frozen=True)
class LowerToApple(ModulePass):
    """Lower graph ops one by one, declare the entries, check that only legal ops are left."""

    target: ClassVar[Target]
    chains: ClassVar[frozenset[str]]

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module; TesseraError names an op that cannot be lowered."""
        sink = sink_of(ctx)
        for inner in list(op.walk()):
            if isinstance(inner, GraphOp):
                self._report_intent(inner, sink)
        drop_unread(op)
        for inner in list(op.walk()):
            if isinstance(inner, GraphOp) and not isinstance(inner, ConstOp):
                self._lower(inner)
        check_legal(op)
        declare_entries(op)

    def _report_intent(self, op: GraphOp, sink: Diagnostics) -> None:
        """An intent that is still here was consumed by nobody."""
        intent = intent_of(op)
        if intent is None:
            return
        known = ", ".join(sorted(self.chains))
        code, predicate, wanted = codes.UNCONSUMED, "consumer", "a fusion pass for it"
        if intent not in self.chains:
            code, predicate, wanted = codes.UNKNOWN_KERNEL, "kernel name", known
        refusal = Refusal(
            code, op.name, location_of(op), predicate, f'"{intent}"', wanted
        )
        report_contradiction(sink, Contradiction(op, intent, refusal), Recognition())
        del op.attributes[INTENT]

    def _lower(self, op: GraphOp) -> None:
        if op.short() not in ROUTES:
            raise TesseraError(
                NO_ROUTE, f"'{op.name}' has no lowering", location_of(op)
            )
        symbol = self.target.symbol(op.short(), entry_dtype(op))
        options = op.write(op.options())
        attributes = {"op": StringAttr(op.short()), **options, **kept_notes(op)}
        types = [result.type for result in op.results]
        call = self.target.call.of(symbol, op.operands, types, attributes, op.location)
        Rewriter.replace_op(op, call)


def lowering_pass(target: Target, chains: frozenset[str]) -> type[LowerToApple]:
    """The pass class of a target."""
    name = f"tessera-lower-to-{target.name}"
    body = {"name": name, "target": target, "chains": chains, "__module__": __name__}
    return type("LowerToApple", (LowerToApple,), body)


def entry_dtype(op: Operation) -> str:
    """The element type in an entry's name: the first float, else the first result's."""
    names = [value_dtype(value) for value in (*op.results, *op.operands)]
    return next((name for name in names if name in FLOATS), names[0])


def drop_unread(module: ModuleOp) -> None:
    """Erase what nothing reads since calls were made: constants, repeats of heads, views."""
    for op in reversed(list(module.walk())):
        if isinstance(op, GraphOp) and all(r.first_use is None for r in op.results):
            op.detach()
            op.erase()


def check_legal(module: ModuleOp) -> None:
    """TesseraError at the first op that Target IR does not allow."""
    for op in module.walk():
        if op.name not in LEGAL:
            name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
            text = f"'{name}' is left in Target IR"
            raise TesseraError(ILLEGAL, text, location_of(op))


def declare_entries(module: ModuleOp) -> None:
    """Declare every called entry once, in name order, before the functions."""
    block = module.body.block
    present = {op.symbol for op in block.ops if isinstance(op, DeclareOp)}
    called = {op.symbol for op in module.walk() if isinstance(op, CallOp)}
    first = block.first_op
    for symbol in sorted(called - present):
        made = DeclareOp.of(symbol)
        if first is None:
            block.add_op(made)
        else:
            Rewriter.insert_op(made, InsertPoint.before(first))
