"""Where in the user's program an op was asked for."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import CodeType, FrameType

from xdsl.dialects.builtin import LocationAttr, UnknownLoc

from tessera.diagnostics import Location
from tessera.graph.locations import file_location, named_location, read_location

PACKAGE = str(Path(__file__).resolve().parents[2]) + "/"

_SCOPES: ContextVar[tuple[str, ...]] = ContextVar("tessera_scopes", default=())


@contextmanager
def scope(name: str) -> Generator[None]:
    """Put `name` before the layer of every op asked for inside.

    The layer is what reports call the part of the model an op belongs to; by itself
    it is the qualified name of the function that asked.
    """
    token = _SCOPES.set((*_SCOPES.get(), name))
    try:
        yield
    finally:
        _SCOPES.reset(token)


def place_of(name: str) -> LocationAttr:
    """The MLIR location of the op called `name`: layer, file, line and column."""
    frame = _user_frame()
    if frame is None:
        return UnknownLoc()
    code = frame.f_code
    line, column = _position(code, frame.f_lasti)
    where = file_location(code.co_filename, line or frame.f_lineno, column)
    layer = ".".join((*_SCOPES.get(), _layer(code)))
    return named_location(f"{layer}/{name}", where)


def here() -> Location:
    """The user's line that is running now."""
    return read_location(place_of(""))


def _user_frame() -> FrameType | None:
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None and _is_ours(frame.f_code):
        frame = frame.f_back
    return frame


@lru_cache(maxsize=4096)
def _is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(PACKAGE)


@lru_cache(maxsize=65536)
def _position(code: CodeType, instruction: int) -> tuple[int, int]:
    """Line and column, both from 1, of an instruction; 0 for a line not known."""
    found = next(islice(code.co_positions(), instruction // 2, None), None)
    if found is None:
        return 0, 1
    line, _, column, _ = found
    return line or 0, (column or 0) + 1


@lru_cache(maxsize=4096)
def _layer(code: CodeType) -> str:
    """The function's qualified name, without what Python puts into angle brackets."""
    parts = [p for p in code.co_qualname.split(".") if not p.startswith("<")]
    return ".".join(parts) or "main"
