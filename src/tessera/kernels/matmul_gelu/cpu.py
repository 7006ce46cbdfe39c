"""`gelu(A B [+ bias])` on a CPU: the gelu is the product's epilogue."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tessera.codegen.cpu.builder import Builder, Reg
from tessera.codegen.cpu.frame import (
    Arena,
    Frame,
    common,
    module,
    offset,
    product_of,
    unflatten,
)
from tessera.codegen.cpu.host import Host, Tile
from tessera.codegen.cpu.math import gelu
from tessera.codegen.cpu.matrix import FEW_ROWS, Epilogue, Product, Weight
from tessera.codegen.cpu.memory import SIZES
from tessera.fusion.kernel import Spec


def emit(spec: Spec, host: Host) -> str | None:
    """The kernel for one signature."""
    shared = all(size == 1 for size in spec.values["w"].shape[:-2])
    turned = bool(spec.options["transpose_b"])
    call = _Call(host, spec.options["approximate"], turned, shared, host.product)
    work = {
        "tessera_many": call.task,
        "tessera_few": replace(call, shape=host.slim).task,
    }
    return module(host, spec.values, call.plan, work, call.is_slim)


@dataclass(frozen=True)
class _Sizes:
    """A call's sizes; with a shared W all batches' rows are those of one product."""

    lead: list[Reg]
    batches: Reg
    rows: Reg
    depth: Reg
    columns: Reg


@dataclass(frozen=True)
class _Call:
    """The kernel under construction; `shared`: one W for all batches, `shape`: its tile."""

    host: Host
    form: str
    turned: bool
    shared: bool
    shape: Tile

    @property
    def axes(self) -> tuple[int, int]:
        """Depth and columns among the axes of W."""
        return (-1, -2) if self.turned else (-2, -1)

    def is_slim(self, b: Builder, f: Frame) -> Reg:
        """Whether there are few rows."""
        return b.compare("sle", self.sizes(b, f).rows, FEW_ROWS)

    def group(self, b: Builder) -> int:
        """The columns of a task."""
        return self.host.block_strips * self.shape.vectors * b.width

    def counts(self, b: Builder, s: _Sizes) -> list[Reg]:
        """How many batches, blocks of rows and groups of strips there are."""
        group, block = self.group(b), self.host.block_rows
        return [
            s.batches,
            (s.rows + (block - 1)) // block,
            (s.columns + (group - 1)) // group,
        ]

    def sizes(self, b: Builder, f: Frame) -> _Sizes:
        x, w = f["x"], f["w"]
        lead = [common(b, [x.size(a), w.size(a)])[0] for a in _lead(f)]
        total, rows = product_of(b, lead), x.size(-2)
        if self.shared:
            total, rows = b.index(1), rows * total
        depth, columns = (w.size(axis) for axis in self.axes)
        return _Sizes(lead, total, rows, depth, columns)

    def plan(self, b: Builder, f: Frame) -> Reg:
        """Result sizes, tasks, scratch; whether the operands fit each other."""
        x, w = f["x"], f["w"]
        s = self.sizes(b, f)
        for axis, size in zip(_lead(f), s.lead, strict=True):
            f["out"].set_size(axis, size)
        f["out"].set_size(-2, x.size(-2))
        f["out"].set_size(-1, s.columns)
        arena = Arena(b)
        widest = max(self.host.product, self.host.slim, key=lambda t: t.vectors)
        Product(b, self.host, widest, x.dtype, s.depth, arena)
        many = product_of(b, self.counts(b, s))
        few = product_of(b, replace(self, shape=self.host.slim).counts(b, s))
        f.finish(b.select(self.is_slim(b, f), few, many), arena.used)
        fits = b.compare("eq", x.size(-1), s.depth)
        for axis in _lead(f):
            fits = fits & common(b, [x.size(axis), w.size(axis)])[1]
        if "bias" in f:
            size = f["bias"].size(-1)
            fits = fits & (b.compare("eq", size, s.columns) | b.compare("eq", size, 1))
        return fits

    def task(self, b: Builder, f: Frame, scratch: Reg, task: Reg) -> None:
        """A block of rows by a group of strips."""
        x, w, s = f["x"], f["w"], self.sizes(b, f)
        product = Product(b, self.host, self.shape, x.dtype, s.depth, Arena(b, scratch))
        batch, block, group = unflatten(b, task, self.counts(b, s))
        first = block * self.host.block_rows
        rows = b.index(b.smallest(s.rows - first, self.host.block_rows))
        indices = unflatten(b, batch, s.lead)
        self._rows(b, f, s, product, (indices, batch, first, rows))
        product.read_rows(rows, x.stride(-1))
        depth, column = self.axes
        base = b.at(w.address, b.index(0) if self.shared else offset(w, indices, -2))
        start = group * self.group(b)
        stop = b.smallest(start + self.group(b), s.columns)
        with b.loop(start, stop, product.strip) as at:
            count = b.index(b.smallest(s.columns - at, product.strip))
            if "bias" in f:
                bias = f["bias"]
                place = b.at(bias.address, at * bias.stride(-1))
                product.read_extra(bias.dtype, place, bias.stride(-1), count)
            strip = b.at(base, at * w.stride(column))
            weight = Weight(w.dtype, strip, w.stride(depth), w.stride(column))
            product.columns(rows, weight, count, at, self._epilogue(b, f, product))

    def _rows(
        self,
        b: Builder,
        f: Frame,
        s: _Sizes,
        product: Product,
        at: tuple[list[Reg], Reg, Reg, Reg],
    ) -> None:
        """Name the task's rows of X and of the result."""
        indices, batch, first, rows = at
        x, out = f["x"], f["out"]
        row_bytes = s.columns * SIZES[out.dtype]
        with b.loop(0, rows) as i:
            row, lead = first + i, indices
            target = (batch * s.rows + row) * row_bytes
            if self.shared:
                *lead, row = unflatten(b, row, [*s.lead, x.size(-2)])
            source = offset(x, lead, -2) + row * x.stride(-2)
            product.inputs.put(i, b.at(x.address, source))
            product.outputs.put(i, b.at(out.address, target))

    def _epilogue(self, b: Builder, f: Frame, product: Product) -> Epilogue:
        def finish(value: Reg, v: int) -> Reg:
            if "bias" in f:
                value = value + b.load(b.floats, product.extra, v * b.width * 4)
            return gelu(b, value, self.form)

        return finish


def _lead(f: Frame) -> range:
    """The batch axes."""
    return range(-f["out"].rank, -2)
