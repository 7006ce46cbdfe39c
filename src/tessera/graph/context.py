"""The compiler's context: the dialects it knows and the sink it reports to."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.ir import Dialect

from tessera.diagnostics import Diagnostics
from tessera.graph.dialect import Tessera


@dataclass
class TesseraContext(Context):
    """An xDSL context with a diagnostics sink."""

    diagnostics: Diagnostics = field(default_factory=Diagnostics)


def graph_context(*more: Dialect) -> TesseraContext:
    """A fresh context that knows builtin, func, arith, tessera and `more`."""
    context = TesseraContext()
    for dialect in (Builtin, Func, Arith, Tessera, *more):
        context.load_dialect(dialect)
    return context


def sink_of(context: Context) -> Diagnostics:
    """The sink passes report to; a plain xDSL context gets one that nobody reads."""
    if isinstance(context, TesseraContext):
        return context.diagnostics
    return Diagnostics()
