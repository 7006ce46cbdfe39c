"""Objects on disk, one file each: written whole or not at all, believed when checked.

Any number of threads and processes may share a folder.  What goes wrong with a file is
no error: the object is compiled again.
"""

from __future__ import annotations

import hashlib
import os
import sys
import uuid
from contextlib import suppress
from pathlib import Path

FOLDER = "TESSERA_CACHE_DIR"
LIMIT = 256 << 20
HEAD = b"tessera object 1\n"
DIGEST = 32


def cache_folder() -> Path:
    """`TESSERA_CACHE_DIR`, or the user's cache folder."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tessera"
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "tessera"


def key_of(*parts: str) -> str:
    """The name of what is made from these texts and nothing else."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def read(key: str) -> bytes | None:
    """The object of a key; None when there is none, or a damaged one."""
    path = _path(key)
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[len(HEAD) + DIGEST :]
    if data != HEAD + hashlib.sha256(body).digest() + body:
        return None
    with suppress(OSError):
        os.utime(path)
    return body


def write(key: str, body: bytes, limit: int = LIMIT) -> None:
    """Keep an object; the oldest ones go when all take more than `limit` bytes."""
    path = _path(key)
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            draft.write_bytes(HEAD + hashlib.sha256(body).digest() + body)
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
        _trim(path, limit)


def _path(key: str) -> Path:
    return cache_folder() / "objects" / f"{key}.o"


def _trim(newest: Path, limit: int) -> None:
    """Remove files, least recently used first, down to three quarters of the limit."""
    found: list[tuple[float, int, Path]] = []
    for path in newest.parent.iterdir():
        with suppress(OSError):
            status = path.stat()
            found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    if total <= limit:
        return
    for _, size, path in sorted(found):
        if total <= limit * 3 // 4:
            return
        if path != newest:
            with suppress(OSError):
                path.unlink()
            total -= size
