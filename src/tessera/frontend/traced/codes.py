"""What can be wrong with a Python program that is traced or run eagerly."""

from __future__ import annotations

from tessera.diagnostics import declare

OPERAND = declare(
    "TSR-I101",
    "an operand is not something ops work on",
    "Ops of `tessera.ops` take traced values, NumPy arrays and numbers. Turn lists and "
    "arrays of other libraries into NumPy arrays first (`numpy.asarray`).",
    "error",
)
MIXED = declare(
    "TSR-I102",
    "operands of different element types",
    "Products (matmul, attention, MLPs) take one element type; elementwise ops also "
    "widen one float type to another, as NumPy does, and a Python number takes the "
    "type of the array beside it. Anything else is said with "
    "`tessera.ops.cast(x, dtype)`: no array is copied into another type unasked.",
    "error",
)
UNKNOWN = declare(
    "TSR-I103",
    "a value is needed that is not known while tracing",
    "A traced function runs once per signature, on stand-ins that have a shape and an "
    "element type but no elements. `if`, `while`, `float()`, `int()` and `for` on them "
    "cannot work: use `tessera.ops.where`, slices, or pass the number as a Python "
    "scalar, which is part of the signature.",
    "error",
)
NUMPY = declare(
    "TSR-I104",
    "a NumPy function was called on a traced value",
    "NumPy computes on elements, which a traced value does not have. The message names "
    "the op of `tessera.ops` that does the same.",
    "error",
)
ARGUMENT = declare(
    "TSR-I105",
    "an argument or result cannot be part of a traced program",
    "Arguments are NumPy arrays, numbers, other hashable values, and lists, tuples and "
    "dicts of them. Results are arrays, numbers, and the same containers.",
    "error",
)
ESCAPED = declare(
    "TSR-I106",
    "a traced value was used outside the call that made it",
    "A traced value stands for an array of one call. Do not keep it in a global, a "
    "closure or an attribute; return it instead.",
    "error",
)
INDEX = declare(
    "TSR-I107",
    "an index is out of range or of a kind that is not traced",
    "Traced values take integers, slices, `...`, `None` and one array of integers as "
    "an index. `tessera.ops.gather_nd` and `where` cover index tuples and masks.",
    "error",
)
OPTION = declare(
    "TSR-I108",
    "an option of an op holds something else than it takes",
    "Options (axis, eps, scale, …) are plain Python values, known while tracing.",
    "error",
)
