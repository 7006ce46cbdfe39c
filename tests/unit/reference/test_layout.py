"""Layout and indexing against Python's lists, torch, and their own refusals."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.reference import DTYPES
from tests.unit.reference.oracles import close, drawn, meaning

torch = pytest.importorskip("torch")

END, BEGINNING = 2**63 - 1, -(2**63)
BOUND = st.one_of(st.integers(-9, 9), st.sampled_from([END, BEGINNING]))
SIZES = st.lists(st.integers(0, 4), max_size=4)


@given(st.integers(0, 6), BOUND, BOUND, st.sampled_from([-3, -2, -1, 1, 2, 5]))
def test_slice_is_pythons(size: int, start: int, stop: int, step: int) -> None:
    found = meaning(
        "slice", np.arange(size), starts=[start], stops=[stop], steps=[step]
    )
    assert found.tolist() == list(range(size))[start:stop:step]


def test_slice_walks_past_both_ends() -> None:
    x = np.arange(12).reshape(3, 4)
    found = meaning("slice", x, starts=[2, 1], stops=[BEGINNING, END], steps=[-1, 2])
    assert found.tolist() == [[9, 11], [5, 7], [1, 3]]


@pytest.mark.parametrize(
    ("bounds", "text"), [(([0], [1], [1]), "rank 2"), (([0, 0], [1, 1], [1, 0]), "0")]
)
def test_slice_refuses(bounds: tuple[list[int], ...], text: str) -> None:
    starts, stops, steps = bounds
    with pytest.raises(ValueError, match=text):
        meaning("slice", drawn(1, 2, 2), starts=starts, stops=stops, steps=steps)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16", "i32", "i1", "ui8"])
@pytest.mark.parametrize(
    "edges", [[(1, 2), (0, 3)], [(-1, 2), (3, -2)], [(-2, 0), (0, -4)]]
)
def test_pad_is_torchs_negative_counts_included(
    dtype: str, edges: list[tuple[int, int]]
) -> None:  # fmt: skip
    x = (np.arange(12).reshape(3, 4) % 5).astype(DTYPES[dtype])
    low, high = ([pair[side] for pair in edges] for side in (0, 1))
    wide = torch.from_numpy(x.astype(np.float64))
    flat = [count for pair in reversed(edges) for count in pair]
    wanted = torch.nn.functional.pad(wide, flat, value=1.0).numpy()
    found = meaning("pad", x, low=low, high=high, value=1.0)
    assert found.dtype == x.dtype
    close(found, wanted.astype(x.dtype), 0.0)


def test_pad_of_an_empty_axis_and_past_it() -> None:
    assert meaning("pad", np.zeros((0,), np.float32), low=[1], high=[1]).shape == (2,)
    assert meaning("pad", drawn(1, 3), low=[-5], high=[4], value=7.0).tolist() == [7, 7]
    with pytest.raises(ValueError, match="negative size"):
        meaning("pad", drawn(1, 3), low=[-4], high=[0])


@given(SIZES, st.randoms())
def test_transpose_moves_axis_by_axis(sizes: list[int], random: Any) -> None:
    x = np.arange(int(np.prod(sizes))).reshape(sizes)
    order = random.sample(range(len(sizes)), len(sizes))
    found = meaning("transpose", x, permutation=order)
    assert found.shape == tuple(sizes[axis] for axis in order)
    for place in np.ndindex(found.shape):
        back = [0] * len(sizes)
        for i, axis in enumerate(order):
            back[axis] = place[i]
        assert found[place] == x[tuple(back)]
    with pytest.raises(ValueError, match="permutation"):
        meaning("transpose", x, permutation=[*order, 0])


def test_reshape_takes_one_minus_one_or_an_operand() -> None:
    x = np.arange(12).reshape(3, 4).T
    assert meaning("reshape", x, shape=(2, -1)).ravel().tolist() == x.ravel().tolist()
    known = np.array([6, 2])
    assert meaning("reshape", x, known, shape=(-1, -1)).shape == (6, 2)
    assert meaning("reshape", np.zeros((0, 6)), shape=(-1, 2, 3)).shape == (0, 2, 3)
    assert meaning("reshape", np.array(3), shape=(1, 1)).tolist() == [[3]]
    for shape in [(-1, -1), (-2, 6), (5, 2)]:
        with pytest.raises(ValueError, match="reshape"):
            meaning("reshape", x, shape=shape)


def test_broadcast_takes_what_is_not_known_from_x_or_the_operand() -> None:
    x = drawn(1, 3, 1)
    wanted = torch.from_numpy(x).expand(2, 3, 4).numpy()
    close(meaning("broadcast", x, shape=(2, 3, 4)), wanted, 0.0)
    close(meaning("broadcast", x, shape=(2, -1, 4)), wanted, 0.0)
    close(meaning("broadcast", x, np.array([2, 1, 4]), shape=(-1, -1, -1)), wanted, 0.0)
    assert meaning("broadcast", np.zeros((1, 2)), shape=(0, 2)).shape == (0, 2)
    with pytest.raises(ValueError, match="every size known"):
        meaning("broadcast", x, shape=(-1, 3, 4))
    with pytest.raises(ValueError, match="broadcast"):
        meaning("broadcast", x, shape=(2, 4))


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_leaves_have_the_type_asked_for(dtype: str) -> None:
    counted = meaning("iota", shape=(2, 3), dtype=dtype, axis=1)
    assert counted.dtype == DTYPES[dtype]
    wanted = np.array([[0, 1, 2]] * 2).astype(DTYPES[dtype])
    assert counted.tolist() == wanted.tolist()
    assert (
        meaning("iota", shape=(2, 3), dtype=dtype).tolist()[1]
        == (wanted[:, [1, 1, 1]].tolist()[0])
    )
    filled = meaning("fill", value=1.0, shape=(0, 2), dtype=dtype)
    assert (filled.dtype, filled.shape) == (DTYPES[dtype], (0, 2))
    with pytest.raises(ValueError, match="every size known"):
        meaning("fill", value=1.0, shape=(-1,), dtype=dtype)


def test_cast_truncates_and_tests() -> None:
    x = np.array([-1.9, -0.5, 0.0, 0.5, 1.9, np.nan], np.float32)
    assert meaning("cast", x[:-1], dtype="i32").tolist() == [-1, 0, 0, 0, 1]
    assert meaning("cast", x, dtype="i1").tolist() == [
        True,
        True,
        False,
        True,
        True,
        True,
    ]
    assert meaning("cast", x[:-1] > 0, dtype="bf16").tolist() == [0, 0, 0, 1, 1]
    ties = np.array([1 + 2**-8, 1 + 3 * 2**-8], np.float32)
    assert meaning("cast", ties, dtype="bf16").tolist() == [1.0, 1 + 2**-6]


def test_concat_joins_in_order() -> None:
    parts = [np.zeros((2, 0)), np.ones((2, 1)), np.full((2, 2), 2.0)]
    assert meaning("concat", *parts, axis=-1).tolist() == [[1, 2, 2]] * 2
    with pytest.raises(ValueError, match="axis = 2"):
        meaning("concat", *parts, axis=2)
    with pytest.raises(ValueError, match="no operands"):
        meaning("concat", axis=0)


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_out_of_range_is_named(index: int) -> None:
    x, at = drawn(1, 3, 3), np.array([[index]])
    for name, operands in [
        ("gather", (x, at)),
        ("gather_nd", (x, at)),
        ("gather_elements", (x, at)),
        ("scatter", (x, at, drawn(2, 1, 1))),
        ("scatter_nd", (x, at, drawn(2, 1, 3))),
    ]:
        with pytest.raises(IndexError, match=f"{name}: index {index}, wanted -3"):
            meaning(name, *operands)


def test_a_negative_index_counts_from_the_end() -> None:
    x, at = drawn(1, 3, 4), np.array([[-1, 0]])
    close(meaning("gather", x, at, axis=1), x[:, [[3, 0]]], 0.0)
    assert meaning("gather", x, np.zeros((0,), np.int64)).shape == (0, 4)
    assert meaning("gather", np.zeros((0, 4)), np.zeros((0,), np.int64)).shape == (0, 4)


def test_indices_must_be_integers() -> None:
    with pytest.raises(ValueError, match="wanted integers"):
        meaning("gather", drawn(1, 3), drawn(2, 2))


@given(st.integers(0, 3), st.integers(0, 4), st.integers(0, 1), st.integers(0, 9))
def test_elements_agree_with_torch(
    rows: int, columns: int, axis: int, seed: int
) -> None:
    """Indices may be smaller than x off the axis, and of any length along it."""
    x = drawn(seed, 3, 4)
    shape = (rows, columns) if axis == 1 else (columns, rows)
    at = np.random.default_rng(seed).integers(0, x.shape[axis], shape)
    wanted = torch.gather(torch.from_numpy(x), axis, torch.from_numpy(at)).numpy()
    close(meaning("gather_elements", x, at, axis=axis), wanted, 0.0)
    updates = drawn(seed + 1, *shape)
    for ours, theirs in [
        ("add", "sum"),
        ("mul", "prod"),
        ("max", "amax"),
        ("min", "amin"),
    ]:
        wanted = torch.from_numpy(x).scatter_reduce(
            axis, torch.from_numpy(at), torch.from_numpy(updates), theirs
        )
        found = meaning("scatter", x, at, updates, axis=axis, reduction=ours)
        close(found, wanted.numpy(), 1e-6)


def test_narrow_scatter_adds_in_f32() -> None:
    x = np.zeros((1,), DTYPES["bf16"])
    ones = np.ones((1000,), DTYPES["bf16"])
    found = meaning("scatter", x, np.zeros(1000, np.int64), ones, reduction="add")
    assert float(found[0]) == 1000.0


def test_scatter_writes_a_copy_and_the_last_update_wins() -> None:
    x = drawn(1, 3)
    before = x.copy()
    found = meaning("scatter", x, np.array([1, 1]), np.array([5, 6], np.float32))
    close(found, [x[0], 6, x[2]], 0.0)
    close(x, before, 0.0)


@pytest.mark.parametrize("width", [0, 1, 2, 3])
def test_nd_indices_of_every_width(width: int) -> None:
    x = drawn(1, 2, 3, 4)
    at = np.array([[1, -1, 2], [0, 2, -4]])[:, :width]
    wanted = np.stack([x[tuple(row)] for row in at])
    close(meaning("gather_nd", x, at), wanted, 0.0)
    if width:
        written = x.copy()
        for row, value in zip(at, wanted * 2, strict=True):
            written[tuple(row)] += value
        found = meaning("scatter_nd", x, at, wanted * 2, reduction="add")
        close(found, written, 1e-6)


def test_gather_nd_walks_batches_together() -> None:
    x, at = drawn(1, 2, 3, 4, 5), np.random.default_rng(0).integers(0, 4, (2, 3, 6, 1))
    wanted = [[x[a, b][at[a, b, :, 0]] for b in range(3)] for a in range(2)]
    close(meaning("gather_nd", x, at, batch_dims=2), wanted, 0.0)
    with pytest.raises(ValueError, match="batch_dims = 3"):
        meaning("gather_nd", x, at, batch_dims=3)


@pytest.mark.parametrize(
    ("name", "operands"),
    [
        ("scatter", (drawn(1, 3), np.array([0, 1]), drawn(2, 1))),
        ("scatter_nd", (drawn(1, 3, 2), np.array([[0]]), drawn(2, 1))),
        ("gather_elements", (drawn(1, 2, 3), np.zeros((3, 3), np.int64))),
    ],
)
def test_shapes_that_do_not_fit_are_named(name: str, operands: tuple[Any, ...]) -> None:
    axis = {} if name == "scatter_nd" else {"axis": len(operands[0].shape) - 1}
    with pytest.raises(ValueError, match=name):
        meaning(name, *operands, **axis)


def test_an_unknown_reduction_is_named() -> None:
    with pytest.raises(ValueError, match="'sum'"):
        meaning("scatter", drawn(1, 3), np.array([0]), drawn(2, 1), reduction="sum")


def test_shape_and_select() -> None:
    assert meaning("shape", np.zeros((2, 0, 3))).tolist() == [2, 0, 3]
    assert meaning("shape", np.zeros(())).dtype == np.int64
    found = meaning("select", np.array([[True], [False]]), drawn(1, 2), np.float32(9))
    close(found, [drawn(1, 2), [9, 9]], 0.0)
