"""Saving and loading: what is written comes back, whole or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from tessera.artifact import Program, load, save
from tessera.diagnostics import TesseraError
from tests.unit.artifact.programs import document, every_dtype, mlp


def keep(folder: Path, program: Program, graph: str = "graph") -> None:
    save(folder, program, graph, "target", document(program))


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("make", [mlp, every_dtype])
def test_what_is_saved_comes_back(make, tmp_path):
    program = make()
    keep(tmp_path / "a", program)
    found = load(tmp_path / "a")
    # repr: the attributes hold a NaN, which is not equal to itself
    assert repr(found.program.steps) == repr(program.steps)
    assert found.program.inputs == program.inputs
    assert found.program.outputs == program.outputs
    assert found.program.defaults == program.defaults
    assert list(found.program.weights) == list(program.weights)
    for name, array in program.weights.items():
        loaded = found.program.weights[name]
        assert (loaded.dtype, loaded.shape) == (array.dtype, array.shape)
        assert loaded.tobytes() == array.tobytes()
    assert found.document == document(program)
    assert (found.graph_text, found.target_text) == ("graph", "target")
    assert found.manifest["target"] == program.target


def test_weights_are_read_only_aligned_views_of_the_file(tmp_path):
    keep(tmp_path / "a", every_dtype())
    for array in load(tmp_path / "a").program.weights.values():
        assert not array.flags.owndata
        assert not array.flags.writeable
        assert array.ctypes.data % array.dtype.itemsize == 0


def test_the_weights_are_what_the_safetensors_library_reads(tmp_path):
    program = mlp()
    keep(tmp_path / "a", program)
    found = safetensors.numpy.load_file(tmp_path / "a" / "weights.safetensors")
    assert set(found) == set(program.weights)
    for name, array in program.weights.items():
        np.testing.assert_array_equal(found[name], array)


def test_one_array_under_two_names_is_stored_once(tmp_path):
    program = every_dtype()
    big = np.zeros(10_000, np.float32)
    tied = Program(
        program.target,
        program.inputs,
        program.outputs,
        {},
        {"wte": big, "lm_head": big},
        program.steps,
    )
    keep(tmp_path / "a", tied)
    assert (tmp_path / "a" / "weights.safetensors").stat().st_size < 50_000
    assert set(load(tmp_path / "a").program.weights) == {"wte", "lm_head"}


def test_a_strided_big_endian_array_keeps_its_values(tmp_path):
    array = np.arange(12, dtype=">f4").reshape(3, 4).T
    program = every_dtype()
    odd = Program(
        "cpu", program.inputs, program.outputs, {}, {"w": array}, program.steps
    )
    keep(tmp_path / "a", odd)
    np.testing.assert_array_equal(load(tmp_path / "a").program.weights["w"], array)


def test_an_artifact_is_replaced_and_nothing_else_is(tmp_path):
    place = tmp_path / "a"
    place.mkdir()
    keep(place, mlp(), "first")
    keep(place, mlp(), "second")
    assert load(place).graph_text == "second"
    assert hidden(tmp_path) == []

    other = tmp_path / "thesis"
    other.mkdir()
    (other / "chapter.txt").write_text("years of work")
    file = tmp_path / "file"
    file.write_text("x")
    link = tmp_path / "link"
    link.symlink_to(place)
    for occupied in (other, file, link):
        with pytest.raises(TesseraError, match="not an artifact") as caught:
            keep(occupied, mlp())
        assert caught.value.code.id == "TSR-R008"
        assert caught.value.remedy
    assert (other / "chapter.txt").read_text() == "years of work"
    assert load(place).graph_text == "second"


@pytest.mark.parametrize("failing", ["fsync", "rename"])
@pytest.mark.parametrize("there", [False, True])
def test_a_failed_write_leaves_what_was_there(failing, there, tmp_path, monkeypatch):
    place = tmp_path / "a"
    if there:
        keep(place, mlp(), "old")

    def fail(*_args: object) -> None:
        raise OSError(28, "No space left on device")

    home = os if failing == "fsync" else Path
    monkeypatch.setattr(home, failing, fail)
    with pytest.raises(TesseraError, match="No space left") as caught:
        keep(place, mlp(), "new")
    assert caught.value.code.id == "TSR-R009"
    monkeypatch.undo()
    assert hidden(tmp_path) == []
    assert load(place).graph_text == "old" if there else not place.exists()


def test_a_failed_second_rename_brings_the_old_one_back(tmp_path, monkeypatch):
    place = tmp_path / "a"
    keep(place, mlp(), "old")
    rename = Path.rename

    def only_away(path: Path, target: Path) -> Path:
        if ".new-" in path.name:
            raise OSError(5, "Input/output error")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", only_away)
    with pytest.raises(TesseraError, match="Input/output error"):
        keep(place, mlp(), "new")
    monkeypatch.undo()
    assert load(place).graph_text == "old"
    assert hidden(tmp_path) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.unit.artifact.programs import document, mlp
from tessera.artifact import save
Path.rename = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
save(sys.argv[1], mlp(), "new", "target", document(mlp()))
"""


def test_a_kill_between_write_and_rename_leaves_the_old_one(tmp_path):
    place = tmp_path / "a"
    keep(place, mlp(), "old")
    run = subprocess.run(
        [sys.executable, "-c", KILLED, str(place)],
        check=False,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    assert run.returncode == -signal.SIGKILL
    assert len(hidden(tmp_path)) == 1  # the draft was complete, and never seen
    assert load(place).graph_text == "old"
    keep(place, mlp(), "newer")
    assert load(place).graph_text == "newer"


LAW = """
import sys
import tessera.artifact, tessera.runtime, tessera.audit, tessera.decisions
assert not any(name.split(".")[0] == "xdsl" for name in sys.modules)
rooms = ("graph", "fusion", "target", "codegen", "kernels", "frontend", "catalog")
loaded = [n for n in sys.modules if n.startswith("tessera.") and n.split(".")[1] in rooms]
assert not loaded, loaded
artifact = tessera.artifact.load(sys.argv[1])
import numpy
feeds = {"x": numpy.ones((1, 2), "f4"), "ids": [0]}
tessera.runtime.execute(artifact.program, feeds)
tessera.audit.render_text(artifact.document)
assert not any(name.split(".")[0] == "xdsl" for name in sys.modules)
"""


def test_loading_running_and_auditing_need_no_compiler(tmp_path):
    keep(tmp_path / "a", mlp())
    run = subprocess.run(
        [sys.executable, "-c", LAW, str(tmp_path / "a")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
