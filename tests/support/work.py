"""How much work something is, counted: the same on every machine, whatever else it does."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def work(action: Callable[[], object]) -> int:
    """The calls, of Python functions and of others, that an action makes."""
    count = 0

    def tick(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count
