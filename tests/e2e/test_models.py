"""The three exported models: right numbers, every site seen, every refusal true."""

from collections import Counter
from functools import cache

import numpy as np
import pytest
from xdsl.ir import Operation

from tessera.canonical_compile import CompileResult
from tessera.decisions import Site
from tessera.driver import Compiled, compile_graph_module
from tessera.frontend.onnx import import_model
from tessera.fusion.sites import SITE
from tessera.runtime import execute
from tests.support.corpus import Case

MODELS = ("gpt2", "bert", "llama")
# How a kind is called where meta.json counts it.
COUNTED = {"matmul_softmax": "router"}
KINDS = ("attention", "router", "gelu", "relu", "swiglu", "geglu", "rmsnorm")
KINDS += ("layernorm", "rope", "mla", "nsa")


@cache
def compiled(model: str, target: str) -> Compiled:
    module = import_model(Case(model, "eager_op20.onnx").path)
    return compile_graph_module(module, target=target, model=model)


@pytest.mark.parametrize("target", ["cpu", "apple_cpu"])
@pytest.mark.parametrize("model", MODELS)
def test_outputs_match_the_models_own(model: str, target: str) -> None:
    case = Case(model, "eager_op20.onnx")
    results = execute(compiled(model, target).program(), case.inputs())
    for name, expected in case.outputs().items():
        scale = np.abs(expected).max()
        np.testing.assert_allclose(results[name], expected, rtol=0, atol=1e-4 * scale)


@pytest.mark.parametrize("target", ["apple_cpu", "apple_gpu"])
@pytest.mark.parametrize("model", MODELS)
def test_sites_seen_are_the_models_truth(model: str, target: str) -> None:
    truth = Case(model, "eager_op20.onnx").meta()["truth"]
    sites = compiled(model, target).decisions.sites
    seen = Counter(COUNTED.get(site.kind, site.kind) for site in sites)
    assert {kind: seen[kind] for kind in KINDS} == {k: truth[k] for k in KINDS}
    for site in sites:
        if site.kind in ("attention", "gelu", "swiglu"):
            assert site.outcome == "fused", site


def test_llama_norms_fuse_where_their_matmul_is_free() -> None:
    sites = compiled("llama", "apple_gpu").decisions.sites
    norms = {s.layer.rpartition(".model.")[2]: s for s in sites if s.kind == "rmsnorm"}
    assert {name: s.code for name, s in norms.items()} == {
        "layers.0.input_layernorm": "TSR-F101",
        "layers.0.post_attention_layernorm": None,
        "layers.1.input_layernorm": "TSR-F202",
        "layers.1.post_attention_layernorm": None,
        "norm": "TSR-F202",
    }


@pytest.mark.parametrize("model", MODELS)
def test_refusals_are_true_of_the_ir_they_name(model: str) -> None:
    made = compiled(model, "apple_gpu")
    refused = [s for s in made.decisions.sites if s.outcome == "refused"]
    assert refused
    for site in refused:
        assert site.ops[0] in {op.name for op in made.graph.walk()}
        if site.code in ("TSR-F101", "TSR-F202"):
            assert_producer(site, made.result)


def assert_producer(site: Site, result: CompileResult) -> None:
    """The op that the refusal found does stand above the site's op, the wanted not."""
    (root,) = [
        op
        for op in result.module.walk()
        if getattr(op.attributes.get(SITE), "data", None) == site.id
    ]
    above = [makers(root)[0]]
    if above[0].name == "tessera.add":
        above = makers(above[0])
    names = {op.name for op in above}
    assert site.found is not None
    assert site.wanted not in names
    assert any(name in site.found for name in names), (site, names)


def makers(op: Operation) -> list[Operation]:
    return [v.owner for v in op.operands if isinstance(v.owner, Operation)]


def test_the_two_apple_targets_decide_alike() -> None:
    for model in MODELS:
        gpu, cpu = (
            {s.id: (s.kernel, s.code) for s in compiled(model, t).decisions.sites}
            for t in ("apple_gpu", "apple_cpu")
        )
        assert gpu == cpu


def test_placement_is_what_ran() -> None:
    cpu = compiled("bert", "apple_cpu").decisions.sites
    native = {site.kernel for site in cpu if site.placement == "native"}
    assert native == {"matmul_softmax_matmul", "matmul_gelu"}
    rest = {site.placement for site in cpu if site.kernel not in native}
    assert rest <= {"reference"}
    gpu = compiled("bert", "apple_gpu").decisions.sites
    assert {site.placement for site in gpu} == {None}
