"""Names of sites: stable across recompiles and unrelated edits.

A site is named by its function, the model's own scope where it is known, its kind, and
its place among the sites of that kind in that scope.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from tessera.fusion.kernel import FusedKernel
from tessera.fusion.recognise import Recognition
from tessera.graph.locations import location_of

SITE = "tessera.fusion.id"


def site_kinds(
    function: FuncOp, found: Recognition, kernels: Sequence[FusedKernel]
) -> dict[Operation, str]:
    """The ops that stand for a site, with the site's kind, in program order."""
    kinds: dict[Operation, str] = {}
    for miss in sorted(found.misses, key=lambda m: m.miss.depth):
        kinds[miss.root] = miss.kernel.kind
    kinds.update({group.root: group.kernel.kind for group in found.groups})
    intended = {kernel.name: kernel.kind for kernel in kernels}
    for contradiction in found.contradictions:
        kinds.setdefault(
            contradiction.root, intended.get(contradiction.intent, "unknown")
        )
    composites = {
        f"tessera.{name}": kernel.kind
        for kernel in kernels
        for name in kernel.composites
    }
    ordered: dict[Operation, str] = {}
    for op in function.walk():
        kind = kinds.get(op) or composites.get(op.name)
        if kind is not None:
            ordered[op] = kind
    return ordered


def name_sites(
    function: FuncOp, kinds: Mapping[Operation, str]
) -> dict[Operation, str]:
    """An id for each site; an id that an op already carries is kept, and never given anew."""
    carried: dict[Operation, str] = {}
    taken: set[str] = set()
    for op in kinds:
        name = _carried(op)
        carried[op] = "" if name in taken else name
        taken.add(name)
    seen: Counter[str] = Counter()
    names: dict[Operation, str] = {}
    for op, kind in kinds.items():
        layer = location_of(op).layer
        prefix = "/".join(
            part for part in (function.sym_name.data, layer, kind) if part
        )
        names[op] = carried[op] or _fresh(prefix, seen, taken)
        seen[prefix] += 1
    return names


def _carried(op: Operation) -> str:
    name = op.attributes.get(SITE)
    return name.data if isinstance(name, StringAttr) else ""


def _fresh(prefix: str, seen: Counter[str], taken: set[str]) -> str:
    while (name := f"{prefix}#{seen[prefix]}") in taken:
        seen[prefix] += 1
    taken.add(name)
    return name
