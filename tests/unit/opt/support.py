"""A catalog of two passes that report, and a way to run the command in process."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tessera.cli.opt import run
from tessera.cli.pipeline import Factories
from tessera.diagnostics import TesseraError
from tessera.graph.cleanups import DROPPED
from tessera.graph.context import TesseraContext, graph_context, sink_of
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp


@dataclass(frozen=True)
class Say(ModulePass):
    """Say something of every op named so."""

    op: str = "exp"
    what: str = "seen"
    severity: str = "warning"
    times: int = 1
    only: tuple[int, ...] = ()
    factor: float | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        sink = sink_of(ctx)
        tell = sink.warning if self.severity == "warning" else sink.remark
        for found in op.walk():
            if isinstance(found, GraphOp) and found.short() == self.op:
                for _ in range(self.times):
                    tell(location_of(found), self.what, DROPPED)


@dataclass(frozen=True)
class Break(ModulePass):
    """Break the module, or itself."""

    how: str = "module"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.how == "inside":
            raise KeyError("lost")
        if self.how == "error":
            raise TesseraError(DROPPED, "said no", remedy="ask again")
        for found in op.walk():
            if isinstance(found, GraphOp):
                found.attributes["nonsense"] = StringAttr("x")


@dataclass(frozen=True)
class FakeCatalog:
    """What the command needs of a catalog."""

    PASSES: Factories
    PIPELINES: Mapping[str, tuple[str, ...]]

    def new_context(self) -> TesseraContext:
        return graph_context()


CATALOG = FakeCatalog({"say": Say, "break": Break}, {"say-and-clean": ("say", "dce")})


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


@dataclass
class Opt:
    """Runs the command on a text."""

    folder: Path
    capture: pytest.CaptureFixture[str]

    def __call__(self, text: str, *flags: str) -> Outcome:
        path = self.folder / "in.mlir"
        path.write_text(text, encoding="utf-8")
        code = run([str(path), *flags], CATALOG)
        said = self.capture.readouterr()
        name = str(path)
        return Outcome(code, said.out, said.err.replace(name, "in.mlir"))
