"""`tessera why`: the story of one site."""

import json
import re
from dataclasses import replace

import pytest

from tessera.audit import render_story
from tessera.decisions import Document, validate
from tests.support.golden import Golden
from tests.support.paths import CORPUS
from tests.unit.cli.conftest import Tessera
from tests.unit.cli.models import GELU

STAMPED = GELU.replace(
    '"tessera.gelu"(%h)',
    '"tessera.gelu"(%h) {tessera.fusion.intent = "matmul_softmax"}',
)
STORIES = {
    "fused": (CORPUS / "gpt2" / "eager_op20.onnx", "gelu#0"),
    "raised": (CORPUS / "llama" / "eager_op20.onnx", "swiglu#0"),
    "refused": (CORPUS / "llama" / "eager_op20.onnx", "rmsnorm#2"),
    "shared": ("shared.mlir", "gelu#0"),
    "contradicted": ("stamped.mlir", "main/gelu#0"),
}


@pytest.fixture
def models(tessera: Tessera, tmp_path, monkeypatch) -> Tessera:
    (tmp_path / "stamped.mlir").write_text(STAMPED)
    for model in ("gpt2", "llama"):
        link = tmp_path / f"{model}.onnx"
        link.symlink_to(CORPUS / model / "eager_op20.onnx")
    monkeypatch.setenv("COLUMNS", "80")
    return tessera


@pytest.mark.golden
@pytest.mark.parametrize("name", STORIES)
def test_story(name, models: Tessera, golden: Golden):
    model, site = STORIES[name]
    path = model if isinstance(model, str) else f"{model.parent.name}.onnx"
    ended = models("why", path, site)
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert max(map(len, ended.out.splitlines())) <= 80
    golden.check(f"why/{name}.txt", re.sub(r"\b[0-9a-f]{32}\b", "…", ended.out))


def test_a_site_by_id_by_its_end_and_by_number(models: Tessera):
    name = "main/model.transformer.h.1.attn/attention#0"
    said = [
        models("why", "gpt2.onnx", site)
        for site in (name, "h.1.attn/attention#0", "attention#1", "h.1.attn")
    ]
    assert {ended.code for ended in said} == {0}
    assert len({ended.out for ended in said}) == 1
    assert said[0].out.startswith(name)


@pytest.mark.parametrize(
    ("site", "hint"),
    [
        ("attenion#0", "did you mean attention#0"),
        ("attention#2", "the model has 2 attention sites; give attention#0 to"),
        ("main/model.transformer.h.1.atn/attention#0", "h.1.attn/attention#0"),
        ("attn/attention#0", "could be 2 sites: main/model.transformer.h.0.attn"),
        ("zzz", "`tessera why MODEL` lists the sites"),
    ],
)
def test_an_unknown_site(site, hint, models: Tessera):
    ended = models("why", "gpt2.onnx", site)
    assert ended.code == 2
    assert ended.out == ""
    assert "[TSR-R066]" in ended.err
    assert hint in ended.err


def test_without_a_site_all_are_listed(models: Tessera):
    ended = models("why", "gpt2.onnx")
    assert ended.code == 0
    for fact in ("attention#1", "main/model.transformer.ln_f/layernorm#0", "TSR-F201"):
        assert fact in ended.out
    assert "no sites" in models("why", "gpt2.onnx", "--target", "cpu").out


def test_json_is_a_document_of_that_site(models: Tessera):
    data = json.loads(models("why", "gpt2.onnx", "gelu#1", "--format", "json").out)
    validate(data)
    (site,) = data["sites"]
    assert site["id"] == "main/model.transformer.h.1.mlp.act/gelu#0"
    assert site["trail"][0]["pass"] == "tessera-raise-elementwise"


def test_an_artifact_tells_what_its_record_holds(models: Tessera):
    assert models("compile", "gpt2.onnx", "-o", "art").code == 0
    told = models("why", "art", "attention#0").out
    direct = models("why", "gpt2.onnx", "attention#0").out
    assert "not in the record" in told
    part = direct.partition("\nread as")[2]
    assert part
    assert told.partition("\nread as")[2] == part


def test_a_terminal_gets_colour_and_a_pipe_none(models: Tessera):
    models("compile", "gelu.mlir", "-o", "art")
    text = models("audit", "art", "--format", "json").out
    document = Document.loads(text)
    story = render_story(document, document.sites[0], width=80, color=True)
    assert "\x1b[" in story


@pytest.mark.parametrize("model", ["gpt2", "llama", "bert"])
def test_every_story_fits_a_narrow_terminal(model, models: Tessera):
    path = CORPUS / model / "eager_op20.onnx"
    text = models("audit", path, "--format", "json").out
    document = replace(Document.loads(text), model=model)
    for site in document.sites:
        deep = replace(site, id=f"main/{'a.very.deep.scope.' * 6}{site.id}")
        lines = render_story(document, deep, width=80).splitlines()
        assert max(map(len, lines)) <= 80
        assert "".join(line.strip() for line in lines[:3]).startswith(deep.id)
