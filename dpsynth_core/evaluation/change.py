"""Compare two releases of the same columns: each share of a table that both measured, with the noise of both.

The noise of two releases is independent, so the difference of two shares has the interval that their own intervals combine to (MOVER, see
`questions.evidence`). All intervals of a comparison hold together with 95 % confidence: with k shares, each has confidence 1 - 0.05 / k
(Bonferroni). The compared shares depend on the plans and the measured tables, and on no answer. Tables that only the rows give are left
out, because their noise is not known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from dpsynth_core.evaluation.questions.evidence import Estimated, Noisy, difference, within
from dpsynth_core.evaluation.questions.known import Known
from dpsynth_core.statistics.distances import possible
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

CONFIDENCE = 0.95
MOST_SHARES = 20_000
"""That are compared: of the smallest tables."""


@dataclass(frozen=True)
class Shift:
    """The change of a cell's share of the people from one release to another. All shares are fractions.

    Attributes:
        table: The columns of the table.
        codes: The cell, one code (from 0) per column.
        before: The cell's share of the people in the first release, clipped to 0 and 1.
        after: The cell's share in the second release, clipped to 0 and 1.
        low: Lower bound of after - before; the bounds of all shifts of a comparison hold together
            with 95 % confidence.
        high: Upper bound of after - before, which holds together with the others.
    """

    table: Clique
    codes: tuple[int, ...]
    before: float
    after: float
    low: float
    high: float

    @property
    def sure(self) -> bool:
        """True if the bounds exclude that the share stayed the same."""
        return self.low > 0 or self.high < 0

    @property
    def least(self) -> float:
        """The smallest absolute change that the bounds allow, as a share of the people."""
        return max(0.0, self.low, -self.high)


@dataclass(frozen=True)
class People:
    """The number of people in two releases, with the 95 % interval of the difference.

    Attributes:
        before: Number of people in the earlier release.
        after: Number of people in the later release.
        low: Lower bound of after - before; it holds on its own, not together with the bounds of
            shifts.
        high: Upper bound of after - before, which holds on its own, too.
    """

    before: float
    after: float
    low: float
    high: float


@dataclass(frozen=True)
class Change:
    """The changes between two releases.

    Attributes:
        shifts: The changes of all cells of the compared tables, the largest sure change first
            (`Shift.least`).
        tables: Number of compared tables.
        unmeasured: Tables that at least one of the releases did not measure.
        left: Tables that both releases measured, left out because `MOST_SHARES` cells are compared
            already.
        columns: Columns whose values or kind differ, or that only one release has.
        people: The number of people; None where one release does not give it.
    """

    shifts: tuple[Shift, ...]
    tables: int
    unmeasured: tuple[Clique, ...]
    left: tuple[Clique, ...]
    columns: tuple[str, ...]
    people: People | None

    @property
    def sure(self) -> tuple[Shift, ...]:
        """The shifts whose bounds exclude no change, the largest sure change first."""
        return tuple(shift for shift in self.shifts if shift.sure)


def change(before: Known, after: Known, tables: Iterable[Clique], each: tuple[int, int] = (1, 1)) -> Change:
    """Compare two releases cell by cell in the tables that both measured.

    A table counts as measured if a noisy table contains it. At most 20,000 cells are compared (`MOST_SHARES`), of
    the smallest tables first; the tables that are left out for this reason are in the result's `left`.
    Impossible cells are not compared.

    Args:
        before: The earlier release.
        after: The later release.
        tables: The tables to compare; tables with a column that differs (`comparable`) are left
            out.
        each: Number of records of one person, in the earlier and in the later release; numbers of
            records are divided by it to give the numbers of people.
    """
    domain = before.domain
    wanted = comparable(before.domain, after.domain, tables)
    both = sorted((r for r in wanted if before.estimate(r) and after.estimate(r)), key=lambda r: (domain.cells(r), r))
    kept, cells = list[Clique](), 0
    for table in both:
        if (cells := cells + domain.cells(table)) > MOST_SHARES:
            break
        kept.append(table)
    looked = sum(domain.possible_cells(table) for table in kept)
    z = normal(1 - (1 - CONFIDENCE) / (2 * max(1, looked)))
    shifts = [shift for table in kept for shift in _shifts(before, after, table, z)]
    return Change(
        tuple(sorted(shifts, key=lambda one: (-round(one.least, 9), -abs(one.after - one.before)))),
        len(kept),
        tuple(r for r in wanted if r not in both),
        tuple(both[len(kept) :]),
        different(before.domain, after.domain),
        _people(before, after, each),
    )


def different(before: Domain, after: Domain) -> tuple[str, ...]:
    """Return the columns that only one of the domains has, or that differ between them, the first domain's columns first.

    The result is () if both domains have the same columns.
    """
    names = dict.fromkeys((*before.names, *after.names))
    return tuple(name for name in names if name not in before or name not in after or before[name] != after[name])


def comparable(before: Domain, after: Domain, tables: Iterable[Clique]) -> list[Clique]:
    """Return the tables whose columns are the same in both domains, each table once, in the first domain's column order."""
    apart = set(different(before, after))
    return [table for table in dict.fromkeys(before.clique(r) for r in tables if not apart.intersection(r)) if table]


def _shifts(before: Known, after: Known, table: Clique, z: float) -> Iterator[Shift]:
    """Yield the shift of each possible cell of a table that both releases measured.

    Args:
        before: The earlier release.
        after: The later release.
        table: The table.
        z: Normal quantile of the intervals, with which all of a comparison hold together.
    """
    impossible = before.domain.impossible_cells(table)
    for codes, one, other in zip(np.ndindex(*before.domain.sizes(table)), _shares(before, table), _shares(after, table), strict=True):
        if impossible is not None and impossible[codes]:
            continue
        low, high = within(difference(other, one, 0.0, z), -1.0, 1.0) if one.below > 0 and other.below > 0 else (-1.0, 1.0)
        first, second = (0.0 if math.isnan(share.value) else possible(share.value) for share in (one, other))
        yield Shift(table, tuple(map(int, codes)), first, second, low, high)


def _shares(known: Known, table: Clique) -> list[Estimated]:
    """Return each cell's share of all people, in C order, from the best noisy estimate of the table."""
    estimate = known.estimate(table)
    assert estimate is not None, "both releases measured it"
    return Noisy(known.domain, estimate).cells({}, table)


def _people(before: Known, after: Known, each: tuple[int, int]) -> People | None:
    """Return the change of the number of people; None where one release does not give the number."""
    if before.total is None or after.total is None:
        return None
    one, other = before.total.value / each[0], after.total.value / each[1]
    margin = normal((1 + CONFIDENCE) / 2) * math.hypot(before.total.sigma / each[0], after.total.sigma / each[1])
    return People(one, other, other - one - margin, other - one + margin)
