"""Every lit input, and damaged ops: what official MLIR accepts and rejects, so do we."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tessera.catalog import new_context
from tessera.diagnostics import TesseraError
from tessera.graph.text import parse_module, print_module
from tessera.graph.verify import verify_module
from tests.support.modules import difference
from tests.support.paths import CASES, LIT
from tests.support.referee import COUNTS, ONLY_OURS, judge, needs_mlir, why

FILES = sorted([*LIT.rglob("*.mlir"), *(CASES / "mlir").glob("*.mlir")])
UNREGISTERED = "--allow-unregistered-dialect"
CUT = "// -----\n"

LENIENT = {
    "names.mlir": "a location alias may name one that stands further down",
}
"""Files that we read as they stand and official MLIR does not: why."""


@dataclass(frozen=True)
class Ours:
    """What we make of a text: generic form (as it stands if unread), code if refused."""

    generic: str
    code: str | None


def read(text: str, unregistered: bool = False) -> Ours:
    context = new_context()
    context.allow_unregistered = unregistered
    generic = text
    try:
        module = parse_module(text, context=context)
        generic = print_module(module, debuginfo=True, generic=True)
        verify_module(module)
    except TesseraError as refused:
        return Ours(generic, refused.code.id)
    return Ours(generic, None)


def compare(ours: Sequence[Ours], unregistered: bool = False) -> None:
    """Count the verdicts; fail where they part and no listed code says why."""
    verdicts = judge([one.generic for one in ours], unregistered=unregistered)
    for one, verdict in zip(ours, verdicts, strict=True):
        if verdict.accepts and one.code is None:
            COUNTS["accepted by both"] += 1
            _same(one.generic, verdict.text, unregistered)
        elif not verdict.accepts and one.code is not None:
            COUNTS["rejected by both"] += 1
        elif verdict.accepts:
            assert one.code in ONLY_OURS, f"only we refuse, {one.code}:\n{one.generic}"
            COUNTS[f"rejected only by us, {one.code}"] += 1
        else:
            said = why(one.generic, unregistered=unregistered)
            pytest.fail(f"only official MLIR refuses: {said}")


def _same(ours: str, theirs: str, unregistered: bool) -> None:
    modules = []
    for text in (ours, theirs):
        context = new_context()
        context.allow_unregistered = unregistered
        modules.append(parse_module(text, context=context))
    assert difference(*modules) is None, difference(*modules)


@needs_mlir
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_lit_inputs(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    unregistered = UNREGISTERED in text.partition("\n")[0]
    ours = [read(chunk, unregistered) for chunk in text.split(CUT)]
    compare(ours, unregistered)


@needs_mlir
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_lit_inputs_as_they_stand(file: Path) -> None:
    """What we read, official MLIR reads as it is written too.

    Not so where the text leaves out the sizes of groups, or spells calls in our syntax.
    """
    text = file.read_text(encoding="utf-8")
    unregistered = UNREGISTERED in text.partition("\n")[0]
    chunks = []
    for chunk in text.split(CUT):
        ours = read(chunk, unregistered)
        if ours.code is None and "SegmentSizes" not in ours.generic:
            chunks.append(chunk)
    for chunk, verdict in zip(
        chunks, judge(chunks, unregistered=unregistered), strict=True
    ):
        if file.name in LENIENT:
            assert not verdict.accepts
            continue
        assert verdict.accepts, why(chunk, unregistered=unregistered)


@needs_mlir
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_what_inputs_compile_to(file: Path) -> None:
    """Target IR for both targets, of every input that compiles."""
    from tessera.driver import compile_graph_module

    made: list[Ours] = []
    for chunk in file.read_text(encoding="utf-8").split(CUT):
        for target in ("apple_gpu", "apple_cpu"):
            try:
                module = compile_graph_module(parse_module(chunk), target).module
            except TesseraError:
                continue
            made.append(read(print_module(module, debuginfo=True, generic=True)))
    compare(made)


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("debuginfo", [False, True])
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_text_reads_back_the_same(file: Path, debuginfo: bool, generic: bool) -> None:
    """In both forms, with places and without, the second text is the first."""
    for text in _printed(file, debuginfo, generic):
        context = new_context()
        context.allow_unregistered = True
        again = parse_module(text, context=context)
        assert print_module(again, debuginfo, generic) == text


def _printed(file: Path, debuginfo: bool, generic: bool) -> Iterator[str]:
    """The text of every chunk that can be read, broken rules or not."""
    for chunk in file.read_text(encoding="utf-8").split(CUT):
        context = new_context()
        context.allow_unregistered = True
        try:
            module = parse_module(chunk, file.name, context)
        except TesseraError:
            continue
        yield print_module(module, debuginfo, generic)
