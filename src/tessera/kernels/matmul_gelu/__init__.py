"""`gelu(A B [+ bias])` in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from tessera.fusion.demands import matrices, one_float_type, row_vectors
from tessera.fusion.kernel import FusedKernel
from tessera.graph.algebra import Algebra
from tessera.graph.attributes import Bool, Word
from tessera.graph.ops.composite import GELUS
from tessera.kernels.matmul_gelu import cpu

V = TypeVar("V")


def meaning(g: Algebra[V], x: Mapping[str, V], o: Mapping[str, Any]) -> tuple[V, ...]:
    """What one call must equal."""
    h = g.matmul(x["x"], x["w"], transpose_b=o["transpose_b"])
    h = g.biased(h, x.get("bias"))
    return (g.apply("gelu", h, approximate=o["approximate"]),)


KERNEL = FusedKernel(
    name="matmul_gelu",
    kind="gelu",
    summary="gelu(A B [+ bias])",
    roles=("x", "w", "bias?"),
    options={"approximate": Word("none", GELUS), "transpose_b": Bool(False)},
    meaning=meaning,
    readings=({},),
    unfused={},
    demands=(matrices("x", "w"), one_float_type(), row_vectors("bias")),
    cpu=cpu.emit,
)
