"""Ops that make, move and cut tensors without arithmetic on their elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.shapes import (
    Plan,
    Size,
    broadcast_to,
    expand_dims,
    need_vector,
    planned,
    reshape,
    size_operand,
    sizes_of,
    swap,
    target_sizes,
)
from tessera.frontend.onnx.step import Step
from tessera.graph.types import DYN, broadcast_shapes, tensor

END = (1 << 63) - 1


def constant(step: Step) -> Operand:
    """Constant: a tensor, or a number or list of numbers."""
    forms = {
        "value": None,
        "value_float": "f32",
        "value_floats": "f32",
        "value_int": "i64",
        "value_ints": "i64",
    }
    given = [name for name in forms if step.given(name)]
    if len(given) != 1:
        raise step.misfit("needs one of " + ", ".join(forms))
    dtype = forms[given[0]]
    if dtype is None:
        return Operand.of(step.attribute(given[0], np.ndarray))
    return step.const(step.node.attributes[given[0]], dtype)


def _target(step: Step) -> Operand:
    """The wanted sizes of Reshape and Expand, as an i64 vector."""
    if step.given("shape"):  # before opset 5
        return step.const(step.integers("shape"), "i64")
    return need_vector(step, 1, "shape")


def reshape_to(step: Step) -> Operand:
    """Reshape: 0 keeps a size unless allowzero, one -1 takes what is left."""
    x, target = step.input(0), _target(step)
    allow_zero = step.flag("allowzero")
    sizes = target_sizes(target)
    plan: list[int | Size] = []
    for axis, size in enumerate(sizes):
        if size == 0 and not allow_zero:
            if axis >= x.rank:
                raise step.misfit(f"size 0 of axis {axis} keeps one of {x.rank} axes")
            plan.append(Size(x, (axis,)))
        else:
            plan.append(size)
    if target.array is not None:
        return reshape(step, x, _inferred(step, x, plan))
    result = tensor(x.dtype, tuple(DYN if s == -1 else s for s in planned(plan)))
    if result.get_shape().count(DYN) == 1 and 0 not in result.get_shape():
        return step.emit("reshape", x, result=result)
    if not allow_zero:
        target = _kept_where_zero(step, x, target)
    return step.emit("reshape", x, target, result=result)


def _kept_where_zero(step: Step, x: Operand, target: Operand) -> Operand:
    """Wanted sizes with each 0, which only run time may show, replaced by x's size."""
    count = target.shape[0]
    kept = size_operand(step, [*sizes_of(x), *[0] * (count - x.rank)][:count])
    zero = step.emit("cmp", target, step.const(0, "i64"), kind="eq")
    return step.emit("select", zero, kept, target)


def _inferred(step: Step, x: Operand, plan: list[int | Size]) -> Plan:
    """A plan of known entries with its -1 replaced by the size that is left."""
    if (
        min((e for e in plan if isinstance(e, int)), default=0) < -1
        or plan.count(-1) > 1
    ):
        raise step.misfit(f"shape {plan} holds a negative size, wanted at most one -1")
    if -1 not in plan:
        return plan
    place = plan.index(-1)
    rest = planned([*plan[:place], *plan[place + 1 :]])
    if DYN in rest or not x.static:
        left = _cancelled(x, plan)
    elif prod(rest) == 0 or prod(x.shape) % prod(rest):
        raise step.misfit(f"shape {list(x.shape)} does not divide by {list(rest)}")
    else:
        left = prod(x.shape) // prod(rest)
    return [left if i == place else entry for i, entry in enumerate(plan)]


def _cancelled(x: Operand, plan: Sequence[int | Size]) -> int:
    """What -1 stands for when kept sizes cancel the unknown ones; DYN otherwise."""
    kept = {a for e in plan if isinstance(e, Size) for a in e.axes}
    rest = [s for axis, s in enumerate(x.shape) if axis not in kept]
    given = prod(e for e in plan if isinstance(e, int) and e != -1)
    if DYN in rest or not given or prod(rest) % given:
        return DYN
    return prod(rest) // given


def flatten(step: Step) -> Operand:
    """Flatten to two axes, split at `axis`."""
    x = step.input(0)
    axis = step.integer("axis", 1)
    if axis != x.rank:
        axis = step.axis(axis, x.rank)
    before, after = tuple(range(axis)), tuple(range(axis, x.rank))
    return reshape(step, x, [Size(x, before), Size(x, after)])


def transpose(step: Step) -> Operand:
    """Transpose; without perm the axes are reversed."""
    x = step.input(0)
    order = step.integers("perm", tuple(reversed(range(x.rank))))
    return step.emit("transpose", x, permutation=order)


def _axes(step: Step, index: int) -> tuple[int, ...] | None:
    """Axes as an attribute (before opset 13) or an input."""
    if step.given("axes"):
        return step.integers("axes")
    return step.known_ints(index, "axes") if step.has(index) else None


def squeeze(step: Step) -> Operand:
    """Squeeze: drop axes of size 1, all of them when none is named."""
    x, axes = step.input(0), _axes(step, 1)
    if axes is None:
        if not x.static:
            raise step.unsupported("no axes for an unknown size", "axes")
        axes = tuple(axis for axis, size in enumerate(x.shape) if size == 1)
    dropped = {step.axis(axis, x.rank) for axis in axes}
    if wrong := [a for a in dropped if x.shape[a] not in (1, DYN)]:
        raise step.misfit(f"axis {wrong[0]} has size {x.shape[wrong[0]]}, wanted 1")
    return reshape(step, x, [Size(x, (a,)) for a in range(x.rank) if a not in dropped])


def unsqueeze(step: Step) -> Operand:
    """Unsqueeze: put in axes of size 1."""
    axes = _axes(step, 1)
    if axes is None:
        raise step.misfit("needs axes")
    return expand_dims(step, step.input(0), axes)


def expand(step: Step) -> Operand:
    """Expand: broadcast both ways between x and the wanted sizes."""
    x, target = step.input(0), need_vector(step, 1, "shape")
    wanted = target_sizes(target)
    joined = broadcast_shapes(x.shape, wanted)
    if joined is None:
        raise step.misfit(f"shape {list(x.shape)} does not broadcast to {list(wanted)}")
    if target.array is not None and x.static:
        return broadcast_to(step, x, joined)
    rank = len(joined)
    padded: Plan = [1] * (rank - x.rank) + sizes_of(x)
    found = size_operand(step, padded)
    asked = step.emit(
        "concat", step.const([1] * (rank - len(wanted)), "i64"), target, axis=0
    )
    one = step.emit("cmp", found, step.const(1, "i64"), kind="eq")
    sizes = step.emit("select", one, asked, found)
    result = tensor(x.dtype, _sharper(joined, target_sizes(sizes)))
    return step.emit("broadcast", x, sizes, result=result)


def _sharper(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """Sizes of one shape as far as either knows them."""
    return tuple(y if x == DYN else x for x, y in zip(a, b, strict=True))


def tile(step: Step) -> Operand:
    """Tile: the whole tensor repeated along each axis."""
    x, repeats = step.input(0), step.known_ints(1, "repeats")
    if len(repeats) != x.rank or min(repeats, default=0) < 0:
        raise step.misfit(f"repeats {list(repeats)} for {x.rank} axes")
    split: list[int | Size] = []
    merged: list[int | Size] = []
    spread: list[int] = []
    for axis, count in enumerate(repeats):
        size = x.shape[axis]
        if size == DYN and count != 1:
            raise step.unsupported("a repeated unknown size", "a known size")
        split += [1, Size(x, (axis,))]
        spread += [count, size]
        merged.append(Size(x, (axis,)) if count == 1 else size * count)
    if not x.static:
        raise step.unsupported("unknown sizes", "known sizes")
    repeated = broadcast_to(step, reshape(step, x, split), spread)
    return reshape(step, repeated, merged)


def concat(step: Step) -> Operand:
    """Concat along an axis; a single operand is the result."""
    xs = step.inputs()
    axis = step.integer("axis", 1 if step.opset < 4 else None)
    found = {x.dtype for x in xs}
    if len(found) > 1:
        raise step.misfit(f"inputs have element types {' and '.join(sorted(found))}")
    return step.emit("concat", *xs, axis=axis) if len(xs) > 1 else xs[0]


def depth_to_space(step: Step) -> Operand:
    """DepthToSpace: blocks of channels become blocks of pixels."""
    x, block = step.input(0), step.integer("blocksize")
    mode = step.word("mode", ("DCR", "CRD"), "DCR")
    if x.rank != 4 or not x.static or block < 1 or x.shape[1] % block**2:
        raise step.misfit(f"shape {list(x.shape)} with blocksize {block}")
    n, c, h, w = x.shape
    depth = c // block**2
    first = [block, block, depth] if mode == "DCR" else [depth, block, block]
    order = (0, 3, 4, 1, 5, 2) if mode == "DCR" else (0, 1, 4, 2, 5, 3)
    moved = swap(step, reshape(step, x, [n, *first, h, w]), order)
    return reshape(step, moved, [n, depth, h * block, w * block])


def space_to_depth(step: Step) -> Operand:
    """SpaceToDepth: blocks of pixels become blocks of channels."""
    x, block = step.input(0), step.integer("blocksize")
    mode = step.word("mode", ("DCR", "CRD"), "DCR")
    if (
        x.rank != 4
        or not x.static
        or block < 1
        or x.shape[2] % block
        or x.shape[3] % block
    ):
        raise step.misfit(f"shape {list(x.shape)} with blocksize {block}")
    n, c, h, w = x.shape
    split: Plan = [n, c, h // block, block, w // block, block]
    order = (0, 3, 5, 1, 2, 4) if mode == "DCR" else (0, 1, 3, 5, 2, 4)
    moved = swap(step, reshape(step, x, split), order)
    return reshape(step, moved, [n, c * block**2, h // block, w // block])


def dropout(step: Step) -> Sequence[Operand]:
    """Dropout at inference: the operand, and a mask of all true."""
    step.ignore("ratio", "seed", "is_test")
    x = step.input(0)
    if step.has(2) and step.known(2, "training_mode").any():
        raise step.unsupported("training_mode = 1", "inference")
    if not step.wants(1):
        return [x]
    if not x.static:
        raise step.unsupported("a mask of unknown size", "known sizes")
    return [x, broadcast_to(step, step.const(True, "i1"), x.shape)]
