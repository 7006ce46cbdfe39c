"""A bad artifact is an error that says what is wrong, and never something else."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from tessera.artifact import check_program, load, save
from tessera.artifact.program import Program, Step
from tessera.diagnostics import TesseraError
from tests.unit.artifact.programs import document, mlp

FILES = (
    "graph.mlir",
    "target.mlir",
    "program.json",
    "weights.safetensors",
    "decisions.json",
    "manifest.json",
)


@pytest.fixture
def folder(tmp_path) -> Path:
    place = tmp_path / "a"
    save(place, mlp(), "graph text", "target text", document(mlp()))
    return place


def refusal(folder: Path) -> TesseraError:
    with pytest.raises(TesseraError) as caught:
        load(folder)
    assert caught.value.remedy
    return caught.value


def seal(folder: Path) -> None:
    """Make the manifest true again, so that the content itself is judged."""
    manifest = json.loads((folder / "manifest.json").read_text())
    for name, entry in manifest["files"].items():
        data = (folder / name).read_bytes()
        entry["bytes"] = len(data)
        entry["sha256"] = hashlib.sha256(data).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file(name, folder):
    (folder / name).unlink()
    error = refusal(folder)
    assert error.code.id == ("TSR-R001" if name == "manifest.json" else "TSR-R002")
    assert name in error.message


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("part", [0.0, 0.5, 0.95])
def test_a_cut_file(name, part, folder):
    path = folder / name
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * part)])
    error = refusal(folder)
    assert error.code.id == ("TSR-R005" if name == "manifest.json" else "TSR-R002")
    assert name in error.message


@pytest.mark.parametrize("name", ["program.json", "weights.safetensors"])
def test_a_file_cut_anywhere_is_refused_even_without_its_hash(name, folder):
    """The readers themselves hold, should somebody forge a manifest."""
    whole = (folder / name).read_bytes()
    for size in range(0, len(whole) - 1, 7):
        (folder / name).write_bytes(whole[:size])
        seal(folder)
        assert refusal(folder).code.id in ("TSR-R005", "TSR-R007")


def test_one_changed_byte(folder):
    path = folder / "weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    error = refusal(folder)
    assert error.code.id == "TSR-R002"
    assert "sha256" in error.message


def test_no_folder_a_file_and_an_empty_folder(tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    file = tmp_path / "file"
    file.write_text("")
    for place in (tmp_path / "none", empty, file):
        assert refusal(place).code.id == "TSR-R001"


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/hostname", "a/../../b", "a\\b", "\0"]
)
def test_a_path_that_leads_out(name, folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = {"bytes": 0, "sha256": ""}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    assert refusal(folder).code.id == "TSR-R004"


def test_a_link_that_leads_out(folder):
    outside = folder.parent / "outside"
    shutil.move(folder / "graph.mlir", outside)
    (folder / "graph.mlir").symlink_to(outside)
    assert refusal(folder).code.id == "TSR-R004"


@pytest.mark.parametrize("name", ["manifest.json", "program.json"])
def test_another_format(name, folder):
    data = json.loads((folder / name).read_text())
    data["schema"] = data["schema"].replace("/1", "/2")
    (folder / name).write_text(json.dumps(data))
    if name != "manifest.json":
        seal(folder)
    error = refusal(folder)
    assert error.code.id == "TSR-R003"
    assert "/2" in error.message
    assert "/1" in error.message


def test_a_bad_decisions_document(folder):
    (folder / "decisions.json").write_text('{"schema": "tessera.decisions/1"}')
    seal(folder)
    assert refusal(folder).code.id == "TSR-R020"


def edited(folder: Path, *path: object, value: object) -> TesseraError:
    """The refusal after one value of program.json is replaced."""
    data = json.loads((folder / "program.json").read_text())
    at = data
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = value
    (folder / "program.json").write_text(json.dumps(data))
    seal(folder)
    return refusal(folder)


CALL = ("steps", 0, "call", "expansion", 0)

EDITS = {
    "an unknown op": (("steps", 1, "op"), "exec", "TSR-R006"),
    "an unknown op inside": ((*CALL, "op"), "os.system", "TSR-R006"),
    "an unknown attribute": (("steps", 1, "attributes"), {"evil": 1}, "TSR-R005"),
    "a name not given": (("steps", 1, "inputs"), ["nowhere", "ids"], "TSR-R005"),
    "a name not given inside": ((*CALL, "inputs"), ["table.", "w"], "TSR-R005"),
    "another step's value inside": ((*CALL, "inputs"), ["ids", "w"], "TSR-R005"),
    "a name given twice": (("steps", 1, "outputs"), ["y"], "TSR-R005"),
    "an empty output": (("steps", 1, "outputs"), [], "TSR-R005"),
    "an output nobody gives": (("outputs", 0, "name"), "z", "TSR-R005"),
    "an unknown dtype": (("inputs", 0, "dtype"), "f8", "TSR-R005"),
    "a negative size": (("inputs", 0, "shape"), [-1], "TSR-R005"),
    "a boolean size": (("inputs", 0, "shape"), [True], "TSR-R005"),
    "a default of no input": (("defaults",), {"nobody": "w"}, "TSR-R005"),
    "a default without weight": (("defaults",), {"scale": "nobody"}, "TSR-R005"),
    "a default that does not fit": (("defaults",), {"scale": "w"}, "TSR-R005"),
    "a weight without tensor": (("weights",), {"w": "nobody"}, "TSR-R007"),
    "a field too many": (("steps", 0, "extra"), 1, "TSR-R005"),
    "a number for text": (("target",), 1, "TSR-R005"),
    "an object for a list": (("steps",), {}, "TSR-R005"),
    "a float by another name": (
        ("steps", 1, "attributes"),
        {"axis": {"float": "1e9"}},
        "TSR-R005",
    ),
    "a call in a call": (
        (*CALL, "call"),
        {"kernel": "", "symbol": "", "source": "", "site": "", "expansion": []},
        "TSR-R005",
    ),
}


@pytest.mark.parametrize(("path", "value", "code"), EDITS.values(), ids=EDITS.keys())
def test_a_malformed_program(path, value, code, folder):
    assert edited(folder, *path, value=value).code.id == code


@pytest.mark.parametrize(
    "text", ["", "[]", "nul", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 100_000]
)
def test_text_that_is_no_program(text, folder):
    (folder / "program.json").write_text(text)
    seal(folder)
    assert refusal(folder).code.id in ("TSR-R003", "TSR-R005")


@pytest.mark.parametrize(
    "header",
    [
        b"[]",
        b'{"w": 1}',
        b'{"w": {"dtype": "F4", "shape": [], "data_offsets": [0, 0]}}',
        b'{"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}',
        b'{"w": {"dtype": "F32", "shape": [-1], "data_offsets": [0, -4]}}',
        b'{"w": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}}',
        b'{"w": {"dtype": "F32", "shape": "x", "data_offsets": [0, 4]}}',
        b"\xff\xfe",
    ],
)
def test_a_bad_tensor_header(header, folder):
    data = len(header).to_bytes(8, "little") + header + b"\0" * 4
    (folder / "weights.safetensors").write_bytes(data)
    seal(folder)
    assert refusal(folder).code.id == "TSR-R007"


def test_a_header_longer_than_the_file(folder):
    (folder / "weights.safetensors").write_bytes(b"\xff" * 16)
    seal(folder)
    assert refusal(folder).code.id == "TSR-R007"


def test_a_broken_program_is_not_saved(tmp_path):
    program = mlp()
    steps = (*program.steps, Step("add", ("y", "missing"), ("z",)))
    broken = Program(
        program.target,
        program.inputs,
        program.outputs,
        program.defaults,
        program.weights,
        steps,
    )
    with pytest.raises(TesseraError, match="reads 'missing'"):
        save(tmp_path / "a", broken, "", "", document(program))
    assert list(tmp_path.iterdir()) == []


def test_an_absent_optional_operand_is_no_missing_name():
    program = mlp()
    step = Step("rmsnorm", ("y", ""), ("z",))
    check_program(
        Program(
            program.target,
            program.inputs,
            program.outputs,
            program.defaults,
            program.weights,
            (*program.steps, step),
        )
    )
