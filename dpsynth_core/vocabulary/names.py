"""Names of columns: how tables are read, how errors name them, and what tables of counts over them are called."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

from dpsynth_core.foundation.errors import InputError

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def trimmed(name: str) -> str:
    """The name of a column as tables are read: without spaces and byte order marks around it."""
    while (shorter := name.strip().strip("\ufeff")) != name:
        name = shorter
    return name


def told_apart(header: Sequence[str]) -> tuple[str, ...]:
    """The cells of a header as names of columns: later ones of the same name are numbered (age, age_2), unnamed ones called by their place
    (column_3), past names that the header has. A function of the header alone, which neighbouring tables share. InputError where most are
    unnamed: that is no header."""
    if 2 * sum(map(bool, header)) < len(header):
        raise InputError("data", "most columns have no name", "delete what stands above the header, or name them")
    there, numbers = set(header), defaultdict[str, Iterator[int]](lambda: count(2))
    names: dict[str, None] = {}
    for place, cell in enumerate(header, start=1):
        name = wanted = cell or f"column_{place}"
        while name in names or (name != cell and name in there):
            name = f"{wanted}_{next(numbers[wanted])}"
        names[name] = None
    return tuple(names)


def column_field(name: str) -> str:
    """How an error names a column: quoted, on one line, at most 80 characters of it."""
    name = name[:81]
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return f"column '{printable if len(printable) <= 80 else printable[:79] + '…'}'"


def of_columns(size: int) -> str:
    return "Single columns" if size == 1 else f"Tables of {in_letters(size)} columns"


def with_column(name: str) -> str:
    """All tables with this column and others. The name is hostile text."""
    return f"Tables with “{name}”"


def in_letters(count: int) -> str:
    """A small number as a word, a larger one in digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
