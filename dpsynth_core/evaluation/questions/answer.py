"""The answer to a question: the best estimate of what was released, its interval, which evidence both come from, and what the rows say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.questions.evidence import Estimated, Interval, Noisy, Product, agreeing, difference, moved, times, within
from dpsynth_core.evaluation.questions.known import ALPHA, LIMIT_ALPHA, RANGED, Known, Limit
from dpsynth_core.evaluation.questions.question import (
    COUNT,
    DIFFERENCE,
    MEDIAN,
    SHARE,
    TABLE,
    Cells,
    Question,
    Vector,
    weights,
)
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.measurement import Clique

_ROUNDED = 1e-9
"""What sums of the same numbers may differ by, in either program that adds them up."""
_Weighed = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Values, and the rows' share of everybody that has each."""
COUNTED, LIMITED = "noisy counts", "limit of a table"
"""What an interval comes from. A guess has none."""


@dataclass(frozen=True)
class Stated:
    """value: the best estimate, from all noisy counts where they say anything, else what the rows say; None where neither does.
    low, high: of the true number, with 95 % confidence; None for a guess. rows: what the synthetic rows say, None where none is in the
    group. Both are from low to high. disagree: whether the evidence alone gave an interval without `rows`, so that it was widened.
    Of a median, cells by number."""

    value: float | None
    low: float | None
    high: float | None
    rows: float | None = None
    disagree: bool = False


@dataclass(frozen=True)
class Answer:
    """evidence: of COUNTED and LIMITED those that the interval comes from; none for a guess. support: of the limit, see `known.Limit`.
    table: the one with the limit. rows: synthetic rows in the group, None where there are no rows. cells: of a cross table, each cell's
    share of the group, in the order of the flattened table, columns as asked; `stated` is then what the group is a share of everybody.
    standing: of a mean, what stands for values (`Known.standing`)."""

    stated: Stated
    evidence: tuple[str, ...]
    support: str
    table: Clique
    rows: int | None
    cells: tuple[Stated, ...] = ()
    standing: str = ""


def answer(known: Known, question: Question) -> Answer:
    """Raises InputError for a question that cannot be asked of such rows."""
    asked = _Asked(known, question.checked(known.domain))
    if question.statistic == TABLE:
        cells = asked.table()
        everybody = Stated(1.0, 1.0, 1.0, None if known.codes is None else 1.0)
        whole = _Asked(known, Question(SHARE, cells=question.among)).mean() if question.among else everybody
        return asked.answered(whole, cells)
    ways: dict[str, Callable[[], Stated]] = {COUNT: asked.count, MEDIAN: asked.median, DIFFERENCE: asked.difference}
    return asked.answered(ways.get(question.statistic, asked.mean)())


@dataclass(frozen=True, eq=False)
class _Mean:
    """A mean over a group, v over g (see `evidence`). rows: what they say of it. possible: the least and the largest that it can be; NaN
    where it is of nothing."""

    v: Product
    g: Product
    rows: _Weighed | None
    possible: Interval


@dataclass(frozen=True, eq=False)
class _Asked:
    known: Known
    question: Question

    @property
    def clique(self) -> Clique:
        return self.question.clique(self.known.domain)

    @property
    def noisy(self) -> Noisy | None:
        estimate = self.known.estimate(self.clique)
        return None if estimate is None else Noisy(self.known.domain, estimate)

    @property
    def cover(self) -> Clique | None:
        """The table whose limit counts. Noisy counts alone say how many people there are, and limits of 1 add nothing to them."""
        table = self.known.cover(self.clique)
        if table is None or (self.noisy is not None and (not self.clique or self.known.limits[table].beside >= 1)):
            return None
        return table

    @property
    def limiting(self) -> Limit | None:
        """That of a range where the question is about one, else that of the table that counts."""
        asked, column = self.question, self.question.column
        ordered = tuple(range(self.known.domain[column].ordered)) if asked.statistic == MEDIAN else ()
        ways: dict[str, Cells] = {
            COUNT: asked.among,
            SHARE: {} if asked.among else asked.cells,
            MEDIAN: {column: ordered, **asked.among},
        }
        of_range = self.known.range_limit(ways.get(asked.statistic, {}))
        return of_range or (None if (table := self.cover) is None else self.known.limits[table])

    @property
    def limit(self) -> float | None:
        """The share of people who may be in a wrong cell, or in a range too many or too few, with the confidence that it has to have."""
        if (limit := self.limiting) is None:
            return None
        return limit.alone if self.noisy is None else limit.beside

    @property
    def z(self) -> float:
        """For noisy counts, two-sided."""
        return normal(1 - (ALPHA if self.limiting is None else ALPHA - LIMIT_ALPHA) / 2)

    def answered(self, stated: Stated, cells: tuple[Stated, ...] = ()) -> Answer:
        known, limit = self.known, self.limiting
        evidence = tuple(name for name, there in ((COUNTED, self.noisy), (LIMITED, limit)) if there is not None)
        rows = None if known.codes is None else int(known.rows_in(weights(known.domain, self.question.among), ()))
        support = "" if limit is None else limit.support
        table = self.clique if support == RANGED else self.cover or ()
        if stated.low is None and not cells:
            evidence = ()
        of_means = self.question.column and self.question.statistic != MEDIAN
        standing = known.standing(self.question.column) if of_means else ""
        return Answer(stated, evidence, support, table, rows, cells, standing)

    def _stated(self, rows: float | None, counted: Interval | None, limited: Interval | None, estimate: float | None) -> Stated:
        """estimate: from noisy counts, None where they say nothing."""
        value = rows if estimate is None else estimate
        if counted is None and limited is None:
            return Stated(value, None, None, rows)
        low, high = agreeing(counted, limited) if counted and limited else counted or limited or (0.0, 0.0)
        value = None if value is None else min(max(value, low), high)
        slack = _ROUNDED * max(1.0, abs(low), abs(high))
        if rows is None or low - slack <= rows <= high + slack:
            return Stated(value, low, high, rows)
        return Stated(value, min(low, rows), max(high, rows), rows, disagree=True)

    def count(self) -> Stated:
        total = self.known.total
        group, noisy = weights(self.known.domain, self.question.among), self.noisy
        share = self._rows_share(group)
        rows = None if share is None or total is None else share * total.value
        counted, limited, estimate = None, None, None
        if noisy is not None:
            estimate, margin = max(0.0, noisy.sum(group)), self.z * math.sqrt(max(0.0, noisy.covariance(group, group)))
            most = math.inf if total is None or total.sigma else total.value
            counted = within((noisy.sum(group) - margin, noisy.sum(group) + margin), 0.0, most)
        if self.limit is not None and share is not None and total is not None:
            low, high = max(0.0, share - self.limit), min(1.0, share + self.limit)
            limited = max(0.0, total.value - self.known.doubt) * low, (total.value + self.known.doubt) * high
        return self._stated(rows, counted, limited, estimate)

    def mean(self) -> Stated:
        """Of the numbers that stand for the column's cells, or how many of the group are in the cells that are asked about."""
        over = self.over(self.question.among)
        if math.isnan(over.possible[0]):
            return Stated(None, None, None)
        return self._mean_of(over.rows, None if self.noisy is None else self.noisy.mean(over.v, over.g), over.possible)

    def over(self, among: Cells) -> _Mean:
        """The mean of the question's column over a group, or the share of it that is in the question's cells."""
        known, column, group = self.known, self.question.column, weights(self.known.domain, among)
        if self.question.statistic == SHARE or not column:
            cells = times(group, weights(known.domain, self.question.cells))
            inside, whole = self._rows_share(cells), self._rows_share(group)
            rows = None if inside is None or whole is None else (np.array([0.0, 1.0]), np.array([whole - inside, inside]))
            return _Mean(cells, group, rows, (0.0, 1.0))
        values = known.values(column)
        assert values is not None, "the question was checked"
        usable = np.isfinite(values) & (self._inside(among) > 0)
        counts = None if known.codes is None else known.rows_in(group, (column,))[usable] / known.size
        counted = times(group, {column: np.isfinite(values).astype(np.float64)})
        possible = (float(values[usable].min()), float(values[usable].max())) if usable.any() else (math.nan, math.nan)
        rows = None if counts is None else (values[usable], counts)
        return _Mean(times(counted, {column: np.nan_to_num(values)}), counted, rows, possible)

    def _inside(self, among: Cells) -> Vector:
        column = self.question.column
        return weights(self.known.domain, among).get(column, np.ones(self.known.domain[column].size))

    def _rows_share(self, group: Product) -> float | None:
        known = self.known
        return None if known.codes is None else float(known.rows_in(group, ())) / known.size

    def _mean_of(self, rows: _Weighed | None, estimated: Estimated | None, possible: Interval) -> Stated:
        counted = None if estimated is None else within(estimated.interval(self.z), *possible)
        limited = None if self.limit is None or rows is None else moved(*rows, self.limit)
        return self._stated(_mean(rows), counted, limited, None if estimated is None else self._estimate(estimated, possible))

    def _estimate(self, estimated: Estimated, possible: Interval) -> float | None:
        """The part of it that can be; None where rows say more, because the group may be empty for all that is counted."""
        if math.isnan(estimated.value) or (self.known.codes is not None and math.isinf(estimated.interval(self.z)[0])):
            return None
        return min(max(estimated.value, possible[0]), possible[1])

    def difference(self) -> Stated:
        one, other = self.over(self.question.among), self.over(self.question.versus)
        (low1, high1), (low2, high2) = one.possible, other.possible
        if math.isnan(low1 + low2):
            return Stated(None, None, None)
        counted = limited = estimate = None
        if (noisy := self.noisy) is not None:
            first, second = noisy.mean(one.v, one.g), noisy.mean(other.v, other.g)
            covariance = None if noisy.table.bounded else 0.0  # of the noise of  v1 - theta1 g1  and  v2 - theta2 g2
            if covariance is not None and not math.isnan(a := first.value) and not math.isnan(b := second.value):
                mixed = noisy.covariance(one.v, other.v) - b * noisy.covariance(one.v, other.g)
                covariance = mixed - a * noisy.covariance(one.g, other.v) + a * b * noisy.covariance(one.g, other.g)
            counted = within(difference(first, second, covariance, self.z), low1 - high2, high1 - low2)
            estimate = _less(self._estimate(first, one.possible), self._estimate(second, other.possible))
        if self.limit is not None and one.rows is not None and other.rows is not None:
            (least1, most1), (least2, most2) = moved(*one.rows, self.limit), moved(*other.rows, self.limit)
            limited = least1 - most2, most1 - least2
        return self._stated(_less(_mean(one.rows), _mean(other.rows)), counted, limited, estimate)

    def median(self) -> Stated:
        """The first cell with which half of the group is reached, of those that have an order."""
        known, column, z = self.known, self.question.column, self.z
        number = known.domain[column].ordered
        group = weights(known.domain, self.question.among)
        counts = None if known.codes is None else known.rows_in(group, (column,))[:number]
        ordered = np.arange(known.domain[column].size) < number
        inside = self._inside(self.question.among) * ordered
        possible = np.flatnonzero(inside)
        if not possible.size:
            return Stated(None, None, None)
        value = None if counts is None or not counts.sum() else float(np.searchsorted(2 * np.cumsum(counts), counts.sum()))
        counted = limited = estimate = None
        if self.noisy is not None:
            counted, estimate = self._counted_median(group, possible, z)
        if self.limit is not None and counts is not None and known.codes is not None:
            shares = counts / known.size
            at_most = np.cumsum(shares)
            below, half = at_most - shares, at_most[-1] / 2
            likely = possible[(at_most[possible] + self.limit >= half) & (below[possible] - self.limit <= half)]
            limited = float(likely[0]), float(likely[-1])
        return self._stated(value, counted, limited, estimate)

    def _counted_median(self, group: Product, possible: NDArray[np.intp], z: float) -> tuple[Interval, float]:
        """The cells that noisy counts do not refute, and the first with which half of the group is reached."""
        assert self.noisy is not None
        counts, varying, even = self.noisy.along(group, self.question.column)
        inside = self._inside(self.question.among)[: possible[-1] + 1]
        size, number = counts.size, inside.sum()
        counts = counts[: possible[-1] + 1] * inside
        up_to, before = np.cumsum(counts), np.cumsum(inside)

        def over_half(sums: NDArray[np.float64], cells: NDArray[np.float64], sign: float) -> NDArray[np.float64]:
            """By how much at most (sign 1) or at least (-1) these cells hold more than half of the group."""
            level = (cells - number / 2) ** 2 / size
            deviation = np.sqrt(np.maximum(0.0, varying * (number / 4 - level) + even * level))
            return np.asarray(sums - counts.sum() / 2 + sign * z * deviation)

        refuted = (over_half(up_to, before, 1.0) < 0) | (over_half(up_to - counts, before - inside, -1.0) > 0)
        likely = possible[~refuted[possible]]
        reached = possible[up_to[possible] >= counts.sum() / 2]
        ends = (likely[0], likely[-1]) if likely.size else (possible[0], possible[-1])
        return (float(ends[0]), float(ends[1])), float(reached[0] if reached.size else possible[-1])

    def table(self) -> tuple[Stated, ...]:
        """Each cell's share of the group. From noisy counts all of them have the same variances: those of one cell."""
        known, columns = self.known, self.question.columns
        group = weights(known.domain, self.question.among)
        counts = None if known.codes is None else known.rows_in(group, columns).ravel()
        estimates = None if self.noisy is None else self.noisy.cells(group, columns)
        stated = []
        for cell, codes in enumerate(np.ndindex(*known.domain.sizes(columns))):
            open_to = all(codes[i] in self.question.among.get(name, (codes[i],)) for i, name in enumerate(columns))
            if not open_to:
                stated.append(Stated(0.0, 0.0, 0.0, None if counts is None else 0.0))
                continue
            rows = None
            if counts is not None and known.codes is not None:
                of_all = np.array([counts.sum() - counts[cell], counts[cell]]) / known.size
                rows = np.array([0.0, 1.0]), of_all
            stated.append(self._mean_of(rows, None if estimates is None else estimates[cell], (0.0, 1.0)))
        return tuple(stated)


def _mean(rows: _Weighed | None) -> float | None:
    return None if rows is None or not rows[1].sum() > 0 else float(rows[0] @ rows[1]) / float(rows[1].sum())


def _less(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second
