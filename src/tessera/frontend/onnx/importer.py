"""From a model's records to a Graph IR module: one walk over the nodes, one row each."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import SSAValue

from tessera.diagnostics import TesseraError, declare
from tessera.frontend.onnx.model import STANDARD, Graph, Model, Node
from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.protos import MALFORMED_GRAPH, read_model, read_proto
from tessera.frontend.onnx.step import BAD_ATTRIBUTE, MISSING_OPERAND, UNSUPPORTED, Step
from tessera.frontend.onnx.table import ROWS, Row
from tessera.graph.builder import GraphBuilder
from tessera.graph.locations import file_location, named_location
from tessera.graph.types import tensor

UNKNOWN_OPS = declare(
    "TSR-I020",
    "the model uses ops that the importer does not know",
    "All op types without an import rule are listed at once, each with one node that uses "
    "it. Export with standard ops, or decompose these before export.",
)
CONTROL_FLOW = declare(
    "TSR-I023",
    "the model branches or loops",
    "If, Loop and Scan hold graphs of their own and are not imported yet. Fold the "
    "condition or unroll the loop: most exporters do so for a fixed input size.",
)
UNDEFINED = declare(
    "TSR-I021",
    "a node reads a value that nothing makes",
    "The named input is neither a graph input, nor an initialiser, nor a node's result. "
    "The file is damaged or was cut by a tool; export it again.",
    "error",
)
UNSORTED = declare(
    "TSR-I022",
    "a node reads a value that is made later",
    "ONNX wants nodes in topological order: every value is made before it is read. When "
    "the nodes form a cycle no order exists; otherwise sort them and save again.",
    "error",
)


def import_model(path: str | Path) -> ModuleOp:
    """The module of an .onnx file: one function `main`, arguments and results by name.

    Raises TesseraError for whatever is wrong with the file.
    """
    path = Path(path)
    return _import(read_model(read_proto(path), path.name, path.parent))


def import_proto(model: Any, file_name: str, folder: Path | None = None) -> ModuleOp:
    """The module of an `onnx.ModelProto`; external data is looked for in `folder`."""
    return _import(read_model(model, file_name, folder))


def _import(model: Model) -> ModuleOp:
    _need_known_ops(model.graph)
    return _Importer(model).run()


def _need_known_ops(graph: Graph) -> None:
    """Refuse, all at once, op types that have no row."""
    unknown: dict[str, Node] = {}
    for node in graph.nodes:
        if node.key not in ROWS:
            unknown.setdefault(node.key, node)
    for node in unknown.values():
        if node.key in ("If", "Loop", "Scan"):
            raise node.error(CONTROL_FLOW, "graphs inside a node are not imported yet")
    if unknown:
        first = next(iter(unknown.values()))
        listed = ", ".join(f"{key} ({node.place})" for key, node in unknown.items())
        text = f"{len(unknown)} op types have no import rule: {listed}"
        raise TesseraError(UNKNOWN_OPS, text, first.location)


@dataclass
class _Importer:
    """The walk: what every name means so far, and the function being built."""

    model: Model
    builder: GraphBuilder = field(default_factory=GraphBuilder)
    scope: MutableMapping[str, Operand] = field(default_factory=dict[str, Operand])
    keys: set[str] = field(default_factory=set[str])

    def run(self) -> ModuleOp:
        """Import the whole graph."""
        graph = self.model.graph
        self._bind_inputs(graph)
        for node in graph.nodes:
            self._import_node(node)
        outputs = [(name, self._result(name)) for name in graph.outputs]
        if not outputs:
            text = f"'{self.model.file}': the graph has no outputs"
            raise TesseraError(MALFORMED_GRAPH, text)
        module = self.builder.module(outputs)
        _drop_unused(self.builder)
        return module

    def _bind_inputs(self, graph: Graph) -> None:
        """Make the arguments; an initialiser of the same name is a default.

        Before IR version 4 every initialiser had to be listed among the inputs, so the
        listing says nothing there and the initialiser is a constant.
        """
        listed_by_rule = self.model.ir_version < 4
        for declared in graph.inputs:
            load = graph.initializers.get(declared.name)
            if load is not None and listed_by_rule:
                continue
            if declared.name in self.scope or not declared.name:
                text = f"'{self.model.file}': two inputs are called '{declared.name}'"
                raise TesseraError(MALFORMED_GRAPH, text)
            default = None if load is None else load()
            if default is not None:
                self.keys.add(declared.name)
            value = self.builder.input(
                declared.name, declared.dtype, declared.shape, default
            )
            operand = Operand(tensor(declared.dtype, declared.shape), ssa=value)
            self.scope[declared.name] = operand

    def _import_node(self, node: Node) -> None:
        row = ROWS[node.key]
        _need_arity(node, row)
        operands = [self._operand(node, i) for i in range(len(node.inputs))]
        location = self._location(node)
        opset = self.model.opsets.get("" if node.domain in STANDARD else node.domain, 1)
        step = Step(node, opset, operands, self.builder, location, self._unique)
        results = row.rule(step)
        if unread := step.unread():
            text = f"attribute '{unread[0]}' is not understood"
            raise node.error(BAD_ATTRIBUTE, text)
        results = (results,) if isinstance(results, Operand) else results
        for name, result in zip(node.outputs, results, strict=False):
            if name:
                self._bind(node, name, result)

    def _bind(self, node: Node, name: str, result: Operand) -> None:
        if name in self.scope or name in self.model.graph.initializers:
            text = f"makes '{name}', which another node, input or initialiser is called"
            raise node.error(MALFORMED_GRAPH, text)
        made_here = result.key in ("", node.place)
        if result.array is not None and result.ssa is None and made_here:
            result = Operand(result.type, result.array, key=name)
        self.scope[name] = result

    def _operand(self, node: Node, index: int) -> Operand | None:
        name = node.inputs[index]
        if not name:
            return None
        found = self._lookup(name)
        if found is not None:
            return found
        later = _maker(self.model.graph, name)
        where = f"input {index + 1} '{name}'"
        if later is None:
            raise node.error(UNDEFINED, f"{where} is made by nothing in the graph")
        if _reaches(self.model.graph, node, later):
            text = f"{where} depends on this node's own result: the graph has a cycle"
            raise node.error(UNSORTED, text)
        raise node.error(UNSORTED, f"{where} is made later, by {later}")

    def _lookup(self, name: str) -> Operand | None:
        found = self.scope.get(name)
        if found is None and name in self.model.graph.initializers:
            array = self.model.graph.initializers[name]()
            found = self.scope[name] = Operand.of(array, name)
        return found

    def _result(self, name: str) -> SSAValue:
        found = self._lookup(name)
        if found is None:
            text = f"'{self.model.file}': output '{name}' is made by nothing"
            raise TesseraError(UNDEFINED, text)
        if found.ssa is None:
            assert found.array is not None
            place = named_location(name, file_location(self.model.file, 1, 1))
            found.ssa = self.builder.const(found.array, self._unique(name), place)
        return found.ssa

    def _location(self, node: Node) -> LocationAttr:
        return named_location(node.place, file_location(self.model.file, node.index, 1))

    def _unique(self, key: str) -> str:
        """`key`, or with a number behind it when a weight has that name already."""
        unique, count = key, 1
        while unique in self.keys:
            count += 1
            unique = f"{key}#{count}"
        self.keys.add(unique)
        return unique


def _need_arity(node: Node, row: Row) -> None:
    count = len(node.inputs)
    if count < row.low:
        text = f"input {count + 1} is missing: takes at least {row.low}, found {count}"
        raise node.error(MISSING_OPERAND, text)
    if count > row.high:
        text = f"has {count} inputs, takes at most {row.high}"
        raise node.error(MISSING_OPERAND, text)
    for index in range(row.low):
        if not node.inputs[index]:
            raise node.error(MISSING_OPERAND, f"input {index + 1} is empty")
    named = [i for i, name in enumerate(node.outputs, 1) if name]
    if named and named[-1] > row.outputs:
        text = f"names result {named[-1]}, wanted at most {row.outputs}"
        raise node.error(UNSUPPORTED, text)


def _maker(graph: Graph, name: str) -> Node | None:
    return next((node for node in graph.nodes if name in node.outputs), None)


def _reaches(graph: Graph, start: Node, end: Node) -> bool:
    """Whether `end` needs, at any distance, a result of `start`."""
    makers: Mapping[str, Node] = {
        name: node for node in graph.nodes for name in node.outputs if name
    }
    todo, seen = [end], {end.index}
    while todo:
        node = todo.pop()
        if node is start:
            return True
        for name in node.inputs:
            maker = makers.get(name)
            if maker is not None and maker.index not in seen:
                seen.add(maker.index)
                todo.append(maker)
    return False


def _drop_unused(builder: GraphBuilder) -> None:
    """Remove ops whose results nobody reads: dead nodes, and shapes that became known."""
    for op in list(builder.block.ops)[-2::-1]:
        if not any(result.uses for result in op.results):
            op.detach()
            op.erase()
