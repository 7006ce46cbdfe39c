"""Where a program can run: one row per target and device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tessera.diagnostics import TesseraError
from tessera.reference import Results
from tessera.runtime.codes import NO_EXECUTOR

NativeKernel = Callable[..., Results]


@dataclass(frozen=True)
class Executor:
    """Runs the programs of one target on one device.

    A fused call runs by the first of: a function of `kernels`, by kernel name, with the
    signature of a primitive (operands positional, attributes as keywords); its machine
    code, where the executor is `native` and the program has it; its expansion.
    """

    target: str
    device: str
    native: bool = False
    kernels: Mapping[str, NativeKernel] = field(default_factory=dict[str, NativeKernel])


EXECUTORS: dict[tuple[str, str], Executor] = {
    (executor.target, executor.device): executor
    for executor in (
        Executor("cpu", "host"),
        Executor("apple_cpu", "host", native=True),
    )
}

# What a later release or another machine offers, so that an error can say so.
ABSENT: Mapping[tuple[str, str], str] = {
    (
        "apple_gpu",
        "metal",
    ): "it needs a Mac with Metal and a release that has its runtime",
    ("apple_gpu", "emulator"): "the emulator comes with a later release",
}


def find_executor(target: str, device: str = "") -> Executor:
    """The executor for a target; "" is the target's own device.

    Raises TesseraError TSR-R033, saying what is possible, when there is none here.
    """
    executor = next(
        (
            executor
            for (name, place), executor in EXECUTORS.items()
            if name == target and device in ("", place)
        ),
        None,
    )
    if executor is not None:
        return executor
    raise TesseraError(
        NO_EXECUTOR,
        f"cannot run target '{target}'{_on(device)} here: {_reason(target, device)}",
        remedy=_remedy(target),
    )


def _on(device: str) -> str:
    return f" on device '{device}'" if device else ""


def _reason(target: str, device: str) -> str:
    known = {place: "" for name, place in EXECUTORS if name == target}
    known |= {place: text for (name, place), text in ABSENT.items() if name == target}
    if not known:
        return "no such target"
    if device and device not in known:
        return f"its devices are {', '.join(known)}"
    return known[device] if device else next(iter(known.values()))


def _remedy(target: str) -> str:
    if any(name == target for name, _ in EXECUTORS):
        return "leave the device out to run on this host"
    if any(name == target for name, _ in ABSENT):
        return (
            "use target apple_cpu, which makes the same decisions and runs on any host"
        )
    return "the targets are " + ", ".join(
        dict.fromkeys(name for name, _ in (*EXECUTORS, *ABSENT))
    )
