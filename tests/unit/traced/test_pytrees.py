"""Arguments and results in containers, their names, and what makes two calls one."""

import inspect
import re
from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from tessera.frontend.traced.tracing import Call, arguments
from tests.unit.traced.support import normal, traced, traced_module

X = normal(0, 3, 4)
Pair = namedtuple("Pair", "w b")


def call(*args: Any, **kwargs: Any) -> Call:
    def function(x=None, *rest, scale=1.0, **more):
        return x

    return arguments(inspect.signature(function), args, kwargs)


def test_inputs_are_named_by_their_path() -> None:
    weights = {"layers": [Pair(X, X[0]), Pair(X, X[1])], "head": (X,)}
    found = call(X, weights, extra=X)
    paths = "x rest.0.layers.0.w rest.0.layers.0.b rest.0.layers.1.w rest.0.layers.1.b"
    assert found.names == (*paths.split(), "rest.0.head.0", "more.extra")


def test_names_are_unique() -> None:
    assert len(set(call({"a.b": X, "a": {"b": X}, "1": X, 1: X}).names)) == 4


def test_results_and_inputs_have_different_names() -> None:
    text = str(traced_module(lambda output, y: {"y": output, "output": y}, X, X))
    names = re.findall(r'tessera.name = "([^"]*)"', text)
    assert len(names) == len(set(names)) == 4


def test_results_keep_their_containers() -> None:
    def function(x):
        return {"y": x + 1, "all": [x, Pair(x * 2, 3.0)], "none": None}

    found = traced(function, X)
    assert list(found) == ["y", "all", "none"]
    assert found["none"] is None
    assert isinstance(found["all"][1], Pair)
    assert found["all"][1].b == np.float32(3)
    text = str(traced_module(function, X))
    assert all(f'tessera.name = "{n}"' in text for n in ("y", "all.0", "all.1.w"))


def test_a_tuple_is_a_tuple_and_an_ordered_dict_one() -> None:
    assert isinstance(traced(lambda x: (x, x), X), tuple)
    assert isinstance(traced(lambda x: OrderedDict(a=x), X), OrderedDict)


def test_weights_are_looked_up_as_the_user_wrote_them() -> None:
    weights = {"layers": [{"w": normal(i, 4, 4)} for i in range(3)]}

    def function(x, weights):
        for layer in weights["layers"]:
            x = x @ layer["w"]
        return x

    np.testing.assert_allclose(
        traced(function, X, weights), function(X, weights), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((1,), (1.0,)),
        ((1,), (True,)),
        ((0.0,), (-0.0,)),
        (("a",), (b"a",)),
        ((X,), (X.astype(np.float64),)),
        ((X,), (X.T,)),
        (([X, X],), ((X, X),)),
        (({"a": X},), ({"b": X},)),
        ((np.float32(1),), (1.0,)),
    ],
)
def test_these_are_different_calls(one, other) -> None:
    assert call(*one).key != call(*other).key
    assert call(*one).key == call(*one).key


def test_these_are_the_same_call() -> None:
    assert call(X).key == call(x=X).key == call(X, scale=1.0).key == call(X + 1).key
    assert call(float("nan")).key == call(float("nan")).key
    assert call(np.float32(1)).key == call(np.float32(2)).key


def test_arrays_of_other_libraries_and_byte_orders_come_in() -> None:
    torch = pytest.importorskip("torch", reason="torch is an oracle of the tests only")
    assert call(torch.ones(2, 3)).types == (("f32", (2, 3)),)
    assert call(np.ones(2, ">f4")).types == (("f32", (2,)),)
