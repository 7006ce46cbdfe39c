"""The consume half: calls are the groups that were decided, and intents stay notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import BlockArgument

from tessera.canonical_compile import (
    FusionGroup,
    canonical_compile,
    stamp_fusion_intents,
)
from tessera.catalog import CHAINS, KERNEL_BY_NAME, PASSES, PIPELINES, new_context
from tessera.diagnostics import Diagnostics
from tessera.driver import Compiled, compile_graph_module
from tessera.graph.evaluate import evaluate
from tessera.graph.operation import GraphOp
from tessera.reference import PRIMITIVES
from tessera.runtime import execute
from tessera.target.dialect import CallOp
from tests.support.chains import (
    APPLE,
    SITE,
    Bench,
    calls,
    case,
    fused,
    only,
    run,
    stamp,
)
from tests.unit.test_fusion_intent_emitter import TERMINAL, four


def chain(kernel: str) -> Callable[[Bench], Any]:
    """The smallest chain of a kernel."""

    def build(b: Bench) -> Any:
        h = b.op("matmul", b.x("x", 3, 8), b.x("w", 8, 6))
        if kernel == "matmul_softmax_matmul":
            return b.op("matmul", b.op("softmax", h), b.x("v", 6, 5))
        return b.op(kernel.removeprefix("matmul_"), h)

    return build


def lower(module: ModuleOp, target: str, *without: str) -> Diagnostics:
    """Run the alias of a target, less some passes."""
    context = new_context()
    for name in PIPELINES[f"tessera-lower-to-{target}-runtime"]:
        if name not in without:
            PASSES[name]().apply(context, module)
    return context.diagnostics


def sources(module: ModuleOp) -> list[tuple[str, str | None]]:
    found = [op for op in module.walk() if isinstance(op, CallOp)]
    return [(op.op, op.note("tessera.fusion.source")) for op in found]


@pytest.mark.parametrize("target", APPLE)
@pytest.mark.parametrize("kernel", sorted(CHAINS))
def test_what_is_emitted_is_consumed(kernel: str, target: str) -> None:
    made = case(chain(kernel))
    assert stamp_fusion_intents(made.module) == 1
    assert not lower(made.module, target).of("warning")
    assert sources(made.module) == [(kernel, "descriptor")]


@pytest.mark.parametrize("target", APPLE)
@pytest.mark.parametrize("kernel", sorted(CHAINS))
def test_a_removed_consumer_is_told(kernel: str, target: str) -> None:
    made = case(chain(kernel))
    stamp_fusion_intents(made.module)
    consumer = f"tessera-{kernel.replace('_', '-')}-fusion-to-{target}"
    assert consumer in PIPELINES[f"tessera-lower-to-{target}-runtime"]
    (warning,) = lower(made.module, target, consumer).of("warning")
    assert warning.code is not None
    assert warning.code.id == "TSR-F113"
    assert kernel in warning.message
    assert all(source is None for _, source in sources(made.module))


@pytest.mark.parametrize("target", APPLE)
@pytest.mark.parametrize("kernel", sorted(CHAINS))
def test_without_intents_chains_are_rediscovered(kernel: str, target: str) -> None:
    made = case(chain(kernel))
    assert not lower(made.module, target).of("warning")
    assert sources(made.module) == [(kernel, "rediscovered")]


def operand_of(group: FusionGroup, call: CallOp, role: str) -> None:
    """The call's operand of that role is the group's value, seen from Target IR."""
    wanted = group.operands[role]
    found = call.operands[call.words("roles").index(role)]
    assert found.type == wanted.type
    if isinstance(wanted, BlockArgument):
        assert isinstance(found, BlockArgument)
        assert found.index == wanted.index


@pytest.mark.parametrize("target", APPLE)
def test_each_group_is_one_call_of_target_ir(target: str) -> None:
    made = case(four)
    compiled = compile_graph_module(made.module, target)
    by_id = {call.note(SITE): call for call in calls(compiled) if call.note(SITE)}
    groups = compiled.result.fusion_groups
    assert [g.id for g in groups] == list(by_id)
    for group in groups:
        call = by_id[group.id]
        assert call.op == group.kernel == call.note("tessera.fusion.kernel")
        assert group.function == "main"
        order = KERNEL_BY_NAME[group.kernel].role_order(group.operands)
        assert list(call.words("roles")) == order
        assert call.results[0].type == group.terminal.results[0].type
        for role in order:
            operand_of(group, call, role)
    members = sum(len(group.members) for group in groups)
    graph = [op for op in compiled.graph.walk() if isinstance(op, GraphOp)]
    assert len(calls(compiled)) == len(graph) - members + len(groups)


@pytest.mark.parametrize("target", APPLE)
def test_the_runtime_executes_the_groups(target: str) -> None:
    compiled = compile_graph_module(case(four).module, target)
    steps = [step for step in compiled.program().steps if step.call is not None]
    found = [(step.call.site, step.op) for step in steps if step.call]
    assert found == [(g.id, g.kernel) for g in compiled.result.fusion_groups]


def test_canonical_compile_and_the_driver_decide_alike() -> None:
    made = case(four)
    groups = canonical_compile(made.module, "apple_gpu").fusion_groups
    again = compile_graph_module(made.module, "apple_gpu").result.fusion_groups
    found = [(g.id, g.kernel, g.ops, list(g.operands)) for g in groups]
    assert found == [(g.id, g.kernel, g.ops, list(g.operands)) for g in again]


def noted() -> Any:
    """The four chains with an intent and notes of other tools on every op."""
    made = case(four)
    for op in made.module.walk():
        if isinstance(op, GraphOp):
            op.attributes["tessera.fusion.intent"] = StringAttr("matmul_gelu")
            op.attributes["tessera.fusion.id"] = StringAttr(f"main/x#{id(op)}")
            op.attributes["other.note"] = StringAttr("told")
    return made


Heard = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Heard:
    """The name and keywords of every primitive that runs."""
    record: Heard = []

    def listen(name: str, meaning: Callable[..., Any]) -> Callable[..., Any]:
        def listener(*arrays: Any, **keywords: Any) -> Any:
            record.append((name, keywords))
            return meaning(*arrays, **keywords)

        return listener

    heard = {name: listen(name, meaning) for name, meaning in PRIMITIVES.items()}
    for module in ("tessera.graph.operation", "tessera.runtime.steps"):
        monkeypatch.setattr(import_module(module), "PRIMITIVES", heard)
    return record


def silent(heard: Heard) -> None:
    assert heard
    for _, keywords in heard:
        for key, value in keywords.items():
            assert "." not in key
            assert "fusion" not in key
            assert value not in ("matmul_gelu", "told")


def test_notes_reach_no_evaluated_op(heard: Heard) -> None:
    made = noted()
    evaluate(made.module, made.inputs)
    silent(heard)


@pytest.mark.parametrize("target", ["cpu", *APPLE])
def test_notes_reach_no_executed_op(target: str, heard: Heard) -> None:
    made = noted()
    run(compile_graph_module(made.module, target), made.inputs)
    silent(heard)


@pytest.mark.parametrize("target", APPLE)
def test_notes_reach_no_native_kernel(target: str) -> None:
    made = case(four)
    for op in made.module.walk():
        if isinstance(op, GraphOp):
            op.attributes["other.note"] = StringAttr("told")
    compiled = compile_graph_module(made.module, target)
    shapes = {s.op: s.outputs for s in compiled.program().steps if s.call}
    results = run(compiled, made.inputs)
    record: Heard = []

    def native(kernel: str) -> Callable[..., Any]:
        def launch(*arrays: Any, **keywords: Any) -> Any:
            record.append((kernel, keywords))
            (name,) = shapes[kernel]
            return results.get(name, np.zeros((6, 8), np.float32))

        return launch

    program = replace(compiled.program(), target="apple_cpu")
    execute(program, made.inputs, kernels={k: native(k) for k in CHAINS})
    assert {kernel for kernel, _ in record} == CHAINS
    for kernel, keywords in record:
        assert set(keywords) <= set(KERNEL_BY_NAME[kernel].options)


@pytest.mark.parametrize("target", APPLE)
def test_notes_of_other_tools_move_to_the_call(target: str) -> None:
    made = case(chain("matmul_gelu"))
    only(made.module, "gelu").attributes["other.note"] = StringAttr("told")
    (call,) = calls(compile_graph_module(made.module, target))
    assert call.attributes["other.note"] == StringAttr("told")


def edited(edit: Callable[[ModuleOp], None], target: str) -> Compiled:
    """Stamp, edit as a user would, compile."""
    made = case(chain("matmul_gelu"))
    stamp_fusion_intents(made.module)
    edit(made.module)
    return compile_graph_module(made.module, target)


def to_tanh(module: ModuleOp) -> None:
    only(module, "gelu").attributes["approximate"] = StringAttr("tanh")


def unstamp(module: ModuleOp) -> None:
    del only(module, "gelu").attributes["tessera.fusion.intent"]


def restamp(module: ModuleOp) -> None:
    stamp(only(module, "gelu"), "matmul_softmax")


@pytest.mark.parametrize("target", APPLE)
def test_an_edit_that_the_kernel_honours_keeps_the_descriptor(target: str) -> None:
    compiled = edited(to_tanh, target)
    assert fused(compiled) == [("matmul_gelu", "descriptor")]
    assert not compiled.diagnostics.of("warning")


@pytest.mark.parametrize("target", APPLE)
def test_a_stamp_taken_off_is_written_again(target: str) -> None:
    assert fused(edited(unstamp, target)) == [("matmul_gelu", "descriptor")]


@pytest.mark.parametrize("target", APPLE)
def test_another_stamp_is_contradicted_and_the_truth_runs(target: str) -> None:
    compiled = edited(restamp, target)
    assert fused(compiled) == [("matmul_gelu", "rediscovered")]
    (warning,) = compiled.diagnostics.of("warning")
    assert "matmul_gelu (rediscovered)" in warning.message
    (site,) = compiled.decisions.sites
    assert (site.intent, site.intent_verdict) == ("matmul_softmax", "contradicted")
    assert (site.outcome, site.kernel) == ("fused", "matmul_gelu")


def test_terminals_are_those_of_the_catalog() -> None:
    assert set(TERMINAL) == CHAINS
    for kernel, name in TERMINAL.items():
        ends = {f"tessera.{p.op}" for p, _ in KERNEL_BY_NAME[kernel].patterns}
        assert ends == {name}
