"""What every op of the graph vocabulary means, in NumPy.

`PRIMITIVES[name](*operands, **attributes)` gives an array, or a tuple of arrays.
Operands are positional (an absent trailing one is left out or None), attributes are
keywords. f16 and bf16 compute in f32 and round once at the end of the op; f64 stays
f64. A broken demand raises ValueError, an index out of range IndexError.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tessera.reference import (
    activations,
    attention,
    contraction,
    elementwise,
    indexing,
    latent_attention,
    layout,
    mlp,
    norms,
    reductions,
    sparse_attention,
)
from tessera.reference.dtypes import (
    DTYPES,
    FLOATS,
    NARROW_FLOATS,
    dtype_name,
    dtype_of,
    is_float,
    is_narrow,
    itemsize,
)
from tessera.reference.rounding import Array, Results

Primitive = Callable[..., Results]

_LAYOUT: dict[str, Primitive] = {
    "iota": layout.iota,
    "fill": layout.fill,
    "cast": layout.cast_to,
    "reshape": layout.reshape,
    "broadcast": layout.broadcast,
    "transpose": layout.transpose,
    "slice": layout.slice_axes,
    "concat": layout.concat,
    "pad": layout.pad,
    "select": layout.select,
    "shape": layout.shape_of,
    "gather": indexing.gather,
    "gather_nd": indexing.gather_nd,
    "gather_elements": indexing.gather_elements,
    "scatter": indexing.scatter,
    "scatter_nd": indexing.scatter_nd,
}
_ELEMENTWISE: dict[str, Primitive] = {
    "add": elementwise.add,
    "sub": elementwise.sub,
    "mul": elementwise.mul,
    "div": elementwise.div,
    "pow": elementwise.power,
    "max": elementwise.maximum,
    "min": elementwise.minimum,
    "mod": elementwise.mod,
    "cmp": elementwise.compare,
    "and": elementwise.logical_and,
    "or": elementwise.logical_or,
    "xor": elementwise.logical_xor,
    "not": elementwise.logical_not,
    "neg": elementwise.neg,
    "abs": elementwise.absolute,
    "exp": elementwise.exp,
    "log": elementwise.log,
    "sqrt": elementwise.sqrt,
    "rsqrt": elementwise.rsqrt,
    "tanh": elementwise.tanh,
    "erf": elementwise.erf,
    "sin": elementwise.sin,
    "cos": elementwise.cos,
    "floor": elementwise.floor,
    "sign": elementwise.sign,
    "sigmoid": elementwise.sigmoid,
    "isnan": elementwise.isnan,
}
_REDUCTIONS: dict[str, Primitive] = {
    "reduce_sum": reductions.reduce_sum,
    "reduce_mean": reductions.reduce_mean,
    "reduce_max": reductions.reduce_max,
    "reduce_any": reductions.reduce_any,
    "argmax": reductions.argmax,
    "cumsum": reductions.cumsum,
    "topk": reductions.topk,
}
_CONTRACTIONS: dict[str, Primitive] = {
    "matmul": contraction.matmul,
    "conv": contraction.conv,
    "grouped_matmul": contraction.grouped_matmul,
}
_COMPOSITES: dict[str, Primitive] = {
    "softmax": norms.softmax,
    "layernorm": norms.layernorm,
    "rmsnorm": norms.rmsnorm,
    "rope": norms.rope,
    "gelu": activations.gelu,
    "silu": activations.silu,
    "softplus": activations.softplus,
    "silu_mul": activations.silu_mul,
    "glu": activations.glu,
    "swiglu_fused": mlp.swiglu_fused,
    "flash_attn": attention.flash_attn,
    "latent_kv_compress": latent_attention.latent_kv_compress,
    "latent_kv_expand_k": latent_attention.latent_kv_expand_k,
    "latent_kv_expand_v": latent_attention.latent_kv_expand_v,
    "mla_decode_fused": latent_attention.mla_decode_fused,
    "mla_cached_fused": latent_attention.mla_cached_fused,
    "compress_blocks": sparse_attention.compress_blocks,
    "attn_compressed_blocks": sparse_attention.attn_compressed_blocks,
    "attn_sliding_window": sparse_attention.attn_sliding_window,
    "attn_top_k_blocks": sparse_attention.attn_top_k_blocks,
    "nsa_block_scores": sparse_attention.nsa_block_scores,
    "native_sparse_attn_fused": sparse_attention.native_sparse_attn_fused,
}
_HELPERS: dict[str, Primitive] = {
    "masked_matmul": attention.masked_matmul,
    "keep_mask": attention.keep_mask,
    "repeat_heads": attention.repeat_heads,
}

PRIMITIVES: Mapping[str, Primitive] = MappingProxyType(
    _LAYOUT | _ELEMENTWISE | _REDUCTIONS | _CONTRACTIONS | _COMPOSITES | _HELPERS
)

__all__ = [
    "DTYPES",
    "FLOATS",
    "NARROW_FLOATS",
    "PRIMITIVES",
    "Array",
    "Primitive",
    "Results",
    "dtype_name",
    "dtype_of",
    "is_float",
    "is_narrow",
    "itemsize",
]
