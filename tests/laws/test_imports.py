"""What importing the package may and may not need."""

import json
import subprocess
import sys

import pytest

# Imports every module below the given ones, with some packages made absent, and prints
# the modules that failed, and the named packages that got loaded.
PROBE = """
import importlib, json, pkgutil, sys

roots, absent, watched = json.loads(sys.argv[1])

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
failed = {}
for root in roots:
    found = importlib.import_module(root)
    below = pkgutil.walk_packages(getattr(found, "__path__", []), root + ".")
    for module in below:
        if module.name.endswith("__main__"):
            continue
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            failed[module.name] = str(error)
print(json.dumps([failed, sorted(set(watched) & set(sys.modules))]))
"""

# The two rooms and the contracts that a machine without the compiler gets.
DEPLOYED = ("audit", "artifact", "decisions", "diagnostics", "reference", "runtime")
EXTRAS = ("torch", "onnx", "mlx", "llvmlite", "onnxruntime", "transformers")


def probe(
    roots: list[str], absent: tuple[str, ...] = (), watched: tuple[str, ...] = ()
) -> tuple[dict[str, str], list[str]]:
    arguments = json.dumps([roots, absent, watched])
    run = subprocess.run(
        [sys.executable, "-c", PROBE, arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    failed, loaded = json.loads(run.stdout)
    return failed, loaded


def test_every_module_imports_without_the_extras() -> None:
    failed, _ = probe(["tessera"], absent=EXTRAS)
    assert not failed


def test_importing_the_package_loads_nothing() -> None:
    run = "import sys, tessera; print(*sorted(sys.modules))"
    out = subprocess.check_output([sys.executable, "-c", run], text=True)
    loaded = [name for name in out.split() if name.startswith(("tessera.", "xdsl"))]
    assert not loaded


@pytest.mark.parametrize("name", DEPLOYED)
def test_what_is_deployed_runs_without_the_compiler(name: str) -> None:
    failed, loaded = probe([f"tessera.{name}"], absent=("xdsl",), watched=("xdsl",))
    assert not failed
    assert not loaded
