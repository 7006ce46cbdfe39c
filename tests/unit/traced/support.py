"""Tracing and running a function by the meaning of its graph, without a target."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tessera.frontend.traced.pytree import unflatten
from tessera.frontend.traced.tracing import arguments, trace
from tessera.graph.evaluate import evaluate


def traced_module(function: Callable[..., Any], *args: Any, **kwargs: Any) -> ModuleOp:
    signature = inspect.signature(function)
    return trace(function, signature, arguments(signature, args, kwargs)).module


def traced(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What the traced graph computes, verified first."""
    signature = inspect.signature(function)
    call = arguments(signature, args, kwargs)
    made = trace(function, signature, call)
    made.module.verify()
    results = evaluate(made.module, call.feeds)
    return unflatten(made.results, [results[name] for name in made.names])


def normal(seed: int, *shape: int, dtype: Any = np.float32) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def op_names(module: ModuleOp) -> list[str]:
    found = [op.name for op in module.walk() if op.name.startswith("tessera.")]
    return [name.removeprefix("tessera.") for name in found]
