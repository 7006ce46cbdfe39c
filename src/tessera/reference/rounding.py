"""How a meaning treats element types: f16 and bf16 compute in f32, one rounding.

Every primitive is wrapped by `exact` (it moves values and does no arithmetic) or by
`wide` (it computes). Operands are positional and become arrays, attributes are
keywords. Inside a `wide` function no f16 or bf16 array is left, so meanings may call
each other without rounding in between. IEEE results (inf, NaN) are values, not
warnings.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tessera.reference.dtypes import is_float, is_narrow

Array = npt.NDArray[Any]
Results = Array | tuple[Array, ...]
F = TypeVar("F", bound=Callable[..., Results])


def _as_arrays(result: Any) -> Results:
    if isinstance(result, tuple):
        items = cast("tuple[Any, ...]", result)
        return tuple(np.asarray(item) for item in items)
    return np.asarray(result)


def _operand(value: Any) -> Array | None:
    return None if value is None else np.asarray(value)


def widened(value: Array) -> Array:
    """f16 and bf16 become f32; every other type is left alone."""
    return value.astype(np.float32) if is_narrow(value.dtype) else value


def promoted(operands: Sequence[Array | None]) -> np.dtype[Any] | None:
    """The wider of the float operands (f32 of f16 with bf16), None without floats."""
    floats = {a.dtype for a in operands if a is not None and is_float(a.dtype)}
    if len(floats) < 2:
        return floats.pop() if floats else None
    return np.dtype(np.float64 if np.dtype(np.float64) in floats else np.float32)


def _rounded(value: Array, target: np.dtype[Any]) -> Array:
    return value.astype(target, copy=False) if is_float(value.dtype) else value


def exact(fn: F) -> F:
    """A meaning without arithmetic: arrays in, arrays out, dtypes untouched."""

    @functools.wraps(fn)
    def run(*operands: Any, **attributes: Any) -> Results:
        with np.errstate(all="ignore"):
            return _as_arrays(fn(*map(_operand, operands), **attributes))

    return cast(F, run)


def wide(fn: F, *, follow: int | None = None) -> F:
    """A meaning that computes: f16 and bf16 operands in f32, results rounded once.

    The result type is the promotion of the float operands, of the first `follow`
    operands only when that is given: an additive mask does not widen attention, a
    weight does not widen a norm.
    """

    @functools.wraps(fn)
    def run(*operands: Any, **attributes: Any) -> Results:
        arrays = [_operand(value) for value in operands]
        target = promoted(arrays[:follow])
        wider = [None if a is None else widened(a) for a in arrays]
        keywords = {name: _keyword(value) for name, value in attributes.items()}
        with np.errstate(all="ignore"):
            result = _as_arrays(fn(*wider, **keywords))
            if target is None:
                return result
            if isinstance(result, tuple):
                return tuple(_rounded(item, target) for item in result)
            return _rounded(result, target)

    return cast(F, run)


def _keyword(value: Any) -> Any:
    """An attribute as it is, an operand passed by name widened."""
    return widened(cast(Array, value)) if isinstance(value, np.ndarray) else value


def wide_following(count: int) -> Callable[[F], F]:
    """`wide` whose result type is that of the first `count` operands."""
    return functools.partial(wide, follow=count)


def axis_in(axis: int, rank: int, what: str) -> int:
    """`axis` counted from the front; ValueError when the rank has no such axis."""
    if not -rank <= axis < rank:
        raise ValueError(f"{what}: axis = {axis}, wanted {-rank} <= axis < {rank}")
    return axis % rank
