"""The steps a runtime takes, as plain values."""

from __future__ import annotations

import hashlib
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
class Native:
    """Machine code for a call: a text of `Program.code`, and the arrays it is called with.

    `operands` are the step's inputs that are present, then `results`, as (dtype, rank).
    The text is LLVM's language with two entries.  Both take the frame, 64-bit words:
    tasks, bytes of scratch, then for each operand and result its address, its sizes and
    its strides in bytes.

    - `i64 tessera_plan(ptr frame)` reads the operands' sizes and writes tasks, scratch and
      the results' sizes; 0 says that the operands do not fit each other.
    - `void tessera_run(ptr frame, ptr counter, ptr scratch)` takes task numbers from the
      counter, an atomic 64-bit word, until all are done.  Results are contiguous.  Several
      threads may run it at once, each with scratch of its own.
    """

    code: str
    operands: tuple[tuple[str, int], ...]
    results: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Call:
    """A fused call: its kernel, entry symbol, whose decision it was, and its site.

    `expansion` computes the same with primitive steps; its free names are the inputs
    and outputs of the step it belongs to, and weights.  `native` is machine code for it.
    """

    kernel: str
    symbol: str
    source: str
    site: str
    expansion: tuple[Step, ...]
    native: Native | None = None


@dataclass(frozen=True)
class Program:
    """Steps in order, from named inputs to named outputs.

    A name means an input, a weight, or what an earlier step gave.  `defaults` maps an
    input that may be left out to the weight that stands for it.  `code` holds the texts
    that native calls name, by their sha256.
    """

    target: str
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    defaults: Mapping[str, str]
    weights: Mapping[str, np.ndarray] = field(compare=False)
    steps: tuple[Step, ...]
    code: Mapping[str, str] = field(default_factory=dict[str, str])


def code_name(text: str) -> str:
    """The name of a native text: its sha256."""
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: JSON) -> JSON:
    """The value with every sequence as a list, as JSON would give it back."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in cast("Sequence[Any]", value)]
    return value
