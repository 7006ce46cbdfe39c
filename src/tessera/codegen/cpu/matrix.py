"""A product of matrices of any size, with a generated epilogue: `epilogue(X W)`.

A task is a block of rows by a group of strips, a strip being the columns that one tile
holds.  A strip of W is packed once a task (or read where it lies, when few rows use it);
rows of X are read where they lie when they are adjacent f32, else packed once a task.
Products deeper than a block go through an f32 scratch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tessera.codegen.cpu.builder import INDEX, POINTER, Builder, Reg
from tessera.codegen.cpu.frame import Arena
from tessera.codegen.cpu.host import Host, Tile
from tessera.codegen.cpu.memory import (
    SIZES,
    Table,
    gather_columns,
    load_wide,
    pack_rows,
    store_narrow,
)
from tessera.codegen.cpu.tile import bounded_rows, tile

FEW_ROWS = 16  # up to so many rows do not pay for packing a strip

Epilogue = Callable[[Reg, int], Reg]


@dataclass(frozen=True)
class Weight:
    """W as the product reads it: [depth, columns], steps in bytes."""

    dtype: str
    address: Reg
    depth_step: Reg
    column_step: Reg


class Product:
    """The scratch of one task."""

    def __init__(
        self,
        b: Builder,
        host: Host,
        shape: Tile,
        dtype: str,
        depth: Reg,
        arena: Arena,
    ) -> None:
        self.b, self.host, self.shape = b, host, shape
        self.dtype, self.depth = dtype, depth
        self.strip = shape.vectors * b.width
        self.line = self.strip * 4
        self.inputs = Table(b, arena.take(host.block_rows * 8))
        self.outputs = Table(b, arena.take(host.block_rows * 8))
        self.extra = arena.take(self.line)
        self.packed_w = arena.take(host.block_depth * self.line)
        self.sums = arena.take(host.block_rows * self.line)
        self.last = arena.take(self.line)
        self.names = Table(b, arena.take(self.strip * 8))
        self.packed_x = arena.take(depth * (host.block_rows * 4))

    def read_rows(self, count: Reg, step: Reg) -> None:
        """Make the rows that the table names f32 rows of adjacent elements."""
        b = self.b
        far = b.compare("ne", step, 4)
        if self.dtype != "f32":
            far = Reg(b, "true", "i1")
        with b.when(far), b.loop(0, count) as i:
            place = b.at(self.packed_x, i * (self.depth * 4))
            row = self.inputs.get(i)
            pack_rows(b, self.dtype, row, 1, 0, self.depth, step, place, 0)
            self.inputs.put(i, place)

    def read_extra(self, dtype: str, address: Reg, step: Reg, count: Reg) -> None:
        """Keep one value a column for the epilogue; columns past `count` hold 0."""
        b = self.b
        for v in range(self.shape.vectors):
            b.store(b.constant(0.0), self.extra, v * b.width * 4)
        with b.loop(0, count) as j:
            b.store(load_wide(b, dtype, address, j * step, 1), self.extra, j * 4)

    def columns(
        self, rows: Reg, w: Weight, count: Reg, at: Reg, epilogue: Epilogue
    ) -> None:
        """One strip, `count` columns wide: all rows of the task; results from column `at`.

        The sum over each block of depth goes on where the one before ended.
        """
        b, host = self.b, self.host
        with b.loop(0, b.largest(self.depth, 1), host.block_depth) as first:
            left = self.depth - first
            deep = b.index(b.smallest(left, host.block_depth))
            source, step = self._strip(rows, w, first, deep, count)
            done = b.compare("sle", left, host.block_depth)
            with b.loop(0, rows, self.shape.rows) as row:
                self._sums(row, rows, first, source, step, deep)
                with b.when(done):
                    self._give(row, rows, count, at, epilogue)

    def _strip(
        self, rows: Reg, w: Weight, first: Reg, deep: Reg, count: Reg
    ) -> tuple[Reg, Reg]:
        """Where a block of the strip is, and its step from k to k + 1."""
        b = self.b
        base = b.at(w.address, first * w.depth_step)
        address, step = b.var(POINTER, base), b.var(INDEX, w.depth_step)
        adjacent = b.compare("eq", w.column_step, SIZES[w.dtype])
        pack = b.negated(adjacent) | b.compare("sgt", rows, FEW_ROWS)
        pack = pack | b.compare("slt", count, self.strip)
        if w.dtype != "f32":
            pack = Reg(b, "true", "i1")
        with b.when(pack):
            with b.when(adjacent):
                pack_rows(
                    *(b, w.dtype, base, deep, w.depth_step, count, w.column_step),
                    *(self.packed_w, self.line),
                )
            with b.when(b.negated(adjacent)):
                with b.loop(0, self.strip) as j:
                    column = b.index(b.smallest(j, count - 1))
                    self.names.put(j, b.at(base, column * w.column_step))
                gather_columns(
                    *(b, self.names, self.strip, w.dtype, deep, w.depth_step),
                    self.packed_w,
                )
            address.set(self.packed_w)
            step.set(self.line)
        return address.get(), step.get()

    def _sums(
        self, row: Reg, rows: Reg, first: Reg, source: Reg, step: Reg, deep: Reg
    ) -> None:
        """Add a block of depth to the sums of one tile's rows."""
        b, shape = self.b, self.shape
        last = rows - 1
        near = [
            b.at(self.inputs.get(b.smallest(row + r, last)), first * 4)
            for r in range(shape.rows)
        ]
        places = bounded_rows(b, self.sums, row, shape.rows, self.line, last)
        start = [[b.var(b.floats, 0.0) for _ in range(shape.vectors)] for _ in near]
        with b.when(b.compare("ne", first, 0)):
            for place, values in zip(places, start, strict=True):
                for v, value in enumerate(values):
                    value.set(b.load(b.floats, place, v * b.width * 4))
        before = [[value.get() for value in values] for values in start]
        found = tile(b, near, 4, source, step, deep, before)
        for place, values in zip(places, found, strict=True):
            for v, value in enumerate(values):
                b.store(value, place, v * b.width * 4)

    def _give(
        self, row: Reg, rows: Reg, count: Reg, at: Reg, epilogue: Epilogue
    ) -> None:
        """The epilogue of one tile's sums, rounded once, to the rows of the result."""
        b, shape = self.b, self.shape
        size = SIZES[self.dtype]
        whole = b.compare("eq", count, self.strip)
        with b.loop(row, b.smallest(row + shape.rows, rows)) as r:
            target = b.at(self.outputs.get(r), at * size)
            place = b.at(self.sums, r * self.line)
            for v in range(shape.vectors):
                value = epilogue(b.load(b.floats, place, v * b.width * 4), v)
                b.store(value, self.last, v * b.width * 4)
                with b.when(whole):
                    store_narrow(b, self.dtype, value, target, v * b.width * size)
            with b.when(b.negated(whole)), b.loop(0, count) as j:
                value = b.load("float", self.last, j * 4)
                store_narrow(b, self.dtype, value, target, j * size)
