"""Reading the constants of a graph: their arrays, names, and single values."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import FLOATS, value_dtype
from tessera.graph.weights import WeightAttr


def weight_key(value: SSAValue) -> str:
    """The name of the weight a constant holds, or nothing."""
    owner = value.owner
    if not isinstance(owner, ConstOp):
        return ""
    held = owner.attributes["value"]
    return held.data.key if isinstance(held, WeightAttr) else ""


def constant_of(value: SSAValue) -> np.ndarray | None:
    """The array of a constant's result, or None when its values are not known."""
    owner = value.owner
    if not isinstance(owner, ConstOp):
        return None
    held = owner.attributes["value"]
    if isinstance(held, WeightAttr) and held.data.array is None:
        return None
    return owner.array


def uniform(value: SSAValue) -> float | bool | int | None:
    """The one value that all elements of a constant have, sign of zero included."""
    array = constant_of(value)
    if array is None or not array.size:
        return None
    first: Any = array.flat[0]
    if array.size > 1 and not bool(np.all(array == first)):
        return None
    if array.size > 1 and first == 0 and np.any(np.signbit(array) != np.signbit(first)):
        return None
    name = value_dtype(value)
    if name in FLOATS:
        return float(first)
    return bool(first) if name == "i1" else int(first)
