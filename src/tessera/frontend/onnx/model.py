"""A model's graph as plain frozen records: what the importer reads instead of protobuf."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tessera.diagnostics import Code, Location, TesseraError

STANDARD = ("", "ai.onnx")


@dataclass(frozen=True)
class Node:
    """One node: its 1-based place in the graph, its names, its attributes.

    An attribute's value is an int, float, str, array, `Graph`, a tuple of those, or
    None for a kind that the importer does not read.
    """

    index: int
    name: str
    op_type: str
    domain: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    layer: str
    file: str

    @property
    def key(self) -> str:
        """The row of the import table: the op type, behind any domain of its own."""
        if self.domain in STANDARD:
            return self.op_type
        return f"{self.domain}.{self.op_type}"

    @property
    def place(self) -> str:
        """`<layer scope>/<output name>`, the name that locations carry."""
        output = next((name for name in self.outputs if name), self.name)
        if not self.layer:
            return output
        return f"{self.layer}/{output.rpartition('/')[2] or output}"

    @property
    def location(self) -> Location:
        """Where messages point: the file, with the node's index as the line."""
        layer, _, name = self.place.rpartition("/")
        return Location(self.file, self.index, 1, name, layer)

    def __str__(self) -> str:
        called = f"'{self.name}'" if self.name else f"#{self.index}"
        return f"node {called} ({self.key})"

    def error(self, code: Code, text: str, remedy: str = "") -> TesseraError:
        """An error that names this node and its place."""
        return TesseraError(code, f"{self}: {text}", self.location, remedy)


@dataclass(frozen=True)
class Declared:
    """A graph input: its element type and shape, DYN where a size is not a number."""

    name: str
    dtype: str
    shape: tuple[int, ...]


Load = Callable[[], np.ndarray]


@dataclass(frozen=True)
class Graph:
    """Nodes in their written order, and the names that bind them.

    An initialiser is read when it is first used; until then it costs nothing.
    """

    name: str
    nodes: tuple[Node, ...]
    inputs: tuple[Declared, ...]
    outputs: tuple[str, ...]
    initializers: Mapping[str, Load]


@dataclass(frozen=True)
class Model:
    """A graph, the opset of each domain, and the file they came from."""

    graph: Graph
    opsets: Mapping[str, int]
    file: str
    ir_version: int
