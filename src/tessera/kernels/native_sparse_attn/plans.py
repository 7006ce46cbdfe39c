"""From what the branches were seen to do to the fused call that would do the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from tessera.diagnostics import Refusal
from tessera.graph.algebra import SsaAlgebra
from tessera.graph.ops.sparse import NativeSparseAttnFusedOp
from tessera.graph.sampling import Array, sample
from tessera.graph.types import Shape, value_shape
from tessera.kernels.native_sparse_attn import codes, masks
from tessera.kernels.native_sparse_attn.observe import Found, Observed
from tessera.kernels.native_sparse_attn.roles import ORDER
from tessera.kernels.native_sparse_attn.selection import Chosen, chosen, first_rule
from tessera.kernels.native_sparse_attn.views import replay
from tessera.reference import PRIMITIVES

NAMES = ("compressed", "selected", "window")
CALL = NativeSparseAttnFusedOp.attrs
PROOFS, FEW = (101, 102), 1 << 20


@dataclass(frozen=True)
class Plan:
    """A fused call: its options, and its block scores where they are an operand."""

    found: Found
    options: dict[str, Any]
    scores: tuple[SSAValue, Shape] | None

    def build(self, g: SsaAlgebra) -> SSAValue:
        """The value that replaces the sum's."""
        sources, first = self.found.roles.sources, self.found.terms[0]
        q, k, v, *rest = [sources[role].build(g) for role in ORDER]
        if self.scores is not None:
            rest.append(_shaped(g, *self.scores))
        rows = (*sources["q"].shape[:-1], 1)
        gates = [_shaped(g, term.gate_rows(g), rows) for term in self.found.terms]
        joined = g.apply("concat", *gates, axis=-1)
        value = g.apply(
            NativeSparseAttnFusedOp.short(), q, k, v, joined, *rest, **self.options
        )
        return replay(g, _shaped(g, value, first.start), first.steps)


def _shaped(g: SsaAlgebra, value: SSAValue, shape: Shape) -> SSAValue:
    return value if value_shape(value) == shape else g.reshape(value, shape)


def distance(plan: Plan, peaked: bool) -> float:
    """How far the call's results are from the program's on fresh samples.

    Relative to the largest result; infinite where one of the two is not finite.
    """
    made: list[Operation] = []
    value = plan.build(SsaAlgebra(made.append, None))
    wanted = [plan.found.root.results[0], value]
    try:
        seeds = PROOFS[: 2 if plan.found.weights_size <= FEW else 1]
        return max(_apart(plan, wanted, seed, peaked) for seed in seeds)
    finally:
        for op in reversed(made):
            op.erase()


def _apart(plan: Plan, wanted: list[SSAValue], seed: int, peaked: bool) -> float:
    program, call = sample(wanted, plan.found.roles.draw(seed, peaked).values)
    if program.shape != call.shape or not program.size:
        return 0.0 if program.shape == call.shape else float("inf")
    off = float(np.abs(program - call).max() / np.abs(program).max())
    return off if np.isfinite(off) else float("inf")


def plans_of(found: Found, seen: Observed) -> Iterator[Plan] | Refusal:
    """The fused calls that explain the masks and scales seen, the likeliest first."""
    statics = [masks.static(seen.flat(i)) for i in range(len(NAMES))]
    keys = found.roles.sources["k"].shape[-2]
    window = None if statics[2] is None else masks.window_of(statics[2])
    if window is None:
        wanted = "the last tokens up to the query"
        return found.refuse(codes.MASKS, "window", _told(statics[2]), wanted)
    spans = [] if statics[0] is None else masks.spans_of(statics[0], keys)
    if not spans:
        wanted = "blocks from their last token on, none in rows before"
        return found.refuse(codes.MASKS, "compressed", _told(statics[0]), wanted)
    scale = _scale(found, seen)
    if isinstance(scale, Refusal):
        return scale
    return _plans(found, seen, {"window_size": window, "scale": scale}, spans)


def _told(mask: Array | None) -> str:
    if mask is None:
        return "a mask that depends on the values"
    counts = mask.sum(axis=-1)
    text = ", ".join(str(count) for count in counts[:6])
    return f"rows that see {text}{', …' if len(counts) > 6 else ''} keys"


def _scale(found: Found, seen: Observed) -> float | Refusal:
    pairs = zip(seen.weights, seen.products, strict=True)
    scales = [masks.scale_of(weights, scores) for weights, scores in pairs]
    for name, scale in zip(NAMES, scales, strict=True):
        if scale is None:
            text = f"the {name} branch's weights are another function of q·kᵀ"
            return found.refuse(codes.PROOF, "scores", text, "softmax(scale · q·kᵀ)")
    told = [scale for scale in scales if scale is not None and not np.isnan(scale)]
    if not told:
        return 1.0 / float(np.sqrt(found.width))
    if max(told) - min(told) > masks.CLOSE * max(map(abs, told)):
        text = ", ".join(f"{scale:.6g}" for scale in told)
        return found.refuse(codes.PROOF, "scale", text, "one scale for all branches")
    return masks.rounded(told[0], found.width)


def _plans(
    found: Found, seen: Observed, options: dict[str, Any], spans: list[masks.Spans]
) -> Iterator[Plan]:
    picker = found.picker.options()
    top_k = picker["k"] if "k" in picker else picker["top_k"]
    blocks = value_shape(found.picker.operands[found.scored])[-1]
    for read in chosen(seen.weights[1] > 0, blocks):
        sizes = {**options, "block_size": read.size}
        for scores, span, array in _scores(found, seen, read, sizes, spans):
            rule = first_rule(read, array, top_k)
            if rule is not None:
                named = {"cmp_len": span[0], "cmp_stride": span[1]}
                told = {**sizes, **named, **vars(rule), "causal": True}
                yield Plan(found, {name: told[name] for name in CALL}, scores)


Scores = tuple[tuple[SSAValue, Shape] | None, masks.Spans, Array]


def _scores(
    found: Found,
    seen: Observed,
    read: Chosen,
    options: dict[str, Any],
    spans: list[masks.Spans],
) -> Iterator[Scores]:
    """Block scores by the kernel's formula, then those that the program computes."""
    q, kc, k = (seen.arrays[role] for role in ("q", "kc", "k"))
    for length, stride in spans:
        if length % stride or read.size % stride or found.roles.scores is not None:
            continue
        array = PRIMITIVES["nsa_block_scores"](
            q, kc, k, cmp_len=length, cmp_stride=stride,
            block_size=read.size, scale=options["scale"],
        )  # fmt: skip
        assert isinstance(array, np.ndarray)
        yield None, (length, stride), array
    *lead, heads, queries = read.blocks.shape[1:-1]
    blocks = read.blocks.shape[-1]
    for value, array in seen.scored.items():
        if array.shape[-1] != blocks:
            continue
        for held in dict.fromkeys((k.shape[-3], heads)):
            shape = (*lead, held, queries, blocks)
            if int(np.prod(shape)) * len(array) == array.size:
                yield (value, shape), spans[0], array.reshape(len(array), *shape)
