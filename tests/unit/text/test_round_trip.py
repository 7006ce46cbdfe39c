"""Text out and in again is the same module, for every op and every number."""

import math
import re
import shutil
import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, ModuleOp
from xdsl.dialects.func import FuncOp

from tessera.diagnostics import Location
from tessera.graph.builder import GraphBuilder
from tessera.graph.dialect import OPS
from tessera.graph.literals import SPLAT_ELEMENTS
from tessera.graph.locations import location_of
from tessera.graph.text import parse_module, print_module
from tessera.graph.types import ELEMENTS
from tessera.graph.verify import verify_module
from tessera.graph.weights import dense, dense_array
from tessera.reference.dtypes import DTYPES
from tests.support.paths import CASES, LIT

VOCABULARY = (LIT / "graph" / "vocabulary.mlir").read_text(encoding="utf-8")
FUNCTIONS = {
    match[1]: match[0]
    for match in re.finditer(r"^func\.func @(\w+)\(.*?^\}", VOCABULARY, re.M | re.S)
}
MLIR_OPT = shutil.which("mlir-opt-22")
BITS = {"f16": np.uint16, "bf16": np.uint16, "f32": np.uint32, "f64": np.uint64}


def test_every_op_has_its_line() -> None:
    lines = set(re.findall(r'^ *%y.* = "tessera\.(\w+)"', VOCABULARY, re.M))
    assert lines == set(OPS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_line_reads_back_as_the_same_module(name: str) -> None:
    first = parse_module(FUNCTIONS[name])
    verify_module(first)
    text = print_module(first)
    second = parse_module(text)
    assert first.is_structurally_equivalent(second)
    assert print_module(second) == text


def test_a_line_says_all_that_its_op_declares() -> None:
    """A printed op carries its attributes as they stand: nothing added or lost."""
    for text in FUNCTIONS.values():
        for check in re.findall(r"^ *// CHECK: (.*)$", text, re.M):
            assert check.replace("[{{\\[}}", "[[") in print_module(parse_module(text))


def constant(type: str, literal: str) -> bytes:
    """The bits of one number of a float type, after text in, out and in again."""
    line = f"%0 = arith.constant {literal} : {type}"
    line = print_module(parse_module(line))
    (op,) = (op for op in parse_module(line).walk() if isinstance(op, ConstantOp))
    assert isinstance(op.value, FloatAttr)
    return op.value.type.pack((op.value.value.data,))


@pytest.mark.parametrize("type", BITS)
@given(data=st.data())
def test_scalar_bits_survive(type: str, data: st.DataObject) -> None:
    kind = BITS[type]
    bits = kind(data.draw(st.integers(0, np.iinfo(kind).max)))
    number = bits.view(DTYPES[type])
    found = np.frombuffer(constant(type, f"0x{int(bits):X}"), DTYPES[type])[0]
    if math.isnan(number):
        assert math.isnan(found)
    else:
        assert found.view(kind) == bits


@pytest.mark.parametrize("type", BITS)
@given(data=st.data())
def test_literal_bits_survive(type: str, data: st.DataObject) -> None:
    """In a literal the very bits are kept, those of every NaN too."""
    kind = BITS[type]
    drawn = st.integers(0, np.iinfo(kind).max)
    bits = np.array(data.draw(st.lists(drawn, min_size=1, max_size=6)), kind)
    spelled = ", ".join(f"0x{b:X}" for b in bits.tolist())
    text = f"%0 = arith.constant dense<[{spelled}]> : tensor<{len(bits)}x{type}>"
    assert literal(print_module(parse_module(text))).data.data == bits.tobytes()


def literal(text: str) -> DenseIntOrFPElementsAttr:
    (op,) = (op for op in parse_module(text).walk() if isinstance(op, ConstantOp))
    assert isinstance(op.value, DenseIntOrFPElementsAttr)
    return op.value


def test_nine_digits() -> None:
    text = (CASES / "mlir" / "a56_nine_digits.mlir").read_text()
    wanted = [int(bits, 16) for bits in re.findall("0x[0-9A-F]{8}", text)]
    for _ in range(2):
        found = np.frombuffer(literal(text).data.data, np.uint32)
        assert found.tolist() == wanted
        text = print_module(parse_module(text))


def test_hexadecimal_floats() -> None:
    text = (CASES / "mlir" / "a57_hex_floats.mlir").read_text()
    for _ in range(2):
        values = [
            op.value for op in parse_module(text).walk() if isinstance(op, ConstantOp)
        ]
        scalars = [v.value.data for v in values if isinstance(v, FloatAttr)]
        (row,) = (v for v in values if isinstance(v, DenseIntOrFPElementsAttr))
        assert scalars[0] == scalars[2] == scalars[3] == -math.inf
        assert math.isnan(scalars[1])
        assert dense_array(row).tolist() == [0.0, -math.inf]
        text = print_module(parse_module(text))


@pytest.mark.parametrize("count", [0, 1, 7, 101, SPLAT_ELEMENTS + 1])
@pytest.mark.parametrize("name", ELEMENTS)
def test_constants_survive(name: str, count: int, rng: np.random.Generator) -> None:
    numbers = rng.normal(size=count) * 100
    array = (np.abs(numbers) if "i" in name else numbers).astype(DTYPES[name])
    module = GraphBuilder().module([])
    value = dense(array)
    body = module.body.block.first_op
    assert isinstance(body, FuncOp)
    body.attributes["test.value"] = value
    (again,) = parse_module(print_module(module)).body.block.ops
    found = again.attributes["test.value"]
    assert isinstance(found, DenseIntOrFPElementsAttr)
    assert found.type == value.type
    assert dense_array(found).tobytes() == array.tobytes()


def test_a_large_splat_is_one_element() -> None:
    line = "%0 = arith.constant dense<0xFF800000> : tensor<100000x100000xf32>"
    value = literal(print_module(parse_module(line)))
    assert value.data.data == b"\x00\x00\x80\xff"


def test_a_small_splat_has_all_its_elements() -> None:
    assert len(literal("%0 = arith.constant dense<1.5> : tensor<4x2xf32>")) == 8


def test_values_in_full_and_as_bytes_are_one() -> None:
    spelled = ["dense<[1, 2, -1]>", 'dense<"0x01000200FFFF">', "dense<[1, 2, 65535]>"]
    read = {literal(f"%0 = arith.constant {s} : tensor<3xi16>") for s in spelled}
    assert len(read) == 1


def test_printing_is_settled_at_once() -> None:
    """Names that end in numbers, and that meet made-up ones, stay as they are."""
    builder = GraphBuilder()
    names = ["k_0", "k_1", "k", "a/b", "a.b", "a:b", "0", "größe", "%x"]
    values = [builder.input(name, "f32", (2,)) for name in names]
    for value in values[:3]:
        builder.op("exp", value).name_hint = "k"
    text = print_module(builder.module([("y", values[0])]))
    assert print_module(parse_module(text)) == text
    arguments = re.findall(r"%([\w.]+): tensor", text)
    assert len(set(arguments)) == len(names)
    assert arguments[:3] == ["k_0", "k_1", "k"]


@pytest.mark.parametrize("generic", [False, True])
@pytest.mark.parametrize("debuginfo", [False, True])
def test_all_forms_read_back(debuginfo: bool, generic: bool) -> None:
    module = parse_module(VOCABULARY, "vocabulary.mlir")
    text = print_module(module, debuginfo, generic)
    again = parse_module(text, "other.mlir")
    assert again.is_structurally_equivalent(module)
    assert print_module(again, debuginfo, generic) == text


@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt-22 is not installed")
@pytest.mark.parametrize("debuginfo", [False, True])
def test_official_mlir_reads_what_we_print(debuginfo: bool) -> None:
    assert MLIR_OPT is not None
    text = print_module(parse_module(VOCABULARY, "vocabulary.mlir"), debuginfo)
    numbers = (LIT / "graph" / "numbers.mlir").read_text(encoding="utf-8")
    flags = ["--allow-unregistered-dialect", "--mlir-print-debuginfo"]
    for ours in (text, print_module(parse_module(numbers), debuginfo)):
        run = subprocess.run(
            [MLIR_OPT, *flags], input=ours, capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        mine, theirs = parse_module(ours), parse_module(run.stdout)
        assert mine.is_structurally_equivalent(theirs)
        if debuginfo:
            assert places(mine) == places(theirs)


def places(module: ModuleOp) -> list[Location]:
    return [location_of(op) for op in module.walk()]
