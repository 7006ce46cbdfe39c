"""A folder with model files, entered; and a way to call the command in this process."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tessera.cli.main import main
from tests.unit.cli import models


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Tessera = Callable[..., Ended]


@pytest.fixture
def tessera(tmp_path, monkeypatch, capsys) -> Tessera:
    """Call `tessera` in a folder that holds the model files."""
    for name in ("GELU", "SHARED", "LOOKUP", "BROKEN"):
        text = getattr(models, name)
        (tmp_path / f"{name.lower()}.mlir").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TESSERA_TRACEBACK", raising=False)
    monkeypatch.setenv("COLUMNS", "100")

    def call(*arguments: object) -> Ended:
        code = main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return Ended(code, out, err)

    return call
