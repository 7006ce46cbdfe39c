"""Official MLIR as referee: what `mlir-opt` says of modules, given the IRDL of ours.

Debian's mlir-22-tools bring `mlir-opt-22`; `TESSERA_MLIR_OPT` can name another.
"""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY

VARIABLE = "TESSERA_MLIR_OPT"
IRDL = REPOSITORY / "irdl" / "tessera.irdl"
OLDEST = 22
"""The first release that reads IRDL as we write it."""

ONLY_OURS = {
    "TSR-G002": "IRDL names the base of a type, not the element types that it allows",
    "TSR-G003": "IRDL has no optional attributes and allows undeclared ones",
    "TSR-G004": "result types follow from operand types by rules that IRDL cannot say",
    "TSR-G005": "shapes that broadcast are no matter of IRDL",
    "TSR-G006": "element types that agree, and may differ in shape, are none either",
    "TSR-G007": "an axis within the rank depends on a value and a shape",
    "TSR-G008": "contracted sizes are shapes",
    "TSR-G009": "counts of elements are shapes",
    "TSR-T001": "optional attributes of calls, and roles counted against operands",
}
"""Codes of what we refuse and official MLIR accepts, with the reason."""

COUNTS: Counter[str] = Counter()
"""What became of the texts judged in this run; printed at its end."""

_CUT = "// -----\n"


@cache
def mlir_opt() -> str | None:
    """The program, if there is one that is new enough."""
    named = os.environ.get(VARIABLE)
    names = [named] if named else [f"mlir-opt-{v}" for v in (22, 23, 24)]
    for name in [*names, *(() if named else ("mlir-opt",))]:
        path = shutil.which(name)
        if path and _version(path) >= OLDEST:
            return path
    return None


def _version(path: str) -> int:
    run = subprocess.run([path, "--version"], capture_output=True, text=True)
    found = re.search(r"version (\d+)", run.stdout)
    return int(found[1]) if found else 0


needs_mlir = pytest.mark.skipif(
    mlir_opt() is None, reason=f"found no mlir-opt {OLDEST} or newer (mlir-22-tools)"
)


@dataclass(frozen=True)
class Verdict:
    """Whether the referee accepts a text, and the module as it prints it."""

    accepts: bool
    text: str


def judge(
    texts: Sequence[str], *, unregistered: bool = False, irdl: Path = IRDL
) -> list[Verdict]:
    """What the referee says of each text; one process for all of them.

    It prints generic form with locations in place, and nothing for what it rejects.
    """
    if not texts:
        return []
    command = [
        str(mlir_opt()),
        f"--irdl-file={irdl}",
        "--split-input-file",
        "--mlir-print-op-generic",
        "--mlir-print-local-scope",
        "--mlir-print-debuginfo",
    ]
    if unregistered:
        command.append("--allow-unregistered-dialect")
    joined = f"\n{_CUT}".join(texts)
    run = subprocess.run(command, input=joined, capture_output=True, text=True)
    parts = _parts(run.stdout)
    if len(parts) != len(texts):
        if len(texts) == 1:
            return [Verdict(False, "")]
        half = len(texts) // 2
        return [
            verdict
            for some in (texts[:half], texts[half:])
            for verdict in judge(some, unregistered=unregistered, irdl=irdl)
        ]
    verdicts = [Verdict(bool(part.strip()), part) for part in parts]
    if all(v.accepts for v in verdicts) != (run.returncode == 0):
        pytest.fail(f"mlir-opt gave {run.returncode}:\n{run.stderr[:2000]}")
    return verdicts


def _parts(output: str) -> list[str]:
    """The printed modules, between the lines that part them."""
    parts = [""]
    for line in output.splitlines(keepends=True):
        if line == _CUT:
            parts.append("")
        else:
            parts[-1] += line
    return parts


def why(text: str, *, unregistered: bool = False) -> str:
    """What the referee has against one text."""
    command = [str(mlir_opt()), f"--irdl-file={IRDL}", "-o", os.devnull]
    if unregistered:
        command.append("--allow-unregistered-dialect")
    run = subprocess.run(command, input=text, capture_output=True, text=True)
    return run.stderr
