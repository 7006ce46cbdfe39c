"""Whatever is wrong with a file is one TesseraError that says what and where."""

import contextlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tessera.diagnostics import CODES, TesseraError
from tessera.frontend.onnx import import_model, import_proto
from tests.support.paths import CASES, CORPUS
from tests.unit.frontend_onnx.models import BOOL, INT64, model, node, onnx, value

X = [value("x")]


def relu(*inputs: str) -> Any:
    return node("Relu", list(inputs), ["y"])


def with_tensor(**fields: Any) -> Any:
    proto = model([node("Add", ["x", "w"], ["y"])], X)
    proto.graph.initializer.append(onnx.TensorProto(name="w", **fields))
    return proto


def external(*fields: tuple[str, str]) -> Any:
    proto = with_tensor(data_type=1, dims=[2, 3], data_location=1)
    for key, text in fields:
        proto.graph.initializer[0].external_data.add(key=key, value=text)
    return proto


def untyped_input() -> Any:
    proto = model([relu("x")], X)
    proto.graph.input[0].type.Clear()
    return proto


def broken_function() -> Any:
    proto = model([node("F", ["x"], ["y"], domain="mine")], X)
    proto.opset_import.append(onnx.helper.make_opsetid("mine", 1))
    body = [node("F", ["a"], ["b"], domain="mine")]  # calls itself
    imports = list(proto.opset_import)
    f = onnx.helper.make_function("mine", "F", ["a"], ["b"], body, imports)
    proto.functions.append(f)
    return proto


SELF = [node("Add", ["x", "y"], ["z"]), node("Relu", ["z"], ["y"])]
LATE = [node("Add", ["x", "z"], ["y"]), node("Relu", ["x"], ["z"], name="late")]

# the code, the model, and words of its message
BROKEN: list[tuple[str, Callable[[], Any], tuple[str, ...]]] = [
    ("TSR-I002", onnx.ModelProto, ("no ONNX graph",)),
    ("TSR-I003", lambda: model([relu("x")], [*X, *X]), ("two inputs", "'x'")),
    ("TSR-I003", lambda: model([relu("x"), relu("x")], X), ("#2 (Relu)", "'y'")),
    ("TSR-I003", lambda: model([relu("x")], X, ()), ("no outputs",)),
    ("TSR-I003", broken_function, ("functions",)),
    ("TSR-I004", untyped_input, ("input 'x'", "nothing")),
    ("TSR-I004", lambda: model([relu("x")], [value("x", None)]), ("without rank",)),
    ("TSR-I005", lambda: with_tensor(data_type=1, dims=[-1]), ("tensor 'w'", "[-1]")),
    (
        "TSR-I005",
        lambda: with_tensor(data_type=1, dims=[1 << 62, 1 << 62], raw_data=b"0000"),
        ("tensor 'w'", "4 bytes"),
    ),
    (
        "TSR-I005",
        lambda: with_tensor(data_type=7, dims=[3], int64_data=[1, 2]),
        ("2 elements in int64_data", "[3]"),
    ),
    ("TSR-I006", lambda: with_tensor(data_type=8, dims=[1]), ("tensor 'w'",)),
    ("TSR-I006", lambda: model([relu("x")], [value("x", (2,), 14)]), ("input 'x'",)),
    (
        "TSR-I006",
        lambda: model([node("Cast", ["x"], ["y"], to=17)], X),
        ("#1 (Cast)", "17"),
    ),
    ("TSR-I007", lambda: external(("location", "w.bin")), ("no folder",)),
    ("TSR-I008", external, ("names no location",)),
    ("TSR-I010", lambda: model([node("Add", ["x"], ["y"])], X), ("input 2",)),
    ("TSR-I010", lambda: model([node("Add", ["x", ""], ["y"])], X), ("2 is empty",)),
    ("TSR-I010", lambda: model([relu("x", "x")], X), ("2 inputs", "at most 1")),
    (
        "TSR-I010",
        lambda: model([node("Max", ["x", ""], ["y"])], X),
        ("#1 (Max)", "input 2"),
    ),
    ("TSR-I011", lambda: model([node("Cast", ["x"], ["y"])], X), ("'to'",)),
    (
        "TSR-I011",
        lambda: model([node("Softmax", ["x"], ["y"], axis=1.5)], X),
        ("'axis' is a float",),
    ),
    (
        "TSR-I011",
        lambda: model([node("Relu", ["x"], ["y"], slope=2)], X),
        ("'slope' is not understood",),
    ),
    (
        "TSR-I012",
        lambda: model(
            [node("ReduceSum", ["x", "a"], ["y"])], [*X, value("a", (1,), INT64)]
        ),
        ("axes computed at run time", "constant axes"),
    ),
    (
        "TSR-I012",
        lambda: model([node("Softmax", ["x"], ["y", "z"])], X),
        ("result 2", "at most 1"),
    ),
    (
        "TSR-I013",
        lambda: model([node("MatMul", ["x", "x"], ["y"], name="qk")], X),
        ("'qk' (MatMul)", "3 vs 2"),
    ),
    (
        "TSR-I013",
        lambda: model([node("Add", ["x", "b"], ["y"])], [*X, value("b", (3,), BOOL)]),
        ("f32 and i1",),
    ),
    (
        "TSR-I013",
        lambda: model(
            [node("Gather", ["t", "i"], ["y"])],
            weights={"t": np.arange(3), "i": np.array([5])},
        ),
        ("#1 (Gather)", "cannot be computed"),
    ),
    (
        "TSR-I020",
        lambda: model([node("Foo", ["x"], ["a"]), node("Bar", ["a"], ["y"])], X),
        ("2 op types", "Foo (a)", "Bar (y)"),
    ),
    ("TSR-I021", lambda: model([relu("ghost")], X), ("input 1 'ghost'",)),
    ("TSR-I021", lambda: model([relu("x")], X, ("y", "z")), ("output 'z'",)),
    ("TSR-I022", lambda: model(LATE, X), ("made later, by node 'late' (Relu)",)),
    ("TSR-I022", lambda: model(SELF, X), ("#1 (Add)", "cycle")),
    ("TSR-I023", lambda: model([node("If", ["x"], ["y"])], X), ("#1 (If)",)),
]


@pytest.mark.parametrize(("code", "make", "words"), BROKEN)
def test_a_broken_model_is_one_error(
    code: str, make: Callable[[], Any], words: tuple[str, ...]
) -> None:
    with pytest.raises(TesseraError) as caught:
        import_proto(make(), "m.onnx")
    text = str(caught.value)
    assert f"[{code}]" in text
    assert "m.onnx" in text
    assert all(word in text for word in words), text


def test_every_code_of_the_importer_has_a_witness() -> None:
    ours = {id for id in CODES if id.startswith("TSR-I0")}
    elsewhere = {"TSR-I001", "TSR-I002"}
    assert ours == {code for code, *_ in BROKEN} | elsewhere


def test_no_opset_of_the_standard_domain() -> None:
    proto = model([relu("x")], X)
    del proto.opset_import[:]
    with pytest.raises(TesseraError, match="imports no opset"):
        import_proto(proto, "m.onnx")


def test_an_absent_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(TesseraError) as caught:
        import_model("m.onnx")
    assert caught.value.code.id == "TSR-I001"
    assert "pip install 'tessera-compiler[onnx]'" in caught.value.remedy


def test_files_that_are_no_models(tmp_path: Path) -> None:
    whole = (CORPUS / "gpt2" / "eager_op20.onnx").read_bytes()
    contents = {
        "text.onnx": b"not a protobuf at all",
        "empty.onnx": b"",
        "half.onnx": whole[: len(whole) // 2],
        "zeros.onnx": bytes(64),
    }
    for name, data in contents.items():
        (tmp_path / name).write_bytes(data)
    for path in (*(tmp_path / n for n in contents), tmp_path / "absent.onnx", tmp_path):
        with pytest.raises(TesseraError) as caught:
            import_model(path)
        assert caught.value.code.id == "TSR-I002"
        assert path.name in str(caught.value)


def test_external_data_stays_in_the_folder(tmp_path: Path) -> None:
    home = tmp_path / "model"
    home.mkdir()
    secret = tmp_path / "secret.bin"
    np.full(6, 777, np.float32).tofile(secret)
    (home / "link.bin").symlink_to(secret)
    (home / "up").symlink_to(tmp_path)
    for location in (
        *("link.bin", "up/secret.bin", str(secret), "..\\secret.bin", "", "."),
        *("C:\\secret.bin", "a\0b", "sub/../../secret.bin"),
    ):
        proto = external(("location", location))
        with pytest.raises(TesseraError) as caught:
            import_proto(proto, "m.onnx", home)
        assert caught.value.code.id in ("TSR-I007", "TSR-I008")


def test_unused_weights_are_never_read() -> None:
    proto = external(("location", "../absent.bin"))
    proto.graph.node[0].input[1] = "x"
    import_proto(proto, "m.onnx")


COMMITTED = [
    *(CORPUS / m / "eager_op20.onnx" for m in ("gpt2", "llama")),
    CASES / "onnx" / "a71_bool_mask_no_cast.onnx",
    CASES / "onnx" / "a60_ext_unknown_key.onnx",
]


@settings(max_examples=100, deadline=None, database=None)
@given(data=st.data())
def test_a_damaged_file_imports_or_is_one_error(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = data.draw(st.sampled_from(COMMITTED))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(
            st.integers(0, 255)
        )
    with contextlib.suppress(TesseraError):
        damaged = tmp_path_factory.getbasetemp() / "damaged.onnx"
        damaged.write_bytes(content)
        import_model(damaged)
