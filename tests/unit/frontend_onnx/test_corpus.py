"""Every ONNX file of the corpus, imported and run op by op, gives its stored outputs."""

import numpy as np
import pytest

from tessera.frontend.onnx import import_model
from tessera.graph.evaluate import evaluate
from tests.support.corpus import CONTENTS, Case, cases

FILES = tuple(
    sorted({f for held in CONTENTS.values() for f in held if f.endswith(".onnx")})
)
TOLERANCE = 1e-4  # of the output's largest magnitude


@pytest.mark.parametrize("case", cases(*FILES))
def test_outputs_are_the_stored_ones(case: Case) -> None:
    module = import_model(case.path)
    module.verify()
    results = evaluate(module, case.inputs())
    stored = case.outputs()
    assert results.keys() == stored.keys()
    for name, wanted in stored.items():
        found = results[name]
        assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
        scale = max(float(np.abs(wanted).max(initial=0)), 1e-30)
        assert np.abs(found - wanted).max(initial=0) <= TOLERANCE * scale
