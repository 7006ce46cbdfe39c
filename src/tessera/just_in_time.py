"""`tessera.jit`: a Python function on NumPy arrays, compiled at its first call."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, fields, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

import numpy as np

from tessera.artifact import Program
from tessera.decisions import Document
from tessera.frontend.traced.pytree import unflatten
from tessera.frontend.traced.recording import active
from tessera.frontend.traced.tracing import Call, Trace, arguments, trace

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tessera.driver import Compiled

P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V")

DEFAULT_TARGET = "apple_cpu"
KEPT_SIGNATURES = 256


class Once(Generic[V]):
    """Values by key, each built once whoever asks; the oldest are dropped."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._lock = Lock()
        self._values: OrderedDict[Hashable, Future[V]] = OrderedDict()

    def get(self, key: Hashable, build: Callable[[], V]) -> V:
        """The value of a key, built now if need be; errors are not kept."""
        with self._lock:
            future = self._values.get(key)
            mine = future is None
            if future is None:
                future = self._values[key] = Future()
            self._values.move_to_end(key)
            while len(self._values) > self._limit:
                self._values.popitem(last=False)
        if mine:
            self._build(key, build, future)
        return future.result()

    def _build(self, key: Hashable, build: Callable[[], V], future: Future[V]) -> None:
        try:
            future.set_result(build())
        except BaseException as error:
            with self._lock:
                if self._values.get(key) is future:
                    del self._values[key]
            future.set_exception(error)


@dataclass(frozen=True)
class _Built:
    """One signature's program, and the containers its results go back into."""

    trace: Trace
    compiled: Compiled
    program: Program


class Audit(Document):
    """The decisions of one compilation; printed, the table of `tessera audit`."""

    @classmethod
    def of(cls, document: Document) -> Audit:
        """The same decisions."""
        return cls(**{f.name: getattr(document, f.name) for f in fields(document)})

    def __str__(self) -> str:
        from tessera.audit import render_text

        return render_text(self)

    __repr__ = __str__


class Jit(Generic[P, R]):
    """A function that is traced, compiled and run, once per signature of its arguments.

    The signature is what the program depends on: shapes and element types of arrays,
    values of everything else. Arrays may be nested in lists, tuples and dicts. Arrays
    the function closes over are constants of the program: do not change them in place.
    Arguments are never modified; `x *= 2` inside makes a new `x`.
    """

    __wrapped__: Callable[P, R]
    __name__: str

    def __init__(self, function: Callable[P, R], target: str) -> None:
        functools.update_wrapper(self, function)
        self.target = target
        self._signature = inspect.signature(function)
        self._built: Once[_Built] = Once(KEPT_SIGNATURES)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The results for these arrays; inside a traced function, its ops inlined."""
        if active() is not None:
            return self.__wrapped__(*args, **kwargs)
        from tessera.runtime import execute

        call = arguments(self._signature, args, kwargs)
        built = self._build(call)
        results = execute(built.program, call.feeds)
        arrays = [results[name] for name in built.trace.names]
        held = [*call.arrays, *built.program.weights.values()]
        return unflatten(built.trace.results, _owned(arrays, held))

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else _Method(self, instance)

    def __repr__(self) -> str:
        name = getattr(self.__wrapped__, "__qualname__", "function")
        return f"<tessera.jit of {name} for {self.target}>"

    def graph_ir(self, *args: P.args, **kwargs: P.kwargs) -> ModuleOp:
        """The Graph IR of a new trace: fresh, unstamped, yours to change."""
        return self._trace(arguments(self._signature, args, kwargs)).module

    def target_ir(self, *args: P.args, **kwargs: P.kwargs) -> ModuleOp:
        """What a new compilation lowers to: Target IR, or Graph IR on `cpu`."""
        call = arguments(self._signature, args, kwargs)
        return self._compile(self._trace(call)).module

    def compiled(self, *args: P.args, **kwargs: P.kwargs) -> Compiled:
        """The compilation that a call with these arguments runs."""
        return self._build(arguments(self._signature, args, kwargs)).compiled

    def audit(self, *args: P.args, **kwargs: P.kwargs) -> Audit:
        """What was fused for these arguments, into which kernel, why the rest not.

        The placement of a site is what a call runs it on, on this machine.
        """
        from tessera.runtime import placements

        built = self._build(arguments(self._signature, args, kwargs))
        ran = placements(built.program)
        document = built.compiled.decisions
        sites = [
            replace(s, placement=ran.get(s.id, s.placement)) for s in document.sites
        ]
        return Audit.of(replace(document, sites=tuple(sites)))

    def _trace(self, call: Call) -> Trace:
        return trace(self.__wrapped__, self._signature, call)

    def _compile(self, made: Trace) -> Compiled:
        from tessera.driver import compile_graph_module

        name = getattr(self.__wrapped__, "__qualname__", "function")
        model = name.replace("<locals>.", "")
        return compile_graph_module(made.module, target=self.target, model=model)

    def _build(self, call: Call) -> _Built:
        def build() -> _Built:
            made = self._trace(call)
            compiled = self._compile(made)
            return _Built(made, compiled, compiled.program())

        return self._built.get(call.key, build)


class _Method:
    """A `Jit` in a class, bound to an instance, which is a static argument."""

    def __init__(self, jitted: Jit[Any, Any], instance: object) -> None:
        self._jitted, self._instance = jitted, instance
        functools.update_wrapper(self, jitted.__wrapped__)
        self.__wrapped__ = jitted.__wrapped__.__get__(instance)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._jitted(self._instance, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._jitted, name)
        return functools.partial(found, self._instance) if callable(found) else found


def _owned(arrays: list[np.ndarray], held: list[np.ndarray]) -> list[np.ndarray]:
    """The arrays, copied where the caller would share memory with something else."""
    taken = {id(array) for array in held}
    owned: list[np.ndarray] = []
    for array in arrays:
        alone = array.flags.owndata and array.flags.writeable
        if not alone or id(array) in taken:
            array = array.copy()
        taken.add(id(array))
        owned.append(array)
    return owned


@overload
def jit(function: Callable[P, R], *, target: str = ...) -> Jit[P, R]: ...


@overload
def jit(*, target: str = ...) -> Callable[[Callable[P, R]], Jit[P, R]]: ...


def jit(
    function: Callable[..., Any] | None = None, *, target: str = DEFAULT_TARGET
) -> Any:
    """Compile a function of NumPy arrays: `@jit`, `@jit(target="apple_gpu")`, `jit(f)`.

    Without a target it is `apple_cpu`, which runs on every host. The function is traced
    at its first call with arguments of a signature; see `Jit` for what a signature is.
    """
    if function is None:
        return functools.partial(Jit, target=target)
    return Jit(function, target)
