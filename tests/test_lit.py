"""Each lit test of tests/tessera-ir is a test here; lit itself runs once for all."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.paths import LIT

FILES = sorted(path.relative_to(LIT).as_posix() for path in LIT.rglob("*.mlir"))


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, tuple[str, str]]:
    """What lit said of each file, and the output it gave."""
    report = tmp_path_factory.mktemp("lit") / "report.json"
    lit = Path(sys.executable).with_name("lit")
    command = [lit, "--quiet", "--workers=2", f"--output={report}", LIT]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if not report.is_file():
        pytest.fail(f"lit did not run:\n{run.stdout}{run.stderr}")
    return {
        test["name"].removeprefix("tessera-ir :: "): (test["code"], test["output"])
        for test in json.loads(report.read_text())["tests"]
    }


@pytest.mark.parametrize("file", FILES)
def test_lit(file: str, verdicts: Mapping[str, tuple[str, str]]) -> None:
    code, output = verdicts.get(file, ("missing", "lit found no such test"))
    assert code == "PASS", output
