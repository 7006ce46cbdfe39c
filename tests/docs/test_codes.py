"""docs/codes.md against the codes that the package declares."""

from scripts.write_codes import PAGE, all_codes, family, page
from tests.support.golden import Golden


def test_the_page_holds_every_code_as_it_is_declared(golden: Golden) -> None:
    golden.check(PAGE, page())


def test_a_code_is_written_for_a_person() -> None:
    for code in all_codes():
        assert code.title[0].islower() or code.title.split()[0][-1] in ":'", code
        assert not code.title.endswith("."), code
        assert code.help.endswith("."), code


def test_families_are_told_apart() -> None:
    assert len({family(code) for code in all_codes()}) > 3
