"""Questions to a release: a statistic of the people in some cells. A question is public and does not depend on a release."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside, behind, middles
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.ranges import Spans

COUNT, SHARE, MEAN, MEDIAN, DIFFERENCE, TABLE = STATISTICS = ("count", "share", "mean", "median", "difference", "table")
MOST_COLUMNS = 4
"""Of a cross table."""
MOST_CELLS = 2000
"""That a cross table may show."""

Cells = Mapping[str, tuple[int, ...]]
"""People who are in one of these cells of each of these columns; no column: everybody."""
Cuts = Mapping[str, Mapping[int, Spans]]
"""By column and code, the values that are meant of cells that hold others too."""
AMONG, CELLS, VERSUS = "among", "cells", "versus"
"""The groups of a question, by the field that has their cells."""
Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A statistic of a group of people.

    Attributes:
        statistic: One of STATISTICS. COUNT is the number of people in the group, SHARE the share of
            the group in `cells`, MEAN and MEDIAN the mean and the median cell of `column`, TABLE
            the group's shares over the cells of `columns`. DIFFERENCE is the mean of `column` (or,
            without a column, the share in `cells`) of the group minus the same statistic of the
            group `versus`.
        among: The cells of the group; empty for all people.
        cells: The cells whose share is asked.
        versus: The cells of the group to compare with.
        column: The column of a mean or median; "" for other statistics.
        columns: The columns of a cross table.
        cut: By AMONG, CELLS or VERSUS, the cells that a range cuts; only people with a value in the
            spans are meant there.
    """

    statistic: str
    among: Cells = field(default_factory=dict)
    cells: Cells = field(default_factory=dict)
    versus: Cells = field(default_factory=dict)
    column: str = ""
    columns: tuple[str, ...] = ()
    cut: Mapping[str, Cuts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("among", "cells", "versus"):
            stated = {column: tuple(sorted(set(codes))) for column, codes in getattr(self, name).items()}
            object.__setattr__(self, name, MappingProxyType(stated))

    def checked(self, domain: Domain) -> Question:
        """Return the question itself after checking that it can be asked of these columns.

        Raises:
            InputError: The question names unknown cells, lacks a part, needs an order or numbers that its column
                lacks, or asks for a cross table of more than 4 columns or 2,000 cells.
            KeyError: A column is not in the domain.
        """
        if self.statistic not in STATISTICS:
            raise InputError("statistic", "it is not known", f"use one of {', '.join(STATISTICS)}")
        for cells in (self.among, self.cells, self.versus):
            for column, codes in cells.items():
                if not codes or codes[0] < 0 or codes[-1] >= domain[column].size:
                    raise InputError(f"column {column!r}", "no such cells", f"choose at least one of its {domain[column].size:,} cells")
        self._check_column(domain)
        if self.statistic == SHARE and not self.cells:
            raise InputError("share", "nothing says of what", "choose cells of a column")
        if self.statistic == DIFFERENCE and not (self.among and self.versus):
            raise InputError("difference", "it needs two groups", "choose cells for both")
        if self.statistic == DIFFERENCE and bool(self.column) == bool(self.cells):
            raise InputError("difference", "nothing says of what, or two things do", "choose a column for means, or cells for shares")
        if self.statistic == TABLE:
            if not 1 <= len(self.columns) <= MOST_COLUMNS:
                raise InputError("cross table", f"it has no columns, or more than {MOST_COLUMNS}", "choose fewer")
            if domain.cells(domain.clique(self.columns)) > MOST_CELLS:
                raise InputError("cross table", f"it has more than {MOST_CELLS:,} cells", "choose columns with fewer cells")
        return self

    def _check_column(self, domain: Domain) -> None:
        """Check that a column for means, or a difference of means, has numbers, and one for medians an order.

        Raises:
            InputError: The column has no numbers, or no order.
        """
        if self.statistic in (MEAN, MEDIAN) or (self.statistic == DIFFERENCE and self.column):
            usable = domain[self.column].ordered if self.statistic == MEDIAN else cell_values(domain[self.column]) is not None
            if not usable:
                lack, what = ("no order", "an order") if self.statistic == MEDIAN else ("no numbers", "numbers")
                raise InputError(f"column {self.column!r}", f"its cells have {lack}", f"choose a column whose cells have {what}")

    @cached_property
    def asked(self) -> frozenset[str]:
        """The names of all columns that the question names."""
        return frozenset((*self.among, *self.cells, *self.versus, *self.columns, *([self.column] if self.column else [])))

    def clique(self, domain: Domain) -> Clique:
        """Return all columns that the question names, in the domain's order."""
        return domain.clique(self.asked)


def cell_values(attribute: Attribute, inside: Inside | None = None) -> Vector | None:
    """Return the number that represents each cell of a column, shape (cells,).

    It is the cell's middle, or the mean of its numbers where their distribution inside is known, or
    the number that a listed value is. It is NaN for missing and other values.

    Args:
        attribute: The column.
        inside: The released distribution of numbers inside the cells.

    Returns:
        The numbers, or None for columns without numbers.
    """
    if attribute.dtype not in ("int64", "float64"):
        return None
    if attribute.is_number:
        return middles(attribute) if inside is None else behind(inside.of(attribute).means, attribute)
    return behind(np.array([float(category) for category in attribute.categories]), attribute) if attribute.is_listed else None


def half_width(attribute: Attribute) -> float:
    """Return the largest distance of a value from the middle of its cell, in the column's unit.

    It is 0 where cells are single values, as categories are. A bin of whole numbers ends before the next edge:
    for 0 to 9 it is 4.5, not 5.
    """
    if not attribute.is_number:
        return 0.0
    return float(max(np.diff(np.array(attribute.edges, dtype=np.float64)) - attribute.scale.whole)) / 2


def indicator(attribute: Attribute, codes: Iterable[int]) -> Vector:
    """Return a vector over the cells of a column: 1 for these codes, 0 for others. Shape (size,)."""
    vector = np.zeros(attribute.size)
    vector[list(codes)] = 1.0
    return vector


def weights(domain: Domain, cells: Cells) -> dict[str, Vector]:
    """Return by column of `cells` a vector over all its cells: 1 for the named cells, 0 for others.

    A person is in the group if the product of the entries of their cells is 1.
    """
    return {column: indicator(domain[column], codes) for column, codes in cells.items()}
