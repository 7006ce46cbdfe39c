"""The pipeline, read aloud: a graph module in, a lowered program and its decisions out."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tessera.artifact import Program
from tessera.canonical_compile import CompileResult, canonical_compile
from tessera.catalog import CONSUME, KERNEL_BY_NAME, LOWER, new_context
from tessera.decisions import Document
from tessera.diagnostics import Diagnostics
from tessera.graph.text import print_module
from tessera.graph.verify import verify_module
from tessera.record import document
from tessera.target.device import find_target
from tessera.target.program import build_program


@dataclass
class Compiled:
    """What one compilation made.

    `module` is Target IR (Graph IR for `cpu`), `graph` the normalised, stamped Graph IR,
    `decisions` the record of every site, `result` the fusion groups behind it.
    """

    target: str
    module: ModuleOp
    graph: ModuleOp
    decisions: Document
    result: CompileResult
    diagnostics: Diagnostics = field(default_factory=Diagnostics)

    def program(self) -> Program:
        """The steps a runtime takes."""
        return build_program(self.module, self.target, KERNEL_BY_NAME)

    def walk(self) -> list[Operation]:
        """The ops of the compiled module."""
        return list(self.module.walk())

    def __str__(self) -> str:
        return print_module(self.module)


def compile_graph_module(
    module: ModuleOp, target: str = "apple_gpu", model: str = ""
) -> Compiled:
    """Compile a graph module for a target; the module itself is not changed.

    apple_gpu and apple_cpu: normalise, raise, stamp, consume, lower.  cpu: the normal
    form is the target.  Raises TesseraError for a broken module or an unknown target.
    """
    find_target(target)
    verify_module(module)
    result = canonical_compile(module, target)
    lowered = result.module.clone()
    context = new_context()
    if target in CONSUME:
        for consume in CONSUME[target]:
            consume().apply(context, lowered)
        LOWER[target]().apply(context, lowered)
    verify_module(lowered)
    diagnostics = Diagnostics([*result.diagnostics, *context.diagnostics])
    decisions = document(result, lowered, model)
    return Compiled(target, lowered, result.module, decisions, result, diagnostics)
