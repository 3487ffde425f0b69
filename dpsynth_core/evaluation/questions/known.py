"""What a release knows that answers can be made from: rows, noisy tables, limits of tables, the number of people. Released values only."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import ROWS, Certificate, table_bounds
from dpsynth_core.claims.ranges import LargestRange, RangeErrors, bound
from dpsynth_core.claims.weighted import Weighted
from dpsynth_core.evaluation.bounds import UNSUPPORTED, Bound
from dpsynth_core.evaluation.combination import Combined, Evidence
from dpsynth_core.evaluation.questions.question import Vector, cell_values, half_width
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
    """At most this share of people is in a wrong cell of a table. likely: the best estimate, None where there is none. alone:
    with confidence 1 - ALPHA. beside: with 1 - LIMIT_ALPHA, 1 where nothing says it so surely. together: for all tables at once with
    1 - LIMIT_ALPHA, 1 likewise. support: CERTIFIED, or INFERRED from what the mechanism selected; RANGED where it is the most that a range
    is off by."""

    support: str
    alone: float
    beside: float
    together: float = 1.0
    likely: float | None = None


@dataclass(frozen=True)
class Ranges:
    """What ranges of these columns are off by at most: of everybody, and within a cell of the other column of one of these pairs."""

    columns: Clique
    pairs: frozenset[Clique]
    alone: Limit
    within: Limit | None


@dataclass(frozen=True, eq=False)
class Known:
    """codes: of the rows, (rows, columns); None for answers without rows. total: people, None where no released value says how many.
    inside: by column, how numbers lie in its cells. weights: of the rows, (rows,), where people are weighted; None where all count once."""

    domain: Domain
    codes: NDArray[np.integer] | None
    measurements: Sequence[Measurement]
    total: Total | None
    limits: Mapping[Clique, Limit]
    ranges: Ranges | None = None
    inside: Mapping[str, Inside] = field(default_factory=dict)
    weights: NDArray[np.float64] | None = None
    _estimates: dict[Clique, Combined | None] = field(default_factory=dict, repr=False)

    def estimate(self, clique: Clique) -> Combined | None:
        """The table from all noisy ones; None where none contains it."""
        if clique not in self._estimates:
            public = self.total.value if self.total is not None and self.total.sigma == 0 else None
            self._estimates[clique] = self._evidence.parts(clique, public)
        return self._estimates[clique]

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self.measurements)

    def values(self, column: str) -> Vector | None:
        """See `question.cell_values`."""
        return cell_values(self.domain[column], self.inside.get(column))

    def off(self, column: str) -> float:
        """How far a value may be from the middle of its cell that stands for it; 0 where it is one value, or its mean was measured."""
        return 0.0 if column in self.inside else half_width(self.domain[column])

    def standing(self, column: str) -> str:
        """What stands for the values of a cell of numbers."""
        return MEASURED if column in self.inside else MIDDLES if half_width(self.domain[column]) else NUMBERS

    def cover(self, clique: Clique) -> Clique | None:
        """The smallest table with a limit that contains these columns: chosen by its size, so that noise has no part in the choice."""
        containing = [table for table in self.limits if set(clique) <= set(table)]
        return min(containing, key=lambda table: (self.domain.cells(table), table), default=None)

    def range_limit(self, cells: Mapping[str, tuple[int, ...]]) -> Limit | None:
        """The limit of the people in these cells of columns, where they are a range, of everybody or within a cell of another column."""
        if self.ranges is None or len(cells) > 2:
            return None
        whole = {name for name, codes in cells.items() if name in self.ranges.columns and self._is_range(name, codes)}
        if len(cells) == 1:
            return self.ranges.alone if whole else None
        fits = self.domain.clique(cells) in self.ranges.pairs and any(len(codes) == 1 and whole - {name} for name, codes in cells.items())
        return self.ranges.within if fits else None

    def _is_range(self, name: str, codes: tuple[int, ...]) -> bool:
        return codes == tuple(range(codes[0], codes[-1] + 1)) and codes[-1] < self.domain[name].ordered

    @property
    def size(self) -> float:
        """How many rows there are, or what they weigh; 1 where there are none."""
        assert self.codes is not None
        return max(1, len(self.codes)) if self.weights is None else float(self.weights.sum()) or 1.0

    def rows_in(self, among: Mapping[str, Vector], columns: Sequence[str]) -> NDArray[Any]:
        """Return how many rows are in each cell of `columns`, or what they weigh, of those that `among` counts.

        Args:
            among: By column, the share of each cell's rows that count.
            columns: The columns of the table; its shape is that of their cells.
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
        """How far the number of people may be from `total`, except with probability TOTAL_ALPHA."""
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
    """From the parts of a release. Limits of rows are the certificate's where there is one that says anything, else what the mechanism's
    choices say of tables that no noisy table contains. Bounds of measured tables say nothing here that their counts do not say better.
    pairs: of which the largest error of a range within groups was measured.
    """
    total = certificate.total if total is None and certificate is not None else total
    limits = {clique: Limit(INFERRED, one.tight, 1.0) for clique, one in bounds.items() if one.support == UNSUPPORTED}
    if certificate is not None and certificate.of == ROWS and not certificate.says_nothing:
        kept = TOTAL_ALPHA if certificate.total.sigma else 0.0
        levels = ALPHA - kept, LIMIT_ALPHA - kept, (LIMIT_ALPHA - kept) / len(certificate.marginals)
        alone, beside, together = (table_bounds(certificate, 1 - level) for level in levels)
        likely = {one.attributes: one.likely for one in certificate.marginals}
        limits = {r: Limit(CERTIFIED, alone[r], beside[r], together[r], likely[r]) for r in alone}
    of_ranges = None if ranged is None else Ranges(ranged.columns, frozenset(pairs), *_range_limits(ranged))
    return Known(domain, codes, measurements, total, {} if codes is None else limits, of_ranges)


def known_weighted(domain: Domain, codes: NDArray[np.integer], weights: NDArray[np.float64], stated: Weighted) -> Known:
    """The same where people are weighted: rows with their calibrated weights, and the limits of weighted tables of single columns. Means
    inside of cells were measured of unweighted people: middles stand for them."""
    total = Total(stated.step * stated.total.value, stated.step * stated.total.sigma)
    return replace(known(domain, codes, (), total, {}, stated.certificate), weights=weights)


def _range_limits(ranged: RangeErrors) -> tuple[Limit, Limit | None]:
    def limit(of: LargestRange) -> Limit:
        kept = TOTAL_ALPHA if ranged.people.sigma else 0.0
        alone, beside = (bound(of.error, of.sigma, ranged.people, 1 - level + kept) for level in (ALPHA, LIMIT_ALPHA))
        return Limit(RANGED, alone, beside)

    return limit(ranged.alone), None if ranged.within is None else limit(ranged.within)
