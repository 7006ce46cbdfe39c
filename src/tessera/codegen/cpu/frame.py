"""How a kernel meets its caller: frame, plan, tasks.  See `artifact.Native`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tessera.artifact import Value
from tessera.codegen.cpu.builder import INDEX, POINTER, Builder, Int, Reg
from tessera.codegen.cpu.host import Host

LINE = 64


@dataclass(frozen=True)
class Operand:
    """An array in the frame: its address, and sizes and strides (bytes) by axis."""

    b: Builder
    frame: Reg
    word: int
    value: Value

    @property
    def rank(self) -> int:
        return len(self.value.shape)

    @property
    def dtype(self) -> str:
        return self.value.dtype

    @property
    def address(self) -> Reg:
        return self.b.load(POINTER, self.frame, self.word * 8, 8)

    def size(self, axis: int) -> Reg:
        """The size of an axis; 1 for one in front of the first."""
        if axis < -self.rank:
            return self.b.index(1)
        return self.b.load(INDEX, self.frame, (self.word + 1 + axis % self.rank) * 8, 8)

    def stride(self, axis: int) -> Reg:
        """The bytes from one element to the next; 0 where the axis is broadcast."""
        if axis < -self.rank:
            return self.b.index(0)
        word = self.word + 1 + self.rank + axis % self.rank
        found = self.b.load(INDEX, self.frame, word * 8, 8)
        return self.b.select(self.b.compare("eq", self.size(axis), 1), 0, found)

    def set_size(self, axis: int, size: Int) -> None:
        """Say how large a result is."""
        word = self.word + 1 + axis % self.rank
        self.b.store(self.b.index(size), self.frame, word * 8, 8)


class Frame:
    """One function's view of the call: operands and results by name."""

    def __init__(self, b: Builder, values: Mapping[str, Value]) -> None:
        self.b = b
        self.place = b.argument("frame", POINTER)
        self._operands: dict[str, Operand] = {}
        word = 2
        for name, value in values.items():
            self._operands[name] = Operand(b, self.place, word, value)
            word += 1 + 2 * len(value.shape)

    def __contains__(self, name: str) -> bool:
        return name in self._operands

    def __getitem__(self, name: str) -> Operand:
        return self._operands[name]

    def get(self, name: str) -> Operand | None:
        """The operand, if the call has it."""
        return self._operands.get(name)

    def finish(self, tasks: Int, scratch: Int) -> None:
        """Say how many tasks there are and the bytes of scratch that each needs."""
        self.b.store(self.b.index(tasks), self.place, 0, 8)
        self.b.store(self.b.index(scratch), self.place, 8, 8)


class Arena:
    """Scratch memory, handed out in cache lines; without a place it only counts."""

    def __init__(self, b: Builder, place: Reg | None = None) -> None:
        self.b, self.place, self.used = b, place, b.index(0)

    def take(self, size: Int) -> Reg:
        """The next `size` bytes; the frame's own address when only counting."""
        at = self.used
        self.used = self.used + ((self.b.index(size) + (LINE - 1)) & -LINE)
        return at if self.place is None else self.b.at(self.place, at)


def common(b: Builder, sizes: Sequence[Reg]) -> tuple[Reg, Reg]:
    """The size that these broadcast to, and whether they do."""
    fits, found = Reg(b, "true", "i1"), b.index(1)
    for size in sizes:
        one = b.compare("eq", found, 1)
        same = b.compare("eq", size, found) | b.compare("eq", size, 1)
        fits, found = fits & (same | one), b.select(one, size, found)
    return found, fits


def unflatten(b: Builder, index: Reg, sizes: Sequence[Reg]) -> list[Reg]:
    """The index along each axis of a row-major index."""
    found: list[Reg] = []
    for size in reversed(sizes):
        found.insert(0, index % b.largest(size, 1))
        index = index // b.largest(size, 1)
    return found


def offset(operand: Operand, indices: Sequence[Reg], last: int) -> Reg:
    """The bytes to an element: `indices` belong to the axes that end before `last`."""
    total = operand.b.index(0)
    for back, index in enumerate(reversed(indices)):
        axis = last - 1 - back
        if axis >= -operand.rank:
            total = total + index * operand.stride(axis)
    return total


def product_of(b: Builder, sizes: Sequence[Reg]) -> Reg:
    """The product of sizes."""
    total = b.index(1)
    for size in sizes:
        total = total * size
    return total


Planner = Callable[[Builder, Frame], Reg]
Worker = Callable[[Builder, Frame, Reg, Reg], None]


def module(
    host: Host,
    values: Mapping[str, Value],
    plan: Planner,
    work: Mapping[str, Worker],
    choose: Callable[[Builder, Frame], Reg] | None = None,
) -> str:
    """The text of a kernel.

    `plan` sets result sizes, tasks and scratch, and says whether the operands fit.
    `work` holds the bodies of a task, by name: (builder, frame, scratch, task).  With
    two, `choose` says whether it is the second.
    """
    texts: list[str] = []
    declared: set[str] = set()

    def close(
        b: Builder, name: str, arguments: Sequence[Reg], result: Reg | None
    ) -> None:
        texts.append(b.function(name, arguments, host.attributes, result))
        declared.update(b.declared)

    b = Builder(host.width)
    frame = Frame(b, values)
    fits = plan(b, frame)
    close(b, "tessera_plan", [frame.place], b.convert("zext", fits, INDEX))
    for name, body in work.items():
        b = Builder(host.width)
        frame = Frame(b, values)
        scratch, task = b.argument("scratch", POINTER), b.argument("task", INDEX)
        body(b, frame, scratch, task)
        close(b, name, [frame.place, scratch, task], None)
    b = Builder(host.width)
    frame = Frame(b, values)
    counter, scratch = b.argument("counter", POINTER), b.argument("scratch", POINTER)
    _drain(b, frame, counter, scratch, tuple(work), choose)
    close(b, "tessera_run", [frame.place, counter, scratch], None)
    return "\n".join([*texts, *sorted(declared)]) + "\n"


def _drain(
    b: Builder,
    frame: Frame,
    counter: Reg,
    scratch: Reg,
    names: Sequence[str],
    choose: Callable[[Builder, Frame], Reg] | None,
) -> None:
    """Take tasks from the counter until none is left: any number of threads may."""
    tasks = b.load(INDEX, frame.place, 0, 8)
    second = Reg(b, "false", "i1") if choose is None else choose(b, frame)
    with b.loop(0, tasks):
        text = f"atomicrmw add ptr {counter}, i64 1 monotonic, align 8"
        task = b.emit(INDEX, text)
        with b.when(b.compare("slt", task, tasks)):
            if len(names) == 2:
                with b.when(second):
                    b.run(names[1], frame.place, scratch, task)
            with b.when(b.negated(second)):
                b.run(names[0], frame.place, scratch, task)
