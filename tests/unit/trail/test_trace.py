"""The trail of real models: the model's own ops, the passes, the calls."""

import numpy as np
import onnx
import pytest
from jsonschema import Draft202012Validator

import tessera
from tessera import ops
from tessera.catalog import PASSES
from tessera.decisions import Site, schema
from tessera.driver import compile_graph_module
from tessera.frontend.onnx import import_model
from tessera.graph.text import parse_module, print_module
from tessera.target.dialect import CallOp
from tessera.trail.watch import Watch
from tests.support.corpus import Case, cases
from tests.unit.cli.models import SHARED
from tests.unit.traced.support import traced_module

MODELS = ("gpt2", "llama", "bert")


def compiled(name: str, watch: Watch | None = None):
    module = import_model(Case(name, "eager_op20.onnx").path)
    return compile_graph_module(module, "apple_cpu", name, watch)


def site_of(name: str, kind: str, watched: bool = False) -> Site:
    made = compiled(name, Watch() if watched else None)
    return next(site for site in made.decisions.sites if site.kind == kind)


@pytest.mark.parametrize("model", MODELS)
def test_every_decision_has_its_trail(model):
    made = compiled(model, Watch())
    symbols = {op.symbol for op in made.module.walk() if isinstance(op, CallOp)}
    Draft202012Validator(schema()).validate(made.decisions.to_json())
    for site in made.decisions.sites:
        assert site.pass_ in PASSES
        assert site.before
        assert site.after
        assert site.before != site.after
        assert site.imported
        assert site.members
        assert site.runs
        assert set(site.runs) <= symbols
        assert {step.pass_ for step in site.trail} <= set(PASSES)
        assert site.trail
        assert all(member.location and member.name for member in site.imported)
        assert (site.call is None) is not site.fused
        assert (site.at is None) is (site.code is None)
        if site.fused:
            assert [member.op for member in site.members] == list(site.ops)
            assert site.pass_ in {step.pass_ for step in site.trail}


@pytest.mark.parametrize("case", cases("eager_op20.onnx", models=MODELS))
def test_members_are_nodes_of_the_file(case: Case):
    module = import_model(case.path)
    nodes = onnx.load(case.path, load_external_data=False).graph.node
    for site in compile_graph_module(module, "apple_cpu").decisions.sites:
        for member in site.imported:
            file, line, _ = member.location.split(":")
            assert file == case.file
            assert member.name in nodes[int(line) - 1].output[0]


def test_a_raised_op_names_all_it_was_raised_from():
    site = site_of("llama", "swiglu", watched=True)
    wrote = [member.op.removeprefix("tessera.") for member in site.imported]
    assert sorted(wrote) == ["matmul", "matmul", "matmul", "mul", "mul", "sigmoid"]
    assert [member.op for member in site.members] == ["tessera.swiglu_fused"]
    steps = {step.pass_: step for step in site.trail}
    assert steps["tessera-raise-elementwise"].made == {"tessera.silu": 1}
    assert steps["tessera-swiglu-fusion"].made == {"tessera.swiglu_fused": 1}
    assert steps["tessera-swiglu-fusion-to-apple_cpu"].made == {"call swiglu": 1}


def test_a_call_says_what_its_operands_are():
    call = site_of("llama", "attention").call
    assert call is not None
    operands = {operand.role: operand for operand in call.operands}
    assert operands["q"].op == "tessera.rope"
    assert operands["q"].name == "add_4"
    assert operands["q"].type == "f32[3x4x12x8]"
    assert operands["v"].location == "eager_op20.onnx:17:1"
    call = site_of("llama", "swiglu").call
    assert call is not None
    weight = call.operands[1]
    assert (weight.role, weight.op, weight.name) == (
        "w_gate",
        "tessera.const",
        "val_214",
    )


def test_layers_of_one_loop_are_told_apart():
    def model(x, ws):
        for w in ws:
            x = ops.gelu(x @ w)
        return x

    x = np.ones((4, 4), np.float32)
    module = traced_module(model, x, [x, x, x])
    sites = compile_graph_module(module, "apple_cpu", watch=Watch()).decisions.sites
    assert len(sites) == 3
    for site in sites:
        assert [m.op for m in site.imported] == ["tessera.matmul", "tessera.gelu"]
        assert site.imported[0].location.startswith(__file__)
        assert sum(site.trail[-1].removed.values()) == 2
        assert len(site.runs) == 1


def test_a_python_line_stands_in_the_audit():
    @tessera.jit(target="apple_cpu")
    def model(x, w):
        return ops.gelu(x @ w)

    x = np.ones((4, 4), np.float32)
    (site,) = model.audit(x, x).sites
    lines = {member.location.split(":")[-2] for member in site.imported}
    assert lines == {str(model.__wrapped__.__code__.co_firstlineno + 2)}


def test_watching_changes_nothing_else():
    plain, watched = compiled("gpt2"), compiled("gpt2", Watch())
    assert print_module(plain.module) == print_module(watched.module)
    stripped = [s.to_json() | {"trail": []} for s in watched.decisions.sites]
    assert stripped == [s.to_json() for s in plain.decisions.sites]


def test_the_refused_pre_fused_op_says_why():
    text = """
    func.func @main(%q: tensor<1x4x6x8xf32> {tessera.name = "q"})
        -> (tensor<1x4x6x8xf32> {tessera.name = "y"}) {
      %y = "tessera.flash_attn"(%q, %q, %q) {softcap = 0.0 : f64}
        : (tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>, tensor<1x4x6x8xf32>)
        -> tensor<1x4x6x8xf32>
      func.return %y : tensor<1x4x6x8xf32>
    }"""
    document = compile_graph_module(parse_module(text), "apple_cpu").decisions
    Draft202012Validator(schema()).validate(document.to_json())
    assert document.sites[0].code == "TSR-K103"
    assert document.sites[0].runs == ("tessera_apple_cpu_flash_attn_f32",)


def test_a_refused_site_names_the_reader_in_the_way():
    module = parse_module(SHARED, "m.mlir")
    (site,) = compile_graph_module(module, "apple_cpu").decisions.sites
    assert site.nearest == "matmul_gelu"
    assert site.at is not None
    assert site.at.op == "tessera.matmul"
    assert site.at.location == "m.mlir:5:8"
    assert site.suggestion is not None
    assert "the add (m.mlir:7:8)" in site.suggestion
    assert [member.op for member in site.members] == ["tessera.matmul", "tessera.gelu"]
    assert len(site.runs) == 2
