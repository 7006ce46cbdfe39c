"""The one product every kernel is built from: a tile of registers.

`rows` are broadcast operands read straight from memory, `columns` adjacent vectors.
"""

from __future__ import annotations

from collections.abc import Sequence

from tessera.codegen.cpu.builder import Builder, Int, Num, Reg, Var

Block = list[list[Reg]]


def tile(
    b: Builder,
    rows: Sequence[Reg],
    row_step: Int,
    columns: Reg,
    column_step: Int,
    depth: Int,
    start: Sequence[Sequence[Num]],
    unroll: int = 2,
) -> Block:
    """`start[r][v] + Σ_k rows[r][k] * columns[k][v]`, f32.

    Steps are the bytes from k to k + 1; `start` has a list of vectors for each row.
    """
    sums = [[b.var(b.floats, value) for value in row] for row in start]
    whole = b.index(depth) & -unroll
    with b.loop(0, whole, unroll) as k:
        for extra in range(unroll):
            _step(b, rows, row_step, columns, column_step, k, extra, sums)
    with b.loop(whole, depth) as k:
        _step(b, rows, row_step, columns, column_step, k, 0, sums)
    return [[place.get() for place in row] for row in sums]


def _step(
    b: Builder,
    rows: Sequence[Reg],
    row_step: Int,
    columns: Reg,
    column_step: Int,
    k: Reg,
    extra: int,
    sums: Sequence[Sequence[Var]],
) -> None:
    """One k of the sum."""
    place = b.at(columns, k * column_step)
    further = column_step * extra
    offsets = [further + v * b.width * 4 for v in range(len(sums[0]))]
    vectors = [b.load(b.floats, place, offset) for offset in offsets]
    for row, places in zip(rows, sums, strict=True):
        near = b.at(row, k * row_step)
        factor = b.spread(b.load("float", near, row_step * extra))
        for value, total in zip(vectors, places, strict=True):
            total.set(b.fma(factor, value, total.get()))


def bounded_rows(
    b: Builder, base: Reg, first: Reg, count: int, step: Int, last: Int
) -> list[Reg]:
    """Addresses of `count` rows from `first` on; those past `last` repeat it."""
    return [
        b.at(base, b.index(b.smallest(first + r, last)) * step) for r in range(count)
    ]
