"""MODEL on the command line: an .onnx file, an .mlir file, or an artifact folder."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from tessera.artifact import Artifact, Program
from tessera.cli.codes import NO_MODEL, OTHER_TARGET
from tessera.cli.console import report, working
from tessera.decisions import Document
from tessera.diagnostics import TesseraError

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tessera.driver import Compiled
    from tessera.trail.watch import Watch

DEFAULT_TARGET = "apple_cpu"


@dataclass(frozen=True)
class Source:
    """A model compiled now."""

    module: ModuleOp
    compiled: Compiled

    @property
    def document(self) -> Document:
        """Its decisions."""
        return self.compiled.decisions

    @cached_property
    def program(self) -> Program:
        """Its steps."""
        return self.compiled.program()

    def reference(self) -> Program:
        """The same model for the target `cpu`."""
        return _reference(self.module)


@dataclass(frozen=True)
class Shipped:
    """A model compiled earlier: what its folder holds."""

    artifact: Artifact
    path: Path

    @property
    def document(self) -> Document:
        """The decisions made when it was compiled."""
        return self.artifact.document

    @property
    def program(self) -> Program:
        """Its steps."""
        return self.artifact.program

    def reference(self) -> Program:
        """The graph of the folder, compiled for the target `cpu`."""
        from tessera.cli.linking import bind_weights
        from tessera.graph.text import parse_module

        place = str(self.path / "graph.mlir")
        module = parse_module(self.artifact.graph_text, place)
        bind_weights(module, self.artifact.program.weights)
        return _reference(module)


Model = Source | Shipped


def open_model(
    path: Path, target: str = "", remarks: bool = False, watch: Watch | None = None
) -> Model:
    """Import and compile a model, or load an artifact.

    "" is the default target, or the one an artifact was compiled for.  Warnings go to
    stderr.  `watch` sees the passes of a model that is compiled.  Raises TesseraError
    with the fault of the model, TSR-R060 when MODEL is nothing of the kind, TSR-R061 for
    an artifact of another target.
    """
    if path.is_dir():
        return _shipped(path, target)
    return compile_source(path, target or DEFAULT_TARGET, remarks, watch)


def compile_source(
    path: Path, target: str, remarks: bool = False, watch: Watch | None = None
) -> Source:
    """Import a model file and compile it; warnings go to stderr."""
    from tessera.driver import compile_graph_module

    with working(f"reading {path.name}"):
        module = import_file(path)
    with working(f"compiling {path.name} for {target}"):
        compiled = compile_graph_module(module, target, str(path), watch)
    report(compiled.diagnostics, remarks)
    return Source(module, compiled)


def import_file(path: Path) -> ModuleOp:
    """The Graph IR of an .onnx or .mlir file; TesseraError when there is none."""
    if not path.is_file():
        raise TesseraError(NO_MODEL, f"no such file: '{path}'", remedy=_near(path))
    if path.suffix == ".onnx":
        from tessera.frontend.onnx import import_model

        return import_model(path)
    if path.suffix == ".mlir":
        from tessera.graph.text import parse_module

        return parse_module(_text(path), str(path))
    raise TesseraError(
        NO_MODEL,
        f"'{path}' ends in '{path.suffix}', wanted .onnx, .mlir or an artifact folder",
        remedy="export the model to ONNX, or give its text with the ending .mlir",
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not text in UTF-8"
        text = f"cannot read '{path}': {reason}"
        raise TesseraError(NO_MODEL, text, remedy="check the file") from None


def _near(path: Path) -> str:
    """A hint at a file of a similar name."""
    names: list[str] = []
    if path.parent.is_dir():
        names = [p.name for p in path.parent.iterdir()]
    close = difflib.get_close_matches(path.name, names, 1)
    if close:
        return f"did you mean '{path.parent / close[0]}'"
    return "check the path: MODEL is an .onnx file, an .mlir file or an artifact folder"


def _shipped(path: Path, target: str) -> Shipped:
    from tessera.artifact import load

    with working(f"loading {path.name}"):
        artifact = load(path)
    found = artifact.program.target
    if target and target != found:
        raise TesseraError(
            OTHER_TARGET,
            f"'{path}' was compiled for target '{found}', not for '{target}'",
            remedy="leave --target out, or compile the model again",
        )
    return Shipped(artifact, path)


def _reference(module: ModuleOp) -> Program:
    from tessera.driver import compile_graph_module

    return compile_graph_module(module, target="cpu").program()
