"""Small graphs with chains in them, and what every target must make of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from tessera.catalog import KERNEL_BY_NAME
from tessera.driver import Compiled, compile_graph_module
from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.locations import file_location
from tessera.graph.operation import read_options
from tessera.graph.types import tensor, value_dtype, value_shape
from tessera.reference.dtypes import DTYPES
from tessera.runtime import execute
from tessera.target.dialect import CallOp

Arrays = dict[str, np.ndarray]
KERNEL, SOURCE = "tessera.fusion.kernel", "tessera.fusion.source"
INTENT, SITE = "tessera.fusion.intent", "tessera.fusion.id"
APPLE = ("apple_cpu", "apple_gpu")
EPSILON = {"f64": 1e-12, "f32": 2e-5, "f16": 4e-3, "bf16": 3e-2}


class Bench:
    """A function under construction whose inputs are drawn as they are declared.

    Floats have element type `dtype`; the same seed draws the same numbers, rounded to
    `rounded` first, so that an f64 twin sees what a narrow graph sees.
    """

    def __init__(self, dtype: str = "f32", rounded: str = "", seed: int = 0) -> None:
        self.dtype, self.rounded = dtype, rounded or dtype
        self.rng = np.random.default_rng(seed)
        self.graph = GraphBuilder()
        self.inputs: Arrays = {}
        self.line = 0

    def round(self, array: Any) -> np.ndarray:
        narrow = np.asarray(array, np.float64).astype(DTYPES[self.rounded])
        return narrow.astype(DTYPES[self.dtype])

    def x(self, name: str, *shape: int, scale: float = 1.0) -> SSAValue:
        """An input of normal numbers."""
        self.inputs[name] = self.round(self.rng.normal(size=shape) * scale)
        return self.graph.input(name, self.dtype, shape)

    def given(self, name: str, array: np.ndarray) -> SSAValue:
        """An input with these values: floats in the bench's type, others as they are."""
        array = array if array.dtype == np.bool_ else self.round(array)
        self.inputs[name] = array
        dtype = "i1" if array.dtype == np.bool_ else self.dtype
        return self.graph.input(name, dtype, array.shape)

    def const(self, array: Any, key: str = "folded") -> SSAValue:
        """A float constant in the bench's type."""
        return self.graph.const(self.round(array), key)

    def op(self, name: str, *operands: SSAValue, **options: Any) -> SSAValue:
        """An op on a line of its own; `stamp` is its intent."""
        self.line += 1
        intent = options.pop("stamp", None)
        place = file_location("model.py", self.line, 1)
        value = self.graph.op(name, *operands, location=place, **options)
        if intent is not None:
            assert isinstance(value.owner, Operation)
            stamp(value.owner, intent)
        return value

    def cast(self, x: SSAValue, dtype: str) -> SSAValue:
        return self.op("cast", x, result=tensor(dtype, value_shape(x)))

    def reshape(self, x: SSAValue, *shape: int) -> SSAValue:
        return self.op("reshape", x, result=tensor(value_dtype(x), shape))

    def broadcast(self, x: SSAValue, *shape: int) -> SSAValue:
        return self.op("broadcast", x, result=tensor(value_dtype(x), shape))

    def close(self, *values: SSAValue) -> Case:
        """The finished graph; results are y0, y1, …"""
        named = [(f"y{i}", value) for i, value in enumerate(values)]
        return Case(self.graph.module(named), self.inputs)


@dataclass(frozen=True)
class Case:
    """A module and inputs for it."""

    module: ModuleOp
    inputs: Arrays

    def meant(self) -> Arrays:
        """The results op by op."""
        with np.errstate(all="ignore"):
            return evaluate(self.module, self.inputs)


Build = Callable[[Bench], SSAValue | tuple[SSAValue, ...]]


def case(build: Build, dtype: str = "f32", rounded: str = "") -> Case:
    """The graph that `build` makes on a bench of this type."""
    bench = Bench(dtype, rounded)
    made = build(bench)
    return bench.close(*(made if isinstance(made, tuple) else (made,)))


def run(compiled: Compiled, inputs: Mapping[str, np.ndarray]) -> Arrays:
    """The results of a compiled program on this host, whatever its target."""
    program = compiled.program()
    if program.target == "apple_gpu":  # the same steps; only the device is missing
        program = replace(program, target="apple_cpu")
    return execute(program, inputs)


def calls(compiled: Compiled) -> list[CallOp]:
    """The calls of a compiled module in order, fused or not."""
    return [op for op in compiled.walk() if isinstance(op, CallOp)]


def fused(compiled: Compiled) -> list[tuple[str, str]]:
    """Kernel and source of each fused call in order."""
    found = [(c.note(KERNEL), c.note(SOURCE)) for c in calls(compiled)]
    return [(str(kernel), str(source)) for kernel, source in found if kernel]


def options_of(call: CallOp) -> dict[str, Any]:
    """The options of a fused call."""
    kernel = KERNEL_BY_NAME[call.op]
    return read_options(kernel.options, call.attributes)


def near(found: Arrays, wanted: Arrays, dtype: str = "f32") -> None:
    """Each result has the wanted shape and is within rounding of the wanted values."""
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        got, want = (np.asarray(a, np.float64) for a in (found[name], array))
        assert got.shape == want.shape
        scale = np.max(np.abs(want[np.isfinite(want)]), initial=1.0)
        eps = EPSILON[dtype]
        np.testing.assert_allclose(got, want, rtol=eps, atol=eps * scale)


def agree(build: Build, *kernels: str, dtype: str = "f32") -> Compiled:
    """Every target computes the f64 meaning; the Apple ones by exactly these kernels.

    The chains are driven by their descriptors.  Returns what apple_gpu compiled to.
    """
    twin = case(build, "f64", dtype).meant()
    made = case(build, dtype)
    compiled = {t: compile_graph_module(made.module, t) for t in ("cpu", *APPLE)}
    near(run(compiled["cpu"], made.inputs), twin, dtype)
    for target in APPLE:
        found = fused(compiled[target])
        assert found == [(kernel, "descriptor") for kernel in kernels]
        near(run(compiled[target], made.inputs), twin, dtype)
    return compiled["apple_gpu"]


def stamp(op: Operation, kernel: str) -> None:
    """Write an intent on an op."""
    op.attributes[INTENT] = StringAttr(kernel)


def only(module: ModuleOp, name: str) -> Operation:
    """The last op of that short name."""
    found = [op for op in module.walk() if op.name == f"tessera.{name}"]
    return found[-1]
