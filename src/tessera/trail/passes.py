"""Which pass decided a site: the one that made its call, or the one that declined it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import Operation

from tessera.catalog import CONSUME, LOWER, RAISE_COMPOSITES
from tessera.diagnostics import Refusal
from tessera.fusion.raise_composite import RaiseComposite
from tessera.target.fuse import FuseKernel


@dataclass(frozen=True)
class Objection:
    """Why a site was not taken.

    `nearest` is the kernel that came closest and `members` the ops it read; `intent` the
    kernel that a contradicted intent names; `raised` when a raising pass declined.
    """

    refusal: Refusal
    nearest: str | None = None
    members: tuple[Operation, ...] = ()
    intent: str | None = None
    raised: bool = False


@dataclass(frozen=True)
class Passes:
    """The passes of one target that decide: by kernel, and the one that lowers the rest."""

    target: str
    fusing: Mapping[str, str]
    raising: Mapping[str, str]
    lowering: str

    @classmethod
    def of(cls, target: str) -> Passes:
        """The passes that the catalog lists for a target."""
        fusing = [p for p in CONSUME.get(target, ()) if issubclass(p, FuseKernel)]
        raising = [p for p in RAISE_COMPOSITES if issubclass(p, RaiseComposite)]
        return cls(
            target,
            {p.kernel.name: p.name for p in fusing},
            {p.kernel.name: p.name for p in raising},
            LOWER[target].name if target in LOWER else "",
        )

    def fuses(self, kernel: str) -> str:
        """The pass that makes calls of a kernel."""
        return self.fusing[kernel]

    def refuses(self, objection: Objection) -> str:
        """The pass that declined a site; what no kernel's pass looks at is lowered."""
        name = objection.intent or objection.nearest or ""
        passes = self.raising if objection.raised else self.fusing
        return passes.get(name, self.lowering)
