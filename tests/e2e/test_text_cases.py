"""Public cases that are told in words: names, uses, types, windows, loading."""

import os
import shutil
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import tessera
from tessera import artifact, ops
from tessera.diagnostics import TesseraError
from tessera.driver import compile_graph_module
from tessera.graph.builder import GraphBuilder
from tessera.runtime import execute
from tessera.target.dialect import CallOp
from tests.support.paths import CASES

TARGETS = ("cpu", "apple_cpu")
RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("target", TARGETS)
def test_a06_a_product_with_two_readers_is_computed_once(target: str) -> None:
    x, w = normal(3, 8), normal(8, 8)

    @tessera.jit(target=target)
    def f(x, w):
        h = x @ w
        return h * 0.5, ops.gelu(h)

    half, activated = f(x, w)
    np.testing.assert_allclose(half, x @ w * 0.5, atol=1e-5)
    np.testing.assert_allclose(activated, ops.gelu(x @ w), atol=1e-5)
    steps = f.compiled(x, w).program().steps
    assert sum(step.op in ("matmul", "matmul_gelu") for step in steps) == 1
    if target != "cpu":
        (site,) = f.audit(x, w).sites
        assert (site.code, site.outcome) == ("TSR-F102", "refused")
        assert "1 more reader" in (site.found or "")


@pytest.mark.parametrize("target", TARGETS)
def test_a44_each_element_type_has_its_own_program(target: str) -> None:
    @tessera.jit(target=target)
    def f(x):
        return ops.cast(x, "f32") * 2.0

    for dtype in (np.int8, np.uint16, np.float16, ml_dtypes.bfloat16):
        x = np.array([1, 2, 3], dtype=dtype)
        np.testing.assert_array_equal(f(x), np.array([2, 4, 6], np.float32))


def test_a45_no_window_hides_every_key() -> None:
    q, k, v = (normal(1, 2, 6, 8) for _ in range(3))

    def f(window):
        jitted = tessera.jit(
            lambda q, k, v: ops.flash_attn(q, k, v, causal=True, window=window)
        )
        return jitted(q, k, v)

    np.testing.assert_allclose(f(None), f(6), atol=1e-6)
    with pytest.raises(TesseraError, match="window is 0"):
        f(0)


def test_a47_a_pickle_in_an_artifact_is_never_run(tmp_path: Path) -> None:
    b = GraphBuilder()
    x = b.input("x", "f32", (4, 4))
    made = compile_graph_module(b.module([("y", b.op("gelu", x))]), "apple_cpu")
    texts = (str(made.graph), str(made.module))
    artifact.save(tmp_path / "model", made.program(), *texts, made.decisions)
    os.environ.pop("H7_PICKLE_RAN", None)
    for file in list((tmp_path / "model").iterdir()):
        broken = tmp_path / f"broken-{file.name}"
        shutil.copytree(tmp_path / "model", broken)
        shutil.copy(CASES / "a47_cache_entry.pkl", broken / file.name)
        with pytest.raises(TesseraError):
            artifact.load(broken)
    assert "H7_PICKLE_RAN" not in os.environ


@pytest.mark.parametrize("target", TARGETS)
def test_a50_names_of_the_user_never_clash_with_ours(target: str) -> None:
    b = GraphBuilder("main")
    names = ("fused_attention_0", "%0", "constant", "tessera_apple_cpu_gelu_f32")
    w = normal(8, 8)
    values = [b.input(name, "f32", (8, 8)) for name in names]
    h = [b.op("gelu", b.op("matmul", v, b.const(w, "constant"))) for v in values]
    outputs = [(f"{name}.out", value) for name, value in zip(names, h, strict=True)]
    program = compile_graph_module(b.module(outputs), target).program()
    inputs = {name: normal(8, 8) for name in names}
    found = execute(program, inputs)
    for name in names:
        wanted = ops.gelu(inputs[name] @ w)
        np.testing.assert_allclose(found[f"{name}.out"], wanted, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_a51_no_group_goes_around_an_op_between(target: str) -> None:
    x = normal(5, 7)

    @tessera.jit(target=target)
    def f(x):
        a = ops.max(x, np.float32(0))
        return a + ops.cumsum(a, axis=-1)

    a = np.maximum(x, 0)
    np.testing.assert_allclose(f(x), a + a.cumsum(-1), atol=1e-5)


def test_a54_no_call_has_more_operands_than_a_device_allows() -> None:
    xs = [normal(3) for _ in range(40)]

    @tessera.jit(target="apple_cpu")
    def f(xs):
        return (sum(xs[1:], xs[0]), *(x + 1.0 for x in xs))

    total, *others = f(xs)
    np.testing.assert_allclose(total, sum(xs), atol=1e-5)
    assert len(others) == 40
    calls = [op for op in f.target_ir(xs).walk() if isinstance(op, CallOp)]
    assert max(len(c.operands) + len(c.results) for c in calls) < 31


def test_a65_the_product_of_two_float_types_is_the_same_error_everywhere() -> None:
    p, v = normal(4, 4).astype(np.float16), normal(4, 4)
    for f in (ops.matmul, tessera.jit(ops.matmul)):
        with pytest.raises(TesseraError, match=r"f16.*f32"):
            f(p, v)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("tokens", [100, 40])
def test_a69_more_blocks_are_asked_for_than_there_are(target: str, tokens: int) -> None:
    q, k, v = normal(1, 4, tokens, 8), normal(1, 2, tokens, 8), normal(1, 2, tokens, 8)
    gates = np.zeros((1, 4, tokens, 3), np.float32)
    gates[..., 1] = 1.0

    @tessera.jit(target=target)
    def f(q, k, v, gates):
        return ops.native_sparse_attn_fused(
            q, k, v, gates, window_size=16, block_size=64, top_k=16
        )

    dense = ops.flash_attn(q, k, v, causal=True)
    np.testing.assert_allclose(f(q, k, v, gates), dense, atol=1e-5)
