"""Golden files: texts that a command writes and a test compares with."""

from pathlib import Path

import pytest

from tests.support.paths import GOLDEN, REPOSITORY


class Golden:
    """Compares a text with a committed file, or rewrites the file when asked to."""

    def __init__(self, rewrite: bool) -> None:
        self.rewrite = rewrite

    def check(self, name: str | Path, text: str) -> None:
        """Holds if the file says exactly `text`; `name` is relative to tests/golden.

        A generated document elsewhere in the repository is named by its full path.
        """
        path = GOLDEN / name
        text = text.rstrip("\n") + "\n"
        if self.rewrite:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        shown = path.relative_to(REPOSITORY)
        if not path.is_file():
            pytest.fail(f"found no {shown}: `make golden` writes it")
        assert path.read_text(encoding="utf-8") == text, (
            f"{shown} differs: if the change is meant, `make golden` writes it"
        )
