"""The errors that `codegen.cpu.math` states, over the floats that matter."""

from __future__ import annotations

from collections.abc import Callable
from math import erf
from typing import Any

import numpy as np
import pytest

from tessera.artifact import Native, Value, code_name
from tessera.codegen.cpu import math
from tessera.codegen.cpu.builder import Builder, Reg
from tessera.codegen.cpu.frame import Frame, module
from tessera.codegen.cpu.host import HOSTS, Host
from tessera.reference import PRIMITIVES
from tessera.runtime.native import Launcher

Function = Callable[[Builder, Reg], Reg]


def mapped(function: Function, x: np.ndarray, host: Host) -> np.ndarray:
    """`function` of each element; x is a multiple of the vector width long."""

    def plan(b: Builder, f: Frame) -> Reg:
        f["out"].set_size(0, f["x"].size(0))
        f.finish(1, 0)
        return Reg(b, "true", "i1")

    def task(b: Builder, f: Frame, scratch: Reg, task: Reg) -> None:
        source, target = f["x"].address, f["out"].address
        with b.loop(0, f["x"].size(0) * 4, b.width * 4) as at:
            b.store(function(b, b.load(b.floats, source, at)), target, at)

    values = {name: Value(name, "f32", (None,)) for name in ("x", "out")}
    text = module(host, values, plan, {"task": task})
    native = Native(code_name(text), (("f32", 1),), (("f32", 1),))
    return Launcher(native, text)(x)[0].astype("f8")


RANGE = np.linspace(-30, 30, 1 << 14).astype(np.float32)
NEAR = np.linspace(-1, 1, 1 << 14).astype(np.float32)
CASES: dict[str, tuple[Function, Any, float]] = {
    "sigmoid": (math.sigmoid, lambda x: 1 / (1 + np.exp(-x)), 2e-7),
    "tanh": (math.tanh, np.tanh, 2e-7),
    "erf": (math.erf, np.vectorize(erf), 5e-7),
}


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("name", CASES)
def test_absolute_errors(name: str, host: Host) -> None:
    function, exact, bound = CASES[name]
    for x in (RANGE, NEAR):
        error = np.abs(mapped(function, x, host) - exact(x.astype("f8")))
        assert error.max() <= bound


def test_exp2_has_a_relative_error_and_goes_to_zero() -> None:
    x = np.linspace(-126, 127, 1 << 16).astype(np.float32)
    wanted = np.exp2(x.astype("f8"))
    assert (np.abs(mapped(math.exp2, x, HOSTS[0]) / wanted - 1)).max() <= 3e-7
    low = np.full(16, -127.5, np.float32)
    low[:3] = -np.inf, np.nan, -3.4e38
    found = mapped(math.exp2, low, HOSTS[0])
    assert np.isnan(found[1])
    assert (np.delete(found, 1) == 0).all()


def test_tanh_is_relative_near_zero() -> None:
    x = np.geomspace(1e-20, 0.62, 1 << 12).astype(np.float32)
    error = np.abs(mapped(math.tanh, x, HOSTS[0]) / np.tanh(x.astype("f8")) - 1)
    assert error.max() <= 3e-7


@pytest.mark.parametrize("form", ["none", "tanh", "quick"])
def test_gelu(form: str) -> None:
    wanted = PRIMITIVES["gelu"](RANGE.astype("f8"), approximate=form)
    found = mapped(lambda b, x: math.gelu(b, x, form), RANGE, HOSTS[0])
    error = np.abs(found - np.asarray(wanted)) / np.maximum(1, np.abs(RANGE))
    assert error.max() <= 2e-7
