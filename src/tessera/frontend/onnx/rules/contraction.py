"""Matrix products, convolution and Einstein sums."""

from __future__ import annotations

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.elementwise import same_type
from tessera.frontend.onnx.step import Step
from tessera.graph.types import DYN


def matmul(step: Step) -> Operand:
    """MatMul, by NumPy's rules."""
    a, b = step.input(0), step.input(1)
    same_type(step, a, b)
    return step.emit("matmul", a, b)


def gemm(step: Step) -> Operand:
    """Gemm: alpha * A B + beta * C, either factor transposed."""
    a, b, c = step.input(0), step.input(1), step.optional(2)
    step.ignore("broadcast")
    same_type(step, a, b, *([] if c is None else [c]))
    if a.rank != 2 or b.rank != 2:
        raise step.misfit(f"ranks {a.rank} and {b.rank}, wanted 2 and 2")
    turned = step.flag("transA"), step.flag("transB")
    product = step.emit("matmul", a, b, transpose_a=turned[0], transpose_b=turned[1])
    alpha, beta = step.number("alpha", 1.0), step.number("beta", 1.0)
    if alpha != 1.0:
        product = step.emit("mul", product, step.const(alpha, product))
    if c is None or beta == 0.0:
        return product
    if beta != 1.0:
        c = step.emit("mul", c, step.const(beta, c))
    return step.emit("add", product, c)


def conv(step: Step) -> Operand:
    """Conv over any number of spatial axes."""
    x, w, bias = step.input(0), step.input(1), step.optional(2)
    axes = w.rank - 2
    if x.rank != w.rank or axes < 1:
        raise step.misfit(
            f"x of rank {x.rank} and w of rank {w.rank}, wanted equal, ≥ 3"
        )
    kernel = step.integers("kernel_shape", w.shape[2:])
    if len(kernel) != axes or any(
        size not in (DYN, k) for size, k in zip(w.shape[2:], kernel, strict=True)
    ):
        raise step.misfit(f"kernel_shape {list(kernel)} for w {list(w.shape)}")
    strides = step.integers("strides", [1] * axes)
    dilations = step.integers("dilations", [1] * axes)
    low, high = _pads(step, x, kernel, strides, dilations)
    return step.emit(
        "conv",
        x,
        w,
        *([] if bias is None else [bias]),
        strides=strides,
        pads_low=low,
        pads_high=high,
        dilations=dilations,
        groups=step.integer("group", 1),
    )


def _pads(
    step: Step,
    x: Operand,
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilations: tuple[int, ...],
) -> tuple[list[int], list[int]]:
    """Padding before and after each spatial axis, worked out where auto_pad asks."""
    axes = len(kernel)
    words = ("NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER")
    mode = step.word("auto_pad", words, "NOTSET")
    pads = step.integers("pads", [0] * (2 * axes))
    if len(pads) != 2 * axes or not len(strides) == len(dilations) == axes:
        raise step.misfit(f"pads, strides or dilations do not fit {axes} spatial axes")
    if min(strides) < 1 or min(dilations) < 1:
        raise step.misfit(
            f"strides {list(strides)} or dilations {list(dilations)} below 1"
        )
    if mode in ("NOTSET", "VALID"):
        pads = pads if mode == "NOTSET" else (0,) * (2 * axes)
        return list(pads[:axes]), list(pads[axes:])
    if DYN in x.shape[2:] or DYN in kernel:
        raise step.unsupported(f"auto_pad {mode} of unknown sizes", "known sizes")
    low: list[int] = []
    high: list[int] = []
    for size, k, stride, spread in zip(
        x.shape[2:], kernel, strides, dilations, strict=True
    ):
        wanted = -(-size // stride)
        total = max(0, (wanted - 1) * stride + spread * (k - 1) + 1 - size)
        low.append(total // 2 if mode == "SAME_UPPER" else total - total // 2)
        high.append(total - low[-1])
    return low, high


def global_average(step: Step) -> Operand:
    """GlobalAveragePool: the mean over all spatial axes."""
    x = step.input(0)
    return step.emit("reduce_mean", x, axes=range(2, x.rank), keepdims=True)


def global_max(step: Step) -> Operand:
    """GlobalMaxPool: the largest over all spatial axes."""
    x = step.input(0)
    return step.emit("reduce_max", x, axes=range(2, x.rank), keepdims=True)
