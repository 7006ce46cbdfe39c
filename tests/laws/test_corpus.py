"""The committed part of the corpus, and the list of what is not committed, are true."""

from pathlib import Path

import pytest

from tests.support.corpus import CONTENTS, Case, cases, full_corpus

DEMO_MODELS = ("bert", "gpt2", "llama")


@pytest.mark.parametrize("case", cases("eager_op20.onnx", models=DEMO_MODELS))
def test_the_demo_models_are_committed(case: Case) -> None:
    assert case.committed
    assert case.path.is_file()
    assert set(case.meta()["inputs"]) == set(case.inputs())
    assert set(case.meta()["outputs"]) == set(case.outputs())


@pytest.mark.full_corpus
def test_the_contents_name_what_the_full_corpus_holds() -> None:
    root = full_corpus()
    assert root is not None
    held = {
        folder.name: sorted(p.name for p in folder.iterdir() if is_model(p))
        for folder in sorted(root.iterdir())
        if folder.is_dir()
    }
    assert held == CONTENTS


@pytest.mark.full_corpus
@pytest.mark.parametrize("model", [*CONTENTS])
def test_every_model_says_what_it_holds(model: str) -> None:
    root = full_corpus()
    assert root is not None
    for file in CONTENTS[model]:
        case = Case(model, file)
        assert case.meta()["truth"]
        assert case.inputs()
        assert case.outputs()


def is_model(path: Path) -> bool:
    return path.suffix in {".onnx", ".mlir"}
