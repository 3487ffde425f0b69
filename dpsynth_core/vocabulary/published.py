"""Tables published about the same people: how many have each value of a column, or each combination of several columns.

They are public before any measurement, so mechanisms take their shares as known, and the rows keep them. Shares and not counts: such a
table may be of another day, and of more or fewer people. The curator states that it was published.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError, first_repeated, shown
from dpsynth_core.foundation.visible import listed
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.marginals import project, summed_axes
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.zeros import Cells

FIELD = "published_tables"
MAX_TABLES, MAX_CELLS, MAX_COUNT = 100, 100_000, 10**15
AGREE = 1e-3
"""Largest share of the people by which two tables may differ on common columns, because published numbers are rounded."""


@dataclass(frozen=True, eq=False)
class PublishedTable:
    """A published table.

    Attributes:
        columns: Its columns, in the domain's order.
        shares: Shares of the people, adding up to 1, float64 with one axis per column.
        source: Where it was published.
    """

    columns: Clique
    shares: NDArray[np.float64]
    source: str

    def __str__(self) -> str:
        return f"{' × '.join(self.columns)} (“{self.source}”)"


def read(
    columns: Sequence[str], cells: Sequence[Sequence[object]], source: str, attributes: Sequence[Attribute], field: str = FIELD
) -> PublishedTable:
    """Return a published table, with counts turned into shares of all people that it counts.

    Args:
        columns: Its columns, in the order of the values in `cells`.
        cells: For each cell a label of each column, in order, and a count from 0 to 10^15. Cells that are left out
            count 0, but each value must occur; cells for other and missing values need not.
        source: Where it was published, a line of text.
        attributes: The attributes of the domain.
        field: Place of the table in the spec, for errors.

    Raises:
        InputError: The table is not usable: its source is blank, a column is unknown, named twice or to be learnt,
            a cell or count is invalid or there twice, a value is missing, all counts are 0, or its columns have
            more than 100,000 cells together.
    """
    by_name = {attribute.name: attribute for attribute in attributes}
    if not source.strip() or not source.isprintable():
        raise InputError(f"{field}.source", "it does not say where the table was published", "name the publication in a line of text")
    unknown = [name for name in columns if name not in by_name]
    if unknown or not columns or first_repeated(columns) is not None:
        problem = f"{shown(unknown[0])} is not in the domain" if unknown else "it names no column, or one twice"
        raise InputError(f"{field}.columns", problem, "name columns of the domain, each once")
    if learnt := [name for name in columns if by_name[name].most]:
        raise InputError(f"{field}.columns", f"the values of {shown(learnt[0])} are to be learnt", "list its values in the domain")
    places = [{label: code for code, label in enumerate(by_name[name].cell_labels())} for name in columns]
    sizes = [*map(len, places)]
    if math.prod(sizes) > MAX_CELLS:
        raise InputError(f"{field}.cells", f"its columns have {math.prod(sizes):,} cells together", f"use at most {MAX_CELLS:,}")
    counts, seen = np.zeros(sizes), np.zeros(sizes, dtype=bool)
    for cell in cells:
        if len(cell) != len(columns) + 1 or any(value not in of for value, of in zip(map(str, cell), places, strict=False)):
            problem = f"{', '.join(map(shown, cell))} is not one value of each of its columns and a count"
            raise InputError(f"{field}.cells", problem, "write values as the domain does")
        *values, count = cell
        if isinstance(count, bool) or not isinstance(count, int | float) or not 0 <= count <= MAX_COUNT:
            raise InputError(f"{field}.cells", f"{shown(count)} is not a number of people", f"give a number from 0 to {MAX_COUNT:,}")
        place = tuple(of[str(value)] for value, of in zip(values, places, strict=True))
        if seen[place]:
            raise InputError(f"{field}.cells", f"{', '.join(map(shown, values))} is counted twice", "count it once")
        counts[place], seen[place] = count, True
    check_named(seen, [by_name[name] for name in columns], f"{field}.cells")
    if not counts.any():
        raise InputError(f"{field}.cells", "the table counts no people", "give the numbers that were published")
    order = sorted(range(len(columns)), key=lambda axis: list(by_name).index(columns[axis]))
    return PublishedTable(tuple(columns[axis] for axis in order), counts.transpose(order) / counts.sum(), source.strip())


def check_named(seen: NDArray[np.bool_], attributes: Sequence[Attribute], field: str) -> None:
    """Check that each value of each column is in some line of a table.

    Args:
        seen: The cells that have a line, a mask with one axis per column. Cells for other and missing
            values need no line.
        attributes: The columns, in the order of the axes.
        field: Place of the table in errors.

    Raises:
        InputError: A value is in no line. The error names the first such value.
    """
    for axis, attribute in enumerate(attributes):
        named = np.asarray(seen.any(axis=tuple(other for other in range(seen.ndim) if other != axis)))[: attribute.values]
        if not named.all():
            label = attribute.cell_labels()[int(named.argmin())]
            raise InputError(field, f"{shown(label)} of {shown(attribute.name)} is missing from the table", "add its count, which may be 0")


def check(tables: Sequence[PublishedTable], zeros: Mapping[Clique, Cells]) -> None:
    """Check that published tables contradict neither each other nor the domain's impossible cells.

    Args:
        tables: The tables.
        zeros: Tables that are True in impossible cells (`Domain.zeros`).

    Raises:
        InputError: Two tables differ on common columns by more than 0.1% of the people (AGREE), half the sum of
            absolute differences of shares, or a table counts people in impossible combinations.
    """
    for number, table in enumerate(tables):
        for clique, impossible in zeros.items():
            shared = tuple(name for name in clique if name in table.columns)
            ever = (~impossible).any(axis=summed_axes(clique, shared))
            if shared and (project(table.shares, table.columns, shared) * ~ever).any():
                problem = f"it counts people in combinations of {listed(list(shared), 5)} that the domain calls impossible"
                raise InputError(f"{FIELD}.{number}.cells", problem, "correct one of the two")
    for (_, one), (number, other) in combinations(enumerate(tables), 2):
        shared = tuple(name for name in one.columns if name in other.columns)
        apart = np.abs(project(one.shares, one.columns, shared) - project(other.shares, other.columns, shared)).sum() / 2
        if shared and apart > AGREE:
            problem = f"of {listed(list(shared), 5)} it has {apart:.1%} of the people in other cells than {one}"
            raise InputError(f"{FIELD}.{number}.cells", problem, "leave one of the two out")
