"""Arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelArgument = Annotated[
    Path,
    typer.Argument(
        metavar="MODEL", help="An .onnx file, an .mlir file, or an artifact folder."
    ),
]
TargetOption = Annotated[
    str,
    typer.Option(
        help="apple_gpu, apple_cpu or cpu. Default: apple_cpu, or the artifact's own.",
        show_default=False,
    ),
]
RemarksOption = Annotated[
    bool, typer.Option("--remarks", help="Also say what was nearly fused, and why not.")
]
