"""`tessera-opt` as a command: what it prints, where, and its exit code."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from tessera.cli.opt import run
from tests.support.paths import CASES
from tests.unit.opt.support import CATALOG, Opt

EXP = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %x : tensor<4xf32>
}
"""
WARNING = "in.mlir:2:8: warning: [TSR-G025] seen\n"
BAD = "func.func @f(\n"


def test_without_passes_it_reads_verifies_and_prints(opt: Opt) -> None:
    found = opt(EXP)
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith("builtin.module {\n  func.func @f(%x: tensor<4xf32>)")


def test_a_warning_goes_to_stderr_and_the_exit_code_stays(opt: Opt) -> None:
    found = opt(EXP, "--say")
    assert (found.code, found.err) == (0, WARNING)
    assert "tessera.exp" in found.out


def test_passes_run_in_the_order_given_and_as_often(opt: Opt) -> None:
    assert opt(EXP, "--say", "--dce", "--say").err == WARNING
    assert opt(EXP, "--dce", "--say").err == ""
    assert opt(EXP, "--say", "--say").err == WARNING * 2
    found = opt(EXP, "--say-and-clean")
    assert found.err == WARNING
    assert "tessera.exp" not in found.out


def test_remarks_are_shown_when_asked_for(opt: Opt) -> None:
    assert opt(EXP, "--say=severity=remark").err == ""
    shown = opt(EXP, "--say=severity=remark", "--remarks")
    assert shown.err == WARNING.replace("warning", "remark")
    assert shown.code == 0


@pytest.mark.parametrize("flags", [(), ("--split-input-file",), ("--dce",)])
def test_an_error_is_one_line_and_exit_code_1(opt: Opt, flags: tuple[str]) -> None:
    found = opt(BAD, *flags)
    assert (found.code, found.out) == (1, "")
    assert found.err.startswith("in.mlir:2:1: error: [TSR-G020] the text ends here")
    assert found.err.count("\n") == 1


def test_verification_precedes_and_follows_the_passes(opt: Opt) -> None:
    unfit = EXP.replace("exp", "add")
    assert "[TSR-G001]" in opt(unfit, "--break=how=inside").err
    found = opt(EXP, "--break", "--say")
    assert found.err.splitlines() == [
        WARNING.strip(),
        "in.mlir:2:8: error: [TSR-G003] 'tessera.exp' op has no attribute 'nonsense'",
    ]
    each = opt(EXP, "--break", "--say", "--verify-each")
    assert (each.code, each.err.count("\n")) == (1, 1)


def test_a_pass_that_fails_is_one_message(opt: Opt) -> None:
    found = opt(EXP, "--break=how=inside")
    text = "in.mlir:1:1: error: [TSR-G028] pass 'break' failed: KeyError: 'lost'\n"
    assert (found.code, found.out, found.err) == (1, "", text)
    shown = opt(EXP, "--break=how=inside", "--mlir-print-stacktrace-on-diagnostic")
    assert "Traceback" in shown.err
    refused = opt(EXP, "--break=how=error")
    text = "in.mlir:1:1: error: [TSR-G025] said no; ask again\n"
    assert (refused.code, refused.err) == (1, text)


def test_chunks_are_independent_and_keep_their_lines(opt: Opt) -> None:
    text = EXP + "// -----\n" + BAD + "// -----\n" + EXP
    found = opt(text, "--split-input-file", "--say")
    assert found.code == 1
    lines = found.err.splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        "in.mlir:2:8",
        "in.mlir:7:1",
        "in.mlir:9:8",
    ]
    assert found.out.count("// -----\n") == 1
    assert found.out.count("func.func @f") == 2


def test_ir_is_dumped_around_passes(opt: Opt) -> None:
    title = "// -----// IR Dump {} {} ({}) //----- //"
    every = opt(EXP, "--say", "--dce", "--mlir-print-ir-after-all").err
    assert title.format("After", "Say", "say") in every
    assert every.count("IR Dump") == 2
    assert every.count("tessera.exp") == 1
    before = opt(EXP, "--say", "--dce", "--mlir-print-ir-before-all").err
    assert before.count("tessera.exp") == 2
    one = opt(EXP, "--say", "--dce", "--mlir-print-ir-after=dce").err
    assert title.format("After", "Cleanup", "dce") in one
    assert one.count("IR Dump") == 1


def test_ways_to_print(opt: Opt) -> None:
    assert 'loc("' in opt(EXP, "--mlir-print-debuginfo").out
    assert '"func.return"(%x)' in opt(EXP, "--mlir-print-op-generic").out


def test_unknown_dialects_are_read_when_asked_for(opt: Opt) -> None:
    text = '"test.op"() {a = #test.b<"c">} : () -> ()'
    refused = opt(text)
    assert "operation test.op is not registered" in refused.err
    found = opt(text, "--allow-unregistered-dialect")
    assert text in found.out


def test_output_to_a_file(opt: Opt, tmp_path: Path) -> None:
    found = opt(EXP, "-o", str(tmp_path / "out.mlir"))
    assert (found.code, found.out) == (0, "")
    assert (tmp_path / "out.mlir").read_text() == opt(EXP).out
    opt(BAD, "-o", str(tmp_path / "none.mlir"))
    assert not (tmp_path / "none.mlir").exists()


def test_files_that_cannot_be_read_or_written(opt: Opt, tmp_path: Path) -> None:
    bytes_file = tmp_path / "bytes.mlir"
    bytes_file.write_bytes(b"func\xff")
    for flags in ((str(tmp_path),), ("missing.mlir",), (str(bytes_file),)):
        assert run(flags, CATALOG) == 1
        assert opt.capture.readouterr().err.count("[TSR-G027]") == 1
    assert "[TSR-G027] cannot write" in opt(EXP, "-o", str(tmp_path)).err


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EXP.encode())))
    assert run(["-", "--say"], CATALOG) == 0
    assert capsys.readouterr().err == WARNING.replace("in.mlir", "<stdin>")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--no-such"], "unrecognized arguments: --no-such"),
        (["--dc"], "unrecognized arguments: --dc"),
        (["a.mlir", "b.mlir"], "unrecognized arguments: b.mlir"),
        (["--dce", "--pass-pipeline=cse"], "cannot be used with flags"),
    ],
)
def test_wrong_arguments(
    flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(flags, CATALOG) == 1
    found = capsys.readouterr().err
    assert said in found
    assert found.count("\n") == 1


def test_help_version_and_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--help", "--version", "--list-passes"):
        assert run([flag], CATALOG) == 0
    found = capsys.readouterr()
    assert found.err == ""
    for name in ("--say-and-clean", "--mlir-print-ir-after-all", "--cse"):
        assert name in found.out
    assert "say            Say something of every op named so." in found.out
    assert "say-and-clean  = say, dce" in found.out


def test_the_installed_command() -> None:
    command = Path(sys.executable).with_name("tessera-opt")
    file = CASES / "mlir" / "a73_cut_in_region.mlir"
    run = subprocess.run(
        [command, file, "--allow-unregistered-dialect"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith(f"{file}:5:1: error: [TSR-G020]")
