"""The record and its schema."""

import json
from dataclasses import fields, replace

import pytest
from jsonschema import Draft202012Validator

from tessera.audit import render_json
from tessera.decisions import SCHEMA, Document, Site, schema, validate
from tessera.diagnostics import TesseraError
from tests.unit.audit.documents import ATTENTION, full

NAMES = [f.name.rstrip("_") for f in fields(Site)]
# What the first documents of this schema did not have.
TRAIL = {
    "pass",
    "before",
    "after",
    "imported",
    "members",
    "at",
    "call",
    "runs",
    "trail",
}


def test_the_schema_is_one_and_names_every_field():
    found = schema()
    Draft202012Validator.check_schema(found)
    site = found["$defs"]["site"]
    assert list(site["properties"]) == NAMES
    assert sorted(site["required"]) == sorted(set(NAMES) - TRAIL)
    assert found["$id"] == SCHEMA


def test_a_document_comes_back_from_its_text():
    document = full()
    assert Document.loads(document.dumps()) == document
    assert json.loads(render_json(document)) == document.to_json()
    assert Document.from_json(json.loads(render_json(document))) == document


@pytest.mark.parametrize("error", [0.0, 1e-7, float("inf")])
def test_a_measured_error_survives(error):
    document = Document("m", "cpu", "", (replace(ATTENTION, max_error=error),))
    assert Document.loads(document.dumps()).sites[0].max_error == error


def test_a_field_of_a_later_release_is_accepted_and_left_out():
    data = json.loads(full().dumps())
    data["sites"][0]["colour"] = "green"
    assert Document.from_json(data) == full()


BAD = {
    "another schema": ({"schema": "tessera.decisions/2"}, {}),
    "no target": ({"target": None}, {}),
    "an unknown outcome": ({}, {"outcome": "maybe"}),
    "an unknown placement": ({}, {"placement": "moon"}),
    "fused without kernel": ({}, {"kernel": None}),
    "fused without source": ({}, {"source": None}),
    "refused with kernel": ({}, {"outcome": "refused", "code": "TSR-F101"}),
    "refused without code": (
        {},
        {"outcome": "refused", "kernel": None, "source": None},
    ),
    "honoured without intent": ({}, {"intent": None}),
    "contradicted without code": ({}, {"intent_verdict": "contradicted"}),
    "a code of no form": ({}, {"code": "F101"}),
    "a fraction of a launch": ({}, {"launches_saved": 1.5}),
    "ops as text": ({}, {"ops": "matmul"}),
    "an empty id": ({}, {"id": ""}),
    "a digest of no form": ({}, {"before": "abc"}),
    "a member without a place": ({}, {"members": [{"op": "tessera.exp"}]}),
    "a call without operands": ({}, {"call": {"symbol": "exp"}}),
    "a step that removed a fraction": (
        {},
        {"trail": [{"pass": "p", "removed": {"a": 0.5}, "made": {}, "changed": []}]},
    ),
}


@pytest.mark.parametrize(("top", "site"), BAD.values(), ids=BAD.keys())
def test_a_bad_document_is_refused(top, site):
    data = json.loads(Document("m", "cpu", "", (ATTENTION,)).dumps())
    validate(data)
    data.update(top)
    data["sites"][0].update(site)
    with pytest.raises(TesseraError) as caught:
        validate(data)
    assert caught.value.code.id == "TSR-R020"
    assert "$" in caught.value.message


def test_a_document_from_before_the_trail_is_still_read():
    data = json.loads(full().dumps())
    for site in data["sites"]:
        for name in TRAIL:
            del site[name]
    read = Document.from_json(data)
    assert [site.id for site in read.sites] == [site.id for site in full().sites]
    assert {site.imported for site in read.sites} == {()}


@pytest.mark.parametrize("name", sorted(set(NAMES) - TRAIL))
def test_every_field_must_be_there(name):
    data = json.loads(full().dumps())
    del data["sites"][1][name]
    with pytest.raises(TesseraError, match=name):
        validate(data)


@pytest.mark.parametrize("text", ["", "[]", "nul", "{}", "[" * 100_000])
def test_text_that_is_no_document(text):
    with pytest.raises(TesseraError):
        Document.loads(text)
