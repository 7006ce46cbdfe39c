"""The one module that talks to llvmlite, which has no types of its own.

A text becomes an object for this CPU: registers instead of variables (SROA), then code.
Objects are kept on disk under everything they depend on: the text, the CPU and its
features, LLVM's and llvmlite's versions.
"""

from __future__ import annotations

import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, Protocol, cast

from tessera.diagnostics import TesseraError
from tessera.runtime.codes import NO_NATIVE
from tessera.runtime.native.cache import key_of, read, write

PLAN, RUN = "tessera_plan", "tessera_run"


class Binding(Protocol):
    """What is used of `llvmlite.binding`."""

    ObjectFileRef: Any
    Target: Any

    def initialize_native_target(self) -> None: ...
    def initialize_native_asmprinter(self) -> None: ...
    def get_process_triple(self) -> str: ...
    def get_host_cpu_name(self) -> str: ...
    def get_host_cpu_features(self) -> Any: ...
    def parse_assembly(self, text: str) -> Any: ...
    def create_pipeline_tuning_options(self, speed_level: int) -> Any: ...
    def create_pass_builder(self, machine: Any, options: Any) -> Any: ...
    def create_new_function_pass_manager(self) -> Any: ...
    def create_mcjit_compiler(self, module: Any, machine: Any) -> Any: ...


@dataclass(frozen=True)
class Machine:
    """LLVM for this CPU, and the name of all that its objects depend on."""

    binding: Binding
    triple: str
    cpu: str
    features: str
    versions: str

    def target(self) -> Any:
        """A code generator; one each use, as they hold state."""
        made = self.binding.Target.from_triple(self.triple)
        return made.create_target_machine(
            cpu=self.cpu, features=self.features, opt=2, jit=True
        )


@dataclass(frozen=True)
class Entries:
    """A loaded text: the addresses of its entries, and the engine that owns them."""

    plan: int
    run: int
    engine: Any


_LOCK = threading.RLock()


@cache
def machine() -> Machine:
    """This CPU."""
    untyped: Any = import_module("llvmlite.binding")
    binding = cast("Binding", untyped)
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    version: str = cast("Any", import_module("llvmlite")).__version__
    llvm = ".".join(map(str, untyped.llvm_version_info))
    return Machine(
        binding,
        binding.get_process_triple(),
        binding.get_host_cpu_name(),
        binding.get_host_cpu_features().flatten(),
        f"llvmlite {version}, llvm {llvm}",
    )


def host_features() -> Mapping[str, bool]:
    """What this CPU has, in LLVM's names; `neon` on every 64-bit ARM."""
    found: dict[str, bool] = dict(machine().binding.get_host_cpu_features())
    if platform.machine() in ("arm64", "aarch64"):
        found["neon"] = True
    return found


def object_of(text: str) -> bytes:
    """The object of a text for this CPU, from the cache when it is there and whole."""
    here = machine()
    key = key_of(text, here.triple, here.cpu, here.features, here.versions)
    found = read(key)
    if found is None:
        found = _compile(text, here)
        write(key, found)
    return found


def _compile(text: str, here: Machine) -> bytes:
    binding, target = here.binding, here.target()
    try:
        module = binding.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise TesseraError(
            NO_NATIVE,
            f"LLVM cannot read a native kernel: {error}",
            remedy="compile the model again with this release",
        ) from None
    options = binding.create_pipeline_tuning_options(speed_level=2)
    builder = binding.create_pass_builder(target, options)
    passes = binding.create_new_function_pass_manager()
    passes.add_sroa_pass()
    for function in module.functions:
        if not function.is_declaration:
            passes.run(function, builder)
    return bytes(target.emit_object(module))


def load(text: str) -> Entries:
    """Compile, or take from the cache, and make callable."""
    with _LOCK:
        here = machine()
        data = object_of(text)
        engine = here.binding.create_mcjit_compiler(
            here.binding.parse_assembly(""), here.target()
        )
        engine.add_object_file(here.binding.ObjectFileRef.from_data(data))
        engine.finalize_object()
        plan, run = (engine.get_function_address(name) for name in (PLAN, RUN))
    if not plan or not run:
        text = f"a native kernel has no '{PLAN}' or no '{RUN}'"
        remedy = "compile the model again with this release"
        raise TesseraError(NO_NATIVE, text, remedy=remedy)
    return Entries(plan, run, engine)
