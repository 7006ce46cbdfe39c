"""Constant folding: ops on known values become the values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from tessera.diagnostics import TesseraError
from tessera.graph.constants import constant_of
from tessera.graph.evaluate import compute
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import (
    BroadcastOp,
    ConstOp,
    FillOp,
    IotaOp,
    ShapeOp,
    TransposeOp,
)
from tessera.graph.ops.reduction import MatmulOp
from tessera.graph.rewriting import Rewrites, blocks
from tessera.graph.types import is_static, numpy_dtype, value_dtype, value_shape

GROWING = (IotaOp, FillOp, BroadcastOp)
GROWN_BYTES = 1 << 20
FOLDED_BYTES = 1 << 26


@dataclass(frozen=True)
class FoldConstants(ModulePass):
    """Evaluate ops whose operands are all constants, by their NumPy meaning.

    An argument is never constant, a default or not.  A result keeps the declared
    element type and shape exactly.  Results above 64 MiB, and above 1 MiB of ops that
    repeat or count, stay as ops; so does an op whose values break its rules: it fails
    where it runs.
    """

    name = "tessera-fold-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        rewrites = Rewrites.of(op, ctx, self.name)
        for block in blocks(op):
            for item in list(block.ops):
                if isinstance(item, GraphOp) and item.parent is not None:
                    fold(item, rewrites)


def fold(op: GraphOp, rewrites: Rewrites) -> None:
    """Replace one op by constants when its operands allow it."""
    arrays = _known(op)
    if arrays is None or not _pays(op):
        return
    try:
        results = compute(op, arrays)
    except TesseraError:
        return
    if not all(map(_as_declared, op.results, results)):
        return
    folded = [rewrites.constant(_packed(array), op) for array in results]
    for const, result in zip(folded, op.results, strict=True):
        const.results[0].name_hint = result.name_hint
    rewrites.fold(op, [const.results[0] for const in folded])


def _known(op: GraphOp) -> Sequence[np.ndarray] | None:
    """The operands' arrays when the result follows from them alone."""
    if isinstance(op, ConstOp):
        return None
    if isinstance(op, ShapeOp) and is_static(shape := value_shape(op.operands[0])):
        return [np.broadcast_to(np.zeros((), np.bool_), shape)]
    known: list[np.ndarray] = []
    for operand in op.operands:
        array = _value(operand)
        if array is None:
            return None
        known.append(array)
    return known


def _value(operand: SSAValue) -> np.ndarray | None:
    """The array of a constant, or of one whose transpose was left to its readers."""
    owner = operand.owner
    if not isinstance(owner, TransposeOp):
        return constant_of(operand)
    array = constant_of(owner.operands[0])
    return (
        None if array is None else np.transpose(array, owner.options()["permutation"])
    )


def _pays(op: GraphOp) -> bool:
    """Whether the results are of known and moderate size."""
    if not all(is_static(value_shape(result)) for result in op.results):
        return False
    if isinstance(op, TransposeOp) and _feeds_matmuls(op):
        return False  # absorb-transposes swaps it in the contraction, or in the weight
    size = sum(map(_bytes, op.results))
    return size <= (GROWN_BYTES if isinstance(op, GROWING) else FOLDED_BYTES)


def _feeds_matmuls(op: TransposeOp) -> bool:
    order = op.options()["permutation"]
    rank = len(order)
    swap = (*range(rank - 2), rank - 1, rank - 2)
    users = [use.operation for use in op.results[0].uses]
    return rank > 1 and order == swap and all(isinstance(u, MatmulOp) for u in users)


def _bytes(value: SSAValue) -> int:
    return math.prod(value_shape(value)) * numpy_dtype(value_dtype(value)).itemsize


def _as_declared(result: SSAValue, array: np.ndarray) -> bool:
    found = array.shape, array.dtype
    return found == (value_shape(result), numpy_dtype(value_dtype(result)))


def _packed(array: np.ndarray) -> np.ndarray:
    """The array in row-major order."""
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)
