"""What each command does."""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from tessera.artifact import load
from tessera.cli.feeds import random_inputs
from tessera.decisions import Document, validate
from tests.support.paths import TESTS
from tests.unit.artifact.programs import mlp
from tests.unit.cli.conftest import Tessera

CORPUS = TESTS / "corpus"
MODELS = ("gpt2", "bert", "llama")


EYE = np.eye(4, 8, dtype=np.float32)


def test_run_with_arrays_and_results(tessera: Tessera):
    x = np.array([[0.0, 1.0, -1.0, 30.0]], np.float32)
    np.savez("in.npz", x=x, w=EYE)
    ended = tessera("run", "gelu.mlir", "--inputs", "in.npz", "--outputs", "out.npz")
    assert (ended.code, ended.err) == (0, "")
    with np.load("out.npz", allow_pickle=False) as out:
        assert out.files == ["y"]
        wanted = [[0, 0.8413447, -0.1586553, 30, 0, 0, 0, 0]]
        np.testing.assert_allclose(out["y"], wanted, atol=1e-6)
    for fact in ("f32[1×8]", "-0.1587", "30", "target apple_cpu", "1 fused call)"):
        assert fact in ended.out


def test_results_kept_beside_the_inputs_are_skipped(tessera: Tessera):
    x = np.ones((1, 4), np.float32)
    np.savez("io.npz", y=np.zeros(3), x=x, w=EYE)
    assert tessera("run", "gelu.mlir", "--inputs", "io.npz").code == 0


def test_random_inputs_are_the_same_for_a_seed(tessera: Tessera):
    def run(seed: int) -> bytes:
        assert tessera("run", "gelu.mlir", "--seed", seed, "--outputs", "o").code == 0
        with np.load("o", allow_pickle=False) as out:
            return out["y"].tobytes()

    assert run(0) == run(0)
    assert run(0) != run(1)


def test_random_integers_stay_below_the_table(tessera: Tessera):
    for seed in range(5):
        assert tessera("run", "lookup.mlir", "--seed", seed).code == 0
    for seed in range(20):
        ids = random_inputs(mlp(), seed)["ids"]
        assert 0 <= ids.min() <= ids.max() < 3


@pytest.mark.parametrize("model", MODELS)
def test_run_verifies_real_models(model, tessera: Tessera):
    ended = tessera("run", CORPUS / model / "eager_op20.onnx", "--verify")
    assert (ended.code, ended.err) == (0, "")
    assert "✓" in ended.out
    assert "max error" in ended.out
    assert "scale" in ended.out


@pytest.mark.parametrize("target", ["apple_cpu", "apple_gpu", "cpu"])
def test_compile_writes_an_artifact_that_audits_and_verifies(target, tessera: Tessera):
    model = CORPUS / "bert" / "eager_op20.onnx"
    assert tessera("compile", model, "--target", target, "-o", "art").code == 0
    artifact = load("art")
    assert artifact.program.target == target
    audited = tessera("audit", "art", "--format", "json")
    direct = tessera("audit", model, "--target", target, "--format", "json")
    assert audited.out == direct.out == artifact.document.dumps()
    ended = tessera("run", "art", "--verify")
    assert ended.code == (2 if target == "apple_gpu" else 0)
    assert ("TSR-R033" in ended.err) == (target == "apple_gpu")


def test_verifying_an_artifact_uses_its_graph_and_weights(tessera: Tessera):
    """Not its program: a program that computes something else is found out."""
    model = CORPUS / "bert" / "eager_op20.onnx"
    assert tessera("compile", model, "-o", "art").code == 0
    spoil(Path("art"), '"op": "add"', '"op": "sub"')
    ended = tessera("run", "art", "--verify")
    assert ended.code == 1
    assert "✗ last_hidden_state: max error" in ended.out


def spoil(folder: Path, old: str, new: str) -> None:
    """Change the program of an artifact, and its hash with it."""
    import hashlib

    text = (folder / "program.json").read_text()
    assert old in text
    data = text.replace(old, new).encode()
    (folder / "program.json").write_bytes(data)
    manifest = json.loads((folder / "manifest.json").read_text())
    digest = hashlib.sha256(data).hexdigest()
    manifest["files"]["program.json"] = {"bytes": len(data), "sha256": digest}
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_compiling_again_replaces_the_artifact_and_nothing_else(tessera: Tessera):
    assert tessera("compile", "gelu.mlir", "-o", "art").code == 0
    assert tessera("compile", "lookup.mlir", "-o", "art").code == 0
    assert load("art").program.inputs[0].name == "ids"
    Path("mine").mkdir()
    Path("mine/file").write_text("x")
    ended = tessera("compile", "gelu.mlir", "-o", "mine")
    assert ended.code == 2
    assert "TSR-R008" in ended.err


def test_audit_prints_the_document_and_nothing_else(tessera: Tessera):
    ended = tessera("audit", "shared.mlir", "--format", "json", "--lock", "l")
    assert ended.code == 0
    validate(json.loads(ended.out))
    assert Document.loads(ended.out).dumps() == ended.out


def test_audit_shows_the_table(tessera: Tessera):
    ended = tessera("audit", "gelu.mlir")
    assert ended.code == 0
    for fact in ("gelu.mlir", "✓ matmul_gelu", "descriptor", "1 of 1 site fused"):
        assert fact in ended.out
    assert "\x1b" not in ended.out


def test_lock_and_check(tessera: Tessera):
    Path("model.mlir").write_text(Path("gelu.mlir").read_text())
    assert tessera("audit", "model.mlir", "--lock", "fusion.lock").code == 0
    held = tessera("audit", "model.mlir", "--check", "fusion.lock")
    assert (held.code, held.err) == (0, "")
    assert "all hold" in held.out

    Path("model.mlir").write_text(Path("shared.mlir").read_text())
    for form in ("text", "json"):
        lost = tessera(
            "audit", "model.mlir", "--check", "fusion.lock", "--format", form
        )
        assert lost.code == 1
        said = lost.out if form == "text" else lost.err
        assert "lost its kernel matmul_gelu" in said
        assert "TSR-F102" in said
    validate(json.loads(lost.out))


def test_lock_and_check_together_are_refused(tessera: Tessera):
    ended = tessera("audit", "gelu.mlir", "--lock", "a", "--check", "b")
    assert ended.code == 2
    assert not Path("a").exists()


def test_remarks_go_to_stderr_and_only_when_asked(tessera: Tessera):
    assert tessera("audit", "shared.mlir").err == ""
    remarked = tessera("audit", "shared.mlir", "--remarks", "--format", "json")
    assert "remark: " in remarked.err
    assert "TSR-F102" in remarked.err
    validate(json.loads(remarked.out))


def test_warnings_go_to_stderr(tessera: Tessera):
    text = Path("shared.mlir").read_text()
    stamp = '"tessera.gelu"(%h) {tessera.fusion.intent = "matmul_gelu"}'
    Path("stamped.mlir").write_text(text.replace('"tessera.gelu"(%h)', stamp))
    ended = tessera("audit", "stamped.mlir", "--format", "json")
    assert ended.code == 0
    assert "warning: [TSR-F102]" in ended.err
    assert "stamped.mlir:6:" in ended.err


@pytest.mark.parametrize("spelling", ["TSR-R001", "tsr-r001", "R001"])
def test_explain(spelling, tessera: Tessera):
    ended = tessera("explain", spelling)
    assert ended.code == 0
    assert ended.out.startswith("TSR-R001  the folder is not a Tessera artifact\n")
    assert "tessera compile" in " ".join(ended.out.split())


def test_explain_knows_every_code_the_sources_declare(tessera: Tessera):
    import re

    import tessera as package

    sources = Path(package.__file__).parent.rglob("*.py")
    declared = {
        code
        for path in sources
        for code in re.findall(r'declare\(\s*"(TSR-\w+)"', path.read_text())
    }
    listed = {line.split()[0] for line in tessera("explain").out.splitlines()}
    assert len(declared) > 40
    assert declared <= listed


def test_kernels_lists_the_catalog(tessera: Tessera):
    from tessera.catalog import KERNELS

    ended = tessera("kernels")
    assert ended.code == 0
    for kernel in KERNELS:
        assert kernel.name in ended.out
        assert " ".join(kernel.summary.split()) in " ".join(ended.out.split())
    assert "apple_gpu" in ended.out
    assert "object at" not in ended.out


def test_version_and_help(tessera: Tessera):
    assert tessera("--version").out.startswith("tessera ")
    assert "Exit codes" in tessera().out
    for command in ("run", "compile", "audit", "explain", "kernels"):
        ended = tessera(command, "--help")
        assert ended.code == 0
        assert "Exit codes" in ended.out


def test_bf16_arrays_come_and_go(tessera: Tessera):
    text = Path("gelu.mlir").read_text().replace("xf32>", "xbf16>")
    Path("narrow.mlir").write_text(text)
    x = np.ones((1, 4), ml_dtypes.bfloat16)
    np.savez("in.npz", x=x, w=np.eye(4, 8).astype(ml_dtypes.bfloat16))
    ended = tessera(
        "run", "narrow.mlir", "--inputs", "in.npz", "--outputs", "o.npz", "--verify"
    )
    assert (ended.code, ended.err) == (0, "")
    with np.load("o.npz", allow_pickle=False) as out:
        found = out["y"].view(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_allclose(found[0, :4], 0.8413447, rtol=1e-2)
