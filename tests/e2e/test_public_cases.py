"""Failures that other compilers had in public: the same programs through `tessera.jit`.

Each case brings its inputs and the right answer in float64; a program here is the case as
a user would write it, spelled out and, where there is one, as the composite op.
"""

import importlib.util
import sys
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

import tessera
from tessera import ops
from tests.support.paths import CASES


def load_cases() -> dict[str, Any]:
    spec = importlib.util.spec_from_file_location("cases", CASES / "numeric_cases.py")
    assert spec is not None
    assert spec.loader is not None
    path = list(sys.path)
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path[:] = path
    return module.C


PUBLIC = load_cases()


def spelled(
    q: Any, k: Any, v: Any, scale: Any = None, mask: Any = None, axis: int = -1
) -> Any:
    """Attention as matmul, scale, mask, softmax, matmul."""
    scores = ops.matmul(q, k, transpose_b=True)
    scores = scores * (1 / sqrt(q.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = scores + mask
    return ops.softmax(scores, axis=axis) @ v


def kept(q: Any, k: Any, v: Any, keep: Any) -> Any:
    """Spelled attention over the keys that a bool mask keeps."""
    return spelled(q, k, v, mask=ops.where(keep, 0.0, -np.inf))


def band(queries: int, keys: int, window: int | None = None) -> np.ndarray:
    i, j = np.arange(queries)[:, None], np.arange(keys)[None]
    return (j <= i) & (j > i - (window or queries + 1))


def grouped(q: Any, k: Any, v: Any, mask: Any = None) -> Any:
    return spelled(q, ops.repeat_heads(k, q), ops.repeat_heads(v, q), mask=mask)


def capped(q: Any, k: Any, v: Any) -> Any:
    scores = ops.tanh(ops.matmul(q, k, transpose_b=True) * 0.25)
    scores = scores + ops.where(band(4, 4), 0.0, -np.inf)
    return ops.softmax(scores) @ v


def norm(x: Any, w: Any = None, eps: float = 1e-6) -> Any:
    y = x * ops.rsqrt((x * x).mean(-1, keepdims=True) + eps)
    return y if w is None else y * w


def summed(x: Any, r: Any, w: Any) -> Any:
    h = x + r
    return ops.stack([norm(h, w), h])


def wide_norm(x: Any, w: Any) -> Any:
    return norm(ops.cast(x, "f32"), ops.cast(w, "f32"))


flash = ops.flash_attn
PROGRAMS: dict[str, Callable[..., Any]] = {
    "A01 spelled": lambda q, k, v: spelled(q, k, v, 1 / 0.35355),
    "A01 op": lambda q, k, v: flash(q, k, v, scale=1 / 0.35355),
    "A02": lambda q, k, v: spelled(q, k, v, 1 / 128, axis=0),
    "A03": lambda q, k, v, scale: (
        ops.softmax(
            ops.matmul(q, k, transpose_b=True) / scale
            + np.triu(np.full((8, 8), -1e9, np.float32), 1)
        )
        @ v
    ),
    "A04 spelled": lambda q, k, v, m: spelled(q, k, v, mask=m),
    "A04 op": lambda q, k, v, m: flash(q, k, v, m),
    "A05 spelled": kept,
    "A05 op": lambda q, k, v, keep: flash(q, k, v, keep),
    "A08 spelled": spelled,
    "A08 op": flash,
    "A09 spelled": lambda q, k, v: kept(q, k, v, band(2, 5)),
    "A09 op": lambda q, k, v: flash(q, k, v, causal="top_left"),
    "A10 spelled": lambda q, k, v: kept(q, k, v, band(12, 12, 4)),
    "A10 op": lambda q, k, v: flash(q, k, v, causal=True, window=4),
    "A11 spelled": lambda q, k, v: kept(q, k, v, band(10, 10, 2)),
    "A11 op": lambda q, k, v: flash(q, k, v, causal=True, window=2),
    "A12 spelled": grouped,
    "A12 op": flash,
    "A13 spelled": lambda q, k, v, m: grouped(q, k, v, m),
    "A13 op": lambda q, k, v, m: flash(q, k, v, m),
    "A14 spelled": kept,
    "A14 op": lambda q, k, v, keep: flash(q, k, v, keep),
    "A15 spelled": kept,
    "A15 op": lambda q, k, v, keep: flash(q, k, v, keep),
    "A16 op": lambda q, k, v: flash(q, k, v, scale=0.125),
    "A17 spelled": capped,
    "A17 op": lambda q, k, v: flash(q, k, v, causal=True, softcap=1.0),
    "A18 spelled": spelled,
    "A18 op": flash,
    "A19 spelled": spelled,
    "A19 op": flash,
    "A20 spelled": spelled,
    "A20 op": flash,
    "A22 spelled": lambda q, k, v, bias: spelled(q, k, v, mask=bias),
    "A22 op": lambda q, k, v, bias: flash(q, k, v, bias),
    "A23 spelled": kept,
    "A23 op": lambda q, k, v, keep: flash(q, k, v, keep),
    "A24 spelled": lambda q, k, v, m: spelled(q, k, v, mask=m),
    "A24 op": lambda q, k, v, m: flash(q, k, v, m),
    "A25": lambda a, b: a @ b,
    "A28": lambda x, w, b: ops.gelu(x @ w + b),
    "A29": lambda x, wg, wu: ops.silu(x @ wg) * (x @ wu),
    "A29 swapped": lambda x, wg, wu: (x @ wu) * ops.silu(x @ wg),
    "A29 op": lambda x, wg, wu: ops.silu_mul(x @ wg, x @ wu),
    "A30 spelled": lambda x, w: norm(x, w, 1e-5),
    "A30 op": lambda x, w: ops.rmsnorm(x, w, eps=1e-5),
    "A31 spelled": lambda x: norm(x, eps=1e-3),
    "A31 op": lambda x: ops.rmsnorm(x, eps=1e-3),
    "A32 spelled": wide_norm,
    "A32 op": lambda x, w: ops.rmsnorm(x, w, eps=1e-6),
    "A33 spelled": lambda x, w: norm(ops.cast(x, "f32"), w),
    "A33 op": lambda x, w: ops.rmsnorm(x, w, eps=1e-6),
    "A34": summed,
    "A35 times": lambda q, k, v, m: spelled(q, k, v, 1 / 3, m),
    "A35 divided": lambda q, k, v, m: (
        ops.softmax(ops.matmul(q, k, transpose_b=True) / 3 + m) @ v
    ),
    "A35 mask first": lambda q, k, v, m: (
        ops.softmax(m + (1 / 3) * (q @ k.mT)) @ v
    ),
    "A36": norm,
    "A39 spelled": norm,
    "A39 op": lambda x, w: ops.rmsnorm(x, w, eps=1e-6),
    "A41": lambda x: ops.softmax(x)[:, -8:],
    "A42": lambda x: ops.where(x == x, x, 0.0),
    "A55 spelled": spelled,
    "A55 op": flash,
    "A64": lambda x, w1, w2: x @ w1 + x @ w2,
    "A67": lambda x, w: ops.conv(x, w),
    "A68": lambda x, w: ops.conv(x, w, pads_low=(0, 8), groups=4),
    "A70 spelled": lambda q, kv: spelled(q, kv, kv[..., :512], 1 / sqrt(192)),
    "A70 op": lambda q, kv: flash(q, kv, kv[..., :512], scale=1 / sqrt(192)),
    "A75": lambda x, t, g: g * (x - t),
    "A76": lambda x, w: ops.conv(x, w, strides=(2, 1), pads_low=(0, 2)),
    "A77 spelled": spelled,
    "A77 op": flash,
    "A78": lambda a, b: a * ops.abs(b),
}  # fmt: skip


@pytest.mark.parametrize("target", ["cpu", "apple_cpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_public_case(name: str, target: str) -> None:
    case = PUBLIC[name.split()[0]]
    inputs = case["inputs"]()
    before = {key: np.array(value) for key, value in inputs.items()}
    found = tessera.jit(PROGRAMS[name], target=target)(**inputs)
    wanted = case["ref"](**inputs)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(
        found.astype(np.float64), wanted, rtol=case["tol"], atol=case["tol"]
    )
    for key, value in inputs.items():
        np.testing.assert_array_equal(np.asarray(value), before[key])


@pytest.mark.parametrize("name", ["A35 times", "A35 divided", "A35 mask first"])
def test_equal_spellings_have_one_verdict(name: str) -> None:
    inputs = PUBLIC["A35"]["inputs"]()
    (site,) = tessera.jit(PROGRAMS[name]).audit(**inputs).sites
    assert (site.kind, site.outcome, site.source) == (
        "attention",
        "fused",
        "descriptor",
    )
    assert site.kernel == "matmul_softmax_matmul"


@pytest.mark.parametrize("target", ["cpu", "apple_cpu"])
def test_every_length_through_one_function(target: str) -> None:
    """A43: lengths 1 to 4 after each other; none sees another's program."""
    buffer = np.array([1, 2, 4, 8, 16], np.float32)
    total = tessera.jit(lambda buf, idx: ops.gather(buf, idx).sum(), target=target)
    sums = [float(total(buffer, np.arange(n))) for n in (1, 2, 3, 4)]
    assert sums == [1, 3, 7, 15]


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n <= "A24 spelled"])
def test_fused_attention_runs_as_machine_code(name: str) -> None:
    inputs = PUBLIC[name.split()[0]]["inputs"]()
    for site in tessera.jit(PROGRAMS[name], target="apple_cpu").audit(**inputs).sites:
        assert site.placement == ("native" if site.kernel else "reference")
