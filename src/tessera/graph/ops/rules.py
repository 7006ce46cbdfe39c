"""Shape and element-type rules shared by graph ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.utils.exceptions import VerifyException

from tessera.diagnostics import Code, declare
from tessera.graph.operation import Options, malformed
from tessera.graph.types import (
    DYN,
    FLOATS,
    Shape,
    Tensor,
    broadcast_shapes,
    dtype_of,
    same_size,
    show,
    tensor,
)

BROADCAST = declare(
    "TSR-G005",
    "operand shapes do not broadcast",
    "Operands of elementwise ops and batch axes broadcast as in NumPy: sizes are equal or 1.",
    "error",
)
DTYPE = declare(
    "TSR-G006",
    "operand element types do not fit",
    "Operands share one element type, or are floats of which the wider is the result's; the "
    "op may ask for floats, integers or i1. Insert `tessera.cast`.",
    "error",
)
AXIS = declare(
    "TSR-G007",
    "an axis or size is out of range",
    "Axes count from 0 to rank - 1, or from -rank to -1.",
    "error",
)
CONTRACTION = declare(
    "TSR-G008",
    "contracted sizes differ",
    "The last size of `a` and the second last of `b` (after transposes) must be equal.",
    "error",
)
SHAPE = declare(
    "TSR-G009",
    "operand or result shapes do not fit the op",
    "The message names the sizes found and wanted.",
    "error",
)

Types = Sequence[Tensor]


def axis_of(axis: int, rank: int) -> int:
    """The axis counted from 0; VerifyException when out of range."""
    if not -rank <= axis < rank:
        raise malformed(AXIS, f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def promote(types: Types) -> str:
    """The element type of a result of `types`: equal, or the wider float."""
    names = {dtype_of(t) for t in types}
    if len(names) == 1:
        return names.pop()
    if names <= FLOATS:
        return "f64" if "f64" in names else "f32"
    raise malformed(DTYPE, f"element types differ: {', '.join(sorted(names))}")


def need_float(type: Tensor, what: str = "operand") -> None:
    """Refuse a tensor that does not hold floats."""
    if dtype_of(type) not in FLOATS:
        raise malformed(
            DTYPE, f"{what} has element type {dtype_of(type)}, wanted a float"
        )


def need_integer(type: Tensor, what: str) -> None:
    """Refuse a tensor that does not hold integers."""
    name = dtype_of(type)
    if name in FLOATS or name == "i1":
        raise malformed(DTYPE, f"{what} has element type {name}, wanted an integer")


def need_rank(type: Tensor, least: int, what: str) -> Shape:
    """The shape of a tensor of rank at least `least`."""
    shape = type.get_shape()
    if len(shape) < least:
        raise malformed(SHAPE, f"{what} has rank {len(shape)}, wanted at least {least}")
    return shape


def broadcast(*shapes: Shape) -> Shape:
    """NumPy's broadcast of shapes; VerifyException when they clash."""
    result: Shape = ()
    for shape in shapes:
        joined = broadcast_shapes(result, shape)
        if joined is None:
            text = f"shapes {show(result)} and {show(shape)} do not broadcast"
            raise malformed(BROADCAST, text)
        result = joined
    return result


def need_size(found: int, wanted: int, what: str, code: Code = SHAPE) -> int:
    """Refuse two known sizes that differ; the known one of the two."""
    if not same_size(found, wanted):
        raise malformed(code, f"{what}: {found} vs {wanted}")
    return wanted if found == DYN else found


def same_as_first(types: Types, options: Options, declared: Types) -> Types:
    """One operand in, the same type out."""
    return types[:1]


def float_unary(types: Types, options: Options, declared: Types) -> Types:
    """One float operand in, the same type out."""
    need_float(types[0])
    return types[:1]


def matmul_shape(a: Shape, b: Shape, transpose_a: bool, transpose_b: bool) -> Shape:
    """The shape of `a @ b`, ranks 1 included as in NumPy."""
    if min(len(a), len(b)) == 0:
        raise malformed(SHAPE, "operands of rank 0 have no contraction axis")
    # An operand of rank 1 is one row on the left, one column on the right.
    left = a if len(a) > 1 else (1, *a)
    right = b if len(b) > 1 else (*b, 1)
    rows, inner_a = left[-2:][::-1] if transpose_a and len(a) > 1 else left[-2:]
    inner_b, columns = right[-2:][::-1] if transpose_b and len(b) > 1 else right[-2:]
    if not same_size(inner_a, inner_b):
        raise malformed(CONTRACTION, f"contraction dims differ: {inner_a} vs {inner_b}")
    row = (rows,) if len(a) > 1 else ()
    column = (columns,) if len(b) > 1 else ()
    return (*broadcast(left[:-2], right[:-2]), *row, *column)


def result(dtype: str, shape: Shape) -> Types:
    """One result of that element type and shape."""
    return (tensor(dtype, shape),)


def need_declared(declared: Types) -> Tensor:
    """The result type of an op whose result type is free."""
    if not declared:
        raise VerifyException("a result type must be given")
    return declared[0]
