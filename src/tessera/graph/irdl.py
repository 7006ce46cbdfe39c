"""A dialect as IRDL text, for official MLIR: `mlir-opt --irdl-file=FILE`.

IRDL names the base of a type or attribute.  It cannot say element types, shapes, or
attributes that may be absent: those stand in the text as comments, and our own verifier
alone checks them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from tessera.graph.groups import Group, GroupedOp, groups

TENSOR = 'irdl.base "!builtin.tensor"'


def dialect_text(
    name: str, ops: Iterable[type[GroupedOp]], attributes: str = ""
) -> str:
    """The `irdl.dialect` of a name, its ops in the order of their names.

    `attributes` is the IRDL of the attributes that the dialect defines.
    """
    blocks = [attributes] if attributes else []
    for op in sorted(ops, key=lambda op: op.name):
        title = f"irdl.operation @{op.name.partition('.')[2]} {{"
        blocks.append("\n".join([title, *_indented(_operation(op)), "}"]))
    lines = [line for block in blocks for line in _indented(block.splitlines())]
    return "\n".join([f"irdl.dialect @{name} {{", *lines, "}"]) + "\n"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _operation(op: type[GroupedOp]) -> Iterator[str]:
    yield from _values("operands", groups(op.ins))
    yield from _values("results", groups(op.outs))
    required = [name for name, kind in op.attrs.items() if kind.required]
    for name in required:
        yield from _attribute(f"%attr_{name}", op.attrs[name].irdl())
    if required:
        pairs = ", ".join(f'"{name}" = %attr_{name}' for name in required)
        yield f"irdl.attributes {{{pairs}}}"
    for name, kind in op.attrs.items():
        if not kind.required:
            yield f"// optional {name}: {kind.says()}{_default(kind.default)}"


def _default(value: object) -> str:
    return "" if value is None else f"; default {json.dumps(value)}"


def _values(what: str, declared: Sequence[Group]) -> Iterator[str]:
    """A constraint for each group: values that share one must be of the same type."""
    for group in declared:
        yield f"%{group.name} = {TENSOR}"
    if declared:
        listed = [f"{g.name}: {f'{g.size} '.lstrip()}%{g.name}" for g in declared]
        yield f"irdl.{what}({', '.join(listed)})"


def _attribute(variable: str, choices: Sequence[str]) -> Iterator[str]:
    """A variable that holds one of the choices, each an IRDL constraint."""
    if len(choices) == 1:
        yield f"{variable} = {choices[0]}"
        return
    names = [f"{variable}_{i}" for i in range(len(choices))]
    for name, choice in zip(names, choices, strict=True):
        yield f"{name} = {choice}"
    yield f"{variable} = irdl.any_of({', '.join(names)})"
