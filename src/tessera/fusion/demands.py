"""Demands that several kernels share, and the codes they report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from tessera.diagnostics import Code
from tessera.fusion import codes
from tessera.fusion.kernel import FLOATS, Binding, Demand, Objection
from tessera.graph.types import (
    Shape,
    broadcast_shapes,
    same_size,
    show,
    value_dtype,
    value_shape,
)

Check = Callable[[Binding], Objection | None]


def one_float_type(*free: str) -> Demand:
    """All operands hold one of f32, f16, bf16; `free` roles may also be i1."""

    def check(b: Binding) -> Objection | None:
        found: dict[str, str] = {}
        for role, value in b.operands.items():
            dtype = value_dtype(value)
            if role not in free or dtype != "i1":
                found[role] = dtype
        names = set(found.values())
        if len(names) == 1 and names <= set(FLOATS):
            return None
        wanted = "one of " + ", ".join(FLOATS) + " for all"
        if len(names) == 1:
            return Objection(names.pop(), wanted)
        text = ", ".join(f"{role} {dtype}" for role, dtype in found.items())
        return Objection(text, wanted, "cast the operands to one type before the chain")

    return Demand(codes.DTYPE, "element type", check)


def matrices(*roles: str) -> Demand:
    """The named operands have at least two axes."""

    def check(b: Binding) -> Objection | None:
        for role in roles:
            if role in b.operands and len(value_shape(b.operands[role])) < 2:
                found = f"{role} of {show(value_shape(b.operands[role]))}"
                return Objection(found, "at least 2 axes")
        return None

    return Demand(codes.RANK, "rank", check)


def row_vectors(*roles: str) -> Demand:
    """The named operands hold one value a column: [N] or [1, …, N]."""

    def check(b: Binding) -> Objection | None:
        for role in roles:
            if role not in b.operands:
                continue
            shape = value_shape(b.operands[role])
            if not shape or set(shape[:-1]) - {1}:
                return Objection(f"{role} of {show(shape)}", "one value a column")
        return None

    return Demand(codes.OPERAND_SHAPE, "operand shape", check)


def plain_matrix(*roles: str) -> Demand:
    """The named operands are matrices, shared by all rows of x."""

    def check(b: Binding) -> Objection | None:
        for role in roles:
            if role in b.operands and len(value_shape(b.operands[role])) != 2:
                return Objection(
                    f"{role} of {show(value_shape(b.operands[role]))}", "a matrix"
                )
        return None

    return Demand(codes.OPERAND_SHAPE, "operand shape", check)


def fits_scores(mask: Shape, scores: Shape) -> Objection | None:
    """Whether a mask broadcasts to the scores without widening them."""
    joined = broadcast_shapes(mask, scores)
    within = joined is not None and len(mask) <= len(scores)
    if within and all(map(same_size, joined or (), scores)):
        return None
    return Objection(
        f"a mask of {show(mask)}", f"one that broadcasts to {show(scores)}"
    )


def positive(code: Code, option: str) -> Demand:
    """An option is absent or above zero."""

    def check(b: Binding) -> Objection | None:
        value = b.options.get(option)
        if value is None or value > 0:
            return None
        wanted = "a value above 0, or none"
        return Objection(f"{option} = {value}", wanted, f"leave {option} out for none")

    return Demand(code, option, check)


def shapes(b: Binding, roles: Sequence[str]) -> list[Shape]:
    """The shapes of operands by role."""
    return [value_shape(b.operands[role]) for role in roles]


def last_two(value: SSAValue, transposed: bool) -> tuple[int, int]:
    """Rows and columns of a matrix operand as the product reads it."""
    shape = value_shape(value)
    return (shape[-1], shape[-2]) if transposed else (shape[-2], shape[-1])
