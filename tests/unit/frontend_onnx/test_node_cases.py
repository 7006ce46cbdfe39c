"""ONNX's own backend node tests, run on every op that the importer claims."""

from fnmatch import fnmatch

import pytest

pytest.importorskip("onnx")

from tests.support.node_cases import KNOWN, LEAST_PASSED, account


def test_every_claimed_case_passes_or_is_known() -> None:
    surprises = {
        name: why
        for name, why in account().failed.items()
        if not any(fnmatch(name, pattern) for pattern in KNOWN)
    }
    assert not surprises


def test_every_known_failure_still_fails() -> None:
    gone = [p for p in KNOWN if not any(fnmatch(n, p) for n in account().failed)]
    assert not gone, "these pass now or are gone: take them out of KNOWN"


def test_the_share_does_not_fall() -> None:
    total = account()
    assert total.passed >= LEAST_PASSED
    assert total.passed >= 0.95 * total.claimed
