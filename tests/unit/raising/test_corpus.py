"""Real exports: every composite of the model's truth is raised, and nothing changes."""

from collections import Counter

import numpy as np
import pytest

from tessera.frontend.onnx.importer import import_model
from tessera.graph.evaluate import evaluate
from tessera.graph.normalise import NormaliseGraph
from tessera.graph.raising import RAISE
from tests.support.corpus import Case, cases
from tests.support.graphs import names, run

# The state space model gates with a silu that is no MLP's.
SILUS_ELSEWHERE = {"mamba": 4}


EXPORTS = [case for case in cases() if case.values[0].file.endswith(".onnx")]


@pytest.mark.parametrize("case", EXPORTS)
def test_composites_are_those_of_the_truth(case: Case) -> None:
    truth = case.meta()["truth"]
    module = import_model(case.path)
    report = run(module, NormaliseGraph(), *(item() for item in RAISE))
    assert len(report) == 0
    found = Counter(names(module))
    assert found["rmsnorm"] == truth["rmsnorm"]
    assert found["layernorm"] == truth["layernorm"]
    assert found["rope"] == truth["rope"]
    assert found["gelu"] == truth["gelu"] + truth["geglu"]
    assert found["silu"] == truth["swiglu"] + SILUS_ELSEWHERE.get(case.model, 0)
    once = str(module)
    run(module, NormaliseGraph(), *(item() for item in RAISE))
    assert str(module) == once
    results = evaluate(module, case.inputs())
    for name, wanted in case.outputs().items():
        scale = max(1e-9, float(np.abs(wanted).max(initial=0.0)))
        np.testing.assert_allclose(results[name], wanted, rtol=0, atol=1e-5 * scale)
