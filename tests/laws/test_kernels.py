"""Laws that every kernel of the catalog meets the moment it is named there."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from tessera.canonical_compile import canonical_compile
from tessera.catalog import CHAINS, KERNEL_BY_NAME, KERNELS, PASSES, new_context
from tessera.diagnostics import CODES
from tessera.driver import compile_graph_module
from tessera.fusion.kernel import FusedKernel
from tessera.fusion.match import match
from tessera.fusion.recognise import recognise
from tessera.graph.algebra import NumpyAlgebra, SsaAlgebra
from tessera.graph.operation import read_options
from tests.support.chains import Bench, Case, calls, near, run
from tests.support.paths import LIT, SOURCES
from tests.support.work import work

SIZES = st.integers(0, 5)
Shapes = Mapping[str, tuple[int, ...]]


class Spelled(SsaAlgebra):
    """A meaning as a model spells it: NumPy's own repeats, a plain last product."""

    def repeated(self, x: SSAValue, like: SSAValue) -> SSAValue:
        return x

    def attend(self, p: SSAValue, v: SSAValue, keep: SSAValue | None) -> SSAValue:
        return self.matmul(p, v)


def spelled(
    kernel: FusedKernel, shapes: Shapes, options: Mapping[str, Any], dtype: str = "f32"
) -> tuple[Case, dict[str, SSAValue]]:
    """A graph of exactly the kernel's meaning, and its operands by role."""
    bench = Bench(dtype)
    operands = {
        role: bench.given(
            role, np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3 > 0
        )
        if role == "keep"
        else bench.x(role, *shape)
        for role, shape in shapes.items()
    }
    if "keep" in operands:
        operands["mask"] = operands.pop("keep")
    g = Spelled(bench.graph.block.add_op, None)
    value = kernel.meaning(g, operands, {**kernel.defaults(), **options})[0]
    return bench.close(value), operands


@st.composite
def scored(draw: st.DrawFn, a: str, b: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Shapes and options of a masked, scaled product of `a` and `b`."""
    lead = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    m, n, k = (draw(SIZES) for _ in range(3))
    turned = draw(st.booleans())
    shapes: dict[str, Any] = {a: (*lead, m, k)}
    shapes[b] = (*lead, *((n, k) if turned else (k, n)))
    options: dict[str, Any] = {"transpose_b": turned}
    options["scale"] = draw(st.sampled_from([1.0, 0.5, -2.0]))
    mask = draw(st.sampled_from(["", "mask", "keep"]))
    if mask:
        shapes[mask] = draw(st.sampled_from([(m, n), (1, n), (n,), (*lead, m, n)]))
    if mask == "keep":
        options["mask_fill"] = draw(st.sampled_from([None, -8192.0]))
    if draw(st.booleans()):
        shapes["scale"] = ()
    return shapes, options


@st.composite
def attention(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    shapes, options = draw(scored("q", "k"))
    lead = shapes["q"][:-2]
    keys = shapes["k"][-2 if options["transpose_b"] else -1]
    shapes["v"] = (*lead, keys, draw(SIZES))
    options["softcap"] = draw(st.sampled_from([None, 5.0]))
    guards = ["", "nan_guard"]
    if "mask" in shapes or options.get("mask_fill") is not None:  # else it is implied
        guards.append("mask_guard")
    guard = draw(st.sampled_from(guards))
    if guard:
        options[guard] = True
    return shapes, options


@st.composite
def product(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    lead = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    m, n, k = (draw(SIZES) for _ in range(3))
    turned = draw(st.booleans())
    shapes = {"x": (*lead, m, k), "w": (n, k) if turned else (k, n)}
    if draw(st.booleans()):
        shapes["bias"] = (n,)
    return shapes, {"transpose_b": turned}


@st.composite
def gelu(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    shapes, options = draw(product())
    options["approximate"] = draw(st.sampled_from(["none", "tanh", "quick"]))
    return shapes, options


@st.composite
def norm(draw: st.DrawFn) -> tuple[dict[str, Any], dict[str, Any]]:
    shapes, options = draw(product())
    width = shapes["w"][0 if options["transpose_b"] else 1]
    rows = (*shapes["x"][:-1], width)
    if width and width % 2 == 0 and draw(st.booleans()):
        options["head_dim"] = width // 2
        rows = (*rows[:-1], 2, width // 2)
    if draw(st.booleans()):
        shapes["residual"] = rows
    if draw(st.booleans()):
        shapes["weight"] = rows[-1:]
    options["eps"] = draw(st.sampled_from([1e-5, 1e-2]))
    options["weight_offset"] = draw(st.sampled_from([0.0, 1.0]))
    if "weight" not in shapes:
        options["weight_offset"] = 0.0
    return shapes, options


DRAWN = {
    "matmul_softmax_matmul": attention(),
    "matmul_softmax": scored("a", "b"),
    "matmul_gelu": gelu(),
    "matmul_rmsnorm": norm(),
}


def test_every_chain_kernel_is_drawn() -> None:
    assert set(DRAWN) == CHAINS


def wanted_options(kernel: FusedKernel, options: Mapping[str, Any]) -> dict[str, Any]:
    return {**kernel.defaults(), **options}


@pytest.mark.parametrize("name", sorted(CHAINS))
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_kernel_recognises_its_own_meaning(name: str, data: st.DataObject) -> None:
    kernel = KERNEL_BY_NAME[name]
    shapes, options = data.draw(DRAWN[name])
    made, operands = spelled(kernel, shapes, options)
    function = next(op for op in made.module.walk() if isinstance(op, FuncOp))
    (group,) = recognise(function, KERNELS).groups
    assert group.kernel is kernel
    assert group.match.options == wanted_options(kernel, options)
    found = {role: operand.value for role, operand in group.match.operands.items()}
    assert found == operands


@pytest.mark.parametrize("name", sorted(CHAINS))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_call_computes_the_meaning_and_carries_every_option(
    name: str, data: st.DataObject
) -> None:
    kernel = KERNEL_BY_NAME[name]
    shapes, options = data.draw(DRAWN[name])
    dtype = data.draw(st.sampled_from(["f32", "f16", "bf16"]))
    made, _ = spelled(kernel, shapes, options, dtype)
    compiled = compile_graph_module(made.module, "apple_cpu")
    (call,) = [c for c in calls(compiled) if c.note("tessera.fusion.kernel")]
    found = read_options(kernel.options, call.attributes)
    for option, value in wanted_options(kernel, options).items():
        assert found[option] == value
        assert (option in call.attributes) == (value is not None)
    roles = {"keep": "mask"}
    arrays = {
        roles.get(role, role): array if array.dtype == bool else array.astype("f8")
        for role, array in made.inputs.items()
    }
    full = wanted_options(kernel, options)
    with np.errstate(all="ignore"):
        wanted = kernel.meaning(NumpyAlgebra(), arrays, full)[0]
    near(run(compiled, made.inputs), {"y0": wanted}, dtype)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_composites_are_graph_ops_and_raise_to_one_of_them(kernel: FusedKernel) -> None:
    assert kernel.is_chain or kernel.composites
    assert not kernel.raised_to or kernel.raised_to in kernel.composites
    for name in kernel.options:
        assert re.fullmatch(r"[a-z_]+", name)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_every_apple_target_has_a_consumer(kernel: FusedKernel) -> None:
    dashed = kernel.name.replace("_", "-")
    for target in ("apple_gpu", "apple_cpu"):
        assert f"tessera-{dashed}-fusion-to-{target}" in PASSES


STAGES = ("fusion", "kernels", "target")
# Errors of a broken build of the compiler itself, which no text can bring about.
UNSEEN = frozenset({"TSR-T004"})


def declared() -> Iterator[str]:
    for stage in STAGES:
        for path in sorted((SOURCES / stage).rglob("*.py")):
            yield from re.findall(r'declare\(\s*"(TSR-[A-Z]\d+)"', path.read_text())


@pytest.mark.parametrize("code", sorted(set(declared()) - UNSEEN))
def test_every_code_is_witnessed_by_a_lit_file(code: str) -> None:
    assert code in CODES
    texts = (path.read_text(encoding="utf-8") for path in LIT.rglob("*.mlir"))
    assert any(code in text for text in texts), f"no lit file shows {code}"


def modules(*stages: str) -> Iterator[Path]:
    for stage in stages:
        yield from sorted((SOURCES / stage).rglob("*.py"))


def test_no_stage_imports_a_kernel() -> None:
    stages = ("graph", "fusion", "target", "codegen", "runtime", "frontend", "audit")
    for path in modules(*stages):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module:
                names = [node.module]
            assert not any(n.startswith("tessera.kernels") for n in names), path


def strings(path: Path) -> Iterator[str]:
    """The string constants of a file that are not docstrings."""
    tree = ast.parse(path.read_text())
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) else None
        if isinstance(text, str) and id(node) not in prose:
            yield text


def test_no_stage_names_a_kernel() -> None:
    names = "|".join(kernel.name for kernel in KERNELS)
    for path in modules("fusion", "target"):
        for text in strings(path):
            assert not re.search(rf"\b({names})\b", text), f"{path}: {text}"


def blocks(b: Bench, x: SSAValue, count: int) -> SSAValue:
    """Attention, norm and MLP over a residual stream: 10 ops a block."""
    w = b.x("w", 4, 4)
    for _ in range(count // 10):
        q = b.op("matmul", x, w)
        p = b.op("softmax", b.op("matmul", q, x, transpose_b=True))
        x = b.op("add", x, b.op("matmul", b.op("matmul", p, x), w))
        h = b.op("gelu", b.op("matmul", b.op("rmsnorm", x), w))
        x = b.op("add", x, h)
    return x


def every_step_read(step: str, end: str) -> Callable[[Bench, SSAValue, int], SSAValue]:
    """A long chain of one op, of which every value is the start of a near miss."""

    def build(b: Bench, x: SSAValue, count: int) -> SSAValue:
        factor, total = b.const(np.full((), 0.999)), b.op(end, x)
        other = b.x("other", 3, 4)
        for i in range(count // 3):
            if step in ("mul", "div"):
                x = b.op(step, x, factor)
            elif step == "reshape":
                x = b.reshape(x, *((3, 1, 4) if i % 2 == 0 else (3, 4)))
            elif step == "add":
                x = b.op("add", x, other)
            else:
                x = b.op(step, x)
            tail = b.reshape(b.op(end, x), 3, 4)
            total = b.op("add", b.reshape(total, 3, 4), tail)
        return total

    return build


LONG = {
    "transformer": blocks,
    "scales": every_step_read("div", "softmax"),
    "factors": every_step_read("mul", "softmax"),
    "sums": every_step_read("add", "softmax"),
    "residuals": every_step_read("add", "rmsnorm"),
    "biases": every_step_read("add", "gelu"),
    "views": every_step_read("reshape", "rmsnorm"),
    "other": every_step_read("tanh", "gelu"),
}


def function_of(name: str, count: int) -> FuncOp:
    bench = Bench()
    module = bench.close(LONG[name](bench, bench.x("x", 3, 4), count)).module
    return next(op for op in module.walk() if isinstance(op, FuncOp))


@pytest.mark.parametrize("name", LONG)
def test_recognition_is_linear(name: str) -> None:
    sizes = (4000, 8000) if name == "transformer" else (600, 1200)
    functions = [function_of(name, size) for size in sizes]
    first, second = (work(lambda f=f: recognise(f, KERNELS)) for f in functions)
    assert second <= 2.2 * first


DEEP = ("tanh", "add", "mul", "softmax", "matmul")


@pytest.mark.parametrize("name", DEEP)
@pytest.mark.parametrize("end", ["softmax", "gelu", "rmsnorm"])
def test_depth_is_no_limit(name: str, end: str) -> None:
    b = Bench()
    x = b.x("x", 3, 4)
    eye = b.const(np.eye(4), "eye")
    half = b.const(0.5)
    others = {"add": (half,), "mul": (half,), "matmul": (eye,)}.get(name, ())
    for _ in range(5000):
        x = b.op(name, x, *others)
    made = b.close(b.op(end, x))
    canonical_compile(made.module, "apple_cpu")
    for item in ("tessera-raise-compositions", "tessera-lower-to-apple_cpu"):
        PASSES[item]().apply(new_context(), made.module)


def test_a_match_changes_nothing() -> None:
    for name in CHAINS:
        kernel = KERNEL_BY_NAME[name]
        shapes = {"q": (3, 4), "k": (4, 5), "v": (5, 2)}
        if name == "matmul_softmax":
            shapes = {"a": (3, 4), "b": (4, 5)}
        elif name != "matmul_softmax_matmul":
            shapes = {"x": (3, 4), "w": (4, 5)}
        made, _ = spelled(kernel, shapes, {})
        before = str(made.module)
        for op in made.module.walk():
            for other in KERNELS:
                match(other, op)
        assert str(made.module) == before
