"""`tessera run`: a model on given or random inputs, and whether it computes right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Annotated

import numpy as np
import typer
from rich.text import Text

from tessera.artifact import Program, Value
from tessera.cli.console import say, working
from tessera.cli.feeds import random_inputs, read_arrays, write_arrays
from tessera.cli.models import DEFAULT_TARGET, Model, open_model
from tessera.cli.options import ModelArgument, RemarksOption, TargetOption
from tessera.cli.verify import Comparison, compare, tolerance
from tessera.reference import Array, dtype_name, is_float
from tessera.runtime import Executor, execute, find_executor, step_placement


def run(
    model: ModelArgument,
    target: TargetOption = "",
    device: Annotated[
        str, typer.Option(help="Where to run; the target's own device if left out.")
    ] = "",
    inputs: Annotated[
        Path | None,
        typer.Option(help="An .npz with an array per input name; random without."),
    ] = None,
    outputs: Annotated[
        Path | None, typer.Option(help="Write the results to this .npz by output name.")
    ] = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Compare with target cpu; exit 1 if it differs."),
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Seed of random inputs.")] = 0,
    remarks: RemarksOption = False,
) -> None:
    """Run a model and print what came out.

    Without --inputs, inputs are random by type from --seed: floats normal; integers
    below 8 and below the table they look up in, 0 or 1 in a mask; a free first axis has
    size 2, any other free axis 8. Inputs with a default keep it.

    --verify compares with target cpu: the largest error, relative to the largest value,
    may be 1e-4 for f32, 1e-9 for f64, 1e-2 for f16, 8e-2 for bf16; integers are equal.
    """
    if not model.is_dir():
        find_executor(target or DEFAULT_TARGET, device)
    opened = open_model(model, target, remarks)
    program = opened.program
    executor = find_executor(program.target, device)
    feeds = read_arrays(inputs, program) if inputs else random_inputs(program, seed)
    with working(f"running {model.name}"):
        start = perf_counter()
        results = execute(program, feeds, device=device)
        seconds = perf_counter() - start
    origin = f"from {inputs}" if inputs else f"random, seed {seed}"
    facts = f"target {program.target} · device {executor.device} · inputs {origin}"
    say(Text(str(model), style="bold"), Text(facts, style="dim"), "")
    say(*_results(program, results))
    say("", Text(_steps(program, executor, seconds), style="dim"))
    if outputs is not None:
        write_arrays(outputs, results)
        say(Text(f"results written to {outputs}", style="dim"))
    if verify:
        _verify(opened, feeds, results)


def _steps(program: Program, executor: Executor, seconds: float) -> str:
    placed = Counter(step_placement(step, executor) for step in program.steps)
    fused = sum(step.call is not None for step in program.steps)
    where = ", ".join(f"{count} on {name}" for name, count in sorted(placed.items()))
    calls = f"{fused} fused call{'' if fused == 1 else 's'}"
    return f"{len(program.steps)} steps ({where}; {calls}) in {seconds * 1e3:.1f} ms"


def _results(program: Program, results: Mapping[str, Array]) -> Iterable[Text]:
    """A line per output: name, type, and short statistics."""
    rows = [("output", "type", "min", "mean", "max", "")]
    for value in program.outputs:
        array = results[value.name]
        shape = Value(value.name, dtype_name(array.dtype), array.shape)
        rows.append((value.name, str(shape), *_statistics(array)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for number, row in enumerate(rows):
        cells = [
            cell.ljust(size) if column < 2 else cell.rjust(size)
            for column, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        yield Text("  ".join(cells).rstrip(), style="" if number else "dim")


def _statistics(array: Array) -> tuple[str, str, str, str]:
    if not array.size:
        return ("—", "—", "—", "empty")
    values = array.astype(np.float64)
    finite = values[np.isfinite(values)]
    count = array.size - finite.size
    strange = f"{count} not finite" if count else ""
    if not finite.size:
        return ("—", "—", "—", strange)
    form = ".4g" if is_float(array.dtype) else ".0f"
    low, high = format(finite.min(), form), format(finite.max(), form)
    return (low, format(finite.mean(), ".4g"), high, strange)


def _verify(
    opened: Model, feeds: Mapping[str, Array], results: Mapping[str, Array]
) -> None:
    """Compare with target cpu; exit with 1 when a result is off."""
    with working("running the reference"):
        wanted = execute(opened.reference(), feeds)
    program = opened.program
    compared = [
        compare(v.name, results[v.name], wanted[v.name], tolerance(program, v.dtype))
        for v in program.outputs
    ]
    say("", Text("compared with target cpu", style="bold"))
    say(*(_line(comparison) for comparison in compared))
    if not all(comparison.within for comparison in compared):
        raise typer.Exit(1)


def _line(comparison: Comparison) -> Text:
    symbol, color = ("✓", "green") if comparison.within else ("✗", "red")
    text = f"  {symbol} {comparison.name}: {comparison}"
    return Text(text, style=color)
