"""Operators, indexing and methods of traced values: what NumPy gives, op by op."""

import ml_dtypes
import numpy as np
import pytest

from tessera import ops
from tests.unit.traced.support import normal, op_names, traced, traced_module

X, Y, W = normal(0, 3, 4), normal(1, 3, 4), normal(2, 4, 3)
I = np.array([[7, -7, 3], [0, 5, -4]], np.int64)  # noqa: E741

SPELLINGS = {
    "arithmetic": lambda x, y, w: (x + y) * 2 - y / 3 + -x,
    "reflected": lambda x, y, w: 1 - x + 2 * y + 1 / (y * y + 1),
    "power": lambda x, y, w: (x * x) ** 0.5 + 2.0**y,
    "matmul": lambda x, y, w: x @ w @ y,
    "floor division": lambda x, y, w: x // y + x % y,
    "comparison": lambda x, y, w: (x > y) | (x <= 0.5) & (y != x),
    "not": lambda x, y, w: ~(x > y) ^ (y >= 0),
    "abs": lambda x, y, w: abs(x),
    "in place is functional": lambda x, y, w: _twice(x) + y,
    "array on the left": lambda x, y, w: X + x * np.float32(2),
    "array matmul": lambda x, y, w: X.T @ y,
    "array compared": lambda x, y, w: y > X.T.T,
    "slice": lambda x, y, w: x[..., :2],
    "steps": lambda x, y, w: x[::-1, 3:0:-2],
    "integer": lambda x, y, w: x[1],
    "negative": lambda x, y, w: x[-1, -2],
    "new axes": lambda x, y, w: x[None, :, None, 1:],
    "empty slice": lambda x, y, w: x[2:1],
    "gather": lambda x, y, w: x[:, np.array([3, 0])],
    "gather list": lambda x, y, w: x[[2, -1], 1:],
    "T": lambda x, y, w: x.T @ y,
    "mT": lambda x, y, w: w.mT + y,
    "reshape": lambda x, y, w: x.reshape(2, -1) + y.reshape((2, 6)),
    "transpose": lambda x, y, w: x.transpose() + w + y.transpose(1, 0),
    "swapaxes": lambda x, y, w: x.swapaxes(0, -1),
    "reductions": lambda x, y, w: x.sum(0) + x.mean(0) + x.max(0) + x.min(0),
    "reduce all": lambda x, y, w: x.sum() + y.max(axis=(0, 1)),
    "keepdims": lambda x, y, w: x - x.max(axis=-1, keepdims=True),
    "ravel": lambda x, y, w: x.ravel() + y.flatten(),
    "squeeze": lambda x, y, w: x[None].squeeze(0) + x[:, None].squeeze(),
}


def _twice(x):
    x = x + 0
    x *= 2
    return x


@pytest.mark.parametrize("name", SPELLINGS)
def test_spelling_is_numpys(name: str) -> None:
    function = SPELLINGS[name]
    with np.errstate(all="ignore"):
        wanted = function(X, Y, W)
    found = traced(function, X, Y, W)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_integers_floor_as_pythons() -> None:
    found = traced(lambda i: (i // 2, i % 3, i // -3), I)
    for array, wanted in zip(found, (I // 2, I % 3, I // -3), strict=True):
        np.testing.assert_array_equal(array, wanted)


def test_attributes_are_numpys() -> None:
    def function(x):
        assert (x.shape, x.ndim, x.size, len(x)) == ((3, 4), 2, 12, 3)
        assert x.dtype == np.float32
        assert repr(x) == "<traced f32[3x4]>"
        return x.astype(np.float16).astype("bf16")

    assert traced(function, X).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize(
    "dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16]
)
@pytest.mark.parametrize(
    "number", [2, 0.5, np.float64(0.5), np.float32(2), np.int64(3)]
)
def test_a_number_takes_the_type_of_the_array(dtype, number) -> None:
    assert traced(lambda x: x * number + 1, X.astype(dtype)).dtype == dtype
    assert ops.mul(X.astype(dtype), number).dtype == dtype


def test_a_number_beyond_the_largest_float_is_infinite() -> None:
    half = X.astype(np.float16)
    assert np.isneginf(traced(lambda x: x - 1e9, half)).all()


def test_large_strided_constants() -> None:
    w = normal(3, 600, 600)
    found = traced(lambda x: x @ w.T + x @ w[::-1], w)
    np.testing.assert_allclose(found, w @ w.T + w @ w[::-1], rtol=1e-3, atol=1e-3)


def test_elementwise_floats_widen() -> None:
    half = X.astype(np.float16)
    np.testing.assert_array_equal(traced(lambda a, b: a + b, X, half), X + half)
    assert ops.add(half, X).dtype == np.float32


def test_split_and_stack() -> None:
    def function(x):
        a, b = ops.split(x, 2, axis=1)
        c, d = ops.split(x, [1, 3])
        return ops.stack([a, b]), ops.concat([c, d], axis=-1)

    stacked, same = traced(function, X)
    np.testing.assert_array_equal(stacked, np.stack([X[:, :2], X[:, 2:]]))
    np.testing.assert_array_equal(same, X)


def test_arange() -> None:
    for given in ((5,), (2, 7), (1, 10, 3), (5, 0, -2)):
        np.testing.assert_array_equal(
            traced(lambda g=given: ops.arange(*g)), np.arange(*given)
        )
    assert traced(lambda: ops.arange(0.0, 1.0, 0.25)).dtype == np.float32


def test_equal_constants_are_one_and_different_ones_are_not() -> None:
    def function(x):
        return x @ np.ones((4, 5), np.float32) + x @ np.ones((4, 5), np.float32)

    def other(x):
        return x @ W + x @ -W

    assert op_names(traced_module(function, X)).count("const") == 1
    assert op_names(traced_module(other, X)).count("const") == 2
    np.testing.assert_allclose(traced(other, X), np.zeros((3, 3)), atol=1e-6)


def test_a_constant_changed_while_tracing_keeps_each_value() -> None:
    def function(x):
        mask = np.zeros((3, 4), np.float32)
        y = x + mask
        mask[0] = 5
        return y, x + mask

    before, after = traced(function, X)
    np.testing.assert_array_equal(before, X)
    np.testing.assert_array_equal(after[0], X[0] + 5)


def test_a_chain_of_thousands_is_no_recursion() -> None:
    def deep(y):
        for _ in range(5000):
            y = y + 1
        return y

    assert traced(deep, np.zeros(2, np.float32)).tolist() == [5000.0, 5000.0]


def test_thousands_of_operands() -> None:
    parts = [np.full(1, i, np.float32) for i in range(6000)]
    found = traced(lambda parts: ops.concat(parts), parts)
    np.testing.assert_array_equal(found, np.arange(6000))


@pytest.mark.parametrize("shape", [(0,), (0, 4), (3, 0), (2, 0, 4)])
def test_empty_arrays(shape) -> None:
    x = np.zeros(shape, np.float32)
    found = traced(lambda x: (x + 1, ops.softmax(x), x.sum(), x.reshape(-1)), x)
    assert [f.shape for f in found] == [shape, shape, (), (0,)]


def test_nothing_contracted_is_zero() -> None:
    a, b = np.zeros((4, 0), np.float32), np.zeros((0, 4), np.float32)
    np.testing.assert_array_equal(traced(lambda a, b: a @ b, a, b), np.zeros((4, 4)))
