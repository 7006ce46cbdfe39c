"""`tessera compile`: a model into an artifact folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from tessera.artifact import save
from tessera.cli.codes import NO_MODEL
from tessera.cli.console import say, working
from tessera.cli.models import DEFAULT_TARGET, Source, compile_source
from tessera.cli.options import ModelArgument, RemarksOption, TargetOption
from tessera.diagnostics import TesseraError


def compile_model(
    model: ModelArgument,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="The folder to write.")
    ],
    target: TargetOption = "",
    remarks: RemarksOption = False,
) -> None:
    """Compile a model into a folder that runs without the compiler.

    The folder is written whole or not at all; an artifact already there is replaced,
    anything else is left alone and refused.
    """
    if model.is_dir():
        raise TesseraError(
            NO_MODEL,
            f"'{model}' is a folder, wanted an .onnx or .mlir file",
            remedy="compile the file that the artifact was compiled from",
        )
    source = compile_source(model, target or DEFAULT_TARGET, remarks)
    with working(f"writing {output}"):
        write_artifact(source, output)
    document = source.document
    fused = sum(site.fused for site in document.sites)
    text = f"{output}: target {document.target}, {fused} of {len(document.sites)} sites"
    say(Text(f"{text} fused"))
    say(Text(f"`tessera audit {output}` says which and why", style="dim"))


def write_artifact(source: Source, output: Path) -> None:
    """Write a compiled model to a folder; TesseraError as `artifact.save` says."""
    from tessera.cli.linking import held_weights, name_weights
    from tessera.graph.text import print_module

    compiled = source.compiled
    before = compiled.program()
    names = [value.name for value in (*before.inputs, *before.outputs)]
    name_weights([compiled.graph, compiled.module], names)
    graph = print_module(compiled.graph, debuginfo=True)
    module = print_module(compiled.module, debuginfo=True)
    program = compiled.program()
    weights = {**held_weights(compiled.graph), **program.weights}
    save(output, replace(program, weights=weights), graph, module, compiled.decisions)
