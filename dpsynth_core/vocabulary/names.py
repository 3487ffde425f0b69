"""Names of columns: their form when tables are read, in errors, and in the names of tables of counts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count

from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.visible import listed

_DIVIDING = frozenset(",;|:\t")
_LISTED = 8
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def trimmed(name: str) -> str:
    """Return the name of a column without surrounding spaces and byte order marks, as when tables are read."""
    while (shorter := name.strip().strip("\ufeff")) != name:
        name = shorter
    return name


def told_apart(header: Sequence[str]) -> tuple[str, ...]:
    """Return distinct names of columns for the cells of a header, in order.

    Repeated names are numbered (age, age_2), and unnamed columns are called by their place
    (column_3, counted from 1), avoiding names in the header. Neighbouring tables with the same header get the same
    names.

    Args:
        header: The cells of the header; "" for an unnamed column.

    Raises:
        InputError: More than half of the cells are empty, so that the line is not a header.
    """
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
    r"""Return "column" and a name in quotes, for errors: on one line, with at most 80 characters of the name.

    A longer name is cut and ends in "…"; characters that cannot be printed are written as escapes such as "\n".
    """
    name = name[:81]
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return f"column '{printable if len(printable) <= 80 else printable[:79] + '…'}'"


def of_columns(size: int) -> str:
    """Return the heading for all tables of `size` columns, such as "Tables of two columns"; "Single columns" for 1."""
    return "Single columns" if size == 1 else f"Tables of {in_letters(size)} columns"


def with_column(name: str) -> str:
    """Return the heading for all tables that contain this column. The column's name is untrusted text."""
    return f"Tables with “{name}”"


def in_letters(count: int) -> str:
    """Return a number up to ten as a word ("no" for 0), a larger one in digits with a comma for each thousand."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def no_column(name: str, have: str, there: Sequence[str], field: str = "", sheet: str | None = None) -> InputError:
    """Return the error about a column that a table lacks; it is returned, not raised.

    It lists up to 8 columns that the table has, those with a similar name first, and the number of further ones.

    Args:
        name: Its name.
        have: How the problem begins, such as "the data have".
        there: The names of the columns that the table has.
        field: What asked for it; "" for the domain.
        sheet: Another sheet of the workbook, which has the column; None without such a sheet.
    """
    near = similar(name, there)
    names = [*near, *(one for one in there if one not in near)]
    problem = f"{have} no column {shown(name) if field else 'of this name'}, but {listed(list(map(shown, names)), _LISTED)}"
    remedy = "choose one of these" if field else "drop it from the domain, or correct its name"
    if near:
        remedy += f": {' or '.join(map(shown, near))} is similar"
    if sheet is not None:
        remedy = f"state the sheet {shown(sheet)}, which has it"
    elif len(there) == 1 and set(there[0]) & _DIVIDING:
        remedy = "state how fields are separated (delimiter), for the header is one name"
    return InputError(field or column_field(name), problem, remedy)


def similar(name: str, there: Sequence[str]) -> list[str]:
    """Return up to two of some names that are spelt like a name, the most similar first; small and capital letters are alike."""
    from difflib import get_close_matches  # loaded for errors alone

    by_letters = {one.casefold(): one for one in reversed(there)}
    return [by_letters[one] for one in get_close_matches(name[:100].casefold(), list(by_letters), 2, 0.7)]
