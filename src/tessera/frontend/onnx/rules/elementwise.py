"""Arithmetic, comparison, logic, activations: one value for each element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.step import Step
from tessera.graph.types import FLOATS

Rule = Callable[[Step], Operand]
Need = Callable[..., None]


def same_type(step: Step, *operands: Operand) -> None:
    """Refuse operands of more than one element type; ONNX never converts by itself."""
    found = list(dict.fromkeys(x.dtype for x in operands))
    if len(found) > 1:
        raise step.misfit(
            f"inputs have element types {' and '.join(found)}, wanted one"
        )


def anything(step: Step, *operands: Operand) -> None:
    """Accept every element type."""


def truths(step: Step, *operands: Operand) -> None:
    """Refuse numbers where an op combines truth values."""
    if any(x.dtype != "i1" for x in operands):
        raise step.misfit(f"inputs are {operands[0].dtype}, wanted i1")


def unary(op: str, need: Need = anything, **options: Any) -> Rule:
    """An op of one tensor that the vocabulary has as it is."""

    def rule(step: Step) -> Operand:
        need(step, step.input(0))
        return step.emit(op, step.input(0), **options)

    return rule


def binary(op: str, need: Need = anything, **options: Any) -> Rule:
    """An op of two tensors that the vocabulary has as it is."""

    def rule(step: Step) -> Operand:
        a, b = step.input(0), step.input(1)
        same_type(step, a, b)
        need(step, a, b)
        _legacy_broadcast(step)
        return step.emit(op, a, b, **options)

    return rule


def _legacy_broadcast(step: Step) -> None:
    """Before opset 7 an axis could say where the second operand is aligned."""
    if step.opset < 7:
        step.ignore("broadcast")
        if step.given("axis"):
            raise step.unsupported("attribute 'axis' of opset 6", "NumPy broadcasting")


def variadic(op: str) -> Rule:
    """An op folded over any number of tensors from the left."""

    def rule(step: Step) -> Operand:
        first, *rest = step.inputs()
        same_type(step, first, *rest)
        for x in rest:
            first = step.emit(op, first, x)
        return first

    return rule


def mean(step: Step) -> Operand:
    """Mean(xs) = sum of xs / n."""
    total = variadic("add")(step)
    return step.emit("div", total, step.const(len(step.operands), total))


def identity(step: Step) -> Operand:
    """The operand itself."""
    return step.input(0)


def power(step: Step) -> Operand:
    """Pow: the result has the base's type; the exponent may have any."""
    base, exponent = step.input(0), step.input(1)
    _legacy_broadcast(step)
    if base.dtype in FLOATS or exponent.dtype not in FLOATS:
        return step.emit("pow", base, step.cast(exponent, base.dtype))
    wide = "f64" if exponent.dtype == "f64" else "f32"
    raised = step.emit("pow", step.cast(base, wide), step.cast(exponent, wide))
    return step.cast(raised, base.dtype)


def modulo(step: Step) -> Operand:
    """Mod: the divisor's sign, the dividend's with fmod."""
    a, b = step.input(0), step.input(1)
    same_type(step, a, b)
    return step.emit("mod", a, b, fmod=step.flag("fmod"))


def where(step: Step) -> Operand:
    """Where(condition, a, b)."""
    same_type(step, step.input(1), step.input(2))
    return step.emit("select", step.input(0), step.input(1), step.input(2))


def cast_to(step: Step) -> Operand:
    """Cast to the type that attribute 'to' numbers."""
    step.ignore("saturate", "round_mode")  # of narrower floats only
    return step.cast(step.input(0), step.element("to"))


def cast_like(step: Step) -> Operand:
    """Cast to the type of another tensor."""
    step.ignore("saturate", "round_mode")
    return step.cast(step.input(0), step.input(1).dtype)


def clip(step: Step) -> Operand:
    """min(max(x, low), high); the bounds are attributes before opset 11."""
    x = step.input(0)
    low, high = step.optional(1), step.optional(2)
    if step.opset < 11:
        step.ignore("consumed_inputs")
        low = step.const(step.number("min"), x) if step.given("min") else None
        high = step.const(step.number("max"), x) if step.given("max") else None
    for op, bound in (("max", low), ("min", high)):
        if bound is not None:
            same_type(step, x, bound)
            x = step.emit(op, x, bound)
    return x


def relu(step: Step) -> Operand:
    """max(x, 0)."""
    x = step.input(0)
    return step.emit("max", x, step.const(0, x))


def _where_positive(step: Step, x: Operand, otherwise: Operand) -> Operand:
    positive = step.emit("cmp", x, step.const(0, x), kind="gt")
    return step.emit("select", positive, x, otherwise)


def leaky_relu(step: Step) -> Operand:
    """Value: x where x >= 0, else alpha * x."""
    x = step.input(0)
    scaled = step.emit("mul", x, step.const(step.number("alpha", 0.01), x))
    negative = step.emit("cmp", x, step.const(0, x), kind="lt")
    return step.emit("select", negative, scaled, x)


def prelu(step: Step) -> Operand:
    """Value: x where x >= 0, else slope * x."""
    x, slope = step.input(0), step.input(1)
    same_type(step, x, slope)
    scaled = step.emit("mul", x, slope)
    negative = step.emit("cmp", x, step.const(0, x), kind="lt")
    return step.emit("select", negative, scaled, x)


def _expm1(step: Step, x: Operand) -> Operand:
    return step.emit("sub", step.emit("exp", x), step.const(1, x))


def elu(step: Step) -> Operand:
    """Value: x where x > 0, else alpha * (exp(x) - 1)."""
    x = step.input(0)
    alpha = step.const(step.number("alpha", 1.0), x)
    return _where_positive(step, x, step.emit("mul", alpha, _expm1(step, x)))


def celu(step: Step) -> Operand:
    """Value: x where x > 0, else alpha * (exp(x / alpha) - 1)."""
    x = step.input(0)
    alpha = step.const(step.number("alpha", 1.0), x)
    decayed = _expm1(step, step.emit("div", x, alpha))
    return _where_positive(step, x, step.emit("mul", alpha, decayed))


def selu(step: Step) -> Operand:
    """Value: gamma * (x where x > 0, else alpha * exp(x) - alpha)."""
    x = step.input(0)
    alpha = step.const(step.number("alpha", 1.67326319217681884765625), x)
    gamma = step.const(step.number("gamma", 1.05070102214813232421875), x)
    decayed = step.emit("mul", alpha, _expm1(step, x))
    return step.emit("mul", gamma, _where_positive(step, x, decayed))


def thresholded_relu(step: Step) -> Operand:
    """Value: x where x > alpha, else 0."""
    x = step.input(0)
    alpha = step.const(step.number("alpha", 1.0), x)
    above = step.emit("cmp", x, alpha, kind="gt")
    return step.emit("select", above, x, step.const(0, x))


def _hard_sigmoid(step: Step, x: Operand, alpha: float, beta: float) -> Operand:
    line = step.emit(
        "add", step.emit("mul", x, step.const(alpha, x)), step.const(beta, x)
    )
    return step.emit("max", step.emit("min", line, step.const(1, x)), step.const(0, x))


def hard_sigmoid(step: Step) -> Operand:
    """max(0, min(1, alpha * x + beta))."""
    alpha, beta = step.number("alpha", 0.2), step.number("beta", 0.5)
    return _hard_sigmoid(step, step.input(0), alpha, beta)


def hard_swish(step: Step) -> Operand:
    """Value: x * max(0, min(1, x / 6 + 1/2))."""
    x = step.input(0)
    return step.emit("mul", x, _hard_sigmoid(step, x, 1 / 6, 0.5))


def softsign(step: Step) -> Operand:
    """Value: x / (1 + |x|)."""
    x = step.input(0)
    return step.emit("div", x, step.emit("add", step.emit("abs", x), step.const(1, x)))


def swished(step: Step, x: Operand, alpha: float) -> Operand:
    """Value: x * sigmoid(alpha * x): silu when alpha is 1."""
    if alpha == 1.0:
        return step.emit("silu", x)
    inner = step.emit("mul", x, step.const(alpha, x))
    return step.emit("mul", x, step.emit("sigmoid", inner))


def swish(step: Step) -> Operand:
    """Value: x * sigmoid(alpha * x)."""
    return swished(step, step.input(0), step.number("alpha", 1.0))


def swiglu(step: Step) -> Operand:
    """swish(gate) * up: silu_mul when alpha is 1."""
    gate, up = step.input(0), step.input(1)
    same_type(step, gate, up)
    alpha = step.number("alpha", 1.0)
    if alpha == 1.0:
        return step.emit("silu_mul", gate, up)
    return step.emit("mul", swished(step, gate, alpha), up)


def mish(step: Step) -> Operand:
    """Value: x * tanh(softplus(x))."""
    x = step.input(0)
    return step.emit("mul", x, step.emit("tanh", step.emit("softplus", x)))


def gelu(step: Step) -> Operand:
    """Gelu in its erf (default) or tanh form."""
    form = step.word("approximate", ("none", "tanh"), "none")
    return step.emit("gelu", step.input(0), approximate=form)


def shrink(step: Step) -> Operand:
    """Value: x + bias below -lambd, x - bias above lambd, else 0."""
    x = step.input(0)
    edge, bias = step.number("lambd", 0.5), step.const(step.number("bias", 0.0), x)
    above = step.emit("cmp", x, step.const(edge, x), kind="gt")
    below = step.emit("cmp", x, step.const(-edge, x), kind="lt")
    inner = step.emit("select", above, step.emit("sub", x, bias), step.const(0, x))
    return step.emit("select", below, step.emit("add", x, bias), inner)


def reciprocal(step: Step) -> Operand:
    """1 / x."""
    x = step.input(0)
    return step.emit("div", step.const(1, x), x)


def is_inf(step: Step) -> Operand:
    """Where x is infinite, of the signs asked for."""
    x = step.input(0)
    positive, negative = (
        step.flag("detect_positive", True),
        step.flag("detect_negative", True),
    )
    if not positive and not negative:
        nowhere = step.emit("isnan", x)
        return step.emit("and", nowhere, step.emit("not", nowhere))
    if positive and negative:
        x = step.emit("abs", x)
    edge = np.inf if positive else -np.inf
    return step.emit("cmp", x, step.const(edge, x), kind="eq")


def tangent(step: Step) -> Operand:
    """sin(x) / cos(x)."""
    x = step.input(0)
    return step.emit("div", step.emit("sin", x), step.emit("cos", x))


def hyperbolic(op: str) -> Rule:
    """(exp(x) ± exp(-x)) / 2: cosh by `add`, sinh by `sub`."""

    def rule(step: Step) -> Operand:
        x = step.input(0)
        grown, decayed = step.emit("exp", x), step.emit("exp", step.emit("neg", x))
        return step.emit("mul", step.emit(op, grown, decayed), step.const(0.5, x))

    return rule
