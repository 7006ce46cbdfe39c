"""The border with the `onnx` package: protobuf messages become `model` records.

The package's messages carry no types that a checker can use, so `Any` stays in here and
in `tensors`, and nothing past them sees a proto.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tessera.diagnostics import Code, TesseraError, declare
from tessera.frontend.onnx.model import STANDARD, Declared, Graph, Load, Model, Node
from tessera.frontend.onnx.tensors import ELEMENT_TYPE, ELEMENTS, Tensors, text
from tessera.graph.types import DYN

MISSING_PACKAGE = declare(
    "TSR-I001",
    "the onnx package is not installed",
    "ONNX files are read through the `onnx` package, an extra of this one. "
    "`pip install 'tessera-compiler[onnx]'` brings it.",
    "error",
)
NOT_A_MODEL = declare(
    "TSR-I002",
    "the file is not an ONNX model",
    "The file cannot be opened, is not a protobuf message, is cut off, or holds no graph. "
    "`onnx.checker.check_model` tells more; export or download the file again.",
    "error",
)
MALFORMED_GRAPH = declare(
    "TSR-I003",
    "the graph breaks a rule of the ONNX format",
    "Names of values are unique in a graph, every result is made by something, and the "
    "model names its opsets. The message names the value; repair the exporter's output.",
    "error",
)
UNTYPED_INPUT = declare(
    "TSR-I004",
    "a graph input has no tensor type and rank",
    "Every input needs an element type and a rank; sizes may be symbolic. Sequences, maps "
    "and optionals are not tensors. Run `onnx.shape_inference`, or declare the type.",
    "error",
)

SCOPES = "pkg.torch.onnx.name_scopes"


def load_package() -> Any:
    """The `onnx` package; TesseraError with the remedy when it is absent."""
    try:
        import onnx
    except ImportError:
        remedy = "pip install 'tessera-compiler[onnx]'"
        found = "reading ONNX needs the 'onnx' package, which is not installed"
        raise TesseraError(MISSING_PACKAGE, found, remedy=remedy) from None
    return onnx


def read_proto(path: Path) -> Any:
    """The ModelProto of a file, external data not touched."""
    onnx = load_package()
    from google.protobuf.message import DecodeError

    try:
        return onnx.ModelProto.FromString(path.read_bytes())
    except DecodeError:
        found = f"'{path.name}' is not a protobuf message, or is cut off"
    except OSError as bad:
        found = f"'{path.name}' cannot be read: {bad.strerror or bad}"
    raise TesseraError(
        NOT_A_MODEL, found, remedy="name an .onnx file of an exported model"
    )


def read_model(proto: Any, file: str, folder: Path | None) -> Model:
    """The records of a ModelProto, its own functions inlined."""
    if not proto.HasField("graph"):
        raise TesseraError(NOT_A_MODEL, f"'{file}' holds no ONNX graph")
    if proto.functions:
        proto = _inlined(proto, file)
    opsets = {
        "" if entry.domain in STANDARD else text(entry.domain): int(entry.version)
        for entry in proto.opset_import
    }
    graph = _Reader(file, Tensors(file, folder)).graph(proto.graph)
    if "" not in opsets and any(node.domain in STANDARD for node in graph.nodes):
        found = f"'{file}' imports no opset of the standard domain"
        raise TesseraError(MALFORMED_GRAPH, found)
    return Model(graph, opsets, file, int(proto.ir_version))


def _inlined(proto: Any, file: str) -> Any:
    from onnx.inliner import inline_local_functions

    try:
        return inline_local_functions(proto)
    except Exception as bad:  # the inliner is native code that raises what it likes
        found = (
            f"'{file}': its functions cannot be inlined: {str(bad).splitlines()[:1]}"
        )
        raise TesseraError(MALFORMED_GRAPH, found) from None


class _Reader:
    """Reads graphs of one file."""

    def __init__(self, file: str, tensors: Tensors) -> None:
        self.file = file
        self.tensors = tensors

    def graph(self, proto: Any) -> Graph:
        """One graph; sub-graphs of its nodes are read with it."""
        if proto.sparse_initializer:
            name = proto.sparse_initializer[0].values.name
            raise self._broken(MALFORMED_GRAPH, f"initialiser '{name}' is sparse")
        initializers: dict[str, Load] = {}
        for tensor in proto.initializer:
            name = text(tensor.name)
            if name in initializers:
                found = f"two initialisers are called '{name}'"
                raise self._broken(MALFORMED_GRAPH, found)
            initializers[name] = self.tensors.lazy(tensor)
        return Graph(
            text(proto.name),
            tuple(self.node(node, i) for i, node in enumerate(proto.node, 1)),
            tuple(self.declared(value) for value in proto.input),
            tuple(text(value.name) for value in proto.output),
            initializers,
        )

    def declared(self, value: Any) -> Declared:
        """The name and type of a graph input."""
        name = text(value.name)
        kind = value.type.WhichOneof("value")
        if kind != "tensor_type" or not value.type.tensor_type.HasField("shape"):
            found = (kind or "nothing").removesuffix("_type")
            found = "a tensor without rank" if found == "tensor" else found
            found = f"input '{name}' is declared as {found}, wanted a ranked tensor"
            raise self._broken(UNTYPED_INPUT, found)
        tensor = value.type.tensor_type
        if tensor.elem_type not in ELEMENTS:
            raise self._broken(
                ELEMENT_TYPE,
                f"input '{name}' has element type number {tensor.elem_type}",
            )
        sizes = tuple(
            d.dim_value if d.HasField("dim_value") and d.dim_value >= 0 else DYN
            for d in tensor.shape.dim
        )
        return Declared(name, ELEMENTS[tensor.elem_type], sizes)

    def node(self, proto: Any, index: int) -> Node:
        """One node with its attributes read, tensors among them."""
        attributes: dict[str, Any] = {}
        node = Node(
            index,
            text(proto.name),
            text(proto.op_type),
            text(proto.domain),
            tuple(text(name) for name in proto.input),
            tuple(text(name) for name in proto.output),
            attributes,
            _layer(proto),
            self.file,
        )
        for attribute in proto.attribute:
            attributes[text(attribute.name)] = self._attribute(attribute)
        return node

    def _attribute(self, proto: Any) -> Any:
        match proto.type:
            case 1:
                return float(proto.f)
            case 2:
                return int(proto.i)
            case 3:
                return text(proto.s)
            case 4:
                return self.tensors.read(proto.t)
            case 5:
                return self.graph(proto.g)
            case 6:
                return tuple(float(v) for v in proto.floats)
            case 7:
                return tuple(int(v) for v in proto.ints)
            case 8:
                return tuple(text(v) for v in proto.strings)
            case _:
                return None

    def _broken(self, code: Code, text: str) -> TesseraError:
        return TesseraError(code, f"'{self.file}': {text}")


def _layer(proto: Any) -> str:
    """The module a node belongs to: from the exporter's scopes, else the name's path."""
    notes: Mapping[str, str] = {
        text(e.key): text(e.value) for e in proto.metadata_props
    }
    if SCOPES in notes:
        scopes = re.findall(r"""(['"])(.*?)\1""", notes[SCOPES])
        modules = [scope for _, scope in scopes[:-1] if scope]
        return modules[-1] if modules else ""
    return ".".join(part for part in text(proto.name).split("/")[:-1] if part)
