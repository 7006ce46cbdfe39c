"""One compiler in a process of its own, asked for one compilation after the other.

Each line read names a number of layers; each line written is the CPU time in seconds that
compiling that model took, of this process and of the compilers it started.
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable

Compile = Callable[[], object]


def _tessera(layers: int, from_file: bool) -> Compile:
    import onnx
    from xdsl.dialects.builtin import ModuleOp

    from benchmarks.llama import llama_onnx
    from tessera.driver import compile_graph_module
    from tessera.frontend.onnx import import_proto

    data = llama_onnx(layers).SerializeToString()

    def read() -> ModuleOp:
        return import_proto(onnx.load_from_string(data), "llama.onnx")

    if from_file:
        return lambda: compile_graph_module(read())
    module = read()
    return lambda: compile_graph_module(module)


def _onnxruntime(layers: int) -> Compile:
    import onnxruntime as ort

    from benchmarks.llama import llama_onnx

    data = llama_onnx(layers).SerializeToString()
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    cpu = ["CPUExecutionProvider"]
    return lambda: ort.InferenceSession(data, options, providers=cpu)


def _inductor(layers: int) -> Compile:
    os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    import torch

    from benchmarks.llama_torch import Llama
    from benchmarks.sizes import BATCH, TOKENS

    torch.set_num_threads(1)
    model, ids = Llama(layers), torch.zeros(BATCH, TOKENS, dtype=torch.int64)

    def compile_once() -> None:
        torch.compiler.reset()
        with torch.no_grad():
            torch.compile(model, fullgraph=True)(ids)

    return compile_once


def _jax(layers: int) -> Compile:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false"
    import numpy as np

    from benchmarks.llama_jax import jax, llama, weights
    from benchmarks.sizes import BATCH, TOKENS

    held, ids = weights(layers), np.zeros((BATCH, TOKENS), np.int32)

    def compile_once() -> None:
        jax.clear_caches()
        jax.jit(llama(layers)).lower(held, ids).compile()

    return compile_once


COMPILERS: dict[str, Callable[[int], Compile]] = {
    "tessera": lambda layers: _tessera(layers, from_file=False),
    "tessera, from ONNX": lambda layers: _tessera(layers, from_file=True),
    "onnxruntime": _onnxruntime,
    "inductor": _inductor,
    "jax": _jax,
}


def _cpu() -> float:
    used = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def main() -> None:
    """Answer requests until there are no more."""
    name = sys.argv[1]
    answers, sys.stdout = sys.stdout, sys.stderr  # what a compiler prints is no answer
    ready: dict[int, Compile] = {}
    for line in sys.stdin:
        layers = json.loads(line)
        if layers not in ready:
            ready[layers] = COMPILERS[name](layers)
        start = _cpu()
        ready[layers]()
        print(json.dumps(_cpu() - start), file=answers, flush=True)


if __name__ == "__main__":
    main()
