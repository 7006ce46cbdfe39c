"""Per-op lowering of unfused ops: where each runs.  One row an op.

`library` is the platform's BLAS or convolution, `loop` an elementwise or row-wise loop
(the NumPy reference until native code exists for it).
"""

from __future__ import annotations

ROUTES: dict[str, str] = {
    **dict.fromkeys(("matmul", "conv", "grouped_matmul"), "library"),
    **dict.fromkeys(
        (
            *("iota", "fill", "cast", "reshape", "broadcast", "transpose", "slice"),
            *("concat", "pad", "gather", "gather_nd", "gather_elements", "scatter"),
            *("scatter_nd", "shape", "select", "cmp", "isnan"),
        ),
        "loop",
    ),
    **dict.fromkeys(
        (
            *(
                "neg",
                "abs",
                "sign",
                "exp",
                "log",
                "sqrt",
                "rsqrt",
                "tanh",
                "erf",
                "sin",
            ),
            *("cos", "sigmoid", "silu", "softplus", "gelu", "floor", "not"),
            *(
                "add",
                "sub",
                "mul",
                "div",
                "pow",
                "max",
                "min",
                "mod",
                "and",
                "or",
                "xor",
            ),
            *("silu_mul", "glu", "rope"),
        ),
        "loop",
    ),
    **dict.fromkeys(
        (
            *("reduce_sum", "reduce_mean", "reduce_max", "reduce_any", "argmax"),
            *("cumsum", "topk", "softmax", "layernorm", "rmsnorm"),
        ),
        "loop",
    ),
    **dict.fromkeys(
        (
            *(
                "flash_attn",
                "swiglu_fused",
                "masked_matmul",
                "keep_mask",
                "repeat_heads",
            ),
            *("latent_kv_compress", "latent_kv_expand_k", "latent_kv_expand_v"),
            *("mla_decode_fused", "mla_cached_fused", "compress_blocks"),
            *("attn_compressed_blocks", "attn_sliding_window", "attn_top_k_blocks"),
            *("nsa_block_scores", "native_sparse_attn_fused"),
        ),
        "loop",
    ),
}
