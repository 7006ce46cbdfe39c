"""Verification: order of values, rules of ops, and its cost."""

import pytest

from tessera.diagnostics import TesseraError
from tessera.graph.builder import GraphBuilder
from tessera.graph.dominance import undominated
from tessera.graph.text import parse_module
from tessera.graph.types import tensor
from tessera.graph.verify import verify_all, verify_module
from tessera.graph.weights import Weight, WeightAttr, array_of
from tests.support.work import work

TWO_BROKEN = """
func.func @two(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %a = "tessera.softmax"(%x) {axis = 7 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %b = "tessera.add"(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %b : tensor<2x3xf32>
}
"""


def chain(count: int) -> GraphBuilder:
    builder = GraphBuilder()
    x = y = builder.input("x", "f32", (8, 8))
    for _ in range(count):
        y = builder.op("matmul", y, x)
    return builder


def test_the_first_error_is_raised_with_op_and_place() -> None:
    with pytest.raises(TesseraError) as caught:
        verify_module(parse_module(TWO_BROKEN, "two.mlir"))
    text = "two.mlir:3:8: [TSR-G007] 'tessera.softmax' op axis 7 is out of range for rank 2"
    assert str(caught.value) == text


def test_all_errors_are_listed_in_order() -> None:
    found = verify_all(parse_module(TWO_BROKEN, "two.mlir"))
    assert [d.code.id for d in found if d.code] == ["TSR-G007", "TSR-G001"]
    assert [d.location.line for d in found] == [3, 4]


def test_a_right_module_has_none() -> None:
    builder = chain(3)
    module = builder.module([("y", builder.block.last_op.results[0])])  # pyright: ignore[reportOptionalMemberAccess]
    verify_module(module)
    assert verify_all(module) == []


def test_a_weight_without_values_is_refused_when_they_are_asked_for() -> None:
    with pytest.raises(
        TesseraError, match=r'\[TSR-G010\] weight "w0" has a name but no'
    ):
        array_of(WeightAttr(Weight("w0")))


def test_the_builder_refuses_what_the_verifier_would() -> None:
    builder = GraphBuilder()
    x = builder.input("x", "f32", (2, 3))
    with pytest.raises(
        TesseraError, match=r"\[TSR-G011\] 'tessera.matmul' op \[TSR-G008"
    ):
        builder.op("matmul", x, x)
    with pytest.raises(TesseraError, match=r"\[TSR-G011\] 'tessera.reshape' op"):
        builder.op("reshape", x, result=tensor("f32", (7,)))


def test_a_moved_definition_is_found() -> None:
    builder = chain(4)
    first = builder.block.first_op
    last = builder.block.last_op
    assert first is not None
    assert last is not None
    module = builder.module([("y", last.results[0])])
    first.detach()
    builder.block.insert_op_after(first, last)
    (use,) = undominated(module)
    assert use.index == 0
    assert use.value is first.results[0]


def test_a_loop_in_the_control_flow() -> None:
    """A value made in a loop is not there in its head, but is after its own block."""
    text = """
    func.func @loop(%c: i1, %x: tensor<4xf32>) {
      "test.jump"()[^head] : () -> ()
    ^head:
      "test.use"(%in_body) : (tensor<4xf32>) -> ()
      "test.branch"(%c)[^body, ^exit] : (i1) -> ()
    ^body:
      %in_body = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      "test.branch"(%c)[^more, ^head] : (i1) -> ()
    ^more:
      "test.use"(%in_body) : (tensor<4xf32>) -> ()
      "test.jump"()[^head] : () -> ()
    ^exit:
      func.return
    ^never_entered:
      "test.use"(%in_body) : (tensor<4xf32>) -> ()
      func.return
    }"""
    from tessera.graph.context import graph_context

    context = graph_context()
    context.allow_unregistered = True
    found = verify_all(parse_module(text, "loop.mlir", context))
    assert [d.location.line for d in found] == [5]


def cost(count: int) -> int:
    builder = chain(count)
    last = builder.block.last_op
    assert last is not None
    module = builder.module([("y", last.results[0])])
    return work(lambda: verify_module(module))


def test_cost_is_linear_and_small() -> None:
    small, large = cost(1000), cost(4000)
    assert large < 200 * 4000
    assert large < 1.1 * 4 * small


def test_long_programs_are_read_without_recursion() -> None:
    lines = ['  %v0 = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>']
    lines += [
        f'  %v{i} = "tessera.exp"(%v{i - 1}) : (tensor<4xf32>) -> tensor<4xf32>'
        for i in range(1, 6000)
    ]
    head = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {"
    text = "\n".join([head, *lines, "  func.return %v5999 : tensor<4xf32>\n}"])
    module = parse_module(text)
    verify_module(module)
    assert sum(1 for _ in module.walk()) == 6003
