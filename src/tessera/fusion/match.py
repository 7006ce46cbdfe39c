"""Matching: walk a pattern and the graph together, from the terminal op upward.

Structure only follows use and definition, never adjacency.  The first thing that does
not fit becomes a refusal with the op, what was found and what was wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import Block, Operation, SSAValue

from tessera.diagnostics import Refusal
from tessera.fusion import codes
from tessera.fusion.draft import (
    Draft,
    Match,
    Miss,
    Operand,
    adapt,
    constant,
    describe,
    layout_of,
    options_of,
    owner,
)
from tessera.fusion.ending import Ending
from tessera.fusion.kernel import Binding, FusedKernel
from tessera.fusion.masks import settle_mask
from tessera.fusion.pattern import Apply, Capture, Hole, Part, Shared, Term, Walk
from tessera.fusion.readings import (
    MOST_STEPS,
    default_of,
    is_last_axis,
    is_part,
    makers,
    spell,
    swaps_last,
    ungroup,
)
from tessera.fusion.walks import Walker, nearest
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.operation import GraphOp
from tessera.graph.types import show, value_shape

INTENT = "tessera.fusion.intent"
COMMUTATIVE = frozenset({"add", "mul", "max", "min", "and", "or"})
OPTION_CODES = {
    "axis": codes.AXIS,
    "transpose_a": codes.TRANSPOSED,
    "transpose_b": codes.TRANSPOSED,
}


def match(kernel: FusedKernel, root: Operation) -> Match | Miss | None:
    """Read `root` as the end of the kernel's chain.

    None when no pattern of the kernel ends in such an op; a Miss when one does and
    something on the way does not fit (the reading that came farthest is reported).
    """
    found = seek(kernel, root)
    return found or _read(kernel, root, kernel.ends.get(root.name, ())[:1])


def seek(kernel: FusedKernel, root: Operation) -> Match | Miss | None:
    """As `match`, but None also where no reading comes as near as a near miss."""
    return _read(kernel, root, kernel.fitting(root))


def _read(
    kernel: FusedKernel, root: Operation, endings: Sequence[Ending]
) -> Match | Miss | None:
    best: Miss | None = None
    for ending in endings:
        draft = Draft(root, options=dict(ending.options))
        found = _Matcher(kernel, draft).run(ending.pattern)
        if isinstance(found, Match):
            return found
        if best is None or found.depth > best.depth:
            best = found
    return best


def bind(kernel: FusedKernel, op: GraphOp) -> Binding | Refusal:
    """Read a pre-fused op as a call of the kernel."""
    binding = kernel.composites[op.name.removeprefix("tessera.")](op)
    full = Binding(binding.operands, {**kernel.defaults(), **binding.options})
    return check(kernel, full, Draft(op)) or full


def check(kernel: FusedKernel, binding: Binding, draft: Draft) -> Refusal | None:
    """The first demand of the kernel that a binding breaks."""
    for demand in kernel.demands:
        objection = demand.check(binding)
        if objection is not None:
            found, wanted = objection.found, objection.wanted
            suggestion = objection.suggestion
            return draft.refuse(
                demand.code, demand.predicate, found, wanted, None, suggestion
            )
    return None


class _Matcher:
    """One attempt to read one op as the end of one pattern."""

    def __init__(self, kernel: FusedKernel, draft: Draft) -> None:
        self.kernel = kernel
        self.draft = draft

    def run(self, pattern: Apply) -> Match | Miss:
        root = self.draft.root
        refusal = self.take(pattern, root.results[0]) or self._finish()
        members = tuple(self.draft.members)
        if refusal is not None:
            return Miss(refusal, members, self.draft.depth)
        draft = self.draft
        options = {**self.kernel.defaults(), **draft.options}
        return Match(root, draft.operands, options, members, draft.shared)

    def _finish(self) -> Refusal | None:
        """Carry operands to the root's shape, then ask the kernel's demands."""
        draft = self.draft
        refusal = self._readers()
        if refusal is not None:
            return refusal
        for role, operand in list(draft.operands.items()):
            adapted = adapt(draft, role, operand)
            if isinstance(adapted, Refusal):
                return adapted
            draft.operands[role] = adapted
        settle_mask(self.kernel, draft)
        options = {**self.kernel.defaults(), **draft.options}
        scratch = Block()
        g = SsaAlgebra(scratch.add_op, draft.root.location)
        values = {role: operand.build(g) for role, operand in draft.operands.items()}
        refusal = check(self.kernel, Binding(values, options), draft)
        for op in reversed(list(scratch.ops)):
            op.detach()
            op.erase()
        return refusal or self._intents()

    def _readers(self) -> Refusal | None:
        """No intermediate value has a reader outside the chain, but for shared ones."""
        draft = self.draft
        members, shared = set(draft.members), set(draft.shared.values())
        for op in draft.members:
            value = op.results[0]
            if op is draft.root or value in shared:
                continue
            outside = [use for use in value.uses if use.operation not in members]
            if outside:
                found = f"{len(outside)} more reader(s) of {op.name}"
                wanted = "none outside the chain"
                return draft.refuse(codes.USES, "readers", found, wanted, op)
        return None

    def take(self, term: Term, value: SSAValue) -> Refusal | None:
        """Bind `value` to `term`, or say why it does not fit."""
        match term:
            case Hole():
                return self._hole(term, value)
            case Apply():
                return self._apply(term, value)
            case Walk():
                return self._walk(term, value)
            case Shared():
                self.draft.shared[term.role] = value
                return self.take(term.inner, value)
            case Part():
                return self._part(term, value)

    _turned = False  # whether the product at hand reads its rows from columns of x

    def _hole(self, term: Hole, value: SSAValue) -> Refusal | None:
        draft = self.draft
        operand = Operand(value, (), layout_of(term.role), tuple(draft.hops))
        if term.role == "x" and self._turned:
            operand = operand.edited(("swap", None))
        if term.role in self.kernel.scaled:
            operand = self._unscale(operand, term.role == self.kernel.scaled[1])
        if term.repeated and not draft.hops:
            operand = ungroup(operand)
        bound = draft.operands.setdefault(term.role, operand)
        if bound.value is operand.value:
            return None
        found = f"{describe(value)} where '{term.role}' is already another value"
        return draft.refuse(codes.PRODUCER, "operand", found, "the same value")

    @property
    def _rows(self) -> int:
        """How many trailing axes of a chain's values the kernel works on."""
        return 1 if "x" in self.kernel.roles else 2

    def _unscale(self, operand: Operand, right: bool) -> Operand:
        """Take constant factors off an operand of the product, and swaps off the right one."""
        options = self.draft.options
        value = operand.value
        for _ in range(MOST_STEPS):
            op = owner(value)
            if op is None:
                break
            if op.name in ("tessera.mul", "tessera.div"):
                factor = constant(op.operands[1])
                inner = op.operands[0]
                if factor is None and op.name == "tessera.mul":
                    factor, inner = constant(op.operands[0]), op.operands[1]
                if not factor or value_shape(inner) != value_shape(value):
                    break
                factor = factor if op.name == "tessera.mul" else 1.0 / factor
                options["scale"] = options.get("scale", 1.0) * factor
                value = inner
            elif swaps_last(op) and value is not operand.value:
                if not right:
                    break
                options["transpose_b"] = not options["transpose_b"]
                value = op.operands[0]
            else:
                break
        return replace(operand, value=value)

    def _apply(self, term: Apply, value: SSAValue) -> Refusal | None:
        op = owner(value)
        for _ in range(MOST_STEPS):
            if op is None or op.name != "tessera.reshape" or value is self._top:
                break
            refusal = self._pass_view(op)
            if refusal is not None:
                return refusal
            value = op.operands[0]
            op = owner(value)
        if op is None or op.name != f"tessera.{term.op}":
            found, wanted = describe(value), f"tessera.{term.op}"
            return self.draft.refuse(codes.PRODUCER, "producer", found, wanted)
        self._member(op)
        first = self._options(term, op)
        second = self._arguments(term, op)  # also when refused: how near a miss is
        return first or second

    @property
    def _top(self) -> SSAValue:
        return self.draft.root.results[0]

    def _pass_view(self, op: Operation) -> Refusal | None:
        self._member(op, counts=False)
        followed = Walker(self.draft, "", {}, self._rows).step(op)
        return followed if isinstance(followed, Refusal) else None

    def _member(self, op: Operation, counts: bool = True) -> None:
        """Make an op part of the chain."""
        if op not in self.draft.members:
            self.draft.members.append(op)
            self.draft.depth += counts

    def _intents(self) -> Refusal | None:
        """No other kernel is intended inside the chain."""
        draft = self.draft
        for op in draft.members:
            if op is not draft.root and INTENT in op.attributes:
                found = f"{op.name} stamped {op.attributes[INTENT]}"
                wanted = "no other intent inside"
                return draft.refuse(codes.STAMPED_INSIDE, "intent", found, wanted, op)
        return None

    def _options(self, term: Apply, op: Operation) -> Refusal | None:
        """Every attribute of a matched op is captured, equal, or refused."""
        refusal: Refusal | None = None
        for name, found in options_of(op).items():
            wanted = term.options.get(name, default_of(op, name))
            if isinstance(wanted, Capture):
                wanted = self.draft.options.setdefault(wanted.option, found)
            if name == "axis" and is_last_axis(found, op):
                continue
            if name == "transpose_a" and found and Hole("x") in term.args:
                self._turned = True
                continue
            if found != wanted and refusal is None:
                code = OPTION_CODES.get(name, codes.OPTION)
                text = f"{name} = {spell(found)}"
                refusal = self.draft.refuse(
                    code, f"{op.name} {name}", text, f"{name} = {spell(wanted)}", op
                )
        return refusal

    def _arguments(self, term: Apply, op: Operation) -> Refusal | None:
        if len(op.operands) > len(term.args):
            found = f"{len(op.operands)} operands of {op.name}"
            wanted = str(len(term.args))
            return self.draft.refuse(codes.OPTION, "operands", found, wanted, op)
        refusal = self._in_order(term, op, tuple(op.operands))
        if refusal is None or len(term.args) != 2 or len(op.operands) != 2:
            return refusal
        if term.op in COMMUTATIVE:
            return self._other_order(term, op, refusal)
        return self._blame_side(term, op) or refusal

    def _in_order(
        self, term: Apply, op: Operation, operands: tuple[SSAValue, ...]
    ) -> Refusal | None:
        if term.op == "matmul":
            refusal = self._ranks(op)
            if refusal is not None:
                self.take(term.args[0], operands[0])  # how far the chain would go
                return refusal
        before = self.draft.copy()
        for argument, operand in zip(term.args, operands, strict=False):
            refusal = self.take(argument, operand)
            if refusal is not None:
                self._failed = before
                return refusal
            del self.draft.hops[len(before.hops) :]
        return None

    def _ranks(self, op: Operation) -> Refusal | None:
        for name, operand in zip("ab", op.operands, strict=True):
            if len(value_shape(operand)) < 2:
                found = f"operand {name} of {show(value_shape(operand))}"
                wanted = "at least 2 axes"
                return self.draft.refuse(codes.RANK, "rank", found, wanted, op)
        return None

    _failed: Draft | None = None

    def _other_order(
        self, term: Apply, op: Operation, first: Refusal
    ) -> Refusal | None:
        """Try a commutative op with its operands swapped; keep the deeper refusal."""
        deep = self.draft.copy()
        if self._failed is not None:
            self.draft.become(self._failed)
        refusal = self._in_order(term, op, (op.operands[1], op.operands[0]))
        if refusal is None or self.draft.depth > deep.depth:
            return refusal
        self.draft.become(deep)
        return first

    def _blame_side(self, term: Apply, op: Operation) -> Refusal | None:
        """Whether the chain goes on through the other operand instead."""
        for index in (0, 1):
            wanted = term.args[index]
            while isinstance(wanted, Walk | Shared):
                wanted = wanted.inner
            if not isinstance(wanted, Apply):
                continue
            here, there = owner(op.operands[index]), owner(op.operands[1 - index])
            name = f"tessera.{wanted.op}"
            if (
                there is not None
                and there.name == name
                and (here is None or here.name != name)
            ):
                self._member(there)
                found = f"{name} as operand {1 - index} of {op.name}"
                expected = f"as operand {index}"
                return self.draft.refuse(
                    codes.SIDE, "operand side", found, expected, op
                )
        return None

    def _walk(self, term: Walk, value: SSAValue) -> Refusal | None:
        inner = term.inner
        while isinstance(inner, Shared):
            inner = inner.inner
        assert isinstance(inner, Apply)
        walker = Walker(self.draft, f"tessera.{inner.op}", term.steps, self._rows)
        refusal = self._follow(walker, value, inner)
        return refusal or walker.finish()

    def _follow(self, walker: Walker, value: SSAValue, inner: Apply) -> Refusal | None:
        for _ in range(MOST_STEPS):
            op = owner(value)
            if op is not None and op.name == walker.inner:
                return self._apply(inner, value)
            followed = None if op is None else walker.step(op)
            if op is None or followed is None:
                return self._wrong_producer(value, walker.inner)
            if isinstance(followed, Refusal):
                self.draft.depth += nearest(value, walker.inner)[1]
                return followed
            self._member(op, counts=False)
            value = followed
        return self._wrong_producer(value, walker.inner)

    def _wrong_producer(self, value: SSAValue, wanted: str) -> Refusal:
        found, owned = makers(value)
        code = codes.OWNED if owned else codes.PRODUCER
        return self.draft.refuse(code, "producer", found, wanted)

    def _part(self, term: Part, value: SSAValue) -> Refusal | None:
        """One half of a packed product: a slice of the last axis."""
        op = owner(value)
        wanted = f"part {term.index} of a product packed as {term.packing}"
        if op is None or op.name != "tessera.slice" or not is_part(op, term):
            return self.draft.refuse(
                codes.PRODUCER, "producer", describe(value), wanted
            )
        source = op.operands[0]
        self._member(op, counts=False)
        return self.take(term.inner, source)
