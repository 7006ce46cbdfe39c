"""Nested lists, tuples and dicts of arrays: apart into leaves, together again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from tessera.diagnostics import TesseraError
from tessera.frontend.traced.codes import ARGUMENT
from tessera.frontend.traced.places import here

Leaf = tuple[str, Any]


@dataclass(frozen=True, eq=False)
class Static:
    """A value that is no array: part of the structure, compared by type and value."""

    value: Any

    @property
    def token(self) -> tuple[Any, Hashable]:
        """What is compared: 1 and 1.0 differ, 0.0 and -0.0 too; NaN equals NaN."""
        value: Any = self.value
        kind: Any = value.__class__
        return kind, value.hex() if isinstance(value, float) else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.token == other.token

    def __hash__(self) -> int:
        return hash(self.token)


@dataclass(frozen=True)
class Tree:
    """The structure around leaves: `kind` of container, its keys, its children.

    A leaf has kind `array` and no children; a static value is its own key.
    """

    kind: str
    made: type | None = None
    keys: tuple[Any, ...] = ()
    children: tuple[Tree, ...] = ()


ARRAY = Tree("array")


def flatten(
    value: Any, leaf: Callable[[Any, str], Any | None], path: str = ""
) -> tuple[Tree, list[Leaf]]:
    """The structure of a value and its leaves by path, such as `params.layers.0.w`.

    `leaf(value, path)` gives what to keep of a leaf, or None when `value` is none; what
    is then no container is static and must be hashable, else TesseraError.
    """
    kept = leaf(value, path)
    if kept is not None:
        return ARRAY, [(path, kept)]
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, Any]", value)
        made = OrderedDict if isinstance(value, OrderedDict) else dict
        keys = tuple(Static(key) for key in mapping)
        return _many("dict", made, keys, mapping.items(), leaf, path)
    if isinstance(value, (list, tuple)):
        items = cast("list[Any]", value)
        names: Any = getattr(items, "_fields", range(len(items)))
        kind = "named" if hasattr(items, "_fields") else "sequence"
        pairs = zip(names, items, strict=True)
        return _many(kind, type(items), (), pairs, leaf, path)
    try:
        hash(value)
    except TypeError:
        text = f"{path or 'the value'} is a {type(value).__name__}, which is no array, "
        raise TesseraError(
            ARGUMENT,
            text + "no container of arrays and not hashable",
            here(),
            "pass arrays, numbers, hashable values, or lists, tuples and dicts of them",
        ) from None
    return Tree("static", keys=(Static(value),)), []


def _many(
    kind: str,
    made: type,
    keys: tuple[Any, ...],
    items: Iterable[tuple[Any, Any]],
    leaf: Callable[[Any, str], Any | None],
    path: str,
) -> tuple[Tree, list[Leaf]]:
    children: list[Tree] = []
    leaves: list[Leaf] = []
    for key, item in items:
        tree, found = flatten(item, leaf, f"{path}.{key}" if path else str(key))
        children.append(tree)
        leaves += found
    return Tree(kind, made, keys, tuple(children)), leaves


def unflatten(tree: Tree, leaves: Iterable[Any]) -> Any:
    """The value of a structure with these leaves, in the order `flatten` gave them."""
    return _build(tree, iter(leaves))


def _build(tree: Tree, leaves: Any) -> Any:
    if tree.kind == "array":
        return next(leaves)
    if tree.kind == "static":
        return tree.keys[0].value
    children = [_build(child, leaves) for child in tree.children]
    made = cast("Callable[..., Any]", tree.made)
    if tree.kind == "dict":
        keys = [key.value for key in tree.keys]
        return made(zip(keys, children, strict=True))
    return made(*children) if tree.kind == "named" else made(children)


def unique(names: Iterable[str]) -> list[str]:
    """The names, the later of two equal ones numbered so that all differ."""
    wanted = list(names)
    taken = set(wanted)
    seen: set[str] = set()
    result: list[str] = []
    for name in wanted:
        fresh, count = name, 1
        while fresh in seen or (fresh != name and fresh in taken):
            fresh, count = f"{name}_{count}", count + 1
        seen.add(fresh)
        result.append(fresh)
    return result
