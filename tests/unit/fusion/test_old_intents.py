"""An intent that was there before is judged by the program, not by newer stamps."""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from tessera.driver import compile_graph_module
from tessera.fusion.match import INTENT
from tessera.graph.builder import GraphBuilder


def stamp(value: SSAValue) -> None:
    assert isinstance(value.owner, Operation)
    value.owner.attributes[INTENT] = StringAttr("matmul_softmax_matmul")


def test_mixed_types_are_told_though_the_softmax_gets_a_stamp_of_its_own() -> None:
    b = GraphBuilder()
    q, k = (b.input(name, "f32", (4, 8, 16)) for name in "qk")
    v = b.input("v", "f16", (4, 8, 16))
    p = b.op("softmax", b.op("matmul", q, k, transpose_b=True))
    y = b.op("matmul", p, v)
    stamp(y)
    made = compile_graph_module(b.module([("y", y)]), "apple_gpu")
    (warning,) = made.diagnostics.of("warning")
    assert warning.code is not None
    assert warning.code.id == "TSR-F106"
    assert "q f32, k f32, v f16" in warning.message


def test_an_intent_on_a_pre_fused_op_tells_what_runs() -> None:
    b = GraphBuilder()
    q, k, v = (b.input(name, "f32", (4, 8, 16)) for name in "qkv")
    y = b.op("flash_attn", q, k, v)
    stamp(y)
    made = compile_graph_module(b.module([("y", y)]), "apple_gpu")
    (warning,) = made.diagnostics.of("warning")
    assert "runs instead: matmul_softmax_matmul (composite_op)" in warning.message
