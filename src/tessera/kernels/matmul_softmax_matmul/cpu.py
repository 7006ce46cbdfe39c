"""Attention on a CPU: lanes are queries, of all heads that share keys and values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tessera.codegen.cpu.builder import INDEX, Builder, Reg
from tessera.codegen.cpu.frame import (
    Arena,
    Frame,
    Operand,
    common,
    module,
    offset,
    product_of,
    unflatten,
)
from tessera.codegen.cpu.host import Host, Tile
from tessera.codegen.cpu.memory import SIZES, load_wide
from tessera.codegen.cpu.stream import NEVER, Rows, Rule, Stream
from tessera.fusion.kernel import Spec

SMALL = 2  # up to so many vectors of queries, one vector at a time wastes least


def emit(spec: Spec, host: Host) -> str | None:
    """The kernel for one signature; None for a scale operand of many values.

    Nor is there one for a guard by the mask beside a causal rule or a window: the guard
    asks about keys that no query of a block sees.
    """
    scale = spec.values.get("scale")
    if scale is not None and any(size != 1 for size in scale.shape):
        return None
    fill = spec.options["mask_fill"]
    mask = spec.values.get("mask")
    rule = Rule(
        scale=1.0 if spec.options["scale"] is None else spec.options["scale"],
        cap=spec.options["softcap"],
        mask="" if mask is None else mask.dtype,
        fill=NEVER if fill is None else fill,
        causal=spec.options["causal"] != "none",
        window=spec.options["window"],
        nan_guard=spec.options["nan_guard"],
        mask_guard=spec.options["mask_guard"] and mask is not None,
    )
    if rule.mask_guard and rule.positional:
        return None
    shifted = spec.options["causal"] == "bottom_right"
    turned = bool(spec.options["transpose_b"])
    call = _Call(rule, host, turned, shifted, host.wide)
    few = _few(spec, host)
    wide = {"tessera_wide": call.task}
    narrow = {"tessera_narrow": replace(call, shape=host.narrow).task}
    if few is not None:
        call = replace(call, few=few)
        return module(host, spec.values, call.plan, narrow if few else wide)
    work = {**wide, **narrow}
    return module(host, spec.values, call.plan, work, call.is_narrow)


def _few(spec: Spec, host: Host) -> bool | None:
    """Whether few queries share keys, where the signature says so."""
    q, k, v = (spec.values[role].shape for role in "qkv")
    heads, keys, values = (shape[-3] if len(shape) > 2 else 1 for shape in (q, k, v))
    if q[-2] is None or heads is None or keys is None or values is None:
        return None
    group = heads // max(keys, 1) if keys == values else 1
    return group * q[-2] <= SMALL * host.width


@dataclass(frozen=True)
class _Sizes:
    """The sizes of a call, read from its frame."""

    lead: list[Reg]
    heads: Reg
    key_heads: Reg
    value_heads: Reg
    group: Reg
    queries: Reg
    keys: Reg
    depth: Reg
    width: Reg

    def rows(self) -> Reg:
        """Queries that share keys: those of all heads of a group."""
        return self.group * self.queries


@dataclass(frozen=True)
class _Call:
    """The kernel under construction; `shape` is the tile of its products, `few` whether few
    queries share keys, where that is known.
    """

    rule: Rule
    host: Host
    turned: bool
    shifted: bool
    shape: Tile
    few: bool | None = None

    def sizes(self, b: Builder, f: Frame) -> _Sizes:
        q, k, v = f["q"], f["k"], f["v"]
        key, depth = (-2, -1) if self.turned else (-1, -2)
        grouped = q.rank > 2
        heads = q.size(-3) if grouped else common(b, [k.size(-3), v.size(-3)])[0]
        shared = b.compare("eq", k.size(-3), v.size(-3))
        group = heads // b.largest(k.size(-3), 1)
        return _Sizes(
            lead=[common(b, [x.size(axis) for x in (q, k, v)])[0] for axis in _lead(f)],
            heads=heads,
            key_heads=k.size(-3),
            value_heads=v.size(-3),
            group=b.select(shared, group, 1),
            queries=q.size(-2),
            keys=k.size(key),
            depth=k.size(depth),
            width=v.size(-1),
        )

    def is_narrow(self, b: Builder, f: Frame) -> Reg:
        """Whether one vector of queries at a time serves best."""
        if self.few is not None:
            return Reg(b, "true" if self.few else "false", "i1")
        return b.compare("sle", self.sizes(b, f).rows(), SMALL * b.width)

    def plan(self, b: Builder, f: Frame) -> Reg:
        """Result sizes, tasks, scratch; whether the operands fit each other."""
        s = self.sizes(b, f)
        for axis, size in zip(_lead(f), s.lead, strict=True):
            f["out"].set_size(axis, size)
        if f["out"].rank > 2:
            f["out"].set_size(-3, s.heads)
        f["out"].set_size(-2, s.queries)
        f["out"].set_size(-1, s.width)
        arena = Arena(b)
        Stream(b, self.host, self.host.wide, self.rule, s.depth, s.width, arena)
        wide, narrow = (
            self.blocks(b, s, t) for t in (self.host.wide, self.host.narrow)
        )
        blocks = b.select(self.is_narrow(b, f), narrow, wide)
        tasks = product_of(b, s.lead) * (s.heads // b.largest(s.group, 1)) * blocks
        f.finish(b.select(b.compare("eq", s.width, 0), 0, tasks), arena.used)
        return self._fits(b, f, s)

    def blocks(self, b: Builder, s: _Sizes, shape: Tile) -> Reg:
        """How many blocks the queries of a group make."""
        lanes = b.width * shape.vectors
        return (s.rows() + (lanes - 1)) // lanes

    def _fits(self, b: Builder, f: Frame, s: _Sizes) -> Reg:
        q, k, v = f["q"], f["k"], f["v"]
        fits = b.compare("eq", q.size(-1), s.depth)
        fits = fits & b.compare("eq", v.size(-2), s.keys)
        for axis in _lead(f):
            fits = fits & common(b, [x.size(axis) for x in (q, k, v)])[1]
        for heads in (s.key_heads, s.value_heads):
            whole = b.compare("eq", s.heads % b.largest(heads, 1), 0)
            some = b.compare("ne", heads, 0) | b.compare("eq", s.heads, 0)
            fits = fits & whole & some
        if "mask" in f:
            sizes = [s.keys, s.queries, s.heads, *reversed(s.lead)]
            for back, size in enumerate(sizes[: f["mask"].rank]):
                found = f["mask"].size(-1 - back)
                fits = fits & (b.compare("eq", found, size) | b.compare("eq", found, 1))
        return fits

    def task(self, b: Builder, f: Frame, scratch: Reg, task: Reg) -> None:
        """One block of queries over all keys that any of them sees."""
        s = self.sizes(b, f)
        stream = Stream(
            b, self.host, self.shape, self.rule, s.depth, s.width, Arena(b, scratch)
        )
        blocks = b.largest(self.blocks(b, s, self.shape), 1)
        groups = b.largest(s.heads // b.largest(s.group, 1), 1)
        *lead, group, block = unflatten(
            b, task, [*s.lead, b.index(groups), b.index(blocks)]
        )
        first = block * stream.lanes
        near, far = self._queries(b, f, s, stream, (lead, group * s.group, first))
        stream.start(f["q"].dtype, f["q"].stride(-1), self._factor(b, f))
        head = group * s.group
        low, high = self._range(b, s, near, far)
        key, depth = (-2, -1) if self.turned else (-1, -2)
        k = _matrix(
            b, f["k"], lead, head // _share(b, s.heads, s.key_heads), key, depth
        )
        v = _matrix(b, f["v"], lead, head // _share(b, s.heads, s.value_heads), -2, -1)
        step = f["mask"].stride(-1) if "mask" in f else b.index(0)
        stream.keys(k, v, low, high, near, far, step)
        count = b.smallest(s.rows() - first, stream.lanes)
        stream.finish(f["out"].dtype, count)

    def _factor(self, b: Builder, f: Frame) -> Reg:
        """What Q is multiplied by: constants, and the scale operand."""
        if "scale" not in f:
            return b.scalar(self.rule.factor)
        by = load_wide(b, f["scale"].dtype, f["scale"].address, 0, 1)
        return by * b.scalar(self.rule.factor)

    def _queries(
        self,
        b: Builder,
        f: Frame,
        s: _Sizes,
        stream: Stream,
        at: tuple[list[Reg], Reg, Reg],
    ) -> tuple[Reg, Reg]:
        """Name the rows of each lane; the first and last position among them.

        Lanes past the last query repeat it.
        """
        lead, head, first = at
        q, out = f["q"], f["out"]
        read = b.at(q.address, offset(q, lead, -3))
        mask = f.get("mask")
        masked = b.at(mask.address, offset(mask, lead, -3)) if mask else read
        row_bytes = s.width * SIZES[out.dtype]
        batch = b.index(0)
        for index, size in zip(lead, s.lead, strict=True):
            batch = batch * size + index
        shift = s.keys - s.queries if self.shifted else b.index(0)
        near, far = b.var(INDEX, 2**62), b.var(INDEX, -(2**62))
        with b.loop(0, stream.lanes) as lane:
            row = b.index(b.smallest(first + lane, s.rows() - 1))
            h, i = head + row // s.queries, row % s.queries
            stream.queries.put(lane, b.at(read, h * q.stride(-3) + i * q.stride(-2)))
            target = ((batch * s.heads + h) * s.queries + i) * row_bytes
            stream.outputs.put(lane, b.at(out.address, target))
            if mask is not None:
                further = h * mask.stride(-3) + i * mask.stride(-2)
                stream.masks.put(lane, b.at(masked, further))
            position = i + shift
            b.store(b.convert("trunc", position, "i32"), stream.positions, lane * 4)
            near.set(b.smallest(near.get(), position))
            far.set(b.largest(far.get(), position))
        return near.get(), far.get()

    def _range(self, b: Builder, s: _Sizes, near: Reg, far: Reg) -> tuple[Reg, Reg]:
        """The keys that some query of the block sees."""
        low, high = b.index(0), s.keys
        if self.rule.causal:
            high = b.index(b.smallest(high, far + 1))
        if self.rule.window is not None:
            low = b.index(b.largest(0, near - (self.rule.window - 1)))
        return low, high


def _lead(f: Frame) -> range:
    """The batch axes in front of the heads."""
    return range(-f["out"].rank, -3)


def _share(b: Builder, heads: Reg, own: Reg) -> Reg:
    """How many query heads read one head of an operand; its own axis when broadcast."""
    return b.index(b.largest(heads // b.largest(own, 1), 1))


def _matrix(
    b: Builder, x: Operand, lead: list[Reg], head: Reg, row: int, column: int
) -> Rows:
    """One head of an operand, by rows."""
    place = b.at(x.address, offset(x, lead, -3) + head * x.stride(-3))
    return Rows(x.dtype, place, x.stride(row), x.stride(column))
