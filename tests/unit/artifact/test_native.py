"""Native code in an artifact: a file by its hash, checked, and run by a runtime alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tessera import artifact, ops
from tessera.diagnostics import TesseraError
from tessera.just_in_time import jit
from tessera.runtime import execute, placements
from tests.unit.artifact.programs import document

X = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
W = np.linspace(-1, 1, 20, dtype=np.float32).reshape(4, 5)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    compiled = jit(lambda x, w: ops.gelu(x @ w)).compiled(X, W)
    program = compiled.program()
    artifact.save(tmp_path / "a", program, "", "", document(program))
    return tmp_path / "a"


def test_it_is_shipped_and_runs(folder: Path) -> None:
    program = artifact.load(folder).program
    (text,) = (folder / "native").iterdir()
    assert list(program.code) == [text.stem]
    assert set(placements(program).values()) == {"native"}
    (found,) = execute(program, {"x": X, "w": W}).values()
    (wanted,) = execute(program, {"x": X, "w": W}, kernels={}).values()
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    assert set(placements(program, kernels={}).values()) == {"reference"}


def test_a_changed_text_is_refused(folder: Path) -> None:
    (path,) = (folder / "native").iterdir()
    path.write_text(path.read_text() + "; changed\n")
    with pytest.raises(TesseraError, match="bytes, wanted"):
        artifact.load(folder)
    describe_again(folder, path)
    with pytest.raises(TesseraError, match="is not the text that"):
        artifact.load(folder)


def test_a_missing_text_is_refused(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    name = next(name for name in manifest["files"] if name.startswith("native/"))
    del manifest["files"][name]
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TesseraError, match="is not there"):
        artifact.load(folder)


def describe_again(folder: Path, path: Path) -> None:
    import hashlib

    manifest = json.loads((folder / "manifest.json").read_text())
    data = path.read_bytes()
    manifest["files"][f"native/{path.name}"] = {
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
