"""The answer to a question: the best estimate of what was released, its interval, which evidence both come from, and what the rows say."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.questions.evidence import Estimated, Interval, Noisy, Product, Sum, agreeing, difference, moved, times, within
from dpsynth_core.evaluation.questions.groups import Cut, Group, counted_in, cut_cells, extremes, group, shares, values_in
from dpsynth_core.evaluation.questions.known import ALPHA, LIMIT_ALPHA, RANGED, Known, Limit
from dpsynth_core.evaluation.questions.question import (
    AMONG,
    CELLS,
    COUNT,
    DIFFERENCE,
    MEDIAN,
    SHARE,
    TABLE,
    VERSUS,
    Cells,
    Question,
    Vector,
)
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.measurement import Clique

_ROUNDED = 1e-9
"""What sums of the same numbers may differ by, in either program that adds them up."""
_LOOKED = 512
"""Cells that are looked at for the median of a group of which a range cuts cells."""
_Weighed = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Values, and the rows' share of everybody that has each."""
COUNTED, LIMITED, STATED = "noisy counts", "limit of a table", "measured mean"
"""What an interval comes from. A guess has none. STATED is the release's own statement of a column's mean (`claims.means`)."""


@dataclass(frozen=True)
class Stated:
    """An estimate with its 95 % interval, in the unit of the statistic.

    The unit is people, a share, the column's numbers, or for a median the position of a cell.

    Attributes:
        value: The best estimate, from all noisy counts where they are informative, and else from
            the rows; None where neither gives one.
        low, high: Bounds of the true number with 95 % confidence; None for a guess.
        rows: The value in the synthetic rows, between low and high unless the release states the
            value itself; None where the group has no rows or the question's ranges cut cells.
        disagree: Whether the interval of the evidence excluded the rows' value, so that it was
            widened to include it.
    """

    value: float | None
    low: float | None
    high: float | None
    rows: float | None = None
    disagree: bool = False


@dataclass(frozen=True)
class Answer:
    """The answer to a question, with the evidence that it rests on.

    Attributes:
        stated: The estimate and its interval; for a cross table, the group's share of all people.
        evidence: COUNTED (noisy counts) or LIMITED (a table's error bound) or both, or STATED, the
            origins of the interval; empty for a guess.
        support: How the limit is known, as in `known.Limit`; "" without a limit.
        table: The table whose limit was used; () without one.
        rows: Number of synthetic rows in the group, or the sum of their weights; None without rows.
        cells: For a cross table, each cell's share of the group, in the order of the flattened
            table.
        standing: For a mean, the words for the number that represents a cell (`Known.standing`);
            else "".
        cut: The cells that the question's ranges cut.
    """

    stated: Stated
    evidence: tuple[str, ...]
    support: str
    table: Clique
    rows: int | None
    cells: tuple[Stated, ...] = ()
    standing: str = ""
    cut: tuple[Cut, ...] = ()


def answer(known: Known, question: Question) -> Answer:
    """Return the answer to a question about a release, from its released values only.

    Args:
        known: The released values.
        question: The question; numbers in the answer have the unit of its statistic.

    Raises:
        InputError: The question cannot be asked of these columns (`Question.checked`).
        KeyError: A column is not in the domain.
    """
    asked = _Asked(known, question.checked(known.domain))
    if (one := known.stated_mean(question)) is not None:
        rows = None if known.codes is None else int(known.rows_in({}, ()))
        return Answer(Stated(one.value, one.low95, one.high95, one.rows), (STATED,), "", (), rows)
    if question.statistic == TABLE:
        cells = asked.table()
        everybody = Stated(1.0, 1.0, 1.0, None if known.codes is None else 1.0)
        of_all = Question(SHARE, cells=question.among, cut={CELLS: question.cut.get(AMONG, {})})
        whole = _Asked(known, of_all).mean() if question.among else everybody
        return asked.answered(whole, cells)
    ways: dict[str, Callable[[], Stated]] = {COUNT: asked.count, MEDIAN: asked.median, DIFFERENCE: asked.difference}
    return asked.answered(ways.get(question.statistic, asked.mean)())


@dataclass(frozen=True, eq=False)
class _Mean:
    """A mean over a group, as a quotient of two sums over the cells of the question's columns.

    Attributes:
        v: The numerator (`evidence`).
        g: The denominator (`evidence`).
        rows: The values of cells and the rows' share of all people with each; None without rows.
    """

    v: Sum
    g: Sum
    rows: _Weighed | None


@dataclass(frozen=True, eq=False)
class _Means:
    """The possible means over a group whose ranges may cut cells.

    Attributes:
        likely: The mean for the assumed division of the cut cells.
        least: Means of which one is the smallest that any division gives.
        most: Means of which one is the largest that any division gives.
        possible: The smallest and the largest number that a mean can be; NaN for an empty group.
    """

    likely: _Mean
    least: tuple[_Mean, ...]
    most: tuple[_Mean, ...]
    possible: Interval

    @property
    def is_cut(self) -> bool:
        return self.least != (self.likely,)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question with the released values that answer it."""

    known: Known
    question: Question

    @property
    def clique(self) -> Clique:
        return self.question.clique(self.known.domain)

    @property
    def noisy(self) -> Noisy | None:
        """The best noisy estimate of the table over the question's columns; None where no measurement contains them all."""
        estimate = self.known.estimate(self.clique)
        return None if estimate is None else Noisy(self.known.domain, estimate)

    @property
    def cover(self) -> Clique | None:
        """The table whose error limit is used, None without one.

        A limit is not used besides noisy counts if it is 1, or if the question names no column:
        noisy counts alone then give the number of people.
        """
        table = self.known.cover(self.clique)
        if table is None or (self.noisy is not None and (not self.clique or self.known.limits[table].beside >= 1)):
            return None
        return table

    @property
    def limiting(self) -> Limit | None:
        """The limit that is used: a range's limit if the question is about a range, else the limit of the table `cover`."""
        asked, column = self.question, self.question.column
        ordered = tuple(range(self.known.domain[column].ordered)) if asked.statistic == MEDIAN else ()
        ways: dict[str, Cells] = {
            COUNT: asked.among,
            SHARE: {} if asked.among else asked.cells,
            MEDIAN: {column: ordered, **asked.among},
        }
        cells, cut = ways.get(asked.statistic, {}), asked.cut.get(CELLS if asked.statistic == SHARE else AMONG, {})
        whole = {name: tuple(code for code in codes if code not in cut.get(name, {})) for name, codes in cells.items()}
        of_range = self.known.range_limit(cells)
        if of_range is not None and cut and all(whole.values()) and self.known.range_limit(whole) is None:
            of_range = None  # what is surely in the ranges is not a range
        return of_range or (None if (table := self.cover) is None else self.known.limits[table])

    @property
    def limit(self) -> float | None:
        """The largest share of people who may be in a wrong cell, or by which the share in a range may be off; None without a limit.

        Its confidence is 1 - ALPHA, or 1 - LIMIT_ALPHA besides noisy counts, which have the rest of
        the failure probability.
        """
        if (limit := self.limiting) is None:
            return None
        return limit.alone if self.noisy is None else limit.beside

    @property
    def z(self) -> float:
        """The two-sided normal quantile for intervals of noisy counts."""
        return normal(1 - (ALPHA if self.limiting is None else ALPHA - LIMIT_ALPHA) / 2)

    def answered(self, stated: Stated, cells: tuple[Stated, ...] = ()) -> Answer:
        """Return the answer with its evidence, from the estimate `stated` and, for a cross table, the estimates of its cells."""
        known, limit = self.known, self.limiting
        evidence = tuple(name for name, there in ((COUNTED, self.noisy), (LIMITED, limit)) if there is not None)
        rows = None if known.codes is None else int(known.rows_in(self.group(AMONG).likely, ()))
        support = "" if limit is None else limit.support
        table = self.clique if support == RANGED else self.cover or ()
        if stated.low is None and not cells:
            evidence = ()
        of_means = self.question.column and self.question.statistic != MEDIAN
        standing = known.standing(self.question.column) if of_means else ""
        cut = tuple(one for role in (AMONG, CELLS, VERSUS) for one in cut_cells(known, self.question, role))
        if cut:
            stated = replace(stated, rows=None)  # they have values, which were not counted here
        return Answer(stated, evidence, support, table, rows, cells, standing, cut)

    def group(self, role: str) -> Group:
        """Return the people of the group AMONG, CELLS or VERSUS of the question."""
        return group(self.known, self.question, role)

    def _stated(
        self,
        rows: float | None,
        counted: Interval | None,
        limited: Interval | None,
        estimate: float | None,
        spread: tuple[float | None, float | None] = (None, None),
    ) -> Stated:
        """Combine the rows, the noisy counts and a table's limit into one estimate with an interval.

        Args:
            rows: The value in the rows.
            counted: The interval of noisy counts.
            limited: The interval of a table's limit.
            estimate: The estimate from noisy counts, None where they are not informative.
            spread: The smallest and the largest value in the rows, over all divisions of cut cells;
                the interval must include them as well.
        """
        value = rows if estimate is None else estimate
        if counted is None and limited is None:
            return Stated(value, None, None, rows)
        low, high = agreeing(counted, limited) if counted and limited else counted or limited or (0.0, 0.0)
        value = None if value is None else min(max(value, low), high)
        slack = _ROUNDED * max(1.0, abs(low), abs(high))
        said = [one for one in (rows, *spread) if one is not None]
        if not said or (low - slack <= min(said) and max(said) <= high + slack):
            return Stated(value, low, high, rows)
        return Stated(value, min(low, *said), max(high, *said), rows, disagree=True)

    def count(self) -> Stated:
        """Return the number of people in the group."""
        total, group, noisy = self.known.total, self.group(AMONG), self.noisy
        least, most, likely = (self._rows_share(one) for one in (group.least, group.most, group.likely))
        rows = None if likely is None or total is None else likely * total.value
        counted, limited, estimate = None, None, None
        if noisy is not None:
            below, above = (self.z * math.sqrt(max(0.0, noisy.covariance(one, one))) for one in (group.least, group.most))
            people = math.inf if total is None or total.sigma else total.value
            counted = within((noisy.sum(group.least) - below, noisy.sum(group.most) + above), 0.0, people)
            estimate = max(0.0, noisy.sum(group.likely))
        if self.limit is not None and least is not None and most is not None and total is not None:
            low, high = max(0.0, least - self.limit), min(1.0, most + self.limit)
            limited = max(0.0, total.value - self.known.doubt) * low, (total.value + self.known.doubt) * high
        spread: tuple[float | None, float | None] = None, None
        if group.is_cut and least is not None and most is not None and total is not None:
            spread = least * total.value, most * total.value
        return self._stated(rows, counted, limited, estimate, spread)

    def mean(self) -> Stated:
        """Return the mean of the question's column over the group AMONG, or the share of that group in the question's cells."""
        return self._mean_of(self.over(AMONG))

    def over(self, role: str) -> _Means:
        """Return the possible means of the question's column over a group, or the group's possible shares in the question's cells.

        Several means are possible if a range cuts cells of the group.

        Args:
            role: The group: AMONG or VERSUS.
        """
        known, column, whole = self.known, self.question.column, self.group(role)
        if self.question.statistic == SHARE or not column:
            inside = counted_in(known, self.question, role)
            if not (inside.is_cut or whole.is_cut):
                one = self._share(times(whole.likely, inside.likely), whole.likely)
                return _Means(one, (one,), (one,), (0.0, 1.0))
            least, most, likely = (_Mean(of.v, of.g, self._rows_of(of.v, of.g)) for of in shares(inside, whole))
            return _Means(likely, (least,), (most,), (0.0, 1.0))
        values = values_in(known, self.question, role)
        finite = np.isfinite(values)
        inside_column = whole.most.get(column, np.ones(values.size))
        usable = finite & (inside_column > 0)
        if not usable.any():
            return _Means(_Mean([], [], None), (), (), (math.nan, math.nan))
        possible = float(values[usable].min()), float(values[usable].max())
        counts = None if known.codes is None else known.rows_in(whole.likely, (column,))[usable] / known.size
        counted = times(whole.likely, {column: finite.astype(np.float64)})
        rows = None if counts is None else (values[usable], counts)
        likely = _Mean([(1.0, times(counted, {column: np.nan_to_num(values)}))], [(1.0, counted)], rows)
        if not whole.is_cut:
            return _Means(likely, (likely,), (likely,), possible)
        lowest_means, highest_means = (self._extreme_means(whole, values, lowest) for lowest in (True, False))
        return _Means(likely, lowest_means, highest_means, possible)

    def _share(self, v: Product, g: Product) -> _Mean:
        """Return the quotient of two products, the share `v` of the group `g`, as a mean of zeros and ones."""
        return _Mean([(1.0, v)], [(1.0, g)], self._rows_of([(1.0, v)], [(1.0, g)]))

    def _rows_of(self, v: Sum, g: Sum) -> _Weighed | None:
        """Return a share in the rows as a mean of zeros and ones: the values (0, 1), and the rows' share of everybody with each.

        The result is None without rows.
        """
        if self.known.codes is None:
            return None
        inside, whole = self._rows_sum(v), self._rows_sum(g)
        return np.array([0.0, 1.0]), np.array([max(0.0, whole - inside), inside])

    def _rows_sum(self, of: Sum) -> float:
        """Return the share of the rows that a sum of products counts; 0 without rows."""
        return math.fsum(factor * (self._rows_share(one) or 0.0) for factor, one in of)

    def _extreme_means(self, whole: Group, values: Vector, lowest: bool) -> tuple[_Mean, ...]:
        """Return means over a group of which one is the smallest, or the largest, that any division of its cut cells gives.

        Args:
            whole: The group, with the people surely and perhaps in it.
            values: The number that represents each cell of the column, NaN for cells without one.
            lowest: Whether the smallest mean is wanted.
        """
        known, column, finite = self.known, self.question.column, np.isfinite(values)
        others_cut = any((whole.least[name] != vector).any() for name, vector in whole.most.items() if name != column)
        every = np.ones(values.size)
        perhaps = whole.most.get(column, every) - (0.0 if others_cut else whole.least.get(column, every))
        sure_rows = most_rows = None
        if known.codes is not None:
            sure_rows, most_rows = (known.rows_in(one, (column,)) / known.size for one in (whole.least, whole.most))
        means = []
        for one in extremes(values, perhaps, lowest):
            if not one.taken.any() and not all((vector * (finite if name == column else 1)).any() for name, vector in whole.least.items()):
                continue  # nobody is surely in it
            sure, taken = finite * (1.0 - one.taken), finite * one.taken
            others = np.nan_to_num(one.others) * taken
            v = [(1.0, times(whole.least, {column: np.nan_to_num(values) - others})), (1.0, times(whole.most, {column: others}))]
            g = [(1.0, times(whole.least, {column: sure})), (1.0, times(whole.most, {column: taken}))]
            rows = None
            if sure_rows is not None and most_rows is not None:
                extra = (most_rows - sure_rows)[taken > 0]
                rows = np.concatenate([values[finite], one.others[taken > 0]]), np.concatenate([sure_rows[finite], extra])
            means.append(_Mean(v, g, rows))
        return tuple(means)

    def _rows_share(self, group: Product) -> float | None:
        """Return the share of the rows in a group; None without rows."""
        known = self.known
        return None if known.codes is None else float(known.rows_in(group, ())) / known.size

    def _mean_of(self, means: _Means) -> Stated:
        """Return the estimate and the interval that hold for all possible means."""
        possible, noisy = means.possible, self.noisy
        if math.isnan(possible[0]):
            return Stated(None, None, None)
        counted = estimate = None
        if noisy is not None:
            ends = zip((means.least, means.most), (0, 1), (min, max), strict=True)
            low, high = (end(noisy.mean(one.v, one.g).interval(self.z)[side] for one in of) for of, side, end in ends)
            counted = within((low, high), *possible)
            estimate = self._estimate(noisy.mean(means.likely.v, means.likely.g), possible)
        return self._stated(_mean(means.likely.rows), counted, self._limited(means), estimate, self._spread(means))

    def _limited(self, means: _Means) -> Interval | None:
        """Return the interval of the mean that follows from the rows and a table's limit; None without either."""
        if self.limit is None or means.likely.rows is None:
            return None
        least, most = ([moved(*one.rows, self.limit) for one in of if one.rows is not None] for of in (means.least, means.most))
        return min(low for low, _ in least), max(high for _, high in most)

    def _spread(self, means: _Means) -> tuple[float | None, float | None]:
        """Return the smallest and the largest mean in the rows over all divisions of cut cells; (None, None) if none is cut."""
        if not means.is_cut or means.likely.rows is None:
            return None, None
        least, most = ([mean for one in of if (mean := _mean(one.rows)) is not None] for of in (means.least, means.most))
        return min(least, default=None), max(most, default=None)

    def _estimate(self, estimated: Estimated, possible: Interval) -> float | None:
        """Return the estimated mean clipped to the interval `possible`.

        The result is None where noisy counts do not exclude an empty group, so that the rows are
        more informative.
        """
        if math.isnan(estimated.value) or (self.known.codes is not None and math.isinf(estimated.interval(self.z)[0])):
            return None
        return min(max(estimated.value, possible[0]), possible[1])

    def difference(self) -> Stated:
        """Return the mean or share of the group AMONG minus the mean or share of the group VERSUS."""
        one, other = self.over(AMONG), self.over(VERSUS)
        (low1, high1), (low2, high2) = one.possible, other.possible
        if math.isnan(low1 + low2):
            return Stated(None, None, None)
        if one.is_cut or other.is_cut:
            return self._difference_of_cut(one, other)
        counted = limited = estimate = None
        if (noisy := self.noisy) is not None:
            (v1, g1), (v2, g2) = (one.likely.v, one.likely.g), (other.likely.v, other.likely.g)
            first, second = noisy.mean(v1, g1), noisy.mean(v2, g2)
            covariance = None if noisy.table.bounded else 0.0  # of the noise of  v1 - theta1 g1  and  v2 - theta2 g2
            if covariance is not None and not math.isnan(a := first.value) and not math.isnan(b := second.value):
                mixed = noisy.covariance(v1, v2) - b * noisy.covariance(v1, g2)
                covariance = mixed - a * noisy.covariance(g1, v2) + a * b * noisy.covariance(g1, g2)
            counted = within(difference(first, second, covariance, self.z), low1 - high2, high1 - low2)
            estimate = _less(self._estimate(first, one.possible), self._estimate(second, other.possible))
        if (of_one := self._limited(one)) is not None and (of_other := self._limited(other)) is not None:
            limited = of_one[0] - of_other[1], of_one[1] - of_other[0]
        return self._stated(_less(_mean(one.likely.rows), _mean(other.likely.rows)), counted, limited, estimate)

    def _difference_of_cut(self, one: _Means, other: _Means) -> Stated:
        """Return the difference of two means over groups of which a range cuts cells.

        The lower end is the lower end of the first mean minus the upper end of the second, and the
        upper end likewise. The interval is then wide enough for any correlation of the noise.
        """
        of_one, of_other = self._mean_of(one), self._mean_of(other)
        value = _less(of_one.value, of_other.value)
        low, high = _less(of_one.low, of_other.high), _less(of_one.high, of_other.low)
        return Stated(value, low, high, None, of_one.disagree or of_other.disagree)

    def median(self) -> Stated:
        """Return the position of the group's median cell: the first ordered cell up to which at least half of the group is.

        Other and missing values are not counted.
        """
        known, column, z = self.known, self.question.column, self.z
        number = known.domain[column].ordered
        whole = self.group(AMONG)
        group, counts = whole.likely, None if known.codes is None else known.rows_in(whole.likely, (column,))[:number]
        ordered = np.arange(known.domain[column].size) < number
        inside = whole.most.get(column, np.ones(known.domain[column].size)) * ordered
        possible = np.flatnonzero(inside)
        if not possible.size:
            return Stated(None, None, None)
        if whole.is_cut:
            return self._median_of_cut(whole, possible)
        value = None if counts is None or not counts.sum() else float(np.searchsorted(2 * np.cumsum(counts), counts.sum()))
        counted = limited = estimate = None
        if self.noisy is not None:
            counted, estimate = self._counted_median(group, inside, possible, z)
        if self.limit is not None and counts is not None and known.codes is not None:
            shares = counts / known.size
            at_most = np.cumsum(shares)
            below, half = at_most - shares, at_most[-1] / 2
            likely = possible[(at_most[possible] + self.limit >= half) & (below[possible] - self.limit <= half)]
            limited = float(likely[0]), float(likely[-1])
        return self._stated(value, counted, limited, estimate)

    def _counted_median(
        self, group: Product, usable: Vector, possible: NDArray[np.intp], z: float
    ) -> tuple[Interval, float]:
        """Return the first and last cell that may be the median by noisy counts, and the estimated median cell.

        Args:
            group: The group, as a product of vectors.
            usable: By cell of the column, 1 if it is ordered and the group may be in it, else 0.
            possible: The codes of the usable cells, ascending.
            z: Normal quantile.
        """
        assert self.noisy is not None
        counts, varying, even = self.noisy.along(group, self.question.column)
        inside = usable[: possible[-1] + 1]
        size, number = counts.size, inside.sum()
        counts = counts[: possible[-1] + 1] * inside
        up_to, before = np.cumsum(counts), np.cumsum(inside)

        def over_half(sums: NDArray[np.float64], cells: NDArray[np.float64], sign: float) -> NDArray[np.float64]:
            """Bound how far the true count of some cells exceeds half of the group, in records.

            Args:
                sums: Noisy counts of the cells up to each place.
                cells: Number of the group's cells up to each place.
                sign: 1 for an upper bound, -1 for a lower bound.
            """
            level = (cells - number / 2) ** 2 / size
            deviation = np.sqrt(np.maximum(0.0, varying * (number / 4 - level) + even * level))
            return np.asarray(sums - counts.sum() / 2 + sign * z * deviation)

        refuted = (over_half(up_to, before, 1.0) < 0) | (over_half(up_to - counts, before - inside, -1.0) > 0)
        likely = possible[~refuted[possible]]
        reached = possible[up_to[possible] >= counts.sum() / 2]
        ends = (likely[0], likely[-1]) if likely.size else (possible[0], possible[-1])
        return (float(ends[0]), float(ends[1])), float(reached[0] if reached.size else possible[-1])

    def _median_of_cut(self, whole: Group, possible: NDArray[np.intp]) -> Stated:
        """Return the median of a group of which a range cuts cells, as the position of a cell.

        A cell is refuted if surely less than half of the group is up to it, even if all perhaps up
        to it are in the group and all perhaps beyond it are not; or if surely more than half is
        before it, likewise. Of many cells only `_LOOKED` are examined; each end of the interval is
        then next to the last examined cell that is refuted.

        Args:
            whole: The group, with the people surely and perhaps in it.
            possible: The codes of the ordered cells that the group may be in, ascending.
        """
        known, column, noisy = self.known, self.question.column, self.noisy
        places = np.arange(known.domain[column].size)
        ordered = (places < known.domain[column].ordered).astype(np.float64)
        looked = possible[np.unique(np.linspace(0, len(possible) - 1, min(len(possible), _LOOKED)).round().astype(int))]

        def half(products: tuple[Product, Product], of_first: NDArray[np.bool_]) -> Sum:
            first, second = products
            return [(1.0, times(first, {column: ordered * of_first})), (-1.0, times(second, {column: ordered * ~of_first}))]

        counted = limited = estimate = value = None
        up_to = [half((whole.most, whole.least), places <= cell) for cell in looked]
        before = [half((whole.least, whole.most), places < cell) for cell in looked]
        if noisy is not None:
            deviations = [[self.z * math.sqrt(max(0.0, noisy.covariance(one, one))) for one in of] for of in (up_to, before)]
            below = np.array([noisy.sum(one) + deviation < 0 for one, deviation in zip(up_to, deviations[0], strict=True)])
            above = np.array([noisy.sum(one) - deviation > 0 for one, deviation in zip(before, deviations[1], strict=True)])
            counted = _unrefuted(looked, below, above)
            counts = noisy.along(times(whole.likely, {column: ordered}), column)[0] * whole.likely.get(column, 1.0) * ordered
            estimate = _half_reached(counts, possible)
        if known.codes is not None:
            rows = [np.array([self._rows_sum(one) for one in of]) for of in (up_to, before)]
            counts = known.rows_in(times(whole.likely, {column: ordered}), (column,))
            value = _half_reached(counts, possible) if counts.sum() else None
            if self.limit is not None:
                limited = _unrefuted(looked, rows[0] / 2 + self.limit < 0, rows[1] / 2 - self.limit > 0)
        return self._stated(value, counted, limited, estimate)

    def table(self) -> tuple[Stated, ...]:
        """Return each cell's share of the group, in the order of the flattened cross table."""
        known, columns, asked = self.known, self.question.columns, self.question
        whole = self.group(AMONG)
        counts = None if known.codes is None else known.rows_in(whole.likely, columns).ravel()
        estimates = None if self.noisy is None or whole.is_cut else self.noisy.cells(whole.likely, columns)
        stated = []
        for cell, codes in enumerate(np.ndindex(*known.domain.sizes(columns))):
            open_to = all(codes[i] in asked.among.get(name, (codes[i],)) for i, name in enumerate(columns))
            if not open_to:
                stated.append(Stated(0.0, 0.0, 0.0, None if counts is None else 0.0))
                continue
            if whole.is_cut:
                cells = dict(zip(columns, ((code,) for code in codes), strict=True))
                of_cell = _Asked(known, replace(asked, statistic=SHARE, cells=cells, columns=()))
                stated.append(replace(of_cell.mean(), rows=None))
                continue
            rows = None
            if counts is not None and known.codes is not None:
                of_all = np.array([counts.sum() - counts[cell], counts[cell]]) / known.size
                rows = np.array([0.0, 1.0]), of_all
            limited = None if self.limit is None or rows is None else moved(*rows, self.limit)
            counted = estimate = None
            if estimates is not None:
                counted = within(estimates[cell].interval(self.z), 0.0, 1.0)
                estimate = self._estimate(estimates[cell], (0.0, 1.0))
            stated.append(self._stated(_mean(rows), counted, limited, estimate))
        return tuple(stated)


def _unrefuted(looked: NDArray[np.intp], below: NDArray[np.bool_], above: NDArray[np.bool_]) -> Interval:
    """Return the first and the last cell that may contain the median.

    Args:
        looked: The examined cells, ascending.
        below: Whether the median is surely after each cell.
        above: Whether the median is surely before each cell.
    """
    first, last = (int(of.argmin()) if not of.all() else 0 for of in (below, above[::-1]))
    low = looked[first - 1] + 1 if first else looked[0]
    high = looked[len(looked) - last] - 1 if last else looked[-1]
    return (float(low), float(high)) if low <= high else (float(looked[0]), float(looked[-1]))


def _half_reached(counts: NDArray[np.float64], possible: NDArray[np.intp]) -> float:
    """Return the first cell in `possible` up to which at least half of the counts are; the last one if no cell is."""
    up_to = np.cumsum(counts)
    reached = possible[up_to[possible] >= counts.sum() / 2]
    return float(reached[0] if reached.size else possible[-1])


def _mean(rows: _Weighed | None) -> float | None:
    """Return the mean of the rows' values, weighted by their shares; None without rows."""
    return None if rows is None or not rows[1].sum() > 0 else float(rows[0] @ rows[1]) / float(rows[1].sum())


def _less(first: float | None, second: float | None) -> float | None:
    """Return the first number minus the second; None if one is unknown."""
    return None if first is None or second is None else first - second
