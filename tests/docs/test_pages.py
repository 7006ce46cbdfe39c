"""The documents: what they show is what happens."""

import re
from pathlib import Path

import pytest

from tests.support.golden import Golden
from tests.support.pages import parts, rendered
from tests.support.paths import REPOSITORY

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def name(page: Path) -> str:
    return page.name


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_shows_what_its_code_prints(
    page: Path, golden: Golden, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    golden.check(page, rendered(page))


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_page_links_to_what_is_there(page: Path) -> None:
    prose = "".join(p.body for p in parts(page.read_text("utf-8")) if p.tag is None)
    links = [link for link, _ in LINK.findall(prose) if "://" not in link]
    assert not [link for link in links if not (page.parent / link).exists()]
