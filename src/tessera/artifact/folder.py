"""The artifact folder: written whole or not at all, checked before it is believed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import Any, NoReturn, cast

from tessera.artifact.check import check_program
from tessera.artifact.codec import (
    SCHEMA as PROGRAM_SCHEMA,
)
from tessera.artifact.codec import (
    parse_json,
    program_from_json,
    program_text,
    tensor_keys,
)
from tessera.artifact.codes import (
    AGAIN,
    CANNOT_WRITE,
    DAMAGED,
    MALFORMED,
    NO_ARTIFACT,
    OCCUPIED,
    OTHER_FORMAT,
    UNSAFE_PATH,
)
from tessera.artifact.program import Program
from tessera.artifact.tensors import read_tensors, write_tensors
from tessera.decisions import JSON, Document
from tessera.diagnostics import Code, TesseraError

SCHEMA = "tessera.artifact/1"
MANIFEST = "manifest.json"
GRAPH, TARGET = "graph.mlir", "target.mlir"
PROGRAM, DECISIONS = "program.json", "decisions.json"
WEIGHTS = "weights.safetensors"
FILES = (GRAPH, TARGET, PROGRAM, WEIGHTS, DECISIONS)
CODE = re.compile(r"native/([0-9a-f]{64})\.ll")


@dataclass(frozen=True)
class Artifact:
    """What a folder holds; the weights are read-only views of the mapped file."""

    program: Program
    document: Document
    graph_text: str
    target_text: str
    manifest: Mapping[str, JSON]


def save(
    folder: str | Path,
    program: Program,
    graph_text: str,
    target_text: str,
    document: Document,
) -> None:
    """Write an artifact folder, replacing an artifact or filling an empty folder.

    All files go to a hidden sibling that is renamed when complete: whatever happens,
    the path holds the old artifact or the new one.  Raises TesseraError TSR-R005/6 for
    a broken program, TSR-R008 when the folder holds something else, TSR-R009 when the
    file system refuses.
    """
    check_program(program)
    place = Path(os.path.abspath(folder))
    _check_free(place)
    draft = place.parent / f".{place.name}.new-{uuid.uuid4().hex}"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        draft.mkdir()
        _write_files(draft, program, graph_text, target_text, document)
        _put_in_place(draft, place)
    except OSError as error:
        text = f"cannot write '{folder}': {error.strerror or error}"
        remedy = "check space and permissions, or choose another folder"
        raise TesseraError(CANNOT_WRITE, text, remedy=remedy) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _check_free(place: Path) -> None:
    if not os.path.lexists(place):
        return
    kind = "a file"
    if place.is_dir() and not place.is_symlink():
        if (place / MANIFEST).is_file() or not any(place.iterdir()):
            return
        kind = "a folder with other content"
    elif place.is_symlink():
        kind = "a link"
    raise TesseraError(
        OCCUPIED,
        f"'{place}' is {kind}, not an artifact",
        remedy="choose another folder, or empty this one",
    )


def _write_files(
    draft: Path, program: Program, graph_text: str, target_text: str, document: Document
) -> None:
    (draft / GRAPH).write_text(graph_text, encoding="utf-8")
    (draft / TARGET).write_text(target_text, encoding="utf-8")
    (draft / PROGRAM).write_text(program_text(program), encoding="utf-8")
    (draft / DECISIONS).write_text(document.dumps(), encoding="utf-8")
    keys = tensor_keys(program.weights)
    tensors = {keys[name]: array for name, array in program.weights.items()}
    write_tensors(draft / WEIGHTS, tensors)
    code = [f"native/{name}.ll" for name in sorted(program.code)]
    if code:
        (draft / "native").mkdir()
    for name, text in program.code.items():
        (draft / "native" / f"{name}.ll").write_text(text, encoding="utf-8")
    manifest = {
        "schema": SCHEMA,
        "version": metadata.version("tessera-compiler"),
        "target": program.target,
        "files": {name: _describe(draft / name) for name in (*FILES, *code)},
    }
    text = json.dumps(manifest, indent=2) + "\n"
    (draft / MANIFEST).write_text(text, encoding="utf-8")
    for name in (*FILES, *code, MANIFEST):
        _sync(draft / name)


def _sync(path: Path) -> None:
    """Wait until a file has reached the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _describe(path: Path) -> dict[str, JSON]:
    """Size and hash of a file."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        return {"bytes": file.tell(), "sha256": digest}


def _put_in_place(draft: Path, place: Path) -> None:
    """Rename the complete draft; an old artifact comes back if that fails."""
    if not place.exists():
        draft.rename(place)
        return
    old = place.parent / f".{place.name}.old-{uuid.uuid4().hex}"
    place.rename(old)
    try:
        draft.rename(place)
    except BaseException:
        old.rename(place)
        raise
    shutil.rmtree(old, ignore_errors=True)


def load(folder: str | Path) -> Artifact:
    """Read and check an artifact folder; TesseraError TSR-R001 … R007 when it is bad."""
    place = Path(folder)
    manifest = _read_manifest(place)
    for name, entry in cast("dict[str, Any]", manifest["files"]).items():
        _check_file(place, name, entry)
    tensors = read_tensors(place / WEIGHTS)
    data = parse_json(PROGRAM, (place / PROGRAM).read_bytes())
    _check_schema(PROGRAM, data, PROGRAM_SCHEMA)
    program = program_from_json(data, tensors, _read_code(place, manifest["files"]))
    check_program(program)
    return Artifact(
        program=program,
        document=Document.loads((place / DECISIONS).read_bytes()),
        graph_text=_read_text(place / GRAPH),
        target_text=_read_text(place / TARGET),
        manifest=manifest,
    )


def _read_code(place: Path, files: Iterable[str]) -> dict[str, str]:
    """The native texts that the manifest lists, by the hash that they are named by."""
    found = [(name, match) for name in files if (match := CODE.fullmatch(name))]
    return {match[1]: _read_text(place / name) for name, match in found}


def _read_manifest(place: Path) -> dict[str, Any]:
    path = place / MANIFEST
    try:
        text = path.read_bytes()
    except OSError as error:
        reason = "no such folder" if not place.is_dir() else f"no {MANIFEST} in it"
        if path.exists():
            reason = error.strerror or str(error)
        remedy = "give the folder that `tessera compile -o` wrote"
        text = f"'{place}' is not an artifact: {reason}"
        raise TesseraError(NO_ARTIFACT, text, remedy=remedy) from None
    manifest = parse_json(MANIFEST, text)
    _check_schema(MANIFEST, manifest, SCHEMA)
    if not isinstance(manifest.get("files"), dict):
        _refuse(MALFORMED, f"{MANIFEST} lists no files")
    for name in FILES:
        if name not in manifest["files"]:
            _refuse(MALFORMED, f"{MANIFEST} does not list {name}")
    return manifest


def _check_schema(file: str, data: Any, wanted: str) -> None:
    fields = cast("dict[str, Any]", data) if isinstance(data, dict) else {}
    found = fields.get("schema")
    if found == wanted:
        return
    writer = f" (written by release {fields['version']})" if "version" in fields else ""
    raise TesseraError(
        OTHER_FORMAT,
        f"{file} has schema {found!r}{writer}, wanted '{wanted}'",
        remedy="use the release that wrote it, or compile the model again",
    )


def _check_file(place: Path, name: str, entry: Any) -> None:
    """The file is inside the folder and is what the manifest says."""
    pure = PurePosixPath(name)
    path = place / name
    plain = not pure.is_absolute() and ".." not in pure.parts
    plain = plain and not {"\\", "\0"} & set(name)
    if not plain or not path.resolve().is_relative_to(place.resolve()):
        text = f"the artifact names '{name}', which is outside its folder"
        remedy = "do not use it; get the artifact from its source"
        raise TesseraError(UNSAFE_PATH, text, remedy=remedy)
    fields = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {}
    if path.exists() and not path.is_file():
        _refuse(DAMAGED, f"{name} is not a file")
    try:
        found = _describe(path)
    except OSError as error:
        _refuse(DAMAGED, f"{name}: {error.strerror or error}")
    if found["bytes"] != fields.get("bytes"):
        text = f"{name} has {found['bytes']} bytes, wanted {fields.get('bytes')}"
        _refuse(DAMAGED, text)
    if found["sha256"] != fields.get("sha256"):
        _refuse(DAMAGED, f"{name} does not have the sha256 that {MANIFEST} lists")


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        _refuse(DAMAGED, f"{path.name} is not UTF-8 text")


def _refuse(code: Code, text: str) -> NoReturn:
    raise TesseraError(code, text, remedy=AGAIN)
