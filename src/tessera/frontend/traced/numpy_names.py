"""NumPy's functions and the ops that do the same: what an error message names."""

from __future__ import annotations

from collections.abc import Mapping

SAME = (
    "abs add amax amin argmax clip concat cos cumsum exp expand_dims floor isnan log "
    "matmul mean mod ones pad reshape shape sign sin split sqrt squeeze stack sum "
    "swapaxes tanh transpose where zeros arange"
)

NUMPY_NAMES: Mapping[str, str] = {
    **{name: name for name in SAME.split()},
    "absolute": "abs",
    "array_split": "split",
    "bitwise_and": "and_",
    "bitwise_or": "or_",
    "bitwise_xor": "xor",
    "broadcast_to": "broadcast_to",
    "ceil": 'floor(x, kind="ceil")',
    "concatenate": "concat",
    "divide": "div",
    "dot": "matmul",
    "equal": 'cmp(a, b, "eq")',
    "full": "fill",
    "greater": 'cmp(a, b, "gt")',
    "greater_equal": 'cmp(a, b, "ge")',
    "invert": "not_",
    "less": 'cmp(a, b, "lt")',
    "less_equal": 'cmp(a, b, "le")',
    "logical_and": "and_",
    "logical_not": "not_",
    "logical_or": "or_",
    "logical_xor": "xor",
    "max": "amax",
    "maximum": "max",
    "min": "amin",
    "minimum": "min",
    "moveaxis": "transpose",
    "multiply": "mul",
    "negative": "neg",
    "not_equal": 'cmp(a, b, "ne")',
    "power": "pow",
    "remainder": "mod",
    "rint": 'floor(x, kind="round")',
    "subtract": "sub",
    "take": "gather",
    "take_along_axis": "gather_elements",
    "trunc": 'floor(x, kind="trunc")',
}
