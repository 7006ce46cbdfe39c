"""From IR to the steps a runtime takes: names, weights, calls and their expansions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tessera.artifact import Call, Native, Program, Step, Value, code_name
from tessera.diagnostics import TesseraError, declare
from tessera.fusion.kernel import FusedKernel, Spec
from tessera.graph.builder import DEFAULT
from tessera.graph.dialect import OPS
from tessera.graph.evaluate import argument_names, result_names
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp, read_options
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import DYN, dtype_of, shape_of
from tessera.graph.weights import WeightAttr, array_of
from tessera.target.dialect import KERNEL, SITE, SOURCE, CallOp
from tessera.target.expand import expand

NO_ENTRY = declare(
    "TSR-T006",
    "the module cannot be turned into a program",
    "A program is one function of tensor operations: named `main`, or the only one of the "
    "module; a result must not have the name of an argument unless it is that argument.",
    "error",
)


def entry_function(module: ModuleOp) -> FuncOp:
    """The function a program runs: `main`, or the only one with a body."""
    functions = [f for f in module.ops if isinstance(f, FuncOp) and f.body.blocks]
    named = [f for f in functions if f.sym_name.data == "main"]
    if len(named or functions) != 1:
        names = ", ".join(f"@{f.sym_name.data}" for f in functions) or "none"
        raise TesseraError(
            NO_ENTRY,
            f"the module has no single entry function; its functions: {names}",
            remedy="name the one to run @main",
        )
    return (named or functions)[0]


def build_program(
    module: ModuleOp,
    target: str,
    kernels: Mapping[str, FusedKernel],
    host: object | None = None,
) -> Program:
    """The program of a lowered module (Target IR, or Graph IR for `cpu`).

    `host` is what the kernels' emitters are told of the CPU; without one no call gets
    machine code.
    """
    return _Program(entry_function(module), kernels, host).build(target)


class _Program:
    """One program under construction."""

    def __init__(
        self,
        function: FuncOp,
        kernels: Mapping[str, FusedKernel],
        host: object | None = None,
    ) -> None:
        self.function = function
        self.kernels = kernels
        self.host = host
        self.code: dict[str, str] = {}
        self.emitted: dict[Hashable, str | None] = {}
        self.names: dict[SSAValue, str] = {}
        self.weights: dict[str, np.ndarray] = {}
        self.used: set[str] = set()
        self.steps: list[Step] = []

    def build(self, target: str) -> Program:
        block = self.function.body.blocks[0]
        inputs = self._inputs(block)
        defaults = self._defaults(inputs)
        *ops, last = block.ops
        assert isinstance(last, ReturnOp)
        outputs = self._outputs(last)
        for op in ops:
            self._visit(op)
        self._pass_through(last, outputs)
        return Program(
            target=target,
            inputs=tuple(inputs),
            outputs=tuple(outputs),
            defaults=defaults,
            weights=self.weights,
            steps=tuple(self.steps),
            code=self.code,
        )

    def _inputs(self, block: Block) -> list[Value]:
        names = argument_names(self.function)
        self.used.update(names)
        self.names.update(zip(block.args, names, strict=True))
        return [
            _value(name, arg.type) for name, arg in zip(names, block.args, strict=True)
        ]

    def _defaults(self, inputs: Sequence[Value]) -> dict[str, str]:
        notes = self.function.arg_attrs
        defaults: dict[str, str] = {}
        for value, note in zip(inputs, notes.data if notes else (), strict=False):
            weight = note.data.get(DEFAULT)
            if weight is not None:
                defaults[value.name] = self._weight(f"{value.name}.default", weight)
        return defaults

    def _outputs(self, op: ReturnOp) -> list[Value]:
        """Name each result's value, once; what cannot be named so is passed at the end."""
        outputs: list[Value] = []
        for name, value in zip(result_names(self.function), op.operands, strict=True):
            outputs.append(_value(name, value.type))
            if self.names.get(value) == name:
                continue
            if name in self.used:
                text = f"result '{name}' has the name of an argument or another result"
                raise TesseraError(NO_ENTRY, text, location_of(op))
            self.used.add(name)
            if value not in self.names and not isinstance(value.owner, ConstOp):
                self.names[value] = name
        return outputs

    def _pass_through(self, op: ReturnOp, outputs: Sequence[Value]) -> None:
        """Copy arguments, constants and repeated values to the results they also are."""
        for value, output in zip(op.operands, outputs, strict=True):
            found = self.names[value]
            if found != output.name:
                attributes = {"dtype": output.dtype}
                self.steps.append(Step("cast", (found,), (output.name,), attributes))

    def _visit(self, op: Operation) -> None:
        if isinstance(op, ConstOp):
            self.names[op.results[0]] = self._weight("constant", op.attributes["value"])
        elif isinstance(op, CallOp):
            self._call(op)
        elif isinstance(op, GraphOp):
            self.steps.append(self._step(op.short(), op, op.keywords()))
        else:
            text = f"'{op.name}' is no step of a program"
            raise TesseraError(NO_ENTRY, text, location_of(op))

    def _weight(self, name: str, value: Attribute) -> str:
        if isinstance(value, WeightAttr):
            name = value.data.key
        array = array_of(value)
        name = self._fresh(name)
        self.weights[name] = array
        return name

    def _fresh(self, base: str) -> str:
        name, number = base, 1
        while name in self.used:
            name, number = f"{base}.{number}", number + 1
        self.used.add(name)
        return name

    def _name(self, value: SSAValue, base: str = "") -> str:
        if value not in self.names:
            self.names[value] = self._fresh(base or f"%{len(self.names)}")
        return self.names[value]

    def _step(self, op: str, source: Operation, keywords: Mapping[str, Any]) -> Step:
        inputs = tuple(self.names[value] for value in source.operands)
        outputs = tuple(self._name(value) for value in source.results)
        return Step(op, inputs, outputs, _plain(keywords))

    def _call(self, call: CallOp) -> None:
        name = call.note(KERNEL)
        if name is None:
            kind = OPS[call.op]
            keywords = read_options(kind.attrs, call.attributes)
            keywords.update(kind.type_keywords(call.results[0].type))
            self.steps.append(self._step(call.op, call, keywords))
            return
        kernel = self.kernels[name]
        options = read_options(kernel.options, call.attributes)
        step = self._step(name, call, options)
        record = Call(
            kernel=name,
            symbol=call.symbol,
            source=call.note(SOURCE) or "",
            site=call.note(SITE) or "",
            expansion=self._expansion(call, kernel, step),
            native=self._native(call, kernel, options),
        )
        done = Step(step.op, step.inputs, step.outputs, step.attributes, record)
        self.steps.append(done)

    def _native(
        self, call: CallOp, kernel: FusedKernel, options: Mapping[str, Any]
    ) -> Native | None:
        """Machine code for the call, where its kernel has some for this host."""
        if self.host is None or kernel.cpu is None:
            return None
        gives = call.words("gives") or ("out",)
        names = (*call.words("roles"), *gives)
        arrays = [_value("", x.type) for x in (*call.operands, *call.results)]
        key = (kernel.name, names, tuple(arrays), tuple(options.items()))
        if key not in self.emitted:
            spec = Spec(dict(zip(names, arrays, strict=True)), options)
            self.emitted[key] = self._emit(kernel.cpu(spec, self.host))
        name = self.emitted[key]
        if name is None:
            return None
        kinds = [(array.dtype, len(array.shape)) for array in arrays]
        split = len(call.operands)
        return Native(name, tuple(kinds[:split]), tuple(kinds[split:]))

    def _emit(self, text: str | None) -> str | None:
        """Keep a text; its name."""
        if text is None:
            return None
        name = code_name(text)
        self.code[name] = text
        return name

    def _expansion(
        self, call: CallOp, kernel: FusedKernel, step: Step
    ) -> tuple[Step, ...]:
        block, results = expand(call, kernel)
        self.names.update(zip(block.args, step.inputs, strict=True))
        self.names.update(zip(results, step.outputs, strict=True))
        before, self.steps = self.steps, []
        for op in block.ops:
            for value in op.results:
                if not isinstance(op, ConstOp):
                    self._name(value, f"{step.outputs[0]}/{op.name.split('.')[1]}")
            self._visit(op)
        steps, self.steps = self.steps, before
        return tuple(steps)


def _value(name: str, type: Attribute) -> Value:
    shape = tuple(None if s == DYN else s for s in shape_of(type))
    return Value(name, dtype_of(type), shape)


def _plain(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments as JSON data: tuples as lists, absent options left out."""
    return {
        key: list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else value
        for key, value in keywords.items()
        if value is not None
    }
