"""The steps a chain may pass on its way up: scale, softcap, mask, bias, residual, views.

Each step looks at one op and either follows the chain to the next value, refuses with a
reason, or says that the op is none of its business (None).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from tessera.diagnostics import Refusal
from tessera.fusion import codes
from tessera.fusion.draft import (
    Draft,
    Edit,
    Hop,
    Operand,
    constant,
    describe,
    is_scalar,
    options_of,
    owner,
)
from tessera.fusion.guards import Guard, read_guard
from tessera.fusion.readings import owns_product, through_reshapes
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import (
    DYN,
    show,
    value_dtype,
    value_shape,
)

Next = SSAValue | Refusal | None
WALKABLE = frozenset(
    f"tessera.{name}"
    for name in ("add", "mul", "div", "select", "tanh", "reshape", "cast", "transpose")
)
REACH = 12


@dataclass
class Walker:
    """The state of one walk: what has been passed since it began.

    `factor` multiplies everything above; `leads` tells which operand of a binary op goes
    on with the chain; `rows` is how many trailing axes a reshape must leave alone.
    """

    draft: Draft
    inner: str
    steps: Mapping[str, str]
    rows: int
    factor: float = 1.0
    cap: float | None = None
    by: Operand | None = None
    added: list[Operand] = field(default_factory=list[Operand])
    kept: Operand | None = None
    fill: float = -math.inf
    guard: Guard | None = None

    def step(self, op: Operation) -> Next:
        """Follow the chain through one op."""
        handler = HANDLERS.get(op.name)
        return None if handler is None else handler(self, op)

    def side(self, op: Operation) -> int | None:
        """Which operand of a commutative op goes on with the chain: the nearest product.

        None when there is none, or when a whole fused call stands nearer.
        """
        found = [nearest(operand, self.inner) for operand in op.operands]
        distance, index = min((d, i) for i, (d, _) in enumerate(found))
        return index if distance <= REACH and found[index][1] else None

    def finish(self) -> Refusal | None:
        """Write what was passed into the draft."""
        options = self.draft.options
        if "scale" in self.steps:
            scale = self.factor if self.cap is None else self.factor * self.cap
            options["scale"] = scale * options.get("scale", 1.0)
        if self.cap is not None:
            options["softcap"] = self.cap
        if self.by is not None:
            self.draft.operands[self.steps["scale"]] = self.by
        if self.guard is not None:
            return self._finish_guard(self.guard)
        return self._finish_masks() if "mask" in self.steps else None

    def _finish_guard(self, guard: Guard) -> Refusal | None:
        """Rows are guarded by the mask that the scores have, or the kernel cannot."""
        mask = self.draft.operands.get("mask")
        if mask is not None and guard.tests(mask):
            removes = value_dtype(mask.value) == "i1"
            if not removes or "mask_fill" in self.draft.options:
                self.draft.options["mask_guard"] = True
            return None
        found = f"zeros for rows of {describe(guard.tested)}"
        wanted = "a test of the scores or of their mask"
        return self.draft.refuse(codes.OPTION, "guard", found, wanted, guard.ops[0])

    def _finish_masks(self) -> Refusal | None:
        if self.added and self.kept is not None:
            return self.draft.refuse(
                codes.MASK, "masks", "an additive and a boolean mask", "one mask"
            )
        if self.kept is not None:
            self.draft.operands[self.steps["mask"]] = self.kept
            if self.fill != -math.inf:
                self.draft.options["mask_fill"] = self.fill
        elif self.added:
            first, *others = self.added
            for other in others:
                first = first.edited(("add", other))
            self.draft.operands[self.steps["mask"]] = first
        return None


def nearest(value: SSAValue, inner: str) -> tuple[int, bool]:
    """How many steps above a value the first product or fused call stands.

    The flag tells that it is the product named `inner`; only walkable ops are passed, and
    a distance beyond REACH means that there is none.
    """
    level, distance, seen = [value], 1, 0
    while level and seen < REACH:
        makers = [op for op in map(owner, level) if op is not None]
        seen += len(level)
        if any(op.name == inner for op in makers):
            return distance, True
        if any(map(owns_product, makers)):
            return distance, False
        level = [v for op in makers if op.name in WALKABLE for v in op.operands]
        distance += 1
    return REACH + 1, False


def _view(walker: Walker, op: Operation) -> Next:
    before, after = value_shape(op.operands[0]), value_shape(op.results[0])
    rows = walker.rows
    unsplit = "heads" in walker.steps and "head_dim" not in walker.draft.options
    if unsplit and _splits_heads(before, after):
        return _split_heads(walker, op)
    if before[-rows:] != after[-rows:] or len(before) < rows:
        found, wanted = (
            f"{show(before)} -> {show(after)}",
            f"the last {'axis' if rows == 1 else f'{rows} axes'} unchanged",
        )
        return walker.draft.refuse(
            codes.VIEW, "reshape in the chain", found, wanted, op
        )
    sizes = op.operands[1] if len(op.operands) > 1 else None
    walker.draft.hops.append(Hop(before, after, sizes))
    return op.operands[0]


def _splits_heads(before: tuple[int, ...], after: tuple[int, ...]) -> bool:
    return (
        len(after) == len(before) + 1
        and after[:-2] == before[:-1]
        and after[-2] != 1
        and DYN not in (before[-1], after[-1], after[-2])
        and after[-1] * after[-2] == before[-1]
    )


def _split_heads(walker: Walker, op: Operation) -> Next:
    """Pass the split of rows into heads; what was passed above it must keep heads whole."""
    draft, width = walker.draft, value_shape(op.operands[0])[-1]
    if walker.steps.get("bias") in draft.operands:
        found, wanted = (
            "a bias added to each head",
            f"a bias of {width} before the split",
        )
        return draft.refuse(codes.OPERAND_SHAPE, "added operand", found, wanted, op)
    for index, hop in enumerate(draft.hops):
        if hop.before[-2:] != hop.after[-2:]:
            found = f"{show(hop.before)} -> {show(hop.after)} on split heads"
            wanted = "the last 2 axes unchanged"
            return draft.refuse(codes.VIEW, "reshape in the chain", found, wanted, op)
        draft.hops[index] = Hop((*hop.before[:-2], width), (*hop.after[:-2], width))
    draft.options["head_dim"] = value_shape(op.results[0])[-1]
    return op.operands[0]


def _cast(walker: Walker, op: Operation) -> Next:
    before, after = value_dtype(op.operands[0]), value_dtype(op.results[0])
    if before == after:
        return op.operands[0]
    found, wanted = f"a cast from {before} to {after}", "one element type"
    return walker.draft.refuse(codes.DTYPE, "element type", found, wanted, op)


def _transpose(walker: Walker, op: Operation) -> Next:
    order = list(options_of(op)["permutation"])
    if order == list(range(len(order))):
        return op.operands[0]
    found = f"a transpose {order} inside the chain"
    return walker.draft.refuse(codes.TRANSPOSED, "transpose", found, "none", op)


def _scale(walker: Walker, op: Operation) -> Next:
    """Mul or div by one number, known or given at run time."""
    if "scale" not in walker.steps:
        return None
    divides = op.name == "tessera.div"
    side = 0 if divides else walker.side(op)
    if side is None or value_shape(op.operands[side]) != value_shape(op.results[0]):
        return None
    other = op.operands[1 - side]
    number = constant(other)
    if number is not None:
        if number == 0.0 and divides:
            return None
        walker.factor *= 1.0 / number if divides else number
        return op.operands[side]
    if not is_scalar(other):
        return None
    if walker.by is not None:
        found = "a second scale operand"
        return walker.draft.refuse(codes.OPTION, "scale", found, "one", op)
    edits: tuple[Edit, ...] = (("reshape", ()),) if value_shape(other) else ()
    edits += (("reciprocal", None),) if divides else ()
    walker.by = Operand(other, edits)
    return op.operands[side]


def _cap(walker: Walker, op: Operation) -> Next:
    """Tanh between two scales: cap * tanh(x / cap)."""
    if "cap" not in walker.steps:
        return None
    cap = walker.factor
    if walker.cap is not None or walker.by is not None or cap <= 0.0:
        found = "tanh without a positive constant factor after it"
        return walker.draft.refuse(
            codes.OPTION, "softcap", found, "cap * tanh(x / cap)", op
        )
    walker.cap, walker.factor = cap, 1.0
    return op.operands[0]


def _add(walker: Walker, op: Operation) -> Next:
    side = walker.side(op)
    if side is None:
        return None
    chain, other = op.operands[side], op.operands[1 - side]
    result, shape = value_shape(op.results[0]), value_shape(other)
    if value_shape(chain) != result:
        found = f"{show(shape)} widens the product {show(value_shape(chain))}"
        code = codes.MASK if "mask" in walker.steps else codes.OPERAND_SHAPE
        return walker.draft.refuse(code, "added operand", found, "one that fits", op)
    if "mask" in walker.steps:
        return _additive_mask(walker, op, chain, other)
    return _epilogue_add(walker, op, chain, other)


def _additive_mask(
    walker: Walker, op: Operation, chain: SSAValue, other: SSAValue
) -> Next:
    if walker.cap is not None:
        found = "a mask before the softcap"
        return walker.draft.refuse(codes.OPTION, "mask", found, "the mask last", op)
    mask = Operand(other, layout="mask", hops=tuple(walker.draft.hops))
    if walker.factor != 1.0 and not (
        walker.factor > 0.0 and _is_zero_or_infinite(other)
    ):
        mask = mask.edited(("mul", walker.factor))
    if walker.by is not None:
        found = "a mask before a scale given at run time"
        return walker.draft.refuse(codes.OPTION, "mask", found, "the mask last", op)
    walker.added.append(mask)
    return chain


def _is_zero_or_infinite(value: SSAValue) -> bool:
    """Whether a constant holds only 0 and -inf, which no positive factor changes."""
    op = owner(value)
    if not isinstance(op, ConstOp):
        return False
    array = op.array.astype("float64")
    return bool(((array == 0.0) | (array == -math.inf)).all())


def _epilogue_add(
    walker: Walker, op: Operation, chain: SSAValue, other: SSAValue
) -> Next:
    shape, result = value_shape(other), value_shape(op.results[0])
    operands = walker.draft.operands
    is_column = shape[-1:] == result[-1:] and set(shape[:-1]) <= {1}
    bias, residual = walker.steps.get("bias"), walker.steps.get("residual")
    if residual and shape == result and residual not in operands:
        operands[residual] = Operand(other, (), "residual")
        return chain
    if bias and is_column and bias not in operands:
        edits = () if len(shape) == 1 else (("reshape", (shape[-1],)),)
        operands[bias] = Operand(other, edits, "column")
        return chain
    wanted = f"one bias of {result[-1]}" if bias else "no sum"
    if residual:
        wanted += f" or one residual of {show(result)}"
    found = f"an addend of {show(shape)} made by {_maker(other)}"
    if residual and residual in operands:
        found += f" beside one made by {_maker(operands[residual].value)}"
    return walker.draft.refuse(codes.OPERAND_SHAPE, "added operand", found, wanted, op)


def _maker(value: SSAValue) -> str:
    """What makes a value, reshapes looked through and a sum named by its parts."""
    value = through_reshapes(value)
    op = owner(value)
    if op is None or op.name != "tessera.add":
        return describe(value)
    parts = [describe(through_reshapes(operand)) for operand in op.operands]
    return f"a sum of {' and '.join(parts)}"


def _select(walker: Walker, op: Operation) -> Next:
    """A guard around the softmax, or a boolean mask below it."""
    return _guard(walker, op) if "guard" in walker.steps else _mask(walker, op)


def _guard(walker: Walker, op: Operation) -> Next:
    """Zeros for rows without a key: implied by softmax, or a kernel's option."""
    guard = read_guard(op)
    if guard is None:
        return None
    draft = walker.draft
    if walker.guard is not None or "nan_guard" in draft.options:
        return draft.refuse(codes.OPTION, "guard", "a second guard", "one", op)
    if guard.is_nan:
        draft.options["nan_guard"] = True
    elif not guard.is_implied:
        walker.guard = guard
        alone = [test for test in guard.ops if test.results[0].has_one_use()]
        draft.members.extend(alone)
        return guard.chain
    draft.members.extend(guard.ops)
    return guard.chain


def _mask(walker: Walker, op: Operation) -> Next:
    """A boolean mask: select(keep, scores, fill) or select(drop, fill, scores)."""
    if "mask" not in walker.steps:
        return None
    fill = constant(op.operands[2])
    inverted = fill is None
    chain = op.operands[2 if inverted else 1]
    fill = constant(op.operands[1]) if inverted else fill
    if fill is None or walker.kept is not None or walker.cap is not None:
        found = "a select that is not one boolean mask with a constant fill"
        return walker.draft.refuse(
            codes.MASK, "mask", found, "select(keep, scores, fill)", op
        )
    if value_shape(chain) != value_shape(op.results[0]):
        found = f"mask {show(value_shape(op.operands[0]))} widens {show(value_shape(chain))}"
        return walker.draft.refuse(codes.MASK, "mask", found, "one that broadcasts", op)
    factor = walker.factor
    if walker.by is not None:
        found = "a mask before a scale given at run time"
        return walker.draft.refuse(codes.OPTION, "mask", found, "the mask last", op)
    if math.isfinite(fill):
        fill *= factor
    elif not math.isfinite(fill) and (fill > 0 or factor <= 0):
        return walker.draft.refuse(codes.MASK, "mask", f"fill {fill}", "a low fill", op)
    keep = Operand(op.operands[0], layout="mask", hops=tuple(walker.draft.hops))
    walker.kept = keep.edited(("not", None)) if inverted else keep
    walker.fill = fill
    return chain


HANDLERS: dict[str, Callable[[Walker, Operation], Next]] = {
    "tessera.reshape": _view,
    "tessera.cast": _cast,
    "tessera.transpose": _transpose,
    "tessera.mul": _scale,
    "tessera.div": _scale,
    "tessera.tanh": _cap,
    "tessera.add": _add,
    "tessera.select": _select,
}
