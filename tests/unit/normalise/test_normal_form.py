"""Every normalising pass keeps the meaning, is idempotent, and takes linear time."""

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.normalise import NORMALISE, NormaliseGraph
from tests.support.graphs import check_pass, names, random_graph, run, scalar
from tests.support.work import work

PASSES = [*dict.fromkeys(NORMALISE), NormaliseGraph]


@pytest.mark.parametrize("item", PASSES, ids=lambda item: item.name)
@given(seed=st.integers(0, 2**32))
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.differing_executors],
)
def test_meaning_is_kept_and_a_second_run_changes_nothing(
    item: type[ModulePass], seed: int
) -> None:
    check_pass(item(), *random_graph(seed))


@pytest.mark.parametrize("item", PASSES, ids=lambda item: item.name)
def test_one_name_in_three_spellings(item: type[ModulePass]) -> None:
    words = item.name.removeprefix("tessera-").split("-")
    assert item.__module__.split(".")[-1] == "_".join(words)
    assert item.__name__ == "".join(map(str.title, words))


def test_locations_are_kept() -> None:
    from tessera.graph.locations import file_location, location_of

    graph = GraphBuilder()
    x = graph.input("x", "f32", (2, 3))
    two = graph.const(scalar(2.0), location=file_location("m.py", 1, 1))
    k = graph.op("add", two, two, location=file_location("m.py", 2, 1))
    t = graph.op(
        "transpose", x, permutation=(1, 0), location=file_location("m.py", 3, 1)
    )
    m = graph.op("matmul", x, t, location=file_location("m.py", 4, 1))
    y = graph.op("mul", m, k, location=file_location("m.py", 5, 1))
    module = graph.module([("y", y)])
    run(module, NormaliseGraph())
    ops = [op for op in module.walk() if op.name.startswith("tessera.")]
    places = {op.name.removeprefix("tessera."): location_of(op).line for op in ops}
    assert places == {"const": 2, "matmul": 4, "mul": 5}


def chain(length: int) -> ModuleOp:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (2, 2))
    for i in range(length // 5):
        x = graph.op("add", x, graph.const(scalar(i)))
        x = graph.op("mul", x, graph.const(scalar(1)))
        x = graph.op("tanh", x)
    return graph.module([("y", x)])


def test_a_deep_chain_needs_no_recursion() -> None:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (2,))
    one = graph.const(scalar(1.0))
    for _ in range(5000):
        x = graph.op("add", x, one)
    module = graph.module([("y", x)])
    run(module, NormaliseGraph())
    assert len(names(module)) == 5000
    zero = np.zeros(2, np.float32)
    assert evaluate(module, {"x": zero})["y"].tolist() == [5000.0, 5000.0]


def test_a_deep_constant_chain_folds() -> None:
    graph = GraphBuilder()
    x = graph.const(scalar(0.0))
    one = graph.const(scalar(1.0))
    for _ in range(5000):
        x = graph.op("add", x, one)
    module = graph.module([("y", x)])
    run(module, NormaliseGraph())
    assert names(module) == []
    assert evaluate(module, {})["y"] == 5000.0


def test_a_deep_dead_chain_goes() -> None:
    graph = GraphBuilder()
    x = dead = graph.input("x", "f32", (2,))
    for _ in range(5000):
        dead = graph.op("tanh", dead)
    module = graph.module([("y", x)])
    run(module, NormaliseGraph())
    assert names(module) == []


def normalise(module: ModuleOp) -> None:
    for item in NORMALISE:
        run_only(item(), module)


def test_work_grows_linearly() -> None:
    small, large = (work(partial(normalise, chain(n))) for n in (1_000, 4_000))
    assert large < 1.1 * 4 * small


def run_only(item: ModulePass, module: ModuleOp) -> None:
    from tessera.graph.context import graph_context

    item.apply(graph_context(), module)
