"""The steps a runtime takes, as plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from tessera.decisions import JSON


@dataclass(frozen=True)
class Value:
    """An input or output: its name, dtype name and shape; None is any size."""

    name: str
    dtype: str
    shape: tuple[int | None, ...]

    def __str__(self) -> str:
        sizes = "×".join("?" if s is None else str(s) for s in self.shape)
        return f"{self.dtype}[{sizes}]"


@dataclass(frozen=True)
class Step:
    """One op: names in, names out, and the keywords of its reference meaning.

    "" among the inputs is an optional operand that is absent.  `op` is a name of
    `reference.PRIMITIVES`, or, with a `call`, the name of its kernel.
    """

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, JSON] = field(default_factory=dict[str, JSON])
    call: Call | None = None

    def __post_init__(self) -> None:
        plain = {key: _plain(value) for key, value in self.attributes.items()}
        object.__setattr__(self, "attributes", plain)


@dataclass(frozen=True)
class Call:
    """A fused call: its kernel, entry symbol, whose decision it was, and its site.

    `expansion` computes the same with primitive steps; its free names are the inputs
    and outputs of the step it belongs to, and weights.
    """

    kernel: str
    symbol: str
    source: str
    site: str
    expansion: tuple[Step, ...]


@dataclass(frozen=True)
class Program:
    """Steps in order, from named inputs to named outputs.

    A name means an input, a weight, or what an earlier step gave.  `defaults` maps an
    input that may be left out to the weight that stands for it.
    """

    target: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    defaults: Mapping[str, str]
    weights: Mapping[str, np.ndarray] = field(compare=False)
    steps: tuple[Step, ...]


def _plain(value: JSON) -> JSON:
    """The value with every sequence as a list, as JSON would give it back."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return value
