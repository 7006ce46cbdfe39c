"""Real models through Tessera: what they compute, what was fused, and why the rest not.

    python examples/demo.py

First MiniLM, written in traced Python, compares ten sentences. Then GPT-2, BERT and Llama
come from ONNX files, are compiled for both Apple targets and run on this machine's CPU.
Every number is checked; the exit code is 1 if a check fails.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from time import perf_counter

import numpy as np
from minilm.model import embed, load_weights, tokenize
from rich.console import Console
from rich.table import Table

import tessera
from tessera.audit import render_text
from tessera.decisions import Document
from tessera.driver import compile_graph_module
from tessera.frontend.onnx import import_model
from tessera.runtime import execute

CORPUS = Path(__file__).resolve().parents[1] / "tests" / "corpus"
MINILM = Path(__file__).resolve().parent / "minilm"
MODELS = {"gpt2": "GPT-2", "bert": "BERT", "llama": "Llama"}
TOLERANCE = 1e-4

console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
failures: list[str] = []


def check(what: str, good: bool, detail: str) -> None:
    """Print one checked fact, and remember it if it does not hold."""
    console.print(
        f"  [green]✓[/] {what}: {detail}" if good else f"  [red]✗ {what}: {detail}[/]"
    )
    if not good:
        failures.append(what)


def similarities(sentences: list[str], vectors: np.ndarray) -> Table:
    """The cosine of each pair of sentences, the brighter the closer."""
    table = Table(title="How alike the sentences are", title_style="bold", box=None)
    table.add_column("")
    for number in range(1, len(sentences) + 1):
        table.add_column(f"{number}", justify="right")
    for number, row in enumerate(vectors @ vectors.T):
        cells = [f"[color({236 + int(19 * max(c, 0))})]{c:.2f}[/]" for c in row]
        cells[number] = "·"
        table.add_row(f"{number + 1:2} {sentences[number]}", *cells)
    return table


def minilm() -> None:
    """Embed the sentences, compare with torch's vectors, show the decisions."""
    console.rule("[bold]all-MiniLM-L6-v2, traced Python → apple_cpu")
    sentences = (MINILM / "sentences.txt").read_text(encoding="utf-8").splitlines()
    with console.status("reading weights, tokenising"):
        weights, (ids, mask) = load_weights(), tokenize(sentences)
    compiled = tessera.jit(embed, target="apple_cpu")
    with console.status("tracing, compiling, running"):
        start = perf_counter()
        vectors = compiled(weights, ids, mask)
        seconds = perf_counter() - start
    console.print(similarities(sentences, vectors))
    console.print(f"\n  traced, compiled and run in {seconds:.1f} s")
    error = float(np.abs(vectors - np.load(MINILM / "reference.npy")).max())
    check("vectors", error <= TOLERANCE, f"max error {error:.1e} against PyTorch's")
    audit = compiled.audit(weights, ids, mask)
    fused(audit, {"attention": 6, "gelu": 6})
    console.print()
    print(render_text(audit))


def fused(document: Document, wanted: dict[str, int]) -> None:
    """Check that every site of these kinds is seen, and fused."""
    seen = Counter(site.kind for site in document.sites)
    done = Counter(site.kind for site in document.sites if site.outcome == "fused")
    for kind, count in wanted.items():
        good = seen[kind] == done[kind] == count
        check(kind, good, f"{done[kind]} of {count} fused")


def onnx_model(name: str, title: str) -> None:
    """Compile one exported model for both targets, run it, compare with its outputs."""
    console.rule(f"[bold]{title}, ONNX → apple_gpu, apple_cpu")
    folder = CORPUS / name
    with console.status("importing, compiling"):
        module = import_model(folder / "eager_op20.onnx")
        gpu, cpu = (
            compile_graph_module(module, target=target, model=title)
            for target in ("apple_gpu", "apple_cpu")
        )
    kept = np.load(folder / "io.npz")
    sides = {"in": {}, "out": {}}
    for key in kept.files:
        side, _, value = key.partition(":")
        sides[side][value] = kept[key]
    results = execute(cpu.program(), sides["in"])
    for output, expected in sides["out"].items():
        error = float(np.abs(results[output] - expected).max() / np.abs(expected).max())
        check(output, error <= TOLERANCE, f"max error {error:.1e} of scale")
    truth = json.loads((folder / "meta.json").read_text(encoding="utf-8"))["truth"]
    ran = cpu.decisions
    fused(
        ran,
        {kind: truth[kind] for kind in ("attention", "gelu", "swiglu") if truth[kind]},
    )
    same = {s.id: s.kernel for s in gpu.decisions.sites} == {
        s.id: s.kernel for s in ran.sites
    }
    check("apple_gpu", same, "the same decisions; a Mac is needed to run it")
    console.print()
    print(render_text(ran))


def main() -> int:
    """Run everything; 1 when a check failed."""
    minilm()
    for name, title in MODELS.items():
        onnx_model(name, title)
    console.rule(
        "[bold red]failed: " + ", ".join(failures)
        if failures
        else "[bold green]all good"
    )
    return bool(failures)


if __name__ == "__main__":
    raise SystemExit(main())
