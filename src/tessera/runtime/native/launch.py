"""Calls machine code: fills the frame, lets the code plan, takes its tasks."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np

from tessera.artifact import Native
from tessera.reference import Array
from tessera.reference.dtypes import DTYPES
from tessera.runtime.native.llvm import Entries, load

THREADS = "TESSERA_NUM_THREADS"
WORD = 8
LINE = 64
_PLAN = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
_RUN = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def thread_count() -> int:
    """`TESSERA_NUM_THREADS`, 1 when it is not set or no number above 0."""
    text = os.environ.get(THREADS, "")
    return max(1, int(text)) if text.isdecimal() else 1


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

    def __call__(self, *operands: Any, **_: Any) -> tuple[Array, ...]:
        arrays = self._checked([x for x in operands if x is not None])
        words: list[int] = [0, 0]
        for array in arrays:
            words.append(_address(array))
            words.extend(array.shape)
            words.extend(array.strides)
        starts: list[int] = []
        for _dtype, rank in self._native.results:
            starts.append(len(words))
            words.extend([0] * (1 + 2 * rank))
        frame = (ctypes.c_int64 * len(words))(*words)
        if not self._plan(frame):
            shapes = ", ".join(str(list(array.shape)) for array in arrays)
            raise ValueError(f"operands of {shapes}, whose sizes do not fit each other")
        results = [
            self._result(frame, number, start) for number, start in enumerate(starts)
        ]
        self._work(frame)
        return tuple(results)

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

    def _result(self, frame: Any, number: int, start: int) -> Array:
        rank = self._native.results[number][1]
        shape = tuple(frame[start + 1 : start + 1 + rank])
        array = self._empty(shape, self._given[number])
        frame[start] = _address(array)
        return array

    def _work(self, frame: Any) -> None:
        """Take all tasks, alone or with helpers that each have scratch of their own."""
        tasks, scratch = frame[0], frame[1]
        if not tasks:
            return
        counter = ctypes.c_int64(0)
        helpers = min(thread_count(), tasks) - 1
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
        held: Array | None = getattr(_HELD, "scratch", None)
        if held is None or held.size < size + LINE or self._empty is not np.empty:
            held = self._empty((size + LINE,), np.uint8)
            _HELD.scratch = held
        return -(-_address(held) // LINE) * LINE


_HELD = threading.local()


def _address(array: Array) -> int:
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
