from pathlib import Path

import pytest

from tests.unit.opt.support import Opt


@pytest.fixture
def opt(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Opt:
    """`opt(text, *flags)`: what the command gives for a text."""
    return Opt(tmp_path, capsys)
