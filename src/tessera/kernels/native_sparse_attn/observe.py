"""What three branches do on sample inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from xdsl.ir import SSAValue

from tessera.diagnostics import Code, Refusal
from tessera.fusion.draft import Draft
from tessera.graph.operation import GraphOp
from tessera.graph.ops.reduction import TopkOp
from tessera.graph.sampling import Array, ops_between, sample
from tessera.graph.types import value_shape
from tessera.kernels.native_sparse_attn.branches import Branch, chooser
from tessera.kernels.native_sparse_attn.roles import ORDER, Roles
from tessera.kernels.native_sparse_attn.sums import Term
from tessera.kernels.native_sparse_attn.views import float_sources

ROWS, SAMPLES = 4096, 16


@dataclass(frozen=True)
class Found:
    """The branches and operands of one sum, in the order compressed, selected, window."""

    root: GraphOp
    terms: tuple[Term, Term, Term]
    branches: tuple[Branch, Branch, Branch]
    roles: Roles

    def refuse(self, code: Code, predicate: str, found: str, wanted: str) -> Refusal:
        """A refusal at the sum."""
        return Draft(self.root).refuse(code, predicate, found, wanted)

    @property
    def width(self) -> int:
        """The size of a head of q."""
        return self.roles.sources["q"].shape[-1]

    @property
    def picker(self) -> GraphOp:
        """The op that selects blocks."""
        op = chooser(self.branches[1])
        assert op is not None
        return op

    @property
    def scored(self) -> int:
        """Which operand of the picker holds the scores."""
        return 0 if isinstance(self.picker, TopkOp) else 3

    @property
    def weights_size(self) -> int:
        """How many weights the selected branch gives."""
        return math.prod(self.branches[1].rows)

    @property
    def score_values(self) -> list[SSAValue]:
        """Values that may be the block scores, those before any forcing first."""
        at = self.picker.operands[self.scored]
        queries = self.branches[1].rows[1]
        shapes = {value: value_shape(value) for value in float_sources(at)}
        return [v for v, s in shapes.items() if len(s) > 2 and s[-2] == queries][::-1]


def closed(found: Found) -> Found:
    """With the block scores as an operand, where they follow from more than the roles."""
    outputs = found.root.results
    if not ops_between(outputs, found.roles.values)[1]:
        return found
    for value in found.score_values:
        roles = replace(found.roles, scores=value)
        if not ops_between(outputs, roles.values)[1]:
            return replace(found, roles=roles)
    return found


@dataclass(frozen=True)
class Observed:
    """What the branches did on samples; every array has an axis of samples in front."""

    arrays: dict[str, Array]
    weights: tuple[Array, Array, Array]
    products: tuple[Array, Array, Array]
    scored: dict[SSAValue, Array]

    def flat(self, index: int) -> Array:
        """A branch's weights [N, Sq, Sk], samples, batches and heads as one axis."""
        weights = self.weights[index]
        return weights.reshape(-1, *weights.shape[-2:])


def observe(found: Found) -> Observed:
    """Run the three branches on samples."""
    count, queries, _ = found.branches[0].rows
    number = min(SAMPLES, max(1, ROWS // max(1, count * queries)))
    scores = found.score_values
    wanted = [value for b in found.branches for value in b.read] + scores
    draws = [found.roles.draw(seed) for seed in range(number)]
    runs = [sample(wanted, draw.values) for draw in draws]
    weights: list[Array] = []
    start = 0
    lead = found.roles.sources["q"].shape[:-2]
    for b in found.branches:
        ends = start + len(b.read)
        made = np.stack([b.weights(run[start:ends]) for run in runs])
        weights.append(made.reshape(number, *lead, *made.shape[-2:]))
        start = ends
    coarse, fine = (np.stack([d.scores(k) for d in draws]) for k in ("kc", "k"))
    arrays = {role: np.stack([d.arrays[role] for d in draws]) for role in ORDER}
    scored = {
        value: np.stack([run[start + i] for run in runs])
        for i, value in enumerate(scores)
    }
    return Observed(arrays, _three(weights), (coarse, fine, fine), scored)


def _three(items: Sequence[Array]) -> tuple[Array, Array, Array]:
    first, second, third = items
    return first, second, third
