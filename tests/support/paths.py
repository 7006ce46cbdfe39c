"""Where things lie in this repository."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCES = REPOSITORY / "src" / "tessera"
TESTS = REPOSITORY / "tests"
CASES = TESTS / "cases" / "public"
CORPUS = TESTS / "corpus"
GOLDEN = TESTS / "golden"
LIT = TESTS / "tessera-ir"
