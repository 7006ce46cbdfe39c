"""Whether a module keeps the rules of its ops, and defines what it uses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from xdsl.dialects.builtin import StringAttr, UnregisteredOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from tessera.diagnostics import CODES, Code, Diagnostic, TesseraError, declare
from tessera.graph.dominance import Undominated, undominated
from tessera.graph.locations import location_of
from tessera.graph.operation import GraphOp
from tessera.graph.parser import lower_first

DOMINANCE = declare(
    "TSR-G022",
    "a value is used where it is not defined",
    "An op may use what earlier ops of its block, the blocks that lead to it, or the "
    "code around its region define. Move the definition before the use.",
    "error",
)
STRUCTURE = declare(
    "TSR-G023",
    "an op breaks a rule of its dialect",
    "The op's own verifier refuses it; the message repeats its complaint.",
    "error",
)
SIGNATURE = declare(
    "TSR-G024",
    "a function does not give what its type says",
    "The operands of `func.return` have the types that the function declares, and each "
    "argument and result has at most one dictionary of attributes.",
    "error",
)

_CODED = re.compile(r"\[(TSR-[A-Z]\d{3})\] (.*)", re.DOTALL)


def verify_module(module: Operation) -> None:
    """Raise TesseraError for the first broken rule: a value out of place, then an op.

    Linear in the size of the module.
    """
    for found in _errors(module):
        assert found.code is not None
        raise TesseraError(found.code, found.message, found.location)


def verify_all(module: Operation) -> list[Diagnostic]:
    """Every value used where it is not defined; if there is none, every broken op."""
    return list(_errors(module))


def _errors(module: Operation) -> Iterator[Diagnostic]:
    """Values out of place first: the verifiers of ops may rely on their order."""
    misplaced = undominated(module)
    if misplaced:
        yield from map(_misplaced, misplaced)
        return
    for op in module.walk():
        found = _broken(op)
        if found is not None:
            yield found


def _misplaced(use: Undominated) -> Diagnostic:
    owner = use.value.owner
    name = f"%{use.value.name_hint}" if use.value.name_hint else f"operand {use.index}"
    if isinstance(owner, Block):
        where = "an argument of a block that does not lead here"
    else:
        where = f"defined by '{_name(owner)}' at {location_of(owner)}"
    return _error(use.op, DOMINANCE, f"uses {name} where it is not defined: {where}")


def _broken(op: Operation) -> Diagnostic | None:
    """What an op's own rules say against it."""
    try:
        if isinstance(op, FuncOp):
            _verify_function(op)
        elif isinstance(op, ReturnOp):
            _verify_return(op)
        op.verify_()  # first, for `verify` would print the module around a complaint
        if not isinstance(op, GraphOp):
            _verify_blocks(op)
        if op.successors or (op.next_op is None and _needs_end(op)):
            op.verify(verify_nested_ops=False)
    except VerifyException as bad:
        coded = _CODED.match(str(bad))
        if coded and coded[1] in CODES:
            return _error(op, CODES[coded[1]], coded[2])
        return _error(op, STRUCTURE, _complaint(bad))
    except Exception as bad:  # a verifier that trips over what it did not foresee
        return _error(
            op, STRUCTURE, f"cannot be verified ({type(bad).__name__}: {bad})"
        )
    return None


def _needs_end(op: Operation) -> bool:
    """Whether the block of an op must end in one that says where to go on."""
    parent = op.parent_op()
    return parent is not None and not parent.has_trait(NoTerminator)


def _verify_function(function: FuncOp) -> None:
    """A body, and dictionaries of attributes one for each argument and result."""
    if function.is_declaration and function.sym_visibility != StringAttr("private"):
        raise VerifyException("has no body, wanted one unless it is private")
    type = function.function_type
    for attributes, values, what in (
        (function.arg_attrs, type.inputs, "arguments"),
        (function.res_attrs, type.outputs, "results"),
    ):
        if attributes is not None and len(attributes) != len(values):
            text = f"has {len(values)} {what} and attributes for {len(attributes)}"
            raise VerifyException(f"[{SIGNATURE.id}] {text}")


def _verify_return(op: ReturnOp) -> None:
    function = op.parent_op()
    if not isinstance(function, FuncOp):
        return
    wanted, found = function.function_type.outputs.data, op.operand_types
    if len(wanted) != len(found):
        text = f"returns {len(found)} values, its function {len(wanted)}"
        raise VerifyException(f"[{SIGNATURE.id}] {text}")
    for i, (a, b) in enumerate(zip(found, wanted, strict=True)):
        if a != b:
            text = f"returns {a} as result {i}, its function {b}"
            raise VerifyException(f"[{SIGNATURE.id}] {text}")


def _verify_blocks(op: Operation) -> None:
    """A block that is there must end, in an op that says where to go on."""
    if op.has_trait(NoTerminator):
        return
    for region in op.regions:
        if any(block.first_op is None for block in region.blocks):
            raise VerifyException("has an empty block, wanted one with a terminator")


def _complaint(bad: VerifyException) -> str:
    """What xDSL says against an op, on one line and in lower case."""
    text = " ".join(str(bad).split()) or type(bad).__name__
    return lower_first(text)


def _name(op: Operation) -> str:
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name


def _error(op: Operation, code: Code, text: str) -> Diagnostic:
    message = f"'{_name(op)}' op {text}"
    return Diagnostic("error", location_of(op), message, code)
