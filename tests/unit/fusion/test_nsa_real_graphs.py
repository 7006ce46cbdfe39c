"""Spelled-out native sparse attention is one fused site, or none, and never other numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tessera.decisions import Site
from tessera.driver import Compiled, compile_graph_module
from tessera.frontend.onnx import import_model
from tessera.runtime import execute
from tests.support.chains import run
from tests.support.corpus import Case, cases
from tests.support.sparse import Arrays, Sizes, Spelling
from tests.unit.traced.support import traced, traced_module

FUSED = ("nsa", "fused", "native_sparse_attn", "composite_op")
ODD = Sizes()
OVERLAPPING = Sizes(
    batch=1, heads=6, groups=3, tokens=29, width=4,
    length=4, stride=2, block=6, top_k=3, window=7,
)  # fmt: skip
SHARED = replace(ODD, heads=3, groups=1, tokens=24, block=8, top_k=2)
PLAIN = replace(ODD, heads=2, groups=2, tokens=16, length=2, stride=2, block=2, top_k=4)
SIZES = {"odd": ODD, "overlap": OVERLAPPING, "shared": SHARED, "plain": PLAIN}
WAYS = (
    *("where", "added masks", "scaled q", "logits", "compared", "gathered heads"),
    *("stacked", "rows first", "window first"),
)


def compiled(spelling: Spelling, inputs: Arrays, target: str = "apple_cpu") -> Compiled:
    return compile_graph_module(traced_module(spelling, **inputs), target)


def told(site: Site) -> tuple[Any, ...]:
    return site.kind, site.outcome, site.kernel, site.source


def fused(spelling: Spelling) -> Site:
    """The one site of a spelling; cpu and apple_cpu compute what it means."""
    inputs = spelling.sizes.inputs()
    wanted = traced(spelling, **inputs)
    sites: list[Site] = []
    for target in ("cpu", "apple_cpu", "apple_gpu"):
        made = compiled(spelling, inputs, target)
        (found,) = run(made, made_inputs(made, inputs)).values()
        np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-5)
        sites += made.decisions.sites
    first, second = sites
    assert told(first) == told(second) == FUSED
    assert first.semantics == second.semantics
    return first


def made_inputs(made: Compiled, inputs: Arrays) -> Arrays:
    return {value.name: inputs[value.name] for value in made.program().inputs}


def options(site: Site, *names: str) -> tuple[Any, ...]:
    return tuple(site.semantics[name] for name in names)


@pytest.mark.parametrize("case", cases(models=("nsa",)))
@pytest.mark.parametrize("target", ["cpu", "apple_cpu", "apple_gpu"])
def test_the_exported_model_is_one_site(case: Case, target: str) -> None:
    made = compile_graph_module(import_model(case.path), target)
    sites = [told(site) for site in made.decisions.sites]
    assert sites == ([] if target == "cpu" else [FUSED])
    if target == "apple_gpu":
        return
    results = execute(made.program(), case.inputs())
    for name, wanted in case.outputs().items():
        np.testing.assert_allclose(results[name], wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_read_from_the_program(name: str) -> None:
    s = SIZES[name]
    site = fused(Spelling(s))
    assert options(site, "window_size", "block_size", "top_k") == (
        *(s.window, s.block, s.top_k),
    )
    assert options(site, "cmp_len", "cmp_stride") == (s.length, s.stride)
    assert options(site, "scale") == (pytest.approx(s.width**-0.5),)


@pytest.mark.parametrize("way", WAYS)
def test_other_spellings_are_the_same_call(way: str) -> None:
    usual = fused(Spelling(ODD))
    site = fused(Spelling(ODD, ways=frozenset({way})))
    options = dict(site.semantics or {}), dict(usual.semantics or {})
    if way == "scaled q":
        assert [o.pop("scale") for o in options] == [pytest.approx(8**-0.5)] * 2
    assert options[0] == options[1]


@pytest.mark.parametrize(("init", "local"), [(0, 1), (1, 1), (1, 2), (0, 0)])
def test_forced_blocks_are_told_apart(init: int, local: int) -> None:
    sizes = replace(ODD, tokens=40, top_k=4)
    site = fused(Spelling(sizes, init, local))
    assert options(site, "init_blocks", "local_blocks") == (init, local)
    assert options(site, "top_k") == (4,)


def test_scores_of_the_programs_own_are_an_operand() -> None:
    spelling = Spelling(replace(ODD, tokens=24), ways=frozenset({"own scores"}))
    inputs = spelling.sizes.inputs()
    made = compiled(spelling, inputs)
    kinds = [told(site) for site in made.decisions.sites]
    assert FUSED in kinds
    assert not [kind for kind, *_ in kinds if kind == "attention"]
    (found,) = run(made, inputs).values()
    np.testing.assert_allclose(found, traced(spelling, **inputs), rtol=0, atol=2e-5)


WRONG = {
    "values": ("TSR-K605", "operands"),
    "mask": ("TSR-K606", "window"),
    "rows": ("TSR-K606", "compressed"),
    "ties": ("TSR-K607", "selection"),
    "threshold": ("TSR-K607", "selection"),
    "bias": ("TSR-K608", "scores"),
    "scale": ("TSR-K608", "scale"),
    "gate": ("TSR-K610", "gate"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_nearly_it_is_refused_and_runs_as_written(wrong: str) -> None:
    spelling = Spelling(replace(ODD, tokens=24), wrong=wrong)
    inputs = spelling.sizes.inputs()
    made = compiled(spelling, inputs)
    (site,) = [site for site in made.decisions.sites if site.kind == "nsa"]
    assert (site.code, site.predicate) == WRONG[wrong]
    assert (site.outcome, site.kernel) == ("refused", None)
    (found,) = run(made, inputs).values()
    np.testing.assert_allclose(found, traced(spelling, **inputs), rtol=0, atol=2e-5)


def test_a_mask_from_outside_is_refused() -> None:
    def padded(padding: Any, **arrays: Any) -> Any:
        class Padded(Spelling):
            def attend(self, logits: Any, keep: Any, v: Any) -> Any:
                return super().attend(logits, keep & padding, v)

        return Padded(ODD)(**arrays)

    inputs = {"padding": np.ones((13, 13), np.bool_), **ODD.inputs()}
    made = compile_graph_module(traced_module(padded, **inputs), "apple_cpu")
    (site,) = [site for site in made.decisions.sites if site.kind == "nsa"]
    assert (site.code, site.predicate) == ("TSR-K609", "samples")


def test_two_layers_are_two_sites() -> None:
    spelling = Spelling(ODD)

    def twice(q: Any, **rest: Any) -> Any:
        return spelling(q=spelling(q=q, **rest), **rest)

    made = compile_graph_module(traced_module(twice, **ODD.inputs()), "apple_cpu")
    assert [told(site) for site in made.decisions.sites] == [FUSED, FUSED]
