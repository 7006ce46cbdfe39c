"""One row per foreign op: how many inputs and results it has, and its rule.

Ops are accepted by name, whatever opset the file states; where an op's meaning changed,
its rule reads the opset. A domain of its own stands before the name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules import contraction as con
from tessera.frontend.onnx.rules import elementwise as ew
from tessera.frontend.onnx.rules import indexing as ix
from tessera.frontend.onnx.rules import layout as lay
from tessera.frontend.onnx.rules import norms
from tessera.frontend.onnx.rules import reduction as red
from tessera.frontend.onnx.rules import slicing as cut
from tessera.frontend.onnx.rules.attention import attention, rotary_embedding
from tessera.frontend.onnx.rules.einsum import einsum
from tessera.frontend.onnx.step import Step

MANY = 1 << 30


@dataclass(frozen=True)
class Row:
    """Fewest and most inputs, the rule, and the most results it can give."""

    low: int
    high: int
    rule: Callable[[Step], Operand | Sequence[Operand]]
    outputs: int = 1


def _unary(rule: Callable[[Step], Operand]) -> Row:
    return Row(1, 1, rule)


def _binary(op: str, need: ew.Need = ew.anything, **options: str) -> Row:
    return Row(2, 2, ew.binary(op, need, **options))


def _reduce(reduce: red.Reduce) -> Row:
    return Row(1, 2, red.reduction(reduce))


_ELEMENTWISE: dict[str, Row] = {
    **{
        foreign: _unary(ew.unary(op))
        for foreign, op in {
            "Neg": "neg",
            "Abs": "abs",
            "Sign": "sign",
            "Exp": "exp",
            "Log": "log",
            "Sqrt": "sqrt",
            "Tanh": "tanh",
            "Erf": "erf",
            "Sin": "sin",
            "Cos": "cos",
            "Sigmoid": "sigmoid",
            "Softplus": "softplus",
            "BitwiseNot": "not",
            "IsNaN": "isnan",
        }.items()
    },
    "Not": _unary(ew.unary("not", ew.truths)),
    "Floor": _unary(ew.unary("floor")),
    "Ceil": _unary(ew.unary("floor", kind="ceil")),
    "Round": _unary(ew.unary("floor", kind="round")),
    "Reciprocal": _unary(ew.reciprocal),
    "Identity": _unary(ew.identity),
    "IsInf": _unary(ew.is_inf),
    "Tan": _unary(ew.tangent),
    "Cosh": _unary(ew.hyperbolic("add")),
    "Sinh": _unary(ew.hyperbolic("sub")),
    "Add": _binary("add"),
    "Sub": _binary("sub"),
    "Mul": _binary("mul"),
    "Div": _binary("div"),
    "Mod": Row(2, 2, ew.modulo),
    "Pow": Row(2, 2, ew.power),
    "And": _binary("and", ew.truths),
    "Or": _binary("or", ew.truths),
    "Xor": _binary("xor", ew.truths),
    "BitwiseAnd": _binary("and"),
    "BitwiseOr": _binary("or"),
    "BitwiseXor": _binary("xor"),
    "Equal": _binary("cmp", kind="eq"),
    "Less": _binary("cmp", kind="lt"),
    "LessOrEqual": _binary("cmp", kind="le"),
    "Greater": _binary("cmp", kind="gt"),
    "GreaterOrEqual": _binary("cmp", kind="ge"),
    "Max": Row(1, MANY, ew.variadic("max")),
    "Min": Row(1, MANY, ew.variadic("min")),
    "Sum": Row(1, MANY, ew.variadic("add")),
    "Mean": Row(1, MANY, ew.mean),
    "Where": Row(3, 3, ew.where),
    "Cast": _unary(ew.cast_to),
    "CastLike": Row(2, 2, ew.cast_like),
    "Clip": Row(1, 3, ew.clip),
    "Relu": _unary(ew.relu),
    "LeakyRelu": _unary(ew.leaky_relu),
    "PRelu": Row(2, 2, ew.prelu),
    "Elu": _unary(ew.elu),
    "Celu": _unary(ew.celu),
    "Selu": _unary(ew.selu),
    "ThresholdedRelu": _unary(ew.thresholded_relu),
    "HardSigmoid": _unary(ew.hard_sigmoid),
    "HardSwish": _unary(ew.hard_swish),
    "Softsign": _unary(ew.softsign),
    "Shrink": _unary(ew.shrink),
    "Swish": _unary(ew.swish),
    "Mish": _unary(ew.mish),
    "Gelu": _unary(ew.gelu),
    "SwiGLU": Row(2, 2, ew.swiglu),
}
_LAYOUT: dict[str, Row] = {
    "Constant": Row(0, 0, lay.constant),
    "Reshape": Row(1, 2, lay.reshape_to),
    "Flatten": _unary(lay.flatten),
    "Transpose": _unary(lay.transpose),
    "Squeeze": Row(1, 2, lay.squeeze),
    "Unsqueeze": Row(1, 2, lay.unsqueeze),
    "Expand": Row(2, 2, lay.expand),
    "Tile": Row(2, 2, lay.tile),
    "Concat": Row(1, MANY, lay.concat),
    "Split": Row(1, 2, cut.split, MANY),
    "Slice": Row(1, 5, cut.slice_axes),
    "Pad": Row(1, 4, cut.pad),
    "DepthToSpace": _unary(lay.depth_to_space),
    "SpaceToDepth": _unary(lay.space_to_depth),
    "Dropout": Row(1, 3, lay.dropout, 2),
    "Gather": Row(2, 2, ix.gather),
    "GatherElements": Row(2, 2, ix.gather_elements),
    "GatherND": Row(2, 2, ix.gather_nd),
    "Scatter": Row(3, 3, ix.scatter_elements),
    "ScatterElements": Row(3, 3, ix.scatter_elements),
    "ScatterND": Row(3, 3, ix.scatter_nd),
    "TensorScatter": Row(2, 3, ix.tensor_scatter),
    "Shape": _unary(ix.shape_of),
    "Size": _unary(ix.size_of),
    "Range": Row(3, 3, ix.span),
    "ConstantOfShape": _unary(ix.constant_of_shape),
    "Trilu": Row(1, 2, ix.trilu),
    "EyeLike": _unary(ix.eye_like),
    "OneHot": Row(3, 3, ix.one_hot),
}
_REDUCTION: dict[str, Row] = {
    "ReduceSum": _reduce(red.plain("reduce_sum")),
    "ReduceMean": _reduce(red.plain("reduce_mean")),
    "ReduceMax": _reduce(red.largest),
    "ReduceMin": _reduce(red.smallest),
    "ReduceL1": _reduce(red.absolute_sum),
    "ReduceL2": _reduce(red.euclidean),
    "ReduceSumSquare": _reduce(red.square_sum),
    "ReduceLogSum": _reduce(red.log_sum),
    "ReduceLogSumExp": _reduce(red.log_sum_exp),
    "ArgMax": _unary(red.argmax),
    "ArgMin": _unary(red.argmin),
    "TopK": Row(1, 2, red.topk, 2),
    "CumSum": Row(2, 2, red.cumsum),
    "Hardmax": _unary(red.hardmax),
    "GlobalAveragePool": _unary(con.global_average),
    "GlobalMaxPool": _unary(con.global_max),
    "MatMul": Row(2, 2, con.matmul),
    "Gemm": Row(2, 3, con.gemm),
    "Conv": Row(2, 3, con.conv),
    "Einsum": Row(1, MANY, einsum),
}
_COMPOSITE: dict[str, Row] = {
    "Softmax": _unary(norms.softmax),
    "LogSoftmax": _unary(norms.log_softmax),
    "LayerNormalization": Row(2, 3, norms.layernorm, 3),
    "RMSNormalization": Row(2, 2, norms.rmsnorm),
    "BatchNormalization": Row(5, 5, norms.batchnorm),
    "InstanceNormalization": Row(3, 3, norms.instancenorm),
    "GroupNormalization": Row(3, 3, norms.groupnorm),
    "LpNormalization": _unary(norms.lp_norm),
    "Attention": Row(3, 7, attention, 4),
    "RotaryEmbedding": Row(3, 4, rotary_embedding),
}
ROWS: Mapping[str, Row] = _ELEMENTWISE | _LAYOUT | _REDUCTION | _COMPOSITE
