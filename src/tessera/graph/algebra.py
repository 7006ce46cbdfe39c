"""Graph operations, abstract over what a value is.

A kernel's meaning is one function over `Algebra`.  Read over NumPy arrays it is the
reference, over SSA values the unfused fallback, over terms the pattern that recognition
looks for (`tessera.fusion.pattern`).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

import numpy as np
from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Operation, SSAValue

from tessera.graph.dialect import OPS
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import numpy_dtype, tensor, value_dtype, value_shape
from tessera.reference import PRIMITIVES
from tessera.reference.dtypes import dtype_name

V = TypeVar("V")
Values = Mapping[str, V]
Options = Mapping[str, Any]


class Algebra(ABC, Generic[V]):
    """The operations a meaning may use; a reading supplies the abstract ones."""

    @abstractmethod
    def apply(self, op: str, *values: V, **options: Any) -> V:
        """The (first) result of `tessera.<op>`."""

    @abstractmethod
    def scalar(self, value: float, like: V) -> V:
        """A constant of `like`'s element type."""

    @abstractmethod
    def cast(self, x: V, dtype: str) -> V:
        """`x` in another element type."""

    @abstractmethod
    def dtype(self, x: V) -> str:
        """The element type's name."""

    def matmul(self, a: V, b: V, **options: Any) -> V:
        """`a @ b`."""
        return self.apply("matmul", a, b, **options)

    def softmax(self, x: V) -> V:
        """The softmax of the last axis."""
        return self.apply("softmax", x, axis=-1)

    def scaled(self, s: V, scale: float | None, by: V | None = None) -> V:
        """`s` times a constant and times a scalar operand; absent ones are 1."""
        if by is not None:
            s = self.apply("mul", s, by)
        if scale is None or scale == 1.0:
            return s
        return self.apply("mul", s, self.scalar(scale, s))

    def capped(self, s: V, cap: float | None) -> V:
        """Cap * tanh(s / cap); absent cap leaves s."""
        if cap is None:
            return s
        c = self.scalar(cap, s)
        return self.apply("mul", self.apply("tanh", self.apply("div", s, c)), c)

    def fill(self, value: float | None) -> float:
        """What a boolean mask puts where false; absent is -inf: no weight at all."""
        return -math.inf if value is None else value

    def masked(self, s: V, mask: V | None, fill: float = -math.inf) -> V:
        """A boolean mask puts `fill` where false; any other is added."""
        if mask is None:
            return s
        if self.dtype(mask) == "i1":
            return self.apply("select", mask, s, self.scalar(fill, s))
        return self.apply("add", s, mask)

    def ruled(self, s: V, keep: V | None) -> V:
        """-inf where a causal or window rule removes the key."""
        if keep is None:
            return s
        return self.apply("select", keep, s, self.scalar(-math.inf, s))

    def rule(
        self, q: V, k: V, causal: str = "none", window: int | None = None
    ) -> V | None:
        """The keys a causal rule and a window keep, or None where there is no rule."""
        if causal == "none" and window is None:
            return None
        return self.apply("keep_mask", q, k, causal=causal, window=window)

    def removed(self, mask: V | None, fill: float, keep: V | None) -> V | None:
        """All that truly removes keys: a boolean mask filled with -inf, and the rule."""
        if mask is None or self.dtype(mask) != "i1" or fill != -math.inf:
            return keep
        return mask if keep is None else self.apply("and", mask, keep)

    def guarded(self, p: V, guard: bool) -> V:
        """`p` with NaN put to zero where the graph asks for it."""
        if not guard:
            return p
        return self.apply("select", self.apply("isnan", p), self.scalar(0.0, p), p)

    def row_guarded(self, p: V, guard: bool, mask: V | None) -> V:
        """`p` with zeros for rows all masked, whatever their scores, where asked for."""
        if not guard or mask is None:
            return p
        rows = {"axes": (-1,), "keepdims": True}
        if self.dtype(mask) == "i1":
            some = self.apply("reduce_any", mask, **rows)
            return self.apply("select", some, p, self.scalar(0.0, p))
        most = self.apply("reduce_max", mask, **rows)
        none = self.apply("cmp", most, self.scalar(-math.inf, mask), kind="eq")
        return self.apply("select", none, self.scalar(0.0, p), p)

    def attend(self, p: V, v: V, keep: V | None) -> V:
        """`p @ v` in which a removed key has no influence."""
        if keep is None:
            return self.matmul(p, v)
        return self.apply("masked_matmul", p, v, keep)

    def repeated(self, x: V, like: V) -> V:
        """The heads of x repeated to those of `like` (grouped queries)."""
        return self.apply("repeat_heads", x, like)

    def biased(self, h: V, bias: V | None) -> V:
        """`h` plus one bias a column; absent leaves h."""
        return h if bias is None else self.apply("add", h, bias)

    def added(self, h: V, residual: V | None) -> V:
        """`h` plus a residual of its shape; absent leaves h."""
        return h if residual is None else self.apply("add", h, residual)

    @abstractmethod
    def swapped(self, x: V) -> V:
        """`x` with its last two axes swapped."""

    def shared(self, role: str, h: V) -> V:
        """A value that may also be a result, named `role`."""
        return h

    @abstractmethod
    def headed(self, h: V, head_dim: int | None) -> V:
        """The last axis split into heads of `head_dim`; absent leaves h."""

    @abstractmethod
    def part(self, h: V, index: int, packing: str) -> V:
        """Gate (0) or up (1) of a packed product along the last axis."""


def part_bounds(size: int, index: int, packing: str) -> tuple[int, int, int]:
    """Start, stop and step of one of two parts of an axis."""
    if packing == "interleaved":
        return index, size, 2
    half = size // 2
    return index * half, (index + 1) * half, 1


class NumpyAlgebra(Algebra[np.ndarray]):
    """Values are arrays: reading a meaning computes it."""

    def apply(self, op: str, *values: np.ndarray, **options: Any) -> np.ndarray:
        result = PRIMITIVES[op](*values, **options)
        return result[0] if isinstance(result, tuple) else result

    def scalar(self, value: float, like: np.ndarray) -> np.ndarray:
        return np.asarray(value, dtype=like.dtype)

    def cast(self, x: np.ndarray, dtype: str) -> np.ndarray:
        return x.astype(numpy_dtype(dtype))

    def dtype(self, x: np.ndarray) -> str:
        return dtype_name(x.dtype)

    def swapped(self, x: np.ndarray) -> np.ndarray:
        return np.swapaxes(x, -1, -2)

    def headed(self, h: np.ndarray, head_dim: int | None) -> np.ndarray:
        if head_dim is None:
            return h
        return h.reshape(*h.shape[:-1], h.shape[-1] // head_dim, head_dim)

    def part(self, h: np.ndarray, index: int, packing: str) -> np.ndarray:
        start, stop, step = part_bounds(h.shape[-1], index, packing)
        return h[..., start:stop:step]


class SsaAlgebra(Algebra[SSAValue]):
    """Values are SSA: reading a meaning builds the ops it stands for.

    `insert` receives each new op in order; all carry `location`.
    """

    def __init__(
        self, insert: Callable[[Operation], object], location: LocationAttr | None
    ) -> None:
        self._insert = insert
        self._location = location

    def apply(self, op: str, *values: SSAValue, **options: Any) -> SSAValue:
        made = OPS[op].build(values, None, self._location, **options)
        self._insert(made)
        return made.results[0]

    def reshape(
        self, x: SSAValue, shape: tuple[int, ...], sizes: SSAValue | None = None
    ) -> SSAValue:
        """`x` in another shape; `sizes` give it where two or more are unknown."""
        operands = (x,) if sizes is None else (x, sizes)
        return self._typed("reshape", operands, value_dtype(x), shape)

    def broadcast(self, x: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """`x` repeated to a shape."""
        return self._typed("broadcast", (x,), value_dtype(x), shape)

    def cast(self, x: SSAValue, dtype: str) -> SSAValue:
        if value_dtype(x) == dtype:
            return x
        return self._typed("cast", (x,), dtype, value_shape(x))

    def _typed(
        self, op: str, x: tuple[SSAValue, ...], dtype: str, shape: tuple[int, ...]
    ) -> SSAValue:
        made = OPS[op].build(x, (tensor(dtype, shape),), self._location)
        self._insert(made)
        return made.results[0]

    def scalar(self, value: float, like: SSAValue) -> SSAValue:
        array = np.asarray(value, dtype=numpy_dtype(value_dtype(like)))
        return self.constant(array)

    def constant(self, array: np.ndarray, key: str = "folded") -> SSAValue:
        """A known array."""
        made = ConstOp.of(array, key, self._location)
        self._insert(made)
        return made.results[0]

    def dtype(self, x: SSAValue) -> str:
        return value_dtype(x)

    def swapped(self, x: SSAValue) -> SSAValue:
        rank = len(value_shape(x))
        order = (*range(rank - 2), rank - 1, rank - 2)
        return self.apply("transpose", x, permutation=order)

    def headed(self, h: SSAValue, head_dim: int | None) -> SSAValue:
        if head_dim is None:
            return h
        shape = value_shape(h)
        return self.reshape(h, (*shape[:-1], shape[-1] // head_dim, head_dim))

    def part(self, h: SSAValue, index: int, packing: str) -> SSAValue:
        shape = value_shape(h)
        start, stop, step = part_bounds(shape[-1], index, packing)
        lead = len(shape) - 1
        return self.apply(
            "slice",
            h,
            starts=(0,) * lead + (start,),
            stops=((1 << 63) - 1,) * lead + (stop,),
            steps=(1,) * lead + (step,),
        )
