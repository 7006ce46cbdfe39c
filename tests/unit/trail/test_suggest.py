"""Suggestions: for every refusal that a lit case shows, what to change and where."""

import re
from collections.abc import Iterator

import pytest

from tessera.decisions import Site
from tessera.diagnostics import CODES
from tessera.driver import compile_graph_module
from tessera.graph.text import parse_module
from tessera.record import document
from tests.support.paths import LIT
from tests.unit.cli.models import GELU

FILES = sorted((LIT / "fusion").glob("*.mlir"))


def refusals(text: str, name: str) -> Iterator[Site]:
    for part in re.split(r"^// -----.*$", text, flags=re.M):
        made = compile_graph_module(parse_module(part, name), "apple_cpu")
        found = document(made.result, made.module, "", {}, None, made.source)
        yield from (site for site in found.sites if site.code)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_suggestion_names_a_place_and_is_no_copy_of_the_help(file):
    for site in refusals(file.read_text(), file.name):
        assert site.code in CODES
        assert site.suggestion
        assert f"({file.name}:" in site.suggestion
        assert site.suggestion != CODES[site.code].help
        assert not site.suggestion.endswith(".")


EDITS = {
    "cast": (
        '%y = "tessera.gelu"(%h) : (tensor<?x8xf32>) -> tensor<?x8xf32>',
        '%c = "tessera.cast"(%h) : (tensor<?x8xf32>) -> tensor<?x8xf16>\n'
        '  %g = "tessera.gelu"(%c) {tessera.fusion.intent = "matmul_gelu"}'
        " : (tensor<?x8xf16>) -> tensor<?x8xf16>\n"
        '  %y = "tessera.cast"(%g) : (tensor<?x8xf16>) -> tensor<?x8xf32>',
        "drop the cast (m.mlir:6:8), so that the chain to the gelu (m.mlir:7:8) stays in f32",
    ),
    "unknown kernel": (
        '"tessera.gelu"(%h)',
        '"tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gel"}',
        "stamp the gelu (m.mlir:6:8) with 'matmul_gelu', or drop the intent",
    ),
    "another reader": (
        "func.return %y",
        '%z = "tessera.add"(%y, %h)'
        " : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>\n"
        "  func.return %z",
        "give the add (m.mlir:7:8) its own matmul",
    ),
    "a view": (
        '%y = "tessera.gelu"(%h) : (tensor<?x8xf32>) -> tensor<?x8xf32>',
        '%c = "tessera.reshape"(%h) : (tensor<?x8xf32>) -> tensor<?x4xf32>\n'
        '  %g = "tessera.gelu"(%c) : (tensor<?x4xf32>) -> tensor<?x4xf32>\n'
        '  %y = "tessera.reshape"(%g) : (tensor<?x4xf32>) -> tensor<?x8xf32>',
        "move the reshape (m.mlir:6:8) (?x8 -> ?x4) out of the chain",
    ),
}


@pytest.mark.parametrize(("old", "new", "wanted"), EDITS.values(), ids=EDITS.keys())
def test_what_is_suggested(old, new, wanted):
    assert old in GELU
    found = [site.suggestion for site in refusals(GELU.replace(old, new), "m.mlir")]
    assert [text for text in found if text and text.startswith(wanted)], found
