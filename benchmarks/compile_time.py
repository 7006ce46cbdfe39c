"""CPU time from a model to compiled code: Tessera beside other compilers.

`python -m benchmarks.compile_time`: a text table on standard output, JSON with `--json`.
Every compiler is a resident process that has compiled each model once before it counts;
rounds are interleaved, so that a slow minute of the machine is everybody's.  One thread,
one processor.  Times are CPU time, of child processes too.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import process_time
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from benchmarks.chains import CHAINS, chain, layers
from benchmarks.compile_worker import COMPILERS
from benchmarks.spread import Spread, growth, ratios
from tessera.driver import compile_graph_module

LAYERS = (2, 8, 32)
LENGTHS = (2500, 5000, 10000, 20000)
BASE = "tessera"
ROOT = Path(__file__).parent.parent
Times = dict[int, dict[str, list[float]]]


@dataclass
class Worker:
    """A compiler in a process of its own."""

    name: str
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, name: str, python: str) -> Worker:
        """Start the worker of a compiler with an interpreter that has it."""
        one = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
        env = {**os.environ, **dict.fromkeys(one, "1"), "PYTHONWARNINGS": "ignore"}
        process = subprocess.Popen(
            [python, "-m", "benchmarks.compile_worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=ROOT,
            env=env,
        )
        return cls(name, process)

    def compile(self, count: int) -> float | None:
        """CPU seconds of one compilation; None when the compiler is not there."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            print(count, file=stdin, flush=True)
        except BrokenPipeError:
            return None
        answer = stdout.readline()
        return json.loads(answer) if answer else None

    def stop(self) -> None:
        """Let the worker end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure_models(workers: Sequence[Worker], rounds: int) -> tuple[Times, list[str]]:
    """CPU seconds by layers and compiler, and the compilers that are absent."""
    times: Times = {}
    absent: list[str] = []
    for count in LAYERS:
        present = [w for w in workers if w.name not in absent]
        for worker in present:
            if worker.compile(count) is None:
                absent.append(worker.name)
        present = [w for w in present if w.name not in absent]
        times[count] = {worker.name: [] for worker in present}
        for turn in range(rounds):
            start = turn % len(present)
            for worker in present[start:] + present[:start]:
                seconds = worker.compile(count)
                assert seconds is not None, f"{worker.name} ended"
                times[count][worker.name].append(seconds)
    return times, absent


def measure_chains(rounds: int) -> dict[str, dict[int, float]]:
    """Median CPU seconds of Tessera by kind of chain and number of ops."""
    found: dict[str, dict[int, float]] = {}
    for kind in CHAINS:
        found[kind] = _by_size(
            [lambda n=n, k=kind: chain(k, n) for n in LENGTHS], rounds
        )
    per_layer = 37
    found["layers"] = _by_size(
        [lambda n=n: layers(n // per_layer) for n in LENGTHS], rounds
    )
    return found


def _by_size(makers: Sequence[Callable[[], ModuleOp]], rounds: int) -> dict[int, float]:
    found: dict[int, float] = {}
    for make in makers:
        module = make()
        seconds: list[float] = []
        for _ in range(rounds):
            start = process_time()
            compile_graph_module(module)
            seconds.append(process_time() - start)
        found[sum(1 for _ in module.walk())] = Spread.of(seconds).median
    return found


def summary(times: Times, absent: Sequence[str], chains: Any) -> dict[str, Any]:
    """Everything that was found, ready for JSON."""
    names = list(next(iter(times.values())))
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {_processor()}, {platform.system()}",
        "python": platform.python_version(),
        "unit": "CPU seconds",
        "absent": list(absent),
        "models": {
            name: {
                "seconds": {n: asdict(Spread.of(times[n][name])) for n in times},
                "ratio": {
                    n: asdict(ratios(times[n][name], times[n][BASE])) for n in times
                },
                "growth": growth(
                    list(times), [Spread.of(times[n][name]).median for n in times]
                ),
            }
            for name in names
        },
        "chains": {
            kind: {"seconds": by, "growth": growth(list(by), list(by.values()))}
            for kind, by in chains.items()
        },
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or "unknown processor"


def table(found: dict[str, Any]) -> str:
    """The summary as text: one row a compiler, then one a chain."""
    lines = [f"{found['date']}, {found['machine']}, Python {found['python']}", ""]
    heads = [f"{n} layers" for n in LAYERS] + [f"× {BASE} at {LAYERS[-1]}", "growth"]
    lines.append(_row("CPU seconds", heads))
    for name, model in found["models"].items():
        cells = [f"{s['median']:.3f}" for s in model["seconds"].values()]
        last = list(model["ratio"].values())[-1]
        cells.append(f"{last['median']:.2f} ({last['low']:.2f}-{last['high']:.2f})")
        lines.append(_row(name, [*cells, f"{model['growth']:.2f}"]))
    lines += [_row(name, ["absent"]) for name in found["absent"]]
    lines += ["", _row("ops in a chain", [str(n) for n in LENGTHS] + ["", "growth"])]
    for kind, by in found["chains"].items():
        cells = [f"{s:.2f}" for s in by["seconds"].values()]
        lines.append(_row(kind, [*cells, "", f"{by['growth']:.2f}"]))
    return "\n".join(lines)


def _row(head: str, cells: Sequence[str]) -> str:
    return f"{head:20}" + "".join(f"{cell:>20}" for cell in cells)


def main() -> None:
    """Measure, print, and write JSON where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the summary to this file")
    parser.add_argument("--jax-python", default=sys.executable, help="has JAX")
    parser.add_argument("--skip", nargs="*", default=[], choices=list(COMPILERS))
    args = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    names = [name for name in COMPILERS if name == BASE or name not in args.skip]
    workers = [
        Worker.start(name, args.jax_python if name == "jax" else sys.executable)
        for name in names
    ]
    try:
        times, absent = measure_models(workers, args.rounds)
    finally:
        for worker in workers:
            worker.stop()
    found = summary(times, absent, measure_chains(min(args.rounds, 3)))
    print(table(found))
    if args.json:
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
