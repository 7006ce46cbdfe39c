"""xDSL's clean-up passes, made to keep the notes that other passes left on ops.

A note is a discardable attribute: its name carries a dialect prefix, as
`tessera.fusion.intent` does.  A note that goes with its op is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnitAttr, UnknownLoc
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriterListener,
    PatternRewriteWalker,
)
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.transforms.dead_code_elimination import region_dce

from tessera.diagnostics import declare
from tessera.graph.context import sink_of
from tessera.graph.locations import location_of

DROPPED = declare(
    "TSR-G025",
    "a clean-up removed an op that carried a note",
    "The op was folded away, or nothing used its result, and its note went with it. "
    "Run the pass before the notes are written if they matter.",
)

Notes = dict[str, Attribute]


def notes_of(op: Operation) -> Notes:
    """The discardable attributes of an op."""
    return {key: value for key, value in op.attributes.items() if "." in key}


@dataclass
class Ledger:
    """The notes of a module before a pass, and where rewrites took them."""

    kept: dict[Operation, tuple[Notes, bool]] = field(
        default_factory=dict[Operation, tuple[Notes, bool]]
    )
    fresh: set[Operation] = field(default_factory=set[Operation])

    @classmethod
    def of(cls, module: ModuleOp) -> Ledger:
        """The notes that a module carries now, and whether their ops are used."""
        ledger = cls()
        for op in module.walk():
            if notes := notes_of(op):
                ledger.kept[op] = notes, any(result.first_use for result in op.results)
        return ledger

    def listener(self) -> PatternRewriterListener:
        """Follows a rewriter and carries notes and places to what replaces an op."""
        return PatternRewriterListener(
            operation_insertion_handler=[self.fresh.add],
            operation_replacement_handler=[self.replaced],
        )

    def replaced(self, op: Operation, results: Sequence[SSAValue | None]) -> None:
        """Hand an op's place, and its notes if it is of the same kind, to a new op."""
        owners = {r.op for r in results if isinstance(r, OpResult)} & self.fresh
        self.fresh -= owners  # later it stands for what it replaced now
        for new in owners:
            if isinstance(new.location, UnknownLoc):
                new.location = op.location
            if new.name == op.name and len(owners) == 1 and op in self.kept:
                notes, used = self.kept.pop(op)
                new.attributes = {**notes, **new.attributes}
                self.kept[new] = notes, used

    def report(self, context: Context, module: ModuleOp, name: str) -> None:
        """Tell of each note that went with its op and is on no equal op either."""
        alive = set(module.walk())
        here = {(op.name, frozenset(notes_of(op).items())) for op in alive}
        for op, (notes, used) in self.kept.items():
            if op in alive or (op.name, frozenset(notes.items())) in here:
                continue
            listed = ", ".join(
                key if isinstance(value, UnitAttr) else f"{key} = {value}"
                for key, value in notes.items()
            )
            text = f"'{op.name}' op removed by {name}, which drops {listed}"
            sink = sink_of(context)
            tell = sink.warning if used else sink.remark
            tell(location_of(op), text, DROPPED)


@dataclass(frozen=True)
class Cleanup(ModulePass):
    """One clean-up that accounts for the notes it meets."""

    title: str = field(metadata={"option": False})
    clean: Callable[[Context, ModuleOp, PatternRewriterListener], None] = field(
        metadata={"option": False}
    )

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Clean the module, then report every note that was lost."""
        ledger = Ledger.of(op)
        self.clean(ctx, op, ledger.listener())
        ledger.report(ctx, op, self.title)


def _canonicalize(
    context: Context, module: ModuleOp, listener: PatternRewriterListener
) -> None:
    """Apply every op's own canonicalization patterns and folds, and drop dead ops."""
    pattern = GreedyRewritePatternApplier(
        [CanonicalizationRewritePattern()], ctx=context, folding_enabled=True
    )
    walker = PatternRewriteWalker(pattern, post_walk_func=region_dce, listener=listener)
    walker.rewrite_module(module)


def _cse(context: Context, module: ModuleOp, listener: PatternRewriterListener) -> None:
    """Merge ops that compute the same; ops whose notes differ stay apart."""
    cse(module)


def _dce(context: Context, module: ModuleOp, listener: PatternRewriterListener) -> None:
    """Remove ops without effect whose results nothing uses."""
    region_dce(module.body)


def _factory(
    title: str, clean: Callable[[Context, ModuleOp, PatternRewriterListener], None]
) -> Callable[[], Cleanup]:
    return lambda: Cleanup(title, clean)


CLEANUPS: Mapping[str, Callable[[], ModulePass]] = {
    title: _factory(title, clean)
    for title, clean in {
        "canonicalize": _canonicalize,
        "cse": _cse,
        "dce": _dce,
    }.items()
}
