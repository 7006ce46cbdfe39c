"""One attention of the sum: what it reads, and the weights it gives to its keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.operation import GraphOp
from tessera.graph.ops import composite, reduction, sparse
from tessera.graph.sampling import Array
from tessera.graph.types import value_shape
from tessera.kernels.native_sparse_attn.views import (
    float_sources,
    producer,
)

NEAR = 200


@dataclass(frozen=True)
class Branch:
    """An attention that ends in `end`; q, k and v as its products read them.

    k and v are [..., D, Sk] where `turned` says so.
    """

    end: GraphOp
    q: SSAValue
    k: SSAValue
    v: SSAValue
    turned: tuple[bool, bool] = (False, False)

    @property
    def rows(self) -> tuple[int, int, int]:
        """Query heads of all batches together, queries, and keys."""
        shape = value_shape(self.end.results[0])
        keys = value_shape(self.v)[-1 if self.turned[1] else -2]
        return int(np.prod(shape[:-2])), shape[-2], keys

    @property
    def read(self) -> tuple[SSAValue, ...]:
        """The values that the weights follow from."""
        if isinstance(self.end, reduction.MatmulOp):
            return (self.end.operands[0],)
        return tuple(self.end.operands)

    def weights(self, arrays: Sequence[Array]) -> Array:
        """The weights [N, Sq, Sk] that `read` arrays give to the keys."""
        count, queries, keys = self.rows
        if isinstance(self.end, reduction.MatmulOp):
            lead = value_shape(self.end.results[0])[:-2]
            return np.broadcast_to(arrays[0], (*lead, queries, keys)).reshape(
                count, queries, keys
            )
        q, k, v, *rest = arrays
        one_hot = np.broadcast_to(np.eye(keys), (*v.shape[:-2], keys, keys))
        made: Array = self.end.meaning()(q, k, one_hot, *rest, **self.end.keywords())
        return made.reshape(count, queries, keys)


def branch(end: GraphOp) -> Branch | None:
    """The attention that ends in an op."""
    if not isinstance(end, reduction.MatmulOp):
        q, k, v = end.operands[:3]
        return Branch(end, q, k, v)
    scores = _scores(end)
    if scores is None:
        return None
    turned = (not scores.options()["transpose_b"], bool(end.options()["transpose_b"]))
    return Branch(end, scores.operands[0], scores.operands[1], end.operands[1], turned)


def _scores(end: GraphOp) -> GraphOp | None:
    """The product of queries and keys whose softmax an attention weighs with."""
    for value in float_sources(end.operands[0]):
        op = producer(value)
        if not isinstance(op, composite.SoftmaxOp):
            continue
        for above in float_sources(op.operands[0]):
            made = producer(above)
            if isinstance(made, reduction.MatmulOp):
                return None if made.options()["transpose_a"] else made
    return None


def chooser(found: Branch) -> GraphOp | None:
    """The op that selects the blocks a branch sees: the nearest top-k above its mask."""
    if isinstance(found.end, sparse.AttnTopKBlocksOp):
        return found.end
    todo, seen = list(found.read), {found.q, found.k, found.v}
    while todo and len(seen) < NEAR:
        value = todo.pop(0)
        if value in seen:
            continue
        seen.add(value)
        op = producer(value)
        if isinstance(op, reduction.TopkOp):
            return op
        todo += () if op is None else op.operands
    return None
