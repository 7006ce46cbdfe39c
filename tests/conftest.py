"""Fixtures and marks of the whole suite, and an account of what did not run."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.support.corpus import VARIABLE, Case, full_corpus
from tests.support.golden import Golden
from tests.support.referee import COUNTS

NOT_RUN = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="write the golden files instead of comparing with them",
    )


def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> None:
    for item in items:
        if "golden" in getattr(item, "fixturenames", ()):
            item.add_marker("golden")
    if full_corpus() is not None:
        return
    absent = [item for item in items if item.get_closest_marker("full_corpus")]
    config.stash[NOT_RUN] = len(absent)
    items[:] = [item for item in items if not item.get_closest_marker("full_corpus")]
    config.hook.pytest_deselected(items=absent)


def pytest_report_header() -> str:
    return f"full corpus: {full_corpus() or f'absent ({VARIABLE} can name it)'}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    skipped = len(terminalreporter.stats.get("skipped", []))
    terminalreporter.section("not run")
    terminalreporter.write_line(f"{skipped} skipped")
    if full_corpus() is None:
        count = config.stash.get(NOT_RUN, 0)
        terminalreporter.write_line(f"full corpus absent: {count} cases not run")
    if COUNTS:
        terminalreporter.section("official MLIR as referee")
        for verdict, count in sorted(COUNTS.items()):
            terminalreporter.write_line(f"{count} {verdict}")


@pytest.fixture
def corpus() -> Callable[[str, str], Case]:
    """`corpus("gpt2", "eager_op20.onnx")`; many: see `tests.support.corpus`."""
    return Case


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """`golden.check("codes.md", text)`; the test is then marked `golden`."""
    return Golden(rewrite=bool(request.config.getoption("--rewrite-golden")))


@pytest.fixture
def rng() -> np.random.Generator:
    """A generator with a fixed seed, the same for each test."""
    return np.random.default_rng(0)
