"""Narrow and wide floats in memory, transposed blocks, tables of rows.

Arithmetic is in f32.  f16 is LLVM's half; bf16 is the upper half of an f32 and is
rounded by integer arithmetic, to nearest even, so that no library call is needed.
"""

from __future__ import annotations

from collections.abc import Sequence

from tessera.codegen.cpu.builder import INDEX, POINTER, Builder, Int, Reg, vector

SIZES = {"f32": 4, "f16": 2, "bf16": 2, "i1": 1}
_STORED = {"f32": "float", "f16": "half", "bf16": "i16", "i1": "i8"}


def load_wide(b: Builder, dtype: str, address: Reg, offset: Int, lanes: int) -> Reg:
    """`lanes` adjacent elements as f32 (a scalar for 1); i1 gives 0 or 1."""
    raw_type = _STORED[dtype] if lanes == 1 else vector(lanes, _STORED[dtype])
    type = "float" if lanes == 1 else vector(lanes, "float")
    whole = type.replace("float", "i32")
    raw = b.load(raw_type, address, offset, SIZES[dtype])
    match dtype:
        case "f32":
            return raw
        case "f16":
            return b.convert("fpext", raw, type)
        case "bf16":
            shifted = b.binary("shl", b.convert("zext", raw, whole), 16)
            return b.convert("bitcast", shifted, type)
        case _:
            return b.convert("uitofp", raw, type)


def store_narrow(b: Builder, dtype: str, value: Reg, address: Reg, offset: Int) -> None:
    """Round an f32 scalar or vector once and store it."""
    type = value.type.replace("float", _STORED[dtype])
    match dtype:
        case "f16":
            value = b.convert("fptrunc", value, type)
        case "bf16":
            value = b.convert("trunc", _rounded_bits(b, value), type)
        case _:
            pass
    b.store(value, address, offset, SIZES[dtype])


def _rounded_bits(b: Builder, value: Reg) -> Reg:
    """The upper half of an f32 in the lower bits, rounded to nearest even."""
    bits = b.convert("bitcast", value, value.type.replace("float", "i32"))
    upper = b.binary("lshr", bits, 16)
    rounded = b.binary("lshr", bits + ((upper & 1) + 0x7FFF), 16)
    return b.select(b.compare("uno", value, value), upper | 0x40, rounded)


def transpose(b: Builder, rows: Sequence[Reg]) -> list[Reg]:
    """A square block: lane i of result j is lane j of row i."""
    width, found, step = len(rows), list(rows), 1
    while step < width:
        for low in (i for i in range(width) if not i & step):
            high = low + step
            first = [k if not k & step else width + k - step for k in range(width)]
            second = [k + step if not k & step else width + k for k in range(width)]
            pair = found[low], found[high]
            found[low] = b.shuffle(*pair, first)
            found[high] = b.shuffle(*pair, second)
        step *= 2
    return found


class Table:
    """Addresses, or numbers, by lane: 8 bytes each, in scratch memory."""

    def __init__(self, b: Builder, place: Reg, type: str = POINTER) -> None:
        self.b, self.place, self.type = b, place, type

    def put(self, index: Int, value: Reg) -> None:
        self.b.store(value, self.place, index * 8, 8)

    def get(self, index: Int) -> Reg:
        return self.b.load(self.type, self.place, index * 8, 8)


def gather_columns(
    b: Builder,
    rows: Table,
    lanes: int,
    dtype: str,
    depth: Int,
    step: Reg,
    to: Reg,
    factor: Reg | None = None,
    skip: Int = 0,
) -> None:
    """Write element k of each of `lanes` rows to `to[k][lane]`, f32, times `factor`.

    `lanes` is a multiple of the vector width.  `step` is the distance of a row's
    elements, `skip` that of its first; adjacent ones are read as vectors and transposed
    in registers.
    """
    many = None if factor is None else b.spread(factor)
    width, size = b.width, SIZES[dtype]
    adjacent = b.compare("eq", step, size)
    done = b.var(INDEX, 0)
    with b.when(adjacent):
        whole = b.index(depth) & -width
        done.set(whole)
        with b.loop(0, whole, width) as k, b.loop(0, lanes, width) as lane:
            block = [
                load_wide(b, dtype, rows.get(lane + i), k * size + skip, width)
                for i in range(width)
            ]
            place = b.at(to, (k * lanes + lane) * 4)
            for i, column in enumerate(transpose(b, block)):
                column = column if many is None else column * many
                b.store(column, place, i * lanes * 4)
    with b.loop(0, lanes) as lane:
        row = b.at(rows.get(lane), skip)
        with b.loop(done.get(), depth) as k:
            value = load_wide(b, dtype, row, k * step, 1)
            if factor is not None:
                value = value * factor
            b.store(value, to, (k * lanes + lane) * 4)


def scatter_columns(
    b: Builder, rows: Table, count: Int, lanes: int, dtype: str, depth: Int, source: Reg
) -> None:
    """Write `source[k][lane]` to element k of the first `count` of `lanes` rows."""
    width, size = b.width, SIZES[dtype]
    whole = b.index(depth) & -width
    with b.loop(0, whole, width) as k, b.loop(0, count, width) as lane:
        place = b.at(source, (k * lanes + lane) * 4)
        block = [b.load(b.floats, place, i * lanes * 4) for i in range(width)]
        for i, row in enumerate(transpose(b, block)):
            with b.when(b.compare("slt", lane + i, count)):
                store_narrow(b, dtype, row, rows.get(lane + i), k * size)
    with b.loop(0, count) as lane, b.loop(whole, depth) as k:
        value = b.load("float", source, (k * lanes + lane) * 4)
        store_narrow(b, dtype, value, rows.get(lane), k * size)


def pack_rows(
    b: Builder,
    dtype: str,
    source: Reg,
    count: Int,
    row_step: Int,
    depth: Int,
    step: Reg,
    to: Reg,
    to_step: Int,
) -> None:
    """Copy `count` rows of `depth` elements to f32 rows `to_step` bytes apart."""
    size = SIZES[dtype]
    adjacent = b.compare("eq", step, size)
    with b.loop(0, count) as i:
        row, place = b.at(source, i * row_step), b.at(to, i * to_step)
        done = b.var(INDEX, 0)
        with b.when(adjacent):
            done.set(b.index(depth) & -b.width)
            with b.loop(0, done.get(), b.width) as k:
                b.store(load_wide(b, dtype, row, k * size, b.width), place, k * 4)
        with b.loop(done.get(), depth) as k:
            b.store(load_wide(b, dtype, row, k * step, 1), place, k * 4)
