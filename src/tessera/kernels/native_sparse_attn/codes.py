"""The codes of a spelled-out native sparse attention that is not raised."""

from __future__ import annotations

from tessera.diagnostics import declare

SHARED = declare(
    "TSR-K605",
    "native_sparse_attn: the branches do not share q, k and v",
    "The kernel reads one q, and one k and v for the selected and the window branch; only the "
    "compressed keys and values are operands of their own. Branches with their own "
    "projections, or rotated apart, run op by op.",
)
MASKS = declare(
    "TSR-K606",
    "native_sparse_attn: a branch sees other keys than the kernel's",
    "A compressed block is seen from its last token on, a row that sees none gives zeros, and "
    "a window holds the last tokens up to the query. The message names the branch.",
)
SELECTION = declare(
    "TSR-K607",
    "native_sparse_attn: blocks are selected by another rule",
    "Selected are the top_k best-scored blocks at or before the query, forced ones first, "
    "equal scores by the lower index, and of them the tokens up to the query.",
)
PROOF = declare(
    "TSR-K608",
    "native_sparse_attn: the kernel would give other numbers",
    "The three branches were found, and on sample inputs the kernel and the program differ. "
    "Something between them is not part of the kernel: a bias, a cap, another scale.",
)
UNPROVEN = declare(
    "TSR-K609",
    "native_sparse_attn: the program cannot be compared with the kernel",
    "What the kernel assumes is proven by running both on samples. That needs sizes known "
    "when compiling, masks that follow from constants and q, k, v alone, and moderate sizes.",
)
UNGATED = declare(
    "TSR-K610",
    "native_sparse_attn: a branch has no gate",
    "The kernel adds three branches, each times its own gate. Multiply the branch by one.",
)
