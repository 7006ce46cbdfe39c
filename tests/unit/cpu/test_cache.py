"""The object cache: whole or nothing, whoever writes, whatever happens to a file."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from tessera.kernels.matmul_softmax_matmul import KERNEL
from tessera.runtime.native import cache
from tessera.runtime.native.launch import thread_count
from tessera.runtime.native.llvm import load, object_of
from tests.support.native import native, random

KEY = cache.key_of("some", "text")
TEXT = """
define i64 @tessera_plan(ptr %frame) {
  ret i64 1
}
define void @tessera_run(ptr %frame, ptr %counter, ptr %scratch) {
  ret void
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "cache"))
    return tmp_path / "cache" / "objects"


def test_what_was_written_is_read() -> None:
    assert cache.read(KEY) is None
    cache.write(KEY, b"object")
    assert cache.read(KEY) == b"object"


def test_parts_of_a_key_do_not_run_together() -> None:
    assert cache.key_of("ab", "c") != cache.key_of("a", "bc")


@pytest.mark.parametrize("harm", ["cut", "empty", "flipped", "longer"])
def test_a_damaged_object_is_compiled_again(harm: str, folder: Path) -> None:
    whole = object_of(TEXT)
    (path,) = folder.iterdir()
    data = bytearray(path.read_bytes())
    match harm:
        case "cut":
            data = data[: len(data) // 2]
        case "empty":
            data.clear()
        case "flipped":
            data[-7] ^= 1
        case _:
            data += b"x"
    path.write_bytes(data)
    assert object_of(TEXT) == whole
    assert load(TEXT).plan
    assert cache.read(path.stem) == whole


def test_a_folder_that_cannot_be_written_is_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv(cache.FOLDER, str(tmp_path / "file"))
    assert object_of(TEXT)
    assert load(TEXT).run


def test_the_oldest_objects_go_first(folder: Path) -> None:
    keys = [cache.key_of(str(number)) for number in range(8)]
    for age, key in enumerate(keys):
        cache.write(key, bytes(1000))
        os.utime(folder / f"{key}.o", (age, age))
    cache.read(keys[0])  # a use makes it young
    cache.write(cache.key_of("new"), bytes(1000), limit=5000)
    kept = [key for key in keys if cache.read(key)]
    assert keys[0] in kept
    assert set(keys[1:5]).isdisjoint(kept)
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 5000


def test_threads_and_processes_share_a_folder(folder: Path) -> None:
    run = (
        "import sys; from tessera.runtime.native.llvm import object_of\n"
        "for n in range(20): assert object_of(sys.argv[1] + '; ' + str(n % 5))"
    )
    others = [
        subprocess.Popen([sys.executable, "-c", run, TEXT], stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    texts = [f"{TEXT}; {number % 5}" for number in range(40)]
    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(object_of, texts))) == 1
    for other in others:
        _, complaint = other.communicate()
        assert other.returncode == 0, complaint
    assert len(list(folder.iterdir())) == 5


def test_helpers_give_what_one_thread_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    arrays = {role: random(rng, (5, 300, 32), "f32") for role in "qkv"}
    run = native(KERNEL, arrays, {"transpose_b": True}, 3)
    (alone,) = run(*arrays.values())
    monkeypatch.setenv("TESSERA_NUM_THREADS", "3")
    thread_count.cache_clear()
    for _ in range(5):
        (shared,) = run(*arrays.values())
        np.testing.assert_array_equal(shared, alone)
    thread_count.cache_clear()
