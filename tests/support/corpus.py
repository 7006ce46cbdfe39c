"""Real model graphs: a committed few, and the full corpus where there is one.

`tests/corpus/contents.json` names every model and file of the full corpus, so that the
cases which an absent corpus leaves out can be counted.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.paths import CORPUS, REPOSITORY

VARIABLE = "TESSERA_CORPUS"
CONTENTS: dict[str, list[str]] = json.loads((CORPUS / "contents.json").read_text())


def full_corpus() -> Path | None:
    """The full corpus's folder: `TESSERA_CORPUS`, else `../shared/corpus` if it exists.

    An empty `TESSERA_CORPUS` says that there is none.
    """
    named = os.environ.get(VARIABLE)
    if named is None:
        beside = REPOSITORY.parent / "shared" / "corpus"
        return beside if beside.is_dir() else None
    if named and not Path(named).is_dir():
        raise pytest.UsageError(f"{VARIABLE} names {named}, which is not a folder")
    return Path(named) if named else None


@dataclass(frozen=True)
class Case:
    """One model file of the corpus."""

    model: str
    file: str

    @property
    def committed(self) -> bool:
        return (CORPUS / self.model / self.file).is_file()

    @property
    def folder(self) -> Path:
        full = None if self.committed else full_corpus()
        return (full or CORPUS) / self.model

    @property
    def path(self) -> Path:
        return self.folder / self.file

    def meta(self) -> dict[str, Any]:
        """The model's configuration, and `truth`: its pattern instances by kind."""
        return json.loads((self.folder / "meta.json").read_text())

    def inputs(self) -> dict[str, np.ndarray]:
        return self._arrays("in:")

    def outputs(self) -> dict[str, np.ndarray]:
        """What torch computed, in eager f32."""
        return self._arrays("out:")

    def _arrays(self, prefix: str) -> dict[str, np.ndarray]:
        stored = self.meta()["files"].get(self.file, {}).get("io", "io.npz")
        with np.load(self.folder / stored) as arrays:
            return {
                name.removeprefix(prefix): arrays[name]
                for name in arrays.files
                if name.startswith(prefix)
            }


def cases(*files: str, models: tuple[str, ...] = ()) -> list[Any]:
    """Test parameters, a `Case` each: these files (all by default) of these models.

    A case that is not committed is marked `full_corpus`; without the corpus it does not
    run and is counted.
    """
    chosen: list[Any] = []
    for model, held in CONTENTS.items():
        for file in held:
            if (files and file not in files) or (models and model not in models):
                continue
            case = Case(model, file)
            marks = () if case.committed else (pytest.mark.full_corpus,)
            name = f"{model}-{Path(file).stem}"
            chosen.append(pytest.param(case, id=name, marks=marks))
    return chosen
