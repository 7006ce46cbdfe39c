"""Patterns: a meaning read over terms.

A term says what a value must be made of.  Steps that models spell in many ways (scale,
mask, softcap, bias, residual) become one `Walk` each: the matcher follows the chain
through them in any order and keeps what it passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tessera.graph.algebra import Algebra


@dataclass(frozen=True)
class Capture:
    """An option of an op that the kernel takes as its own, under that name."""

    option: str


@dataclass(frozen=True)
class Hole:
    """An operand of the kernel; it binds any value."""

    role: str
    repeated: bool = False


@dataclass(frozen=True)
class Apply:
    """One op of the pattern over its operands; options are literals or captures."""

    op: str
    args: tuple[Term, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class Walk:
    """A chain of steps that leads up to `inner`; each step binds its role."""

    steps: Mapping[str, str]
    inner: Term


@dataclass(frozen=True)
class Shared:
    """A value that may have readers outside: it becomes a result named `role`."""

    role: str
    inner: Term


@dataclass(frozen=True)
class Part:
    """Gate (0) or up (1) of a packed product."""

    inner: Term
    index: int
    packing: str


Term = Hole | Apply | Walk | Shared | Part


class Terms(Algebra[Term]):
    """Values are terms: reading a meaning gives its pattern."""

    def apply(self, op: str, *values: Term, **options: Any) -> Term:
        return Apply(op, values, options)

    def scalar(self, value: float, like: Term) -> Term:
        raise NotImplementedError("a pattern has no constants; use a step")

    def cast(self, x: Term, dtype: str) -> Term:
        return x

    def dtype(self, x: Term) -> str:
        return ""

    def _step(self, name: str, inner: Term, operand: Term | None = None) -> Term:
        role = operand.role if isinstance(operand, Hole) else name
        if isinstance(inner, Walk):
            return Walk({**inner.steps, name: role}, inner.inner)
        return Walk({name: role}, inner)

    def scaled(self, s: Term, scale: Any, by: Term | None = None) -> Term:
        return self._step("scale", s, by)

    def capped(self, s: Term, cap: Any) -> Term:
        return self._step("cap", s)

    def fill(self, value: Any) -> float:
        return 0.0

    def masked(self, s: Term, mask: Term | None, fill: Any = None) -> Term:
        return self._step("mask", s, mask)

    def ruled(self, s: Term, keep: Term | None) -> Term:
        return s

    def rule(self, q: Term, k: Term, causal: Any = None, window: Any = None) -> None:
        return None

    def removed(self, mask: Term | None, fill: Any, keep: Term | None) -> None:
        return None

    def guarded(self, p: Term, guard: Any) -> Term:
        return self._step("guard", p)

    def row_guarded(self, p: Term, guard: Any, mask: Term | None) -> Term:
        return self._step("guard", p)

    def attend(self, p: Term, v: Term, keep: Term | None) -> Term:
        return Apply("matmul", (p, v))

    def repeated(self, x: Term, like: Term) -> Term:
        assert isinstance(x, Hole)
        return Hole(x.role, repeated=True)

    def biased(self, h: Term, bias: Term | None) -> Term:
        return self._step("bias", h, bias)

    def added(self, h: Term, residual: Term | None) -> Term:
        return self._step("residual", h, residual)

    def swapped(self, x: Term) -> Term:
        raise NotImplementedError("a pattern captures the flag instead")

    def headed(self, h: Term, head_dim: Any) -> Term:
        return self._step("heads", h)

    def shared(self, role: str, h: Term) -> Term:
        return Shared(role, h)

    def part(self, h: Term, index: int, packing: str) -> Term:
        return Part(h, index, packing)
