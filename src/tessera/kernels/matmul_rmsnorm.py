"""`h = A B [+ bias] [+ r]; y = h · rsqrt(mean(h²) + eps) · w` in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tessera.diagnostics import declare
from tessera.fusion.demands import matrices, one_float_type, row_vectors
from tessera.fusion.kernel import Binding, Demand, FusedKernel, Objection
from tessera.graph.algebra import Algebra
from tessera.graph.attributes import Bool, Float, Int

V = TypeVar("V")

EPS = declare(
    "TSR-K301",
    "matmul_rmsnorm: eps is not a number at or above zero",
    "eps is added to the mean of squares inside the root; a negative one can make the root of "
    "a negative number.",
)


def meaning(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> tuple[V, ...]:
    """What one call must equal; the second result is the norm's input, rounded."""
    h = g.matmul(x["x"], x["w"], transpose_b=o["transpose_b"])
    h = g.headed(g.biased(h, x.get("bias")), o["head_dim"])
    h = g.shared("h", g.added(h, x.get("residual")))
    weight = x.get("weight")
    operands = (h,) if weight is None else (h, weight)
    options = {"eps": o["eps"], "weight_offset": o["weight_offset"]}
    return g.apply("rmsnorm", *operands, **options), h


def _eps_is_sane(b: Binding) -> Objection | None:
    if b.options["eps"] >= 0.0:
        return None
    return Objection(f"eps = {b.options['eps']}", "eps >= 0")


KERNEL = FusedKernel(
    name="matmul_rmsnorm",
    kind="rmsnorm",
    summary="rmsnorm(A B [+ bias] [+ residual]) · weight, the sum also a result",
    roles=("x", "w", "bias?", "residual?", "weight?"),
    results=("out", "h?"),
    options={
        "eps": Float(1e-5),
        "weight_offset": Float(0.0),
        "head_dim": Int(None),
        "transpose_b": Bool(False),
    },
    meaning=meaning,
    readings=({},),
    unfused={},
    demands=(
        matrices("x", "w"),
        one_float_type(),
        row_vectors("bias", "weight"),
        Demand(EPS, "eps", _eps_is_sane),
    ),
    seen_at=1,
)
