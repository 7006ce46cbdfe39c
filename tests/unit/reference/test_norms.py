"""softmax, the norms and rope against torch and their equations."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessera.reference import DTYPES
from tests.unit.reference.oracles import close, drawn, f64, meaning, soft

torch = pytest.importorskip("torch")


def rms(x: Any, w: Any = 1.0, eps: float = 1e-5) -> Any:
    x = f64(x)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * f64(w)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=4), st.data())
def test_softmax_agrees_with_torch_on_any_axis(
    shape: list[int], data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = drawn(1, *shape) * 10
    wanted = torch.softmax(torch.from_numpy(f64(x)), axis).numpy()
    close(meaning("softmax", x, axis=axis), wanted, 1e-6)


def test_softmax_of_dead_huge_and_nan_rows() -> None:
    x = np.array(
        [[-np.inf] * 3, [-3.4e38] * 3, [3e38, 3e38, -3e38], [np.nan, 0, -np.inf]],
        np.float32,
    )
    third = [1 / 3] * 3
    wanted = [[0, 0, 0], third, [0.5, 0.5, 0], [np.nan] * 3]
    close(meaning("softmax", x), wanted, 1e-6)
    dead = meaning("softmax", x[:1].astype(np.float16))
    assert dead.dtype == np.float16
    close(dead, [[0, 0, 0]], 0.0)
    with pytest.raises(ValueError, match="int64"):
        meaning("softmax", np.arange(3))


@pytest.mark.parametrize("size", [1, 31, 1023, 1025, 4097, 65537])
def test_softmax_of_a_row_longer_than_any_tile(size: int) -> None:
    x = drawn(41, 2, size)
    x[0, -1] = 30
    close(meaning("softmax", x), soft(f64(x)), 1e-6)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_layernorm_agrees_with_torch(axis: int, dtype: str) -> None:
    x = drawn(1, 3, 4, 5, dtype=dtype) + DTYPES[dtype].type(2)
    w, b = (drawn(s, *x.shape[axis:], dtype=dtype) for s in (2, 3))
    tensors = [torch.from_numpy(f64(a)) for a in (x, w, b)]
    wanted = torch.nn.functional.layer_norm(tensors[0], w.shape, *tensors[1:], 1e-3)
    found = meaning("layernorm", x, w, b, axis=axis, eps=1e-3)
    assert found.dtype == DTYPES[dtype]
    close(found, wanted.numpy())
    plain = torch.nn.functional.layer_norm(tensors[0], w.shape, eps=1e-5).numpy()
    close(meaning("layernorm", x, axis=axis), plain)


def test_layernorm_of_a_large_mean_keeps_its_digits() -> None:
    x = drawn(1, 2, 64) + np.float32(1e4)
    tensor = torch.from_numpy(f64(x))
    close(meaning("layernorm", x), torch.layer_norm(tensor, (64,)).numpy(), 1e-3)


@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16"])
def test_rmsnorm_agrees_with_torch(dtype: str) -> None:
    x, w = drawn(1, 2, 3, 64, dtype=dtype), drawn(2, 64, dtype=dtype)
    tensors = [torch.from_numpy(f64(a)) for a in (x, w)]
    wanted = torch.nn.functional.rms_norm(tensors[0], (64,), tensors[1], 1e-6).numpy()
    close(meaning("rmsnorm", x, w, eps=1e-6), wanted)
    offset = torch.nn.functional.rms_norm(tensors[0], (64,), 1 + tensors[1], 1e-6)
    found = meaning("rmsnorm", x, w, eps=1e-6, weight_offset=1.0)
    close(found, offset.numpy(), 3e-2 if dtype == "bf16" else None)


@pytest.mark.parametrize("axis", [-3, 1, -1, 2])
def test_rmsnorm_over_the_axes_from_one_to_the_last(axis: int) -> None:
    x = drawn(1, 2, 3, 8)
    sizes = x.shape[axis:]
    w = drawn(2, *sizes)
    tensors = [torch.from_numpy(f64(a)) for a in (x, w)]
    wanted = torch.nn.functional.rms_norm(tensors[0], sizes, tensors[1], 1e-6).numpy()
    close(meaning("rmsnorm", x, w, axis=axis, eps=1e-6), wanted)


def spiked() -> Any:
    x = np.full((2, 4096), 0.01, np.float32)
    x[0, 7], x[1] = 60, 0
    return x


@pytest.mark.parametrize(
    ("x", "w", "eps"),
    [
        pytest.param(spiked(), np.full(4096, 50, np.float32), 1e-5, id="spike and zeros"),
        pytest.param(1e-3 * drawn(31, 2, 64), 1.0, 1e-3, id="eps inside the root"),
        pytest.param(
            (450 + 90 * drawn(32, 2, 512)).astype(np.float16), np.ones(512, np.float16),
            1e-6, id="f16 squares past its range",
        ),
        pytest.param(
            drawn(33, 2, 3, 64, dtype="bf16"), drawn(34, 64), 1e-6, id="a wider weight"
        ),
        pytest.param(
            drawn(36, 2, 4, 4), drawn(37, 4, 1), 1e-6, id="a weight on another axis"
        ),
        pytest.param(
            drawn(39, 4, 4, 4).transpose(0, 2, 1), drawn(40, 4), 1e-6, id="a view"
        ),
        pytest.param(drawn(1, 3, 0), drawn(2, 0), 1e-6, id="no features"),
        pytest.param(drawn(1, 0, 3), drawn(2, 3), 1e-6, id="no rows"),
        pytest.param(drawn(1, 3, 1), drawn(2, 1), 1e-6, id="one feature"),
    ],
)  # fmt: skip
def test_rmsnorm_of_public_failures(x: Any, w: Any, eps: float) -> None:
    with np.errstate(all="ignore"):
        wanted = rms(x, w, eps) if x.size else np.zeros(x.shape)
    found = meaning("rmsnorm", x, np.asarray(w, np.float32), eps=eps)
    assert found.dtype == x.dtype
    close(found, wanted)


def turned(x: Any, cos: Any, sin: Any, style: str) -> Any:
    """Rotate each pair of features by its angle, one pair at a time."""
    out, width = f64(x).copy(), cos.shape[-1]
    for i in range(width // 2):
        a, b = (2 * i, 2 * i + 1) if style == "interleaved" else (i, i + width // 2)
        out[..., a] = f64(x)[..., a] * cos[..., a] - f64(x)[..., b] * sin[..., a]
        out[..., b] = f64(x)[..., b] * cos[..., b] + f64(x)[..., a] * sin[..., b]
    return out


@pytest.mark.parametrize("style", ["half", "interleaved"])
@pytest.mark.parametrize("width", [0, 2, 6, 8])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_rope_turns_pairs_and_passes_the_rest(
    style: str, width: int, dtype: str
) -> None:
    x = drawn(1, 2, 3, 5, 8, dtype=dtype)
    angles = drawn(2, 5, width)
    cos, sin = np.cos(angles), np.sin(angles)
    found = meaning("rope", x, cos, sin, style=style)
    assert found.dtype == DTYPES[dtype]
    close(found, turned(x, cos, sin, style))


def test_rope_refuses() -> None:
    x, odd, wide = drawn(1, 2, 4), drawn(2, 2, 3), drawn(3, 2, 6)
    for cos in (odd, wide):
        with pytest.raises(ValueError, match=f"cos of {cos.shape[-1]}"):
            meaning("rope", x, cos, cos)
    with pytest.raises(ValueError, match="'neox'"):
        meaning("rope", x, x, x, style="neox")
