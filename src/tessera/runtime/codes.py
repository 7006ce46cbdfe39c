"""What can be wrong with a run."""

from __future__ import annotations

from tessera.diagnostics import declare

INPUT_NAMES = declare(
    "TSR-R030",
    "an input is missing or not one of the model's",
    "Every input of the model must be given by its name, except those with a default. "
    "The message lists the model's inputs.",
    "error",
)

INPUT_TYPE = declare(
    "TSR-R031",
    "an input has another element type",
    "Element types must match: nothing is rounded in silence. The one exception are "
    "integers of another width, which are converted when every value fits. Convert the "
    "array yourself, for example with `x.astype(numpy.float32)`.",
    "error",
)

INPUT_SHAPE = declare(
    "TSR-R032",
    "an input has another shape",
    "The number of axes and every size that the model fixes must match; a size shown "
    "as ? is free.",
    "error",
)

NO_EXECUTOR = declare(
    "TSR-R033",
    "this machine cannot run the target",
    "A program runs where its target has an executor: `cpu` and `apple_cpu` run on any "
    "host, `apple_gpu` needs a Mac with Metal. Nothing falls back in silence: to run a "
    "model elsewhere, compile it for apple_cpu.",
    "error",
)

STEP_FAILED = declare(
    "TSR-R034",
    "a step of the program failed",
    "The values given do not fit an op: an index out of range, sizes that do not "
    "broadcast, or no memory. The message names the step, its site and the complaint.",
    "error",
)

NO_NATIVE = declare(
    "TSR-R035",
    "a native kernel cannot be loaded",
    "A fused call brings its machine code as LLVM text, and LLVM could not read it or it "
    "lacks an entry: the artifact was written by another release, or changed. Compile "
    "the model again.",
    "error",
)
