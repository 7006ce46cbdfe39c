"""MiniLM written in traced Tessera against the model's own implementation."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

import tessera
from examples.minilm import model
from tests.support.paths import REPOSITORY

MINILM = REPOSITORY / "examples" / "minilm"
SENTENCES = (MINILM / "sentences.txt").read_text(encoding="utf-8").splitlines()
TOLERANCE = 1e-4


@pytest.fixture(scope="module")
def arguments() -> tuple[Any, ...]:
    return (model.load_weights(), *model.tokenize(SENTENCES))


@pytest.fixture(scope="module")
def reference() -> np.ndarray:
    """Mean-pooled, normalised states of transformers' BertModel, its own tokenizer."""
    folder = Path(model.folder())
    options: dict[str, Any] = {"local_files_only": True}
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder, **options)
    bert: Any = transformers.BertModel.from_pretrained(folder, **options).eval()
    given = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    with torch.no_grad():
        states = bert(**given).last_hidden_state
    mask = given["attention_mask"][..., None].float()
    mean = (states * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(mean, dim=-1).numpy()


@pytest.mark.parametrize("target", ["cpu", "apple_cpu"])
def test_vectors_are_the_references(
    target: str, arguments: tuple[Any, ...], reference: np.ndarray
) -> None:
    found = tessera.jit(model.embed, target=target)(*arguments)
    assert found.shape == (len(SENTENCES), 384) == (10, 384)
    np.testing.assert_allclose(found, reference, rtol=0, atol=TOLERANCE)


def test_eager_use_gives_the_same(
    arguments: tuple[Any, ...], reference: np.ndarray
) -> None:
    np.testing.assert_allclose(
        model.embed(*arguments), reference, rtol=0, atol=TOLERANCE
    )


def test_the_vectors_kept_for_the_demo_are_the_references(
    reference: np.ndarray,
) -> None:
    kept = np.load(MINILM / "reference.npy")
    np.testing.assert_allclose(kept, reference, rtol=0, atol=1e-6)


@pytest.mark.parametrize("target", ["apple_cpu", "apple_gpu"])
def test_every_attention_and_gelu_is_fused_by_its_intent(
    target: str, arguments: tuple[Any, ...]
) -> None:
    audit = tessera.jit(model.embed, target=target).audit(*arguments)
    fused = [site for site in audit.sites if site.outcome == "fused"]
    assert Counter(site.kind for site in fused) == {"attention": 6, "gelu": 6}
    assert {site.source for site in fused} == {"descriptor"}
    seen = Counter(site.kind for site in audit.sites)
    assert (seen["attention"], seen["gelu"]) == (6, 6)
    layers = {site.layer for site in fused if site.kind == "attention"}
    assert layers == {f"layer.{i}.attention" for i in range(6)}


def test_other_lengths_and_batches(arguments: tuple[Any, ...]) -> None:
    weights = arguments[0]
    compiled = tessera.jit(model.embed, target="apple_cpu")
    for sentences in (["one"], [SENTENCES[0] * 40, ""]):
        ids, mask = model.tokenize(sentences)
        wanted = model.embed(weights, ids, mask)
        np.testing.assert_allclose(compiled(weights, ids, mask), wanted, atol=TOLERANCE)
