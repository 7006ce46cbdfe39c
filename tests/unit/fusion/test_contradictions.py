"""A stamped chain that was edited: one warning each, right numbers, the stated fallback."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from xdsl.ir import SSAValue

from tessera.driver import Compiled, compile_graph_module
from tessera.fusion.recognise import intent_of
from tessera.graph.locations import location_of
from tests.support.chains import (
    APPLE,
    INTENT,
    SITE,
    SOURCE,
    Bench,
    calls,
    case,
    fused,
    near,
    run,
)

Made = SSAValue | tuple[SSAValue, ...]
Edit = Callable[[Bench], Made]
ATTENTION, SOFTMAX = "matmul_softmax_matmul", "matmul_softmax"
GELU, NORM = "matmul_gelu", "matmul_rmsnorm"


@dataclass(frozen=True)
class Edited:
    """A stamped chain after an edit, the code it must raise, and what runs instead."""

    code: str
    build: Edit
    instead: tuple[str, ...] = ()


def same(b: Bench, x: SSAValue) -> SSAValue:
    return x


def sine(b: Bench, x: SSAValue) -> SSAValue:
    return b.op("sin", x)


def wide(b: Bench, x: SSAValue) -> SSAValue:
    """Through another element type and back."""
    return b.cast(b.cast(x, "f16"), "f32")


def turned(b: Bench, x: SSAValue) -> SSAValue:
    return b.op("transpose", x, permutation=(1, 0))


def attention(
    scores: Callable[[Bench, SSAValue], SSAValue] = same,
    stamp: str = ATTENTION,
    also: int = -1,
    **options: Any,
) -> Edit:
    """softmax(q k) v of square sizes, so that every operand fits on either side."""

    def build(b: Bench) -> Made:
        q, k, v = b.x("q", 6, 6), b.x("k", 6, 6), b.x("v", 6, 6)
        product = b.op("matmul", q, k)
        s = scores(b, product)
        p = b.op("softmax", s, axis=options.get("axis", -1))
        operands = (v, p) if options.get("swapped") else (p, v)
        turn = bool(options.get("transpose_a"))
        o = b.op("matmul", *operands, transpose_a=turn, stamp=stamp)
        return o if also < 0 else (o, (product, s, p)[also])

    return build


def vector_of_values(b: Bench) -> SSAValue:
    p = b.op("softmax", b.op("matmul", b.x("q", 6, 6), b.x("k", 6, 6)))
    return b.op("matmul", p, b.x("v", 6), stamp=ATTENTION)


def regrouped(b: Bench, x: SSAValue) -> SSAValue:
    """The keys become 4 of 9 by a reshape."""
    return b.reshape(x, 9, 4)


def reshaped_weights(b: Bench) -> SSAValue:
    s = regrouped(b, b.op("matmul", b.x("q", 6, 6), b.x("k", 6, 6)))
    return b.op("matmul", b.op("softmax", s), b.x("v", 4, 6), stamp=ATTENTION)


def negative_cap(b: Bench, x: SSAValue) -> SSAValue:
    return b.op("mul", b.op("tanh", x), b.const(-3.0))


ATTENTIONS = {
    "other_producer": Edited("TSR-F101", attention(sine)),
    "extra_use": Edited("TSR-F102", attention(also=2), (SOFTMAX,)),
    "other_side": Edited("TSR-F103", attention(swapped=True), (SOFTMAX,)),
    "wrong_axis": Edited("TSR-F104", attention(axis=0)),
    "transposed": Edited("TSR-F105", attention(transpose_a=True), (SOFTMAX,)),
    "mixed_dtype": Edited("TSR-F106", attention(wide)),
    "rank": Edited("TSR-F107", vector_of_values, (SOFTMAX,)),
    "reshape_of_k": Edited("TSR-F108", reshaped_weights),
    "unknown_kernel": Edited("TSR-F109", attention(stamp="flash"), (ATTENTION,)),
    "option": Edited("TSR-F110", attention(negative_cap)),
    "not_terminal": Edited("TSR-F112", attention(stamp=GELU), (ATTENTION,)),
}


def ended(
    kernel: str,
    between: Callable[[Bench, SSAValue], SSAValue] = same,
    also: bool = False,
    stamp: str = "",
    **options: Any,
) -> Edit:
    """A product of squares, then the kernel's last op."""

    def build(b: Bench) -> Made:
        flags = {key: options.pop(key) for key in list(options) if "trans" in key}
        h = b.op("matmul", b.x("x", 6, 6), b.x("w", 6, 6), **flags)
        end = kernel.removeprefix("matmul_")
        o = b.op(end, between(b, h), stamp=stamp or kernel, **options)
        return (o, h) if also else o

    return build


def vector(kernel: str) -> Edit:
    def build(b: Bench) -> SSAValue:
        h = b.op("matmul", b.x("x", 6), b.x("w", 6, 6))
        return b.op(kernel.removeprefix("matmul_"), h, stamp=kernel)

    return build


def added(*shape: int) -> Callable[[Bench, SSAValue], SSAValue]:
    return lambda b, h: b.op("add", h, b.x("added", *shape))


def common(kernel: str) -> dict[str, Edited]:
    """Edits that every kernel with one product and one end must refuse."""
    return {
        "other_producer": Edited("TSR-F101", ended(kernel, sine)),
        "transposed": Edited("TSR-F105", ended(kernel, turned)),
        "mixed_dtype": Edited("TSR-F106", ended(kernel, wide)),
        "rank": Edited("TSR-F107", vector(kernel)),
        "reshape_of_n": Edited("TSR-F108", ended(kernel, regrouped)),
        "unknown_kernel": Edited("TSR-F109", ended(kernel, stamp="fused"), (kernel,)),
        "not_terminal": Edited("TSR-F112", ended(kernel, stamp=ATTENTION), (kernel,)),
    }


def two_by(b: Bench, x: SSAValue) -> SSAValue:
    return b.op("mul", b.op("mul", x, b.x("by")), b.x("and_by"))


def product_read_twice(b: Bench) -> Made:
    h = b.op("matmul", b.x("x", 6, 6), b.x("w", 6, 6))
    return b.op("rmsnorm", added(6)(b, h), stamp=NORM), h


def weight_too_late(b: Bench) -> Made:
    h = b.op("matmul", b.x("x", 6, 6), b.x("w", 6, 6))
    read = b.op("tanh", h)
    return b.op("rmsnorm", h, b.op("neg", b.x("n", 6)), stamp=NORM), read


EDITS: Mapping[str, Mapping[str, Edited]] = {
    ATTENTION: ATTENTIONS,
    SOFTMAX: {
        **common(SOFTMAX),
        "extra_use": Edited("TSR-F102", ended(SOFTMAX, also=True)),
        "wrong_axis": Edited("TSR-F104", ended(SOFTMAX, axis=0)),
        "option": Edited("TSR-F110", ended(SOFTMAX, two_by)),
        "mask": Edited("TSR-F111", ended(SOFTMAX, added(2, 6, 6))),
    },
    GELU: {
        **common(GELU),
        "extra_use": Edited("TSR-F102", ended(GELU, also=True)),
        "addend": Edited("TSR-F116", ended(GELU, added(6, 1))),
    },
    NORM: {
        **common(NORM),
        "extra_use": Edited("TSR-F102", product_read_twice),
        "option": Edited("TSR-K301", ended(NORM, eps=-1e-3)),
        "late_operand": Edited("TSR-F115", weight_too_late),
        "addend": Edited("TSR-F116", ended(NORM, added(6, 1))),
    },
}
CASES = [(kernel, name) for kernel, edits in EDITS.items() for name in edits]


def compiled(kernel: str, name: str, target: str) -> Compiled:
    return compile_graph_module(case(EDITS[kernel][name].build).module, target)


@pytest.mark.parametrize(("kernel", "name"), CASES)
@pytest.mark.parametrize("target", APPLE)
def test_one_warning_that_says_everything(kernel: str, name: str, target: str) -> None:
    edited = EDITS[kernel][name]
    made = case(edited.build)
    (root,) = [op for op in made.module.walk() if INTENT in op.attributes]
    found = compile_graph_module(made.module, target)
    (warning,) = found.diagnostics.of("warning")
    assert warning.code is not None
    assert warning.code.id == edited.code
    assert not warning.notes
    assert warning.location == location_of(root)
    intent = intent_of(root)
    assert f"intent '{intent}' is not what the program says: " in warning.message
    _, told = warning.message.split("says: ")
    predicate, rest = told.split(": found ")
    what, rest = rest.split(", wanted ", 1)
    wanted, instead = rest.rsplit("; runs instead: ", 1)
    assert all((predicate, what, wanted))
    runs = [f"{kernel} ({source})" for kernel, source in fused(found)]
    assert instead == (runs[0] if runs else "the unfused ops")


@pytest.mark.parametrize(("kernel", "name"), CASES)
@pytest.mark.parametrize("target", APPLE)
def test_the_stated_fallback_runs(kernel: str, name: str, target: str) -> None:
    edited = EDITS[kernel][name]
    found = compiled(kernel, name, target)
    assert tuple(kernel for kernel, _ in fused(found)) == edited.instead
    ((_, contradiction),) = found.result.contradictions
    site = contradiction.root.attributes[SITE]
    for call in calls(found):
        if call.attributes.get(SITE) == site:
            assert call.note(SOURCE) == "rediscovered"


@pytest.mark.parametrize(("kernel", "name"), CASES)
@pytest.mark.parametrize("target", ["cpu", *APPLE])
def test_the_numbers_are_right(kernel: str, name: str, target: str) -> None:
    made = case(EDITS[kernel][name].build)
    found = compile_graph_module(made.module, target)
    near(run(found, made.inputs), made.meant())


@pytest.mark.parametrize(("kernel", "name"), CASES)
def test_the_record_says_the_same(kernel: str, name: str) -> None:
    edited = EDITS[kernel][name]
    found = compiled(kernel, name, "apple_cpu")
    contradicted = [
        site for site in found.decisions.sites if site.intent_verdict == "contradicted"
    ]
    (site,) = contradicted
    assert site.code == edited.code
    assert site.intent == found.result.contradictions[0][1].intent
    if not edited.instead:
        assert site.outcome == "refused"


@pytest.mark.parametrize("kernel", EDITS)
def test_the_codes_differ(kernel: str) -> None:
    codes = [edited.code for edited in EDITS[kernel].values()]
    assert len(set(codes)) == len(codes)
    assert len(codes) >= 9
    assert len(ATTENTIONS) >= 10
