"""Reductions and order against torch, with sizes 0 and 1, ties and NaN."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.reference import DTYPES
from tests.unit.reference.oracles import close, drawn, f64, meaning

torch = pytest.importorskip("torch")

SHAPES = st.lists(st.integers(0, 4), min_size=1, max_size=4)


@given(SHAPES, st.booleans(), st.data())
def test_sums_means_and_any_agree_with_torch(
    shape: list[int], keepdims: bool, data: st.DataObject
) -> None:
    axis = st.integers(-len(shape), len(shape) - 1)
    axes = data.draw(st.lists(axis, min_size=1, unique_by=lambda a: a % len(shape)))
    x = drawn(3, *shape)
    t, options = torch.from_numpy(x), {"axes": axes, "keepdims": keepdims}
    close(meaning("reduce_sum", x, **options), t.sum(axes, keepdims).numpy(), 1e-6)
    close(meaning("reduce_mean", x, **options), t.mean(axes, keepdims).numpy(), 1e-6)
    positive = x > 0
    wanted = torch.from_numpy(positive).any(axes, keepdims).numpy()
    close(meaning("reduce_any", positive, **options), wanted, 0.0)
    if x.size:
        wanted = t.amax(axes, keepdims).numpy()
        close(meaning("reduce_max", x, **options), wanted, 0.0)


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_max"])
def test_no_axes_is_no_reduction(name: str) -> None:
    x = drawn(1, 2, 3)
    close(meaning(name, x, axes=[]), x, 0.0)
    close(meaning(name, x, axes=[], keepdims=True), x, 0.0)


def test_an_empty_axis_gives_the_identity() -> None:
    x = np.zeros((2, 0), np.float32)
    assert meaning("reduce_sum", x, axes=[1]).tolist() == [0, 0]
    assert meaning("reduce_max", x, axes=[1]).tolist() == [-np.inf] * 2
    assert np.isnan(meaning("reduce_mean", x, axes=[1])).all()
    assert meaning("reduce_any", x, axes=[1]).tolist() == [False, False]
    assert meaning("reduce_max", x.astype(np.int8), axes=[1]).tolist() == [-128] * 2
    assert meaning("reduce_max", x.astype(np.uint8), axes=[1]).tolist() == [0, 0]


def test_integers_keep_their_type() -> None:
    x = np.array([[100, 100], [-7, 2]], np.int8)
    assert meaning("reduce_sum", x, axes=[1]).tolist() == [-56, -5]
    assert meaning("reduce_mean", x[1:], axes=[1]).tolist() == [-2]
    assert meaning("reduce_max", x, axes=[0, 1]).dtype == np.int8
    assert meaning("cumsum", x, axis=0).dtype == np.int8


def test_nan_wins() -> None:
    x = np.array([1, np.nan, 3], np.float32)
    close(meaning("reduce_max", x, axes=[0]), np.nan)
    assert meaning("argmax", x) == 1


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_sums_run_in_f32(dtype: str) -> None:
    x = np.ones((70000,), DTYPES[dtype])
    close(meaning("reduce_mean", x, axes=[0]), 1.0, 0.0)
    found = meaning("reduce_sum", x[:3000], axes=[0])
    assert float(found) == float(np.array(3000).astype(DTYPES[dtype]))


def test_a_wrong_axis_is_named() -> None:
    with pytest.raises(ValueError, match="axis = 2"):
        meaning("reduce_sum", drawn(1, 2, 2), axes=[2])
    with pytest.raises(ValueError, match="each axis once"):
        meaning("reduce_max", drawn(1, 2, 2), axes=[0, -2])
    with pytest.raises(ValueError, match="size 0"):
        meaning("argmax", np.zeros((2, 0)))


@given(st.integers(0, 6), st.booleans(), st.booleans())
def test_running_sums_by_their_sentence(
    size: int, exclusive: bool, reverse: bool
) -> None:
    x = drawn(size, 2, size, dtype="f64")
    found = meaning("cumsum", x, axis=1, exclusive=exclusive, reverse=reverse)
    for i in range(size):
        seen = range(i, size) if reverse else range(i + 1)
        total = sum(x[:, j] for j in seen if not (exclusive and j == i))
        np.testing.assert_allclose(found[:, i], total, atol=1e-12)


@given(st.lists(st.integers(-2, 2), max_size=8), st.booleans(), st.data())
def test_topk_sorts_and_breaks_ties_low(
    values: list[int], largest: bool, data: st.DataObject
) -> None:
    k = data.draw(st.integers(0, len(values)))
    for dtype in ("i64", "f32", "bf16", "ui8"):
        line = [v + 2 for v in values] if dtype == "ui8" else values
        x = np.array([line], DTYPES[dtype])
        ranked = sorted((-v if largest else v, i) for i, v in enumerate(line))
        order = [i for _, i in ranked[:k]]
        found, indices = meaning("topk", x, k=k, largest=largest)
        assert indices.dtype == np.int64
        assert found.dtype == x.dtype
        assert indices.tolist() == [order]
        assert f64(found).tolist() == [[line[i] for i in order]]


def test_topk_takes_an_axis_and_puts_nan_first_as_torch_does() -> None:
    x = drawn(1, 4, 3)
    x[2, 1] = np.nan
    values, indices = meaning("topk", x, k=2, axis=0)
    wanted = torch.topk(torch.from_numpy(x), 2, dim=0)
    close(values, wanted.values.numpy(), 0.0)
    assert indices.tolist() == wanted.indices.tolist()
    with pytest.raises(ValueError, match="k = 5"):
        meaning("topk", x, k=5, axis=0)


def test_argmax_takes_the_first_and_keeps_dims() -> None:
    x = np.array([[1, 3, 3], [2, 2, 0]], DTYPES["bf16"])
    assert meaning("argmax", x).tolist() == [1, 0]
    assert meaning("argmax", x, axis=0, keepdims=True).tolist() == [[1, 0, 0]]
