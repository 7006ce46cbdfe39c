"""Elementwise ops: unary, binary, comparison, logic, select."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from tessera.graph.attributes import Bool, Kind, Word
from tessera.graph.operation import GraphOp, Options, malformed
from tessera.graph.ops.rules import (
    DTYPE,
    Types,
    broadcast,
    float_unary,
    promote,
    result,
    same_as_first,
)
from tessera.graph.types import dtype_of

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
ROUNDINGS = ("floor", "ceil", "round", "trunc")


class UnaryOp(GraphOp):
    """One tensor in, one of the same type out, element by element."""

    ins = ("x",)

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        return same_as_first(types, options, declared)


class FloatUnaryOp(UnaryOp):
    """An elementwise function of floats."""

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        return float_unary(types, options, declared)


class BinaryOp(GraphOp):
    """Two tensors, broadcast as in NumPy."""

    ins = ("a", "b")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        shape = broadcast(types[0].get_shape(), types[1].get_shape())
        return result(promote(types), shape)


class LogicOp(BinaryOp):
    """A logical op on i1, or a bitwise one on integers."""

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        for type in types:
            if dtype_of(type).endswith(("f16", "f32", "f64")):
                raise malformed(DTYPE, f"is not defined on {dtype_of(type)}")
        return super().infer(types, options, declared)


def _unary(name: str, base: type[UnaryOp], doc: str) -> type[UnaryOp]:
    body = {"name": f"tessera.{name}", "__doc__": doc, "__module__": __name__}
    return type(f"{name.title().replace('_', '')}Op", (base,), body)


def _binary(name: str, base: type[BinaryOp], doc: str) -> type[BinaryOp]:
    body = {"name": f"tessera.{name}", "__doc__": doc, "__module__": __name__}
    return type(f"{name.title().replace('_', '')}Op", (base,), body)


NegOp = _unary("neg", UnaryOp, "-x.")
AbsOp = _unary("abs", UnaryOp, "|x|.")
SignOp = _unary("sign", UnaryOp, "-1, 0 or 1; NaN stays NaN.")
ExpOp = _unary("exp", FloatUnaryOp, "e to the x.")
LogOp = _unary("log", FloatUnaryOp, "The natural logarithm.")
SqrtOp = _unary("sqrt", FloatUnaryOp, "The square root.")
RsqrtOp = _unary("rsqrt", FloatUnaryOp, "1 / sqrt(x).")
TanhOp = _unary("tanh", FloatUnaryOp, "The hyperbolic tangent.")
ErfOp = _unary("erf", FloatUnaryOp, "The error function.")
SinOp = _unary("sin", FloatUnaryOp, "The sine of radians.")
CosOp = _unary("cos", FloatUnaryOp, "The cosine of radians.")
SigmoidOp = _unary("sigmoid", FloatUnaryOp, "1 / (1 + exp(-x)).")
SiluOp = _unary("silu", FloatUnaryOp, "x * sigmoid(x).")
SoftplusOp = _unary("softplus", FloatUnaryOp, "log(1 + exp(x)).")

AddOp = _binary("add", BinaryOp, "a + b.")
SubOp = _binary("sub", BinaryOp, "a - b.")
MulOp = _binary("mul", BinaryOp, "a * b.")
DivOp = _binary("div", BinaryOp, "a / b; integers truncate toward zero.")
PowOp = _binary("pow", BinaryOp, "a to the b.")
MaxOp = _binary("max", BinaryOp, "The larger; NaN wins.")
MinOp = _binary("min", BinaryOp, "The smaller; NaN wins.")
AndOp = _binary("and", LogicOp, "a and b.")
OrOp = _binary("or", LogicOp, "a or b.")
XorOp = _binary("xor", LogicOp, "a exclusive-or b.")


class FloorOp(UnaryOp):
    """Rounding to an integer; `round` is half to even."""

    name = "tessera.floor"
    attrs: ClassVar[Mapping[str, Kind]] = {"kind": Word("floor", ROUNDINGS)}


class ModOp(BinaryOp):
    """The remainder: the divisor's sign, or the dividend's with `fmod`."""

    name = "tessera.mod"
    attrs: ClassVar[Mapping[str, Kind]] = {"fmod": Bool(False)}


class NotOp(UnaryOp):
    """Logical not of i1, bitwise not of integers."""

    name = "tessera.not"


class IsNanOp(GraphOp):
    """Where x is not a number."""

    name = "tessera.isnan"
    ins = ("x",)

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        float_unary(types, options, declared)
        return result("i1", types[0].get_shape())


class CmpOp(GraphOp):
    """A comparison; anything but `ne` is false for NaN."""

    name = "tessera.cmp"
    ins = ("a", "b")
    attrs: ClassVar[Mapping[str, Kind]] = {"kind": Word(words=COMPARISONS)}

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        promote(types)
        return result("i1", broadcast(types[0].get_shape(), types[1].get_shape()))


class SelectOp(GraphOp):
    """`a` where cond holds, else `b`; nothing of the other side shows, NaN included."""

    name = "tessera.select"
    ins = ("cond", "a", "b")

    @classmethod
    def infer(cls, types: Types, options: Options, declared: Types) -> Types:
        if dtype_of(types[0]) != "i1":
            text = f"condition has element type {dtype_of(types[0])}, wanted i1"
            raise malformed(DTYPE, text)
        shape = broadcast(*(t.get_shape() for t in types))
        return result(promote(types[1:]), shape)


ELEMENTWISE: tuple[type[GraphOp], ...] = (
    *(NegOp, AbsOp, SignOp, ExpOp, LogOp, SqrtOp, RsqrtOp, TanhOp, ErfOp, SinOp, CosOp),
    *(SigmoidOp, SiluOp, SoftplusOp, FloorOp, NotOp, IsNanOp),
    *(AddOp, SubOp, MulOp, DivOp, PowOp, MaxOp, MinOp, ModOp, AndOp, OrOp, XorOp),
    *(CmpOp, SelectOp),
)
