"""Loads an artifact, binds buffers, launches, times. Knows no compiler room."""

from tessera.runtime.execute import execute, placements, step_placement
from tessera.runtime.executors import EXECUTORS, Executor, find_executor

__all__ = [
    "EXECUTORS",
    "Executor",
    "execute",
    "find_executor",
    "placements",
    "step_placement",
]
