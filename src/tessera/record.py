"""The record of a compilation: one site for every decision, from the graph and the calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tessera.canonical_compile import CompileResult
from tessera.catalog import KERNEL_BY_NAME
from tessera.decisions import Document, Placement, Site
from tessera.diagnostics import Refusal
from tessera.fusion.recognise import intent_of
from tessera.fusion.seen import see
from tessera.fusion.sites import SITE
from tessera.graph.locations import location_of
from tessera.graph.operation import read_options
from tessera.target.device import TARGETS
from tessera.target.dialect import KERNEL, SOURCE, CallOp
from tessera.target.plan import figures


def document(
    result: CompileResult,
    lowered: ModuleOp,
    model: str,
    ran: Mapping[str, Placement],
    unfused: Placement | None,
) -> Document:
    """Every site of a compilation in program order.

    Whether a site is fused is read off the calls of the lowered module, and what runs it
    is what the runtime says (`ran` by site id, `unfused` for the rest): neither is
    assumed.
    """
    calls = {
        c.note(SITE): c
        for c in lowered.walk()
        if isinstance(c, CallOp) and c.note(KERNEL)
    }
    order: dict[Operation, int] = {op: i for i, op in enumerate(result.module.walk())}
    sites = {**_seen(result), **_decided(result, calls)}
    ranked = sorted(sites.items(), key=lambda item: order[item[0]])
    target = TARGETS[result.target]
    numbered = _number(
        replace(site, placement=ran.get(site.id, unfused)) for _, site in ranked
    )
    return Document(model, target.name, target.device, tuple(numbered))


def _decided(
    result: CompileResult, calls: dict[str | None, CallOp]
) -> dict[Operation, Site]:
    """Sites that some kernel stands for."""
    groups = {group.id: group for group in result.fusion_groups}
    misses = {miss.id: miss for miss in result.misses}
    refused = {c.root: c.refusal for _, c in result.contradictions}
    sites: dict[Operation, Site] = {}
    for function in [f for f in result.module.walk() if isinstance(f, FuncOp)]:
        for op in function.walk():
            name = op.attributes.get(SITE)
            if name is None:
                continue
            site_id = str(getattr(name, "data", name))
            ops = groups[site_id].ops if site_id in groups else (op.name,)
            site = _site(site_id, function, op, ops)
            miss = misses.get(site_id)
            refusal = refused.get(op) or (miss.refusal if miss else None)
            nearest = miss.kernel.name if miss else None
            if op in refused:
                site = replace(site, intent_verdict="contradicted")
            sites[op] = _fused(site, calls[site_id]) if site_id in calls else site
            if refusal is not None:
                sites[op] = _refused(sites[op], refusal, nearest)
    return sites


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
        intent_verdict="honoured" if intent else "absent",
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


def _refused(site: Site, refusal: Refusal, nearest: str | None) -> Site:
    return replace(
        site,
        code=refusal.code.id,
        predicate=refusal.predicate,
        found=refusal.found,
        wanted=refusal.wanted,
        suggestion=refusal.suggestion or refusal.code.help,
        nearest=nearest,
    )


def _seen(result: CompileResult) -> dict[Operation, Site]:
    """Sites that are recognised and have no kernel yet."""
    sites: dict[Operation, Site] = {}
    for function in [f for f in result.module.walk() if isinstance(f, FuncOp)]:
        for seen in see(function) if TARGETS[result.target].consumes_intents else ():
            place = location_of(seen.root)
            prefix = "/".join(
                p for p in (function.sym_name.data, place.layer, seen.kind) if p
            )
            site = _site(prefix, function, seen.root, (seen.root.name,))
            sites[seen.root] = _refused(site, seen.refusal, None)
    return sites


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
