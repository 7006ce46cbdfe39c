"""The lock file: what of it no longer holds, and why."""

from dataclasses import replace

import pytest

from tessera.audit import check_lock, lock_text, write_lock
from tessera.decisions import Document, Site
from tessera.diagnostics import TesseraError
from tests.unit.audit.documents import ATTENTION, NORM, full

NAME = ATTENTION.id
LOST = replace(
    ATTENTION,
    outcome="refused",
    kernel=None,
    source=None,
    code="TSR-F102",
    predicate="uses",
    found="2 uses of the scores",
    wanted="1",
)


def changed(sites: dict[str, Site | None]) -> Document:
    """The full document with some sites replaced, removed, or added."""
    found = {site.id: site for site in full().sites}
    found.update({name: site for name, site in sites.items() if site is not None})
    kept = [s for name, s in found.items() if sites.get(name, s) is not None]
    return Document("elsewhere/encoder.onnx", "apple_cpu", "", tuple(kept))


@pytest.fixture
def lock(tmp_path):
    path = tmp_path / "fusion.lock"
    write_lock(full(), path)
    return path


def test_a_lock_is_sorted_lines_under_a_header(lock):
    header, *lines = lock.read_text().splitlines()
    assert header == "# tessera.lock/1\tmodels/encoder.onnx\tapple_cpu"
    assert lines == sorted(lines)
    assert len(lines) == len(full().sites)
    assert f"{NAME}\tfused\tmatmul_softmax_matmul\tdescriptor\t-" in lines
    assert f"{NORM.id}\trefused\t-\t-\tTSR-F201" in lines


def test_what_is_locked_holds_in_any_order(lock):
    document = full()
    backwards = replace(document, sites=tuple(reversed(document.sites)))
    assert check_lock(document, lock) == []
    assert check_lock(backwards, lock) == []
    assert lock_text(backwards) == lock_text(document)


CHANGES = {
    "lost": (LOST, "error", "lost_kernel", ("TSR-F102", "2 uses of the scores")),
    "kernel": (
        replace(ATTENTION, kernel="matmul_softmax"),
        "error",
        "changed_kernel",
        ("from matmul_softmax_matmul to matmul_softmax",),
    ),
    "source": (
        replace(ATTENTION, source="rediscovered"),
        "error",
        "changed_source",
        ("from descriptor to rediscovered",),
    ),
    "gone": (None, "error", "disappeared", ("matmul_softmax_matmul",)),
}


@pytest.mark.parametrize(
    ("site", "severity", "what", "words"), CHANGES.values(), ids=CHANGES.keys()
)
def test_one_change_is_one_finding(site, severity, what, words, lock):
    (finding,) = check_lock(changed({NAME: site}), lock)
    assert (finding.severity, finding.what, finding.site) == (severity, what, NAME)
    for word in words:
        assert word in str(finding)


def test_a_site_that_became_another_is_told_with_its_successor(lock):
    other = replace(
        LOST, id=NAME.replace("attention#0", "matmul_softmax#0"), kind="matmul_softmax"
    )
    error, note = check_lock(changed({NAME: None, other.id: other}), lock)
    assert (error.severity, error.site, note.severity) == ("error", NAME, "note")
    assert other.id in error.message
    assert "TSR-F102" in error.message


def test_gains_are_notes(lock):
    new = replace(ATTENTION, id="main/new/attention#0")
    fused = replace(
        NORM, outcome="fused", kernel="layernorm", source="rediscovered", code=None
    )
    found = check_lock(changed({new.id: new, NORM.id: fused}), lock)
    assert {(f.severity, f.what, f.site) for f in found} == {
        ("note", "new", new.id),
        ("note", "gained", NORM.id),
    }


def test_a_refused_site_that_goes_loses_nothing(lock):
    (finding,) = check_lock(changed({NORM.id: None}), lock)
    assert (finding.severity, finding.what) == ("note", "disappeared")


def test_a_refusal_for_another_reason_holds(lock):
    other = replace(NORM, code="TSR-F999")
    assert check_lock(changed({NORM.id: other}), lock) == []


def test_errors_come_first(lock):
    new = replace(ATTENTION, id="main/a/attention#0")
    found = check_lock(changed({NAME: LOST, new.id: new}), lock)
    assert [f.severity for f in found] == ["error", "note"]


def test_odd_names_survive(tmp_path):
    odd = replace(ATTENTION, id="a\tb\\n\nc\rd#0")
    document = Document("m\todel", "apple_cpu", "", (odd,))
    write_lock(document, tmp_path / "lock")
    assert len((tmp_path / "lock").read_text().splitlines()) == 2
    assert check_lock(document, tmp_path / "lock") == []


def test_another_target(lock):
    with pytest.raises(TesseraError, match="--target apple_cpu") as caught:
        check_lock(replace(full(), target="apple_gpu"), lock)
    assert caught.value.code.id == "TSR-R051"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# tessera.lock/2\tm\tapple_cpu\n",
        "# tessera.lock/1\n",
        "# tessera.lock/1\tm\tapple_cpu\nonly two\tfields\n",
        "# tessera.lock/1\tm\tapple_cpu\na\tfused\tk\ts\t-\na\tfused\tk\ts\t-\n",
        "\udcff",
        None,
    ],
)
def test_a_bad_lock(text, tmp_path):
    path = tmp_path / "lock"
    if text is not None:
        path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(TesseraError) as caught:
        check_lock(full(), path)
    assert caught.value.code.id == "TSR-R050"
    assert caught.value.remedy


def test_a_lock_that_cannot_be_written_keeps_the_old_one(lock, monkeypatch):
    before = lock.read_text()

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(TesseraError, match="No space left"):
        write_lock(changed({NAME: None}), lock)
    assert lock.read_text() == before
    assert [path.name for path in lock.parent.iterdir()] == [lock.name]
