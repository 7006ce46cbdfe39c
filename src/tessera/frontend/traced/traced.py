"""What a traced function works with: an array without elements, and its operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NoReturn

from tessera.diagnostics import TesseraError
from tessera.frontend.traced import elementwise, layout, reduction
from tessera.frontend.traced.codes import NUMPY, OPERAND, UNKNOWN
from tessera.frontend.traced.indexing import indexed
from tessera.frontend.traced.numpy_names import NUMPY_NAMES
from tessera.frontend.traced.places import here
from tessera.frontend.traced.symbol import Array, Operand, Symbol
from tessera.graph.types import FLOATS, show


def _unknown(what: str, remedy: str) -> TesseraError:
    text = f"{what} a traced value: its elements are not known while tracing"
    return TesseraError(UNKNOWN, text, here(), remedy)


class Traced(Symbol):
    """One array of the program being traced.  Operators record; nothing computes."""

    __slots__ = ()
    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __repr__(self) -> str:
        return f"<traced {self.element}[{show(self.shape)}]>"

    def __add__(self, other: Operand) -> Array:
        return elementwise.add(self, other)

    def __radd__(self, other: Operand) -> Array:
        return elementwise.add(other, self)

    def __sub__(self, other: Operand) -> Array:
        return elementwise.sub(self, other)

    def __rsub__(self, other: Operand) -> Array:
        return elementwise.sub(other, self)

    def __mul__(self, other: Operand) -> Array:
        return elementwise.mul(self, other)

    def __rmul__(self, other: Operand) -> Array:
        return elementwise.mul(other, self)

    def __truediv__(self, other: Operand) -> Array:
        return _true_divide(self, other)

    def __rtruediv__(self, other: Operand) -> Array:
        return _true_divide(other, self)

    def __floordiv__(self, other: Operand) -> Array:
        return _floor_divide(self, other)

    def __rfloordiv__(self, other: Operand) -> Array:
        return _floor_divide(other, self)

    def __mod__(self, other: Operand) -> Array:
        return elementwise.mod(self, other)

    def __rmod__(self, other: Operand) -> Array:
        return elementwise.mod(other, self)

    def __pow__(self, other: Operand) -> Array:
        return elementwise.pow(self, other)

    def __rpow__(self, other: Operand) -> Array:
        return elementwise.pow(other, self)

    def __matmul__(self, other: Operand) -> Array:
        return reduction.matmul(self, other)

    def __rmatmul__(self, other: Operand) -> Array:
        return reduction.matmul(other, self)

    def __neg__(self) -> Array:
        return elementwise.neg(self)

    def __pos__(self) -> Array:
        return self

    def __abs__(self) -> Array:
        return elementwise.abs(self)

    def __invert__(self) -> Array:
        return elementwise.not_(self)

    def __and__(self, other: Operand) -> Array:
        return elementwise.and_(self, other)

    def __rand__(self, other: Operand) -> Array:
        return elementwise.and_(other, self)

    def __or__(self, other: Operand) -> Array:
        return elementwise.or_(self, other)

    def __ror__(self, other: Operand) -> Array:
        return elementwise.or_(other, self)

    def __xor__(self, other: Operand) -> Array:
        return elementwise.xor(self, other)

    def __rxor__(self, other: Operand) -> Array:
        return elementwise.xor(other, self)

    def __eq__(self, other: Operand) -> Array:
        return elementwise.cmp(self, other, "eq")

    def __ne__(self, other: Operand) -> Array:
        return elementwise.cmp(self, other, "ne")

    def __lt__(self, other: Operand) -> Array:
        return elementwise.cmp(self, other, "lt")

    def __le__(self, other: Operand) -> Array:
        return elementwise.cmp(self, other, "le")

    def __gt__(self, other: Operand) -> Array:
        return elementwise.cmp(self, other, "gt")

    def __ge__(self, other: Operand) -> Array:
        return elementwise.cmp(self, other, "ge")

    def __getitem__(self, index: Any) -> Array:
        return indexed(self, index)

    def __setitem__(self, index: Any, value: Any) -> NoReturn:
        text = "cannot change elements of a traced value in place"
        remedy = "make a new one with tessera.ops.where, concat or scatter"
        raise TesseraError(UNKNOWN, text, here(), remedy)

    def __len__(self) -> int:
        if not self.shape:
            raise TesseraError(UNKNOWN, "len() of a value of rank 0", here())
        return self.shape[0]

    def __bool__(self) -> NoReturn:
        remedy = "choose elements with tessera.ops.where, or branch on a Python value"
        raise _unknown("`if`, `while`, `and`, `not` or bool() on", remedy)

    def __float__(self) -> NoReturn:
        raise _unknown("float() of", "keep it an array, or pass a Python number")

    def __int__(self) -> NoReturn:
        raise _unknown("int() of", "keep it an array, or pass a Python number")

    def __complex__(self) -> NoReturn:
        raise _unknown("complex() of", "keep it an array, or pass a Python number")

    def __index__(self) -> NoReturn:
        remedy = "pass a Python integer, or use tessera.ops.gather"
        raise _unknown("a size, an index or range() from", remedy)

    def __iter__(self) -> Iterator[Array]:
        remedy = "use x[i], slices or tessera.ops.split"
        raise _unknown("a loop over, or unpacking of,", remedy)

    def __contains__(self, item: object) -> NoReturn:
        raise _unknown("`in` on", "use tessera.ops.reduce_any(x == item)")

    def __array__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise _unknown("a NumPy array of", "use the ops of tessera.ops on it")

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any
    ) -> Array:
        """`array + traced` records; a function of NumPy's is an error naming the op."""
        name: str = ufunc.__name__
        if name in _OPERATOR and method == "__call__" and not kwargs:
            return _OPERATOR[name](*inputs)
        if "out" in kwargs:
            text = f"numpy.{name} cannot write a traced value into an array in place"
            raise TesseraError(NUMPY, text, here(), "write `a = a + x`, not `a += x`")
        raise _numpy(name if method == "__call__" else f"{name}.{method}")

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> NoReturn:
        """A function of NumPy's is an error naming the op."""
        raise _numpy(function.__name__)

    @property
    def T(self) -> Array:
        """The axes in reverse order."""
        return layout.transpose(self)

    @property
    def mT(self) -> Array:
        """The last two axes exchanged."""
        return layout.swapaxes(self, -1, -2)

    def reshape(self, *shape: Any) -> Array:
        """As `tessera.ops.reshape`."""
        return layout.reshape(self, *shape)

    def transpose(self, *axes: Any) -> Array:
        """The axes in that order, or reversed."""
        given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return layout.transpose(self, given or None)

    def swapaxes(self, a: int, b: int) -> Array:
        """Two axes exchanged."""
        return layout.swapaxes(self, a, b)

    def astype(self, dtype: Any) -> Array:
        """As `tessera.ops.cast`."""
        return layout.cast(self, dtype)

    def ravel(self) -> Array:
        """All elements on one axis."""
        return layout.reshape(self, -1)

    flatten = ravel

    def squeeze(self, axis: int | Sequence[int] | None = None) -> Array:
        """Without axes of size 1."""
        return layout.squeeze(self, axis)

    def copy(self) -> Array:
        """Itself: a traced value is never changed."""
        return self

    def sum(self, axis: reduction.Axes = None, keepdims: bool = False) -> Array:
        """The sum along axes."""
        return reduction.reduce_sum(self, axis, keepdims)

    def mean(self, axis: reduction.Axes = None, keepdims: bool = False) -> Array:
        """The mean along axes."""
        return reduction.reduce_mean(self, axis, keepdims)

    def max(self, axis: reduction.Axes = None, keepdims: bool = False) -> Array:
        """The largest along axes."""
        return reduction.reduce_max(self, axis, keepdims)

    def min(self, axis: reduction.Axes = None, keepdims: bool = False) -> Array:
        """The smallest along axes."""
        return reduction.amin(self, axis, keepdims)

    def any(self, axis: reduction.Axes = None, keepdims: bool = False) -> Array:
        """Whether any element holds along axes."""
        return reduction.reduce_any(self, axis, keepdims)

    def argmax(self, axis: int = -1, keepdims: bool = False) -> Array:
        """The index of the first largest along an axis (the last, unlike NumPy)."""
        return reduction.argmax(self, axis, keepdims)

    def item(self) -> NoReturn:
        """An error: there are no elements."""
        raise _unknown("item() of", "keep it an array, or pass a Python number")

    def tolist(self) -> NoReturn:
        """An error: there are no elements."""
        raise _unknown("tolist() of", "keep it an array")


def _is_float(value: Operand) -> bool:
    return not isinstance(value, Symbol) or value.element in FLOATS


def _true_divide(a: Operand, b: Operand) -> Array:
    if not (_is_float(a) and _is_float(b)):
        name = next(v.element for v in (a, b) if not _is_float(v))
        text = f"`/` on {name}: the quotient of integers is no integer"
        remedy = "use // or tessera.ops.div to truncate, or cast to a float type first"
        raise TesseraError(OPERAND, text, here(), remedy)
    return elementwise.div(a, b)


def _floor_divide(a: Operand, b: Operand) -> Array:
    if _is_float(a) and _is_float(b):
        return elementwise.floor(elementwise.div(a, b))
    return elementwise.div(elementwise.sub(a, elementwise.mod(a, b)), b)


def _numpy(name: str) -> TesseraError:
    text = (
        f"numpy.{name} on a traced value: NumPy computes on elements it does not have"
    )
    op = NUMPY_NAMES.get(name)
    remedy = f"use tessera.ops.{op}" if op else "use the ops of tessera.ops"
    return TesseraError(NUMPY, text, here(), remedy)


_OPERATOR: dict[str, Any] = {
    "add": elementwise.add,
    "subtract": elementwise.sub,
    "multiply": elementwise.mul,
    "divide": _true_divide,
    "floor_divide": _floor_divide,
    "remainder": elementwise.mod,
    "power": elementwise.pow,
    "matmul": reduction.matmul,
    "bitwise_and": elementwise.and_,
    "bitwise_or": elementwise.or_,
    "bitwise_xor": elementwise.xor,
    "equal": partial(elementwise.cmp, kind="eq"),
    "not_equal": partial(elementwise.cmp, kind="ne"),
    "less": partial(elementwise.cmp, kind="lt"),
    "less_equal": partial(elementwise.cmp, kind="le"),
    "greater": partial(elementwise.cmp, kind="gt"),
    "greater_equal": partial(elementwise.cmp, kind="ge"),
}
