"""Attention in machine code: against its meaning in f64, and torch where it has the op."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.codegen.cpu.host import HOSTS, Host
from tessera.kernels.matmul_softmax_matmul import KERNEL
from tests.support.native import guard, meaning, native, near, random, release

SIZES = st.sampled_from([0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 47, 64, 65, 70, 130])
WIDTHS = st.sampled_from([1, 2, 7, 8, 16, 17, 24, 33])
LAYOUTS = st.sampled_from(["plain", "plain", "swapped", "spaced"])
FLOATS = st.sampled_from(["f32", "f16", "bf16"])


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "scale": draw(st.sampled_from([1.0, 0.25, -0.5])),
        "softcap": draw(st.sampled_from([None, None, 3.0])),
        "causal": draw(st.sampled_from(["none", "top_left", "bottom_right"])),
        "window": draw(st.sampled_from([None, None, 1, 4, 40])),
        "nan_guard": draw(st.booleans()),
        "transpose_b": draw(st.booleans()),
    }


@st.composite
def call(draw: st.DrawFn) -> tuple[dict[str, np.ndarray], dict[str, Any], str]:
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    dtype, chosen = draw(FLOATS), draw(options())
    keys, values = draw(st.sampled_from([(1, 1), (1, 1), (2, 2), (1, 2)]))
    group = draw(st.integers(1, 5))
    batch = draw(st.sampled_from([(), (), (2,), (1, 2)]))
    m, n = draw(SIZES), draw(SIZES)
    d, width = draw(WIDTHS), draw(WIDTHS)
    flat = draw(st.sampled_from([False, False, True]))
    lead = () if flat else (*batch, max(keys, values) * group)
    shapes = {
        "q": (*lead, m, d),
        "k": (*(() if flat else (*batch, keys)), n, d),
        "v": (*(() if flat else (*batch, values)), n, width),
    }
    if not chosen["transpose_b"]:
        shapes["k"] = (*shapes["k"][:-2], d, n)
    arrays = {r: random(rng, s, dtype, draw(LAYOUTS)) for r, s in shapes.items()}
    mask = draw(st.sampled_from(["", "", "added", "kept", "filled"]))
    if mask:
        shape = draw(
            st.sampled_from(
                [(m, n), (1, n), (n,), (m, 1), (*lead, m, n), (*lead[:-1], 1, 1, n)][
                    : 6 if lead else 5
                ]
            )
        )
        arrays["mask"] = random(rng, shape, dtype, draw(LAYOUTS))
    if mask in ("kept", "filled"):
        arrays["mask"] = arrays["mask"] > 0
    chosen["mask_fill"] = -3.4e38 if mask == "filled" else None
    if mask and chosen["causal"] == "none" and chosen["window"] is None:
        chosen["mask_guard"] = draw(st.booleans())
        nothing = False if mask != "added" else -np.inf
        np.atleast_2d(arrays["mask"])[..., :1, :] = nothing
    if draw(st.booleans()):
        shape = draw(st.sampled_from([(), (1,), (1, 1)]))
        arrays["scale"] = np.full(shape, 0.7, arrays["q"].dtype)
    return arrays, chosen, dtype


@settings(max_examples=60, deadline=None)
@given(drawn=call(), at_start=st.booleans())
def test_it_computes_its_meaning_within_its_buffers(
    drawn: tuple[dict[str, np.ndarray], dict[str, Any], str], at_start: bool
) -> None:
    arrays, chosen, dtype = drawn
    rank = max(arrays[role].ndim for role in "qkv")
    run = native(KERNEL, arrays, chosen, rank)
    fenced = [guard(array, at_start) for array in arrays.values()]
    (found,) = run(*fenced)
    near(found.copy(), meaning(KERNEL, arrays, chosen), dtype)
    del found, fenced
    release()


def heads(*shape: int) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("hidden", [np.nan, np.inf])
@pytest.mark.parametrize("kind", ["causal", "window", "mask"])
@pytest.mark.parametrize("count", [7, 200])
def test_a_removed_key_has_no_influence(hidden: float, kind: str, count: int) -> None:
    q, k, v = (heads(2, count, 19) for _ in range(3))
    chosen: dict[str, Any] = {"transpose_b": True}
    arrays = {"q": q, "k": k, "v": v}
    if kind == "mask":
        keep = np.ones((count, count), bool)
        keep[:, 3] = False
        arrays["mask"] = keep
        k[:, 3], v[:, 3] = hidden, hidden
    else:
        chosen |= {"causal": "top_left", "window": 3 if kind == "window" else None}
        k[:, -1], v[:, -1] = hidden, hidden
    (found,) = native(KERNEL, arrays, chosen, 3)(*arrays.values())
    wanted = meaning(KERNEL, arrays, chosen)
    rows = slice(None) if kind == "mask" else slice(0, -1)
    assert np.isfinite(found[:, rows]).all()
    near(found[:, rows].copy(), wanted[:, rows], "f32")
    assert kind == "mask" or np.isnan(found[:, -1]).all()


def test_a_query_without_keys_gives_zeros_and_a_nan_score_a_nan_row() -> None:
    q, k, v = heads(40, 8), heads(50, 8), heads(50, 8)
    keep = np.ones((40, 50), bool)
    keep[11] = False
    q[5] = np.nan
    arrays = {"q": q, "k": k, "v": v, "mask": keep}
    (found,) = native(KERNEL, arrays, {"transpose_b": True}, 2)(*arrays.values())
    assert (found[11] == 0).all()
    assert np.isnan(found[5]).all()
    assert np.isfinite(np.delete(found, 5, 0)).all()
    guardedly = native(KERNEL, arrays, {"transpose_b": True, "nan_guard": True}, 2)
    assert (guardedly(*arrays.values())[0][5] == 0).all()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("shape", [(1, 4, 96, 64), (2, 3, 201, 40)])
def test_it_agrees_with_torch(shape: tuple[int, ...], causal: bool) -> None:
    q, k, v = heads(*shape), heads(*shape) + 1, heads(*shape) * 2
    wanted = torch.nn.functional.scaled_dot_product_attention(
        torch.from_numpy(q), torch.from_numpy(k), torch.from_numpy(v), is_causal=causal
    ).numpy()
    rule = "top_left" if causal else "none"
    chosen = {"scale": shape[-1] ** -0.5, "causal": rule, "transpose_b": True}
    arrays = {"q": q, "k": k, "v": v}
    near(native(KERNEL, arrays, chosen, 4)(q, k, v)[0].copy(), wanted, "f32")


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("count", [3, 150])
def test_every_record_and_fixed_sizes(host: Host, count: int) -> None:
    q, k, v = heads(2, 4, count, 20), heads(2, 2, 90, 20), heads(2, 2, 90, 11)
    arrays, chosen = (
        {"q": q, "k": k, "v": v},
        {"transpose_b": True, "causal": "top_left"},
    )
    wanted = meaning(KERNEL, arrays, chosen)
    for fixed in (False, True):
        run = native(KERNEL, arrays, chosen, 4, host, fixed)
        near(run(q, k, v)[0].copy(), wanted, "f32")


def test_operands_that_do_not_fit_are_refused() -> None:
    arrays = {"q": heads(4, 8, 8), "k": heads(4, 9, 8), "v": heads(4, 9, 8)}
    run = native(KERNEL, arrays, {"transpose_b": True}, 3)
    run(*arrays.values())
    for other in (heads(4, 8, 8), heads(3, 9, 8)):
        with pytest.raises(ValueError, match="do not fit"):
            run(arrays["q"], arrays["k"], other)
    with pytest.raises(ValueError, match="wanted f32 of rank 3"):
        run(arrays["q"], arrays["k"], arrays["v"][0])
