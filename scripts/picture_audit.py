"""Writes docs/images/audit.svg: what `tessera audit` prints for a committed model.

python -m scripts.picture_audit
"""

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tessera.audit import render_text
from tessera.driver import compile_graph_module
from tessera.frontend.onnx import import_model

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs" / "images" / "audit.svg"
MODEL = ROOT / "tests" / "corpus" / "llama" / "eager_op20.onnx"
NAME = "llama.onnx"
WIDTH = 100


def audited() -> str:
    """The coloured text that the command prints on a terminal of that width."""
    module = import_model(MODEL)
    compiled = compile_graph_module(module, target="apple_cpu", model=NAME)
    return render_text(compiled.decisions, width=WIDTH, color=True)


def picture() -> str:
    """The text as a drawing that needs nothing from the network."""
    console = Console(record=True, width=WIDTH, file=io.StringIO())
    console.print(Text.from_ansi(audited()), end="", soft_wrap=True)
    title = f"tessera audit {NAME}"
    drawn = console.export_svg(title=title, unique_id="audit")
    drawn = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.S)
    return "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())


def write() -> None:
    """Write the picture."""
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    write()
