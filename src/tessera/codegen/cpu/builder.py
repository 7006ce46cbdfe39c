"""LLVM text, one function at a time: named values, variables, counted loops, choices.

Python numbers are constants and fold; everything else is a `Reg`.  Addresses are counted
in bytes.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

INDEX = "i64"
POINTER = "ptr"


@dataclass(frozen=True, eq=False)
class Reg:
    """A value of a function under construction; arithmetic appends instructions."""

    owner: Builder
    name: str
    type: str

    def __str__(self) -> str:
        return self.name

    @property
    def is_float(self) -> bool:
        return "float" in self.type

    def __add__(self, other: Num) -> Reg:
        return self.owner.binary("fadd" if self.is_float else "add", self, other)

    def __sub__(self, other: Num) -> Reg:
        return self.owner.binary("fsub" if self.is_float else "sub", self, other)

    def __mul__(self, other: Num) -> Reg:
        return self.owner.binary("fmul" if self.is_float else "mul", self, other)

    def __truediv__(self, other: Num) -> Reg:
        return self.owner.binary("fdiv", self, other)

    def __floordiv__(self, other: Num) -> Reg:
        """Integers that are not negative."""
        return self.owner.binary("udiv", self, other)

    def __mod__(self, other: Num) -> Reg:
        """Integers that are not negative."""
        return self.owner.binary("urem", self, other)

    def __and__(self, other: Num) -> Reg:
        return self.owner.binary("and", self, other)

    def __or__(self, other: Num) -> Reg:
        return self.owner.binary("or", self, other)

    __radd__ = __add__
    __rmul__ = __mul__


Num = Reg | int | float
Int = Reg | int


@dataclass(frozen=True)
class Var:
    """A place for a value that changes; LLVM turns it into registers."""

    owner: Builder
    place: str
    type: str

    def get(self) -> Reg:
        return self.owner.emit(self.type, f"load {self.type}, ptr {self.place}")

    def set(self, value: Num) -> None:
        text = self.owner.text(value, self.type)
        self.owner.line(f"store {self.type} {text}, ptr {self.place}")


def vector(count: int, element: str) -> str:
    """The type of a vector."""
    return f"<{count} x {element}>"


def float_text(value: float) -> str:
    """A float constant: LLVM wants the double that equals the nearest f32."""
    (bits,) = struct.unpack(">Q", struct.pack(">d", _to_f32(value)))
    return f"0x{bits:016X}"


def _to_f32(value: float) -> float:
    try:
        (nearest,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return nearest


def _type(*values: Num) -> str:
    return next(value.type for value in values if isinstance(value, Reg))


class Builder:
    """The body of one function.  `width` is the number of f32 lanes of a vector."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.floats = vector(width, "float")
        self.ints = vector(width, "i32")
        self.masks = vector(width, "i1")
        self.declared: set[str] = set()
        self._places: list[str] = []
        self._lines: list[str] = []
        self._count = 0

    def line(self, text: str) -> None:
        self._lines.append(f"  {text}")

    def fresh(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def emit(self, type: str, text: str) -> Reg:
        """The value of one instruction."""
        name = "%" + self.fresh("t")
        self.line(f"{name} = {text}")
        return Reg(self, name, type)

    def text(self, value: Num, type: str) -> str:
        """An operand of the given type; a number is spread over a vector's lanes."""
        if isinstance(value, Reg):
            assert value.type == type, f"found {value.type}, wanted {type}"
            return value.name
        element = type.strip("<>").rpartition(" ")[2]
        if type == POINTER:
            return f"inttoptr (i64 {value} to ptr)"
        word = float_text(value) if element == "float" else str(int(value))
        if element == "i1":
            word = "true" if value else "false"
        if not type.startswith("<"):
            return word
        return f"splat ({element} {word})"

    def binary(self, op: str, a: Num, c: Num) -> Reg:
        type = _type(a, c)
        return self.emit(
            type, f"{op} {type} {self.text(a, type)}, {self.text(c, type)}"
        )

    def compare(self, kind: str, a: Reg, c: Num) -> Reg:
        """`kind` is LLVM's: olt, ogt, une … for floats, slt, eq … for integers."""
        word = "fcmp" if a.is_float else "icmp"
        lanes, separator, _ = a.type.strip("<>").rpartition(" x ")
        result = f"<{lanes} x i1>" if separator else "i1"
        text = f"{word} {kind} {a.type} {a}, {self.text(c, a.type)}"
        return self.emit(result, text)

    def select(self, condition: Reg, a: Num, c: Num) -> Reg:
        type = _type(a, c)
        left, right = self.text(a, type), self.text(c, type)
        text = f"select {condition.type} {condition}, {type} {left}, {type} {right}"
        return self.emit(type, text)

    def convert(self, op: str, value: Reg, type: str) -> Reg:
        return self.emit(type, f"{op} {value.type} {value} to {type}")

    def smallest(self, a: Int, c: Int) -> Int:
        """The smaller of two signed integers."""
        if isinstance(a, int) and isinstance(c, int):
            return min(a, c)
        left = self.index(a)
        return self.select(self.compare("slt", left, c), left, c)

    def largest(self, a: Int, c: Int) -> Int:
        """The larger of two signed integers."""
        if isinstance(a, int) and isinstance(c, int):
            return max(a, c)
        left = self.index(a)
        return self.select(self.compare("sgt", left, c), left, c)

    def index(self, value: Int) -> Reg:
        """A number as a 64-bit integer value."""
        return value if isinstance(value, Reg) else Reg(self, str(value), INDEX)

    def scalar(self, value: float) -> Reg:
        """A float constant."""
        return Reg(self, self.text(value, "float"), "float")

    def constant(self, value: float) -> Reg:
        """A float constant in every lane."""
        return Reg(self, self.text(value, self.floats), self.floats)

    def spread(self, value: Reg) -> Reg:
        """A scalar in every lane."""
        type = vector(self.width, value.type)
        one = self.emit(
            type, f"insertelement {type} poison, {value.type} {value}, i32 0"
        )
        zero = f"{vector(self.width, 'i32')} zeroinitializer"
        return self.emit(type, f"shufflevector {type} {one}, {type} poison, {zero}")

    def lanes(self) -> Reg:
        """The numbers of the lanes: 0, 1, 2, …."""
        words = ", ".join(f"i32 {lane}" for lane in range(self.width))
        return Reg(self, f"<{words}>", self.ints)

    def shuffle(self, a: Reg, c: Reg, picks: Sequence[int]) -> Reg:
        """Lanes picked out of the lanes of `a` followed by those of `c`."""
        words = ", ".join(f"i32 {pick}" for pick in picks)
        picked = f"{vector(len(picks), 'i32')} <{words}>"
        text = f"shufflevector {a.type} {a}, {c.type} {c}, {picked}"
        return self.emit(a.type, text)

    def intrinsic(self, name: str, type: str, *values: Num) -> Reg:
        """A call of `llvm.<name>`, overloaded on its result type alone."""
        suffix = type.strip("<>").replace(" x ", "").replace("float", "f32")
        if type.startswith("<"):
            suffix = "v" + suffix
        full = f"@llvm.{name}.{suffix}"
        self.declared.add(f"declare {type} {full}({', '.join([type] * len(values))})")
        words = ", ".join(f"{type} {self.text(value, type)}" for value in values)
        return self.emit(type, f"call {type} {full}({words})")

    def fma(self, a: Reg, c: Num, d: Num) -> Reg:
        """`a * c + d` with one rounding."""
        return self.intrinsic("fma", a.type, a, c, d)

    def at(self, address: Reg, offset: Int) -> Reg:
        """The address `offset` bytes further."""
        if isinstance(offset, int) and offset == 0:
            return address
        word = self.text(offset, INDEX)
        return self.emit(POINTER, f"getelementptr i8, ptr {address}, i64 {word}")

    def load(self, type: str, address: Reg, offset: Int = 0, align: int = 4) -> Reg:
        place = self.at(address, offset)
        return self.emit(type, f"load {type}, ptr {place}, align {align}")

    def store(self, value: Reg, address: Reg, offset: Int = 0, align: int = 4) -> None:
        place = self.at(address, offset)
        self.line(f"store {value.type} {value}, ptr {place}, align {align}")

    def var(self, type: str, start: Num) -> Var:
        """A variable with its first value."""
        name = "%" + self.fresh("v")
        self._places.append(f"  {name} = alloca {type}")
        made = Var(self, name, type)
        made.set(start)
        return made

    @contextmanager
    def loop(self, start: Int, stop: Int, step: int = 1) -> Generator[Reg]:
        """Count from `start` while below `stop`."""
        count = self.var(INDEX, start)
        head, body, done = (self.fresh(letter) for letter in ("head", "body", "done"))
        self.line(f"br label %{head}")
        self._lines.append(f"{head}:")
        now = count.get()
        more = self.compare("slt", now, stop)
        self.line(f"br i1 {more}, label %{body}, label %{done}")
        self._lines.append(f"{body}:")
        yield now
        count.set(now + step)
        self.line(f"br label %{head}")
        self._lines.append(f"{done}:")

    @contextmanager
    def when(self, condition: Reg) -> Generator[None]:
        """What happens only if the condition holds."""
        then, after = self.fresh("then"), self.fresh("after")
        self.line(f"br i1 {condition}, label %{then}, label %{after}")
        self._lines.append(f"{then}:")
        yield
        self.line(f"br label %{after}")
        self._lines.append(f"{after}:")

    def negated(self, condition: Reg) -> Reg:
        return self.emit(condition.type, f"xor {condition.type} {condition}, true")

    def run(self, name: str, *values: Reg) -> None:
        """Call a function of the module that gives nothing."""
        words = ", ".join(f"{value.type} {value}" for value in values)
        self.line(f"call void @{name}({words})")

    def function(
        self, name: str, arguments: Sequence[Reg], attributes: str, result: Reg | None
    ) -> str:
        """The text of the whole function."""
        words = ", ".join(f"{value.type} {value}" for value in arguments)
        kind = "void" if result is None else result.type
        last = "ret void" if result is None else f"ret {kind} {result}"
        body = "\n".join([*self._places, *self._lines, f"  {last}"])
        head = f"define {kind} @{name}({words}) nounwind {attributes}"
        return f"{head} {{\nentry:\n{body}\n}}\n"

    def argument(self, name: str, type: str) -> Reg:
        return Reg(self, f"%{name}", type)
