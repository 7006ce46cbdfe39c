"""What a user reads when a traced or eager program is wrong, and where it points."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tessera import ops
from tessera.diagnostics import Location, TesseraError
from tests.unit.traced.support import normal, traced, traced_module

X, W = normal(0, 3, 4), normal(1, 5, 6)
HALF = X.astype(np.float16)
HALF_AXIS: Any = 0.5


def line_of(function: Callable[..., Any], text: str) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if text in line)


def place_of(error: TesseraError) -> Location:
    assert error.location is not None
    return error.location


def product(x, w):
    y = x + 1
    return ops.matmul(y, w)


def mixed(a, b):
    a = a * 2
    return a @ b.T


@pytest.mark.parametrize(
    "run", [traced, lambda f, *args: f(*args)], ids=["traced", "eager"]
)
def test_a_shape_error_names_the_users_line(run) -> None:
    with pytest.raises(TesseraError, match="contraction dims differ: 4 vs 5") as caught:
        run(product, X, W)
    place = place_of(caught.value)
    assert (place.file, place.line) == (__file__, line_of(product, "ops.matmul"))
    assert str(caught.value).startswith(f"{__file__}:{place.line}:")


@pytest.mark.parametrize(
    "run", [traced, lambda f, *args: f(*args)], ids=["traced", "eager"]
)
@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: ops.matmul(a, b),
        lambda a, b: ops.flash_attn(a, b, b),
        lambda a, b: ops.swiglu_fused(a, b, b, b),
    ],
)
def test_products_of_mixed_floats_name_both_and_the_cast(run, call) -> None:
    with pytest.raises(TesseraError) as caught:
        run(call, HALF, X)
    assert "mixes f16 and f32" in str(caught.value)
    assert "tessera.ops.cast(" in caught.value.remedy
    assert caught.value.code.id == "TSR-I102"


def test_the_operator_checks_like_the_op() -> None:
    with pytest.raises(TesseraError, match="mixes f16 and f32") as caught:
        traced(mixed, HALF, X)
    assert place_of(caught.value).line == line_of(mixed, "a @ b.T")


WRONG = {
    "integer and float": (lambda x: x + np.arange(4), "mixes f32 and i64"),
    "integer and 0.5": (lambda x: x.astype("i32") * 0.5, "mixes i32 and the float 0.5"),
    "too large": (lambda x: x.astype("i8") + 300, "int 300, which i8 cannot hold"),
    "list": (lambda x: ops.add(x, [1.0]), "is of type list"),
    "missing": (lambda x: ops.add(x, None), "needs its operand 'b'"),
    "string": (lambda x: ops.add(x, "a"), "is of type str"),
    "complex": (lambda x: x + np.ones(4, complex), "complex128"),
    "bool": (lambda x: 1 if x.sum() > 0 else 2, "not known while tracing"),
    "float": (lambda x: float(x.sum()), "float() of a traced value"),
    "int": (lambda x: int(x.sum()), "int() of a traced value"),
    "range": (lambda x: list(range(x.sum())), "range() from a traced value"),
    "iteration": (lambda x: [y for y in x], "a loop over, or unpacking of,"),  # noqa: C416
    "in": (lambda x: 3 in x, "`in` on"),
    "item": (lambda x: x.sum().item(), "item() of"),
    "asarray": (lambda x: np.asarray(x), "a NumPy array of a traced value"),
    "ufunc": (lambda x: np.tanh(x), "use tessera.ops.tanh"),
    "function": (lambda x: np.concatenate([x, x]), "use tessera.ops.concat"),
    "reduction": (lambda x: np.add.reduce(x), "numpy.add.reduce"),
    "in place array": (lambda x: np.add(X, x, out=X.copy()), "in place"),
    "assignment": (lambda x: x.__setitem__(0, 1), "in place"),
    "index": (lambda x: x[3], "index 3 is out of range for axis 0 of size 3"),
    "index rank": (lambda x: x[0, 0, 0], "an index of 3 axes"),
    "mask index": (lambda x: x[x > 0], "use tessera.ops.where"),
    "two arrays": (lambda x: x[[0], [1]], "gather_nd"),
    "string index": (lambda x: x["a"], "wanted integers, slices"),
    "axis": (lambda x: ops.softmax(x, axis=2), "axis 2 is out of range for rank 2"),
    "sum axis": (lambda x: x.sum(2), "axis 2 is out of range for rank 2"),
    "option word": (lambda x: ops.gelu(x, approximate="erf"), '"none", "tanh"'),
    "option type": (lambda x: ops.softmax(x, axis=HALF_AXIS), "wanted an integer"),
    "dtype": (lambda x: x.astype("f31"), "is no element type"),
    "reshape": (lambda x: x.reshape(5, -1), "cannot hold the 12 elements"),
    "reshape sizes": (lambda x: x.reshape(5, 2), "12 elements"),
    "split": (lambda x: ops.split(x, 3), "cannot split axis 1 of size 4 into 3"),
    "no operands": (lambda x: ops.concat([]), "at least one"),
    "integer quotient": (lambda x: x.astype("i32") / 2, "no integer"),
    "window": (lambda x: ops.flash_attn(x, x, x, window=0), "window is 0"),
    "nothing returned": (lambda x: None, "returns nothing"),
    "text returned": (lambda x: (x, "a"), "wanted arrays or numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_programs_are_explained(name: str) -> None:
    function, words = WRONG[name]
    with pytest.raises(TesseraError, match=re.escape(words)) as caught:
        traced_module(function, X)
    assert place_of(caught.value).file == __file__
    assert "\n" not in str(caught.value)


def test_a_value_does_not_outlive_its_call() -> None:
    kept = []
    traced_module(lambda x: kept.append(x) or x, X)
    with pytest.raises(TesseraError, match="outside the call"):
        ops.add(kept[0], 1)
    with pytest.raises(TesseraError, match="outside the call"):
        traced_module(lambda x: x + kept[0], X)
    with pytest.raises(TesseraError, match="traced value of another call"):
        traced_module(lambda x: x, kept[0])


def test_arguments_that_cannot_be_traced() -> None:
    with pytest.raises(TesseraError, match=r"config\.names is a set"):
        traced_module(lambda config: 1, {"names": {1, 2}})
    with pytest.raises(TesseraError, match="argument x: numpy dtype complex64"):
        traced_module(lambda x: x, np.ones(2, np.complex64))
    with pytest.raises(TypeError, match="missing a required argument"):
        traced_module(lambda x, y: x, X)


def test_an_index_out_of_range_is_an_error_in_eager_use_too() -> None:
    with pytest.raises(TesseraError, match="10"):
        ops.gather(X, np.array([0, 10]))
