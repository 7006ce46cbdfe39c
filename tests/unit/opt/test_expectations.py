"""`--verify-diagnostics` fails when a message is missing, extra or elsewhere."""

import pytest

from tests.unit.opt.support import Opt

TEXT = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {{
  {above}
  %y = "tessera.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32> {same}
  {below}
  func.return %x : tensor<4xf32>
}}
"""
CHECK = "--verify-diagnostics"


def text(above: str = "", same: str = "", below: str = "") -> str:
    comments = (f"// {c}" if c else "" for c in (above, same, below))
    return TEXT.format(**dict(zip(("above", "same", "below"), comments, strict=True)))


@pytest.mark.parametrize(
    "comments",
    [
        ("expected-warning @+1 {{seen}}", "", ""),
        ("expected-warning@+1{{[TSR-G025] seen}}", "", ""),
        ("expected-warning @below {{see}}", "", ""),
        ("expected-warning @3 {{seen}}", "", ""),
        ("expected-warning @+1 1{{seen}}", "", ""),
        ("expected-warning-re @+1 {{s{{e+}}n}}", "", ""),
        ("", "expected-warning {{seen}}", ""),
        ("", "", "expected-warning @-1 {{seen}}"),
        ("", "", "expected-warning @above {{seen}}"),
    ],
)
def test_met(opt: Opt, comments: tuple[str, str, str]) -> None:
    found = opt(text(*comments), CHECK, "--say")
    assert (found.code, found.err) == (0, "")
    assert "tessera.exp" in found.out


@pytest.mark.parametrize(
    "comment",
    [
        "expected-warning @+1 {{other}}",
        "expected-warning @+2 {{seen}}",
        "expected-warning @above {{seen}}",
        "expected-warning @unknown {{seen}}",
        "expected-remark @+1 {{seen}}",
        "expected-error @+1 {{seen}}",
        "expected-note @+1 {{seen}}",
        "",
    ],
)
def test_unexpected(opt: Opt, comment: str) -> None:
    found = opt(text(comment), CHECK, "--say", "--remarks")
    assert found.code == 1
    unexpected = "in.mlir:3:8: error: unexpected warning: [TSR-G025] seen"
    assert found.err.splitlines()[0] == unexpected
    if comment:
        assert "was not produced" in found.err.splitlines()[1]


def test_missing(opt: Opt) -> None:
    found = opt(text("expected-warning @+1 {{seen}}"), CHECK)
    missing = 'in.mlir:3:1: error: expected warning "seen" was not produced\n'
    assert (found.code, found.err) == (1, missing)


def test_counts(opt: Opt) -> None:
    twice = text("expected-warning @+1 2{{seen}}")
    assert opt(twice, CHECK, "--say=times=2").code == 0
    assert opt(twice, CHECK, "--say=times=1").err.count("not produced") == 1
    assert opt(twice, CHECK, "--say=times=3").err.count("unexpected warning") == 1


def test_an_expected_error_is_no_failure(opt: Opt) -> None:
    broken = text("expected-error @+1 {{no attribute 'nonsense'}}")
    assert opt(broken, CHECK, "--break").code == 0
    assert opt(broken, CHECK).code == 1
    cut = "// expected-error @+1 {{the text ends here}}\nfunc.func @f("
    assert opt(cut, CHECK).code == 0


def test_a_remark_counts_only_with_the_flag(opt: Opt) -> None:
    remark = text("expected-remark @+1 {{seen}}")
    say = "--say=severity=remark"
    assert opt(remark, CHECK, say, "--remarks").code == 0
    assert opt(remark, CHECK, say).code == 0
    assert opt(remark, CHECK, "--remarks").code == 1
    assert opt(text(), CHECK, say).code == 0
    assert opt(text(), CHECK, say, "--remarks").code == 1


def test_chunks_are_checked_apart(opt: Opt) -> None:
    met, unmet = text("expected-warning @+1 {{seen}}"), text()
    both = opt(f"{met}// -----\n{unmet}", CHECK, "--say", "--split-input-file")
    assert both.code == 1
    assert both.err == "in.mlir:10:8: error: unexpected warning: [TSR-G025] seen\n"
    fine = opt(f"{met}// -----\n{met}", CHECK, "--say", "--split-input-file")
    assert (fine.code, fine.err) == (0, "")


@pytest.mark.parametrize(
    "comment", ["expected-warning @+1 {{seen", "expected-warning", "expected-error @+1"]
)
def test_an_expectation_that_cannot_be_read_fails(opt: Opt, comment: str) -> None:
    found = opt(text(comment), CHECK)
    said = "in.mlir:2:1: error: expectation without {{text}}\n"
    assert (found.code, found.err) == (1, said)
