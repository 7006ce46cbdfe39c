"""The gated MLP against its equation in f64, in every packing."""

from typing import Any

import numpy as np
import pytest

from tessera.reference import DTYPES
from tests.unit.reference.oracles import close, drawn, f64, meaning

OPTIONS = [
    {},
    {"alpha": 1.702},
    {"limit": 0.7, "alpha": 1.702, "up_offset": 1.0},
    {"up_offset": 1.0},
]


def equation(gate: Any, up: Any, **options: float) -> Any:
    """The product before the down projection."""
    gate, up = f64(gate), f64(up)
    if (limit := options.get("limit")) is not None:
        gate, up = np.where(gate > limit, limit, gate), np.clip(up, -limit, limit)
    alpha, offset = options.get("alpha", 1.0), options.get("up_offset", 0.0)
    return gate / (1 + np.exp(-alpha * gate)) * (up + offset)


def parts(seed: int, *lead: int, dtype: str = "f32") -> dict[str, Any]:
    shapes = {
        "w_gate": (*lead, 8, 6), "w_up": (*lead, 8, 6), "w_down": (*lead, 6, 5),
        "b_gate": (*lead, 6), "b_up": (*lead, 6), "b_down": (*lead, 5),
    }  # fmt: skip
    return {
        name: drawn(seed + i, *shape, dtype=dtype)
        for i, (name, shape) in enumerate(shapes.items())
    }


def packed(gate: Any, up: Any, packing: str) -> Any:
    if packing == "halves":
        return np.concatenate([gate, up], axis=-1)
    return np.stack([gate, up], axis=-1).reshape(*gate.shape[:-1], -1)


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("packing", ["none", "halves", "interleaved"])
@pytest.mark.parametrize("lead", [(), (3,)])
def test_every_packing_and_option(
    options: dict[str, float], biased: bool, packing: str, lead: tuple[int, ...]
) -> None:
    x, w = drawn(9, 3, 4, 8), parts(1, *lead)
    if packing == "none":
        weights, biases = [w["w_gate"], w["w_up"]], [w["b_gate"], w["b_up"]]
    else:
        weights = [packed(w["w_gate"], w["w_up"], packing)]
        biases = [packed(w["b_gate"], w["b_up"], packing)]
    operands = [*weights, w["w_down"]]
    if biased:
        operands += [*biases, w["b_down"]]
    found = meaning("swiglu_fused", x, *operands, packed=packing, **options)
    for row in range(3):
        one = {k: f64(v[row] if lead else v) for k, v in w.items()}
        gate, up = f64(x[row]) @ one["w_gate"], f64(x[row]) @ one["w_up"]
        if biased:
            gate, up = gate + one["b_gate"], up + one["b_up"]
        wanted = equation(gate, up, **options) @ one["w_down"]
        close(found[row], wanted + (one["b_down"] if biased else 0.0))


def test_a_bias_may_be_absent_between_others() -> None:
    x, w = drawn(9, 2, 8), parts(1)
    found = meaning(
        "swiglu_fused", x, w["w_gate"], w["w_up"], w["w_down"], None, w["b_up"], None
    )
    up = f64(x) @ f64(w["w_up"]) + w["b_up"]
    close(found, equation(f64(x) @ f64(w["w_gate"]), up) @ f64(w["w_down"]))


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_narrow_types_round_once(dtype: str) -> None:
    x, w = drawn(9, 40, 8, dtype=dtype), parts(1, dtype=dtype)
    weights = [w["w_gate"], w["w_up"], w["w_down"]]
    found = meaning("swiglu_fused", x, *weights)
    exact = meaning("swiglu_fused", f64(x), *map(f64, weights))
    assert found.dtype == DTYPES[dtype]
    assert np.mean(found == exact.astype(np.float32).astype(DTYPES[dtype])) > 0.97


def test_no_rows_and_no_hidden_features() -> None:
    w = parts(1)
    weights = [w["w_gate"], w["w_up"], w["w_down"]]
    assert meaning("swiglu_fused", drawn(1, 0, 8), *weights).shape == (0, 5)
    none = [weights[0][:, :0], weights[1][:, :0], weights[2][:0]]
    close(meaning("swiglu_fused", drawn(1, 2, 8), *none), np.zeros((2, 5)), 0.0)


@pytest.mark.parametrize(
    ("count", "packing", "text"),
    [(2, "none", "2 operands"), (5, "halves", "5 operands"), (2, "pairs", "'pairs'")],
)
def test_the_wrong_number_of_operands_is_named(
    count: int, packing: str, text: str
) -> None:
    operands = [drawn(1, 8, 6)] * count
    with pytest.raises(ValueError, match=text):
        meaning("swiglu_fused", drawn(9, 2, 8), *operands, packed=packing)


def test_an_odd_packed_width_is_named() -> None:
    with pytest.raises(ValueError, match="5 columns"):
        meaning(
            "swiglu_fused",
            drawn(1, 2, 8),
            drawn(2, 8, 5),
            drawn(3, 2, 5),
            packed="halves",
        )
