"""What a compilation does grows with the number of ops, and never with depth of recursion.

Work is counted, never timed: the calls of Python functions that a compilation makes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from benchmarks.chains import CHAINS, chain, layers
from benchmarks.llama import llama_onnx
from tessera.driver import compile_graph_module
from tessera.frontend.onnx import import_proto
from tessera.fusion import match as matching
from tessera.target.dialect import KERNEL, CallOp


def calls(run: Callable[[], object]) -> int:
    """How many Python functions are called."""
    count = 0

    def called(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        run()
    finally:
        sys.setprofile(before)
    return count


def size(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk())


def llama(count: int) -> ModuleOp:
    return import_proto(llama_onnx(count), "llama.onnx")


MAKERS: dict[str, Callable[[int], ModuleOp]] = {
    **{kind: lambda n, kind=kind: chain(kind, 100 * n) for kind in CHAINS},
    "layers": layers,
    "llama": llama,
}


@pytest.mark.parametrize("kind", MAKERS)
def test_twice_the_ops_is_twice_the_work(kind: str) -> None:
    work: list[float] = []
    compile_graph_module(MAKERS[kind](1))  # what is made once is made
    for count in (3, 6):
        module = MAKERS[kind](count)
        work.append(calls(lambda m=module: compile_graph_module(m)) / size(module))
    assert work[1] < 1.05 * work[0]


def test_a_match_is_tried_where_a_chain_may_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A layer has six products, two norms and a softmax: few of them end a chain."""
    tried = 0
    take = matching._Matcher.run

    def run(self: Any, pattern: Any) -> Any:
        nonlocal tried
        tried += 1
        return take(self, pattern)

    monkeypatch.setattr(matching._Matcher, "run", run)
    module = llama(8)
    compile_graph_module(module)
    assert tried < size(module) / 2


@pytest.mark.parametrize("kind", CHAINS)
def test_a_chain_of_5000_ops_needs_no_deep_stack(kind: str) -> None:
    module = chain(kind, 5000)
    depth = len_of_stack()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(depth + 150)
    try:
        compile_graph_module(module)
    finally:
        sys.setrecursionlimit(limit)


def len_of_stack() -> int:
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


@pytest.mark.slow
def test_20000_ops_compile() -> None:
    module = layers(540)
    compiled = compile_graph_module(module)
    fused = [c for c in compiled.walk() if isinstance(c, CallOp) and c.note(KERNEL)]
    assert size(module) > 19_900
    assert len(fused) >= 3 * 540
