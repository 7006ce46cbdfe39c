"""`tessera-opt`: run passes over MLIR text, with the conventions of mlir-opt."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import NoReturn, Protocol

from tessera.cli.chunks import Options, run_chunks
from tessera.cli.pipeline import Aliases, Factories, Pipelines, Stage
from tessera.diagnostics import TesseraError, declare
from tessera.graph.cleanups import CLEANUPS
from tessera.graph.context import TesseraContext
from tessera.target.irdl import irdl_text

INPUT = declare(
    "TSR-G027",
    "a file cannot be read or written",
    "The path does not exist, is not text in UTF-8, or may not be opened.",
    "error",
)

EPILOG = """\
Each pass and pipeline is also a flag: --NAME, or --NAME=OPTIONS; they run in the order
given. Exit code 0: all is well; 1: an error was reported, or diagnostics differ from
what was expected."""


class Catalog(Protocol):
    """What the command needs of `tessera.catalog`."""

    @property
    def PASSES(self) -> Factories: ...
    @property
    def PIPELINES(self) -> Aliases: ...
    def new_context(self) -> TesseraContext: ...


class _Arguments(argparse.ArgumentParser):
    """Reports a wrong argument in one line, and exits as for any other error."""

    def error(self, message: str) -> NoReturn:
        self.exit(1, f"{self.prog}: error: {message}; try '{self.prog} --help'\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code."""
    from tessera import catalog

    return run(sys.argv[1:] if argv is None else argv, catalog)


def run(argv: Sequence[str], catalog: Catalog) -> int:
    """Run the command with the passes of a catalog."""
    passes = {**CLEANUPS, **catalog.PASSES}
    pipelines = Pipelines(passes, catalog.PIPELINES)
    try:
        options = arguments(pipelines).parse_args(_joined(argv, pipelines))
    except SystemExit as stop:
        return int(stop.code or 0)
    if options.list_passes:
        print("\n".join(_listing(pipelines)))
        return 0
    try:
        if options.emit_irdl:
            _write(options.o, irdl_text())
            return 0
        return _process(options, pipelines, catalog)
    except TesseraError as bad:
        print(_message(bad), file=sys.stderr)
        return 1
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _message(bad: TesseraError) -> str:
    place = str(bad.location) if bad.location else "tessera-opt"
    remedy = f"; {bad.remedy}" if bad.remedy else ""
    return f"{place}: error: [{bad.code.id}] {bad.message}{remedy}"


def _process(
    options: argparse.Namespace, pipelines: Pipelines, catalog: Catalog
) -> int:
    stages = _stages(options, pipelines)
    text, name = _read(options.input)
    settings = Options(
        stages=tuple(stages),
        split=options.split_input_file,
        verify_diagnostics=options.verify_diagnostics,
        verify_each=options.verify_each,
        remarks=options.remarks,
        unregistered=options.allow_unregistered_dialect,
        debuginfo=options.mlir_print_debuginfo,
        generic=options.mlir_print_op_generic,
        stacktrace=options.mlir_print_stacktrace_on_diagnostic,
        dump_before=_dumped(options.before_all, options.mlir_print_ir_before),
        dump_after=_dumped(options.after_all, options.mlir_print_ir_after),
    )
    output, code = run_chunks(text, name, settings, catalog.new_context)
    if output is not None:
        _write(options.o, output)
    return code


def _dumped(every: bool, names: list[str]) -> frozenset[str] | None:
    """The passes to print around; None for all of them."""
    return None if every else frozenset(n for name in names for n in name.split(","))


def _stages(options: argparse.Namespace, pipelines: Pipelines) -> list[Stage]:
    asked: list[tuple[str, str]] = options.stages
    if options.pass_pipeline is None:
        return [stage for name, opts in asked for stage in pipelines.named(name, opts)]
    if asked:
        text = "--pass-pipeline cannot be used with flags for single passes"
        raise TesseraError(INPUT, text)
    return pipelines.parse(options.pass_pipeline)


def _joined(argv: Sequence[str], pipelines: Pipelines) -> list[str]:
    """The arguments with `--NAME=OPTIONS` in a form argparse leaves in one piece."""
    names = {*pipelines.passes, *pipelines.aliases}
    joined: list[str] = []
    for word in argv:
        name, equals, value = word.lstrip("-").partition("=")
        with_options = bool(equals) and word.startswith("-") and name in names
        joined.append(f"--pass-with-options={name}={value}" if with_options else word)
    return joined


def _pair(text: str) -> tuple[str, str]:
    name, _, options = text.partition("=")
    return name, options.strip().removeprefix("{").removesuffix("}")


def arguments(pipelines: Pipelines) -> argparse.ArgumentParser:
    """The command line, with a flag for each pass and pipeline."""
    parser = _Arguments(
        "tessera-opt",
        description="Run passes over MLIR text.",
        epilog=EPILOG,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(stages=[])
    parser.add_argument("input", nargs="?", default="-", help="a file; - is stdin")
    parser.add_argument("-o", metavar="FILE", default="-", help="where to write")
    version = f"tessera-opt {_version()}"
    parser.add_argument("--version", action="version", version=version)
    parser.add_argument(
        "--pass-pipeline", metavar="TEXT", help="passes, as MLIR spells"
    )
    for dest, flag, metavar, text in _NAMED:
        parser.add_argument(
            f"--{flag}",
            dest=dest,
            metavar=metavar,
            action="append",
            default=[],
            help=text,
        )
    for dest, flag, text in _FLAGS:
        parser.add_argument(f"--{flag}", dest=dest, action="store_true", help=text)
    _add_passes(parser, pipelines)
    return parser


def _add_passes(parser: argparse.ArgumentParser, pipelines: Pipelines) -> None:
    add = parser.add_argument_group("passes and pipelines").add_argument
    hidden = argparse.SUPPRESS
    add("--pass-with-options", dest="stages", type=_pair, action="append", help=hidden)
    for title, text in _described(pipelines):
        pair = (title, "")
        text = text.replace("%", "%%")
        add(f"--{title}", dest="stages", action="append_const", const=pair, help=text)


_NAMED = [
    ("mlir_print_ir_before", "mlir-print-ir-before", "NAME", "print before a pass"),
    ("mlir_print_ir_after", "mlir-print-ir-after", "NAME", "print after a pass"),
]
_FLAGS = [
    ("split_input_file", "split-input-file", "chunks between `// -----` lines"),
    ("verify_diagnostics", "verify-diagnostics", "check expected-error and the like"),
    ("verify_each", "verify-each", "verify after each pass, not only the last"),
    ("remarks", "remarks", "show remarks, and check expected ones"),
    ("before_all", "mlir-print-ir-before-all", "print before each pass"),
    ("after_all", "mlir-print-ir-after-all", "print after each pass"),
    ("mlir_print_debuginfo", "mlir-print-debuginfo", "print loc(…) of every op"),
    ("mlir_print_op_generic", "mlir-print-op-generic", "print ops in generic form"),
    (
        "mlir_print_stacktrace_on_diagnostic",
        "mlir-print-stacktrace-on-diagnostic",
        "print the Python stack when a pass fails from inside",
    ),
    (
        "allow_unregistered_dialect",
        "allow-unregistered-dialect",
        "accept ops and attributes of unknown dialects",
    ),
    ("list_passes", "list-passes", "print the passes and pipelines, and stop"),
    ("emit_irdl", "emit-irdl", "print the dialects as IRDL for mlir-opt, and stop"),
]


def _described(pipelines: Pipelines) -> list[tuple[str, str]]:
    """Every pass with the first line of its description, then every pipeline."""
    rows: list[tuple[str, str]] = []
    for title, factory in sorted(pipelines.passes.items()):
        made = factory()
        text = (getattr(made, "clean", made).__doc__ or "").strip()
        rows.append((title, text.splitlines()[0] if text else ""))
    for title, parts in sorted(pipelines.aliases.items()):
        rows.append((title, "= " + ", ".join(parts)))
    return rows


def _listing(pipelines: Pipelines) -> list[str]:
    rows = _described(pipelines)
    width = max(len(title) for title, _ in rows)
    return [f"{title:{width}}  {text}".rstrip() for title, text in rows]


def _version() -> str:
    try:
        return metadata.version("tessera-compiler")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _read(path: str) -> tuple[str, str]:
    """The text of a file and the name that messages call it."""
    try:
        raw = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return raw.decode("utf-8"), "<stdin>" if path == "-" else path
    except OSError as bad:
        text = f"cannot open '{path}': {bad.strerror}"
        raise TesseraError(INPUT, text) from None
    except UnicodeDecodeError as bad:
        text = f"'{path}' is not UTF-8 text: byte {bad.start} cannot be read"
        raise TesseraError(INPUT, text) from None


def _write(path: str, text: str) -> None:
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as bad:
        text = f"cannot write '{path}': {bad.strerror}"
        raise TesseraError(INPUT, text) from None


if __name__ == "__main__":
    sys.exit(main())
