"""matmul_gelu in machine code, against its meaning in f64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.codegen.cpu.host import HOSTS, Host
from tessera.kernels.matmul_gelu import KERNEL
from tests.support.native import guard, meaning, native, near, random, release

SIZES = st.sampled_from([0, 1, 2, 7, 8, 16, 17, 31, 48, 49, 70, 130])
LAYOUTS = st.sampled_from(["plain", "plain", "swapped", "spaced", "reversed"])


@st.composite
def call(draw: st.DrawFn) -> tuple[dict[str, np.ndarray], dict[str, Any], str]:
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    dtype = draw(st.sampled_from(["f32", "f16", "bf16"]))
    m, n, k = draw(SIZES), draw(SIZES), draw(SIZES)
    turned = draw(st.booleans())
    lead = draw(st.sampled_from([(), (2,), (3, 1), (0,)]))
    own = draw(st.sampled_from([(), (), (), (1,), lead]))
    w = (*own, n, k) if turned else (*own, k, n)
    shapes: dict[str, tuple[int, ...]] = {"x": (*lead, m, k), "w": w}
    if draw(st.booleans()):
        shapes["bias"] = draw(st.sampled_from([(n,), (1, n)]))
    arrays = {r: random(rng, s, dtype, draw(LAYOUTS)) for r, s in shapes.items()}
    form = draw(st.sampled_from(["none", "tanh", "quick"]))
    return arrays, {"approximate": form, "transpose_b": turned}, dtype


@settings(max_examples=60, deadline=None)
@given(drawn=call(), at_start=st.booleans())
def test_it_computes_its_meaning_within_its_buffers(
    drawn: tuple[dict[str, np.ndarray], dict[str, Any], str], at_start: bool
) -> None:
    arrays, chosen, dtype = drawn
    run = native(KERNEL, arrays, chosen, max(arrays["x"].ndim, arrays["w"].ndim))
    fenced = [guard(array, at_start) for array in arrays.values()]
    (found,) = run(*fenced)
    near(found.copy(), meaning(KERNEL, arrays, chosen), dtype)
    del found, fenced
    release()


@pytest.mark.parametrize("turned", [False, True])
def test_products_deeper_and_taller_than_a_block(turned: bool) -> None:
    rng = np.random.default_rng(0)
    x = random(rng, (301, 1100), "f32") / 16
    w = random(rng, (500, 1100) if turned else (1100, 500), "f32") / 16
    arrays, chosen = {"x": x, "w": w}, {"transpose_b": turned}
    (found,) = native(KERNEL, arrays, chosen, 2)(x, w)
    near(found.copy(), meaning(KERNEL, arrays, chosen), "f32")


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.name)
@pytest.mark.parametrize("rows", [1, 2, 40])
def test_every_record(host: Host, rows: int) -> None:
    rng = np.random.default_rng(rows)
    arrays = {"x": random(rng, (rows, 50), "f16"), "w": random(rng, (50, 300), "f16")}
    (found,) = native(KERNEL, arrays, {}, 2, host)(*arrays.values())
    near(found.copy(), meaning(KERNEL, arrays, {}), "f16")


def test_nan_and_inf_come_through() -> None:
    x = np.array([[np.nan], [np.inf], [-np.inf], [40.0], [-40.0]], np.float32)
    w = np.ones((1, 3), np.float32)
    for form in ("none", "tanh", "quick"):
        chosen = {"approximate": form}
        (found,) = native(KERNEL, {"x": x, "w": w}, chosen, 2)(x, w)
        wanted = meaning(KERNEL, {"x": x, "w": w}, chosen)
        np.testing.assert_allclose(found.copy(), wanted, atol=1e-6)
