"""Which operands a norm takes as its weights, so that it rounds as its spelling does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from tessera.graph.constants import uniform
from tessera.graph.operation import GraphOp
from tessera.graph.ops.elementwise import AddOp
from tessera.graph.ops.layout import CastOp, ConstOp, ReshapeOp
from tessera.graph.ops.reduction import ReduceOp
from tessera.graph.raising.regions import NARROW, Region
from tessera.graph.raising.row_probes import REDUCTIONS, axes_from_end
from tessera.graph.types import Shape, value_dtype, value_shape

MOST_READ = 64


def weights_of(root: GraphOp, shape: Shape) -> Callable[[SSAValue], bool]:
    """What tells the weights of a norm that ends in a root, a value of `shape`.

    A norm over one axis takes vectors.  Over several its weights may be as large as
    the input, but no reduction reads them, nor are they made from one.
    """
    reductions, _ = _above(root.results)
    axes = max((len(axes_from_end(op)) for op in reductions), default=1)
    if axes == 1:
        return lambda value: _is_vector(value, shape)
    _, reduced = _above([op.operands[0] for op in reductions])

    def is_weight(value: SSAValue) -> bool:
        fits = value not in reduced and _fits(value, shape[-axes:])
        return fits and not _above([value])[0]

    return is_weight


def _above(values: Sequence[SSAValue]) -> tuple[list[ReduceOp], set[SSAValue]]:
    """The reductions that values come from, and all values on the way, the nearest."""
    found: list[ReduceOp] = []
    seen, todo = set(values), list(values)
    for value in todo:
        op = value.owner
        if isinstance(op, REDUCTIONS) and op.options()["axes"]:
            found.append(op)
        if isinstance(op, GraphOp) and len(seen) < MOST_READ:
            fresh = [operand for operand in op.operands if operand not in seen]
            seen.update(fresh)
            todo.extend(dict.fromkeys(fresh))
    return found, seen


def _fits(value: SSAValue, tail: Shape) -> bool:
    """Whether a value has the sizes of the last axes, and leading axes of 1 at most."""
    sizes = value_shape(value)
    return sizes[-len(tail) :] == tail and set(sizes[: -len(tail)]) <= {1}


def _is_vector(value: SSAValue, shape: Shape) -> bool:
    """Whether a value varies along the last axis of `shape` only, as a weight does."""
    sizes = value_shape(value)
    if not sizes or sizes[-1] != shape[-1] or sizes[-1] < 2 or len(sizes) > len(shape):
        return False
    if any(size != 1 for size in sizes[:-1]):
        return False
    fewer = len(sizes) < len(shape) or any(size != 1 for size in shape[:-1])
    return fewer or isinstance(value.owner, ConstOp)


@dataclass(frozen=True)
class Weight:
    """A parameter as a norm takes it: the operand, or w where the parameter is 1 + w.

    An operand may not be wider than the input, which would widen the result; it is then
    None.  A cast that widened it is undone, since the norm computes in f32 anyway.
    """

    operand: SSAValue | None
    without_one: SSAValue | None


def fit_weights(region: Region) -> list[Weight]:
    """What stands for each parameter of a region."""
    name = value_dtype(region.x)
    return [_fit(value, name) for value in region.params]


def _fit(value: SSAValue, name: str) -> Weight:
    operand = _fitted(value, name)
    addend = _addend(_flat(value))
    if addend is None or value_dtype(value) in NARROW:
        return Weight(operand, None)
    return Weight(operand, _fitted(addend, name))


def _flat(value: SSAValue) -> SSAValue:
    """A vector that was only given more axes of size 1, as it was."""
    owner = value.owner
    if not isinstance(owner, ReshapeOp) or len(owner.operands) > 1:
        return value
    source = owner.operands[0]
    return source if value_shape(source) == value_shape(value)[-1:] else value


def _addend(value: SSAValue) -> SSAValue | None:
    """W when the value is 1 + w of one shape, else None."""
    owner = value.owner
    if not isinstance(owner, AddOp):
        return None
    for number, rest in (owner.operands, reversed(owner.operands)):
        if uniform(number) == 1 and rest.type == value.type:
            return rest
    return None


def _fitted(value: SSAValue, name: str) -> SSAValue | None:
    """The value, or what it was cast from, if it is no wider than `name`."""
    value = _flat(value)
    owner = value.owner
    if isinstance(owner, CastOp) and name in NARROW:
        source = _flat(owner.operands[0])
        if value_dtype(source) == name:
            return source
    wide = value_dtype(value) != name and name in NARROW
    return None if wide or (name == "f32" and value_dtype(value) == "f64") else value
