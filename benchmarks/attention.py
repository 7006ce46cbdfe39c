"""Attention and matmul→gelu against torch, ONNX Runtime and NumPy: one thread, ratios.

Candidates take turns in one process on one pinned core, and CPU time is counted.  A row
is the median of the rounds' ratios peer / ours with its quartiles: above 1, ours is
faster.  `python -m benchmarks.attention [--rounds 15] [--only attention]`
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import ml_dtypes
import numpy as np
import torch
import torch.nn.functional as F

import tessera
from tessera import ops

Run = Callable[[], Any]
SECONDS = 0.002  # a sample repeats its call until it takes about this long


@dataclass
class Case:
    """One computation: ours, and what else computes it."""

    name: str
    ours: Run
    peers: dict[str, Run] = field(default_factory=dict[str, Run])


def pin() -> None:
    """One thread on one core, where the system lets us choose it."""
    torch.set_num_threads(1)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def repeats(run: Run) -> int:
    """How many calls make a sample."""
    start = time.thread_time()
    run()
    return max(1, int(SECONDS / max(time.thread_time() - start, 1e-7)))


def sample(run: Run, count: int) -> float:
    """CPU seconds of one call."""
    start = time.thread_time()
    for _ in range(count):
        run()
    return (time.thread_time() - start) / count


def compare(case: Case, rounds: int) -> Iterator[str]:
    """A line per peer; our own time first."""
    runs = {"ours": case.ours, **case.peers}
    for run in runs.values():
        run()
    counts = {name: repeats(run) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            times[name].append(sample(run, counts[name]))
    own = times.pop("ours")
    yield f"{case.name}: {statistics.median(own) * 1e6:,.0f} µs"
    for name, found in times.items():
        ratios = [peer / ours for peer, ours in zip(found, own, strict=True)]
        low, middle, high = statistics.quantiles(ratios, n=4)
        yield f"    {name:<10} {middle:5.2f}  [{low:.2f} … {high:.2f}]"


def random(shape: tuple[int, ...], seed: int) -> np.ndarray:
    """Normal values."""
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def eager(q: Any, k: Any, v: Any, causal: bool) -> Any:
    """Attention spelled out, as torch runs it op by op."""
    shape = q.shape
    q = q.reshape(*k.shape[:-2], -1, shape[-1])  # heads that share keys are more rows
    s = (q @ k.mT) * q.shape[-1] ** -0.5
    if causal:
        keep = torch.ones(s.shape[-2:], dtype=torch.bool).tril()
        s = s.masked_fill(~keep, float("-inf"))
    return (s.softmax(-1) @ v).reshape(shape)


def in_numpy(q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool) -> np.ndarray:
    """Attention spelled out in NumPy."""
    s = (q @ k.swapaxes(-1, -2)) * np.float32(q.shape[-1] ** -0.5)
    if causal:
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, np.float32(-np.inf))
    s = np.exp(s - s.max(-1, keepdims=True))
    return (s / s.sum(-1, keepdims=True)) @ v


def native(function: Callable[..., Any], *arrays: np.ndarray) -> Run:
    """Our compiled function as a runtime calls it, without the tracer's checks."""
    from tessera.runtime.native import launcher

    program = tessera.jit(function).compiled(*arrays).program()
    calls = [step.call for step in program.steps if step.call is not None]
    (code,) = [call.native for call in calls if call.native is not None]
    run = launcher(code, program.code[code.code])
    return lambda: run(*arrays)


def attention(
    name: str, lead: tuple[int, int, int], m: int, n: int, d: int, causal: bool
) -> Case:
    """`lead` is batch, heads, key-value heads."""
    batch, heads, shared = lead
    q, k, v = (
        random((batch, h, length, d), seed)
        for seed, (h, length) in enumerate(((heads, m), (shared, n), (shared, n)))
    )
    rule = "top_left" if causal else "none"
    ours = native(lambda q, k, v: ops.flash_attn(q, k, v, causal=rule), q, k, v)
    tq, tk, tv = (torch.from_numpy(x) for x in (q, k, v))
    gqa = heads != shared
    peers: dict[str, Run] = {
        "eager": lambda: eager(tq, tk, tv, causal),
        "SDPA": lambda: F.scaled_dot_product_attention(
            tq, tk, tv, is_causal=causal, enable_gqa=gqa
        ),
    }
    if not gqa:
        peers["numpy"] = lambda: in_numpy(q, k, v, causal)
        peers["ort"] = by_onnx(
            {"q": q, "k": k, "v": v},
            ("Attention", "q k v", "y", {"is_causal": int(causal)}),
        )
    return Case(name, ours, peers)


def half_attention(name: str, heads: int, m: int, d: int) -> Case:
    """bf16."""
    arrays = [random((1, heads, m, d), seed) for seed in range(3)]
    q, k, v = (x.astype(ml_dtypes.bfloat16) for x in arrays)
    ours = native(lambda q, k, v: ops.flash_attn(q, k, v), q, k, v)
    tq, tk, tv = (torch.from_numpy(x).bfloat16() for x in arrays)
    return Case(
        name,
        ours,
        {
            "eager": lambda: eager(tq, tk, tv, False),
            "SDPA": lambda: F.scaled_dot_product_attention(tq, tk, tv),
        },
    )


def by_onnx(feeds: dict[str, np.ndarray], *nodes: tuple[Any, ...]) -> Run:
    """ONNX Runtime: a node is its op, inputs, output `y` or another, and attributes."""
    import onnxruntime
    from onnx import TensorProto, helper

    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape)
        for name, array in feeds.items()
    ]
    made = [
        helper.make_node(op, names.split(), [out], **attributes)
        for op, names, out, attributes in nodes
    ]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(made, "g", values, [out])
    opsets = [helper.make_opsetid("", 23)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=11)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    return lambda: session.run(None, feeds)


def gelu(name: str, m: int, k: int, n: int) -> Case:
    """`gelu(x w + b)`, the exact form."""
    x, w, b = (
        random((m, k), 0),
        random((k, n), 1) / np.float32(k) ** 0.5,
        random((n,), 2),
    )
    ours = native(lambda x, w, b: ops.gelu(x @ w + b), x, w, b)
    tx, tw, tb = (torch.from_numpy(a) for a in (x, w, b))
    peers: dict[str, Run] = {
        "eager": lambda: F.gelu(torch.addmm(tb, tx, tw)),
        "ort": by_onnx(
            {"x": x, "w": w, "b": b},
            ("MatMul", "x w", "h", {}),
            ("Add", "h b", "i", {}),
            ("Gelu", "i", "y", {}),
        ),
    }
    return Case(name, ours, peers)


CASES: dict[str, Callable[[], Case]] = {
    "attention 512/64": lambda: attention("", (1, 12, 12), 512, 512, 64, False),
    "attention 512/64 causal": lambda: attention("", (1, 12, 12), 512, 512, 64, True),
    "attention 2048/128": lambda: attention("", (1, 8, 8), 2048, 2048, 128, False),
    "attention tiny 16×32×8": lambda: attention("", (1, 8, 8), 16, 32, 8, False),
    "attention decode 32/8×4096": lambda: attention(
        "", (1, 32, 8), 1, 4096, 128, False
    ),
    "attention bf16 512/64": lambda: half_attention("", 12, 512, 64),
    "gelu 512×768×3072": lambda: gelu("", 512, 768, 3072),
    "gelu 2048×768×3072": lambda: gelu("", 2048, 768, 3072),
    "gelu 1×768×3072": lambda: gelu("", 1, 768, 3072),
}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    pin()
    for name, build in CASES.items():
        if given.only in name:
            case = build()
            case.name = name
            sys.stdout.write("\n".join(compare(case, given.rounds)) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
