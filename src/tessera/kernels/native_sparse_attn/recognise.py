"""Spelled-out native sparse attention: found by its sum, read and proven by evaluation."""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tessera.diagnostics import Refusal
from tessera.fusion.codes import DTYPE
from tessera.fusion.draft import Draft
from tessera.fusion.kernel import Attention, Reread
from tessera.graph.operation import GraphOp
from tessera.graph.sampling import NotSampled, ops_between
from tessera.graph.types import is_static, show, value_dtype, value_shape
from tessera.kernels.native_sparse_attn import codes
from tessera.kernels.native_sparse_attn.branches import Branch, branch, chooser
from tessera.kernels.native_sparse_attn.observe import Found, closed, observe
from tessera.kernels.native_sparse_attn.plans import distance, plans_of
from tessera.kernels.native_sparse_attn.roles import roles_of
from tessera.kernels.native_sparse_attn.sums import Term, gated_sum

LARGEST = 1 << 25
EXACT = 1e-6


def reread(root: Operation, attention: Attention) -> Reread | Refusal | None:
    """The fused op that a gated sum is, or why it is none.

    None when no three attentions, one of them over selected blocks, meet in `root`.
    """
    if not isinstance(root, GraphOp) or root.results[0].first_use is None:
        return None
    terms = gated_sum(root)
    if terms is None:
        return None
    branches = [branch(term.end) for term in terms]
    found = [b for b in branches if b is not None]
    picked = [chooser(b) is not None for b in found]
    if len(found) != len(terms) or picked.count(True) != 1:
        return None
    return _raised(root, terms, found, picked.index(True))


def _read_by(branches: Sequence[Branch]) -> set[SSAValue]:
    return {value for b in branches for value in (b.q, b.k, b.v)}


def _raised(
    root: GraphOp, terms: Sequence[Term], branches: Sequence[Branch], selected: int
) -> Reread | Refusal:
    draft = Draft(root)
    bare = [i for i, term in enumerate(terms) if term.gate is None]
    if bare:
        end = terms[bare[0]].end
        found, wanted = f"{end.name} as it is", "a gate times each branch"
        return draft.refuse(codes.UNGATED, "gate", found, wanted, end)
    refusal = _provable(draft, branches)
    if refusal is not None:
        return refusal
    best: Refusal | None = None
    rest = [i for i in range(len(terms)) if i != selected]
    for window, compressed in (rest, rest[::-1]):
        order = (compressed, selected, window)
        made = _in_order(root, terms, branches, order)
        if isinstance(made, Reread):
            return made
        if best is None or best.code is codes.SHARED:
            best = made
    assert best is not None
    return best


def _provable(draft: Draft, branches: Sequence[Branch]) -> Refusal | None:
    """Whether the ops from the branches' operands on can be run at all."""
    ops, _ = ops_between(draft.root.results, _read_by(branches))
    shapes = [value_shape(value) for op in ops for value in op.results]
    for shape in shapes:
        if not is_static(shape):
            found, wanted = f"a value of {show(shape)}", "sizes known when compiling"
            return draft.refuse(codes.UNPROVEN, "sizes", found, wanted)
    largest = max(map(math.prod, shapes))
    if largest <= LARGEST:
        return None
    found = f"a value of {largest} elements"
    return draft.refuse(codes.UNPROVEN, "sizes", found, f"at most {LARGEST}")


def _in_order(
    root: GraphOp,
    terms: Sequence[Term],
    branches: Sequence[Branch],
    order: tuple[int, int, int],
) -> Reread | Refusal:
    """The sum read with its branches in this order: compressed, selected, window."""
    draft = Draft(root)
    c, s, w = order
    gates = [term.gate.value for term in terms if term.gate is not None]
    roles = roles_of(branches[c], branches[s], branches[w], gates)
    if isinstance(roles, str):
        found = f"'{roles}' of one branch is another value, or no plain repeat of heads"
        return draft.refuse(codes.SHARED, "operands", found, "one q, k and v")
    dtypes = {role: value_dtype(one.value) for role, one in roles.sources.items()}
    dtypes |= {f"gate {i}": value_dtype(gate) for i, gate in enumerate(gates)}
    wanted = value_dtype(root.results[0])
    if set(dtypes.values()) != {wanted}:
        text = ", ".join(f"{role} {dtype}" for role, dtype in dtypes.items())
        return draft.refuse(DTYPE, "element type", text, f"{wanted} for all")
    found = Found(
        root,
        (terms[c], terms[s], terms[w]),
        (branches[c], branches[s], branches[w]),
        roles,
    )
    try:
        return _read_and_prove(closed(found))
    except NotSampled as bad:
        wanted = "a sum that follows from q, k, v and gates"
        return found.refuse(codes.UNPROVEN, "samples", str(bad), wanted)


def _read_and_prove(found: Found) -> Reread | Refusal:
    plans = plans_of(found, observe(found))
    if isinstance(plans, Refusal):
        return plans
    code, predicate = codes.SELECTION, "selection"
    text = "blocks chosen by another rule"
    wanted = "the top_k best-scored blocks, ties to the lower index"
    for plan in plans:
        off = distance(plan, peaked=False)
        if off > EXACT:
            code, predicate, wanted = codes.PROOF, "results on samples", "equal results"
            text = f"results that are {off:.1g} of the largest apart"
        elif distance(plan, peaked=True) > EXACT:
            text = "other blocks where scores are equal"
            code, predicate = codes.SELECTION, "selection"
        else:
            return Reread(found.root, plan.build)
    return found.refuse(code, predicate, text, wanted)
