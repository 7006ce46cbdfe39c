"""The targets: what each is called and which call it launches with; differences are data."""

from __future__ import annotations

from dataclasses import dataclass

from tessera.diagnostics import TesseraError, declare
from tessera.target.dialect import CallOp, CpuCallOp, GpuCallOp

UNKNOWN_TARGET = declare(
    "TSR-T003",
    "there is no such target",
    "Targets are apple_gpu, apple_cpu, and cpu (the reference: op by op in NumPy).",
    "error",
)


@dataclass(frozen=True)
class Target:
    """One target.  `consumes_intents`: whether stamping makes sense for it; `native`:
    whether its calls get machine code of the host.
    """

    name: str
    consumes_intents: bool
    call: type[CallOp] = CallOp
    device: str = ""
    native: bool = False

    def symbol(self, op: str, dtype: str) -> str:
        """The stable entry symbol of an op or kernel."""
        return f"tessera_{self.name}_{op}_{dtype}"


TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Target("apple_gpu", True, GpuCallOp, "Apple GPU"),
        Target("apple_cpu", True, CpuCallOp, "host CPU", native=True),
        Target("cpu", False, device="host CPU, op by op"),
    )
}


def find_target(name: str) -> Target:
    """The target of that name; TesseraError when there is none."""
    if name not in TARGETS:
        known = ", ".join(TARGETS)
        raise TesseraError(
            UNKNOWN_TARGET, f"no target '{name}'", remedy=f"choose one of {known}"
        )
    return TARGETS[name]
