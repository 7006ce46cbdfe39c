"""The codes of fusion itself; what a single kernel demands is declared in its own file."""

from __future__ import annotations

from tessera.diagnostics import declare

PRODUCER = declare(
    "TSR-F101",
    "the producer is another operation",
    "The chain needs one operation here and the program has another, so this is not the "
    "computation the kernel does. If the stamp is old, compile from the model again.",
)
USES = declare(
    "TSR-F102",
    "an intermediate value has another reader",
    "A fused kernel never writes its intermediate values. Give the other reader its own "
    "computation, or drop it, to let the chain fuse.",
)
SIDE = declare(
    "TSR-F103",
    "the chain continues on the other operand",
    "The value that carries the chain is the right operand where the kernel reads it as the "
    "left one (or the other way round). Swap the product, or transpose it.",
)
AXIS = declare(
    "TSR-F104",
    "the operation works along another axis",
    "The kernel reduces rows: the last axis. Move the axis last before the operation.",
)
TRANSPOSED = declare(
    "TSR-F105",
    "an operand is transposed where the kernel cannot read it so",
    "Only the operands the kernel's page names may be transposed.",
)
DTYPE = declare(
    "TSR-F106",
    "element types differ inside the chain",
    "A fused kernel reads and writes one element type (f32, f16 or bf16). Cast the operands "
    "before the chain, or keep the whole chain in one type.",
)
RANK = declare(
    "TSR-F107",
    "an operand has too few axes",
    "The kernel multiplies matrices: operands need at least two axes.",
)
VIEW = declare(
    "TSR-F108",
    "a reshape inside the chain changes its rows",
    "Inside a chain a reshape may regroup leading axes; the axes the kernel works on must "
    "stay as they are. Move the reshape out of the chain.",
)
UNKNOWN_KERNEL = declare(
    "TSR-F109",
    "the intent names no kernel that can be intended",
    "`tessera.fusion.intent` holds the name of a chain kernel; `tessera kernels` lists them.",
)
OPTION = declare(
    "TSR-F110",
    "an attribute asks for something the kernel cannot honour",
    "Every attribute that changes the result is honoured by the kernel or refused; the "
    "message names the attribute and its value.",
)
MASK = declare(
    "TSR-F111",
    "a mask does not fit the scores",
    "A mask broadcasts to the scores as in NumPy and must not add axes to them; one additive "
    "and one boolean mask cannot be combined inside a kernel.",
)
TERMINAL = declare(
    "TSR-F112",
    "the stamped operation does not end such a chain",
    "The intent stands on the chain's last operation; this operation is never the last of "
    "the intended kernel's chain.",
)
UNCONSUMED = declare(
    "TSR-F113",
    "no pass consumed the intent",
    "The pipeline has no pass for the intended kernel before the final lowering. Add the "
    "kernel's `…-fusion-to-<target>` pass.",
)
STAMPED_INSIDE = declare(
    "TSR-F114",
    "an operation inside the chain is intended for another kernel",
    "An intent decides first: a chain never swallows an operation that another intent names.",
)
ORDER = declare(
    "TSR-F115",
    "a value is read before the fused call could give it",
    "The call would have to stand before one of its operands is known.",
)
OPERAND_SHAPE = declare(
    "TSR-F116",
    "an operand's shape does not fit the kernel",
    "A bias has one value a column; a residual has the shape of the product; the message "
    "names the shape found.",
)
NO_KERNEL = declare(
    "TSR-F201",
    "there is no kernel for this yet",
    "The pattern is recognised and runs unfused; no fused kernel exists for it so far.",
)
OWNED = declare(
    "TSR-F202",
    "another fused site owns the matmul",
    "The matmul that feeds this operation is already part of another fused call.",
)
