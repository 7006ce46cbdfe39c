"""Whether every value is defined before it is used, in one walk without recursion.

xDSL does not check this.  A block sees what the blocks that dominate it define, what
was defined earlier around its region, and nothing from outside an isolated op.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

Steps = Iterator["Steps"]


@dataclass(frozen=True)
class Undominated:
    """An operand that is not defined where its op stands."""

    op: Operation
    index: int

    @property
    def value(self) -> SSAValue:
        """The value in question."""
        return self.op.operands[self.index]


def undominated(module: Operation) -> list[Undominated]:
    """Every use of a value that is not defined there, in the order of the text."""
    check = _Check()
    stack: list[Steps] = [check.op(module)]
    while stack:
        step = next(stack[-1], None)
        if step is None:
            stack.pop()
        else:
            stack.append(step)
    return check.found


@dataclass
class _Check:
    """What is visible at the current op, and what was found.

    Each method yields the walks to do inside before it goes on.
    """

    seen: set[int] = field(default_factory=set[int])
    found: list[Undominated] = field(default_factory=list[Undominated])

    def op(self, op: Operation) -> Steps:
        """Check an op's regions, then let its results be seen."""
        isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=False)
        outside = self.seen
        if isolated:
            self.seen = set()
        for region in op.regions:
            yield self.region(region, isinstance(op, ModuleOp))
        self.seen = outside
        self.seen.update(map(id, op.results))

    def region(self, region: Region, graph: bool) -> Steps:
        """Check the blocks of a region; a graph region has no order."""
        first = region.first_block
        if first is None:
            return
        if graph or first is region.last_block:
            yield self.block(first, graph, ())
            return
        tree, stray = dominator_tree(region)
        yield self.tree(first, tree)
        added = {id(v) for b in region.blocks for v in _defined(b)} - self.seen
        self.seen |= added
        for block in stray:  # never entered: any value of the region will do
            yield self.block(block, False, ())
        self.seen -= added

    def tree(self, block: Block, tree: dict[Block, list[Block]]) -> Steps:
        """Check a block and all that it dominates."""
        yield self.block(block, False, [self.tree(b, tree) for b in tree[block]])

    def block(self, block: Block, graph: bool, inner: Sequence[Steps]) -> Steps:
        """Check the ops of a block; `inner` walks see what it defines."""
        seen = self.seen
        fresh = [id(value) for value in (_defined(block) if graph else block.args)]
        seen.update(fresh)
        for op in block.ops:
            for index, operand in enumerate(op.operands):
                if id(operand) not in seen:
                    self.found.append(Undominated(op, index))
            if op.regions:
                yield self.op(op)
            ids = [id(result) for result in op.results]
            seen.update(ids)
            fresh += ids
        yield from inner
        seen.difference_update(fresh)


def _defined(block: Block) -> Iterator[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results


def dominator_tree(region: Region) -> tuple[dict[Block, list[Block]], list[Block]]:
    """The blocks each block dominates directly, and the blocks that are never entered.

    Cooper, Harvey, Kennedy: A Simple, Fast Dominance Algorithm.
    """
    order = _post_order(region.blocks[0])
    rank = {block: i for i, block in enumerate(order)}
    entry = order[-1]
    before: dict[Block, list[Block]] = {block: [] for block in order}
    for block in order:
        for successor in _successors(block):
            before[successor].append(block)
    parent: dict[Block, Block] = {entry: entry}
    changed = True
    while changed:
        changed = False
        for block in reversed(order[:-1]):
            known = [b for b in before[block] if b in parent]
            new = known[0]
            for other in known[1:]:
                new = _meet(new, other, parent, rank)
            if parent.get(block) is not new:
                parent[block], changed = new, True
    tree: dict[Block, list[Block]] = {block: [] for block in order}
    for block in reversed(order[:-1]):
        tree[parent[block]].append(block)
    return tree, [block for block in region.blocks if block not in rank]


def _meet(
    a: Block, b: Block, parent: dict[Block, Block], rank: dict[Block, int]
) -> Block:
    while a is not b:
        while rank[a] < rank[b]:
            a = parent[a]
        while rank[b] < rank[a]:
            b = parent[b]
    return a


def _successors(block: Block) -> Sequence[Block]:
    last = block.last_op
    return () if last is None else last.successors


def _post_order(entry: Block) -> list[Block]:
    """The blocks reachable from `entry`, each after those it leads to."""
    order: list[Block] = []
    met = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, rest = stack[-1]
        successor = next(rest, None)
        if successor is None:
            order.append(block)
            stack.pop()
        elif successor not in met:
            met.add(successor)
            stack.append((successor, iter(_successors(successor))))
    return order
