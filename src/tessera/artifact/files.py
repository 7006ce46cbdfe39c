"""A file that is written whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tessera.artifact.codes import CANNOT_WRITE
from tessera.diagnostics import TesseraError


@contextmanager
def replacing(path: str | Path) -> Generator[IO[bytes]]:
    """Write to a hidden sibling that takes the path's place when the block ends well.

    Raises TesseraError TSR-R009 when the file system refuses.
    """
    place = Path(os.path.abspath(path))
    draft = place.parent / f".{place.name}.new-{uuid.uuid4().hex}"
    try:
        with draft.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(place)
    except OSError as error:
        text = f"cannot write '{path}': {error.strerror or error}"
        remedy = "check space and permissions, or choose another path"
        raise TesseraError(CANNOT_WRITE, text, remedy=remedy) from None
    finally:
        draft.unlink(missing_ok=True)
