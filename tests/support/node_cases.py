"""ONNX's own backend node tests: which are claimed, and how each comes out."""

import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import onnx
import onnx.numpy_helper
from onnx.backend.test.case.node import collect_testcases

from tessera.diagnostics import TesseraError
from tessera.frontend.onnx import import_proto
from tessera.frontend.onnx.model import STANDARD
from tessera.frontend.onnx.step import UNSUPPORTED
from tessera.frontend.onnx.table import ROWS
from tessera.frontend.onnx.tensors import ELEMENT_TYPE
from tessera.graph.evaluate import evaluate

KNOWN = {
    "test_batchnorm_*_training_mode": "training: statistics of the batch as results",
    "test_training_dropout*": "training: random zeros",
    "test_einsum_batch_diagonal": "a diagonal within one term has no op",
    "test_identity_sequence": "a sequence is not a tensor",
    "test_identity_opt": "an optional is not a tensor",
}
"""Claimed cases that do not pass, by pattern, and why."""

LEAST_PASSED = 1161
"""How many claimed cases passed when last counted; it never falls."""

# Two units in the last place, relative: the cases round after every step, a meaning at
# its end, and their own tolerances are below one unit of bf16.
ROUNDING = {"bfloat16": 2.0**-6, "float16": 2.0**-9}


@dataclass
class Account:
    """How the cases came out; `failed` says why by name."""

    counts: Counter[str] = field(default_factory=Counter[str])
    failed: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def passed(self) -> int:
        return self.counts["passed"] + self.counts["passed with constants"]

    @property
    def claimed(self) -> int:
        return self.passed + self.missed

    @property
    def missed(self) -> int:
        return len(self.failed)


@cache
def every_case() -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(collect_testcases(None))


def claimed_cases() -> Iterator[Any]:
    """Cases whose nodes all have a row in the import table."""
    for case in every_case():
        nodes = [] if case.model is None else case.model.graph.node
        if nodes and all(n.domain in STANDARD and n.op_type in ROWS for n in nodes):
            yield case


def array(value: Any) -> np.ndarray:
    if isinstance(value, onnx.TensorProto):
        return onnx.numpy_helper.to_array(value)
    return np.asarray(value)


def with_constants(
    model: Any, arrays: Sequence[np.ndarray]
) -> tuple[Any, list[np.ndarray]]:
    """The model with its integer inputs after the first as initialisers."""
    fixed = onnx.ModelProto()
    fixed.CopyFrom(model)
    values = list(zip(fixed.graph.input, arrays, strict=True))
    del fixed.graph.input[:]
    kept: list[np.ndarray] = []
    for index, (value, given) in enumerate(values):
        number = index > 0 and given.ndim < 2 and given.dtype.kind in "iu"
        if number or (index > 0 and given.ndim == 0):
            tensor = onnx.numpy_helper.from_array(given, value.name)
            fixed.graph.initializer.append(tensor)
        else:
            fixed.graph.input.append(value)
            kept.append(given)
    return fixed, kept


def named(model: Any, arrays: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """A case's inputs by name."""
    names = [value.name for value in model.graph.input]
    return dict(zip(names, arrays, strict=True))


def agree(case: Any, results: Mapping[str, np.ndarray], outputs: Sequence[Any]) -> None:
    """Results are the stored outputs within the case's own tolerance."""
    for value, stored in zip(case.model.graph.output, outputs, strict=True):
        found, wanted = results[value.name], array(stored)
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        if found.dtype.kind in "iub":
            np.testing.assert_array_equal(found, wanted)
            continue
        rtol = max(case.rtol, ROUNDING.get(found.dtype.name, 0.0))
        f64 = found.astype(np.float64), wanted.astype(np.float64)
        np.testing.assert_allclose(*f64, rtol=rtol, atol=case.atol)


def outcome(case: Any) -> str:
    """`passed`, `passed with constants`, `element type`, or what went wrong.

    What a case feeds as an input and the vocabulary holds as an attribute (axes, pads,
    k, …) is given as a constant when it must be.
    """
    fixed = False
    for inputs, outputs in case.data_sets:
        arrays = [array(value) for value in inputs]
        try:
            agree(case, _results(case.model, case.name, arrays), outputs)
        except TesseraError as refused:
            if refused.code is ELEMENT_TYPE:
                return "element type"
            if refused.code is not UNSUPPORTED or "run time" not in refused.message:
                return str(refused)
            fixed = True
            model, kept = with_constants(case.model, arrays)
            try:
                agree(case, _results(model, case.name, kept), outputs)
            except (TesseraError, AssertionError) as bad:
                return " ".join(str(bad).split())
        except AssertionError as bad:
            return " ".join(str(bad).split())
    return "passed with constants" if fixed else "passed"


def _results(
    model: Any, name: str, arrays: Sequence[np.ndarray]
) -> dict[str, np.ndarray]:
    module = import_proto(model, name)
    module.verify()
    return dict(evaluate(module, named(model, arrays)))


@cache
def account() -> Account:
    """Every claimed case, run once."""
    total = Account()
    for case in claimed_cases():
        how = outcome(case)
        if how.startswith("passed") or how == "element type":
            total.counts[how] += 1
        else:
            total.failed[case.name] = how
    return total
