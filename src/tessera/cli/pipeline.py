"""Pass pipelines as text: `builtin.module(a{option=1},func.func(b))`, or `a,b`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass

from tessera.diagnostics import TesseraError, declare

PIPELINE = declare(
    "TSR-G026",
    "a pass pipeline cannot be built",
    "The text names a pass or an option that does not exist, or its brackets do not "
    "match. `tessera-opt --list-passes` prints every pass.",
    "error",
)
ANCHORS = ("builtin.module", "func.func", "any")

Factories = Mapping[str, Callable[[], ModulePass]]
Aliases = Mapping[str, tuple[str, ...]]

_TOKEN = re.compile(r"\s*([\w.\-]+|[(),])\s*")
_OPTION = re.compile(r'\s*([\w\-]+)(?:=("[^"]*"|\{[^{}]*\}|[^\s{}"]*))?(?:\s+|$)')


@dataclass(frozen=True)
class Stage:
    """One pass to run, under the name it was asked for by."""

    name: str
    run: ModulePass


@dataclass
class Pipelines:
    """Builds passes from text, out of the passes and aliases of a catalog."""

    passes: Factories
    aliases: Aliases

    def parse(self, text: str) -> list[Stage]:
        """The stages of a pipeline; TesseraError for what does not exist.

        An anchor such as `func.func(…)` is followed for its passes, which all see the
        whole module.
        """
        named = [self.named(name, options) for name, options in _elements(text)]
        return [stage for stages in named for stage in stages]

    def named(self, name: str, options: str = "") -> list[Stage]:
        """The stages of one name, a pass or an alias."""
        if name in self.aliases:
            if options:
                raise _refuse(f"pipeline '{name}' takes no options, found '{options}'")
            return [stage for part in self.aliases[name] for stage in self.named(part)]
        if name not in self.passes:
            raise _refuse(f"'{name}' is no pass, wanted a name of --list-passes")
        made = self.passes[name]()
        return [Stage(name, _configured(name, made, options) if options else made)]


def _refuse(text: str) -> TesseraError:
    return TesseraError(PIPELINE, text)


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """Names and option texts in order; anchors are opened, brackets checked."""
    position, depth, wanted, opened = 0, 0, True, False
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _refuse(
                f"pipeline '{text}' cannot be read from '{text[position:]}' on"
            )
        word, position = match[1], match.end()
        if word == ")" and depth and (opened or not wanted):
            depth, wanted = depth - 1, False
        elif word == "," and not wanted:
            wanted = True
        elif word not in "()," and wanted:
            if text[position : position + 1] == "(":
                if word not in ANCHORS:
                    raise _refuse(
                        f"'{word}' holds no passes, wanted {' or '.join(ANCHORS)}"
                    )
                depth, position, opened = depth + 1, position + 1, True
                continue
            options, position = _braces(text, position)
            wanted = False
            yield word, options
        else:
            raise _refuse(f"pipeline '{text}' has an unexpected '{word}'")
        opened = False
    if depth:
        raise _refuse(f"pipeline '{text}' lacks {depth} closing brackets")
    if wanted and text.strip():
        raise _refuse(f"pipeline '{text}' ends where a pass was wanted")


def _braces(text: str, start: int) -> tuple[str, int]:
    """The text in `{…}` at a position, if there is any, and where it ends."""
    if text[start : start + 1] != "{":
        return "", start
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start + 1 : i].strip(), i + 1
    raise _refuse(f"pipeline '{text}' lacks a closing brace")


def _configured(name: str, made: ModulePass, options: str) -> ModulePass:
    """The pass with its options set; TesseraError names what it does not take."""
    hints = get_type_hints(type(made))
    known = [f.name for f in fields(made) if f.metadata.get("option", True)]
    values: dict[str, Any] = {}
    position = 0
    while position < len(options):
        match = _OPTION.match(options, position)
        if match is None:
            raise _refuse(f"options of '{name}' cannot be read: '{options[position:]}'")
        key, position = match[1].replace("-", "_"), match.end()
        if key not in known:
            raise _refuse(f"'{name}' has no option '{match[1]}', wanted {_or(known)}")
        written = match[2]
        if written and written[0] in '"{':
            written = written[1:-1]
        try:
            values[key] = option_value(written, hints[key])
        except ValueError:
            text = f"option '{match[1]}' of '{name}' is '{written or ''}', wanted"
            raise _refuse(f"{text} {_spelled(hints[key])}") from None
    return replace(made, **values)


def _or(names: Sequence[str]) -> str:
    return " or ".join(name.replace("_", "-") for name in names) or "no option"


def _spelled(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint)


def option_value(text: str | None, hint: Any) -> Any:
    """The value of an option; an option without one is a flag."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        first = next(part for part in inner if part is not NoneType)
        return None if text is None else option_value(text, first)
    if origin is tuple:
        return (
            tuple(option_value(part, inner[0]) for part in text.split(","))
            if text
            else ()
        )
    if hint is bool:
        if text not in (None, "true", "false", "1", "0"):
            raise ValueError
        return text in (None, "true", "1")
    if text is None or hint not in (int, float, str):
        raise ValueError
    return hint(text)
