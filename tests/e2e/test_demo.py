"""The demo as a user starts it."""

import os
import subprocess
import sys

from tests.support.paths import REPOSITORY


def test_the_demo_passes_its_own_checks() -> None:
    run = subprocess.run(
        [sys.executable, "examples/demo.py"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:] + run.stderr[-2000:]
    assert "all good" in run.stdout
    assert not run.stderr
    for word in ("MiniLM", "GPT-2", "BERT", "Llama", "matmul_softmax_matmul"):
        assert word in run.stdout
