"""What a person can do about a refusal: written from what was found, wanted, and where."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from tessera.diagnostics import Refusal
from tessera.fusion import codes
from tessera.fusion.draft import owner
from tessera.fusion.kernel import FLOATS
from tessera.fusion.sites import SITE
from tessera.graph.types import show, value_shape
from tessera.trail.places import told, told_at, told_value

NEAR = 64
SETTING = re.compile(r"^(\w+) = (\S+)$")


@dataclass(frozen=True)
class Case:
    """One refused site: its root, and the op where the first predicate failed."""

    refusal: Refusal
    root: Operation
    at: Operation | None
    members: frozenset[Operation]
    target: str
    intent: str | None = None

    @property
    def place(self) -> str:
        """The op at which the predicate failed, for a sentence."""
        return told_at(self.refusal.op, self.refusal.location)

    @property
    def end(self) -> str:
        """The op that stands for the site, for a sentence."""
        return told(self.root)


def suggest(
    refusal: Refusal,
    root: Operation,
    members: Iterable[Operation],
    target: str,
    contradicted: str | None = None,
) -> str:
    """One sentence on what to change, and where; `contradicted` is an intent's kernel."""
    at = _find(refusal, root)
    case = Case(refusal, root, at, frozenset(members), target, contradicted)
    made = ADVICE.get(refusal.code.id, _set)(case)
    if contradicted and refusal.code.id not in ABOUT_INTENT:
        made += f"; or drop the intent '{contradicted}' from {case.end}"
    return made


def _find(refusal: Refusal, root: Operation) -> Operation | None:
    """The op that a refusal names, looked for from the root back."""
    return _above(root, lambda op: told(op) == told_at(refusal.op, refusal.location))


def _above(root: Operation, fits: Callable[[Operation], bool]) -> Operation | None:
    """The nearest op that fits: the root, or one it is made from."""
    todo, seen = [root], {root}
    for op in todo:
        if fits(op):
            return op
        makers = [m for m in map(owner, op.operands) if m is not None]
        fresh = [m for m in dict.fromkeys(makers) if m not in seen]
        if len(seen) < NEAR:
            seen.update(fresh)
            todo.extend(fresh)
    return None


def _short(name: str) -> str:
    return name.removeprefix("tessera.")


def _producer(case: Case) -> str:
    found, wanted = case.refusal.found, _short(case.refusal.wanted)
    if case.refusal.predicate == "operand":
        role = re.search(r"'(\w+)'", found)
        what = role[1] if role else "the operand"
        return f"let every op of the chain that ends in {case.end} read one '{what}'"
    maker = _above(case.root, lambda op: op.name == found)
    if maker is None or maker is case.root:
        made = found.removeprefix("tessera.")
        return f"compute what {case.end} reads by a {wanted}: it is {made} now"
    return f"feed {case.end} from a {wanted}: {told(maker)} feeds it now"


def _readers(case: Case) -> str:
    value = case.at
    if value is None:
        return f"give the other reader its own {_short(case.refusal.op)}"
    inside = {case.root, *case.members}
    uses = [use.operation for result in value.results for use in result.uses]
    outside = list(dict.fromkeys(op for op in uses if op not in inside))
    short = _short(value.name)
    if any(op.name == "func.return" for op in outside):
        return f"drop {told(value)} from the function's results, or make it twice"
    if not outside:
        return f"give the other reader of {told(value)} its own {short}"
    names = " and ".join(told(op) for op in outside[:2])
    their = "its" if len(outside) == 1 else "their"
    return f"give {names} {their} own {short}, in place of {case.place}"


def _side(case: Case) -> str:
    where = re.search(r"(\S+) as operand (\d)", case.refusal.found)
    side = ("left", "right")[case.refusal.wanted.endswith("1")]
    what = _short(where[1]) if where else "the chain"
    return f"make the {what} the {side} operand of {case.place}: swap its operands"


def _axis(case: Case) -> str:
    axis = case.refusal.found.rpartition(" ")[2]
    return f"transpose axis {axis} to the end before {case.place}, and back after it"


def _transposed(case: Case) -> str:
    if case.refusal.predicate == "transpose":
        return f"move {case.place} out of the chain, before its first product"
    flag = case.refusal.found.partition(" ")[0]
    operand = flag.removeprefix("transpose_")
    return (
        f"store operand {operand} of {case.place} the other way round, without {flag}"
    )


def _dtype(case: Case) -> str:
    found = case.refusal.found
    cast = re.search(r"cast from (\w+) to (\w+)", found)
    if cast:
        return f"drop {case.place}, so that the chain to {case.end} stays in {cast[1]}"
    held = dict(re.findall(r"([\w ]+) (\w+)(?:, |$)", found)) if " " in found else {}
    if not held:
        return f"cast the operands of {case.end} from {found} to f32 before the chain"
    counts = Counter(dtype for dtype in held.values() if dtype in FLOATS)
    common = counts.most_common(1)[0][0] if counts else "f32"
    odd = [f"{role} from {dtype}" for role, dtype in held.items() if dtype != common]
    return f"cast {', '.join(odd)} to {common} before the chain that ends in {case.end}"


def _rank(case: Case) -> str:
    name = re.search(r"operand (\w) of|(\w+) of", case.refusal.found)
    which = next((part for part in (name.groups() if name else ()) if part), "it")
    return f"reshape operand {which} of {case.place} to two axes or more"


def _view(case: Case) -> str:
    found = case.refusal.found
    if case.refusal.op == "tessera.reshape":
        return f"move {case.place} ({found}) out of the chain that ends in {case.end}"
    return f"take the reshape ({found}) out of the chain that ends in {case.end}"


def _kernel_name(case: Case) -> str:
    known = case.refusal.wanted.split(", ")
    close = difflib.get_close_matches(case.refusal.found.strip('"'), known, 1)
    better = f"'{close[0]}'" if close else "one of `tessera kernels`"
    return f"stamp {case.end} with {better}, or drop the intent"


def _option(case: Case) -> str:
    refusal = case.refusal
    if refusal.predicate == "scale":
        return f"multiply the scales before {case.end} into one, {case.place} included"
    if refusal.predicate == "softcap":
        return f"write the softcap at {case.place} as {refusal.wanted}, cap > 0"
    if refusal.predicate == "mask":
        return f"move {case.place} directly before the softmax, after scale and softcap"
    if refusal.predicate == "operands":
        return f"leave operands out of {case.place} until {refusal.wanted} are left"
    return _set(case)


def _mask(case: Case) -> str:
    refusal = case.refusal
    if refusal.predicate == "masks":
        return f"turn the two masks before {case.end} into one additive mask, their sum"
    if "widens" in refusal.found:
        mask, _, product = refusal.found.partition(" widens ")
        product = product.removeprefix("the product ")
        fits = f"give {case.place} an operand that broadcasts to {product}"
        return f"{fits}, not {mask.removeprefix('mask ')}"
    return f"write the mask at {case.place} as {refusal.wanted}, found {refusal.found}"


def _terminal(case: Case) -> str:
    ends = " or ".join(map(_short, case.refusal.wanted.split(", ")))
    drop = f"drop the intent '{case.intent}' from {case.end}"
    return f"{drop}: such a chain ends in {ends}, stamp that instead"


def _unconsumed(case: Case) -> str:
    dashed = (case.intent or "").replace("_", "-")
    return (
        f"add tessera-{dashed}-fusion-to-{case.target} to the pipeline, for {case.end}"
    )


def _stamped(case: Case) -> str:
    return f"drop the intent from {case.place}, inside the chain to {case.end}"


def _order(case: Case) -> str:
    role = case.refusal.found.partition(" is ")[0]
    return f"compute {role} before the first op that reads the chain of {case.end}"


def _operand_shape(case: Case) -> str:
    """The odd operand by name, where its shape in the message tells which it is."""
    refusal, operands = case.refusal, case.at.operands if case.at else ()
    odd = [v for v in operands if f"of {show(value_shape(v))} " in f"{refusal.found} "]
    if len(odd) == 1:
        shape, what = show(value_shape(odd[0])), told_value(odd[0])
        return f"make {what}, {shape} at {case.place}, {refusal.wanted}"
    text = f"change the {refusal.predicate} at {case.place}"
    return f"{text}: {refusal.found} now, {refusal.wanted} to fuse"


def _no_kernel(case: Case) -> str:
    kind = case.refusal.found.partition(",")[0]
    return f"nothing to change: {case.end} runs unfused, there is no {kind} kernel yet"


def _owned(case: Case) -> str:
    other = _above(case.root, lambda op: op is not case.root and _is_site(op))
    whose = ""
    if other is not None:
        name = other.attributes.get(SITE)
        whose = f", {name.data}" if isinstance(name, StringAttr) else ""
    return (
        f"nothing to change: what feeds {case.end} is part of another fused call"
        f"{whose}; a matmul of its own would fuse"
    )


def _is_site(op: Operation) -> bool:
    return SITE in op.attributes


def _set(case: Case) -> str:
    """The general advice: give the wanted in place of the found."""
    refusal = case.refusal
    wanted = SETTING.match(refusal.wanted)
    if wanted and SETTING.match(refusal.found):
        value = "out" if wanted[2] == "none" else f"= {wanted[2]}"
        verb = "leave" if wanted[2] == "none" else "set"
        return f"{verb} {wanted[1]} {value} on {case.place}, found {refusal.found}"
    if refusal.suggestion:
        return f"{refusal.suggestion}: {case.place} has {refusal.found}"
    text = f"change the {refusal.predicate} at {case.place}"
    return f"{text}: {refusal.found} now, {refusal.wanted} to fuse"


ADVICE: Mapping[str, Callable[[Case], str]] = {
    codes.PRODUCER.id: _producer,
    codes.USES.id: _readers,
    codes.SIDE.id: _side,
    codes.AXIS.id: _axis,
    codes.TRANSPOSED.id: _transposed,
    codes.DTYPE.id: _dtype,
    codes.RANK.id: _rank,
    codes.VIEW.id: _view,
    codes.UNKNOWN_KERNEL.id: _kernel_name,
    codes.OPTION.id: _option,
    codes.MASK.id: _mask,
    codes.TERMINAL.id: _terminal,
    codes.UNCONSUMED.id: _unconsumed,
    codes.STAMPED_INSIDE.id: _stamped,
    codes.ORDER.id: _order,
    codes.OPERAND_SHAPE.id: _operand_shape,
    codes.NO_KERNEL.id: _no_kernel,
    codes.OWNED.id: _owned,
}
ABOUT_INTENT = frozenset({"TSR-F109", "TSR-F112", "TSR-F113", "TSR-F114"})
