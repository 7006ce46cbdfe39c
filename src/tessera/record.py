"""The record of a compilation: one site for every decision, from the graph and the calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tessera.canonical_compile import CompileResult, SiteMiss
from tessera.catalog import KERNEL_BY_NAME, KERNELS
from tessera.decisions import Document, Placement, Site
from tessera.diagnostics import Refusal
from tessera.fusion.match import bind
from tessera.fusion.recognise import Contradiction, intent_of
from tessera.fusion.seen import see
from tessera.fusion.sites import SITE
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp, read_options
from tessera.target.device import TARGETS
from tessera.target.dialect import KERNEL, SOURCE, CallOp
from tessera.target.plan import figures
from tessera.trail.passes import Objection, Passes
from tessera.trail.places import refused_at
from tessera.trail.suggest import suggest
from tessera.trail.trace import Trace, in_order
from tessera.trail.watch import Watch


def document(
    result: CompileResult,
    lowered: ModuleOp,
    model: str,
    ran: Mapping[str, Placement],
    unfused: Placement | None,
    source: ModuleOp | None = None,
    watch: Watch | None = None,
) -> Document:
    """Every site of a compilation in program order.

    Whether a site is fused is read off the calls of the lowered module, and what runs it
    is what the runtime says (`ran` by site id, `unfused` for the rest): neither is
    assumed.  `source` is the module as it was imported, `watch` what saw the passes.
    """
    calls = {
        c.note(SITE): c
        for c in lowered.walk()
        if isinstance(c, CallOp) and c.note(KERNEL)
    }
    order: dict[Operation, int] = {op: i for i, op in enumerate(result.module.walk())}
    found = {**_seen(result), **_decided(result, calls)}
    ranked = sorted(found.values(), key=lambda one: order[one.root])
    target = TARGETS[result.target]
    trace = Trace(source, result.module, lowered, [f.root for f in ranked], watch)
    sites = [
        trace.follow(site, one.root, in_order(one.members, order))
        for one, site in zip(ranked, _number(f.site for f in ranked), strict=True)
    ]
    placed = [replace(site, placement=ran.get(site.id, unfused)) for site in sites]
    return Document(model, target.name, target.device, tuple(placed))


@dataclass(frozen=True)
class _Found:
    """A site, the op that stands for it, and the ops that were read as it."""

    site: Site
    root: Operation
    members: Sequence[Operation]


def _decided(
    result: CompileResult, calls: Mapping[str | None, CallOp]
) -> dict[Operation, _Found]:
    """Sites that some kernel stands for."""
    groups = {group.id: group for group in result.fusion_groups}
    misses = {miss.id: miss for miss in result.misses}
    contradicted = {c.root: c for _, c in result.contradictions}
    passes = Passes.of(result.target)
    found: dict[Operation, _Found] = {}
    for function in [f for f in result.module.walk() if isinstance(f, FuncOp)]:
        for op in function.walk():
            name = op.attributes.get(SITE)
            if name is None:
                continue
            site_id = str(getattr(name, "data", name))
            group, call = groups.get(site_id), calls.get(site_id)
            objection = _objection(op, misses.get(site_id), contradicted.get(op), call)
            site = _site(site_id, function, op, group.ops if group else (op.name,))
            if call is not None:
                site = replace(_fused(site, call), pass_=passes.fuses(call.op))
            members = group.members if group else (op,)
            if objection is not None:
                reached = objection.members or (op,)
                members = members if group else reached
                site = _refused(site, objection, op, passes)
            found[op] = _Found(site, op, members)
    return found


def _objection(
    op: Operation,
    miss: SiteMiss | None,
    contradiction: Contradiction | None,
    call: CallOp | None,
) -> Objection | None:
    """Why a site, or the intent on it, was not taken."""
    if contradiction is not None:
        nearest = miss.kernel.name if miss else None
        intent, reached = contradiction.intent, contradiction.reached
        return Objection(contradiction.refusal, nearest, tuple(reached), intent)
    if miss is not None:
        name, raised = miss.kernel.name, bool(miss.kernel.raised_to)
        return Objection(miss.refusal, name, tuple(miss.members), None, raised)
    if call is None and isinstance(op, GraphOp):
        for kernel in KERNELS:
            bound = bind(kernel, op) if op.short() in kernel.composites else None
            if isinstance(bound, Refusal):
                return Objection(bound, kernel.name)
    return None


def _site(site_id: str, function: FuncOp, op: Operation, ops: tuple[str, ...]) -> Site:
    place = location_of(op)
    intent = intent_of(op)
    return Site(
        id=site_id,
        function=function.sym_name.data,
        location=str(place),
        layer=place.layer,
        ops=ops,
        kind=site_id.rpartition("/")[2].partition("#")[0],
        outcome="refused",
        intent=intent,
        intent_verdict="absent" if intent is None else "honoured",
    )


def _fused(site: Site, call: CallOp) -> Site:
    kernel = KERNEL_BY_NAME[call.op]
    plan = figures(call, kernel)
    return replace(
        site,
        outcome="fused",
        kernel=kernel.name,
        source=call.note(SOURCE),
        semantics=_plain(read_options(kernel.options, call.attributes)),
        flops=plan.flops,
        bytes_saved=plan.bytes_saved,
        launches_saved=plan.launches_saved,
    )


def _plain(options: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in options.items() if value is not None}


def _refused(site: Site, objection: Objection, root: Operation, passes: Passes) -> Site:
    refusal, intent = objection.refusal, objection.intent
    verdict = "contradicted" if intent else site.intent_verdict
    members = objection.members or (root,)
    return replace(
        site,
        intent_verdict=verdict,
        code=refusal.code.id,
        predicate=refusal.predicate,
        found=refusal.found,
        wanted=refusal.wanted,
        suggestion=suggest(refusal, root, members, passes.target, intent),
        nearest=objection.nearest,
        at=refused_at(refusal),
        pass_=site.pass_ or passes.refuses(objection),
    )


def _seen(result: CompileResult) -> dict[Operation, _Found]:
    """Sites that are recognised and have no kernel yet."""
    found: dict[Operation, _Found] = {}
    passes = Passes.of(result.target)
    for function in [f for f in result.module.walk() if isinstance(f, FuncOp)]:
        for seen in see(function) if TARGETS[result.target].consumes_intents else ():
            place = location_of(seen.root)
            prefix = "/".join(
                p for p in (function.sym_name.data, place.layer, seen.kind) if p
            )
            site = _site(prefix, function, seen.root, (seen.root.name,))
            site = _refused(site, Objection(seen.refusal), seen.root, passes)
            found[seen.root] = _Found(site, seen.root, (seen.root, *seen.held))
    return found


def _number(sites: Iterable[Site]) -> Iterable[Site]:
    """Give the sites that have no number yet their place among their like."""
    count: dict[str, int] = {}
    for site in sites:
        if "#" in site.id.rpartition("/")[2]:
            yield site
            continue
        number = count.get(site.id, 0)
        count[site.id] = number + 1
        yield replace(site, id=f"{site.id}#{number}")
