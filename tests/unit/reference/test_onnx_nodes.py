"""The meanings against ONNX's own backend node tests, through a small translation."""

import functools
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tessera.reference import DTYPES, PRIMITIVES, dtype_name
from tests.unit.reference.oracles import f64

onnx = pytest.importorskip("onnx")

Node = Any
Inputs = list[np.ndarray]
Call = tuple[str, Inputs, dict[str, Any]]
END = 2**63 - 1


class Untranslated(Exception):
    """A form of the node that the vocabulary spells with several ops."""


def attributes_of(node: Node) -> dict[str, Any]:
    read = onnx.helper.get_attribute_value
    found = {a.name: read(a) for a in node.attribute}
    return {k: v.decode() if isinstance(v, bytes) else v for k, v in found.items()}


def plain(name: str, **fixed: Any) -> Callable[[dict[str, Any], Inputs], Call]:
    return lambda a, x: (name, x, fixed | a)


def kept(name: str, *keys: str, **fixed: Any) -> Callable[..., Call]:
    """The named attributes only."""
    return lambda a, x: (name, x, fixed | {k: a[k] for k in keys if k in a})


def with_shape(name: str) -> Callable[..., Call]:
    return lambda a, x: (name, x, {"shape": (-1,) * len(x[1])})


def reduction(name: str) -> Callable[..., Call]:
    def call(a: dict[str, Any], x: Inputs) -> Call:
        given = a.get("axes", x[1].tolist() if len(x) > 1 else [])
        axes = given or ([] if a.get("noop_with_empty_axes") else range(x[0].ndim))
        return name, x[:1], {"axes": list(axes), "keepdims": bool(a.get("keepdims", 1))}

    return call


def slices(a: dict[str, Any], x: Inputs) -> Call:
    rank = x[0].ndim
    starts, stops, steps = [0] * rank, [END] * rank, [1] * rank
    axes = x[3].tolist() if len(x) > 3 else list(range(len(x[1])))
    by = x[4].tolist() if len(x) > 4 else [1] * len(axes)
    for axis, start, stop, step in zip(axes, x[1], x[2], by, strict=True):
        starts[axis], stops[axis], steps[axis] = int(start), int(stop), step
    return "slice", x[:1], {"starts": starts, "stops": stops, "steps": steps}


def pads(a: dict[str, Any], x: Inputs) -> Call:
    if a.get("mode", "constant") != "constant":
        raise Untranslated
    rank = x[0].ndim
    axes = x[3].tolist() if len(x) > 3 else list(range(rank))
    low, high = [0] * rank, [0] * rank
    for place, axis in enumerate(axes):
        low[axis], high[axis] = int(x[1][place]), int(x[1][place + len(axes)])
    return "pad", x[:1], {"low": low, "high": high, "value": float(x[2])}


def convolution(a: dict[str, Any], x: Inputs) -> Call:
    if a.get("auto_pad", "NOTSET") != "NOTSET":
        raise Untranslated
    n = x[0].ndim - 2
    pad = a.get("pads", [0] * 2 * n)
    return "conv", x, {
        "strides": a.get("strides", [1] * n), "dilations": a.get("dilations", [1] * n),
        "pads_low": pad[:n], "pads_high": pad[n:], "groups": a.get("group", 1),
    }  # fmt: skip


def running_sum(a: dict[str, Any], x: Inputs) -> Call:
    options = {k: bool(a.get(k, 0)) for k in ("exclusive", "reverse")}
    return "cumsum", x[:1], {"axis": int(x[1]), **options}


def top(a: dict[str, Any], x: Inputs) -> Call:
    largest = bool(a.get("largest", 1))
    k = int(x[1].reshape(()))
    return "topk", x[:1], {"k": k, "axis": a.get("axis", -1), "largest": largest}


def argmax(a: dict[str, Any], x: Inputs) -> Call:
    if a.get("select_last_index"):
        raise Untranslated
    options = {"axis": a.get("axis", 0), "keepdims": bool(a.get("keepdims", 1))}
    return "argmax", x, options


def attend(a: dict[str, Any], x: Inputs) -> Call:
    odd = {"left_window_size", "right_window_size", "softmax_precision"} & a.keys()
    if len(x) > 4 or x[0].ndim != 4 or odd:
        raise Untranslated
    causal = "top_left" if a.get("is_causal") else None
    found = {k: a[k] for k in ("scale", "softcap") if k in a}
    return "flash_attn", x, {"causal": causal, **found}


def rotary(a: dict[str, Any], x: Inputs) -> Call:
    if x[0].ndim != 4:
        raise Untranslated
    together = a.get("interleaved", 0)
    tables = [t[x[3]] if len(x) > 3 else t for t in x[1:3]]
    if together:
        tables = [np.repeat(t, 2, axis=-1) for t in tables]
    else:
        tables = [np.concatenate([t, t], axis=-1) for t in tables]
    style = "interleaved" if together else "half"
    return "rope", [x[0], *(t[:, None] for t in tables)], {"style": style}


def permute(a: dict[str, Any], x: Inputs) -> Call:
    order = a.get("perm", list(range(x[0].ndim))[::-1])
    return "transpose", x, {"permutation": order}


def same_type(name: str) -> Callable[..., Call]:
    def call(a: dict[str, Any], x: Inputs) -> Call:
        if len({v.dtype for v in x}) > 1 or len(x) != 2:
            raise Untranslated
        return name, x, {}

    return call


def power(a: dict[str, Any], x: Inputs) -> Call:
    if x[0].dtype.kind != "f" and x[1].dtype.kind == "f":
        raise Untranslated
    return "pow", x, {}


def modulo(a: dict[str, Any], x: Inputs) -> Call:
    return "mod", x, {"fmod": bool(a.get("fmod", 0))}


def sizes(a: dict[str, Any], x: Inputs) -> Call:
    if a:
        raise Untranslated
    return "shape", x, {}


TABLE: dict[str, Callable[[dict[str, Any], Inputs], Call]] = {
    **{name.title(): plain(name) for name in "add sub mul div abs exp log".split()},
    **{name.title(): plain(name) for name in "sqrt tanh erf sin cos neg sign".split()},
    **{name.title(): plain(name) for name in "and or xor".split()},
    **{n: plain(n.lower()) for n in ("Not", "Sigmoid", "Softplus", "MatMul")},
    **{n: plain(n.lower()) for n in ("Gather", "Concat")},
    "Shape": sizes,
    "Max": same_type("max"),
    "Min": same_type("min"),
    "Pow": power,
    "Mod": modulo,
    "IsNaN": plain("isnan"),
    **{n: plain("floor", kind=n.lower()) for n in ("Floor", "Ceil", "Round")},
    "Equal": plain("cmp", kind="eq"),
    "Less": plain("cmp", kind="lt"),
    "LessOrEqual": plain("cmp", kind="le"),
    "Greater": plain("cmp", kind="gt"),
    "GreaterOrEqual": plain("cmp", kind="ge"),
    "BitwiseAnd": plain("and"),
    "BitwiseOr": plain("or"),
    "BitwiseXor": plain("xor"),
    "BitwiseNot": plain("not"),
    "Where": plain("select"),
    "Expand": with_shape("broadcast"),
    "Transpose": permute,
    "Slice": slices,
    "Pad": pads,
    "GatherND": plain("gather_nd"),
    "GatherElements": plain("gather_elements"),
    "ScatterElements": plain("scatter"),
    "ScatterND": plain("scatter_nd"),
    "ReduceSum": reduction("reduce_sum"),
    "ReduceMean": reduction("reduce_mean"),
    "ReduceMax": reduction("reduce_max"),
    "ArgMax": argmax,
    "CumSum": running_sum,
    "TopK": top,
    "Conv": convolution,
    "Softmax": plain("softmax"),
    "Gelu": plain("gelu"),
    "LayerNormalization": lambda a, x: (
        "layernorm", x, {"axis": a.get("axis", -1), "eps": a.get("epsilon", 1e-5)}
    ),
    "Attention": attend,
    "RotaryEmbedding": rotary,
}  # fmt: skip


@functools.cache
def cases() -> dict[str, Any]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = collect_testcases(None)
    return {case.name: case for case in found if translation(case) is not None}


def translation(case: Any) -> Callable[[dict[str, Any], Inputs], Call] | None:
    if case.model is None or len(case.model.graph.node) != 1:
        return None
    if case.name.startswith("test_reshape"):
        return None
    return TABLE.get(case.model.graph.node[0].op_type)


def in_vocabulary(arrays: Sequence[Any]) -> bool:
    return all(
        isinstance(a, np.ndarray) and a.dtype.newbyteorder("=") in DTYPES.values()
        for a in map(np.asarray, arrays)
    )


@pytest.mark.parametrize("op_type", sorted(TABLE))
def test_every_backend_case_of(op_type: str) -> None:
    ran = 0
    for name, case in cases().items():
        node = case.model.graph.node[0]
        if node.op_type != op_type:
            continue
        for given, wanted in case.data_sets:
            inputs = [np.asarray(a) for a in given]
            blank = "" in list(node.input)[: len(inputs)]
            if blank or not in_vocabulary(given) or not in_vocabulary(wanted):
                continue
            try:
                op, operands, attributes = TABLE[op_type](attributes_of(node), inputs)
            except Untranslated:
                continue
            found = PRIMITIVES[op](*operands, **attributes)
            compare(name, found, [np.asarray(a) for a in wanted])
            ran += 1
    assert ran, f"no backend case of {op_type} was run"


def compare(name: str, found: Any, wanted: Inputs) -> None:
    results = found if isinstance(found, tuple) else (found,)
    for one, other in zip(results, wanted, strict=False):
        assert dtype_name(one.dtype) == dtype_name(other.dtype), name
        loose = {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-5}
        tolerance = loose.get(dtype_name(one.dtype), 1e-7)
        np.testing.assert_allclose(
            f64(one), f64(other), rtol=tolerance, atol=tolerance, err_msg=name
        )
