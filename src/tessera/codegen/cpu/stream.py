"""Softmax(scores) V without the scores: queries are vector lanes, keys stream by.

For a block of keys Sᵀ = K Qᵀ, then p = exp(s - running maximum) in place, then
Oᵀ = Oᵀ · rescale + Vᵀ Pᵀ.  Maximum, sum and rescaling are per lane, so nothing is
reduced across a vector, and K and V are read where they lie.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tessera.codegen.cpu.builder import INDEX, POINTER, Builder, Int, Reg, Var
from tessera.codegen.cpu.frame import Arena
from tessera.codegen.cpu.host import Host, Tile
from tessera.codegen.cpu.math import LOG2E, exp2, tanh
from tessera.codegen.cpu.memory import (
    Table,
    gather_columns,
    pack_rows,
    scatter_columns,
)
from tessera.codegen.cpu.tile import bounded_rows, tile

NEVER = -math.inf


@dataclass(frozen=True)
class Rule:
    """What turns a product into a weight: cap, mask, causal rule, window.

    `mask` is the mask's dtype or "".  `removes`: a score of -inf is a removed key, which
    has no influence even where V holds NaN.  `nan_guard` and `mask_guard` give zeros for
    rows that are NaN, and for rows in which the mask keeps no key.
    """

    scale: float = 1.0
    cap: float | None = None
    mask: str = ""
    fill: float = NEVER
    causal: bool = False
    window: int | None = None
    nan_guard: bool = False
    mask_guard: bool = False

    @property
    def natural(self) -> bool:
        """Whether scores stay in natural units: then the mask's values may be added.

        Otherwise scores are in powers of two: log2(e) is part of the scale.
        """
        added = self.mask not in ("", "i1")
        filled = self.mask == "i1" and self.fill != NEVER
        return added or filled or self.cap is not None

    @property
    def factor(self) -> float:
        """What Q is multiplied by."""
        return self.scale * (1.0 if self.natural else LOG2E) / (self.cap or 1.0)

    @property
    def positional(self) -> bool:
        return self.causal or self.window is not None

    @property
    def always(self) -> bool:
        """Whether every block of scores is adjusted after the product."""
        return bool(self.mask) or self.cap is not None

    @property
    def removes(self) -> bool:
        return self.positional or (self.mask == "i1" and self.fill == NEVER)


@dataclass(frozen=True)
class Rows:
    """A matrix read row by row: steps in bytes."""

    dtype: str
    address: Reg
    row_step: Reg
    step: Reg


class Stream:
    """The scratch and running state of one block of queries."""

    def __init__(
        self,
        b: Builder,
        host: Host,
        shape: Tile,
        rule: Rule,
        depth: Int,
        width: Int,
        arena: Arena,
    ) -> None:
        self.b, self.host, self.rule = b, host, rule
        self.shape, self.depth, self.width = shape, depth, width
        self.vectors = shape.vectors
        self.lanes = shape.vectors * b.width
        self.line = self.lanes * 4
        line, keys = self.line, host.keys
        self.queries = Table(b, arena.take(self.lanes * 8))
        self.outputs = Table(b, arena.take(self.lanes * 8))
        self.masks = Table(b, arena.take(self.lanes * 8))
        self.positions = arena.take(line)
        self.q = arena.take(b.index(depth) * line)
        self.s = arena.take(keys * line)
        self.o = arena.take(b.index(width) * line)
        self.m = arena.take(keys * line if rule.mask else 0)
        self.packed_k = arena.take(b.index(depth) * keys * 4)
        self.packed_v = arena.take(b.index(width) * keys * 4)

    def start(self, dtype: str, step: Reg, factor: Reg) -> None:
        """Read the queries that the table names, and forget all keys."""
        b = self.b
        gather_columns(
            b, self.queries, self.lanes, dtype, self.depth, step, self.q, factor
        )
        with b.loop(0, b.index(self.width) * self.line, b.width * 4) as at:
            b.store(b.constant(0.0), self.o, at)
        self.peak = [b.var(b.floats, NEVER) for _ in range(self.vectors)]
        self.sum = [b.var(b.floats, 0.0) for _ in range(self.vectors)]
        self.next = [b.var(b.floats, NEVER) for _ in range(self.vectors)]
        self.kept = [b.var(b.masks, 0) for _ in range(self.vectors)]

    def keys(
        self, k: Rows, v: Rows, low: Int, high: Int, near: Reg, far: Reg, mask_step: Reg
    ) -> None:
        """Take in the keys from `low` to `high`.

        Queries stand at positions `near` to `far`; `mask_step` is the distance of two
        keys in the mask.
        """
        b = self.b
        with b.loop(low, high, self.host.keys) as first:
            count = b.index(b.smallest(b.index(high) - first, self.host.keys))
            key_rows = self._rows(k, first, count, self.depth, self.packed_k)
            value_rows = self._rows(v, first, count, self.width, self.packed_v)
            self._scores(key_rows, count)
            partial = self._partial(first, count, near, far)
            if partial is not None:
                with b.when(partial):
                    self._adjust(first, count, mask_step)
            rescale = self._weights(count)
            self._accumulate(value_rows, count, rescale, partial)

    def _partial(self, first: Reg, count: Reg, near: Reg, far: Reg) -> Reg | None:
        """Whether the scores of this block need adjusting; None when none ever do."""
        b, rule = self.b, self.rule
        if rule.always:
            return Reg(b, "true", "i1")
        found = Reg(b, "false", "i1")
        if rule.causal:
            found = found | b.compare("sgt", first + count - 1, near)
        if rule.window is not None:
            found = found | b.compare("sle", first, far - rule.window)
        return found if rule.positional else None

    def _rows(
        self, m: Rows, first: Reg, count: Reg, depth: Int, packed: Reg
    ) -> tuple[Reg, Reg]:
        """f32 rows with adjacent elements: those of the matrix, or packed ones."""
        b = self.b
        base = b.at(m.address, first * m.row_step)
        address, step = b.var(POINTER, base), b.var(INDEX, m.row_step)
        far = b.compare("ne", m.step, 4)
        if m.dtype != "f32":
            far = Reg(b, "true", "i1")
        with b.when(far):
            tight = b.index(depth) * 4
            pack_rows(b, m.dtype, base, count, m.row_step, depth, m.step, packed, tight)
            address.set(packed)
            step.set(tight)
        return address.get(), step.get()

    def _scores(self, rows: tuple[Reg, Reg], count: Reg) -> None:
        """The products of all lanes with `count` keys, and their maximum."""
        b, shape = self.b, self.shape
        base, step = rows
        for now, old in zip(self.next, self.peak, strict=True):
            now.set(old.get())
        with b.loop(0, count, shape.rows) as first:
            last = count - 1
            near = bounded_rows(b, base, first, shape.rows, step, last)
            zeros = [[0.0] * self.vectors for _ in near]
            found = tile(b, near, 4, self.q, self.line, self.depth, zeros)
            places = bounded_rows(b, self.s, first, shape.rows, self.line, last)
            for row, place in zip(found, places, strict=True):
                for v, value in enumerate(row):
                    b.store(value, place, v * b.width * 4)
                    if not self.rule.always:
                        self._raise(v, value)

    def _raise(self, v: int, value: Reg) -> None:
        b, now = self.b, self.next[v].get()
        self.next[v].set(b.select(b.compare("ogt", value, now), value, now))

    def _adjust(self, first: Reg, count: Reg, mask_step: Reg) -> None:
        """Cap, mask and rule the scores of a block; take their maximum anew."""
        b, rule = self.b, self.rule
        if rule.mask:
            skip = first * mask_step
            gather_columns(
                b,
                self.masks,
                self.lanes,
                rule.mask,
                count,
                mask_step,
                self.m,
                None,
                skip,
            )
        for now, old in zip(self.next, self.peak, strict=True):
            now.set(old.get())
        with b.loop(0, count) as i:
            key = b.spread(b.convert("trunc", first + i, "i32"))
            for v in range(self.vectors):
                place = i * self.line + v * b.width * 4
                value = self._adjusted(b.load(b.floats, self.s, place), key, v, place)
                b.store(value, self.s, place)
                self._raise(v, value)

    def _adjusted(self, s: Reg, key: Reg, v: int, place: Reg) -> Reg:
        b, rule = self.b, self.rule
        if rule.cap is not None:
            s = tanh(b, s) * rule.cap
        if rule.mask:
            mask = b.load(b.floats, self.m, place)
            boolean = rule.mask == "i1"
            kept = b.compare("une", mask, 0.0 if boolean else NEVER)
            s = b.select(kept, s, b.constant(rule.fill)) if boolean else s + mask
            self.kept[v].set(self.kept[v].get() | kept)
        if not rule.positional:
            return s
        at = b.load(b.ints, self.positions, v * b.width * 4)
        if rule.causal:
            s = b.select(b.compare("sle", key, at), s, b.constant(NEVER))
        if rule.window is not None:
            seen = b.compare("sgt", key, at - rule.window)
            s = b.select(seen, s, b.constant(NEVER))
        return s

    def _weights(self, count: Reg) -> list[Reg]:
        """Scores become weights, removed keys -0.0; what earlier sums are worth now."""
        b = self.b
        rescale: list[Reg] = []
        bases: list[Reg] = []
        for peak, now, total in zip(self.peak, self.next, self.sum, strict=True):
            new = now.get()
            base = b.select(b.compare("oeq", new, NEVER), b.constant(0.0), new)
            worth = exp2(b, self._powers(peak.get() - base))
            peak.set(new)
            total.set(total.get() * worth)
            rescale.append(worth)
            bases.append(base)
        unroll = max(1, 4 // self.vectors)
        whole = count & -unroll
        with b.loop(0, whole, unroll) as i:
            for extra in range(unroll):
                self._weigh(i + extra, bases)
        with b.loop(whole, count) as i:
            self._weigh(i, bases)
        return rescale

    def _powers(self, difference: Reg) -> Reg:
        return difference * LOG2E if self.rule.natural else difference

    def _weigh(self, i: Reg, bases: list[Reg]) -> None:
        b = self.b
        for v, base in enumerate(bases):
            place = i * self.line + v * b.width * 4
            s = b.load(b.floats, self.s, place)
            p = exp2(b, self._powers(s - base))
            if self.rule.removes:
                p = b.select(b.compare("oeq", s, NEVER), b.constant(-0.0), p)
            b.store(p, self.s, place)
            self.sum[v].set(self.sum[v].get() + p)

    def _accumulate(
        self, rows: tuple[Reg, Reg], count: Reg, rescale: list[Reg], partial: Reg | None
    ) -> None:
        """Add this block's weighted values."""
        b = self.b
        if partial is None or not self.rule.removes:
            self._add(rows, count, rescale)
            return
        wild = b.var("i1", 0)
        with b.when(partial):
            wild.set(self._wild(rows, count))
        strange = wild.get()
        with b.when(strange):
            self._add_kept(rows, count, rescale)
        with b.when(b.negated(strange)):
            self._add(rows, count, rescale)

    def _add(self, rows: tuple[Reg, Reg], count: Reg, rescale: list[Reg]) -> None:
        b, shape = self.b, self.shape
        base, step = rows
        with b.loop(0, self.width, shape.rows) as first:
            last = b.index(self.width) - 1
            near = bounded_rows(b, base, first, shape.rows, 4, last)
            places = bounded_rows(b, self.o, first, shape.rows, self.line, last)
            before = [
                [
                    b.load(b.floats, place, v * b.width * 4) * worth
                    for v, worth in enumerate(rescale)
                ]
                for place in places
            ]
            found = tile(b, near, step, self.s, self.line, count, before)
            for row, place in zip(found, places, strict=True):
                for v, value in enumerate(row):
                    b.store(value, place, v * b.width * 4)

    def _wild(self, rows: tuple[Reg, Reg], count: Reg) -> Reg:
        """Whether a value of the block is inf or NaN: those times 0 are NaN."""
        b = self.b
        many, one = b.var(b.floats, 0.0), b.var("float", 0.0)
        whole = b.index(self.width) & -b.width
        with b.loop(0, count) as j:
            row = b.at(rows[0], j * rows[1])
            with b.loop(0, whole, b.width) as d:
                many.set(b.fma(b.load(b.floats, row, d * 4), 0.0, many.get()))
            with b.loop(whole, self.width) as d:
                one.set(b.fma(b.load("float", row, d * 4), 0.0, one.get()))
        found = many.get()
        strange = b.compare("uno", found, found)
        word = b.convert("bitcast", strange, f"i{b.width}")
        last = one.get()
        return b.compare("ne", word, 0) | b.compare("uno", last, last)

    def _add_kept(self, rows: tuple[Reg, Reg], count: Reg, rescale: list[Reg]) -> None:
        """As `_add`, leaving out the removed keys: their weight is -0.0."""
        b = self.b
        with b.loop(0, self.width) as d:
            sums: list[Var] = []
            for v, worth in enumerate(rescale):
                before = b.load(b.floats, self.o, d * self.line + v * b.width * 4)
                sums.append(b.var(b.floats, before * worth))
            with b.loop(0, count) as j:
                value = b.spread(b.load("float", rows[0], j * rows[1] + d * 4))
                for v, total in enumerate(sums):
                    place = j * self.line + v * b.width * 4
                    p, now = b.load(b.floats, self.s, place), total.get()
                    removed = b.compare("slt", b.convert("bitcast", p, b.ints), 0)
                    removed = removed & b.compare("oeq", p, 0.0)
                    total.set(b.select(removed, now, b.fma(p, value, now)))
            for v, total in enumerate(sums):
                b.store(total.get(), self.o, d * self.line + v * b.width * 4)

    def finish(self, dtype: str, count: Int) -> None:
        """Divide by the sums and write the first `count` lanes to their rows."""
        b = self.b
        totals = [total.get() for total in self.sum]
        shares = [
            b.constant(1.0) / b.select(b.compare("oeq", t, 0.0), b.constant(1.0), t)
            for t in totals
        ]
        with b.loop(0, self.width) as d:
            for v, (total, share) in enumerate(zip(totals, shares, strict=True)):
                place = d * self.line + v * b.width * 4
                value = b.load(b.floats, self.o, place) * share
                if self.rule.nan_guard:
                    lost = b.compare("uno", total, total)
                    value = b.select(lost, b.constant(0.0), value)
                if self.rule.mask_guard:
                    value = b.select(self.kept[v].get(), value, b.constant(0.0))
                b.store(value, self.o, place)
        scatter_columns(b, self.outputs, count, self.lanes, dtype, self.width, self.o)
