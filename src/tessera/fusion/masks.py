"""Masks whose values are known, read for what they say: nothing, causal, a window.

A mask that only keeps (0 or true) and removes (-inf, false, or so low a number that no
score comes back from it) is compared with the rules that a kernel can apply by itself.
Any other mask stays an operand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tessera.fusion.draft import Draft, owner
from tessera.fusion.kernel import FusedKernel
from tessera.graph.ops.layout import ConstOp
from tessera.graph.types import DYN, value_shape

LOW = -1e30
LARGEST = 1 << 24

Keep = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Rule:
    """A causal alignment and a window, as a kernel takes them."""

    causal: str = "none"
    window: int | None = None


def settle_mask(kernel: FusedKernel, draft: Draft) -> None:
    """Replace a mask of known values by the rule it spells, where there is one."""
    mask = draft.operands.get("mask")
    maker = owner(mask.value) if mask is not None else None
    if "causal" not in kernel.options or mask is None or mask.edits:
        return
    if not isinstance(maker, ConstOp) or np.prod(value_shape(mask.value)) > LARGEST:
        return
    keep = kept(maker.array, draft.options.get("mask_fill"))
    queries = value_shape(draft.operands["q"].value)[-2]
    rule = None if keep is None or queries == DYN else read_rule(keep, queries)
    if rule is None:
        return
    del draft.operands["mask"]
    draft.options.pop("mask_fill", None)
    if rule != Rule():
        draft.options.update(causal=rule.causal, window=rule.window)


def kept(mask: np.ndarray, fill: float | None) -> Keep | None:
    """Which scores a mask keeps; None where it does anything else to them."""
    if mask.dtype == np.bool_:
        return mask if fill is None or fill <= LOW else None
    wide = mask.astype(np.float64)
    keep = wide == 0.0
    return keep if bool((keep | (wide <= LOW)).all()) else None


def read_rule(keep: Keep, queries: int) -> Rule | None:
    """The rule that keeps just these scores; None where no rule does."""
    if keep.all():
        return Rule()
    if keep.ndim < 2 or keep.shape[-2] != queries or 0 in keep.shape:
        return None
    pairs = keep.reshape(-1, *keep.shape[-2:])
    if not (pairs == pairs[0]).all() or not pairs[0].any(axis=-1).all():
        return None
    keys = keep.shape[-1]
    for causal, shift in (("top_left", 0), ("bottom_right", keys - queries)):
        window = _window(pairs[0], shift)
        if np.array_equal(pairs[0], _pairs(queries, keys, shift, window)):
            return Rule(causal, window)
    return None


def _window(keep: Keep, shift: int) -> int | None:
    """The window that the last row's first key tells; None where it keeps them all."""
    last, first = keep.shape[0] - 1, int(keep[-1].argmax())
    return last + shift - first + 1 if first > 0 else None


def _pairs(queries: int, keys: int, shift: int, window: int | None) -> Keep:
    i = np.arange(queries)[:, None] + shift
    j = np.arange(keys)[None, :]
    causal = j <= i
    return causal if window is None else causal & (j > i - window)
