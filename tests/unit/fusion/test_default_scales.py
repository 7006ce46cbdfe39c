"""A default scale whose head size is only known at run time is left to run time."""

import numpy as np

from tessera.driver import compile_graph_module
from tessera.graph.builder import GraphBuilder
from tessera.graph.evaluate import evaluate
from tessera.graph.types import DYN
from tessera.runtime import execute


def test_latent_attention_of_an_unknown_head_size() -> None:
    b = GraphBuilder()
    shapes = {"x": (6, 8), "w_dkv": (8, 5), "w_uk": (5, DYN), "w_uv": (5, 3)}
    values = [b.input(name, "f32", s) for name, s in {**shapes, "q": (4, DYN)}.items()]
    module = b.module([("y", b.op("mla_decode_fused", *values))])
    rng = np.random.default_rng(0)
    sizes = {**shapes, "w_uk": (5, 16), "q": (4, 16)}
    inputs = {n: rng.standard_normal(s).astype("f4") for n, s in sizes.items()}
    wanted = evaluate(module, inputs)["y"]
    found = execute(compile_graph_module(module, "apple_cpu").program(), inputs)["y"]
    np.testing.assert_allclose(found, wanted, atol=1e-5)
