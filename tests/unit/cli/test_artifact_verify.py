"""An artifact is verified by its own graph: it holds every weight that graph names."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tessera.cli.main import app
from tests.support.corpus import Case


@pytest.mark.parametrize("model", ["gpt2", "bert", "llama"])
def test_a_compiled_model_verifies(model: str, tmp_path: Path) -> None:
    folder, case = tmp_path / "model", Case(model, "eager_op20.onnx")
    runner = CliRunner()
    made = runner.invoke(app, ["compile", str(case.path), "-o", str(folder)])
    assert made.exit_code == 0, made.output
    verified = runner.invoke(app, ["run", str(folder), "--verify"])
    assert verified.exit_code == 0, verified.output
    assert "compared with target cpu" in verified.output
