"""What `tessera-opt` does with each chunk of its input: read, verify, run, print."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from tessera.cli.expectations import check_expectations
from tessera.cli.pipeline import Stage
from tessera.diagnostics import Location, TesseraError, declare
from tessera.graph.context import TesseraContext
from tessera.graph.locations import location_of
from tessera.graph.text import parse_module, print_module
from tessera.graph.verify import verify_module

PASS_FAILED = declare(
    "TSR-G028",
    "a pass failed",
    "The pass met something that it cannot handle. If the message does not say what to "
    "change in the input, this is a defect of the pass; "
    "`--mlir-print-stacktrace-on-diagnostic` shows where it failed.",
    "error",
)
SEPARATOR = re.compile(r"^// -----[ \t]*\r?\n", re.MULTILINE)


@dataclass(frozen=True)
class Options:
    """How to run; `dump_before` and `dump_after` name passes, None means all."""

    stages: tuple[Stage, ...] = ()
    split: bool = False
    verify_diagnostics: bool = False
    verify_each: bool = False
    remarks: bool = False
    unregistered: bool = False
    debuginfo: bool = False
    generic: bool = False
    stacktrace: bool = False
    dump_before: frozenset[str] | None = frozenset()
    dump_after: frozenset[str] | None = frozenset()

    def print(self, module: ModuleOp) -> str:
        """The text of a module, as asked for."""
        return print_module(module, self.debuginfo, self.generic)


def run_chunks(
    text: str, file: str, options: Options, new_context: Callable[[], TesseraContext]
) -> tuple[str | None, int]:
    """The output text (None where there is none) and the exit code.

    Messages go to stderr.  With `verify_diagnostics` the code says whether they were
    the expected ones, else whether there was an error.
    """
    printed: list[str] = []
    code = 0
    for chunk, first_line in _split(text) if options.split else [(text, 1)]:
        context = new_context()
        context.allow_unregistered = options.unregistered
        module = _run(chunk, file, first_line, options, context)
        found = [
            d for d in context.diagnostics if options.remarks or d.severity != "remark"
        ]
        if options.verify_diagnostics:
            said = check_expectations(file, chunk, first_line, found, options.remarks)
            failed = bool(said)
        else:
            said = [str(diagnostic) for diagnostic in found]
            failed = module is None or any(d.severity == "error" for d in found)
        for line in said:
            print(line, file=sys.stderr)
        code = code or int(failed)
        if module is not None:
            printed.append(options.print(module))
    return ("// -----\n".join(printed) if printed else None), code


def _split(text: str) -> Iterator[tuple[str, int]]:
    """The chunks between separators, each with the number of its first line."""
    start, line = 0, 1
    for match in SEPARATOR.finditer(text):
        yield text[start : match.start()], line
        line += text.count("\n", start, match.end())
        start = match.end()
    yield text[start:], line


def _run(
    chunk: str, file: str, first_line: int, options: Options, context: TesseraContext
) -> ModuleOp | None:
    """The module after all passes; None, and an error in the sink, where one failed."""
    sink = context.diagnostics
    stage: Stage | None = None
    module: ModuleOp | None = None
    try:
        module = parse_module(chunk, file, context, first_line - 1)
        verify_module(module)
        for stage in options.stages:
            _dump("Before", stage, module, options, options.dump_before)
            stage.run.apply(context, module)
            _dump("After", stage, module, options, options.dump_after)
            if options.verify_each:
                verify_module(module)
        if options.stages and not options.verify_each:
            verify_module(module)
        return module
    except TesseraError as bad:
        place = bad.location or (location_of(module) if module else Location(file))
        remedy = f"; {bad.remedy}" if bad.remedy else ""
        sink.error(place, bad.message + remedy, bad.code)
    except Exception as bad:  # whatever a pass raises is one message
        if options.stacktrace:
            traceback.print_exc()
        name = stage.name if stage else ""
        place = location_of(module) if module else Location(file)
        known = isinstance(bad, DiagnosticException)
        what = str(bad) if known else f"{type(bad).__name__}: {bad}"
        what = " ".join(what.split())
        sink.error(place, f"pass '{name}' failed: {what}", PASS_FAILED)
    return None


def _dump(
    when: str,
    stage: Stage,
    module: ModuleOp,
    options: Options,
    names: frozenset[str] | None,
) -> None:
    """Print the module around a pass, as MLIR does."""
    if names is not None and stage.name not in names:
        return
    title = f"IR Dump {when} {type(stage.run).__name__} ({stage.name})"
    print(f"// -----// {title} //----- //", file=sys.stderr)
    print(options.print(module), file=sys.stderr)
