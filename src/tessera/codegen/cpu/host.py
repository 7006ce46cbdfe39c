"""What the emitters know of a machine: data, one record each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Tile:
    """A block of registers: `rows` broadcast operands by `vectors` vectors."""

    rows: int
    vectors: int


@dataclass(frozen=True)
class Host:
    """One kind of CPU.

    `width`: f32 lanes of a vector.  `needs`: what a CPU must have for this record (in
    LLVM's names).  `attributes`: LLVM function attributes.  `wide`, `narrow`: the tile of
    attention's two products where many queries share keys, or few; `keys`: keys of a block.
    `product`, `slim`: tile of a plain product of many rows, or few, whose rows, depth and
    strips (of the tile's vectors) are blocked by the next three.
    """

    name: str
    width: int
    needs: frozenset[str]
    attributes: str
    wide: Tile
    narrow: Tile
    keys: int
    product: Tile
    slim: Tile
    block_rows: int
    block_depth: int
    block_strips: int


_X86 = '"no-trapping-math"="true" "prefer-vector-width"="512"'
HOSTS: tuple[Host, ...] = (
    Host(
        name="avx512",
        width=16,
        needs=frozenset({"avx512f", "avx512vl", "avx512bw", "avx512dq", "f16c"}),
        attributes=_X86,
        wide=Tile(4, 4),
        narrow=Tile(8, 1),
        keys=64,
        product=Tile(8, 3),
        slim=Tile(2, 8),
        block_rows=256,
        block_depth=512,
        block_strips=8,
    ),
    Host(
        name="avx2",
        width=8,
        needs=frozenset({"avx2", "fma", "f16c"}),
        attributes=_X86,
        wide=Tile(4, 3),
        narrow=Tile(8, 1),
        keys=64,
        product=Tile(4, 3),
        slim=Tile(2, 4),
        block_rows=192,
        block_depth=384,
        block_strips=12,
    ),
    Host(
        name="neon",
        width=4,
        needs=frozenset({"neon"}),
        attributes='"no-trapping-math"="true"',
        wide=Tile(4, 5),
        narrow=Tile(8, 1),
        keys=64,
        product=Tile(4, 5),
        slim=Tile(2, 8),
        block_rows=192,
        block_depth=384,
        block_strips=12,
    ),
)


def find_host(features: Mapping[str, bool]) -> Host | None:
    """The widest record that a CPU with these features satisfies, if any."""
    has = {name for name, there in features.items() if there}
    return next((host for host in HOSTS if host.needs <= has), None)
