"""Contractions against torch and Python's integers, sizes 0 and 1 included."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.reference import DTYPES
from tests.unit.reference.oracles import close, drawn, f64, meaning

torch = pytest.importorskip("torch")

SIZE = st.integers(0, 4)


@given(SIZE, SIZE, SIZE, st.sampled_from([(), (2,), (0,), (3, 1), (1, 2)]))
def test_matmul_of_any_size_and_batch(
    m: int, k: int, n: int, batch: tuple[int, ...]
) -> None:
    a, b = drawn(1, *batch, m, k), drawn(2, 2, k, n) if batch else drawn(2, k, n)
    if batch == (0,):
        b = b[:0]
    wanted = torch.matmul(torch.from_numpy(f64(a)), torch.from_numpy(f64(b))).numpy()
    close(meaning("matmul", a, b), wanted)
    flipped = np.swapaxes(a, -1, -2), np.swapaxes(b, -1, -2)
    close(meaning("matmul", *flipped, transpose_a=True, transpose_b=True), wanted)


def test_vectors_and_mixed_ranks() -> None:
    a, b, v = drawn(1, 3, 2, 4), drawn(2, 4, 5), drawn(3, 4)
    for left, right in [(v, v), (a, v), (v, b), (a, b)]:
        wanted = np.matmul(f64(left), f64(right))
        close(meaning("matmul", left, right), wanted)
    close(meaning("matmul", v, b, transpose_a=True), f64(v) @ f64(b))


def test_a_contraction_over_nothing_is_zeros() -> None:
    found = meaning(
        "matmul", np.zeros((4, 0), np.float32), np.zeros((0, 4), np.float32)
    )
    close(found, np.zeros((4, 4)), 0.0)
    sizes = np.array([1, 2])
    found = meaning("grouped_matmul", np.zeros((3, 0)), np.zeros((2, 0, 4)), sizes)
    close(found, np.zeros((3, 4)), 0.0)


@pytest.mark.parametrize("dtype", ["i32", "i64", "ui8"])
def test_integers_multiply_exactly(dtype: str) -> None:
    a = np.arange(6).reshape(2, 3).astype(DTYPES[dtype])
    b = np.arange(12).reshape(3, 4).astype(DTYPES[dtype])
    wanted = a.astype(object) @ b.astype(object)
    found = meaning("matmul", a, b)
    assert found.dtype == DTYPES[dtype]
    assert found.tolist() == wanted.tolist()


def test_f16_products_accumulate_in_f32() -> None:
    a = np.full((1, 4096), 8.0, np.float16)
    b = np.concatenate([np.full((2048, 1), 8), np.full((2048, 1), -8)]).astype(
        np.float16
    )
    assert meaning("matmul", a, b).tolist() == [[0.0]]
    assert meaning("matmul", a, abs(b)).tolist() == [[np.inf]]


@pytest.mark.parametrize("step", [1, 2])
def test_views_multiply_as_what_they_show(step: int) -> None:
    a, b = drawn(1, 6, 3, 8).transpose(1, 0, 2)[..., ::step], drawn(2, 16, 5)
    part = b[:: 2 * step]
    close(meaning("matmul", a, part), f64(a) @ f64(part))


def conv_of(x: Any, w: Any, b: Any = None, **options: Any) -> Any:
    n = x.ndim - 2
    filled = {
        "strides": [1] * n, "pads_low": [0] * n, "pads_high": [0] * n,
        "dilations": [1] * n, **options,
    }  # fmt: skip
    return meaning("conv", x, w, b, **filled)


@settings(max_examples=60)
@given(st.integers(1, 3), st.integers(1, 3), st.booleans(), st.data())
def test_conv_agrees_with_torch(
    axes: int, groups: int, biased: bool, data: st.DataObject
) -> None:
    def each(low: int, high: int) -> list[int]:
        size = st.integers(low, high)
        return data.draw(st.lists(size, min_size=axes, max_size=axes))

    kernel, stride, pad, dilation = each(1, 3), each(1, 2), each(0, 2), each(1, 2)
    batch = data.draw(st.integers(0, 2))
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    size = [a + b for a, b in zip(reach, each(0, 3), strict=True)]
    x = drawn(1, batch, 2 * groups, *size, dtype="f64")
    w = drawn(2, 3 * groups, 2, *kernel, dtype="f64")
    b = drawn(3, 3 * groups, dtype="f64") if biased else None
    fn = [torch.conv1d, torch.conv2d, torch.conv3d][axes - 1]
    wanted = fn(
        torch.from_numpy(x), torch.from_numpy(w),
        None if b is None else torch.from_numpy(b), stride, pad, dilation, groups,
    )  # fmt: skip
    found = conv_of(
        x, w, b, strides=stride, pads_low=pad, pads_high=pad, dilations=dilation,
        groups=groups,
    )  # fmt: skip
    close(found, wanted.numpy())


@pytest.mark.parametrize(
    ("x", "w", "options", "torch_options"),
    [
        pytest.param(
            drawn(67, 1, 4, 8, 8), drawn(68, 3, 4, 3, 3, 3)[:, :, 1], {}, {},
            id="a kernel cut from a larger weight",
        ),
        pytest.param(
            drawn(68, 1, 8, 1, 40), drawn(69, 8, 2, 1, 17),
            {"pads_low": [0, 8], "pads_high": [0, 8], "groups": 4},
            {"padding": (0, 8), "groups": 4}, id="groups and a wide kernel",
        ),
        pytest.param(
            drawn(65, 1, 3, 9, 9), drawn(66, 4, 3, 3, 3),
            {"strides": [2, 1], "pads_low": [0, 2], "pads_high": [0, 2]},
            {"stride": (2, 1), "padding": (0, 2)}, id="axes that differ",
        ),
    ],
)  # fmt: skip
def test_conv_of_public_failures(
    x: Any, w: Any, options: dict[str, Any], torch_options: dict[str, Any]
) -> None:
    weight = torch.from_numpy(np.ascontiguousarray(f64(w)))
    wanted = torch.conv2d(torch.from_numpy(f64(x)), weight, **torch_options)
    close(conv_of(x, w, **options), wanted.numpy())


def test_conv_pads_each_side_by_its_own_count() -> None:
    x, w = drawn(1, 1, 1, 4), drawn(2, 1, 1, 2)
    padded = np.pad(f64(x), [(0, 0), (0, 0), (1, 3)])[0, 0]
    wanted = np.correlate(padded, f64(w)[0, 0], "valid")
    close(conv_of(x, w, pads_low=[1], pads_high=[3])[0, 0], wanted)


def test_conv_of_a_short_input_is_empty() -> None:
    assert conv_of(drawn(1, 2, 3, 2, 5), drawn(2, 4, 3, 3, 3)).shape == (2, 4, 0, 3)
    half = conv_of(drawn(1, 1, 2, 5, dtype="bf16"), drawn(2, 1, 2, 3, dtype="bf16"))
    assert half.dtype == DTYPES["bf16"]


@pytest.mark.parametrize(
    ("x", "w", "options", "text"),
    [
        (drawn(1, 1, 3, 4), drawn(2, 2, 2, 2), {}, "groups = 1"),
        (drawn(1, 1, 4, 4), drawn(2, 3, 2, 2), {"groups": 2}, "groups = 2"),
        (drawn(1, 1, 4, 4), drawn(2, 2, 4, 2), {"strides": [1, 1]}, "strides"),
        (drawn(1, 1, 4, 4), drawn(2, 2, 4, 2, 2), {}, "rank"),
    ],
)
def test_conv_refuses(x: Any, w: Any, options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        conv_of(x, w, **options)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_each_group_of_rows_meets_its_own_weight(sizes: list[int]) -> None:
    x, w = drawn(1, sum(sizes), 3), drawn(2, len(sizes), 3, 2)
    owner = [g for g, size in enumerate(sizes) for _ in range(size)]
    wanted = [f64(x[row]) @ f64(w[g]) for row, g in enumerate(owner)]
    found = meaning("grouped_matmul", x, w, np.array(sizes, np.int32))
    close(found, np.array(wanted).reshape(-1, 2))


@pytest.mark.parametrize("sizes", [[1, 1], [3], [4, -1]])
def test_group_sizes_must_add_up(sizes: list[int]) -> None:
    with pytest.raises(ValueError, match="group_sizes"):
        meaning("grouped_matmul", drawn(1, 3, 2), drawn(2, 2, 2, 2), np.array(sizes))
