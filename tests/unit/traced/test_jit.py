"""`tessera.jit`: spellings, signatures, containers, threads, memory, and what it shows."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tessera
from tessera import ops
from tessera.diagnostics import TesseraError
from tests.unit.traced.support import normal

X, Y = normal(0, 3, 4), normal(1, 3, 4)
Q, K, V = (normal(seed, 2, 4, 6, 8) for seed in (2, 3, 4))
TARGETS = ["cpu", "apple_cpu"]


def attention(q, k, v, scale: Any = 0.25):
    return ops.softmax(ops.matmul(q, k, transpose_b=True) * scale) @ v


def counted(target: str = "cpu") -> tuple[Any, list[Any]]:
    """A jitted `x + y`, and the shapes its traces saw."""
    traces: list[Any] = []

    @tessera.jit(target=target)
    def add(x, y=1.0):
        traces.append(x.shape)
        return x + y

    return add, traces


def test_bare_and_called_decorators() -> None:
    @tessera.jit
    def bare(x):
        return x + 1

    @tessera.jit()
    def called(x):
        return x + 1

    direct = tessera.jit(lambda x: x + 1, target="cpu")
    for jitted in (bare, called, direct):
        np.testing.assert_array_equal(jitted(X), X + 1)
    assert (bare.target, called.target, direct.target) == ("apple_cpu",) * 2 + ("cpu",)


def test_it_looks_like_the_function() -> None:
    jitted = tessera.jit(attention)
    assert jitted.__wrapped__ is attention
    assert jitted.__name__ == "attention"
    assert "attention for apple_cpu" in repr(jitted)
    np.testing.assert_allclose(
        jitted.__wrapped__(Q, K, V), jitted(Q, K, V), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("target", TARGETS)
def test_several_results_are_a_tuple_of_arrays(target: str) -> None:
    jitted = tessera.jit(lambda x, y: (x + y, x, x, 2.0, Y), target=target)
    found = jitted(X, Y)
    assert isinstance(found, tuple)
    assert all(type(f) is np.ndarray for f in found)
    for array, wanted in zip(found, (X + Y, X, X, np.float32(2), Y), strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_one_trace_per_signature() -> None:
    add, traces = counted()
    for x in (X, X + 1, X.astype(np.float64), X[:2], X, X[:2] * 2):
        np.testing.assert_array_equal(add(x), x + 1)
    assert traces == [(3, 4), (3, 4), (2, 4)]
    np.testing.assert_array_equal(add(X, y=2.0), X + 2)
    np.testing.assert_array_equal(add(X, 2.0), X + 2)
    assert len(traces) == 4


def test_every_element_type_of_one_shape_in_turn() -> None:
    double = tessera.jit(lambda x: ops.cast(x, "f32") * 2, target="apple_cpu")
    for name in ("i8", "ui16", "f16", "bf16", "i8"):
        x = ops.cast(np.array([1, 2, 3], np.int64), name)
        np.testing.assert_array_equal(double(x), [2, 4, 6])


@pytest.mark.parametrize("target", TARGETS)
def test_a_rank_0_array_is_an_input(target: str) -> None:
    traces = []

    @tessera.jit(target=target)
    def scaled(q, k, v, scale: Any, mask):
        if not isinstance(scale, np.ndarray):
            traces.append(scale.shape)
        return ops.softmax(ops.matmul(q, k, transpose_b=True) / scale + mask) @ v

    mask = np.triu(np.full((6, 6), -1e9, np.float32), 1)
    for scale in (np.array(0.5, np.float32), np.array(2.0, np.float32)):
        found = scaled(Q, K, V, scale, mask)
        wanted = scaled.__wrapped__(Q, K, V, scale, mask)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    scaled(Q, K, V, np.float32(3), mask)
    assert traces == [()]


@pytest.mark.parametrize("target", TARGETS)
def test_strided_and_overlapping_inputs(target: str) -> None:
    def double(x, y):
        x *= 2
        return x + y

    b = np.arange(8, dtype=np.float32)
    jitted = tessera.jit(double, target=target)
    np.testing.assert_array_equal(jitted(b[4:].copy(), b[:4].copy()), b[4:] * 2 + b[:4])
    np.testing.assert_array_equal(jitted(b[:4], b[2:6]), b[:4] * 2 + b[2:6])
    np.testing.assert_array_equal(b, np.arange(8))
    wide = normal(5, 84, 3, 3, 16).transpose(0, 2, 1, 3)
    fused = tessera.jit(attention, target=target)
    np.testing.assert_array_equal(
        fused(wide, wide, wide), fused(*(np.ascontiguousarray(wide),) * 3)
    )
    np.testing.assert_array_equal(
        jitted(X[::-1, ::2], Y[:, 1::2]), X[::-1, ::2] * 2 + Y[:, 1::2]
    )


@pytest.mark.parametrize("target", TARGETS)
def test_results_are_the_callers_own(target: str) -> None:
    x = X.copy()
    jitted = tessera.jit(
        lambda x: (x, x.T, ops.broadcast_to(x, (2, 3, 4)), Y), target=target
    )
    for _ in range(2):
        for result in jitted(x):
            result += 1
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(Y, normal(1, 3, 4))


@pytest.mark.parametrize("target", TARGETS)
def test_weights_in_containers(target: str) -> None:
    weights = {"layers": [{"w": normal(i, 4, 4), "b": normal(i, 4)} for i in range(3)]}

    def mlp(x, weights):
        for layer in weights["layers"]:
            x = ops.gelu(x @ layer["w"] + layer["b"])
        return {"y": x}

    found = tessera.jit(mlp, target=target)(X, weights)["y"]
    np.testing.assert_allclose(found, mlp(X, weights)["y"], rtol=1e-5, atol=1e-6)


def test_arrays_closed_over_are_constants() -> None:
    w = normal(6, 4, 64)
    jitted = tessera.jit(lambda x: x @ w + w[0])
    np.testing.assert_allclose(jitted(X), X @ w + w[0], rtol=1e-5, atol=1e-6)
    assert len(jitted.compiled(X).program().inputs) == 1


def test_jitted_functions_call_each_other() -> None:
    inner = tessera.jit(attention)
    outer = tessera.jit(lambda q, k, v: inner(q, k, v) + 1, target="cpu")
    np.testing.assert_allclose(
        outer(Q, K, V), attention(Q, K, V) + 1, rtol=1e-5, atol=1e-6
    )


def test_methods() -> None:
    class Model:
        def __init__(self, seed: int) -> None:
            self.w = normal(seed, 4, 4)

        @tessera.jit(target="cpu")
        def apply(self, x):
            return x @ self.w

    for model in (Model(7), Model(8)):
        np.testing.assert_allclose(model.apply(X), X @ model.w, rtol=1e-5, atol=1e-6)
        assert "tessera.matmul" in str(model.apply.graph_ir(X))


def test_graph_ir_is_fresh_mutable_and_unstamped() -> None:
    jitted = tessera.jit(attention)
    jitted(Q, K, V)
    one, other = jitted.graph_ir(Q, K, V), jitted.graph_ir(Q, K, V)
    assert one is not other
    assert str(one) == str(other)
    assert "tessera.fusion" not in str(one)
    for op in list(one.body.block.ops):
        op.detach()
    assert str(one) != str(other) == str(jitted.graph_ir(Q, K, V))


def test_target_ir_is_fresh_and_on_cpu_it_is_the_graph() -> None:
    lowered = str(tessera.jit(attention).target_ir(Q, K, V))
    assert "tessera_apple_cpu_matmul_softmax_matmul_f32" in lowered
    assert 'tessera.fusion.source = "descriptor"' in lowered
    assert "apple_gpu_" in str(
        tessera.jit(attention, target="apple_gpu").target_ir(Q, K, V)
    )
    plain = tessera.jit(attention, target="cpu").target_ir(Q, K, V)
    assert "tessera.softmax" in str(plain)
    assert "tessera.fusion" not in str(plain)
    plain.body.block.first_op.detach()  # pyright: ignore[reportOptionalMemberAccess]


def test_audit_is_a_document_that_reads_well() -> None:
    audit = tessera.jit(attention).audit(Q, K, V)
    (site,) = audit.sites
    assert (site.kind, site.outcome, site.source) == (
        "attention",
        "fused",
        "descriptor",
    )
    assert audit.to_json()["model"] == "attention"
    assert "matmul_softmax_matmul" in str(audit)
    assert repr(audit) == str(audit)


def test_an_unknown_target_is_refused() -> None:
    with pytest.raises(TesseraError, match="apple_tpu"):
        tessera.jit(attention, target="apple_tpu")(Q, K, V)


def test_an_error_is_not_kept() -> None:
    state = {"fail": True}

    @tessera.jit(target="cpu")
    def moody(x):
        if state["fail"]:
            raise RuntimeError("not today")
        return x + 1

    with pytest.raises(RuntimeError, match="not today"):
        moody(X)
    state["fail"] = False
    np.testing.assert_array_equal(moody(X), X + 1)


def test_eight_threads_build_each_signature_once() -> None:
    for _ in range(20):
        add, traces = counted()
        barrier = threading.Barrier(8)

        def run(number: int, add: Any = add, barrier: Any = barrier) -> None:
            barrier.wait()
            np.testing.assert_array_equal(add(X), X + 1)
            x = np.full((number + 1, 2), number, np.float32)
            np.testing.assert_array_equal(add(x), x + 1)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(run, range(8)))
        assert sorted(traces) == sorted([(3, 4), *((n + 1, 2) for n in range(8))])


def test_eight_threads_compile_eight_functions() -> None:
    for _ in range(10):
        shared = tessera.jit(attention)
        barrier = threading.Barrier(8)

        def run(number: int, shared: Any = shared, barrier: Any = barrier) -> None:
            own = tessera.jit(lambda q, k, v: attention(q, k, v) + number)
            barrier.wait()
            wanted = attention(Q, K, V)
            for found in (shared(Q, K, V), own(Q, K, V) - number):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(run, range(8)))


def test_an_index_out_of_range_is_an_error_when_run() -> None:
    rows = tessera.jit(lambda x, i: ops.gather(x, i), target="cpu")
    np.testing.assert_array_equal(rows(X, np.array([0, -1])), X[[0, -1]])
    with pytest.raises(TesseraError):
        rows(X, np.array([0, 3]))


@pytest.mark.parametrize("target", TARGETS)
def test_a_chain_of_thousands(target: str) -> None:
    @tessera.jit(target=target)
    def deep(y):
        for _ in range(5000):
            y = y + 1
        return y

    np.testing.assert_array_equal(deep(np.zeros(2, np.float32)), [5000, 5000])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("batch", [0, 1])
def test_empty_and_single_batches(target: str, batch: int) -> None:
    q = Q[:batch]
    found = tessera.jit(attention, target=target)(q, K[:batch], V[:batch])
    np.testing.assert_allclose(found, attention(q, K[:batch], V[:batch]), atol=1e-5)
