"""Tessera: a tensor compiler for Apple silicon that says what it fused and why."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tessera import ops
    from tessera.diagnostics import TesseraError
    from tessera.frontend.traced.places import scope
    from tessera.just_in_time import jit

__all__ = ["TesseraError", "jit", "ops", "scope"]

_HOMES = {
    "TesseraError": "tessera.diagnostics",
    "jit": "tessera.just_in_time",
    "scope": "tessera.frontend.traced.places",
}


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used; importing the package loads nothing."""
    if name == "ops":
        return importlib.import_module("tessera.ops")
    if name not in _HOMES:
        raise AttributeError(f"module 'tessera' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOMES[name]), name)
    return value
