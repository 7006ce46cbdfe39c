"""What is known of a computed shape: elements followed through the ops that move them.

Sizes of a partly dynamic model run through chains of shape, gather, concat and integer
arithmetic; each known size that comes out makes a result type more exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from tessera.frontend.onnx.operand import Operand, Partial
from tessera.graph.types import DYN, Tensor, dtype_of, is_static, numpy_dtype
from tessera.reference import PRIMITIVES

_MOST = 64  # elements; a shape has one for each axis
_MOVING = frozenset({"reshape", "broadcast", "transpose", "slice", "concat", "gather"})
_ELEMENTWISE = frozenset({"add", "sub", "mul", "div", "max", "min", "cast", "cmp"})


def follow(
    op: str, operands: Sequence[Operand], keywords: Mapping[str, Any], result: Tensor
) -> Partial | None:
    """The known elements of `op`'s integer result; None when there is none."""
    shape = result.get_shape()
    if not is_static(shape) or prod(shape) > _MOST or dtype_of(result)[0] not in "iu":
        return None
    if op == "shape":
        return _known([s if s != DYN else None for s in operands[0].shape])
    if not all(is_static(x.shape) and prod(x.shape) <= _MOST for x in operands):
        return None
    facts = [operand.facts or _nothing(operand) for operand in operands]
    if op in _MOVING:
        return _moved(op, facts, keywords)
    if op in _ELEMENTWISE:
        return _computed(op, facts, keywords)
    return _chosen(*facts) if op == "select" else None


def _nothing(x: Operand) -> Partial:
    return Partial(np.ones(x.shape, numpy_dtype(x.dtype)), np.zeros(x.shape, np.bool_))


def _known(sizes: Sequence[int | None]) -> Partial | None:
    values = np.array([s or 0 for s in sizes], np.int64)
    return _useful(values, np.array([s is not None for s in sizes], np.bool_))


def _useful(values: np.ndarray, known: np.ndarray) -> Partial | None:
    return Partial(values, known) if known.any() else None


def _run(op: str, arrays: Sequence[np.ndarray], keywords: Mapping[str, Any]) -> Any:
    meaning: Callable[..., Any] = PRIMITIVES[op]
    return meaning(*arrays, **keywords)


def _moved(
    op: str, facts: Sequence[Partial], keywords: Mapping[str, Any]
) -> Partial | None:
    """Known elements go where the op moves them; indices must all be known."""
    held = facts if op == "concat" else facts[:1]
    rest = facts[len(held) :]
    if not all(f.known.all() for f in rest):
        return None
    places = [f.values for f in rest]
    try:
        values = _run(op, [*(f.values for f in held), *places], keywords)
        known = _run(op, [*(f.known for f in held), *places], keywords)
    except (ValueError, IndexError):  # run time will say so, with the real sizes
        return None
    return _useful(values, known)


def _computed(
    op: str, facts: Sequence[Partial], keywords: Mapping[str, Any]
) -> Partial | None:
    """An element is known where every operand's is."""
    values = _run(op, [f.values for f in facts], keywords)
    known = np.broadcast_arrays(*(f.known for f in facts))
    return _useful(values, np.broadcast_to(np.logical_and.reduce(known), values.shape))


def _chosen(condition: Partial, a: Partial, b: Partial) -> Partial | None:
    """An element is known where the condition and the side it picks are."""
    values = np.where(condition.values, a.values, b.values)
    side = np.where(condition.values, a.known, b.known)
    return _useful(values, np.broadcast_to(side & condition.known, values.shape))
