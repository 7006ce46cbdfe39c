"""The compiler's context: the dialects it knows and the sink it reports to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from tessera.diagnostics import Diagnostics
from tessera.graph.dialect import Tessera

# Told the name of a pass, and the module as that pass left it.
Watcher = Callable[[str, ModuleOp], None]


@dataclass
class TesseraContext(Context):
    """An xDSL context with a diagnostics sink, and who watches the passes, if anybody."""

    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    watch: Watcher | None = None


def graph_context(*more: Dialect) -> TesseraContext:
    """A fresh context that knows builtin, func, arith, tessera and `more`."""
    context = TesseraContext()
    for dialect in (Builtin, Func, Arith, Tessera, *more):
        context.load_dialect(dialect)
    return context


def run_passes(
    passes: Iterable[type[ModulePass]], context: Context, module: ModuleOp
) -> None:
    """Run passes in order; a pass of several tells of them, and then of itself."""
    watch = context.watch if isinstance(context, TesseraContext) else None
    for kind in passes:
        kind().apply(context, module)
        if watch is not None:
            watch(kind.name, module)


def sink_of(context: Context) -> Diagnostics:
    """The sink passes report to; a plain xDSL context gets one that nobody reads."""
    if isinstance(context, TesseraContext):
        return context.diagnostics
    return Diagnostics()
