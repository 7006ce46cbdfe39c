"""What repeated measurements say: medians, quartiles, growth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """Median and quartiles."""

    low: float
    median: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """The spread of some values."""
        low, median, high = np.percentile(values, (25, 50, 75)).tolist()
        return cls(low, median, high)


def ratios(values: Sequence[float], base: Sequence[float]) -> Spread:
    """How often the base fits into the values, round by round."""
    return Spread.of([a / b for a, b in zip(values, base, strict=True)])


def growth(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The exponent p of seconds = c * size ** p, fitted to logarithms."""
    slope, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    return float(slope)
