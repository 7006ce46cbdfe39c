"""Digests: of the form alone, and of all of it."""

import subprocess
import sys

import pytest

from tessera.driver import compile_graph_module
from tessera.graph.text import parse_module

MODEL = """
func.func @main(%x: tensor<3x4xf32> {tessera.name = "x"})
    -> (tensor<3x32xf32> {tessera.name = "y"}) {
  %w = "tessera.const"() {value = dense<0.5> : tensor<4x32xf32>} : () -> tensor<4x32xf32>
  %s = "tessera.const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %h = "tessera.matmul"(%x, %w) : (tensor<3x4xf32>, tensor<4x32xf32>) -> tensor<3x32xf32>
  %t = "tessera.mul"(%h, %s) : (tensor<3x32xf32>, tensor<f32>) -> tensor<3x32xf32>
  %y = "tessera.softmax"(%t) : (tensor<3x32xf32>) -> tensor<3x32xf32>
  func.return %y : tensor<3x32xf32>
}
"""


def digests(text: str, target: str = "apple_cpu") -> tuple[str | None, str | None]:
    """Before and after of the one site of a model."""
    (site,) = compile_graph_module(parse_module(text), target).decisions.sites
    return site.before, site.after


def test_recompiling_changes_nothing():
    assert digests(MODEL) == digests(MODEL)
    assert None not in digests(MODEL)


def test_another_process_says_the_same(tmp_path):
    (tmp_path / "m.mlir").write_text(MODEL)
    code = (
        "from tessera.driver import compile_graph_module as c\n"
        "from tessera.graph.text import parse_module as p\n"
        "s, = c(p(open('m.mlir').read()), 'apple_cpu').decisions.sites\n"
        "print(s.before, s.after)"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()[0]
        for seed in ("1", "2")
    }
    assert found == {digests(MODEL)[0]}


UNRELATED = {
    "other weights": ("dense<0.5>", "dense<0.75>"),
    "other names": ("%h", "%other"),
    "a default spelled out": (
        '"tessera.softmax"(%t)',
        '"tessera.softmax"(%t) {axis = 1}',
    ),
    "an op elsewhere": (
        "  func.return %y",
        '  %e = "tessera.exp"(%y) : (tensor<3x32xf32>) -> tensor<3x32xf32>\n'
        "  func.return %e",
    ),
    "another tool's note": ('"tessera.mul"(%h, %s)', '"tessera.mul"(%h, %s) {a.b = 1}'),
}


@pytest.mark.parametrize("edit", UNRELATED.values(), ids=UNRELATED.keys())
def test_an_unrelated_edit_changes_nothing(edit):
    assert edit[0] in MODEL
    assert digests(MODEL.replace(*edit)) == digests(MODEL)


RELATED = {
    "another scale": ("dense<0.25>", "dense<0.75>"),
    "another op": ('"tessera.mul"', '"tessera.div"'),
    "another size": ("3x", "5x"),
    "another type": ("f32", "f16"),
}


@pytest.mark.parametrize("edit", RELATED.values(), ids=RELATED.keys())
def test_an_edit_of_the_site_changes_both(edit):
    before, after = digests(MODEL)
    found = digests(MODEL.replace(*edit))
    assert before != found[0]
    assert after != found[1]


def test_how_operands_hang_together_counts():
    same = MODEL.replace(
        "dense<0.5> : tensor<4x32xf32>", "dense<0.5> : tensor<4x4xf32>"
    )
    square = (
        same.replace("tensor<4x32xf32>", "tensor<4x4xf32>")
        .replace("tensor<3x32xf32>", "tensor<4x4xf32>")
        .replace("tensor<3x4xf32>", "tensor<4x4xf32>")
    )
    assert digests(square)[0] != digests(square.replace("(%x, %w)", "(%x, %x)"))[0]


def test_a_target_changes_what_stands_there_alone():
    cpu, gpu = digests(MODEL), digests(MODEL, "apple_gpu")
    assert cpu[0] == gpu[0]
    assert cpu[1] != gpu[1]
