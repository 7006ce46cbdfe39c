"""Leaves and layout: constants, shapes, views, indexing."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, LocationAttr

from tessera.graph.attributes import Constant, Float, Int, Ints, Kind, Word
from tessera.graph.operation import ATTRIBUTE, GraphOp, Options, malformed
from tessera.graph.ops.rules import (
    SHAPE,
    Types,
    axis_of,
    broadcast,
    need_declared,
    need_integer,
    need_size,
    promote,
    result,
)
from tessera.graph.types import (
    DYN,
    Shape,
    Tensor,
    compatible,
    dtype_of,
    is_static,
    show,
    type_of_array,
)
from tessera.graph.weights import WeightAttr, array_of, constant_attribute

END = (1 << 63) - 1
REDUCTIONS = ("none", "add", "mul", "max", "min")


class ConstOp(GraphOp):
    """A known tensor: a literal when small, a weight handle when large."""

    name = "tessera.const"
    attrs: ClassVar[Mapping[str, Kind]] = {"value": Constant()}

    @classmethod
    def of(
        cls,
        array: np.ndarray,
        key: str = "constant",
        location: LocationAttr | None = None,
    ) -> ConstOp:
        """The constant of an array; `key` names it when it is large."""
        return cls.create(
            result_types=[type_of_array(array)],
            attributes={"value": constant_attribute(array, key)},
            location=location,
        )

    @property
    def array(self) -> np.ndarray:
        """The values; TesseraError when only their name is known."""
        return array_of(self.attributes["value"])

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        value = options["value"]
        if isinstance(value, DenseIntOrFPElementsAttr):
            return (cast("Tensor", cast("DenseIntOrFPElementsAttr[Any]", value).type),)
        if not isinstance(value, WeightAttr):
            raise malformed(
                ATTRIBUTE, f"attribute 'value' is {value}, wanted a constant"
            )
        if value.data.array is not None:
            return (type_of_array(value.data.array),)
        return declared


class _FreeOp(GraphOp):
    """An op whose result type the program states."""

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        return (need_declared(declared),)


class IotaOp(_FreeOp):
    """0, 1, 2, … along one axis."""

    name = "tessera.iota"
    attrs: ClassVar[Mapping[str, Kind]] = {"axis": Int(0)}
    typed = ("shape", "dtype")


class FillOp(_FreeOp):
    """One value everywhere."""

    name = "tessera.fill"
    attrs: ClassVar[Mapping[str, Kind]] = {"value": Float()}
    typed = ("shape", "dtype")


class CastOp(_FreeOp):
    """The same values in another element type."""

    name = "tessera.cast"
    ins = ("x",)
    typed = ("dtype",)

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        wanted = need_declared(declared)
        return result(dtype_of(wanted), types[0].get_shape())


class ReshapeOp(_FreeOp):
    """The same elements in row-major order; `shape` gives sizes only known at run time."""

    name = "tessera.reshape"
    ins = ("x", "shape?")
    typed = ("shape",)

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        wanted = need_declared(declared).get_shape()
        found = types[0].get_shape()
        if (
            is_static(found)
            and is_static(wanted)
            and math.prod(found) != math.prod(wanted)
        ):
            text = f"{show(found)} has {math.prod(found)} elements, {show(wanted)} has"
            raise malformed(SHAPE, f"{text} {math.prod(wanted)}")
        if wanted.count(DYN) > 1 and len(types) < 2:
            raise malformed(SHAPE, f"{show(wanted)} needs the operand 'shape'")
        return result(dtype_of(types[0]), wanted)


class BroadcastOp(_FreeOp):
    """The same elements repeated along axes of size 1, as NumPy's broadcast_to."""

    name = "tessera.broadcast"
    ins = ("x", "shape?")
    typed = ("shape",)

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        wanted = need_declared(declared).get_shape()
        joined = broadcast(types[0].get_shape(), wanted)
        if not compatible(joined, wanted):
            text = f"{show(types[0].get_shape())} does not broadcast to {show(wanted)}"
            raise malformed(SHAPE, text)
        return result(dtype_of(types[0]), wanted)


class TransposeOp(GraphOp):
    """Axes in another order: axis i of the result is axis permutation[i] of x."""

    name = "tessera.transpose"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {"permutation": Ints()}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = types[0].get_shape()
        order: tuple[int, ...] = options["permutation"]
        if sorted(order) != list(range(len(shape))):
            text = f"permutation {list(order)} does not order {len(shape)} axes"
            raise malformed(SHAPE, text)
        return result(dtype_of(types[0]), tuple(shape[axis] for axis in order))


class SliceOp(GraphOp):
    """`x[start:stop:step]` on every axis, by Python's rules."""

    name = "tessera.slice"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {
        "starts": Ints(),
        "stops": Ints(),
        "steps": Ints(),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = types[0].get_shape()
        bounds = [options[key] for key in ("starts", "stops", "steps")]
        if any(len(b) != len(shape) for b in bounds) or 0 in bounds[2]:
            text = (
                f"needs one start, stop and step (not 0) for each of {len(shape)} axes"
            )
            raise malformed(SHAPE, text)
        sizes = map(cls._size, shape, *bounds)
        return result(dtype_of(types[0]), tuple(sizes))

    @staticmethod
    def _size(size: int, start: int, stop: int, step: int) -> int:
        if size == DYN:
            return DYN if (start, stop, step) != (0, 0, 1) else 0
        return len(range(*slice(start, stop, step).indices(size)))


class ConcatOp(GraphOp):
    """Tensors one after another along one axis."""

    name = "tessera.concat"
    ins = ("xs*",)
    attrs: ClassVar[Mapping[str, Kind]] = {"axis": Int()}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        first = types[0].get_shape()
        axis = axis_of(options["axis"], len(first))
        sizes: list[int] = list(first)
        for type in types[1:]:
            shape = type.get_shape()
            need_size(len(shape), len(first), "ranks differ")
            for i, size in enumerate(shape):
                if i != axis:
                    sizes[i] = need_size(sizes[i], size, f"sizes of axis {i} differ")
                else:
                    sizes[i] = DYN if DYN in (sizes[i], size) else sizes[i] + size
        return result(promote(types), tuple(sizes))


class PadOp(GraphOp):
    """A border of one value around x."""

    name = "tessera.pad"
    ins = ("x",)
    attrs: ClassVar[Mapping[str, Kind]] = {
        "low": Ints(),
        "high": Ints(),
        "value": Float(0.0),
    }

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape, low, high = types[0].get_shape(), options["low"], options["high"]
        if len(low) != len(shape) or len(high) != len(shape):
            raise malformed(SHAPE, f"needs low and high for each of {len(shape)} axes")
        sizes = [
            s if s == DYN else s + a + b
            for s, a, b in zip(shape, low, high, strict=True)
        ]
        return result(dtype_of(types[0]), tuple(sizes))


class GatherOp(GraphOp):
    """Rows of `x` along `axis` by index; negative counts from the end, beyond is an error."""

    name = "tessera.gather"
    ins = ("x", "indices")
    attrs: ClassVar[Mapping[str, Kind]] = {"axis": Int(0)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        need_integer(types[1], "indices")
        shape = types[0].get_shape()
        axis = axis_of(options["axis"], len(shape))
        sizes = (*shape[:axis], *types[1].get_shape(), *shape[axis + 1 :])
        return result(dtype_of(types[0]), sizes)


class GatherNdOp(GraphOp):
    """Slices of `x` by index tuples (the last axis of indices)."""

    name = "tessera.gather_nd"
    ins = ("x", "indices")
    attrs: ClassVar[Mapping[str, Kind]] = {"batch_dims": Int(0)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        need_integer(types[1], "indices")
        x, indices = types[0].get_shape(), types[1].get_shape()
        if not indices or indices[-1] == DYN:
            raise malformed(SHAPE, "the last size of indices must be known")
        taken = options["batch_dims"] + indices[-1]
        if taken > len(x):
            raise malformed(SHAPE, f"indexes {taken} axes of {len(x)}")
        return result(dtype_of(types[0]), (*indices[:-1], *x[taken:]))


class GatherElementsOp(GraphOp):
    """One element per index, along `axis`."""

    name = "tessera.gather_elements"
    ins = ("x", "indices")
    attrs: ClassVar[Mapping[str, Kind]] = {"axis": Int(0)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        need_integer(types[1], "indices")
        axis_of(options["axis"], len(types[0].get_shape()))
        return result(dtype_of(types[0]), types[1].get_shape())


class _ScatterOp(GraphOp):
    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        need_integer(types[1], "indices")
        promote((types[0], types[2]))
        return types[:1]


class ScatterOp(_ScatterOp):
    """`x` with one element per index replaced or combined, along `axis`."""

    name = "tessera.scatter"
    ins = ("x", "indices", "updates")
    attrs: ClassVar[Mapping[str, Kind]] = {
        "axis": Int(0),
        "reduction": Word("none", REDUCTIONS),
    }


class ScatterNdOp(_ScatterOp):
    """`x` with slices replaced or combined, by index tuples."""

    name = "tessera.scatter_nd"
    ins = ("x", "indices", "updates")
    attrs: ClassVar[Mapping[str, Kind]] = {"reduction": Word("none", REDUCTIONS)}


class ShapeOp(GraphOp):
    """The sizes of x, as i64."""

    name = "tessera.shape"
    ins = ("x",)

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        sizes: Shape = (len(types[0].get_shape()),)
        return result("i64", sizes)


LAYOUT: tuple[type[GraphOp], ...] = (
    *(ConstOp, IotaOp, FillOp, CastOp, ReshapeOp, BroadcastOp, TransposeOp, SliceOp),
    *(ConcatOp, PadOp, GatherOp, GatherNdOp, GatherElementsOp, ScatterOp, ScatterNdOp),
    ShapeOp,
)
