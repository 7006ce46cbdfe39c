"""Loads an artifact, binds buffers, launches, times. Knows no compiler room."""

from tessera.runtime.executors import EXECUTORS, Executor, find_executor
from tessera.runtime.steps import execute, placements, step_placement

__all__ = [
    "EXECUTORS",
    "Executor",
    "execute",
    "find_executor",
    "placements",
    "step_placement",
]
