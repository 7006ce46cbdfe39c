"""What can be wrong with an artifact folder."""

from __future__ import annotations

from tessera.diagnostics import declare

NO_ARTIFACT = declare(
    "TSR-R001",
    "the folder is not a Tessera artifact",
    "An artifact is a folder written by `tessera compile`; it holds manifest.json, "
    "program.json, weights.safetensors, graph.mlir, target.mlir and decisions.json. "
    "Check the path, or compile the model into this folder.",
    "error",
)

DAMAGED = declare(
    "TSR-R002",
    "a file of the artifact is missing or was changed",
    "Every file is listed in manifest.json with its size and sha256. The file named is "
    "absent, cut, or differs. Copy the artifact again, or compile the model again.",
    "error",
)

OTHER_FORMAT = declare(
    "TSR-R003",
    "the artifact has a format that this release does not read",
    "The manifest names the format and the release that wrote it. Use that release, or "
    "compile the model again with this one.",
    "error",
)

UNSAFE_PATH = declare(
    "TSR-R004",
    "the artifact names a file outside its folder",
    "File names in a manifest are relative, stay inside the folder, and no link may "
    "lead out of it. Do not use an artifact that breaks this; get it from its source.",
    "error",
)

MALFORMED = declare(
    "TSR-R005",
    "the artifact's program is malformed",
    "program.json or manifest.json has a part with the wrong form, or a step uses a "
    "name that nothing before it gives. Compile the model again.",
    "error",
)

UNKNOWN_OP = declare(
    "TSR-R006",
    "the artifact uses an op that this release does not have",
    "Each step names a primitive op or a fused call with an expansion into them. A "
    "newer release may have written the artifact: upgrade, or compile the model again.",
    "error",
)

BAD_WEIGHTS = declare(
    "TSR-R007",
    "the artifact's weights are malformed",
    "weights.safetensors must be a safetensors file with every tensor that program.json "
    "names. Copy the artifact again, or compile the model again.",
    "error",
)

OCCUPIED = declare(
    "TSR-R008",
    "the folder holds something else",
    "Tessera replaces an artifact it wrote, or fills an empty folder; it never deletes "
    "anything else. Choose another folder, or empty this one yourself.",
    "error",
)

CANNOT_WRITE = declare(
    "TSR-R009",
    "a file or folder cannot be written",
    "The file system refused. What was at the path before is still there. Check space "
    "and permissions, or choose another folder.",
    "error",
)

AGAIN = "copy the artifact again, or compile the model again"
