"""Every exported model: sites seen are the model's truth, what can fuse is fused."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import pytest

from tessera.decisions import Site
from tessera.driver import compile_graph_module
from tessera.frontend.onnx import import_model
from tessera.runtime import execute
from tests.support.corpus import Case, cases

EVERY = [case for case in cases() if case.values[0].file.endswith(".onnx")]
FUSED = ("attention", "router", "gelu", "swiglu", "mla", "nsa")
SEEN = (*FUSED, "relu", "geglu", "rmsnorm", "layernorm", "rope")


def counted(sites: Iterable[Site]) -> Counter[str]:
    """Sites by the names of meta.json, where latent and sparse attention count twice."""
    kinds = Counter("router" if s.kind == "matmul_softmax" else s.kind for s in sites)
    kinds["attention"] += kinds["mla"] + 3 * kinds["nsa"]
    return kinds


def after_matmul(site: Site) -> bool:
    """Whether a refused norm's product is owned, or experts' products are summed first."""
    found = site.found or ""
    owned = site.code == "TSR-F202" or "another fused site" in found
    return owned or (site.code == "TSR-F116" and "sum" in found)


@pytest.mark.parametrize("target", ["apple_gpu", "apple_cpu"])
@pytest.mark.parametrize("case", EVERY)
def test_no_site_is_missed_and_none_made_up(case: Case, target: str) -> None:
    truth = case.meta()["truth"]
    made = compile_graph_module(import_model(case.path), target, case.model)
    sites = made.decisions.sites
    seen, fused = counted(sites), counted(s for s in sites if s.outcome == "fused")
    assert {kind: seen[kind] for kind in SEEN} == {kind: truth[kind] for kind in SEEN}
    assert {kind: fused[kind] for kind in FUSED} == {k: truth[k] for k in FUSED}
    assert all(s.code for s in sites if s.outcome != "fused")
    norms = [s for s in sites if s.kind == "rmsnorm"]
    if norms:
        left = [s for s in norms if s.outcome != "fused" and after_matmul(s)]
        # The truth counts norms of both kinds; beside rmsnorms, only DeepSeek's indexer has
        # layernorms, and each follows a matmul.
        wanted = truth["mm_norm"] + truth["mm_res_norm"] - truth["layernorm"]
        assert fused["rmsnorm"] + len(left) == wanted, [s.found for s in norms]


@pytest.mark.parametrize("target", ["cpu", "apple_cpu"])
@pytest.mark.parametrize("case", EVERY)
def test_outputs_are_the_models_own(case: Case, target: str) -> None:
    made = compile_graph_module(import_model(case.path), target, case.model)
    results = execute(made.program(), case.inputs())
    for name, expected in case.outputs().items():
        scale = max(float(np.abs(expected).max()), 1e-30)
        np.testing.assert_allclose(results[name], expected, rtol=0, atol=1e-4 * scale)
