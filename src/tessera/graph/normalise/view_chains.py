"""Chains of reshapes and transposes: the shortest chain with the same layout.

The layout is found exactly, without data: every axis of the source is a list of atoms
(an axis, an offset within it, a size); reshapes regroup atoms and split them where they
must, transposes reorder groups.
"""

from __future__ import annotations

import math

from xdsl.ir import Operation, SSAValue

from tessera.graph.operation import GraphOp
from tessera.graph.ops.layout import ConcatOp, ReshapeOp, TransposeOp
from tessera.graph.types import Shape, is_static, tensor, value_dtype, value_shape

LONGEST = 12
Atom = tuple[int, int, int]
Groups = list[list[Atom]]


def shortest(op: GraphOp) -> GraphOp | None:
    """One or two views that do what three or more views up to `op` do."""
    chain = _chain(op)
    source, shape = chain[0].operands[0], value_shape(op.results[0])
    if len(chain) < 3 or not all(is_static(value_shape(o.results[0])) for o in chain):
        return None
    groups = layout(value_shape(source), chain)
    order = None if groups is None else _axes(groups, value_shape(source))
    if order is None:
        return None
    permuted = tuple(value_shape(source)[axis] for axis in order)
    value: SSAValue = source
    made: GraphOp | None = None
    if order != tuple(range(len(order))):
        made = TransposeOp.build((source,), None, op.location, permutation=order)
        value = made.results[0]
    if permuted == shape and made is not None:
        return made
    if made is not None:
        _before(op, made)
    return ReshapeOp.build((value,), (tensor(value_dtype(value), shape),), op.location)


def hoisted(op: GraphOp) -> GraphOp | None:
    """The transpose of a concat, for a concat of equal transposes."""
    makers = [operand.owner for operand in op.operands]
    turned = [maker for maker in makers if isinstance(maker, TransposeOp)]
    orders = {maker.options()["permutation"] for maker in turned}
    if len(turned) < len(makers) or len(orders) != 1:
        return None
    (order,) = orders
    axis = op.options()["axis"] % len(value_shape(op.results[0]))
    sources = [maker.operands[0] for maker in turned]
    joined = ConcatOp.build(sources, None, op.location, axis=order[axis])
    whole = TransposeOp.build(joined.results, permutation=order)
    if whole.results[0].type != op.results[0].type:
        return None
    _before(op, joined)
    return whole


def _before(op: Operation, made: Operation) -> None:
    assert op.parent is not None
    op.parent.insert_op_before(made, op)


def _chain(op: Operation) -> list[Operation]:
    """The views that lead to an op, first one first."""
    chain = [op]
    while len(chain) < LONGEST:
        maker = chain[-1].operands[0].owner
        is_view = isinstance(maker, TransposeOp | ReshapeOp)
        if not is_view or len(maker.operands) != 1:
            break
        chain.append(maker)
    return chain[::-1]


def layout(shape: Shape, chain: list[Operation]) -> Groups | None:
    """The atoms of each axis after a chain of views; None where sizes do not divide."""
    groups: Groups = [
        [(axis, 0, size)] if size != 1 else [] for axis, size in enumerate(shape)
    ]
    if 0 in shape:
        return None
    for op in chain:
        if isinstance(op, TransposeOp):
            groups = [groups[axis] for axis in op.options()["permutation"]]
            continue
        regrouped = _regroup([a for g in groups for a in g], value_shape(op.results[0]))
        if regrouped is None:
            return None
        groups = regrouped
    return groups


def _regroup(atoms: list[Atom], shape: Shape) -> Groups | None:
    """Deal atoms out to the axes of a shape, splitting one where it spans two axes."""
    todo, groups = atoms[::-1], Groups()
    for size in shape:
        group: list[Atom] = []
        while size > 1:
            axis, offset, count = todo.pop()
            if size % count == 0:
                group.append((axis, offset, count))
                size //= count
            elif count % size == 0:
                group.append((axis, offset, size))
                todo.append((axis, offset + 1, count // size))
                size = 1
            else:
                return None
        groups.append(group)
    return groups


def _axes(groups: Groups, shape: Shape) -> tuple[int, ...] | None:
    """The order of the source's axes that a layout is; None where it splits one."""
    atoms = [atom for group in groups for atom in group]
    if any(offset or size != shape[axis] for axis, offset, size in atoms):
        return None
    return _with_units([axis for axis, _, _ in atoms], shape, groups)


def _with_units(axes: list[int], shape: Shape, groups: Groups) -> tuple[int, ...]:
    """Put axes of size 1 where the result has them, the others at the end."""
    units = [axis for axis, size in enumerate(shape) if size == 1]
    if len(groups) != len(shape) or math.prod(len(g) or 1 for g in groups) != 1:
        if axes == sorted(axes):
            return tuple(range(len(shape)))
        return (*axes, *units)
    placed = iter(axes)
    return tuple(next(placed) if group else units.pop(0) for group in groups)
