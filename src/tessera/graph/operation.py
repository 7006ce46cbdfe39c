"""What every graph op shares: declared operands and attributes, a fast verifier, a meaning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import LocationAttr, TensorType
from xdsl.ir import Attribute, OpTraits, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tessera.diagnostics import Code, declare
from tessera.graph.attributes import BadAttribute, Kind
from tessera.graph.groups import GroupedOp
from tessera.graph.types import DYN, NAMES, Shape, Tensor, compatible, dtype_of, show
from tessera.reference import PRIMITIVES

OPERANDS = declare(
    "TSR-G001",
    "wrong number of operands",
    "A graph op was given more or fewer operands than it declares. `tessera.<op>` takes the "
    "operands its documentation lists; optional ones come last.",
    "error",
)
TYPES = declare(
    "TSR-G002",
    "an operand or result is not a tensor of a known element type",
    "Graph ops work on ranked tensors of f16, bf16, f32, f64, i1, i8..i64 and ui8..ui64.",
    "error",
)
ATTRIBUTE = declare(
    "TSR-G003",
    "an attribute is missing, unknown or of another kind",
    "A graph op's own attributes are declared; notes of other tools carry a dialect prefix "
    "such as `tessera.fusion.intent`. Remove or correct the named attribute.",
    "error",
)
RESULT = declare(
    "TSR-G004",
    "the result type is not what the operands give",
    "The declared result shape or element type differs from the one the op computes.",
    "error",
)

Options = Mapping[str, Any]


def malformed(code: Code, text: str) -> VerifyException:
    """The error of a broken op, with its code."""
    return VerifyException(f"[{code.id}] {text}")


def read_options(
    kinds: Mapping[str, Kind], attributes: Mapping[str, Attribute]
) -> dict[str, Any]:
    """Declared attributes as Python values with defaults; VerifyException when malformed."""
    values: dict[str, Any] = {}
    for key, kind in kinds.items():
        attribute = attributes.get(key)
        if attribute is not None:
            try:
                values[key] = kind.read(attribute)
            except BadAttribute as bad:
                raise malformed(ATTRIBUTE, f"attribute '{key}' {bad}") from None
        elif kind.required:
            raise malformed(ATTRIBUTE, f"needs attribute '{key}'")
        else:
            values[key] = kind.default
    return values


class GraphOp(GroupedOp):
    """A tensor operation.  Subclasses declare; this class reads, checks and prints.

    `typed`: keywords of the meaning that the result type supplies ("shape", "dtype").
    """

    typed: ClassVar[tuple[str, ...]] = ()
    traits: ClassVar[OpTraits] = traits_def(Pure())

    @classmethod
    def infer(
        cls, types: Sequence[Tensor], options: Options, declared: Sequence[Tensor]
    ) -> Sequence[Tensor]:
        """The result types; VerifyException when operands or options do not fit.

        `declared` are the types the program states; ops whose result type is free
        (`typed`) check and return them.
        """
        raise NotImplementedError

    @classmethod
    def short(cls) -> str:
        """The name without the dialect: the key of its reference meaning."""
        return cls.name.removeprefix("tessera.")

    @classmethod
    @cache
    def arity(cls) -> tuple[int, int]:
        """Fewest and most operands."""
        if any(name.endswith("*") for name in cls.ins):
            return 1, 1 << 30
        return sum(not name.endswith("?") for name in cls.ins), len(cls.ins)

    @classmethod
    def meaning(cls) -> Callable[..., Any]:
        """The NumPy function this op computes."""
        return PRIMITIVES[cls.short()]

    @classmethod
    def build(
        cls,
        operands: Sequence[SSAValue],
        result_types: Sequence[Tensor] | None = None,
        location: LocationAttr | None = None,
        **options: Any,
    ) -> Self:
        """Make the op, inferring result types unless they are free and given."""
        filled = cls.fill(options)
        if result_types is None:
            types = [cast(Tensor, operand.type) for operand in operands]
            result_types = cls.infer(types, filled, ())
        return cls.create(
            operands=operands,
            result_types=result_types,
            attributes=cls.write(options),
            location=location,
        )

    @classmethod
    def fill(cls, options: Options) -> dict[str, Any]:
        """The options with defaults in place; VerifyException for a wrong name."""
        unknown = set(options) - set(cls.attrs)
        if unknown:
            raise malformed(ATTRIBUTE, f"has no attribute '{sorted(unknown)[0]}'")
        missing = [
            k for k, kind in cls.attrs.items() if kind.required and k not in options
        ]
        if missing:
            raise malformed(ATTRIBUTE, f"needs attribute '{missing[0]}'")
        return {k: options.get(k, kind.default) for k, kind in cls.attrs.items()}

    @classmethod
    def write(cls, options: Options) -> dict[str, Attribute]:
        """The options as attributes; those that are None stay away."""
        return {
            key: cls.attrs[key].write(value)
            for key, value in options.items()
            if value is not None
        }

    def options(self) -> dict[str, Any]:
        """The declared attributes as Python values, absent ones at their default.

        Undeclared (discardable) attributes never appear here, so no note of another
        pass can reach an executed op's arguments.
        """
        return read_options(self.attrs, self.attributes)

    def keywords(self) -> dict[str, Any]:
        """The keyword arguments of the op's meaning: options and what the type supplies."""
        result = self.results[0].type if self.typed else None
        return {**self.options(), **self.type_keywords(result)}

    @classmethod
    def type_keywords(cls, result: Attribute | None) -> dict[str, Any]:
        """The keyword arguments that the (first) result type supplies."""
        values: dict[str, Any] = {}
        if "shape" in cls.typed:
            shape = cast(Tensor, result).get_shape()
            values["shape"] = tuple(-1 if s == DYN else s for s in shape)
        if "dtype" in cls.typed:
            values["dtype"] = dtype_of(cast(Tensor, result))
        return values

    def operand_named(self, name: str) -> SSAValue | None:
        """The operand of that declared name, or None when it is absent."""
        names = [n.rstrip("?") for n in self.ins]
        index = names.index(name)
        return self.operands[index] if index < len(self.operands) else None

    def verify_(self) -> None:
        """Check counts, types, attributes and shapes in one pass."""
        self._verify_counts()
        for key in self.attributes:
            if key not in self.attrs and "." not in key:
                raise malformed(ATTRIBUTE, f"has no attribute '{key}'")
        types = [_tensor(operand.type) for operand in self.operands]
        declared = [_tensor(result.type) for result in self.results]
        expected = self.infer(types, self.options(), declared)
        for found, wanted in zip(declared, expected, strict=True):
            if found is not wanted and found != wanted:
                _verify_result(found, wanted)

    def _verify_counts(self) -> None:
        low, high = self.arity()
        count = len(self.operands)
        if not low <= count <= high:
            wanted = str(low) if low == high else f"{low} to {high}"
            raise malformed(OPERANDS, f"takes {wanted} operands, found {count}")
        if len(self.results) != len(self.outs):
            text = f"gives {len(self.outs)} results, found {len(self.results)}"
            raise malformed(OPERANDS, text)
        if self.regions or self.successors:
            raise malformed(OPERANDS, "takes no region and no successor")


def _tensor(type: Attribute) -> Tensor:
    if not isinstance(type, TensorType) or type.element_type not in NAMES:  # pyright: ignore[reportUnknownMemberType]
        raise malformed(TYPES, f"works on tensors, found {type}")
    return cast(Tensor, type)


def _verify_result(found: Tensor, wanted: Tensor) -> None:
    if found.element_type != wanted.element_type:
        text = f"result has element type {found.element_type}, wanted {wanted.element_type}"
        raise malformed(RESULT, text)
    shape: Shape = found.get_shape()
    if not compatible(shape, wanted.get_shape()):
        text = f"result has shape {show(shape)}, wanted {show(wanted.get_shape())}"
        raise malformed(RESULT, text)
