"""Places in MLIR: made for new ops, read for messages and records."""

from __future__ import annotations

from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    StringAttr,
)
from xdsl.ir import Operation

from tessera.diagnostics import Location


@cache
def file_location(file: str, line: int, column: int) -> FileLineColLoc:
    """The interned location of a position in a file (1-based)."""
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def named_location(name: str, inner: LocationAttr) -> NameLoc:
    """A location that also carries a model's own name, `layer scope/node`."""
    return NameLoc(StringAttr(name), inner)


def location_of(op: Operation) -> Location:
    """The place of an op: its first file position and its name, if it has one."""
    return read_location(op.location)


def read_location(attribute: LocationAttr) -> Location:
    """The place an MLIR location names; the outermost name is `layer/node`."""
    name, leaf = "", None
    todo: list[LocationAttr] = [attribute]
    while todo and leaf is None:
        item = todo.pop(0)
        if isinstance(item, FileLineColLoc):
            leaf = item
        elif isinstance(item, NameLoc):
            name = name or item.desc.data
            todo.insert(0, cast(LocationAttr, item.location))
        elif isinstance(item, CallSiteLoc):
            todo.insert(0, cast(LocationAttr, item.callee))
        elif isinstance(item, FusedLoc):
            todo[:0] = cast("ArrayAttr[LocationAttr]", item.locations).data
    layer, _, node = name.rpartition("/")
    if leaf is None:
        return Location(name=node, layer=layer)
    position = leaf.filename.data, leaf.line.data, leaf.column.data
    return Location(*position, name=node, layer=layer)
