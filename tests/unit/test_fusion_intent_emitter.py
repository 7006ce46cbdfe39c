"""The emit half: what stamping writes, where, how often, and that it survives rewriting."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from tessera.canonical_compile import canonical_compile, stamp_fusion_intents
from tessera.catalog import CHAINS, PASSES, new_context
from tessera.diagnostics import TesseraError
from tessera.driver import compile_graph_module
from tessera.graph.dialect import OPS
from tests.support.chains import APPLE, INTENT, SITE, Bench, Case, case, only, stamp

TERMINAL = {
    "matmul_softmax_matmul": "tessera.matmul",
    "matmul_softmax": "tessera.softmax",
    "matmul_gelu": "tessera.gelu",
    "matmul_rmsnorm": "tessera.rmsnorm",
}


def four(b: Bench) -> tuple[SSAValue, ...]:
    """One chain of each kernel, and ops between that belong to none."""
    q, k, v = b.x("q", 6, 8), b.x("k", 8, 7), b.x("v", 7, 8)
    attention = b.op("matmul", b.op("softmax", b.op("matmul", q, k)), v)
    noise = b.op("tanh", attention)
    router = b.op("softmax", b.op("matmul", noise, k))
    gelu = b.op("gelu", b.op("matmul", noise, b.x("w", 8, 5)))
    norm = b.op("rmsnorm", b.op("matmul", noise, b.x("u", 8, 4)), b.x("n", 4))
    return router, gelu, norm


def stamps(made: Case) -> dict[str, str]:
    """The name of each stamped op by its stamp."""
    found: dict[str, str] = {}
    for op in made.module.walk():
        intent = op.attributes.get(INTENT)
        if isinstance(intent, StringAttr):
            assert intent.data not in found
            found[intent.data] = op.name
    return found


def test_every_chain_kernel_is_stamped_at_its_terminal_op() -> None:
    made = case(four)
    module = made.module
    assert stamp_fusion_intents(module) == len(CHAINS) == 4
    assert made.module is module
    assert stamps(made) == TERMINAL


def test_a_second_call_changes_nothing() -> None:
    made = case(four)
    first = stamp_fusion_intents(made.module), str(made.module)
    assert (stamp_fusion_intents(made.module), str(made.module)) == first


def test_results_stay_as_they_were() -> None:
    made = case(four)
    before = made.meant()
    stamp_fusion_intents(made.module)
    for name, array in made.meant().items():
        np.testing.assert_array_equal(array, before[name])


def test_nothing_to_stamp_is_none() -> None:
    made = case(lambda b: b.op("tanh", b.op("matmul", b.x("a", 3, 4), b.x("b", 4, 5))))
    assert stamp_fusion_intents(made.module) == 0
    assert "tessera.fusion" not in str(made.module)


@pytest.mark.parametrize("kernel", sorted(TERMINAL))
def test_a_right_stamp_is_kept_and_counted(kernel: str) -> None:
    made = case(four)
    ops = [op for op in made.module.walk() if op.name == TERMINAL[kernel]]
    stamp(ops[-1] if kernel != "matmul_softmax_matmul" else ops[1], kernel)
    assert stamp_fusion_intents(made.module) == 4
    assert stamps(made) == TERMINAL


@pytest.mark.parametrize("wrong", ["matmul_rmsnorm", "flash_gelu", "swiglu", ""])
def test_a_wrong_stamp_is_kept_and_not_counted(wrong: str) -> None:
    made = case(lambda b: b.op("gelu", b.op("matmul", b.x("a", 3, 4), b.x("b", 4, 5))))
    stamp(only(made.module, "gelu"), wrong)
    assert stamp_fusion_intents(made.module) == 0
    assert stamps(made) == {wrong: "tessera.gelu"}


def test_ids_are_unique_and_outlive_edits() -> None:
    made = case(four)
    stamp_fusion_intents(made.module)
    ids = [op.attributes[SITE] for op in made.module.walk() if SITE in op.attributes]
    assert len(set(ids)) == len(ids) == 4
    gelu = only(made.module, "gelu")
    before = gelu.attributes[SITE]
    stamp_fusion_intents(made.module)
    assert only(made.module, "gelu").attributes[SITE] == before


def test_a_carried_id_is_never_given_again() -> None:
    def twice(b: Bench) -> tuple[SSAValue, ...]:
        x = b.x("x", 3, 4)
        return tuple(b.op("gelu", b.op("matmul", x, b.x(n, 4, 5))) for n in "ab")

    made = case(twice)
    first, second = (op for op in made.module.walk() if op.name == "tessera.gelu")
    first.attributes[SITE] = StringAttr("main/gelu#1")
    stamp_fusion_intents(made.module)
    assert first.attributes[SITE] != second.attributes[SITE]


def test_copies_of_a_stamped_op_get_ids_of_their_own() -> None:
    made = case(four)
    stamp_fusion_intents(made.module)
    gelu = only(made.module, "gelu")
    (reader,) = [use.operation for use in gelu.results[0].uses]
    product = gelu.operands[0].owner
    assert isinstance(product, Operation)
    assert gelu.parent is not None
    twin, copy = product.clone(), gelu.clone()
    copy.operands = twin.results
    gelu.parent.insert_ops_after([twin, copy], gelu)
    reader.operands = (*reader.operands[:2], copy.results[0])
    gelu.parent.insert_op_after(OPS["tanh"].build([gelu.results[0]]), copy)
    context = new_context()
    PASSES["tessera-matmul-gelu-fusion-to-apple_gpu"]().apply(context, made.module)
    sites = [op.attributes[SITE] for op in made.module.walk() if SITE in op.attributes]
    assert len(sites) == 5
    assert len(set(sites)) == 5


@pytest.mark.parametrize("target", APPLE)
def test_apple_targets_are_stamped(target: str) -> None:
    result = canonical_compile(case(four).module, target)
    assert [group.kernel for group in result.fusion_groups] == [
        "matmul_softmax_matmul",
        "matmul_softmax",
        "matmul_gelu",
        "matmul_rmsnorm",
    ]


def test_cpu_is_never_stamped() -> None:
    made = case(four)
    stamp_fusion_intents(made.module)
    result = canonical_compile(made.module, "cpu")
    compiled = compile_graph_module(made.module, "cpu")
    assert not result.fusion_groups
    for module in (result.module, compiled.module, compiled.graph):
        assert "tessera.fusion" not in str(module)


@pytest.mark.parametrize("target", ["cpu", *APPLE])
@pytest.mark.parametrize("stamped", [False, True])
def test_compiling_leaves_its_input_unchanged(target: str, stamped: bool) -> None:
    made = case(four)
    if stamped:
        stamp_fusion_intents(made.module)
    before = str(made.module)
    canonical_compile(made.module, target)
    compile_graph_module(made.module, target)
    assert str(made.module) == before


def test_an_unknown_target_is_an_error_with_its_code() -> None:
    with pytest.raises(TesseraError) as caught:
        canonical_compile(case(four).module, "tpu")
    assert caught.value.code.id == "TSR-T003"


def transposed(b: Bench) -> SSAValue:
    w = b.op("transpose", b.x("w", 6, 8), permutation=(1, 0))
    return b.op("matmul", b.x("x", 3, 8), w)


def times_one(b: Bench) -> SSAValue:
    h = b.op("tanh", b.x("x", 3, 8))
    return b.op("mul", h, b.const(1.0))


def spelled_silu(b: Bench) -> SSAValue:
    x = b.op("tanh", b.x("x", 3, 8))
    return b.op("mul", x, b.op("sigmoid", x))


def last_axis_by_number(b: Bench) -> SSAValue:
    return b.op("softmax", b.x("x", 3, 8), axis=1)


REWRITTEN = {
    "tessera-absorb-transposes": (transposed, "tessera.matmul"),
    "tessera-drop-identities": (times_one, "tessera.tanh"),
    "tessera-write-defaults": (last_axis_by_number, "tessera.softmax"),
    "tessera-raise-elementwise": (spelled_silu, "tessera.silu"),
    "tessera-normalise-graph": (transposed, "tessera.matmul"),
    "tessera-raise-compositions": (spelled_silu, "tessera.silu"),
}


@pytest.mark.parametrize("name", REWRITTEN)
def test_a_pass_carries_the_stamp_over(name: str) -> None:
    build, carrier = REWRITTEN[name]
    bench = Bench()
    value = build(bench)
    assert isinstance(value.owner, Operation)
    stamp(value.owner, "matmul_gelu")
    made = bench.close(value)
    PASSES[name]().apply(new_context(), made.module)
    assert stamps(made) == {"matmul_gelu": carrier}


def test_a_pass_says_which_stamp_it_drops() -> None:
    bench = Bench()
    value = bench.op("tanh", bench.const(1.0))
    assert isinstance(value.owner, Operation)
    stamp(value.owner, "matmul_gelu")
    made = bench.close(bench.op("add", bench.x("x", 3), value))
    context = new_context()
    PASSES["tessera-fold-constants"]().apply(context, made.module)
    (told,) = context.diagnostics
    assert stamps(made) == {}
    assert INTENT in told.message
