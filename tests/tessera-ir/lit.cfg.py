"""How lit runs the .mlir tests: `.venv/bin/lit tests/tessera-ir`.

A test's first line is `// RUN: tessera-opt %s --some-pass | filecheck %s`; both tools are
those of the environment that runs lit.
"""

import os
import sys

import lit.formats

config = globals()["config"]  # lit defines it

config.name = "tessera-ir"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.test_source_root, "..", "..", "build", "lit")
config.environment["PATH"] = os.pathsep.join(
    [os.path.dirname(sys.executable), config.environment["PATH"]]
)
for kept in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    if kept in os.environ:
        config.environment[kept] = os.environ[kept]
