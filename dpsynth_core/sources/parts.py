"""Parts of a table: pieces of its files in file order, which can be read one by one, anywhere and in any order.

A table is every record of all its parts, each once, in their order. The division depends on the bytes of the files. So results made from
parts must be equal for every division, as sums are; otherwise neighbouring tables would be cut at different places and differ in more than
one person (see `persons`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from dpsynth_core.sources.locations import Location


@dataclass(frozen=True)
class Sizes:
    """The approximate sizes of parts.

    Attributes:
        bytes: Bytes of files in a part, 64 MiB by default.
        rows: Rows in a part of Parquet files, about a million by default.
        divided: A table with fewer bytes is a single part, because dividing it would take longer
            than counting it; 4 MiB by default.
    """

    bytes: int = 64 << 20
    rows: int = 1 << 20
    divided: int = 4 << 20


USUAL = Sizes()


class Piece(NamedTuple):
    """A range of the records of one file, which can be read independently of the rest of the file.

    Attributes:
        file: The path or URI of the file.
        begin: The first byte, where a line begins; for Parquet the first row group.
        end: The end, exclusive, in the same unit; None for the end of the file.
    """

    file: str
    begin: int = 0
    end: int | None = None


Part = tuple[Piece, ...]
WHOLE: Part = ()
"""A table that is not divided."""

Listed = Mapping[str, Sequence[str]]
"""The listed values of columns, by name."""
NOTHING_LISTED: Listed = MappingProxyType({})


def uncut(files: Iterable[Location]) -> Part:
    """Return the part that contains all records of these files, in order."""
    return tuple(Piece(str(file)) for file in files)


def cut(file: str, places: Sequence[int]) -> Iterator[Piece]:
    """Yield the pieces of a file that is cut at these ascending positions, in order: one more than there are positions.

    Args:
        file: The path or URI of the file.
        places: Byte positions, or row groups of Parquet.
    """
    for begin, end in zip([0, *places], [*places, None], strict=True):
        yield Piece(file, begin, end)


def gathered(pieces: Iterable[tuple[Piece, int]], size: int) -> list[Part]:
    """Return parts made of consecutive pieces; each has at most `size`, or is one larger piece. [] for no pieces.

    Args:
        pieces: The pieces in file order, each with its size.
        size: The wanted size of a part, in the unit of the pieces' sizes (bytes or rows).
    """
    parts: list[Part] = []
    part: Part = ()
    held = 0
    for piece, of_piece in pieces:
        if part and held + of_piece > size:
            parts.append(part)
            part, held = (), 0
        part, held = (*part, piece), held + of_piece
    return [*parts, part] if part else parts
