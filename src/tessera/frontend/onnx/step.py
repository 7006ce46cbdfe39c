"""What a rule sees: one node, its operands and attributes, and a way to emit ops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import LocationAttr
from xdsl.utils.exceptions import VerifyException

from tessera.diagnostics import TesseraError, declare
from tessera.frontend.onnx.model import Node
from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.partial import follow
from tessera.frontend.onnx.tensors import ELEMENT_TYPE, ELEMENTS
from tessera.graph.builder import GraphBuilder
from tessera.graph.dialect import OPS
from tessera.graph.operation import GraphOp
from tessera.graph.types import (
    DYN,
    Shape,
    Tensor,
    dtype_of,
    is_static,
    numpy_dtype,
    tensor,
)

MISSING_OPERAND = declare(
    "TSR-I010",
    "a node lacks an input",
    "The node's op needs more inputs than it has, or has an empty one where a value is "
    "needed. The message says which. Repair the exporter's output.",
    "error",
)
BAD_ATTRIBUTE = declare(
    "TSR-I011",
    "an attribute is missing, of another kind, or unknown to the op",
    "The op's attributes are those of the ONNX specification. One that is not "
    "understood is never ignored, since it may change what the op computes.",
    "error",
)
UNSUPPORTED = declare(
    "TSR-I012",
    "a form of this op that the importer does not take",
    "The op is known, but not with this option, type, or an operand that is only known at "
    "run time. The message names what was found and what is taken; fold constants or "
    "export with static shapes.",
)
MISFIT = declare(
    "TSR-I013",
    "a node's operands do not fit its op",
    "Shapes, element types or attribute values contradict the op's rules; the message "
    "repeats the rule. The model would fail in every runtime; correct the node named.",
    "error",
)

# Ops that ONNX defines on numbers only, whatever NumPy makes of a bool.
COUNTING = frozenset(
    "add sub mul div pow mod max min neg abs sign cumsum topk matmul".split()
)
FOLD_ELEMENTS = 1 << 16
T = TypeVar("T")


class Step:
    """The import of one node.  Rules read it and return the node's results."""

    def __init__(
        self,
        node: Node,
        opset: int,
        operands: Sequence[Operand | None],
        builder: GraphBuilder,
        location: LocationAttr,
        name_key: Callable[[str], str],
    ) -> None:
        self.node = node
        self.opset = opset
        self.operands = operands
        self.builder = builder
        self.location = location
        self._name_key = name_key
        self._read: set[str] = set()

    # what the node says

    def has(self, index: int) -> bool:
        """Whether input `index` is given."""
        return index < len(self.operands) and self.operands[index] is not None

    def input(self, index: int) -> Operand:
        """Input `index`, which the op needs."""
        operand = self.optional(index)
        if operand is None:
            raise self.node.error(MISSING_OPERAND, f"input {index + 1} is missing")
        return operand

    def optional(self, index: int) -> Operand | None:
        """Input `index`, or None when it is absent."""
        return self.operands[index] if self.has(index) else None

    def inputs(self) -> list[Operand]:
        """All inputs of a variadic op, none of them absent."""
        return [self.input(i) for i in range(len(self.operands))]

    def wants(self, index: int) -> bool:
        """Whether the node names its result `index`."""
        return index < len(self.node.outputs) and bool(self.node.outputs[index])

    def attribute(self, name: str, kind: type[T], default: T | None = None) -> T:
        """An attribute of that kind; without a default it is needed."""
        self._read.add(name)
        value = self.node.attributes.get(name, default)
        if value is None:
            raise self.node.error(BAD_ATTRIBUTE, f"needs attribute '{name}'")
        if not isinstance(value, kind):
            text = f"attribute '{name}' is a {type(value).__name__}"
            raise self.node.error(BAD_ATTRIBUTE, f"{text}, wanted a {kind.__name__}")
        return value

    def given(self, name: str) -> bool:
        """Whether the node has that attribute."""
        self._read.add(name)
        return name in self.node.attributes

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer attribute."""
        return self.attribute(name, int, default)

    def flag(self, name: str, default: bool = False) -> bool:
        """An integer attribute that is 0 or 1."""
        return bool(self.attribute(name, int, int(default)))

    def number(self, name: str, default: float | None = None) -> float:
        """A float attribute."""
        return self.attribute(name, float, default)

    def word(self, name: str, words: Sequence[str], default: str | None = None) -> str:
        """A string attribute that is one of `words`."""
        value = self.attribute(name, str, default)
        if value not in words:
            raise self.unsupported(f"attribute '{name}' = '{value}'", f"one of {words}")
        return value

    def integers(
        self, name: str, default: Sequence[int] | None = None
    ) -> tuple[int, ...]:
        """An attribute that lists integers."""
        fallback = None if default is None else tuple(default)
        values = self.attribute(name, tuple, fallback)
        if not all(isinstance(v, int) for v in cast(tuple[Any, ...], values)):
            text = f"attribute '{name}' does not list integers"
            raise self.node.error(BAD_ATTRIBUTE, text)
        return values

    def element(self, name: str) -> str:
        """An attribute that numbers an element type."""
        number = self.integer(name)
        if number not in ELEMENTS:
            text = f"attribute '{name}' is element type number {number}"
            raise self.node.error(ELEMENT_TYPE, text)
        return ELEMENTS[number]

    def ignore(self, *names: str) -> None:
        """Take note of attributes that change nothing here."""
        self._read.update(names)

    def unread(self) -> list[str]:
        """Attributes of the node that no rule has asked for."""
        return sorted(set(self.node.attributes) - self._read)

    def known(self, index: int, what: str) -> np.ndarray:
        """The array of an input that has to be known at import."""
        operand = self.input(index)
        if operand.array is None:
            raise self.unsupported(f"{what} computed at run time", f"a constant {what}")
        return operand.array

    def known_ints(self, index: int, what: str) -> tuple[int, ...]:
        """The integers of an input that has to be known at import."""
        array = self.known(index, what)
        if array.dtype.kind not in "iu" or array.ndim > 1:
            text = f"{what} is {array.dtype} of rank {array.ndim}, wanted integers"
            raise self.node.error(MISFIT, text)
        return tuple(int(v) for v in array.reshape(-1))

    def known_scalar(self, index: int, what: str) -> Any:
        """The one number of an input that has to be known at import."""
        array = self.known(index, what)
        if array.size != 1:
            raise self.misfit(f"{what} has {array.size} elements, wanted 1")
        return array.item()

    def known_integer(self, index: int, what: str) -> int:
        """The one whole number of an input that has to be known at import."""
        value = self.known_scalar(index, what)
        if value != value or value in (np.inf, -np.inf) or int(value) != value:
            raise self.misfit(f"{what} is {value}, wanted a whole number")
        return int(value)

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from 0."""
        if not -rank <= axis < rank:
            raise self.misfit(f"axis {axis} is out of range for rank {rank}")
        return axis % rank

    # what the node is refused for

    def unsupported(self, found: str, wanted: str) -> TesseraError:
        """A refusal: this form is not taken."""
        return self.node.error(UNSUPPORTED, f"found {found}, wanted {wanted}")

    def misfit(self, text: str) -> TesseraError:
        """An error: the node contradicts its op's rules."""
        return self.node.error(MISFIT, text)

    # what the node becomes

    def const(self, value: Any, like: Operand | str) -> Operand:
        """A known tensor of `like`'s element type."""
        dtype = like if isinstance(like, str) else like.dtype
        try:
            with np.errstate(over="ignore"):  # beyond a narrow float is infinity
                array = np.asarray(value, numpy_dtype(dtype))
        except (ValueError, TypeError, OverflowError):
            raise self.misfit(f"{value} is no value of {dtype}") from None
        return Operand.of(array, self.node.place)

    def cast(self, x: Operand, dtype: str) -> Operand:
        """`x` in another element type; `x` itself when it has it already."""
        if x.dtype == dtype:
            return x
        return self.emit("cast", x, result=tensor(dtype, x.shape))

    def emit(
        self, op: str, *operands: Operand, result: Tensor | None = None, **options: Any
    ) -> Operand:
        """The first result of `emits`."""
        return self.emits(op, *operands, result=result, **options)[0]

    def emits(
        self, op: str, *operands: Operand, result: Tensor | None = None, **options: Any
    ) -> Sequence[Operand]:
        """Add `tessera.<op>`, or compute it now when all it reads is known and small."""
        if op in COUNTING and any(operand.dtype == "i1" for operand in operands):
            raise self.misfit("inputs are i1, wanted numbers")
        kind = OPS[op]
        types = [operand.type for operand in operands]
        declared = () if result is None else (result,)
        try:
            filled = kind.fill(options)
            results = kind.infer(types, filled, declared)
        except VerifyException as bad:
            raise self.misfit(str(bad)) from None
        self._need_sizes(results)
        keywords = _keywords(kind, filled, results[0])
        if _foldable(operands, results):
            return self._evaluate(op, operands, keywords, results)
        values = [self.value(operand) for operand in operands]
        made = self.builder.ops(
            op, *values, result=result, location=self.location, **options
        )
        facts = follow(op, operands, keywords, results[0])
        return [
            Operand(type, ssa=value, partial=facts)
            for type, value in zip(results, made, strict=True)
        ]

    def _need_sizes(self, results: Sequence[Tensor]) -> None:
        for type in results:
            if min((s for s in type.get_shape() if s != DYN), default=0) < 0:
                raise self.misfit(f"gives a negative size: {list(type.get_shape())}")

    def value(self, operand: Operand) -> Any:
        """The SSA value of an operand; a known one becomes a constant now."""
        if operand.ssa is None:
            assert operand.array is not None
            key = self._name_key(operand.key or self.node.place)
            operand.ssa = self.builder.const(operand.array, key, self.location)
        return operand.ssa

    def _evaluate(
        self,
        op: str,
        operands: Sequence[Operand],
        keywords: Mapping[str, Any],
        results: Sequence[Tensor],
    ) -> Sequence[Operand]:
        arrays = [operand.array for operand in operands]
        try:
            made = OPS[op].meaning()(*arrays, **keywords)
        except (ValueError, IndexError, TypeError, ArithmeticError) as bad:
            raise self.misfit(f"cannot be computed: {bad}") from None
        made = cast("tuple[Any, ...]", made if isinstance(made, tuple) else (made,))
        return [
            Operand.of(np.asarray(array, numpy_dtype(dtype_of(type))), self.node.place)
            for array, type in zip(made, results, strict=True)
        ]


def _keywords(kind: type[GraphOp], options: Mapping[str, Any], type: Tensor) -> Any:
    """The keywords of an op's meaning, before there is an op."""
    values = dict(options)
    if "shape" in kind.typed:
        values["shape"] = tuple(-1 if s == DYN else s for s in type.get_shape())
    if "dtype" in kind.typed:
        values["dtype"] = dtype_of(type)
    return values


def _foldable(operands: Sequence[Operand], results: Sequence[Tensor]) -> bool:
    if any(operand.array is None for operand in operands):
        return False
    shapes: list[Shape] = [
        t.get_shape() for t in (*(o.type for o in operands), *results)
    ]
    return all(is_static(s) for s in shapes) and sum(map(prod, shapes)) <= FOLD_ELEMENTS
