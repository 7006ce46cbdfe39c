"""Softmax and the normalisations."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.shapes import Size, expand_dims, reshape, sizes_of
from tessera.frontend.onnx.step import Step


def _over_rows(step: Step, rule: str) -> Operand:
    """Before opset 13 an axis splits x into rows and columns; then each row is one."""
    x = step.input(0)
    if step.opset >= 13:
        return _along(step, rule, x, step.axis(step.integer("axis", -1), x.rank))
    axis = step.integer("axis", 1)
    if axis != x.rank:
        axis = step.axis(axis, x.rank)
    if axis == x.rank - 1:
        return _along(step, rule, x, axis)
    rows = Size(x, tuple(range(axis)))
    columns = Size(x, tuple(range(axis, x.rank)))
    flat = _along(step, rule, reshape(step, x, [rows, columns]), 1)
    return reshape(step, flat, sizes_of(x))


def _along(step: Step, rule: str, x: Operand, axis: int) -> Operand:
    if rule == "softmax":
        return step.emit("softmax", x, axis=axis)
    peak = step.emit("reduce_max", x, axes=[axis], keepdims=True)
    shifted = step.emit("sub", x, peak)
    total = step.emit(
        "reduce_sum", step.emit("exp", shifted), axes=[axis], keepdims=True
    )
    return step.emit("sub", shifted, step.emit("log", total))


def softmax(step: Step) -> Operand:
    """Softmax by the opset's reading of the axis."""
    return _over_rows(step, "softmax")


def log_softmax(step: Step) -> Operand:
    """LogSoftmax: x - max - log(sum(exp(x - max)))."""
    return _over_rows(step, "log_softmax")


def _stash(step: Step, x: Operand) -> str:
    """The type in which a norm computes: f32, or x's own when stash_type says so."""
    return "f32" if step.integer("stash_type", 1) == 1 and x.dtype != "f64" else x.dtype


def layernorm(step: Step) -> Sequence[Operand]:
    """LayerNormalization; mean and inverse deviation only where they are named."""
    x = step.input(0)
    axis = step.axis(step.integer("axis", -1), x.rank)
    eps, stash = step.number("epsilon", 1e-5), _stash(step, x)
    weights = [w for w in (step.input(1), step.optional(2)) if w is not None]
    results = [step.emit("layernorm", x, *weights, axis=axis, eps=eps)]
    if step.wants(1) or step.wants(2):
        axes = range(axis, x.rank)
        wide = step.cast(x, stash)
        mean = step.emit("reduce_mean", wide, axes=axes, keepdims=True)
        spread = _variance(step, step.emit("sub", wide, mean), axes)
        shifted = step.emit("add", spread, step.const(eps, spread))
        results += [mean, step.emit("rsqrt", shifted)]
    return results


def _variance(step: Step, centred: Operand, axes: Sequence[int]) -> Operand:
    square = step.emit("mul", centred, centred)
    return step.emit("reduce_mean", square, axes=axes, keepdims=True)


def rmsnorm(step: Step) -> Operand:
    """RMSNormalization over the axes from `axis` to the last."""
    step.ignore("stash_type")
    x, weight = step.input(0), step.input(1)
    axis = step.axis(step.integer("axis", -1), x.rank)
    eps = step.number("epsilon", 1e-5)
    if x.dtype == weight.dtype:
        return step.emit("rmsnorm", x, weight, axis=axis, eps=eps)
    normal = step.emit("rmsnorm", x, axis=axis, eps=eps)
    return step.emit("mul", step.cast(normal, weight.dtype), weight)


def _channelwise(step: Step, weight: Operand, x: Operand) -> Operand:
    """A vector of one value a channel, ready to meet x[N, C, …]."""
    return expand_dims(step, weight, range(1, x.rank - 1))


def batchnorm(step: Step) -> Operand:
    """BatchNormalization at inference: stored mean and variance, one a channel."""
    if step.flag("training_mode"):
        raise step.unsupported("training_mode = 1", "inference")
    step.ignore("momentum", "spatial", "is_test")
    x = step.input(0)
    scale, shift, mean, var = (
        _channelwise(step, step.cast(step.input(i), x.dtype), x) for i in range(1, 5)
    )
    shifted = step.emit("add", var, step.const(step.number("epsilon", 1e-5), x))
    centred = step.emit("sub", x, mean)
    normal = step.emit("mul", centred, step.emit("rsqrt", shifted))
    return step.emit("add", step.emit("mul", normal, scale), shift)


def instancenorm(step: Step) -> Operand:
    """InstanceNormalization: each channel of each sample by its own mean and variance."""
    x = step.input(0)
    axes = range(2, x.rank)
    normal = _normal(step, x, axes, step.number("epsilon", 1e-5))
    scale, shift = (_channelwise(step, step.input(i), x) for i in (1, 2))
    return step.emit("add", step.emit("mul", normal, scale), shift)


def _normal(step: Step, x: Operand, axes: Sequence[int], eps: float) -> Operand:
    centred = step.emit("sub", x, step.emit("reduce_mean", x, axes=axes, keepdims=True))
    shifted = step.emit("add", _variance(step, centred, axes), step.const(eps, x))
    return step.emit("mul", centred, step.emit("rsqrt", shifted))


def groupnorm(step: Step) -> Operand:
    """GroupNormalization; scale and bias are one a group before opset 21."""
    x, groups = step.input(0), step.integer("num_groups")
    eps, stash = step.number("epsilon", 1e-5), _stash(step, x)
    channels = x.shape[1] if x.rank > 1 else 0
    if groups < 1 or channels < 1 or channels % groups:
        raise step.misfit(f"{channels} channels in {groups} groups")
    wide = step.cast(x, stash)
    each = [Size(x, (0,)), groups, channels // groups, *sizes_of(x)[2:]]
    split = reshape(step, wide, each)
    normal = _normal(step, split, range(2, split.rank), eps)
    weights = [step.cast(step.input(i), stash) for i in (1, 2)]
    if step.opset < 21:
        scale, shift = (expand_dims(step, w, range(1, split.rank - 1)) for w in weights)
        scaled = step.emit("add", step.emit("mul", normal, scale), shift)
        return step.cast(reshape(step, scaled, sizes_of(x)), x.dtype)
    whole = reshape(step, normal, sizes_of(x))
    scale, shift = (_channelwise(step, w, x) for w in weights)
    return step.cast(step.emit("add", step.emit("mul", whole, scale), shift), x.dtype)


def lp_norm(step: Step) -> Operand:
    """LpNormalization: x over its L1 or L2 length along an axis; zeros where that is 0."""
    x, power = step.input(0), step.integer("p", 2)
    axis = step.axis(step.integer("axis", -1), x.rank)
    if power not in (1, 2):
        raise step.unsupported(f"p = {power}", "1 or 2")
    terms = step.emit("abs", x) if power == 1 else step.emit("mul", x, x)
    length = step.emit("reduce_sum", terms, axes=[axis], keepdims=True)
    length = length if power == 1 else step.emit("sqrt", length)
    empty = step.emit("cmp", length, step.const(0, x), kind="eq")
    return step.emit(
        "div", x, step.emit("select", empty, step.const(np.inf, x), length)
    )
