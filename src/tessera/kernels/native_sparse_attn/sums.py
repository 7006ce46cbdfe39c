"""The gated sum of three branches, in the ways it is written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from tessera.graph.algebra import SsaAlgebra
from tessera.graph.operation import GraphOp
from tessera.graph.ops import composite, layout, reduction, sparse
from tessera.graph.ops import elementwise as ew
from tessera.graph.types import Shape, is_static, value_shape
from tessera.kernels.native_sparse_attn.views import (
    Step,
    float_sources,
    producer,
    through_views,
    undo,
)

Numbers = tuple[int, ...]
COMPOSITES = (
    composite.FlashAttnOp,
    sparse.AttnCompressedBlocksOp,
    sparse.AttnTopKBlocksOp,
    sparse.AttnSlidingWindowOp,
)
BRANCHES = 3


@dataclass(frozen=True)
class Gate:
    """A branch's factor: a value, or the `index`-th along an axis from the end.

    `kept` says that the axis stays, with one entry.
    """

    value: SSAValue
    axis: int = 0
    index: int = 0
    kept: bool = True

    def build(self, g: SsaAlgebra, rank: int) -> SSAValue:
        """The factor, of the product's rank."""
        value, shape = self.value, value_shape(self.value)
        if self.axis:
            rank += not self.kept
        shape = (1,) * (rank - len(shape)) + shape
        value = _reshaped(g, value, shape)
        if not self.axis:
            return value
        axis = rank + self.axis
        if shape[axis] > 1:
            value = _slice(g, value, axis, self.index)
        left = (1,) if self.kept else ()
        return _reshaped(g, value, (*shape[:axis], *left, *shape[axis + 1 :]))


@dataclass(frozen=True)
class Term:
    """One branch of the sum: the op that ends its attention, and its gate if any.

    `lower` lead from the end's layout to that of the gated product, of shape `product`,
    `upper` from there to the sum's.
    """

    end: GraphOp
    gate: Gate | None
    product: Shape
    lower: tuple[Step, ...] = ()
    upper: tuple[Step, ...] = ()

    @property
    def start(self) -> Shape:
        """The shape of the attention's result."""
        return value_shape(self.end.results[0])

    @property
    def steps(self) -> tuple[Step, ...]:
        """From the attention's layout to the sum's."""
        return (*self.lower, *self.upper)

    def gate_rows(self, g: SsaAlgebra) -> SSAValue:
        """The gate in the attention's layout, one value a row."""
        assert self.gate is not None
        value = self.gate.build(g, len(self.product))
        moved = all(kind == "transpose" for kind, _ in self.lower)
        if not moved:
            value = _broadcast(g, value, self.product)
        for kind, argument in undo(self.start, self.lower):
            if kind == "reshape":
                value = g.reshape(value, argument)
            else:
                value = g.apply("transpose", value, permutation=argument)
        if value_shape(value)[-1] != 1:
            value = _slice(g, value, len(self.start) - 1, 0)
        return _broadcast(g, value, (*self.start[:-1], 1))


def _reshaped(g: SsaAlgebra, value: SSAValue, shape: Shape) -> SSAValue:
    return value if value_shape(value) == shape else g.reshape(value, shape)


def _broadcast(g: SsaAlgebra, value: SSAValue, shape: Shape) -> SSAValue:
    return value if value_shape(value) == shape else g.broadcast(value, shape)


def _slice(g: SsaAlgebra, value: SSAValue, axis: int, index: int) -> SSAValue:
    shape = value_shape(value)
    starts = tuple(index if i == axis else 0 for i in range(len(shape)))
    stops = tuple(index + 1 if i == axis else size for i, size in enumerate(shape))
    return g.apply("slice", value, starts=starts, stops=stops, steps=(1,) * len(shape))


def gated_sum(root: GraphOp) -> list[Term] | None:
    """The three terms of a sum that ends in `root`; None when it is no such sum."""
    terms: list[Term | None] = []
    if isinstance(root, ew.AddOp):
        terms = _added(root)
    elif isinstance(root, reduction.ReduceSumOp):
        terms = _summed(root)
    elif isinstance(root, reduction.MatmulOp):
        terms = _contracted(root)
    found = [term for term in terms if term is not None]
    if len(terms) != BRANCHES or len(found) != len(terms):
        return None
    return found if len({term.end for term in found}) == BRANCHES else None


def _added(root: GraphOp) -> list[Term | None]:
    leaves: list[SSAValue] = []
    todo: list[SSAValue] = [root.results[0]]
    while todo and len(leaves) + len(todo) <= BRANCHES:
        value = todo.pop()
        op = producer(value)
        if isinstance(op, ew.AddOp):
            todo.extend(reversed(op.operands))
        else:
            leaves.append(value)
    if todo or len(leaves) != BRANCHES:
        return []
    return [_term(leaf, value_shape(root.results[0])) for leaf in leaves]


def _term(leaf: SSAValue, total: Shape) -> Term | None:
    if value_shape(leaf) != total:
        return None
    value, upper = through_views(leaf)
    op, end = producer(value), ending(value)
    if end is not None:
        return Term(end, None, value_shape(value), (), tuple(upper))
    if not isinstance(op, ew.MulOp):
        return None
    product = value_shape(value)
    for side in (0, 1):
        found = _branch(op.operands[side])
        if found is not None and value_shape(op.operands[side]) == product:
            gate = Gate(op.operands[1 - side])
            return replace(found, gate=gate, product=product, upper=tuple(upper))
    return None


def _branch(value: SSAValue) -> Term | None:
    base, steps = through_views(value)
    end = ending(base)
    return end and Term(end, None, value_shape(value), tuple(steps))


def ending(value: SSAValue) -> GraphOp | None:
    """The op that makes a value, if it may be the last of an attention."""
    op = producer(value)
    if isinstance(op, COMPOSITES):
        return op
    if not isinstance(op, reduction.MatmulOp) or op.options()["transpose_a"]:
        return None
    above = map(producer, float_sources(op.operands[0], 8))
    return op if any(isinstance(m, composite.SoftmaxOp) for m in above) else None


def _summed(root: GraphOp) -> list[Term | None]:
    """The branches stacked along an axis, times gates, summed along it."""
    product = producer(root.operands[0])
    shape, axes = value_shape(root.operands[0]), root.options()["axes"]
    if not isinstance(product, ew.MulOp) or len(axes) != 1 or not is_static(shape):
        return []
    axis = axes[0] % len(shape)
    total = value_shape(root.results[0])
    for side in (0, 1):
        stacked = _stacked(product.operands[side], axis, shape)
        if stacked is None:
            continue
        left = shape[:axis] + shape[axis + 1 :]
        gates, end = product.operands[1 - side], axis - len(shape)
        upper: tuple[Step, ...] = () if total == left else (("reshape", total),)
        return [
            term
            and replace(
                term,
                gate=Gate(gates, end, index, False),
                product=left,
                lower=(*term.lower, ("reshape", left)),
                upper=upper,
            )
            for index, term in enumerate(stacked)
        ]
    return []


def _stacked(value: SSAValue, axis: int, shape: Shape) -> Sequence[Term | None] | None:
    """The branches that are joined, one entry each, along an axis of a value."""
    base, steps = through_views(value)
    op = producer(base)
    if not isinstance(op, layout.ConcatOp) or value_shape(value) != shape:
        return None
    along = op.options()["axis"] % len(value_shape(base))
    for kind, order in steps:
        if kind != "transpose":
            return None
        along = order.index(along)
    if along != axis or shape[axis] != len(op.operands):
        return None
    found = [_branch(operand) for operand in op.operands]
    return [term and replace(term, lower=(*term.lower, *steps)) for term in found]


def _contracted(root: GraphOp) -> list[Term | None]:
    """Gates [..., 1, 3] times the branches stacked [..., 3, D], or both transposed."""
    total, options = value_shape(root.results[0]), root.options()
    flags = options["transpose_a"], options["transpose_b"]
    for side in (0, 1):
        value, gates = root.operands[side], root.operands[1 - side]
        shape, flag = value_shape(value), flags[side]
        rank = len(shape)
        axis = rank - 2 if (side == 1) != flag else rank - 1
        stacked = _stacked(value, axis, shape) if rank > 1 else None
        if stacked is None:
            continue
        swap = (*range(rank - 2), rank - 1, rank - 2)
        one = (*shape[:axis], 1, *shape[axis + 1 :])
        if (tuple(one[i] for i in swap) if flag else one) != total:
            continue
        turned: tuple[Step, ...] = (("transpose", swap),) if flag else ()
        along = -1 if (side == 1) != flags[1 - side] else -2
        return [
            term
            and replace(
                term,
                gate=Gate(gates, along, index),
                product=total,
                lower=(*term.lower, *turned),
            )
            for index, term in enumerate(stacked)
        ]
    return []
