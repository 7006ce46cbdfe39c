"""Reductions, ordering, and contractions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tessera.graph.attributes import Bool, Int, Ints, Kind
from tessera.graph.operation import GraphOp, Options, malformed
from tessera.graph.ops.rules import (
    SHAPE,
    Types,
    axis_of,
    matmul_shape,
    need_float,
    need_integer,
    need_rank,
    need_size,
    promote,
    result,
)
from tessera.graph.types import DYN, Shape, dtype_of, tensor


class ReduceOp(GraphOp):
    """One value for all elements along `axes`."""

    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {"axes": Ints(), "keepdims": Bool(False)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = types[0].get_shape()
        axes = {axis_of(axis, len(shape)) for axis in options["axes"]}
        return result(dtype_of(types[0]), cls._sizes(shape, axes, options["keepdims"]))

    @staticmethod
    def _sizes(shape: Shape, axes: set[int], keepdims: bool) -> Shape:
        if keepdims:
            return tuple(1 if i in axes else s for i, s in enumerate(shape))
        return tuple(s for i, s in enumerate(shape) if i not in axes)


class ReduceSumOp(ReduceOp):
    """The sum."""

    name = "tessera.reduce_sum"


class ReduceMeanOp(ReduceOp):
    """The arithmetic mean."""

    name = "tessera.reduce_mean"


class ReduceMaxOp(ReduceOp):
    """The largest; NaN wins."""

    name = "tessera.reduce_max"


class ReduceAnyOp(ReduceOp):
    """Whether any holds (i1)."""

    name = "tessera.reduce_any"


class ArgmaxOp(GraphOp):
    """The index (i64) of the first largest element."""

    name = "tessera.argmax"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {"axis": Int(-1), "keepdims": Bool(False)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = types[0].get_shape()
        axis = axis_of(options["axis"], len(shape))
        kept = (1,) if options["keepdims"] else ()
        return result("i64", (*shape[:axis], *kept, *shape[axis + 1 :]))


class CumsumOp(GraphOp):
    """Running sums along an axis."""

    name = "tessera.cumsum"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {
        "axis": Int(),
        "exclusive": Bool(False),
        "reverse": Bool(False),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        axis_of(options["axis"], len(types[0].get_shape()))
        return types[:1]


class TopkOp(GraphOp):
    """The k largest (or smallest) in order with their i64 indices; ties to the lower index."""

    name = "tessera.topk"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {
        "k": Int(),
        "axis": Int(-1),
        "largest": Bool(True),
    }
    outs = ("values", "indices")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape, k = types[0].get_shape(), options["k"]
        axis = axis_of(options["axis"], len(shape))
        if k < 0 or (shape[axis] != DYN and k > shape[axis]):
            raise malformed(SHAPE, f"k = {k} of {shape[axis]} elements")
        sizes = (*shape[:axis], k, *shape[axis + 1 :])
        return tensor(dtype_of(types[0]), sizes), tensor("i64", sizes)


class MatmulOp(GraphOp):
    """`a @ b` as NumPy's matmul; a flag swaps the last two axes of its operand first."""

    name = "tessera.matmul"
    ins = ("a", "b")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "transpose_a": Bool(False),
        "transpose_b": Bool(False),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        a, b = types[0].get_shape(), types[1].get_shape()
        shape = matmul_shape(a, b, options["transpose_a"], options["transpose_b"])
        return result(promote(types), shape)


class ConvOp(GraphOp):
    """Cross-correlation of x[N, C, …] with w[O, C/groups, …], plus b[O]."""

    name = "tessera.conv"
    ins = ("x", "w", "b?")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "strides": Ints(),
        "pads_low": Ints(),
        "pads_high": Ints(),
        "dilations": Ints(),
        "groups": Int(1),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        x, w = (need_rank(t, 3, n) for t, n in zip(types, ("x", "w"), strict=False))
        need_float(types[0], "x")
        need_size(len(w), len(x), "ranks of x and w differ")
        groups = options["groups"]
        if groups < 1 or (w[0] != DYN and w[0] % groups):
            raise malformed(SHAPE, f"{w[0]} output channels in {groups} groups")
        need_size(x[1], w[1] * groups if w[1] != DYN else DYN, "input channels differ")
        keys = ("strides", "pads_low", "pads_high", "dilations")
        if any(len(options[k]) != len(x) - 2 for k in keys):
            raise malformed(
                SHAPE, f"needs one of each {', '.join(keys)} a spatial axis"
            )
        spatial = map(cls._size, x[2:], w[2:], *(options[k] for k in keys))
        return result(promote(types), (x[0], w[0], *spatial))

    @staticmethod
    def _size(x: int, w: int, stride: int, low: int, high: int, dilation: int) -> int:
        if DYN in (x, w):
            return DYN
        return max(0, (x + low + high - dilation * (w - 1) - 1) // stride + 1)


class GroupedMatmulOp(GraphOp):
    """Consecutive groups of rows of x[M, K], each times its own w[g, K, N]."""

    name = "tessera.grouped_matmul"
    ins = ("x", "w", "group_sizes")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        x, w = need_rank(types[0], 2, "x"), need_rank(types[1], 3, "w")
        need_integer(types[2], "group_sizes")
        need_size(x[-1], w[1], "contraction dims differ")
        return result(promote(types[:2]), (x[0], w[2]))


REDUCTION: tuple[type[GraphOp], ...] = (
    *(ReduceSumOp, ReduceMeanOp, ReduceMaxOp, ReduceAnyOp, ArgmaxOp, CumsumOp, TopkOp),
    *(MatmulOp, ConvOp, GroupedMatmulOp),
)
