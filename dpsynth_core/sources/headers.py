"""The columns of a table of any kind by their names: which can be used, and which are there; and how many rows are read at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.names import column_field, no_column

BATCH_ROWS = 131_072


def check_names(names: Sequence[str]) -> None:
    """Check that there are column names, and that each is neither blank nor repeated.

    Raises:
        InputError: There are no names, or a name is blank or repeated.
    """
    if not names:
        raise InputError("data", "the table has no columns", "choose a file with a header line and rows")
    if (unnamed := next((at for at, name in enumerate(names, start=1) if not name.strip()), None)) is not None:
        raise InputError("data", f"column {unnamed} has no name", "name every column")
    if (repeated := next((name for name, count in Counter(names).items() if count > 1), None)) is not None:
        raise InputError(column_field(repeated), "two columns have this name", "rename one of the columns")


def check_columns(names: Sequence[str], wanted: Sequence[str]) -> None:
    """Check that each column in `wanted` is in `names` exactly once.

    Raises:
        InputError: A column is missing or there twice. The error names it.
    """
    there = Counter(names)
    for name in wanted:
        if not there[name]:
            raise no_column(name, "the data have", list(there))
        if there[name] > 1:
            raise InputError(column_field(name), "the data have two columns of this name", "rename one of them")
