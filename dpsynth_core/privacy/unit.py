"""The unit of privacy: which tables count as neighbours, and how much one person can change an answer.

Every sensitivity in the project is read from here. With m rows per person at most (others dropped by a rule that looks at no one
else's rows), neighbours differ in the up to m rows of one person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsynth_core.foundation.errors import InputError

ADD_REMOVE = "add-remove"
REPLACE = "replace"
MOST_TIMES = 2**10
"""Largest number of times that a record counts; more would leave less room for exact sums."""


@dataclass(frozen=True)
class Unit:
    """The unit of privacy: neighbours differ by one person added or removed, or by one person's rows replaced.

    Attributes:
        relation: The neighbouring relation, `ADD_REMOVE` or `REPLACE`.
        max_rows_per_person: Largest number of counted rows per person.
        rows_may_not_count: Whether the content of rows decides how many rows count: a person column
            may be empty (`sources.persons`), and a row of a workbook may be blank
            (`sources.file_kinds`).

    Raises:
        InputError: A value is invalid.
    """

    relation: str = ADD_REMOVE
    max_rows_per_person: int = 1
    rows_may_not_count: bool = False

    def __post_init__(self) -> None:
        if self.relation not in (ADD_REMOVE, REPLACE):
            raise InputError("unit.relation", f"{self.relation!r} is unknown", f'use "{ADD_REMOVE}" or "{REPLACE}"')
        rows = self.max_rows_per_person
        if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
            raise InputError("unit.max_rows_per_person", f"{rows!r} is not a whole number from 1 up", "give the most rows one person owns")

    def counted(self, times: int) -> Unit:
        """Return the unit of privacy of counts in which each record counts up to `times` times (Proposition 26).

        Raises:
            InputError: `times` is below 1.
        """
        return replace(self, max_rows_per_person=self.max_rows_per_person * times, rows_may_not_count=True)

    @property
    def marginal_l1(self) -> int:
        """The L1 sensitivity of one marginal, and of ||M_r(D) - v||_1, in rows.

        With m rows per person, cells change by m in total; under "replace", by m lost and m gained.
        """
        return self.max_rows_per_person * (2 if self.relation == REPLACE else 1)

    @property
    def marginal_l2(self) -> float:
        """The L2 sensitivity of one marginal, in rows, never rounded down.

        The worst case are all m rows of a person in one cell, or m rows moved from one cell to
        another.
        """
        return self.marginals_l2(1)

    def marginals_l2(self, count: int) -> float:
        """Return the L2 sensitivity of `count` marginals together, in rows, never rounded down.

        In the worst case all rows of a person are in one cell of each marginal.
        """
        return _root(count * self.max_rows_per_person**2 * (2 if self.relation == REPLACE else 1))

    def residual_l2(self, one_row: Fraction, one_row_elsewhere: Fraction) -> float:
        """Return the L2 sensitivity of a residual, never rounded down.

        The worst m rows are the same row m times. A person with fewer rows after the replacement
        than before does not increase the sensitivity: a row that is only taken away costs less than
        a row that moves.

        Args:
            one_row: Squared change by one row more or less (`privacy.residuals`).
            one_row_elsewhere: Squared change by one row that moves to another cell.
        """
        squared = one_row_elsewhere if self.relation == REPLACE else one_row
        return _root(self.max_rows_per_person**2 * squared)

    def errors_l2(self, count: int) -> float:
        """Return the L2 sensitivity of `count` errors ||M_r(D) - v_r||_1 together, in rows, never rounded down.

        Each error changes by at most `marginal_l1`.
        """
        return _root(count * self.marginal_l1**2)

    @property
    def query_l1(self) -> int:
        """The sensitivity of one counting query, and of |q(D) - v|, in rows, in both relations.

        Each row of a person counts once or not at all.
        """
        return self.max_rows_per_person

    def queries_l2(self, count: int) -> float:
        """Return the L2 sensitivity of `count` arbitrary counting queries together, in rows, never rounded down."""
        return _root(count * self.query_l1**2)

    def sum_l2(self, low: float, high: float) -> float:
        """Return the L2 sensitivity of a sum over rows in which each row adds a number from `low` to `high`.

        It is `max_rows_per_person` times the most that one row can change the sum: the larger of -low and high if a
        person is added or removed, and high - low if a person is replaced, whose rows then get other numbers or
        vanish. It is never rounded down. The range must contain 0.
        """
        lowest, highest = Fraction(low), Fraction(high)
        widest = highest - lowest if self.relation == REPLACE else max(-lowest, highest)
        return _root((self.max_rows_per_person * widest) ** 2)

    @property
    def total_l2(self) -> int:
        """The sensitivity of the number of rows; 0 where it is public.

        Where rows may not count, a replaced person may own fewer rows that do, or none at all.
        """
        return 0 if self.total_is_public else self.max_rows_per_person

    @property
    def total_is_public(self) -> bool:
        """True if all neighbours have the same number of rows: "replace", with one row per person.

        Every line of a file is a row, with any content (`sources.csv_file`), so no content can
        change their number. Workbooks, and views and queries of a database, differ: their rows may
        not count.
        """
        return self.relation == REPLACE and self.max_rows_per_person == 1 and not self.rows_may_not_count


def _root(squared: int | Fraction) -> float:
    """Return the square root of an exact number as a float, rounded up."""
    root = math.sqrt(squared)
    while Fraction(root) ** 2 < squared:
        root = math.nextafter(root, math.inf)
    return root
