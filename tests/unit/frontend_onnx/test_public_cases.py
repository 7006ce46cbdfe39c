"""The public ONNX cases: what each file must give, or be refused for."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tessera.diagnostics import TesseraError
from tessera.frontend.onnx import import_model
from tessera.graph.evaluate import evaluate
from tests.support.paths import CASES

ONNX = CASES / "onnx"


def imported(name: str) -> ModuleOp:
    module = import_model(ONNX / f"{name}.onnx")
    module.verify()
    return module


def result(name: str, **inputs: Any) -> np.ndarray:
    outputs = evaluate(imported(name), {k: np.asarray(v) for k, v in inputs.items()})
    return outputs["y"]


def refused(name: str) -> TesseraError:
    with pytest.raises(TesseraError) as caught:
        imported(name)
    return caught.value


def normal(*shape: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return rng.standard_normal(shape).astype(np.float32)


def test_a07_an_overridable_weight_is_an_argument_with_a_default() -> None:
    x = normal(2, 4)
    default = result("a07_overridable_weight", x=x)
    doubled = result("a07_overridable_weight", x=x, W=2 * np.eye(4, dtype=np.float32))
    np.testing.assert_array_equal(doubled, result("a07_overridable_weight", x=2 * x))
    assert not np.allclose(default, doubled)
    same = result("a07_overridable_weight", x=x, W=np.eye(4, dtype=np.float32))
    np.testing.assert_array_equal(default, same)


def test_a26_gelu_keeps_its_form() -> None:
    x = np.linspace(-4, 4, 9, dtype=np.float32)
    erf, tanh, default = (
        result(f"a26_gelu_{form}", x=x) for form in ("none", "tanh", "default")
    )
    np.testing.assert_array_equal(erf, default)
    assert 1e-4 < np.abs(erf - tanh).max() < 4.2e-4
    assert 'approximate = "tanh"' in str(imported("a26_gelu_tanh"))


def test_a27_a_bias_of_higher_rank_lifts_the_result() -> None:
    assert result("a27_bias_rank5", x=normal(2, 3)).shape == (1, 1, 1, 2, 4)


def test_a37_a_mean_without_keepdims_broadcasts_on_the_other_axis() -> None:
    x = normal(4, 4)
    gain = dict_of_constants("a37_keepdims0")
    centred = x - x.mean(-1)
    scale = np.sqrt((centred**2).mean(-1) + 1e-5)
    y = result("a37_keepdims0", x=x)
    assert any(np.allclose(y, centred / scale * g, atol=1e-5) for g in gain)


def dict_of_constants(name: str) -> list[np.ndarray]:
    from tessera.graph.ops.layout import ConstOp

    return [op.array for op in imported(name).walk() if isinstance(op, ConstOp)]


def test_a38_a_norm_takes_a_scale_of_rank_3() -> None:
    x, r = normal(2, 3, 8), normal(2, 3, 8)[::-1].copy()
    g, b = dict_of_constants("a38_scale_rank3")
    s = x + r
    normed = (s - s.mean(-1, keepdims=True)) / np.sqrt(s.var(-1, keepdims=True) + 1e-5)
    y = result("a38_scale_rank3", x=x, r=r)
    np.testing.assert_allclose(y, normed * g + b, atol=1e-5)


def test_a40_softmax_reads_its_axis_by_the_opset() -> None:
    x = normal(2, 3, 4)
    blocks = result("a40_softmax11_axis1", x=x).reshape(2, 12).sum(1)
    np.testing.assert_allclose(blocks, 1, rtol=1e-6)
    rows = result("a40_softmax13_axis1", x=x).sum(1)
    np.testing.assert_allclose(rows, 1, rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a58_matmul_one_input", ("#1 (MatMul)", "input 2 is missing")),
        ("a58_untyped_input", ("#1 (Add)", "input 2 'ghost' is made by nothing")),
        ("a59_ext_dotdot", ("tensor 'W'", "../outside.bin")),
        ("a59_ext_inner_dotdot", ("tensor 'W'", "sub/../../outside.bin")),
        ("a60_ext_negative_offset", ("tensor 'W'", "offset '-4'")),
        ("a60_ext_length_past_end", ("tensor 'W'", "length 1000000000000", "16 bytes")),
        ("a60_ext_length_not_number", ("tensor 'W'", "length '0x10'")),
    ],
)
def test_a58_to_a60_broken_files_are_one_error(
    name: str, says: tuple[str, ...]
) -> None:
    bad = refused(name)
    assert bad.code.id.startswith("TSR-I")
    assert all(part in str(bad) for part in says), str(bad)


def test_a59_nothing_outside_the_folder_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    opened: list[str] = []
    real: Callable[..., Any] = np.memmap
    monkeypatch.setattr(
        np, "memmap", lambda p, *a: opened.append(str(p)) or real(p, *a)
    )
    refused("a59_ext_dotdot")
    refused("a59_ext_inner_dotdot")
    assert not opened
    y = result("a59_ext_good", x=np.zeros(4, np.float32))
    np.testing.assert_array_equal(y, np.arange(4))
    assert [Path(p).name for p in opened] == ["weights.bin"]


def test_a60_unknown_keys_of_external_data_mean_nothing() -> None:
    y = result("a60_ext_unknown_key", x=np.zeros(4, np.float32))
    np.testing.assert_array_equal(y, np.arange(4))


def test_a61_names_that_differ_in_punctuation_stay_apart() -> None:
    one, ten = np.ones(3, np.float32), np.full(3, 10, np.float32)
    y = result("a61_name_collision", **{"a-b": one, "a/b": ten})
    np.testing.assert_array_equal(y, [112, 112, 112])


def test_a62_a_scalar_may_become_a_row() -> None:
    y = result("a62_scalar_then_matmul", x=np.float32(3))
    np.testing.assert_array_equal(y, np.full(64, 3))


def test_a66_an_index_wraps_once_and_is_never_clipped() -> None:
    y = result("a66_gather_int64", i=np.array([0, -1, 9]))
    np.testing.assert_array_equal(y[1], np.arange(36, 40))
    with pytest.raises(TesseraError, match="10"):
        result("a66_gather_int64", i=np.array([0, 10, 1]))


def test_a71_a_bool_mask_needs_no_cast() -> None:
    q, k, v = (normal(1, 2, 4, 8) + i for i in range(3))
    y = result("a71_bool_mask_no_cast", q=q, k=k, v=v)
    np.testing.assert_allclose(y[:, :, 0], v[:, :, 0], rtol=1e-6)
    assert "tessera.select" in str(imported("a71_bool_mask_no_cast"))
