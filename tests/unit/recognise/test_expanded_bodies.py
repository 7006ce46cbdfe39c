"""ONNX's own function bodies are recognised, and still compute what they did."""

import pytest

pytest.importorskip("onnx")

from tests.support.expanded import BODIES, RECOGNISED, WHY, bodies


@pytest.mark.parametrize("op", BODIES)
def test_every_body_is_recognised_or_refused_with_a_reason(op: str) -> None:
    total = bodies(op)
    assert not total.missed
    assert total.counts == RECOGNISED[op]


@pytest.mark.parametrize("op", BODIES)
def test_outputs_are_those_of_the_case(op: str) -> None:
    assert not bodies(op).wrong


def test_every_refusal_has_its_reason() -> None:
    codes = {how for counts in RECOGNISED.values() for how in counts}
    assert codes - {"fused", "recognised"} == set(WHY)
