"""Each op of the vocabulary, damaged in every way that a declaration forbids.

Official MLIR sees the damage that IRDL can say; of the rest, ours is the only verifier.
"""

import re
from collections.abc import Iterator, Sequence

import pytest
from xdsl.dialects.builtin import (
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    VectorType,
    f32,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.rewriter import Rewriter

from tessera.catalog import new_context
from tessera.driver import compile_graph_module
from tessera.graph.attributes import Kind
from tessera.graph.dialect import OPS
from tessera.graph.groups import GroupedOp
from tessera.graph.operation import GraphOp
from tessera.graph.text import parse_module, print_module
from tests.referee.test_inputs import Ours, compare, read
from tests.support.paths import LIT
from tests.support.referee import judge, needs_mlir

VOCABULARY = (LIT / "graph" / "vocabulary.mlir").read_text(encoding="utf-8")
FUNCTIONS = {
    match[1]: match[0]
    for match in re.finditer(r"^func\.func @(\w+)\(.*?^\}", VOCABULARY, re.M | re.S)
}
WRONG: Sequence[Attribute] = (
    StringAttr("nonsense"),
    FloatAttr(1.5, f64),
    IntegerAttr(7, i64),
    UnitAttr(),
    TensorType(f32, [2]),
)

OTHER_TYPES = (VectorType(f32, [4]), f32, TensorType(IndexType(), [4]))


def parsed(text: str) -> ModuleOp:
    return parse_module(text, context=new_context())


def subject(module: ModuleOp) -> GroupedOp:
    """The op that a module is about: the last of our own."""
    return [op for op in module.walk() if isinstance(op, GroupedOp)][-1]


def remade(
    op: GroupedOp,
    operands: Sequence[SSAValue] | None = None,
    results: Sequence[Attribute] | None = None,
    attributes: dict[str, Attribute] | None = None,
    regions: Sequence[Region] = (),
) -> None:
    """Put the op with some of its parts exchanged in its place."""
    made = type(op).create(
        operands=op.operands if operands is None else operands,
        result_types=op.result_types if results is None else results,
        attributes=op.attributes if attributes is None else attributes,
        regions=regions,
    )
    keep = made.results[: len(op.results)]
    Rewriter.replace_op(op, made, keep)


def damage(text: str) -> Iterator[ModuleOp]:
    """Modules that differ from the one in `text` by one wrong thing."""
    first = subject(parsed(text))
    attributes = first.attributes
    changes: list[dict[str, Attribute]] = [{**attributes, "undeclared": UnitAttr()}]
    for key in attributes:
        changes.append({k: v for k, v in attributes.items() if k != key})
    for key in type(first).attrs:
        changes += [{**attributes, key: wrong} for wrong in WRONG]
    for change in changes:
        module = parsed(text)
        remade(subject(module), attributes=change)
        yield module
    yield from _counts(text)
    if first.operands:
        yield from (_retyped(text, kind) for kind in OTHER_TYPES)


def _counts(text: str) -> Iterator[ModuleOp]:
    """Too few and too many operands and results, and a region."""
    for change in ("fewer", "more", "results", "region"):
        module = parsed(text)
        op = subject(module)
        if change == "fewer" and op.operands:
            remade(op, operands=op.operands[:-1])
        elif change == "more" and op.operands:
            remade(op, operands=[*op.operands, *[op.operands[0]] * 8])
        elif change == "results":
            remade(op, results=[*op.result_types, op.result_types[0]])
        elif change == "region":
            remade(op, regions=[Region()])
        yield module


def _retyped(text: str, kind: Attribute) -> ModuleOp:
    """The first operand of another type, as the function's argument is."""
    module = parsed(text)
    function = next(op for op in module.walk() if isinstance(op, FuncOp))
    argument = subject(module).operands[0]
    Rewriter.replace_value_with_new_type(argument, kind)
    types = [arg.type for arg in function.args]
    function.function_type = FunctionType.from_lists(
        types, function.function_type.outputs.data
    )
    return module


def spelled(modules: Iterator[ModuleOp]) -> list[Ours]:
    return [read(print_module(module, generic=True)) for module in modules]


@needs_mlir
@pytest.mark.parametrize("name", FUNCTIONS)
def test_damaged_graph_ops(name: str) -> None:
    compare(spelled(damage(FUNCTIONS[name])))


@needs_mlir
@pytest.mark.parametrize("target", ["apple_gpu", "apple_cpu"])
@pytest.mark.parametrize("name", ["add", "topk", "flash_attn", "concat"])
def test_damaged_calls(name: str, target: str) -> None:
    made = compile_graph_module(parsed(FUNCTIONS[name]), target).module
    text = print_module(made, generic=True)
    compare(spelled(damage(text)))
    declared = next(line for line in text.splitlines() if ".declare" in line)
    for spoiled in (
        re.sub(r'\{sym_name = "\w+"\}', "{}", declared),
        re.sub(r'sym_name = "\w+"', "sym_name = 1 : i64", declared),
        declared.replace("-> ()", "-> i64"),
    ):
        compare([read(text.replace(declared, spoiled))])


@needs_mlir
def test_misspelled_names_and_sizes() -> None:
    """An op that is not there, and sizes of groups that the operands do not tell."""
    texts: list[str] = []
    for text in FUNCTIONS.values():
        printed = print_module(parsed(text), generic=True)
        texts.append(re.sub(r'"tessera\.(\w+)"', r'"tessera.\1_"', printed))
        sizes = re.search(r"operandSegmentSizes = array<i32: ([\d, ]+)>", printed)
        if sizes:
            turned = ", ".join(reversed(sizes[1].split(", ")))
            if turned != sizes[1]:
                texts.append(printed.replace(sizes[1], turned))
            texts.append(printed.replace(sizes[1], sizes[1] + ", 1"))
            texts.append(printed.replace(f"{sizes[0]}, ", "").replace(sizes[0], ""))
    compare([read(text) for text in texts])


@needs_mlir
def test_the_referee_sees_what_irdl_declares() -> None:
    """It is no rubber stamp: each required operand and attribute is missed."""
    texts: list[str] = []
    for text in FUNCTIONS.values():
        op = subject(parsed(text))
        assert isinstance(op, GraphOp)
        for key, kind in op.attrs.items():
            if kind.required:
                module = parsed(text)
                rest = {k: v for k, v in op.attributes.items() if k != key}
                remade(subject(module), attributes=rest)
                texts.append(print_module(module, generic=True))
        low, _ = op.arity()
        if op.ins and low and not op.ins[0].endswith("*"):
            module = parsed(text)
            op = subject(module)
            remade(op, operands=op.operands[: low - 1])
            texts.append(print_module(module, generic=True))
    assert len(texts) > len(OPS)
    assert not any(verdict.accepts for verdict in judge(texts))


def test_every_required_kind_has_irdl() -> None:
    kinds: list[Kind] = [k for op in OPS.values() for k in op.attrs.values()]
    assert all(kind.irdl() for kind in kinds)
