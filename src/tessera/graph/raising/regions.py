"""Regions: the ops between one value and a root, found by walking back from the root."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from tessera.graph.constants import uniform
from tessera.graph.operation import GraphOp
from tessera.graph.ops import elementwise as ew
from tessera.graph.ops.layout import BroadcastOp, CastOp, ConstOp, FillOp, ReshapeOp
from tessera.graph.types import FLOATS, dtype_of, value_dtype
from tessera.reference.dtypes import DTYPES

ELEMENTWISE: frozenset[type[GraphOp]] = frozenset(
    {
        *(ew.AddOp, ew.SubOp, ew.MulOp, ew.DivOp, ew.PowOp, ew.MaxOp, ew.MinOp),
        *(ew.NegOp, ew.AbsOp, ew.SignOp, ew.ExpOp, ew.LogOp, ew.SqrtOp, ew.RsqrtOp),
        *(ew.TanhOp, ew.ErfOp, ew.SigmoidOp, ew.SelectOp, ew.CmpOp),
        *(ew.AndOp, ew.OrOp, ew.NotOp, ew.IsNanOp, CastOp),
    }
)
NARROW = frozenset({"f16", "bf16"})
Number = float | bool | int


class Numbers:
    """The values that are one known number everywhere, each read once."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Number | None] = {}

    def of(self, value: SSAValue) -> Number | None:
        """The number, or None when the value varies or is not known."""
        if value not in self._known:
            self._known[value] = _number(value)
        return self._known[value]


def _number(value: SSAValue) -> Number | None:
    owner = value.owner
    while isinstance(owner, BroadcastOp | ReshapeOp):
        owner = owner.operands[0].owner
    if isinstance(owner, FillOp):
        exact = DTYPES[value_dtype(value)].type(owner.options()["value"])
        return float(exact)
    return uniform(owner.results[0]) if isinstance(owner, ConstOp) else None


@dataclass(frozen=True)
class Region:
    """The ops, producers first, that make `root` from `x`, parameters and numbers."""

    root: GraphOp
    x: SSAValue
    params: tuple[SSAValue, ...]
    ops: tuple[GraphOp, ...]
    numbers: Mapping[SSAValue, Number]

    def reads_of_x(self) -> int:
        """How often the region reads its input."""
        return sum(operand is self.x for op in self.ops for operand in op.operands)

    def narrow_numbers(self) -> bool:
        """Whether a number of the region was rounded to f16 or bf16."""
        return any(value_dtype(value) in NARROW for value in self.numbers)

    def one_rounding(self) -> bool:
        """Whether a single op on `x` rounds as the region does.

        Input and root have one element type.  What is computed between is all of that
        type, or (f16, bf16) all wider: rounding in the middle is another function.
        """
        name = value_dtype(self.x)
        if value_dtype(self.root.results[0]) != name:
            return False
        last = self.root if isinstance(self.root, CastOp) else None
        computed = {dtype_of(op.results[0].type) for op in self.ops if op is not last}
        between = computed & set(FLOATS)
        if name not in NARROW:
            return between <= {name}
        return between <= {name} or not between & NARROW


@dataclass(frozen=True)
class Grammar:
    """What a region may hold: `holds` ops, at most `limit`; `parameter` values."""

    holds: Callable[[GraphOp], bool]
    parameter: Callable[[SSAValue], bool]
    limit: int


def cuts(
    root: GraphOp, order: Mapping[Operation, int], grammar: Grammar, numbers: Numbers
) -> Iterator[Region]:
    """Every region of a root with a single input, the smallest first.

    Walks back in program order, latest op first, so an op is taken before its producers.
    """
    walk = _Walk(order, grammar, numbers)
    walk.read(root.results[0])
    while walk.ready and len(walk.taken) < grammar.limit:
        walk.take()
        if len(walk.stuck) > 1:
            return
        if len(walk.open) == 1 and walk.open[0] is not root.results[0]:
            yield walk.region(root)


class _Walk:
    def __init__(
        self, order: Mapping[Operation, int], grammar: Grammar, numbers: Numbers
    ) -> None:
        self.order, self.grammar, self.numbers = order, grammar, numbers
        self.ready: list[tuple[int, GraphOp]] = []
        self.stuck: dict[SSAValue, None] = {}
        self.params: dict[SSAValue, None] = {}
        self.known: dict[SSAValue, Number] = {}
        self.taken: list[GraphOp] = []
        self._seen: set[SSAValue] = set()

    @property
    def open(self) -> list[SSAValue]:
        """The values read so far whose producers are not taken."""
        return [*self.stuck, *(op.results[0] for _, op in self.ready)]

    def read(self, value: SSAValue) -> None:
        if value in self._seen:
            return
        self._seen.add(value)
        number = self.numbers.of(value)
        owner = value.owner
        if number is not None:
            self.known[value] = number
        elif self.grammar.parameter(value):
            self.params[value] = None
        elif isinstance(owner, GraphOp) and self.grammar.holds(owner):
            heapq.heappush(self.ready, (-self.order[owner], owner))
        else:
            self.stuck[value] = None

    def take(self) -> None:
        _, op = heapq.heappop(self.ready)
        self.taken.append(op)
        for operand in op.operands:
            self.read(operand)

    def region(self, root: GraphOp) -> Region:
        ops = tuple(sorted(self.taken, key=self.order.__getitem__))
        return Region(root, self.open[0], tuple(self.params), ops, dict(self.known))


def program_order(block: Block) -> dict[Operation, int]:
    """Where each op of a block stands."""
    return {op: index for index, op in enumerate(block.ops)}


def hops_to(
    block: Block, anchors: Callable[[GraphOp], bool], grammar: Grammar
) -> dict[Operation, int]:
    """For each op a grammar holds, how many ops back the nearest anchor is."""
    hops: dict[Operation, int] = {}
    for op in block.ops:
        if not isinstance(op, GraphOp) or not grammar.holds(op):
            continue
        found = [hops[p] for p in map(_owner, op.operands) if p and p in hops]
        if anchors(op):
            hops[op] = 0
        elif found:
            hops[op] = min(found) + 1
    return hops


def _owner(value: SSAValue) -> Operation | None:
    return value.owner if isinstance(value.owner, Operation) else None
