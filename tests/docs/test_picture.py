"""The picture in the README against what the command prints now."""

import re
from html import unescape

from rich.text import Text

from scripts.picture_audit import PICTURE, audited, picture
from tests.support.golden import Golden
from tests.support.paths import REPOSITORY


def test_the_picture_shows_what_is_printed(golden: Golden) -> None:
    golden.check(PICTURE, picture())


def test_every_line_of_the_audit_is_in_the_picture() -> None:
    drawn = picture().partition('-matrix">')[2]
    shown = unescape("".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawn)))
    printed = Text.from_ansi(audited()).plain
    assert "".join(shown.split()) == "".join(printed.split())


def test_the_readme_shows_it() -> None:
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    assert f"({PICTURE.relative_to(REPOSITORY)})" in readme
