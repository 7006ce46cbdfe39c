"""Running a module op by op: inputs by name, defaults, and errors that say where."""

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tessera.diagnostics import TesseraError
from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.locations import file_location
from tessera.graph.types import DYN

ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


def doubled() -> ModuleOp:
    graph = GraphBuilder()
    x = graph.input("x", "f32", (DYN, 3))
    k = graph.input("k", "f32", (), np.asarray(2, np.float32))
    return graph.module([("y", graph.op("mul", x, k)), ("x", x)])


def test_results_have_names() -> None:
    results = evaluate(doubled(), {"x": ROWS})
    assert list(results) == ["y", "x"]
    assert (results["y"] == 2 * ROWS).all()


def test_a_default_gives_way_to_an_input() -> None:
    results = evaluate(doubled(), {"x": ROWS, "k": np.asarray(3, np.float32)})
    assert (results["y"] == 3 * ROWS).all()


@pytest.mark.parametrize(
    ("inputs", "text"),
    [
        ({}, "input 'x' is missing"),
        ({"x": ROWS, "z": ROWS}, "no input is called 'z', wanted x, k"),
        ({"x": ROWS.astype("f8")}, "float64 of shape 2x3, wanted f32 of shape ?x3"),
        ({"x": ROWS.T}, "float32 of shape 3x2, wanted f32 of shape ?x3"),
    ],
)
def test_inputs_are_checked(inputs: dict[str, np.ndarray], text: str) -> None:
    with pytest.raises(TesseraError) as caught:
        evaluate(doubled(), inputs)
    assert caught.value.code.id == "TSR-G040"
    assert text in caught.value.message


def test_an_op_that_fails_is_named_with_its_place() -> None:
    graph = GraphBuilder()
    rows = graph.input("rows", "i64", (1,))
    table = graph.const(ROWS, "table")
    place = file_location("net.py", 4, 2)
    y = graph.op("gather", table, rows, location=place)
    module = graph.module([("y", y)])
    with pytest.raises(TesseraError) as caught:
        evaluate(module, {"rows": np.array([9])})
    assert caught.value.code.id == "TSR-G041"
    assert str(caught.value).startswith("net.py:4:2: [TSR-G041] 'tessera.gather' op")


def test_a_module_needs_one_function() -> None:
    with pytest.raises(TesseraError) as caught:
        evaluate(ModuleOp([]), {})
    assert caught.value.code.id == "TSR-G042"
