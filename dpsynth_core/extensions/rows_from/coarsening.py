"""Coarsening of tables of counts, for offices that may not add noise: multiples of k, small counts suppressed, a column top-coded.

This is not differential privacy. Tables of the same people can be subtracted from each other, and each table is treated alone here.
"""

from __future__ import annotations

import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from dpsynth_core.extensions.rows_from.tables import withheld
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.interface import labelled
from dpsynth_core.interface.given_values import whole_number
from dpsynth_core.sources import memory
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.codec import floats
from dpsynth_core.sources.detect import public_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.published import COUNT
from dpsynth_core.vocabulary.published import MAX_COUNT

if TYPE_CHECKING:
    import pandas as pd

STATEMENT = (
    "This is not differential privacy: no noise was added, and nothing bounds what somebody can learn. Whoever has several tables of the "
    "same people, or knows some of them, may work out counts that were rounded or suppressed. Look at all tables together before you "
    "publish one."
)
_Lines = Mapping[tuple[str, ...], float]
_MOST = 2**53
"""More than the people of any table: below this, float64 has every whole number, and sums are exact."""


def protect_table(
    table: Any, *, multiples_of: int | None = None, suppress_below: int | None = None, top: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Make a table of counts coarser: top-code columns, then suppress small counts, then round the others to multiples.

    This is not differential privacy: a reader who has several tables of the same people, or knows some of these people,
    may work out counts that were rounded or suppressed.

    The lines are sorted by their labels, column by column, because the order of a table can tell which of its suppressed
    counts is the larger one.

    Args:
        table: A table with a column for each variable and `count`: a pandas, Polars or Arrow table, a Series or cross
            table with named labels, or the path of a file.
        multiples_of: Counts become the nearest multiple of this number, 2 or more; of two that are equally
            near, the larger one.
        suppress_below: Counts from 1 to one less than this number, 2 or more, become empty. A count of 0
            stays.
        top: By column of numbers, the largest value that is published: larger ones are written as this value, and their
            counts are added up. A sum with a suppressed count is suppressed.

    Returns:
        A pandas frame with the labels as texts, and the whole numbers `count`, <NA> where suppressed, also
        where they were before. Labels of a column of numbers are in the order of size, others in that of texts.

    Raises:
        InputError: If nothing is asked for, a number is below 2, or what is to be published at most is no number; the
            table is not one of counts, counts 2**53 people or more, or has a line twice; or a top-coded column is
            not there or holds something else than numbers.

    Examples:
        >>> import dpsynth_core as dps, pandas as pd
        >>> table = pd.DataFrame({"age": [89, 90, 97], "count": [23, 2, 5]})
        >>> dps.protect_table(table, top={"age": 90}, multiples_of=5)["count"].tolist()
        [25, 5]
    """
    import pandas as pd

    field = os.path.basename(table) if isinstance(table, str | os.PathLike) else "table"
    steps = {"multiples_of": multiples_of, "suppress_below": suppress_below}
    sizes = {name: 1 if value is None else whole_number(value, name, "a number of people", 2, MAX_COUNT) for name, value in steps.items()}
    if not top and not any(steps.values()):
        raise InputError("protect_table", "it is not said how", "give multiples_of, suppress_below or top")
    largest = _largest(top or {})
    names, lines = _read(table, field)
    for name, most in largest.items():
        lines = _top_coded(names, lines, name, most, field)
    lines = _sorted(lines)
    counts = [_rounded(_suppressed(count, sizes["suppress_below"]), sizes["multiples_of"]) for count in lines.values()]
    labels = {name: [of[at] for of in lines] for at, name in enumerate(names)}
    return pd.DataFrame(labels | {COUNT: pd.array(counts, dtype="Int64")})


def _largest(top: Any) -> dict[str, float]:
    """Return by column the largest value that is published.

    Raises:
        InputError: It is no such mapping, or a value is no finite number.
    """
    if not isinstance(top, Mapping):
        raise InputError("top", f"{shown(top)} does not say which column", "give the largest number by column, such as {'age': 90}")
    for name, most in top.items():
        if isinstance(most, bool) or not issubclass(type(most), Real) or not abs(most) <= _MOST:
            raise InputError(f"top, {shown(name)}", f"{shown(most)} is not a number of up to {_MOST:,}", "give a number, such as 90")
    return {str(name): float(most) for name, most in top.items()}


def _sorted(lines: _Lines) -> dict[tuple[str, ...], float]:
    """Return the lines in the order of their labels, column by column; a column of numbers alone by size, another one by text."""
    keys = [_keys(column) for column in zip(*lines, strict=True)]
    order = sorted(zip(*keys, lines, strict=True))
    return {line[-1]: lines[line[-1]] for line in order}


def _keys(labels: Sequence[str]) -> Sequence[float | str]:
    """Return what sorts the labels of a column: their numbers, if they are numbers alone, else the texts themselves."""
    try:
        numbers = [float(label) for label in labels]
    except ValueError:
        return labels
    return labels if any(map(math.isnan, numbers)) else numbers


def _read(table: Any, field: str) -> tuple[list[str], dict[tuple[str, ...], float]]:
    """Return the names of the columns but `count`, and the count of each line by its labels; nan where it is suppressed.

    Raises:
        InputError: The table is not one of counts, or has a line twice.
    """
    source = Path(table) if isinstance(table, str | os.PathLike) else labelled.lines(table, (), field)
    if source is None:
        raise InputError(field, f"{shown(table)} is not a table of counts", f"give columns with names, and {COUNT!r}")
    form = public_format(source, field) if isinstance(source, Path) else TableFormat.of({"kind": memory.KIND})
    rows = opened(source, form)
    rows.check()
    names = [name for name in rows.column_names() if name != COUNT]
    if COUNT not in rows.column_names() or not names:
        raise InputError(field, f"it has no column {COUNT!r}, or no other", f"give columns with names, and {COUNT!r}")
    found = dict[tuple[str, ...], float]()
    for batch in rows.batches([*names, COUNT]):
        column = batch.column(len(names))
        labels = [[text or "" for text in texts(batch.column(at)).to_pylist()] for at in range(len(names))]
        numbers = floats(column, form.notation)
        known = ~np.isnan(numbers)
        marks = texts(column.filter(pa.array(~known))).to_pylist()
        if not all(map(withheld, marks)) or (numbers[known] < 0).any() or (numbers[known] != np.round(numbers[known])).any():
            problem = f"its column {COUNT!r} has something else than whole numbers of people"  # which are not named: they are not protected
            raise InputError(field, problem, "give whole numbers, or nothing where a count is suppressed already")
        for *cell, count in zip(*labels, numbers.tolist(), strict=True):
            if tuple(cell) in found:
                raise InputError(field, "two of its lines have the same labels", "count each combination once")
            found[tuple(cell)] = count
    if np.nansum(list(found.values())) >= _MOST:
        raise InputError(field, f"it counts {_MOST:,} people or more", "correct its counts")
    return names, found


def _top_coded(names: list[str], lines: _Lines, name: str, most: float, field: str) -> dict[tuple[str, ...], float]:
    """Return lines in which a column has no number above `most`; counts of lines that become one are added up.

    Raises:
        InputError: The table lacks the column, or it holds something else than numbers.
    """
    if name not in names:
        raise InputError(f"{field}, top", f"there is no column {shown(name)}", f"name one of {', '.join(map(shown, names))}")
    told = str(int(most)) if most == int(most) else str(most)
    at, added = names.index(name), defaultdict[tuple[str, ...], float](float)
    for labels, count in lines.items():
        try:
            above = float(labels[at]) > most
        except ValueError:
            remedy = "top-code a column of numbers; of groups, merge the last ones in the table"
            raise InputError(f"{field}, top", f"the column {shown(name)} holds something else than numbers", remedy) from None
        added[(*labels[:at], told if above else labels[at], *labels[at + 1 :])] += count
    return dict(added)


def _suppressed(count: float, below: int) -> float:
    return math.nan if 0 < count < below else count


def _rounded(count: float, k: int) -> int | None:
    """Return the nearest multiple of k, of two the larger one; None for nan."""
    return None if math.isnan(count) else (2 * int(count) + k) // (2 * k) * k
