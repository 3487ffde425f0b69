"""The released values that answers come from: rows, noisy tables, limits of tables, and the number of people."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import ROWS, Certificate, table_bounds
from dpsynth_core.claims.means import MeanMeasured
from dpsynth_core.claims.ranges import LargestRange, RangeErrors, bound
from dpsynth_core.claims.weights import Weighted
from dpsynth_core.evaluation.bounds import UNSUPPORTED, Bound
from dpsynth_core.evaluation.combination import Combined, Evidence
from dpsynth_core.evaluation.questions.question import MEAN, Question, Vector, cell_values, half_width
from dpsynth_core.statistics.coins import OF_COINS, Coins
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import counted

ALPHA = 0.05
"""How often an interval may fail."""
LIMIT_ALPHA = 0.01
"""Of that, what a table's limit has where noisy counts have the rest."""
TOTAL_ALPHA = 0.0004
"""Of either, what the number of people has where it is an estimate."""
CERTIFIED, INFERRED, RANGED = "certified", "inferred", "ranges"
MEASURED, MIDDLES, NUMBERS = "means", "middles", "numbers"
"""What stands for the values of a cell: their mean as measured, its middle, or the one value that it has."""


@dataclass(frozen=True)
class Limit:
    """An upper bound of the share of people in a wrong cell of a table, or by which a range's share is off.

    Attributes:
        support: CERTIFIED if measured, INFERRED from the mechanism's selections, or RANGED for the
            largest error of a range.
        alone: The bound with 95 % confidence (1 - ALPHA), for answers from this limit only.
        beside: The bound with 99 % confidence (1 - LIMIT_ALPHA), for answers from noisy counts and this
            limit; 1 if unknown.
        together: The bound for all tables at once with 99 % confidence; 1 if unknown.
        likely: The best estimate of the share, None if unknown.
    """

    support: str
    alone: float
    beside: float
    together: float = 1.0
    likely: float | None = None


@dataclass(frozen=True)
class Ranges:
    """The limits for ranges of ordered columns: how far the share of people in any range may be off.

    Attributes:
        columns: The columns whose ranges were measured.
        pairs: The pairs of columns for which ranges within a cell of the other column were
            measured.
        alone: The limit for a range among all people.
        within: The limit for a range within one cell of the other column of a pair; None if not
            measured.
    """

    columns: Clique
    pairs: frozenset[Clique]
    alone: Limit
    within: Limit | None


@dataclass(frozen=True, eq=False)
class Known:
    """The released values that answer questions.

    Attributes:
        domain: The columns.
        codes: Codes of the rows, (rows, columns); None for answers without rows.
        measurements: The noisy tables.
        total: Number of people; None where no released value gives it.
        limits: By table, the bound of its error; empty without rows.
        ranges: The limits for ranges, None if not measured.
        inside: By column, the distribution of numbers within its cells.
        weights: Weights of the rows, (rows,); None where each row counts once.
        means: By column, its mean among all people, where the release states it.
    """

    domain: Domain
    codes: NDArray[np.integer] | None
    measurements: Sequence[Measurement]
    total: Total | None
    limits: Mapping[Clique, Limit]
    ranges: Ranges | None = None
    inside: Mapping[str, Inside] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None
    means: Mapping[str, MeanMeasured] = field(default_factory=dict)
    _estimates: dict[Clique, Combined | None] = field(default_factory=dict, repr=False)

    def estimate(self, clique: Clique) -> Combined | None:
        """Return the least-squares estimate of a table from all noisy tables, in records; None if no noisy table contains it."""
        if clique not in self._estimates:
            public = self.total.value if self.total is not None and self.total.sigma == 0 else None
            self._estimates[clique] = self._evidence.parts(clique, public)
        return self._estimates[clique]

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self.measurements)

    def values(self, column: str) -> Vector | None:
        """Return the number that represents each cell of a column, shape (cells,), NaN for cells without one; None without numbers.

        It is the cell's middle or measured mean, or the number that a listed value is (`question.cell_values`).
        """
        return cell_values(self.domain[column], self.inside.get(column))

    def off(self, column: str) -> float:
        """Return the largest distance of a value from the number that represents its cell, in the column's unit.

        It is 0 for cells of single values, and where measured means represent the cells.
        """
        return 0.0 if column in self.inside else half_width(self.domain[column])

    def stated_mean(self, question: Question) -> MeanMeasured | None:
        """Return the release's statement that answers a question; None if it has none.

        Only questions about the mean of a column among all people have such a statement.
        """
        return self.means.get(question.column) if question.statistic == MEAN and not question.among else None

    def standing(self, column: str) -> str:
        """Return what represents a cell of the column: MEASURED (a measured mean), MIDDLES (its middle) or NUMBERS (its only value)."""
        return MEASURED if column in self.inside else MIDDLES if half_width(self.domain[column]) else NUMBERS

    def cover(self, clique: Clique) -> Clique | None:
        """Return the table with the fewest cells among those that have a limit and contain these columns; None without one.

        Of equally small tables it is the first by name. The choice depends on sizes and names only, so that noise has
        no part in it.
        """
        containing = [table for table in self.limits if set(clique) <= set(table)]
        return min(containing, key=lambda table: (self.domain.cells(table), table), default=None)

    def range_limit(self, cells: Mapping[str, tuple[int, ...]]) -> Limit | None:
        """Return the limit of the share of people in `cells` if these are a range with a measured error; else None.

        They are a range of one column (consecutive codes), or a range of one column within one cell
        of another.
        """
        if self.ranges is None or len(cells) > 2:
            return None
        whole = {name for name, codes in cells.items() if name in self.ranges.columns and self._is_range(name, codes)}
        if len(cells) == 1:
            return self.ranges.alone if whole else None
        fits = self.domain.clique(cells) in self.ranges.pairs and any(len(codes) == 1 and whole - {name} for name, codes in cells.items())
        return self.ranges.within if fits else None

    def _is_range(self, name: str, codes: tuple[int, ...]) -> bool:
        """Return whether these codes, in ascending order, are consecutive ordered cells of the column `name`."""
        return codes == tuple(range(codes[0], codes[-1] + 1)) and codes[-1] < self.domain[name].ordered

    @property
    def size(self) -> float:
        """The number of rows, or the sum of their weights; 1 if there are no rows. It needs `codes`."""
        assert self.codes is not None
        return max(1, len(self.codes)) if self.weights is None else float(self.weights.sum()) or 1.0

    def rows_in(self, among: Mapping[str, Vector], columns: Sequence[str]) -> NDArray[Any]:
        """Return the number of rows in a group, or the sum of their weights, in each cell of the table over `columns`.

        The release must have rows.

        Args:
            among: The group: by column, the share of each cell's rows that count; {} for all rows.
            columns: The columns of the table, which fix its shape; none for a single number, of shape ().
        """
        assert self.codes is not None
        chosen, weights = np.ones(len(self.codes), dtype=bool), self.weights
        for column, vector in among.items():
            codes = self.codes[:, self.domain.position(column)]
            chosen &= (vector > 0)[codes]
            if ((vector > 0) & (vector < 1)).any():
                weights = vector[codes] if weights is None else weights * vector[codes]
        weights = None if weights is None else weights[chosen]
        if not columns:
            return np.asarray(chosen.sum() if weights is None else weights.sum())
        return counted([self.codes[chosen, self.domain.position(column)] for column in columns], self.domain.sizes(columns), weights)

    @property
    def doubt(self) -> float:
        """The largest distance of the number of people from `total`, except with probability 0.0004 (`TOTAL_ALPHA`).

        It is 0 if the number is exact or unknown.
        """
        return 0.0 if self.total is None or self.total.sigma == 0 else normal(1 - TOTAL_ALPHA / 2) * self.total.sigma


def known(
    domain: Domain,
    codes: NDArray[np.integer] | None,
    measurements: Sequence[Measurement],
    total: Total | None,
    bounds: Mapping[Clique, Bound],
    certificate: Certificate | None,
    ranged: RangeErrors | None = None,
    pairs: Collection[Clique] = (),
) -> Known:
    """Collect the released values that answer questions from the parts of a release.

    Limits of tables come from the certificate if it bounds anything, and else from the mechanism's
    selections for tables that no noisy table contains. A-priori bounds of measured tables are left
    out, because the noisy counts give narrower intervals. Without rows there are no limits.

    Args:
        domain: The columns.
        codes: Codes of the rows, (rows, columns), or None.
        measurements: The released measurements.
        total: The number of people; None to take the certificate's, if there is one.
        bounds: By table, its a-priori error bound.
        certificate: The measured errors, or None.
        ranged: The measured errors of ranges, or None.
        pairs: The pairs for which the largest error of a range within groups was measured.
    """
    total = certificate.total if total is None and certificate is not None else total
    inferred = {clique: Limit(INFERRED, one.tight, 1.0) for clique, one in bounds.items() if one.support == UNSUPPORTED}
    limits = _table_limits(certificate, _EVERYBODY) or inferred
    of_ranges = None if ranged is None else Ranges(ranged.columns, frozenset(pairs), *_range_limits(ranged, _EVERYBODY))
    return Known(domain, codes, measurements, total, {} if codes is None else limits, of_ranges)


def of_those_left(
    coins: Coins | None, total: Total | None, everybody: Known, certificate: Certificate | None, ranged: RangeErrors | None
) -> Known:
    """Return the released values for answers about people whom coins left; `everybody` itself without coins.

    Noisy tables are of those who are left, and measured limits of everybody. So the limits are widened by how far a table of those who are
    left may be from everybody's. Limits that the mechanism's selections give are left out, and all limits if the number of those who are
    left is not known.

    Args:
        coins: The coins that left people out before the mechanism; None if nobody was left out.
        total: The number of those who are left; None if it is not known.
        everybody: The values as `known` collects them.
        certificate: The measured errors, or None.
        ranged: The measured errors of ranges, or None.
    """
    if coins is None:
        return everybody
    if total is None or everybody.codes is None:
        return replace(everybody, total=total, limits={}, ranges=None)
    apart, ranges = _Apart(coins, total, everybody.domain), everybody.ranges
    if ranges is not None and ranged is not None:
        alone, within = _range_limits(ranged, apart)
        ranges = replace(ranges, alone=alone, within=within)
    return replace(everybody, limits=_table_limits(certificate, apart), ranges=ranges)


def known_weighted(domain: Domain, codes: NDArray[np.integer], weights: NDArray[np.float64], stated: Weighted) -> Known:
    """Collect the released values that answer questions about weighted people.

    Limits come from the certificate of the weighted tables. Means within cells were measured for
    unweighted people, so here the middle of a cell represents its values.

    Args:
        domain: The columns.
        codes: Codes of the rows, (rows, columns).
        weights: Calibrated weights of the rows, (rows,).
        stated: The statements about weighted tables.
    """
    total = Total(stated.step * stated.total.value, stated.step * stated.total.sigma)
    return replace(known(domain, codes, (), total, {}, stated.certificate), weights=weights)


@dataclass(frozen=True)
class _Apart:
    """How far tables of those whom answers are about may be from everybody's.

    Attributes:
        coins: The coins that left the others out; None if answers are about everybody.
        total: The number of those who are left; None without coins.
        domain: The columns; None without coins.
    """

    coins: Coins | None = None
    total: Total | None = None
    domain: Domain | None = None

    @property
    def part(self) -> float:
        """The part of a limit's failure probability that what was measured may use."""
        return 1.0 if self.coins is None else 1 - OF_COINS

    def widened(self, limit: float, failure: float, table: Clique | None = None) -> float:
        """Return everybody's limit as one for those who are left, at most 1, for a table or a single range (None)."""
        if self.coins is None or self.total is None or self.domain is None:
            return limit
        cells = 2 if table is None else self.domain.cells(table)
        return min(1.0, limit + self.coins.off(cells, self.total, OF_COINS * failure))


_EVERYBODY = _Apart()


def _table_limits(certificate: Certificate | None, apart: _Apart) -> dict[Clique, Limit]:
    """Return the limit of each certified table; {} without a certificate of rows that says something."""
    if certificate is None or certificate.of != ROWS or certificate.says_nothing:
        return {}
    kept, tables = TOTAL_ALPHA if certificate.total.sigma else 0.0, len(certificate.marginals)
    failures = (ALPHA, 1), (LIMIT_ALPHA, 1), (LIMIT_ALPHA, tables)
    alone, beside, together = (
        {
            one: apart.widened(limit, failure / at_once, one)
            for one, limit in table_bounds(certificate, 1 - (apart.part * failure - kept) / at_once).items()
        }
        for failure, at_once in failures
    )
    likely = {one.attributes: one.likely for one in certificate.marginals}
    return {r: Limit(CERTIFIED, alone[r], beside[r], together[r], likely[r]) for r in alone}


def _range_limits(ranged: RangeErrors, apart: _Apart) -> tuple[Limit, Limit | None]:
    """Return the limit for ranges among all people, and for ranges within cells of another column (None if not measured)."""

    def limit(of: LargestRange) -> Limit:
        kept = TOTAL_ALPHA if ranged.people.sigma else 0.0
        levels = ALPHA, LIMIT_ALPHA
        limits = (apart.widened(bound(of.error, of.sigma, ranged.people, 1 - apart.part * one + kept), one) for one in levels)
        alone, beside = limits
        return Limit(RANGED, alone, beside)

    return limit(ranged.alone), None if ranged.within is None else limit(ranged.within)
