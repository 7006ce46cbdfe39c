"""What a fused call saves against running the same ops one by one, counted from shapes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tessera.fusion.kernel import FusedKernel
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.operation import read_options
from tessera.graph.types import (
    is_static,
    numpy_dtype,
    value_dtype,
    value_shape,
)
from tessera.target.dialect import CallOp

VIEWS = frozenset(
    f"tessera.{name}"
    for name in ("const", "reshape", "transpose", "broadcast", "slice", "repeat_heads")
)


@dataclass(frozen=True)
class Figures:
    """Per run: floating point operations, bytes of traffic and launches saved.

    A figure is None where a size is not known before run time.
    """

    flops: int | None = None
    bytes_saved: int | None = None
    launches_saved: int | None = None


def figures(call: CallOp, kernel: FusedKernel) -> Figures:
    """The figures of one fused call.

    `bytes_saved` counts each intermediate value once written and once read; `flops` the
    multiplications and additions of the products (2 M N K each).
    """
    if kernel.unfused is None:
        return Figures()
    block = Block(arg_types=[operand.type for operand in call.operands])
    g = SsaAlgebra(block.add_op, call.location)
    operands = dict(zip(call.words("roles"), block.args, strict=True))
    options = {**read_options(kernel.options, call.attributes), **kernel.unfused}
    try:
        results = kernel.meaning(g, operands, options)
    except VerifyException:  # a reading that these options do not have
        return Figures()
    ops = [op for op in block.ops if op.name not in VIEWS]
    kept = set(results[: max(1, len(call.results))])
    inner = [v for op in ops for v in op.results if v not in kept]
    launches = len(ops) - kernel.launches
    if not all(is_static(value_shape(v)) for op in ops for v in op.results):
        return Figures(launches_saved=launches)
    return Figures(_flops(ops), 2 * sum(map(_bytes, inner)), launches)


def _bytes(value: SSAValue) -> int:
    itemsize = numpy_dtype(value_dtype(value)).itemsize
    return math.prod(value_shape(value)) * itemsize


def _flops(ops: Iterable[Operation]) -> int:
    products = ("tessera.matmul", "tessera.masked_matmul")
    total = 0
    for op in ops:
        if op.name in products:
            inner = value_shape(op.operands[0])[-1]
            total += 2 * math.prod(value_shape(op.results[0])) * inner
    return total
