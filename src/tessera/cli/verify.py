"""Comparing the results of a target with those of the reference."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tessera.artifact import Program, Step
from tessera.reference import Array, dtype_name, is_float

# Of the largest finite magnitude of the reference result.  Half precision rounds after
# every op on `cpu` and once per kernel elsewhere, so it may differ by a few roundings.
TOLERANCES = {"f64": 1e-9, "f32": 1e-4, "f16": 1e-2, "bf16": 8e-2}


@dataclass(frozen=True)
class Comparison:
    """One result against its reference; `error` and `scale` are absolute."""

    name: str
    error: float
    scale: float
    tolerance: float

    @property
    def within(self) -> bool:
        """Whether the error is at most the tolerance times the scale."""
        return self.error <= self.tolerance * self.scale

    def __str__(self) -> str:
        limit = f"{self.tolerance:g} of scale {self.scale:.3g}"
        return f"max error {self.error:.2e}, tolerance {limit if self.tolerance else 0}"


def tolerance(program: Program, dtype: str) -> float:
    """The relative tolerance for a result: that of the narrowest float on the way."""
    if dtype not in TOLERANCES:
        return 0.0
    found = {dtype, *(value.dtype for value in program.inputs)}
    found |= {dtype_name(array.dtype) for array in program.weights.values()}
    found |= set(_casts(program.steps))
    return max(TOLERANCES.get(name, 0.0) for name in found)


def _casts(steps: Iterable[Step]) -> Iterable[str]:
    for step in steps:
        yield str(step.attributes.get("dtype", ""))
        if step.call is not None:
            yield from _casts(step.call.expansion)


def compare(name: str, found: Array, wanted: Array, relative: float) -> Comparison:
    """The largest difference; infinite where shapes, types, NaN or infinities differ.

    The scale is the reference's largest finite magnitude, 1 when that is 0.
    """
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return Comparison(name, float("inf"), 1.0, relative)
    if not is_float(wanted.dtype):
        error = float(np.count_nonzero(found != wanted))
        return Comparison(name, error, 1.0, 0.0)
    a, b = found.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(b)
    same = np.array_equal(a[~finite], b[~finite], equal_nan=True)
    if not same or not np.isfinite(a[finite]).all():
        return Comparison(name, float("inf"), 1.0, relative)
    error = float(np.abs(a - b, where=finite, out=np.zeros_like(b)).max(initial=0.0))
    scale = float(np.abs(b[finite]).max(initial=0.0)) or 1.0
    return Comparison(name, error, scale, relative)
