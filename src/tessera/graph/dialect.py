"""The `tessera` dialect: every graph op, and the weight handle."""

from __future__ import annotations

from xdsl.ir import Dialect

from tessera.graph.operation import GraphOp
from tessera.graph.ops.composite import COMPOSITE
from tessera.graph.ops.elementwise import ELEMENTWISE
from tessera.graph.ops.latent import LATENT
from tessera.graph.ops.layout import LAYOUT
from tessera.graph.ops.reduction import REDUCTION
from tessera.graph.ops.sparse import SPARSE
from tessera.graph.weights import WeightAttr

OPS: dict[str, type[GraphOp]] = {
    op.short(): op
    for op in (*LAYOUT, *ELEMENTWISE, *REDUCTION, *COMPOSITE, *LATENT, *SPARSE)
}
Tessera = Dialect("tessera", list(OPS.values()), [WeightAttr])
