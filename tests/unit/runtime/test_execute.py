"""Running a program: values, placements, freeing, and errors that name the place."""

import gc
import itertools
import math
import weakref
from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest

from tessera.artifact import Program, Step, Value
from tessera.diagnostics import TesseraError
from tessera.reference import PRIMITIVES
from tessera.runtime import (
    EXECUTORS,
    execute,
    find_executor,
    placements,
    step_placement,
)
from tests.unit.artifact.programs import SITE, mlp

FEEDS = {
    "x": np.array([[1.0, 2.0], [-3.0, 0.5]], np.float32),
    "ids": np.array([2, 0]),
}


def gelu(x: float) -> float:
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def test_results_are_what_the_equations_say():
    program = mlp()
    found = execute(program, FEEDS)
    hidden = FEEDS["x"] @ program.weights["w"] + program.weights["b"]
    np.testing.assert_allclose(found["y"], np.vectorize(gelu)(hidden), rtol=1e-6)
    np.testing.assert_array_equal(found["rows"], program.weights["table"][[2, 0]] * 2)
    assert list(found) == ["y", "rows"]


def test_a_default_may_be_replaced():
    found = execute(mlp(), {**FEEDS, "scale": np.float32(10)})
    np.testing.assert_array_equal(found["rows"][1], np.arange(4) * 10)


def test_a_native_kernel_runs_in_place_of_the_expansion():
    seen: list[tuple[tuple[int, ...], dict[str, object]]] = []

    def kernel(x: np.ndarray, w: np.ndarray, b: np.ndarray, **options: object):
        seen.append((x.shape, options))
        return x @ w + b + 100

    kernels = {"matmul_gelu": kernel}
    assert placements(mlp()) == {SITE: "reference"}
    assert placements(mlp(), kernels=kernels) == {SITE: "native"}
    found = execute(mlp(), FEEDS, kernels=kernels)
    assert seen == [((2, 2), {"approximate": "none"})]
    assert found["y"].min() > 50


def test_placement_of_steps():
    executor = find_executor("cpu")
    wanted = {"matmul": "library", "conv": "library", "add": "reference"}
    for op, placement in wanted.items():
        assert step_placement(Step(op, (), ("y",)), executor) == placement


def chain(length: int) -> Program:
    names = ["x", *(f"v{i}" for i in range(length)), "y"]
    pairs = itertools.pairwise(names)
    steps = tuple(Step("neg", (a,), (b,)) for a, b in pairs)
    value = Value("x", "f32", (8,))
    return Program("cpu", (value,), (replace(value, name="y"),), {}, {}, steps)


def test_a_value_goes_after_its_last_use(monkeypatch):
    """No more than two values of a chain are alive at any time."""
    alive: list[weakref.ref[np.ndarray]] = []
    most = 0
    primitive = PRIMITIVES["neg"]

    def watched(x: np.ndarray) -> np.ndarray:
        nonlocal most
        result = np.array(primitive(x))
        alive.append(weakref.ref(result))
        gc.collect()
        most = max(most, sum(ref() is not None for ref in alive))
        return result

    monkeypatch.setattr("tessera.runtime.steps.PRIMITIVES", {"neg": watched})
    execute(chain(20), {"x": np.ones(8, np.float32)})
    assert most == 2


def test_a_value_read_again_later_stays():
    steps = (
        Step("neg", ("x",), ("a",)),
        Step("neg", ("a",), ("b",)),
        Step("add", ("a", "b"), ("y",)),
        Step("add", ("x", "a"), ("z",)),
    )
    program = replace(
        chain(1),
        steps=steps,
        outputs=tuple(Value(n, "f32", (8,)) for n in ("y", "z", "a", "x")),
    )
    found = execute(program, {"x": np.ones(8, np.float32)})
    assert [found[n][0] for n in ("y", "z", "a", "x")] == [0, 0, -1, 1]


def test_several_results_and_an_absent_operand():
    steps = (
        Step("rmsnorm", ("x", ""), ("n",)),
        Step("topk", ("n",), ("best", "at"), {"k": 1, "axis": -1}),
    )
    outputs = (Value("best", "f32", (1,)), Value("at", "i64", (1,)))
    found = execute(
        replace(chain(1), steps=steps, outputs=outputs),
        {"x": np.arange(8, dtype=np.float32)},
    )
    assert found["at"].tolist() == [7]


def test_infinities_and_nan_are_values_not_warnings():
    steps = (Step("log", ("x",), ("l",)), Step("sub", ("l", "l"), ("y",)))
    found = execute(replace(chain(1), steps=steps), {"x": np.zeros(8, np.float32)})
    assert np.isnan(found["y"]).all()


def refused(feeds: dict[str, object], program: Program | None = None) -> TesseraError:
    with pytest.raises(TesseraError) as caught:
        execute(program or mlp(), feeds)
    assert caught.value.remedy
    return caught.value


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        ({"x": None}, "TSR-R030", ("'x'", "x: f32[?×2]")),
        ({"idz": 1}, "TSR-R030", ("'idz'", "did you mean 'ids'")),
        ({"qqq": 1}, "TSR-R030", ("'qqq'", "ids: i64[?]")),
        ({"x": np.ones((1, 2))}, "TSR-R031", ("'x'", "f64", "f32")),
        ({"x": np.ones((1, 2), int)}, "TSR-R031", ("'x'", "i64", "f32")),
        ({"ids": np.array([1.0])}, "TSR-R031", ("'ids'", "f64", "i64")),
        ({"ids": np.array([True])}, "TSR-R031", ("'ids'", "i1", "i64")),
        ({"ids": np.array(["a"])}, "TSR-R031", ("'ids'", "<U1", "i64")),
        ({"ids": np.array([2**63], np.uint64)}, "TSR-R031", ("'ids'", str(2**63))),
        ({"x": np.ones((1, 3), "f4")}, "TSR-R032", ("f32[1×3]", "f32[?×2]")),
        ({"x": np.ones(2, "f4")}, "TSR-R032", ("f32[2]", "f32[?×2]")),
    ],
)
def test_inputs_that_do_not_fit(change, code, words):
    given = {**FEEDS, **change}
    error = refused({k: v for k, v in given.items() if v is not None})
    assert error.code.id == code
    for word in words:
        assert word in str(error)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, ">i8"])
def test_integers_of_another_width_that_fit(dtype):
    found = execute(mlp(), {**FEEDS, "ids": np.array([2, 0], dtype)})
    assert found["rows"][0, 0] == 16


def test_python_integers_fit_and_an_empty_batch_runs():
    assert execute(mlp(), {**FEEDS, "ids": [1]})["rows"].shape == (1, 4)
    empty = {"x": np.zeros((0, 2), np.float32), "ids": np.zeros(0, np.int32)}
    assert execute(mlp(), empty)["y"].shape == (0, 4)


def test_narrow_integers_refuse_what_they_cannot_hold():
    value = Value("x", "i8", (1,))
    program = replace(chain(0), inputs=(value,), outputs=(replace(value, name="y"),))
    assert execute(program, {"x": np.array([-128])})["y"].dtype == np.int8
    assert "128 to 128" in str(refused({"x": np.array([128])}, program))


def test_bf16_in_and_out():
    value = Value("x", "bf16", (2,))
    program = replace(chain(0), inputs=(value,), outputs=(replace(value, name="y"),))
    given = np.array([1, 2], ml_dtypes.bfloat16)
    assert execute(program, {"x": given})["y"].dtype == ml_dtypes.bfloat16
    assert "found f32" in str(refused({"x": np.ones(2, np.float32)}, program))


def test_a_failing_step_is_named_with_its_site():
    error = refused({**FEEDS, "ids": np.array([7])})
    assert error.code.id == "TSR-R034"
    assert "step 1 (gather)" in error.message
    assert "7" in error.message

    program = mlp()
    weights = {**program.weights, "b": np.ones(3, np.float32)}
    error = refused(FEEDS, replace(program, weights=weights))
    assert f"step 0 (matmul_gelu, site {SITE}): step 1 (add) failed" in error.message


def test_a_failing_native_kernel_is_an_error_too():
    def kernel(*_: object, **__: object) -> np.ndarray:
        raise MemoryError

    with pytest.raises(TesseraError, match="not enough memory"):
        execute(mlp(), FEEDS, kernels={"matmul_gelu": kernel})


@pytest.mark.parametrize(
    ("target", "device", "words"),
    [
        ("apple_gpu", "", ("Mac", "apple_cpu")),
        ("apple_gpu", "emulator", ("emulator", "later release", "apple_cpu")),
        ("apple_gpu", "gpu7", ("metal, emulator",)),
        ("cpu", "metal", ("host",)),
        ("tpu", "", ("no such target", "cpu, apple_cpu, apple_gpu")),
    ],
)
def test_a_target_that_cannot_run_here_says_what_can(target, device, words):
    with pytest.raises(TesseraError) as caught:
        execute(replace(mlp(), target=target), FEEDS, device=device)
    assert caught.value.code.id == "TSR-R033"
    for word in words:
        assert word in str(caught.value)
    assert placements(replace(mlp(), target=target), device=device) == {}


def test_nothing_that_is_promised_for_later_is_registered():
    assert set(EXECUTORS) == {("cpu", "host"), ("apple_cpu", "host")}
