"""What can be wrong with a command's arguments and files."""

from __future__ import annotations

from tessera.diagnostics import declare

NO_MODEL = declare(
    "TSR-R060",
    "the model cannot be opened",
    "MODEL is an .onnx file, an .mlir file, or a folder written by `tessera compile`.",
    "error",
)

OTHER_TARGET = declare(
    "TSR-R061",
    "the artifact was compiled for another target",
    "An artifact runs on the target it was compiled for. Leave --target out, or "
    "compile the model again for the target you want.",
    "error",
)

BAD_ARRAYS = declare(
    "TSR-R062",
    "the file of input arrays cannot be read",
    "--inputs takes an .npz file as `numpy.savez` writes it, without pickled objects; "
    "its keys are the model's input names.",
    "error",
)

NO_CODE = declare(
    "TSR-R063",
    "there is no such diagnostic code",
    "Codes look like TSR-F101. `tessera explain` without a code lists them all.",
    "error",
)

NO_WEIGHTS = declare(
    "TSR-R064",
    "the artifact's graph cannot be compiled again",
    "--verify compiles the graph in the artifact for the reference target, and so needs "
    "every weight the graph names. Verify the model it was compiled from instead.",
    "error",
)

NO_SITE = declare(
    "TSR-R066",
    "the model has no such site, or several",
    "SITE is an id, the end of one, or a kind and a number such as attention#0: the first "
    "attention of the program. `tessera why MODEL` lists the sites.",
    "error",
)

TOO_LITTLE_MEMORY = declare(
    "TSR-R065",
    "there is not enough memory",
    "The model, its values or its results do not fit into this machine's memory.",
    "error",
)
