"""Small programs that the tests of artifact, runtime and commands share."""

import ml_dtypes
import numpy as np

from tessera.artifact import Call, Program, Step, Value
from tessera.decisions import Document, Site

SITE = "main/mlp/gelu#0"


def mlp() -> Program:
    """y = gelu(x w + b) as one fused call, and a lookup with an optional scale."""
    weights = {
        "w": np.arange(8, dtype=np.float32).reshape(2, 4) / 8,
        "b": np.ones(4, dtype=np.float32),
        "table": np.arange(12, dtype=np.float32).reshape(3, 4),
        "scale.default": np.asarray(2.0, dtype=np.float32),
    }
    expansion = (
        Step("matmul", ("x", "w"), ("y/h",)),
        Step("add", ("y/h", "b"), ("y/g",)),
        Step("gelu", ("y/g",), ("y",), {"approximate": "none"}),
    )
    call = Call(
        "matmul_gelu",
        "tessera_apple_cpu_matmul_gelu_f32",
        "descriptor",
        SITE,
        expansion,
    )
    return Program(
        target="apple_cpu",
        inputs=(
            Value("x", "f32", (None, 2)),
            Value("ids", "i64", (None,)),
            Value("scale", "f32", ()),
        ),
        outputs=(Value("y", "f32", (None, 4)), Value("rows", "f32", (None, 4))),
        defaults={"scale": "scale.default"},
        weights=weights,
        steps=(
            Step("matmul_gelu", ("x", "w", "b"), ("y",), {"approximate": "none"}, call),
            Step("gather", ("table", "ids"), ("found",), {"axis": 0}),
            Step("mul", ("found", "scale"), ("rows",)),
        ),
    )


def every_dtype() -> Program:
    """Weights of all kinds that the format must hold, and attributes JSON cannot."""
    weights = {
        "f64": np.array([np.pi, np.inf]),
        "f32": np.array([[np.nan, -0.0]], np.float32),
        "f16": np.array([65504.0], np.float16),
        "bf16": np.array([1.5, -3.0], ml_dtypes.bfloat16),
        "i1": np.array([True, False]),
        "i8": np.array(-7, np.int8),
        "i64": np.array([2**62]),
        "ui64": np.array([2**64 - 1], np.uint64),
        "empty": np.zeros((0, 3), np.float32),
        "__metadata__": np.arange(3, dtype=np.int32),
    }
    steps = (
        Step("pad", ("x",), ("p",), {"low": (1,), "high": (0,), "value": -np.inf}),
        Step("pad", ("p",), ("y",), {"low": (0,), "high": (1,), "value": np.nan}),
    )
    value = Value("x", "f32", (3,))
    return Program("cpu", (value,), (Value("y", "f32", (5,)),), {}, weights, steps)


def document(program: Program) -> Document:
    site = Site(
        id=SITE,
        kind="gelu",
        outcome="fused",
        kernel="matmul_gelu",
        source="descriptor",
        intent="matmul_gelu",
        intent_verdict="honoured",
    )
    return Document("mlp.onnx", program.target, "host CPU", (site,))
