"""One attention of the sum: what it reads, and the weights it gives to its keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.operation import GraphOp
from tessera.graph.ops import composite, reduction, sparse
from tessera.graph.sampling import Array, NotSampled, sample
from tessera.graph.types import Shape, value_shape
from tessera.kernels.native_sparse_attn.views import (
    float_sources,
    moves,
    producer,
    unscaled,
)

NEAR = 200


@dataclass(frozen=True)
class Source:
    """A value of the program and the shape [..., H, S, D] in which a role reads it."""

    value: SSAValue
    shape: Shape


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
        return Branch(end, *end.operands[:3])
    scores = _scores(end)
    if scores is None:
        return None
    turned = (not scores.options()["transpose_b"], bool(end.options()["transpose_b"]))
    return Branch(end, *scores.operands, end.operands[1], turned)


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


def query_source(found: Branch) -> Source:
    """Where the queries come from; constant factors on the way belong to the scale."""
    count, queries, _ = found.rows
    shape = value_shape(found.q)
    heads = count if len(shape) < 4 else count // max(1, shape[0])
    lead = () if len(shape) < 4 else shape[:1]
    return Source(unscaled(found.q), (*lead, heads, queries, shape[-1]))


def key_source(found: Branch, role: str, lead: Shape) -> Source | None:
    """Where keys or values come from, before their heads were repeated.

    `lead` are the batch axes of q.  Found by running the moves on the places of values;
    None where they are no repeat of heads.
    """
    full = _unscaled_keys(found.k) if role == "k" else found.v
    flag = found.turned[0 if role == "k" else 1]
    count, _, keys = found.rows
    batch = int(np.prod(lead))
    best: Source | None = None
    for source in moves(full):
        total = int(np.prod(value_shape(source)))
        places = np.arange(total, dtype=np.float64).reshape(value_shape(source))
        try:
            (moved,) = sample([full], {source: places})
        except NotSampled:
            break
        moved = moved.swapaxes(-1, -2) if flag else moved
        heads = _heads(moved, (batch, count // max(1, batch), keys), total)
        if heads and (best is None or heads <= best.shape[-3]):
            best = Source(source, (*lead, heads, *moved.shape[-2:]))
    return best


def _unscaled_keys(full: SSAValue) -> SSAValue:
    base = unscaled(full)
    return base if value_shape(base) == value_shape(full) else full


def _heads(moved: Array, sizes: tuple[int, int, int], total: int) -> int:
    """How many heads a source holds whose repeat `moved` is; 0 when it is no repeat."""
    batch, queries, keys = sizes
    width = moved.shape[-1]
    rows = batch * keys * width
    heads = total // rows if rows else 0
    if not heads or heads * rows != total or queries % heads or moved.shape[-2] != keys:
        return 0
    plain = np.arange(total, dtype=np.float64).reshape(batch, heads, keys, width)
    wanted = np.repeat(plain, queries // heads, axis=1)
    axes = moved.shape[:-2]
    if int(np.prod(axes)) != batch * queries:
        moved = _widened(moved, batch, queries)
    same = moved.size == wanted.size and bool(
        np.all(moved.reshape(wanted.shape) == wanted)
    )
    return heads if same else 0


def _widened(moved: Array, batch: int, queries: int) -> Array:
    """Heads that a product itself repeats: [B, 1, …] and [B, Hkv, 1, …]."""
    axes = moved.shape[:-2]
    if not axes or int(np.prod(axes)) % max(1, batch):
        return moved
    held = int(np.prod(axes)) // batch
    if not held or queries % held or axes[-1] != 1:
        return moved
    grouped = moved.reshape(batch, held, 1, *moved.shape[-2:])
    return np.repeat(grouped, queries // held, axis=2)
