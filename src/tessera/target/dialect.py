"""The Apple Target IR: what will be launched, on any host, without a device.

`tessera_apple.gpu_call` and `cpu_call` launch one entry symbol.  Their declared
attributes are `op` (what is computed), the options of that op, and for a fused call
`roles` and `gives` (which operands and results are there).  `tessera.fusion.*` are notes
about the decision and never arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Dialect, OpTraits, SSAValue
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tessera.diagnostics import declare
from tessera.graph.attributes import BadAttribute, Kind, Symbol, Text, Texts
from tessera.graph.groups import OPERAND_SEGMENTS, RESULT_SEGMENTS, GroupedOp

MALFORMED = declare(
    "TSR-T001",
    "a target call is malformed",
    "A call names its entry symbol, its `op`, and as many roles as it has operands. Lower "
    "the graph again instead of editing the call.",
    "error",
)
KERNEL = "tessera.fusion.kernel"
SOURCE = "tessera.fusion.source"
SITE = "tessera.fusion.id"
NOTES = "tessera.fusion."


def _malformed(text: str) -> VerifyException:
    return VerifyException(f"[{MALFORMED.id}] {text}")


@cache
def _symbol(name: str) -> SymbolRefAttr:
    """The interned reference to an entry."""
    return SymbolRefAttr(name)


class TargetOp(GroupedOp):
    """An op of Target IR: its declared attributes are as its class says."""

    def verify_(self) -> None:
        """Check the declared attributes, and that there is no region."""
        for key, kind in self.attrs.items():
            attribute = self.attributes.get(key)
            if attribute is None:
                if kind.required:
                    raise _malformed(f"needs attribute '{key}', {kind.says()}")
                continue
            try:
                kind.read(attribute)
            except BadAttribute as bad:
                raise _malformed(f"attribute '{key}' {bad}") from None
        for key in (OPERAND_SEGMENTS, RESULT_SEGMENTS):
            if key in self.attributes:
                raise _malformed(f"attribute '{key}' is not what the values tell")
        if self.regions or self.successors:
            raise _malformed("takes no region and no successor")


class CallOp(TargetOp):
    """A launch of one entry symbol on the device the op's name tells."""

    ins: ClassVar[tuple[str, ...]] = ("args*",)
    outs: ClassVar[tuple[str, ...]] = ("results*",)
    attrs: ClassVar[Mapping[str, Kind]] = {
        "callee": Symbol(),
        "op": Text(),
        "roles": Texts(()),
        "gives": Texts(()),
    }
    traits: ClassVar[OpTraits] = traits_def(Pure())

    @classmethod
    def of(
        cls,
        symbol: str,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        attributes: Mapping[str, Attribute],
        location: LocationAttr,
    ) -> CallOp:
        """Make a call of `symbol`."""
        notes = {"callee": _symbol(symbol), **attributes}
        return cls.create(
            operands=operands,
            result_types=result_types,
            attributes=notes,
            location=location,
        )

    @property
    def symbol(self) -> str:
        """The entry symbol."""
        return cast(SymbolRefAttr, self.attributes["callee"]).root_reference.data

    @property
    def op(self) -> str:
        """What is computed: a graph op's short name, or a kernel's name."""
        return cast(StringAttr, self.attributes["op"]).data

    def note(self, key: str) -> str | None:
        """A `tessera.fusion.*` note, or None."""
        attribute = self.attributes.get(key)
        return attribute.data if isinstance(attribute, StringAttr) else None

    def words(self, key: str) -> tuple[str, ...]:
        """The words of a declared list attribute; empty when absent."""
        attribute = self.attributes.get(key)
        if not isinstance(attribute, ArrayAttr):
            return ()
        items = cast("ArrayAttr[Attribute]", attribute).data
        return tuple(item.data for item in items if isinstance(item, StringAttr))

    def verify_(self) -> None:
        """Check the declared attributes and that operands are tensors."""
        super().verify_()
        for value in (*self.operands, *self.results):
            if not isinstance(value.type, TensorType):
                raise _malformed(f"works on tensors, found {value.type}")
        roles = self.words("roles")
        if self.note(KERNEL) is None:
            return
        if len(roles) != len(self.operands):
            raise _malformed(
                f"has {len(self.operands)} operands and {len(roles)} roles"
            )
        if self.note(SOURCE) not in ("descriptor", "rediscovered", "composite_op"):
            raise _malformed(f"has {SOURCE} = {self.attributes.get(SOURCE)}")

    def print(self, printer: Printer) -> None:
        """`@callee(%a, %b) {sorted attributes} : (types) -> types`."""
        printer.print_string(f" @{self.symbol}(")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(")")
        rest = {k: v for k, v in sorted(self.attributes.items()) if k != "callee"}
        printer.print_op_attributes(rest)
        printer.print_string(" : ")
        inputs = [operand.type for operand in self.operands]
        results = [result.type for result in self.results]
        printer.print_attribute(FunctionType.from_lists(inputs, results))

    @classmethod
    def parse(cls, parser: Parser) -> CallOp:
        """Read what `print` writes."""
        callee = parser.parse_symbol_name()
        operands = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, parser.parse_unresolved_operand
        )
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_function_type()
        values = parser.resolve_operands(operands, type.inputs.data, position)
        return cls.create(
            operands=values,
            result_types=type.outputs.data,
            attributes={"callee": SymbolRefAttr(callee), **attributes},
        )


class GpuCallOp(CallOp):
    """A launch on the Apple GPU."""

    name = "tessera_apple.gpu_call"


class CpuCallOp(CallOp):
    """A launch on the CPU."""

    name = "tessera_apple.cpu_call"


class DeclareOp(TargetOp):
    """An entry symbol that the runtime provides."""

    name = "tessera_apple.declare"
    outs: ClassVar[tuple[str, ...]] = ()
    attrs: ClassVar[Mapping[str, Kind]] = {"sym_name": Text()}
    traits: ClassVar[OpTraits] = traits_def()

    @property
    def symbol(self) -> str:
        """The declared symbol."""
        return cast(StringAttr, self.attributes["sym_name"]).data

    @classmethod
    def of(cls, symbol: str) -> DeclareOp:
        """Declare `symbol`."""
        return cls.create(attributes={"sym_name": StringAttr(symbol)})

    def verify_(self) -> None:
        """Check that the symbol is there, and nothing else."""
        super().verify_()
        if self.operands or self.results:
            raise _malformed("takes no operand and gives no result")

    def print(self, printer: Printer) -> None:
        """` @symbol`."""
        printer.print_string(f" @{self.symbol}")

    @classmethod
    def parse(cls, parser: Parser) -> DeclareOp:
        """Read what `print` writes."""
        return cls.create(attributes={"sym_name": parser.parse_symbol_name()})


def words(values: Sequence[str]) -> Any:
    """A list attribute of words."""
    return ArrayAttr([StringAttr(value) for value in values])


TesseraApple = Dialect("tessera_apple", [GpuCallOp, CpuCallOp, DeclareOp], [])
