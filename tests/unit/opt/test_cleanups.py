"""Clean-ups in any order leave notes where they were."""

from itertools import permutations

import pytest
from xdsl.dialects.func import ReturnOp

from tessera.graph.cleanups import CLEANUPS
from tessera.graph.context import graph_context
from tessera.graph.locations import location_of
from tessera.graph.text import parse_module
from tests.support.paths import CASES

STAMPED = (CASES / "mlir" / "a49_stamp_survives.mlir").read_text()
ON_INTEGERS = """
func.func @main(%a: i32, %b: i32) -> i32 {
  %c1 = arith.constant 1 : i32
  %dead = arith.muli %a, %b : i32
  %s = arith.muli %c1, %a : i32
  %r1 = arith.addi %c1, %s {h7.stamp = "keep"} : i32
  func.return %r1 : i32
}
"""


@pytest.mark.parametrize("order", [*permutations(CLEANUPS)])
@pytest.mark.parametrize("text", [STAMPED, ON_INTEGERS], ids=["floats", "integers"])
def test_a_stamp_survives_any_order_twice_over(text: str, order: tuple[str]) -> None:
    context = graph_context()
    module = parse_module(text, "in.mlir", context)
    for name in (*order, *order):
        CLEANUPS[name]().apply(context, module)
    (end,) = (op for op in module.walk() if isinstance(op, ReturnOp))
    feeding = end.operands[0].owner
    assert str(feeding.attributes["h7.stamp"]) == '"keep"'  # pyright: ignore[reportAttributeAccessIssue]
    assert location_of(feeding).line == 6  # pyright: ignore[reportArgumentType]
    assert len(context.diagnostics) == 0
