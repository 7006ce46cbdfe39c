"""Computing values of a graph in f64 from sample values of others.

What every proof by evaluation rests on: constants are read, floats are never rounded, and
only the ops between what is given and what is wanted are run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from xdsl.ir import OpResult, SSAValue

from tessera.diagnostics import TesseraError
from tessera.graph.constants import constant_of
from tessera.graph.evaluate import compute
from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import CastOp, ConstOp
from tessera.graph.types import FLOATS, value_dtype

Array = np.ndarray


class NotSampled(Exception):
    """A value that cannot be computed from the given ones, and why not."""


def ops_between(
    wanted: Sequence[SSAValue], given: Collection[SSAValue]
) -> tuple[list[GraphOp], list[SSAValue]]:
    """The ops that make `wanted`, producers first, and what they read but nothing gives.

    The latter are arguments of the function (with a default or not).
    """
    ops: dict[GraphOp, None] = {}
    open_: dict[SSAValue, None] = {}
    todo: list[tuple[SSAValue, bool]] = [(value, False) for value in reversed(wanted)]
    seen: set[SSAValue] = set(given)
    while todo:
        value, done = todo.pop()
        op = value.op if isinstance(value, OpResult) else None
        if done:
            assert isinstance(op, GraphOp)
            ops.setdefault(op)
        elif value not in seen:
            seen.add(value)
            if not isinstance(op, GraphOp):
                open_.setdefault(value)
                continue
            todo.append((value, True))
            todo.extend((operand, False) for operand in reversed(op.operands))
    return list(ops), list(open_)


def sample(
    wanted: Sequence[SSAValue], given: Mapping[SSAValue, Array]
) -> Sequence[Array]:
    """The wanted values in f64 (other element types as they are).

    Raises NotSampled for an argument that is not given, a constant without values, and
    an op that cannot be computed.
    """
    ops, unknown = ops_between(wanted, given)
    if unknown:
        raise NotSampled("a function argument is read")
    reads: dict[SSAValue, int] = dict.fromkeys(wanted, 1)
    for op in ops:
        for operand in op.operands:
            reads[operand] = reads.get(operand, 0) + 1
    values = dict(given)
    with np.errstate(all="ignore"):
        for op in ops:
            made = _compute(op, [values[operand] for operand in op.operands])
            for result, array in zip(op.results, made, strict=True):
                if result not in given:
                    values[result] = array
            for operand in op.operands:
                reads[operand] -= 1
                if not reads[operand]:
                    del values[operand]
    return [values[value] for value in wanted]


def _compute(op: GraphOp, arrays: Sequence[Array]) -> Sequence[Array]:
    if isinstance(op, CastOp):
        names = value_dtype(op.operands[0]), value_dtype(op.results[0])
        if all(name in FLOATS for name in names):
            return arrays
    if isinstance(op, ConstOp) and constant_of(op.results[0]) is None:
        raise NotSampled("a weight has a name but no values")
    try:
        made = compute(op, arrays)
    except (TesseraError, TypeError) as bad:
        raise NotSampled(str(bad)) from bad
    names = [value_dtype(result) for result in op.results]
    return [
        array.astype(np.float64, copy=False) if name in FLOATS else array
        for name, array in zip(names, made, strict=True)
    ]
