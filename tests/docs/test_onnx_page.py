"""The page on ONNX's node tests, and what the README says of them."""

import pytest

pytest.importorskip("onnx")

from tests.support.golden import Golden
from tests.support.onnx_page import PAGE, page, share
from tests.support.paths import REPOSITORY


def test_the_page_holds_what_was_counted(golden: Golden) -> None:
    golden.check(PAGE, page())


def test_the_readme_says_it_too() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert share() in readme
    assert f"({PAGE.relative_to(REPOSITORY)})" in readme
