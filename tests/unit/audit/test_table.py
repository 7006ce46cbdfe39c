"""The table: snapshots, widths, colour, and what is collapsed."""

import re
from dataclasses import replace

import pytest
from rich.cells import cell_len

from tessera.audit import render_text
from tessera.audit.rows import collapse, ranges
from tessera.audit.table import show_bytes
from tessera.decisions import Document
from tests.support.golden import Golden
from tests.unit.audit.documents import ATTENTION, NORM, full, layer

ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
WIDTHS = (80, 100, 140)


@pytest.mark.golden
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("every", [False, True], ids=["collapsed", "full"])
def test_snapshot(width, every, golden: Golden):
    name = f"audit/{'full' if every else 'table'}-{width}.txt"
    golden.check(name, render_text(full(), width=width, full=every))


@pytest.mark.parametrize("width", [72, *WIDTHS, 200])
def test_no_line_is_wider_than_asked(width):
    for every in (False, True):
        for line in render_text(full(), width=width, full=every).splitlines():
            assert cell_len(line) <= width
            assert line == line.rstrip()


def test_colour_changes_nothing_but_colour():
    plain = render_text(full(), width=100)
    colored = render_text(full(), width=100, color=True)
    assert "\x1b" not in plain
    assert "\x1b[32m" in colored
    assert ESCAPE.sub("", colored) == plain


def test_every_fact_is_there():
    text = " ".join(render_text(full(), width=140).split())
    for fact in (
        "models/encoder.onnx",
        "target apple_cpu · device host CPU · 10 sites",
        "encoder.layer.0–5.attention.self ×6",
        "✓ matmul_softmax_matmul descriptor reference",
        "✗ refused",
        "○ not profitable",
        "TSR-F112 the intent matmul_softmax is contradicted: the terminal op: found gelu",
        "TSR-F102 (matmul_gelu) uses of %h: found 2; wanted 1",
        "1.2 ms fused; wanted less than 0.9 ms unfused",
        "7 of 10 sites fused: attention 6/6, gelu 1/2, layernorm 0/1, swiglu 0/1",
        "saves 18.0 MiB, 24 launches per run",
        "give the other reader its own computation",
        "tessera explain TSR-F201",
    ):
        assert fact in text


def test_full_has_a_row_and_a_place_for_every_site():
    text = render_text(full(), width=140, full=True)
    for site in full().sites:
        assert site.layer.removeprefix("model.") in text
        assert site.location in text


def test_a_layer_that_differs_keeps_its_row():
    sites = [layer(ATTENTION, number) for number in range(6)]
    sites[3] = replace(sites[3], source="rediscovered")
    rows = collapse(sites)
    assert [row.label for row in rows] == [
        "model.encoder.layer.0–2,4–5.attention.self",
        "model.encoder.layer.3.attention.self",
    ]


def test_numbers_collapse_only_to_what_is_there():
    labels = ["l.0.e.0", "l.0.e.1", "l.1.e.0", "l.1.e.1"]
    sites = [replace(NORM, id=name, layer=name) for name in labels]
    assert [row.label for row in collapse(sites)] == ["l.0–1.e.0–1"]
    labels = [row.label for row in collapse(sites[:3])]
    assert labels == ["l.0–1.e.0", "l.0.e.1"]


def test_names_with_numbers_in_them_are_not_numbers():
    sites = [replace(NORM, id=n, layer=n) for n in ("h.ln_1", "h.ln_2", "h.1x", "h.2x")]
    assert len(collapse(sites)) == 4


def test_sites_without_a_layer_are_told_by_their_place():
    sites = tuple(replace(NORM, id=f"main/layernorm#{n}", layer="") for n in range(3))
    text = render_text(Document("m.mlir", "apple_cpu", "", sites))
    assert "model.onnx:4:1 ×3" in text
    bare = tuple(replace(site, location="") for site in sites)
    assert "main/layernorm#1" in render_text(Document("", "apple_cpu", "", bare))


def test_a_document_without_sites_says_so():
    assert "never fuses" in render_text(Document("m", "cpu"))
    assert "No site" in render_text(Document("m", "apple_cpu"))


def test_small_things():
    assert ranges([5, 0, 1, 2]) == "0–2,5"
    assert [show_bytes(n) for n in (0, 1023, 1536, 2**30, 300 * 2**20)] == [
        "0 B",
        "1023 B",
        "1.5 KiB",
        "1.0 GiB",
        "300 MiB",
    ]
