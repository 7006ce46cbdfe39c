"""Runs a program step by step, keeping no value longer than it is needed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tessera.artifact import Call, Program, Step
from tessera.decisions import Placement
from tessera.diagnostics import TesseraError
from tessera.reference import PRIMITIVES, Array, Primitive
from tessera.runtime.bind import bind
from tessera.runtime.codes import STEP_FAILED
from tessera.runtime.executors import Executor, NativeKernel, find_executor
from tessera.runtime.native import launcher

LIBRARY = frozenset({"matmul", "conv", "grouped_matmul"})


def execute(
    program: Program,
    inputs: Mapping[str, Any],
    *,
    device: str = "",
    kernels: Mapping[str, NativeKernel] | None = None,
) -> dict[str, Array]:
    """Run a program: arrays by input name in, arrays by output name out.

    A result may be a view of an input or a weight.  `kernels` replaces all native code
    of the target's executor.  Raises TesseraError TSR-R030 … R032 for inputs
    that do not fit, TSR-R033 when the target cannot run here, TSR-R034 when a step
    fails.
    """
    executor = _executor(program, device, kernels)
    values = bind(program, inputs)
    wanted = [output.name for output in program.outputs]
    with np.errstate(all="ignore"):
        _Run(executor, program).steps(program.steps, values, wanted)
    return {name: _value(values, program.weights, name) for name in wanted}


def placements(
    program: Program,
    *,
    device: str = "",
    kernels: Mapping[str, NativeKernel] | None = None,
) -> dict[str, Placement]:
    """What runs each fused call on this machine, by site id.

    Empty when the target cannot run here: then nothing runs the calls.
    """
    try:
        executor = _executor(program, device, kernels)
    except TesseraError:
        return {}
    return {
        step.call.site: step_placement(step, executor)
        for step in program.steps
        if step.call is not None
    }


def _executor(
    program: Program, device: str, kernels: Mapping[str, NativeKernel] | None
) -> Executor:
    executor = find_executor(program.target, device)
    if kernels is None:
        return executor
    return replace(executor, kernels=kernels, native=False)


def step_placement(step: Step, executor: Executor) -> Placement:
    """`native` for machine code, `library` for BLAS, `reference` for the rest."""
    if step.call is not None:
        coded = executor.native and step.call.native is not None
        native = coded or step.call.kernel in executor.kernels
        return "native" if native else "reference"
    return "library" if step.op in LIBRARY else "reference"


class _Run:
    """One execution: what runs a step, and the weights it may read."""

    def __init__(self, executor: Executor, program: Program) -> None:
        self.executor = executor
        self.weights = program.weights
        self.code = program.code

    def steps(
        self, steps: Sequence[Step], values: dict[str, Array], keep: Collection[str]
    ) -> None:
        """Run steps in order; a value not in `keep` goes after its last use."""
        last = _last_uses(steps)
        for number, step in enumerate(steps):
            operands = [_value(values, self.weights, name) for name in step.inputs]
            try:
                results = self.step(step, operands)
            except TesseraError as error:
                raise _outer(number, step, error) from error
            except _COMPLAINTS as error:
                raise _failed(number, step, error) from error
            values.update(zip(step.outputs, results, strict=True))
            del operands, results
            for name in {*step.inputs, *step.outputs}:
                if last.get(name, number) == number and name not in keep:
                    values.pop(name, None)

    def step(self, step: Step, operands: Sequence[Any]) -> Sequence[Array]:
        """The results of one step: a native kernel, an expansion, or a primitive."""
        if step.call is None:
            return _results(PRIMITIVES[step.op], step, operands)
        native = self.executor.kernels.get(step.call.kernel)
        if native is not None:
            return _results(native, step, operands)
        coded = step.call.native
        if self.executor.native and coded is not None:
            return _results(launcher(coded, self.code[coded.code]), step, operands)
        return self.expansion(step, step.call, operands)

    def expansion(
        self, step: Step, call: Call, operands: Sequence[Any]
    ) -> Sequence[Array]:
        """The results of a fused call by its primitive steps."""
        pairs = zip(step.inputs, operands, strict=True)
        values = {name: value for name, value in pairs if name}
        self.steps(call.expansion, values, step.outputs)
        return [_value(values, self.weights, name) for name in step.outputs]


_COMPLAINTS = (
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    ArithmeticError,
    MemoryError,
)


def _results(
    function: Primitive | NativeKernel, step: Step, operands: Sequence[Any]
) -> Sequence[Array]:
    found = function(*operands, **step.attributes)
    return found if isinstance(found, tuple) else (found,)


def _value(values: Mapping[str, Array], weights: Mapping[str, Array], name: str) -> Any:
    """The array of a name; None for an absent optional operand."""
    if not name:
        return None
    return values[name] if name in values else weights[name]


def _last_uses(steps: Sequence[Step]) -> dict[str, int]:
    return {name: n for n, step in enumerate(steps) for name in step.inputs}


def _place(number: int, step: Step) -> str:
    if step.call is None:
        return f"step {number} ({step.op})"
    return f"step {number} ({step.op}, site {step.call.site})"


def _failed(number: int, step: Step, error: Exception) -> TesseraError:
    reason = str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        reason = "not enough memory" + (f": {error}" if str(error) else "")
    text = f"{_place(number, step)} failed: {reason}"
    remedy = "check the inputs' sizes and values against what the model expects"
    return TesseraError(STEP_FAILED, text, remedy=remedy)


def _outer(number: int, step: Step, error: TesseraError) -> TesseraError:
    """The same error, told from the step of the program that it happened in."""
    text = f"{_place(number, step)}: {error.message}"
    return TesseraError(error.code, text, error.location, error.remedy)
