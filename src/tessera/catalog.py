"""The one place that names kernels, passes, pipelines and targets."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.passes import ModulePass

from tessera.fusion.kernel import FusedKernel
from tessera.fusion.raise_composite import raising_pass
from tessera.fusion.raise_compositions import compositions_pass
from tessera.graph.context import TesseraContext, Watcher, graph_context
from tessera.graph.normalise import NORMALISE, NormaliseGraph
from tessera.graph.raising import RAISE
from tessera.kernels import (
    matmul_gelu,
    matmul_rmsnorm,
    matmul_softmax,
    matmul_softmax_matmul,
    mla_decode,
    native_sparse_attn,
    swiglu,
)
from tessera.target.device import TARGETS
from tessera.target.dialect import TesseraApple
from tessera.target.fuse import fusion_pass
from tessera.target.lower import lowering_pass

KERNELS: tuple[FusedKernel, ...] = (
    matmul_softmax_matmul.KERNEL,
    matmul_rmsnorm.KERNEL,
    matmul_gelu.KERNEL,
    matmul_softmax.KERNEL,
    swiglu.KERNEL,
    mla_decode.KERNEL,
    native_sparse_attn.KERNEL,
)
ATTENTION = matmul_softmax_matmul.KERNEL
KERNEL_BY_NAME: Mapping[str, FusedKernel] = {kernel.name: kernel for kernel in KERNELS}
CHAINS = frozenset(kernel.name for kernel in KERNELS if kernel.is_chain)

RAISE_COMPOSITES: tuple[type[ModulePass], ...] = tuple(
    raising_pass(kernel, ATTENTION, f"tessera-{name}-fusion")
    for name, kernel in (
        ("mla", mla_decode.KERNEL),
        ("native-sparse-attn", native_sparse_attn.KERNEL),
        ("swiglu", swiglu.KERNEL),
    )
)
APPLE = tuple(target for target in TARGETS.values() if target.consumes_intents)
CONSUME: Mapping[str, tuple[type[ModulePass], ...]] = {
    target.name: tuple(fusion_pass(kernel, KERNELS, target) for kernel in KERNELS)
    for target in APPLE
}
LOWER: Mapping[str, type[ModulePass]] = {
    target.name: lowering_pass(target, CHAINS) for target in APPLE
}


RaiseCompositions = compositions_pass((*RAISE, *RAISE_COMPOSITES, NormaliseGraph))

_ALL: tuple[type[ModulePass], ...] = (
    NormaliseGraph,
    *NORMALISE,
    RaiseCompositions,
    *RAISE,
    *RAISE_COMPOSITES,
    *(consume for passes in CONSUME.values() for consume in passes),
    *LOWER.values(),
)
PASSES: Mapping[str, type[ModulePass]] = {kind.name: kind for kind in _ALL}
PIPELINES: Mapping[str, tuple[str, ...]] = {
    f"tessera-lower-to-{target.name}-runtime": (
        NormaliseGraph.name,
        RaiseCompositions.name,
        *(consume.name for consume in CONSUME[target.name]),
        LOWER[target.name].name,
    )
    for target in APPLE
}


def new_context(watch: Watcher | None = None) -> TesseraContext:
    """A context that knows every dialect of Tessera; `watch` is told of each pass."""
    context = graph_context(TesseraApple)
    context.watch = watch
    return context
