"""From a module to its decisions: normal form, fusion groups, stamped intents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from tessera.catalog import ATTENTION, KERNELS, PASSES, new_context
from tessera.diagnostics import Diagnostics, Refusal
from tessera.fusion.draft import operands_of
from tessera.fusion.kernel import FusedKernel
from tessera.fusion.match import INTENT
from tessera.fusion.raise_composite import near_misses
from tessera.fusion.recognise import Contradiction, intent_of, recognise
from tessera.fusion.sites import SITE, name_sites, site_kinds
from tessera.graph.context import Watcher, run_passes
from tessera.graph.rewriting import functions
from tessera.target.device import find_target

PREPARE = ("tessera-normalise-graph", "tessera-raise-compositions")


@dataclass(frozen=True)
class FusionGroup:
    """One chain that one fused call will compute.

    `members` are the ops of the chain, its terminal op first; `operands` the program's
    values by role.
    """

    id: str
    function: str
    kernel: str
    members: tuple[Operation, ...]
    operands: Mapping[str, SSAValue]

    @property
    def terminal(self) -> Operation:
        """The op that carries the intent."""
        return self.members[0]

    @property
    def ops(self) -> tuple[str, ...]:
        """The names of the members in program order."""
        return tuple(op.name for op in reversed(self.members))


@dataclass(frozen=True)
class SiteMiss:
    """A site that is not fused: the kernel that came closest, and why not.

    `members` are the ops that were read as the kernel's chain before it broke.
    """

    id: str
    function: str
    kernel: FusedKernel
    root: Operation
    refusal: Refusal
    members: tuple[Operation, ...] = ()


@dataclass
class CompileResult:
    """A normalised module and what was decided about it."""

    module: ModuleOp
    target: str
    fusion_groups: list[FusionGroup] = field(default_factory=list[FusionGroup])
    misses: list[SiteMiss] = field(default_factory=list[SiteMiss])
    contradictions: list[tuple[str, Contradiction]] = field(
        default_factory=list[tuple[str, Contradiction]]
    )
    diagnostics: Diagnostics = field(default_factory=Diagnostics)


def canonical_compile(
    module: ModuleOp, target: str = "apple_gpu", watch: Watcher | None = None
) -> CompileResult:
    """Normalise a copy of the module, decide its fusion groups, stamp their intents.

    A target that consumes no intents (`cpu`) gets the normal form alone: no groups, no
    `tessera.fusion.*` attribute.  `watch` is told of each pass.  Raises TesseraError for
    an unknown target.
    """
    kind = find_target(target)
    copy = module.clone()
    context = new_context(watch)
    if watch is not None:
        watch("", copy)
    result = CompileResult(copy, target, diagnostics=context.diagnostics)
    if not kind.consumes_intents:
        run_passes([PASSES["tessera-normalise-graph"]], context, copy)
        _unstamp(copy)
        return result
    run_passes([PASSES[name] for name in PREPARE], context, copy)
    for function in _functions(copy):
        _decide(function, result)
    return result


def stamp_fusion_intents(module: ModuleOp) -> int:
    """Normalise and stamp a module in place; the number of rightly stamped chains.

    A stamp that is already there stays as it is, right or wrong: a wrong one is reported
    where it is consumed.  A second call changes nothing and returns the same number.
    """
    context = new_context()
    for name in PREPARE:
        PASSES[name]().apply(context, module)
    result = CompileResult(module, "")
    for function in _functions(module):
        _decide(function, result)
    return sum(intent_of(g.terminal) == g.kernel for g in result.fusion_groups)


def _functions(module: ModuleOp) -> list[FuncOp]:
    return [function for function in functions(module) if function.body.blocks]


def _decide(function: FuncOp, result: CompileResult) -> None:
    """Recognise the chains of one function, stamp them, keep what was found."""
    found = recognise(function, KERNELS)
    kinds = site_kinds(function, found, KERNELS)
    raised = [
        (kernel, root, refusal)
        for kernel in KERNELS
        if kernel.raised_to
        for root, refusal in near_misses(kernel, ATTENTION, function)
    ]
    for kernel, root, _ in raised:
        kinds.setdefault(root, kernel.kind)
    names = name_sites(function, kinds)
    for op, name in names.items():
        op.attributes[SITE] = StringAttr(name)
    where = function.sym_name.data
    for group in found.groups:
        root = group.root
        root.attributes.setdefault(INTENT, StringAttr(group.kernel.name))
        members, operands = group.match.members, operands_of(group.match)
        made = FusionGroup(names[root], where, group.kernel.name, members, operands)
        result.fusion_groups.append(made)
    missed = [(m.kernel, m.root, m.miss.refusal, m.miss.members) for m in found.misses]
    for kernel, root, refusal, read in (*missed, *((*r, (r[1],)) for r in raised)):
        if kinds[root] == kernel.kind:
            miss = SiteMiss(names[root], where, kernel, root, refusal, read)
            result.misses.append(miss)
    result.contradictions.extend((where, c) for c in found.contradictions)


def _unstamp(module: ModuleOp) -> None:
    """Take every note of fusion off a module that no target will consume."""
    for op in module.walk():
        for key in [k for k in op.attributes if k.startswith("tessera.fusion.")]:
            del op.attributes[key]
