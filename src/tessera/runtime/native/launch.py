"""Calls machine code: fills the frame, lets the code plan, takes its tasks."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import Any, cast

import numpy as np

from tessera.artifact import Native
from tessera.reference import Array
from tessera.reference.dtypes import DTYPES
from tessera.runtime.native.llvm import Entries, load

THREADS = "TESSERA_NUM_THREADS"
WORD = 8
PLANS = 256  # layouts whose plans are kept, for each launcher
LINE = 64
Layout = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
_PLAN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


@cache
def thread_count() -> int:
    """`TESSERA_NUM_THREADS` as first read; 1 when it is not set or no number above 0."""
    text = os.environ.get(THREADS, "")
    return max(1, int(text)) if text.isdecimal() else 1


@dataclass(frozen=True)
class _Planned:
    """A frame without addresses, and what the code's plan put into it."""

    words: bytes
    shapes: tuple[tuple[int, ...], ...]
    tasks: int
    scratch: int


class Launcher:
    """One native call, as a function of its operands that are present.

    Attributes are part of the code.  Raises ValueError for arrays that the code was not
    made for, or whose sizes do not fit each other.  `empty` makes results and scratch.
    """

    def __init__(
        self, native: Native, text: str, empty: Callable[..., Array] = np.empty
    ) -> None:
        self._native = native
        self._empty = empty
        self._entries: Entries = load(text)
        self._plan = _PLAN(self._entries.plan)
        self._run = _RUN(self._entries.run)
        self._dtypes = [DTYPES[dtype] for dtype, _ in native.operands]
        self._given = [DTYPES[dtype] for dtype, _ in native.results]
        self._places: list[int] = []
        size = 2
        for _, rank in (*native.operands, *native.results):
            self._places.append(size)
            size += 1 + 2 * rank
        self._frame = ctypes.c_int64 * size
        self._plans: dict[Layout, _Planned] = {}

    def __call__(self, *operands: Any, **_: Any) -> tuple[Array, ...]:
        arrays = self._checked([x for x in operands if x is not None])
        key = tuple([(array.shape, array.strides) for array in arrays])
        planned = self._plans.get(key) or self._planned(key)
        frame = self._frame.from_buffer_copy(planned.words)
        results = tuple(map(self._empty, planned.shapes, self._given))
        for place, array in zip(self._places, (*arrays, *results), strict=True):
            frame[place] = _address(array)
        if planned.tasks:
            self._work(frame, planned)
        return results

    def _planned(self, key: Layout) -> _Planned:
        """What the code plans for operands of these shapes and strides."""
        words: list[int] = [0, 0]
        for shape, strides in key:
            words += [0, *shape, *strides]
        words += [0] * (ctypes.sizeof(self._frame) // WORD - len(words))
        frame = self._frame(*words)
        if not self._plan(frame):
            shapes = ", ".join(str(list(shape)) for shape, _ in key)
            raise ValueError(f"operands of {shapes}, whose sizes do not fit each other")
        places = self._places[len(key) :]
        ranks = (rank for _, rank in self._native.results)
        shapes = tuple(
            tuple(frame[place + 1 : place + 1 + rank])
            for place, rank in zip(places, ranks, strict=True)
        )
        planned = _Planned(bytes(frame), shapes, frame[0], frame[1])
        if len(self._plans) >= PLANS:
            self._plans.clear()
        self._plans[key] = planned
        return planned

    def _checked(self, operands: Sequence[Any]) -> list[Array]:
        wanted = self._native.operands
        if len(operands) != len(wanted):
            raise ValueError(f"{len(operands)} operands, wanted {len(wanted)}")
        arrays: list[Array] = []
        pairs = zip(operands, self._dtypes, wanted, strict=True)
        for number, (operand, dtype, (name, rank)) in enumerate(pairs):
            array = np.asarray(operand)
            if array.dtype != dtype or array.ndim != rank:
                found = f"{array.dtype} of rank {array.ndim}"
                text = f"operand {number} is {found}, wanted {name} of rank {rank}"
                raise ValueError(text)
            arrays.append(array if array.flags.aligned else array.copy())
        return arrays

    def _work(self, frame: Any, planned: _Planned) -> None:
        """Take all tasks, alone or with helpers that each have scratch of their own."""
        counter, scratch = ctypes.c_int64(0), planned.scratch
        helpers = min(thread_count(), planned.tasks) - 1
        if helpers < 1:
            self._take(frame, counter, scratch)
            return
        taken = [
            _pool().submit(self._take, frame, counter, scratch) for _ in range(helpers)
        ]
        self._take(frame, counter, scratch)
        for future in taken:
            future.result()

    def _take(self, frame: Any, counter: ctypes.c_int64, scratch: int) -> None:
        self._run(frame, ctypes.byref(counter), self._scratch(scratch))

    def _scratch(self, size: int) -> int:
        """The address of this thread's scratch, on a cache line, at least `size` bytes."""
        if _HELD.size < size or self._empty is not np.empty:
            _HELD.scratch = self._empty((size + LINE,), np.uint8)
            _HELD.size = size
            _HELD.place = -(-_address(_HELD.scratch) // LINE) * LINE
        return _HELD.place


class _Held(threading.local):
    """A thread's scratch, the size it was asked for, and where it is."""

    scratch: Array
    size: int = -1
    place: int = 0


_HELD = _Held()


_BUFFER = ctypes.c_char.from_buffer


def _address(array: Array) -> int:
    """Where an array's first element is; by its buffer where it has a plain one."""
    try:
        return ctypes.addressof(_BUFFER(cast("Any", array)))
    except (TypeError, ValueError):  # read-only, spaced out, or empty
        return array.__array_interface__["data"][0]


def _pool() -> ThreadPoolExecutor:
    """The helpers of this process; a fork makes its own."""
    return _pool_of(os.getpid())


@cache
def _pool_of(process: int) -> ThreadPoolExecutor:
    count = os.cpu_count() or 1
    return ThreadPoolExecutor(count, thread_name_prefix="tessera")


_LAUNCHERS: dict[tuple[Native, str], Launcher] = {}
_LOCK = threading.Lock()


def launcher(native: Native, text: str) -> Launcher:
    """The launcher of a native call, made once."""
    key = native, text
    found = _LAUNCHERS.get(key)
    if found is None:
        with _LOCK:
            found = _LAUNCHERS.get(key) or Launcher(native, text)
            _LAUNCHERS[key] = found
    return found
