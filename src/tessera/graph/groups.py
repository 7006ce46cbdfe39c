"""Groups of operands and results, as official MLIR counts them.

A declared name stands for one value (`x`), for one or none (`mask?`), or for any number
(`xs*`).  Official MLIR is told how many values each group took, in an attribute of the
generic form, where more than one group may differ; a group of several values holds values
of one type.  So `xs*` is a fixed number of groups there, one for each run of equal types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.ir import Attribute, Operation

from tessera.graph.attributes import Kind

OPERAND_SEGMENTS = "operandSegmentSizes"
RESULT_SEGMENTS = "resultSegmentSizes"
RUNS = 16


@dataclass(frozen=True)
class Group:
    """One group: its name and "", "optional" or "variadic"."""

    name: str
    size: str = ""


def groups(declared: Sequence[str]) -> tuple[Group, ...]:
    """The groups that declared names stand for."""
    found: list[Group] = []
    for name in declared:
        if name.endswith("*"):
            stem = name[:-1]
            found += [Group(f"{stem}_{i}", "variadic") for i in range(RUNS)]
        else:
            found.append(Group(name.rstrip("?"), "optional" if "?" in name else ""))
    return tuple(found)


def segment_sizes(
    declared: Sequence[str], types: Sequence[Attribute]
) -> Attribute | None:
    """How many values each group takes; None where the number of values tells it.

    Values that do not fit the declaration have no sizes either.
    """
    if any(name.endswith("*") for name in declared):
        sizes = [len(list(run)) for _, run in groupby(types)]
        width = RUNS
    else:
        if sum(name.endswith("?") for name in declared) < 2:
            return None
        sizes, width = [1] * len(types), len(declared)
        if len(types) < sum(not name.endswith("?") for name in declared):
            return None
    if len(sizes) > width:
        return None
    return DenseArrayBase.from_list(i32, [*sizes, *[0] * (width - len(sizes))])


class GroupedOp(Operation):
    """An op that declares its operands (`ins`), results (`outs`) and attributes by name.

    Of operands and results, `name?` is optional (last), `name*` any number (alone).
    """

    ins: ClassVar[tuple[str, ...]] = ()
    outs: ClassVar[tuple[str, ...]] = ("out",)
    attrs: ClassVar[Mapping[str, Kind]] = {}

    def __post_init__(self) -> None:
        if self.properties:  # `<{…}>` and `{…}` mean the same here
            self.attributes = {**self.properties, **self.attributes}
            self.properties = {}
        if OPERAND_SEGMENTS in self.attributes or RESULT_SEGMENTS in self.attributes:
            for key, right in self.segments().items():
                if self.attributes.get(key) == right:
                    del self.attributes[key]

    def segments(self) -> dict[str, Attribute]:
        """The sizes of groups that the generic form states beside the attributes.

        They say nothing that the operands do not, so an op never keeps them.
        """
        both = {
            OPERAND_SEGMENTS: segment_sizes(self.ins, self.operand_types),
            RESULT_SEGMENTS: segment_sizes(self.outs, self.result_types),
        }
        return {key: sizes for key, sizes in both.items() if sizes is not None}
