"""Whatever a text holds, reading it gives a module or one error with a place."""

import random
import re

import pytest

from tessera.diagnostics import TesseraError
from tessera.graph.context import TesseraContext, graph_context
from tessera.graph.locations import location_of
from tessera.graph.text import parse_module, print_module
from tessera.graph.verify import verify_module
from tests.support.paths import CASES, LIT

TEXTS = {
    path.name: path.read_text(encoding="utf-8")
    for path in (*(CASES / "mlir").glob("*.mlir"), LIT / "graph" / "numbers.mlir")
}
ALL = """
func.func @all(%x: tensor<2x3xf32> {tessera.name = "x\\41"}) -> (tensor<2x1xf32> {a}) {
  %y:2 = "tessera.topk"(%x) <{k = 1 : i64}> : (tensor<2x3xf32>) -> (tensor<2x1xf32>,
    tensor<2x1xi64>) loc(fused["a", #here])
  "test.op"()[^next] ({ ^bb0(%z: i32): "test.end"() : () -> () }) {v = dense<[[1, 2]]> :
    tensor<1x2xi8>, w = array<f32: 1.0, 0x7F800000>, m = affine_map<(d0) -> (d0)>,
    s = @all::@b, t = !test.type<"a">, u = #test<b [1]>, r = dense<"0xFF"> : tensor<1xi8>,
    n = [unit, true, 0x10, -1.0e-3, {c = "d"}], f = (i32) -> i32} : () -> ()
^next:
  func.return %y#0 : tensor<2x1xf32> // end
}
#here = loc("m.py":1:2)
"""
TOKEN = re.compile(r"\s+|[%@#]?[\w.]+|.", re.DOTALL)
ODD = [
    *("9" * 30, "0x", "-", '"', "é", "²", "{", "<", "%", "#", "loc(", "dense<", "0x1p"),
    *(
        "1.0e999",
        "!",
        "^bb0",
        "unit",
        "\0",
        "tensor<",
        "array<i64:",
        "\\",
        "loc(#here)",
    ),
]


def context() -> TesseraContext:
    made = graph_context()
    made.allow_unregistered = True
    return made


def read(text: str) -> TesseraError | None:
    """The error a text gives; None for one that is read, verified and printed."""
    try:
        module = parse_module(text, "t.mlir", context())
        verify_module(module)
        print_module(module)
    except TesseraError as found:
        error = found
    else:
        return None
    assert error.location is not None
    assert error.location.file in ("t.mlir", "m.py", "a")
    assert 1 <= error.location.line <= text.count("\n") + 1
    assert error.location.column >= 1
    assert "\n" not in str(error)
    return error


def refused(text: str) -> str:
    error = read(text)
    assert error is not None
    return str(error)


@pytest.mark.parametrize("text", [*TEXTS.values(), ALL], ids=[*TEXTS, "all"])
def test_cut_anywhere(text: str) -> None:
    for end in range(0, len(text), 1 if len(text) < 1000 else 3):
        read(text[:end])


def test_tokens_lost_doubled_and_strange() -> None:
    rng = random.Random(7)
    accepted = 0
    for _ in range(1500):
        tokens = TOKEN.findall(rng.choice([*TEXTS.values(), ALL]))
        for _ in range(rng.randint(1, 2)):
            at = rng.randrange(len(tokens))
            odd = rng.choice([None, rng.choice(tokens), rng.choice(ODD)])
            tokens[at : at + 1] = [] if odd is None else [odd]
        accepted += read("".join(tokens)) is None
    assert accepted > 50


BRACKETS = [("[", "]"), ("{a=", "}"), ("dense<[", ">"), ("tuple<", ">"), ("(", ")")]


@pytest.mark.parametrize("depth", [100, 1000, 30000])
@pytest.mark.parametrize(("open", "close"), BRACKETS)
def test_nesting_of_attributes(open: str, close: str, depth: int) -> None:
    read(f'"test.op"() {{a = {open * depth}{close * depth}}} : () -> ()')


@pytest.mark.parametrize("depth", [100, 1000, 30000])
def test_nesting_of_regions(depth: int) -> None:
    error = read('"test.op"() ({' * depth + "}) : () -> ()" * depth)
    assert error is not None
    assert error.code.id in ("TSR-G021", "TSR-G023")


def test_strings_without_an_end_cost_little() -> None:
    # A lexer that tries every way to end the string would never be done with these.
    assert "end of file" in refused('"' + "a" * 100_000)
    assert "end of file" in refused('"test.op"() {a = "' + "b\\" * 20_000)


@pytest.mark.parametrize(
    ("attribute", "said"),
    [
        ("9" * 100, "does not fit|out of range"),
        ("9" * 100_000, "out of range"),
        ("0x" + "F" * 100_000, "out of range"),
        ("0x1FFFFFFFF : f32", "out of range"),
        ("-0xFF800000 : f32", "take no sign"),
        ("dense<-0xFF> : tensor<1xf16>", "take no sign"),
        ("dense<1.5> : tensor<2xi8>", "1.5 is no integer, wanted i8"),
        ("dense<300> : tensor<2xi8>", "300 does not fit i8"),
        ("dense<true> : tensor<2xi8>", "booleans are of type i1, wanted i8"),
        ("dense<[[1, 2], [3]]> : tensor<2x2xi8>", "rows of a tensor literal differ"),
        ("dense<[1, 2]> : tensor<?xi8>", "static shape"),
        ('dense<"0x0102"> : tensor<3xi8>', "has 2 bytes, its type 3"),
        ('dense<"0x0102"> : tensor<17x2xi1>', "has 16 bytes, its type 34"),
        ('dense<"0xZZ"> : tensor<1xi8>', "expected hexadecimal digits"),
        ("dense<> : tensor<4xf32>", "literal has shape [0-9\\[\\], ]* its type"),
        ("dense<0> : tensor<" + "9" * 25 + "xi8>", "does not fit 64 bits"),
        ("dense<(1.0, 2.0)> : tensor<complex<f32>>", "expected a number"),
    ],
)
def test_numbers_out_of_bounds(attribute: str, said: str) -> None:
    assert re.search(said, refused(f'"test.op"() {{a = {attribute}}} : () -> ()'))


@pytest.mark.parametrize(
    ("file", "place"),
    [
        ("a73_bad_attribute_list", "t.mlir:2:30: [TSR-G020] attribute expected"),
        ("a73_cut_in_region", "t.mlir:5:1: [TSR-G020] the text ends here"),
        ("a73_type_clash", "t.mlir:2:19: [TSR-G020] operand is used with type"),
        ("a73_use_before_def", "t.mlir:2:23: [TSR-G020] %z is used but never defined"),
    ],
)
def test_malformed_files(file: str, place: str) -> None:
    assert refused(TEXTS[f"{file}.mlir"]).startswith(place)


def test_an_empty_text_is_an_empty_module() -> None:
    for text in ("", " \n", "// nothing\n"):
        assert print_module(parse_module(text)) == print_module(
            parse_module("module {}")
        )
    assert "expected an operation" in refused("}")


def test_an_error_counts_lines_from_the_offset() -> None:
    with pytest.raises(TesseraError, match=r"^f\.mlir:43:3: "):
        parse_module("\n\n  ?", "f.mlir", line_offset=40)


def test_the_undefined_name_is_the_one_that_stays_undefined() -> None:
    text = """func.func @a(%x: f32) { "test.op"(%p) : (f32) -> ()
      %p = "test.op"(%x) : (f32) -> f32 func.return }
    func.func @b() { "test.op"(%p) : (f32) -> () func.return }"""
    assert refused(text).startswith("t.mlir:3:32: [TSR-G020] %p is used but never")


def test_ops_know_where_they_stand() -> None:
    module = parse_module(ALL, "t.mlir", context(), line_offset=10)
    found = {op.name: str(location_of(op)) for op in module.walk()}
    assert found["func.func"] == "t.mlir:12:1"
    assert found["tessera.topk"] == "m.py:1:2"
    assert found["builtin.unregistered"].startswith("t.mlir:15:")
    assert found["func.return"] == "t.mlir:20:3"
    assert found["builtin.module"] == "t.mlir:11:1"


@pytest.mark.parametrize(
    ("definitions", "said"),
    [
        ("", "alias #here is not defined"),
        ("#here = loc(#here)", "alias #here is defined by itself"),
        ("#here = loc(#a)\n#a = loc(#here)", "is defined by itself"),
        ("#here = 3", "expected a location as the value of #here"),
    ],
)
def test_location_aliases_that_lead_nowhere(definitions: str, said: str) -> None:
    assert said in refused(f'"test.op"() : () -> () loc(#here)\n{definitions}')
