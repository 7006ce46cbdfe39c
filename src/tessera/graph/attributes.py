"""The kinds of attribute a graph op declares: reading, writing and defaults in one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.ir import Attribute

Option = bool | int | float | str | tuple[int, ...] | None


class _Required:
    """The default of an attribute that must be given."""


REQUIRED = _Required()


TRUE, FALSE = BoolAttr.from_bool(True), BoolAttr.from_bool(False)


class BadAttribute(Exception):
    """An attribute holds something its kind does not read; the text says what."""


@dataclass(frozen=True)
class Kind:
    """One declared attribute: how it is read from MLIR and written back."""

    default: Any = REQUIRED
    wanted: ClassVar[str] = "an attribute"
    bases: ClassVar[tuple[str, ...]] = ()

    @property
    def required(self) -> bool:
        """Whether an op without it is malformed."""
        return self.default is REQUIRED

    def read(self, attribute: Attribute) -> Any:
        """The Python value, or BadAttribute."""
        raise NotImplementedError

    def write(self, value: Any) -> Attribute:
        """The canonical MLIR attribute."""
        raise NotImplementedError

    def says(self) -> str:
        """What is wanted, in words."""
        return self.wanted

    def irdl(self) -> tuple[str, ...]:
        """The IRDL constraints of which an attribute of this kind meets one."""
        return tuple(f"irdl.base {base}" for base in self.bases)

    def refuse(self, attribute: Attribute) -> BadAttribute:
        """What to raise when `attribute` is of another kind."""
        return BadAttribute(f"is {attribute}, wanted {self.says()}")


def _integer(attribute: Attribute) -> int | None:
    """The value of an integer attribute; None for a boolean or anything else."""
    if isinstance(attribute, IntegerAttr):
        integer = cast("IntegerAttr[Any]", attribute)
        return None if integer.type == i1 else integer.value.data
    return None


def _boolean(attribute: Attribute) -> bool | None:
    """The value of a unit or i1 attribute; None for anything else."""
    if isinstance(attribute, UnitAttr):
        return True
    if isinstance(attribute, IntegerAttr):
        integer = cast("IntegerAttr[Any]", attribute)
        return integer.value.data != 0 if integer.type == i1 else None
    return None


@dataclass(frozen=True)
class Int(Kind):
    """An integer of any width; written as i64."""

    wanted: ClassVar[str] = "an integer"
    bases: ClassVar[tuple[str, ...]] = ('"#builtin.integer"',)

    def read(self, attribute: Attribute) -> int:
        value = _integer(attribute)
        if value is None:
            raise self.refuse(attribute)
        return value

    def write(self, value: int) -> Attribute:
        return IntegerAttr(value, i64)


@dataclass(frozen=True)
class Float(Kind):
    """A float of any float type (its own value is kept), or an integer; written as f64."""

    wanted: ClassVar[str] = "a float"
    bases: ClassVar[tuple[str, ...]] = ('"#builtin.float"', '"#builtin.integer"')

    def read(self, attribute: Attribute) -> float:
        if isinstance(attribute, FloatAttr):
            return attribute.value.data
        value = _integer(attribute)
        if value is None:
            raise self.refuse(attribute)
        return float(value)

    def write(self, value: float) -> Attribute:
        return FloatAttr(float(value), f64)


@dataclass(frozen=True)
class Bool(Kind):
    """A flag: `true`, `false`, or present as unit; written as a boolean."""

    default: Any = False
    wanted: ClassVar[str] = "a boolean or unit"
    bases: ClassVar[tuple[str, ...]] = ('"#builtin.integer"', '"#builtin.unit"')

    def read(self, attribute: Attribute) -> bool:
        value = _boolean(attribute)
        if value is None:
            raise self.refuse(attribute)
        return value

    def write(self, value: bool) -> Attribute:
        return TRUE if value else FALSE


@dataclass(frozen=True)
class Word(Kind):
    """One word of a fixed set."""

    words: tuple[str, ...] = ()

    def read(self, attribute: Attribute) -> str:
        if not isinstance(attribute, StringAttr) or attribute.data not in self.words:
            raise self.refuse(attribute)
        return attribute.data

    def says(self) -> str:
        return "one of " + ", ".join(f'"{word}"' for word in self.words)

    def irdl(self) -> tuple[str, ...]:
        return tuple(f'irdl.is "{word}"' for word in self.words)

    def write(self, value: str) -> Attribute:
        return StringAttr(value)


@dataclass(frozen=True)
class Causal(Kind):
    """`"none"`, `"top_left"` or `"bottom_right"`; a boolean true means top_left."""

    default: Any = "none"
    words: ClassVar[tuple[str, ...]] = ("none", "top_left", "bottom_right")
    wanted: ClassVar[str] = '"none", "top_left", "bottom_right" or a boolean'
    bases: ClassVar[tuple[str, ...]] = (
        '"#builtin.string"',
        '"#builtin.integer"',
        '"#builtin.unit"',
    )

    def read(self, attribute: Attribute) -> str:
        if isinstance(attribute, StringAttr) and attribute.data in self.words:
            return attribute.data
        value = _boolean(attribute)
        if value is None:
            raise self.refuse(attribute)
        return "top_left" if value else "none"

    def write(self, value: str | bool) -> Attribute:
        if isinstance(value, bool):
            value = "top_left" if value else "none"
        return StringAttr(value)


@dataclass(frozen=True)
class Ints(Kind):
    """A list of integers, as `array<i64: …>` or `[…]`; written as array<i64>."""

    wanted: ClassVar[str] = "a list of integers"
    bases: ClassVar[tuple[str, ...]] = ('"#builtin.dense_array"', '"#builtin.array"')

    def read(self, attribute: Attribute) -> tuple[int, ...]:
        if isinstance(attribute, DenseArrayBase):
            return tuple(int(v) for v in attribute.get_values())
        if isinstance(attribute, ArrayAttr):
            items = cast("ArrayAttr[Attribute]", attribute).data
            values = [_integer(item) for item in items]
            if None not in values:
                return tuple(v for v in values if v is not None)
        raise self.refuse(cast("Attribute", attribute))

    def write(self, value: Sequence[int]) -> Attribute:
        return DenseArrayBase.from_list(i64, list(value))


@dataclass(frozen=True)
class Constant(Kind):
    """A tensor literal or a weight handle; kept as the attribute it is."""

    wanted: ClassVar[str] = "dense<…> or #tessera.weight<…>"
    bases: ClassVar[tuple[str, ...]] = (
        "@tessera::@weight",
        '"#builtin.dense_int_or_fp_elements"',
    )

    def read(self, attribute: Attribute) -> Attribute:
        return attribute

    def write(self, value: Attribute) -> Attribute:
        return value


@dataclass(frozen=True)
class Text(Kind):
    """Any string."""

    wanted: ClassVar[str] = "a string"
    bases: ClassVar[tuple[str, ...]] = ('"#builtin.string"',)

    def read(self, attribute: Attribute) -> str:
        if not isinstance(attribute, StringAttr):
            raise self.refuse(attribute)
        return attribute.data

    def write(self, value: str) -> Attribute:
        return StringAttr(value)


@dataclass(frozen=True)
class Texts(Kind):
    """A list of strings."""

    wanted: ClassVar[str] = "a list of strings"
    bases: ClassVar[tuple[str, ...]] = ('"#builtin.array"',)

    def read(self, attribute: Attribute) -> tuple[str, ...]:
        if isinstance(attribute, ArrayAttr):
            items = cast("ArrayAttr[Attribute]", attribute).data
            words = [item.data for item in items if isinstance(item, StringAttr)]
            if len(words) == len(items):
                return tuple(words)
        raise self.refuse(cast("Attribute", attribute))

    def write(self, value: Sequence[str]) -> Attribute:
        return ArrayAttr([StringAttr(word) for word in value])


@dataclass(frozen=True)
class Symbol(Kind):
    """A symbol of the module, without nesting."""

    wanted: ClassVar[str] = "a symbol"
    bases: ClassVar[tuple[str, ...]] = ('"#builtin.symbol_ref"',)

    def read(self, attribute: Attribute) -> str:
        if not isinstance(attribute, SymbolRefAttr) or attribute.nested_references.data:
            raise self.refuse(attribute)
        return attribute.root_reference.data

    def write(self, value: str) -> Attribute:
        return SymbolRefAttr(value)
