"""Einstein sums as matrix products over broadcast batch axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tessera.frontend.onnx.operand import Operand
from tessera.frontend.onnx.rules.elementwise import same_type
from tessera.frontend.onnx.rules.shapes import Plan, Size, reshape, swap
from tessera.frontend.onnx.step import Step


@dataclass
class _Term:
    """A tensor with a letter for each axis."""

    x: Operand
    letters: str

    def size(self, letter: str) -> int | Size:
        """The size of a letter's axis; 1 where the term lacks it."""
        if letter not in self.letters:
            return 1
        return Size(self.x, (self.letters.index(letter),))


def einsum(step: Step) -> Operand:
    """Einsum, pair by pair from the left."""
    xs = step.inputs()
    same_type(step, *xs)
    terms, output = _parsed(step, step.attribute("equation", str), xs)
    later = ["".join(t.letters for t in terms[i:]) for i in range(1, len(terms) + 1)]
    total = _summed(step, terms[0], output + later[0])
    for term, rest in zip(terms[1:], later[1:], strict=True):
        needed = output + rest
        term = _summed(step, term, needed + total.letters)
        total = _product(step, total, term, needed)
    total = _summed(step, total, output)
    order = [total.letters.index(letter) for letter in output]
    return swap(step, total.x, order)


def _parsed(step: Step, text: str, xs: Sequence[Operand]) -> tuple[list[_Term], str]:
    """Terms and the result's letters; an ellipsis becomes capital letters of its own."""
    equation = text.replace(" ", "")
    left, arrow, output = equation.partition("->")
    words = left.split(",")
    if len(words) != len(xs):
        raise step.misfit(
            f"equation '{text}' has {len(words)} terms for {len(xs)} inputs"
        )
    spare = [c for c in "ZYXWVUTSRQPONMLKJIHGFEDCBA" if c not in equation]
    hidden = max(
        (x.rank - len(w) + 3 for w, x in zip(words, xs, strict=True) if "..." in w),
        default=0,
    )
    dots = "".join(reversed(spare[: max(0, hidden)]))
    terms: list[_Term] = []
    for word, x in zip(words, xs, strict=True):
        count = x.rank - len(word) + 3
        word = word.replace("...", dots[len(dots) - count :] if count > 0 else "", 1)
        if len(word) != x.rank or not (word.isalpha() or not word):
            raise step.misfit(f"equation '{text}' does not fit rank {x.rank}")
        if len(set(word)) != len(word):
            raise step.unsupported(f"a diagonal in '{text}'", "each letter once a term")
        terms.append(_Term(x, word))
    if not arrow:
        flat = "".join(words).replace(".", "")
        output = dots + "".join(sorted(c for c in set(flat) if flat.count(c) == 1))
    output = output.replace("...", dots, 1)
    known = {letter for term in terms for letter in term.letters}
    if len(set(output)) != len(output) or not set(output) <= known:
        raise step.misfit(f"equation '{text}' has a result that its terms do not give")
    return terms, output


def _summed(step: Step, term: _Term, needed: str) -> _Term:
    """A term without the letters that nobody else needs."""
    axes = [i for i, letter in enumerate(term.letters) if letter not in needed]
    if not axes:
        return term
    rest = "".join(letter for letter in term.letters if letter in needed)
    return _Term(step.emit("reduce_sum", term.x, axes=axes), rest)


def _product(step: Step, a: _Term, b: _Term, kept: str) -> _Term:
    """The product of two terms, summed over letters that only they have."""
    shared = [c for c in a.letters if c in b.letters and c not in kept]
    result = [
        c
        for c in dict.fromkeys(kept + a.letters + b.letters)
        if c in a.letters + b.letters and c not in shared
    ]
    if not shared:
        parts = [_aligned(step, t, result) for t in (a, b)]
        return _Term(step.emit("mul", *parts), "".join(result))
    row = next(
        (c for c in reversed(result) if c in a.letters and c not in b.letters), ""
    )
    column = next(
        (c for c in reversed(result) if c in b.letters and c not in a.letters), ""
    )
    batch = [c for c in result if c not in (row, column)]
    left = _factor(step, a, batch, [[row] if row else [], shared])
    # the side whose own order ends in the contracted letters needs no transpose
    flipped = not b.letters.endswith(column) if column else True
    tail = [[column] if column else [], shared]
    right = _factor(step, b, batch, tail if flipped else tail[::-1])
    product = step.emit("matmul", left, right, transpose_b=flipped)
    letters = batch + [row] * bool(row) + [column] * bool(column)
    if row and column:
        return _Term(product, "".join(letters))
    kept_axes: Plan = [Size(product, (i,)) for i in range(len(batch))]
    if row:
        kept_axes = [*kept_axes, Size(product, (product.rank - 2,))]
    if column:
        kept_axes = [*kept_axes, Size(product, (product.rank - 1,))]
    return _Term(reshape(step, product, kept_axes), "".join(letters))


def _factor(
    step: Step, term: _Term, batch: list[str], tail: list[list[str]]
) -> Operand:
    """A term as a matrix: batch axes (leading ones it lacks left out), then two axes."""
    lead = [c for c in batch if c in term.letters]
    order = [c for c in (*lead, *tail[0], *tail[1]) if c in term.letters]
    moved = swap(step, term.x, [term.letters.index(c) for c in order])
    held = _Term(moved, "".join(order))
    first = batch.index(lead[0]) if lead else len(batch)
    plan: list[int | Size] = [held.size(c) for c in batch[first:]]
    for group in tail:
        axes = tuple(held.letters.index(c) for c in group)
        plan.append(Size(moved, axes) if axes else 1)
    return reshape(step, moved, plan)


def _aligned(step: Step, term: _Term, result: list[str]) -> Operand:
    """A term with its axes in the result's order, 1 where it lacks one."""
    order = [c for c in result if c in term.letters]
    moved = swap(step, term.x, [term.letters.index(c) for c in order])
    held = _Term(moved, "".join(order))
    return reshape(step, moved, [held.size(c) for c in result])
