"""How commands end when something is wrong: one paragraph, an exit code, no traceback."""

import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.support.paths import TESTS
from tests.unit.cli import models
from tests.unit.cli.conftest import Tessera

COMMAND = [sys.executable, "-m", "tessera.cli.main"]
BERT = TESTS / "corpus" / "bert" / "eager_op20.onnx"


WRONG = {
    "no model": (("audit",), "MODEL"),
    "no command": (("fuse", "gelu.mlir"), "fuse"),
    "no option": (("run", "gelu.mlir", "--fast"), "--fast"),
    "no format": (("audit", "gelu.mlir", "--format", "xml"), "xml"),
    "a negative seed": (("run", "gelu.mlir", "--seed", "-1"), "--seed"),
    "no output": (("compile", "gelu.mlir"), "--output"),
    "no file": (("run", "gelo.mlir"), "did you mean 'gelu.mlir'"),
    "no ending": (("run", "in.npz"), "wanted .onnx, .mlir or an artifact folder"),
    "no artifact": (("run", "."), "TSR-R001"),
    "compile a folder": (("compile", ".", "-o", "x"), "TSR-R060"),
    "no target": (("audit", "gelu.mlir", "--target", "tpu"), "apple_gpu"),
    "no target to run": (("run", "gelu.mlir", "--target", "tpu"), "apple_gpu"),
    "a target that is elsewhere": (
        ("run", "gelu.mlir", "--target", "apple_gpu"),
        "use target apple_cpu",
    ),
    "an emulator": (
        ("run", "gelu.mlir", "--target", "apple_gpu", "--device", "emulator"),
        "later release",
    ),
    "broken text": (("run", "broken.mlir"), "broken.mlir:"),
    "not a model": (("run", "garbage.onnx"), "garbage.onnx"),
    "no arrays": (("run", "gelu.mlir", "--inputs", "none.npz"), "TSR-R062"),
    "garbage arrays": (("run", "gelu.mlir", "--inputs", "garbage.onnx"), "TSR-R062"),
    "a single array": (("run", "gelu.mlir", "--inputs", "one.npy"), "TSR-R062"),
    "pickled arrays": (("run", "gelu.mlir", "--inputs", "evil.npz"), "TSR-R062"),
    "other arrays": (("run", "gelu.mlir", "--inputs", "in.npz"), "'v'"),
    "an index out of range": (
        ("run", "lookup.mlir", "--inputs", "ids.npz"),
        "TSR-R034",
    ),
    "nowhere to write": (("run", "gelu.mlir", "--outputs", "no/o.npz"), "TSR-R009"),
    "no lock": (("audit", "gelu.mlir", "--check", "none.lock"), "TSR-R050"),
    "no code": (("explain", "TSR-F9"), "TSR-F"),
}


@pytest.fixture
def files(tmp_path) -> None:
    (tmp_path / "garbage.onnx").write_bytes(b"\x00\xff garbage" * 9)
    np.save(tmp_path / "one.npy", np.ones(3))
    np.savez(tmp_path / "in.npz", v=np.ones(3))
    np.savez(tmp_path / "ids.npz", ids=np.array([99]))
    np.savez(tmp_path / "evil.npz", x=np.array([{}], dtype=object))


@pytest.mark.parametrize(("arguments", "word"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_command_line_or_file(arguments, word, files, tessera: Tessera):
    ended = tessera(*arguments)
    assert ended.code == 2
    assert word in ended.err
    assert ": error: " in ended.err
    assert "Traceback" not in ended.err
    assert len(ended.err.strip().splitlines()) == 1
    # a model may be compiled and run before its results cannot be written
    assert ended.out == "" or "no/o.npz" in arguments


def test_a_result_above_the_tolerance_fails(tessera: Tessera, monkeypatch):
    import tessera.cli.run as command

    execute = command.execute
    monkeypatch.setattr(command, "execute", off_by(execute, 2e-4))
    ended = tessera("run", "gelu.mlir", "--verify")
    assert ended.code == 1
    assert "✗ y: max error" in ended.out
    monkeypatch.setattr(command, "execute", off_by(execute, 5e-5))
    assert tessera("run", "gelu.mlir", "--verify").code == 0


def off_by(execute, relative: float):
    """An `execute` whose Apple results are off by a part of their scale."""

    def shifted(program, feeds, **options):
        found = execute(program, feeds, **options)
        if program.target == "cpu":
            return found
        return {
            name: array + np.float32(relative) * np.abs(array).max()
            for name, array in found.items()
        }

    return shifted


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite_fails(bad, tessera: Tessera, monkeypatch):
    import tessera.cli.run as command

    monkeypatch.setattr(command, "execute", off_by(command.execute, bad))
    ended = tessera("run", "gelu.mlir", "--verify")
    assert ended.code == 1
    assert "inf" in ended.out


def test_our_own_fault_is_one_paragraph(tessera: Tessera, monkeypatch):
    def fault(*_: object) -> None:
        raise RuntimeError("the moon is in the wrong phase")

    monkeypatch.setattr("tessera.cli.audit.open_model", fault)
    ended = tessera("audit", "gelu.mlir")
    assert ended.code == 3
    assert "internal error: RuntimeError: the moon is in the wrong phase" in ended.err
    assert "report it" in ended.err
    assert "TESSERA_TRACEBACK=1" in ended.err
    assert "Traceback" not in ended.err
    assert len(ended.err.strip().splitlines()) == 1

    monkeypatch.setenv("TESSERA_TRACEBACK", "1")
    assert "Traceback (most recent call last)" in tessera("audit", "gelu.mlir").err


def test_not_enough_memory(tessera: Tessera, monkeypatch):
    def fault(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("tessera.cli.audit.open_model", fault)
    ended = tessera("audit", "gelu.mlir")
    assert ended.code == 2
    assert "memory" in ended.err


@pytest.mark.parametrize(
    "arguments", [("audit", BERT), ("kernels",), ("explain",), ("run", BERT)]
)
def test_a_reader_that_goes_away(arguments):
    """The pipe is closed before anything is written."""
    read, write = os.pipe()
    os.close(read)
    command = [*COMMAND, *map(str, arguments)]
    run = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert run.returncode == 141
    assert run.stderr == b""


def test_an_interrupt(tmp_path):
    """Ctrl-C while a model is read: silence and 130."""
    fifo = tmp_path / "in.npz"
    os.mkfifo(fifo)
    (tmp_path / "gelu.mlir").write_text(models.GELU)
    command = [*COMMAND, "run", "gelu.mlir", "--inputs", "in.npz"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        # A job in the background inherits that interrupts are ignored.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )
    with fifo.open("wb"):  # opens when the command reads it
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == b""


def test_output_that_is_not_utf8():
    command = [*COMMAND, "audit", str(BERT)]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    run = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert run.returncode == 0
    assert b"matmul_gelu" in run.stdout
    assert run.stderr == b""


def test_the_command_starts_without_the_compiler():
    probe = (
        "import sys, tessera.cli.main as m; m.main(['--version']);"
        "assert not {'xdsl', 'onnx', 'torch'} & set(sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", probe], check=False)
    assert run.returncode == 0


def test_an_artifact_runs_without_the_compiler(tmp_path):
    probe = (
        "import sys, tessera.cli.main as m; assert m.main(sys.argv[1:]) == 0;"
        "assert not {'xdsl', 'onnx', 'torch'} & set(sys.modules)"
    )
    art = str(tmp_path / "art")
    compiled = [*COMMAND, "compile", str(BERT), "-o", art]
    assert subprocess.run(compiled, check=False, stdout=-3).returncode == 0
    for arguments in (("run", art), ("audit", art)):
        command = [sys.executable, "-c", probe, *arguments]
        assert subprocess.run(command, check=False, stdout=-3).returncode == 0
    assert Path(art, "manifest.json").is_file()
