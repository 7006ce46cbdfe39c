"""The pipeline, read aloud: a graph module in, a lowered program and its decisions out."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tessera.artifact import Program
from tessera.canonical_compile import CompileResult, canonical_compile
from tessera.catalog import CONSUME, KERNEL_BY_NAME, LOWER, new_context
from tessera.codegen.cpu.host import Host, find_host
from tessera.decisions import Document, Placement
from tessera.diagnostics import Diagnostics, TesseraError
from tessera.graph.context import run_passes
from tessera.graph.text import print_module
from tessera.graph.verify import verify_module
from tessera.record import document
from tessera.runtime import host_features, placements
from tessera.runtime.executors import find_executor
from tessera.target.device import find_target
from tessera.target.program import build_program
from tessera.trail.watch import Watch


@dataclass
class Compiled:
    """What one compilation made.

    `module` is Target IR (Graph IR for `cpu`), `graph` the normalised, stamped Graph IR,
    `result` the fusion groups behind it, `model` the name that records give it, `source`
    the module that was compiled (the record names its ops), `watch` what saw the passes.
    """

    target: str
    module: ModuleOp
    graph: ModuleOp
    result: CompileResult
    model: str = ""
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    source: ModuleOp | None = None
    watch: Watch | None = None

    @cached_property
    def _program(self) -> Program:
        return build_program(
            self.module, self.target, KERNEL_BY_NAME, _host(self.target)
        )

    def program(self) -> Program:
        """The steps a runtime takes.

        Raises TesseraError when the module has no single function to run, or a weight
        without values.
        """
        return self._program

    @cached_property
    def decisions(self) -> Document:
        """The record of every site, with what runs each on this machine."""
        ran = placements(self.program())
        return document(
            self.result,
            self.module,
            self.model,
            ran,
            _unfused(self.target),
            self.source,
            self.watch,
        )

    def walk(self) -> list[Operation]:
        """The ops of the compiled module."""
        return list(self.module.walk())

    def __str__(self) -> str:
        return print_module(self.module)


def _host(target: str) -> Host | None:
    """The CPU that machine code is written for; None where the target wants none."""
    return find_host(host_features()) if find_target(target).native else None


def _unfused(target: str) -> Placement | None:
    """What runs the ops that no kernel took; None when the target cannot run here."""
    try:
        find_executor(target)
    except TesseraError:
        return None
    return "reference"


@contextmanager
def _collector_paused() -> Generator[None]:
    """Pause Python's collector of cyclic garbage, and leave it as it was found.

    IR is one large cyclic structure that stays alive: every walk of the collector over it
    finds next to nothing, and together they take a quarter of a compilation.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@_collector_paused()
def compile_graph_module(
    module: ModuleOp,
    target: str = "apple_gpu",
    model: str = "",
    watch: Watch | None = None,
) -> Compiled:
    """Compile a graph module for a target; the module itself is not changed.

    apple_gpu and apple_cpu: normalise, raise, stamp, consume, lower.  cpu: the normal
    form is the target.  A `watch` sees each pass, for the trail of the decisions.
    Raises TesseraError for a broken module or an unknown target.
    """
    find_target(target)
    verify_module(module)
    result = canonical_compile(module, target, watch)
    lowered = result.module.clone()
    context = new_context(watch)
    if watch is not None:
        watch("", lowered)
    if target in CONSUME:
        run_passes((*CONSUME[target], LOWER[target]), context, lowered)
    verify_module(lowered)
    diagnostics = Diagnostics([*result.diagnostics, *context.diagnostics])
    return Compiled(
        target, lowered, result.module, result, model, diagnostics, module, watch
    )
