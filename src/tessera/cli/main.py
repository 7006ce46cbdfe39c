"""`tessera`: the commands, and how every one of them ends."""

from __future__ import annotations

import io
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import metadata
from typing import Annotated

import typer

from tessera.cli.audit import audit
from tessera.cli.codes import TOO_LITTLE_MEMORY
from tessera.cli.compile import compile_model
from tessera.cli.console import PipeClosed, emit, fail, fail_plainly
from tessera.cli.explain import explain
from tessera.cli.kernels import kernels
from tessera.cli.run import run
from tessera.cli.why import why
from tessera.diagnostics import TesseraError

OK, FAILED, BAD_INPUT, INTERNAL = 0, 1, 2, 3
INTERRUPTED, PIPE_CLOSED = 130, 141  # as a shell counts a process that a signal ended

EPILOG = (
    "Exit codes: 0 all is well · 1 a check failed (run --verify, audit --check) · "
    "2 wrong arguments, or a model or file that cannot be used · 3 a fault of Tessera · "
    "130 interrupted · 141 the reader of the output went away."
)
TRACEBACK = "TESSERA_TRACEBACK"

app = typer.Typer(
    add_completion=False,
    no_args_is_help=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EPILOG,
)
app.command("run", epilog=EPILOG)(run)
app.command("compile", epilog=EPILOG)(compile_model)
app.command("audit", epilog=EPILOG)(audit)
app.command("why", epilog=EPILOG)(why)
app.command("explain", epilog=EPILOG)(explain)
app.command("kernels", epilog=EPILOG)(kernels)


def _version(wanted: bool) -> None:
    if wanted:
        emit(f"tessera {metadata.version('tessera-compiler')}\n")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def tessera(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """A tensor compiler for Apple silicon that says what it fused, and why not the rest."""
    if context.invoked_subcommand is None:
        emit(context.get_help() + "\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; nothing is raised."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a test may have put another there
            stream.reconfigure(errors="replace")
    try:
        argv = None if arguments is None else list(arguments)
        code = app(argv, prog_name="tessera", standalone_mode=False)
        return code if isinstance(code, int) else OK
    except BaseException as error:
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        try:
            return _ending(error)
        except PipeClosed:
            return PIPE_CLOSED


def _ending(error: BaseException) -> int:
    """Say what ended the command, and the exit code for it."""
    match error:
        case PipeClosed() | BrokenPipeError():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        case KeyboardInterrupt() | typer.Abort():
            return INTERRUPTED
        case SystemExit():
            return error.code if isinstance(error.code, int) else BAD_INPUT
        case TesseraError():
            fail(error)
            return BAD_INPUT
        case MemoryError():
            text = "there is not enough memory"
            fail(TesseraError(TOO_LITTLE_MEMORY, text, remedy="use smaller inputs"))
            return BAD_INPUT
        case _ if (message := getattr(error, "format_message", None)) is not None:
            command = _command(error)
            text = str(message()).rstrip(".")
            fail_plainly(command, f"{text}; `{command} --help` shows what it takes")
            return BAD_INPUT
        case _:
            _internal(error)
            return INTERNAL


def _command(error: object) -> str:
    """The command that the argument parser was reading when it gave up."""
    context = getattr(error, "ctx", None)
    return getattr(context, "command_path", None) or "tessera"


def _internal(error: BaseException) -> None:
    version = metadata.version("tessera-compiler")
    fail_plainly(
        "tessera",
        f"internal error: {type(error).__name__}: {error}; this is a fault of Tessera "
        f"{version}, not of your model: report it with the command line, the model if "
        f"you can share it, and what the command prints with {TRACEBACK}=1 set",
    )


if __name__ == "__main__":
    sys.exit(main())
