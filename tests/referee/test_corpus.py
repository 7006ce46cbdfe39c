"""Real models: official MLIR accepts what we print of them, and reads the same module."""

from collections.abc import Iterator

import pytest
from xdsl.dialects.builtin import ModuleOp

from tessera.catalog import new_context
from tessera.driver import compile_graph_module
from tessera.frontend.onnx import import_model
from tessera.graph.text import parse_module, print_module
from tests.support.corpus import CONTENTS, Case, cases
from tests.support.modules import difference
from tests.support.referee import COUNTS, judge, needs_mlir, why

FILES = sorted({f for held in CONTENTS.values() for f in held if f.endswith(".onnx")})
FORMS = [(places, generic) for places in (True, False) for generic in (True, False)]


def stages(case: Case) -> Iterator[tuple[str, ModuleOp]]:
    """The modules of one model: as imported, stamped, and for each Apple target."""
    imported = import_model(case.path)
    yield "imported", imported
    compiled = compile_graph_module(imported, "apple_gpu")
    yield "stamped", compiled.graph
    yield "apple_gpu", compiled.module
    yield "apple_cpu", compile_graph_module(imported, "apple_cpu").module


@needs_mlir
@pytest.mark.parametrize("case", cases(*FILES))
def test_official_mlir_reads_every_stage(case: Case) -> None:
    named = dict(stages(case))
    texts = {
        name: print_module(module, debuginfo=True, generic=True)
        for name, module in named.items()
    }
    verdicts = judge(list(texts.values()))
    for (name, text), verdict in zip(texts.items(), verdicts, strict=True):
        assert verdict.accepts, f"{name}: {why(text)}"
        _same(text, verdict.text, name)
        COUNTS["accepted by both"] += 1


def _same(ours: str, theirs: str, name: str) -> None:
    first = parse_module(ours, context=new_context())
    second = parse_module(theirs, context=new_context())
    found = difference(first, second)
    assert found is None, f"{name}: {found}"


@pytest.mark.parametrize("case", cases(*FILES))
def test_text_reads_back_the_same(case: Case) -> None:
    """In both forms, with places and without, the second text is the first."""
    for name, module in stages(case):
        for places, generic in FORMS:
            text = print_module(module, places, generic)
            again = print_module(
                parse_module(text, context=new_context()), places, generic
            )
            assert again == text, f"{name}, places: {places}, generic: {generic}"
