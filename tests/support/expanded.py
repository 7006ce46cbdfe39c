"""ONNX's function bodies, as its node tests expand them: what is recognised in them."""

from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tessera.decisions import Document
from tessera.driver import compile_graph_module
from tessera.frontend.onnx import import_proto
from tessera.runtime import execute
from tests.support.graphs import names
from tests.support.node_cases import agree, array, every_case, named

TARGET = "apple_cpu"
KERNEL = "matmul_softmax_matmul"
BODIES = {
    "Attention": ("test_attention_", "attention"),
    "RMSNormalization": ("test_rms_normalization_", "rmsnorm"),
    "LayerNormalization": ("test_layer_normalization_", "layernorm"),
    "Gelu": ("test_gelu_", "gelu"),
    "Softmax": ("test_softmax_", "softmax"),
    "RotaryEmbedding": ("test_rotary_embedding_", "rope"),
}
"""How the cases of an op are called, and what it is in the graph."""

RECOGNISED = {
    "Attention": {"fused": 75, "TSR-F102": 17, "TSR-F106": 1},
    "RMSNormalization": {"recognised": 19},
    "LayerNormalization": {"recognised": 38},
    "Gelu": {"recognised": 4},
    "Softmax": {"recognised": 14},
    "RotaryEmbedding": {"recognised": 8},
}
"""What became of the cases when last counted: none is missed, and no fewer are fused."""

WHY = {
    "TSR-F102": "the scores, or the weights, are a result as well",
    "TSR-F106": "softmax in f64, between casts of the graph's own",
}
"""Why the attentions that are refused are refused."""


@dataclass
class Bodies:
    """How the cases of one op came out; `wrong` says why by name."""

    counts: Counter[str] = field(default_factory=Counter[str])
    missed: list[str] = field(default_factory=list[str])
    wrong: dict[str, str] = field(default_factory=dict[str, str])


@cache
def bodies(op: str) -> Bodies:
    """Every expanded case of an op, compiled and run once."""
    prefix, wanted = BODIES[op]
    total = Bodies()
    for case in every_case():
        if case.name.startswith(prefix) and "_expanded" in case.name:
            _count(case, wanted, total)
    return total


def _count(case: Any, wanted: str, total: Bodies) -> None:
    compiled = compile_graph_module(import_proto(case.model, case.name), target=TARGET)
    how = (
        _attention(compiled.decisions)
        if wanted == "attention"
        else _composite(compiled.graph, wanted)
    )
    total.counts[how] += 1
    if how == "missed":
        total.missed.append(case.name)
    program = compiled.program()
    for inputs, outputs in case.data_sets:
        arrays = [array(value) for value in inputs]
        try:
            agree(case, execute(program, named(case.model, arrays)), outputs)
        except AssertionError as bad:
            total.wrong[case.name] = " ".join(str(bad).split())


def _attention(decisions: Document) -> str:
    """`fused`, the code that says why not, or `missed` where no such site is seen."""
    sites = [site for site in decisions.sites if site.kind == "attention"]
    if len(sites) != 1:
        return "missed"
    (site,) = sites
    if site.outcome == "fused":
        return "fused" if site.kernel == KERNEL else "missed"
    return site.code or "missed"


def _composite(graph: ModuleOp, wanted: str) -> str:
    """`recognised` where the op is there, once, and nothing is left of its body."""
    found = Counter(names(graph))
    spelled = {"exp", "erf", "tanh", "sqrt", "rsqrt", "pow"} & set(found)
    whole = found[wanted] == 1 and (wanted == "layernorm" or not spelled)
    return "recognised" if whole else "missed"
