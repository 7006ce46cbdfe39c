"""Loads an artifact, binds buffers, launches, times. Knows no compiler room."""

from tessera.runtime.executors import EXECUTORS, Executor, find_executor
from tessera.runtime.native import host_features
from tessera.runtime.steps import execute, placements, step_placement

__all__ = [
    "EXECUTORS",
    "Executor",
    "execute",
    "find_executor",
    "host_features",
    "placements",
    "step_placement",
]
