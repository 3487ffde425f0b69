"""Certified means: the distance of each numeric column's mean in the rows from the people's mean.

Every place that states the mean of a column among all people states this number: report, explore.html, notebook, `ask`.

**The sum.** Let m be the mean that rows are drawn around, w the width of the column's bounds, and T the sum of (value - m) / w over the N
people who have a number; their mean is m + w T / N. The kernel measures T: S = T + noise, a number from -1 to 1 for each person. Where the
rows are right T is near 0, so that the precision of N hardly matters; where people may have no number, N is measured too, with a tenth of
the column's part. Values are distinguished as finely as needed: one by one, or by a grid of `_GRID` cells and the measured parts of the
column's cells. What the grid leaves open moves T by N b at most, b half of its widest cell over w.

**The noisy tables.** They say something of T as well. Y, the first noisy table that contains the column, summed over its other columns, has
independent noise of deviation s in each of k cells; that noise is independent of all that the mechanism knew when it chose the table. Later
tables are left out: whether AIM measures a column again depends on the noise of the first, and their mean is off by more than it says. Let
R be the number of records, public or an estimate with deviation r. For weights f of the cells with the mean f', f.Y is replaced by
(f - f').Y + f' R, which uses what is known of the sum of all cells. The first term has no noise in common with R (where R was estimated
from the same tables, a minimum-variance mean of their sums, the noise of a sum and the noise of a difference of independent cells of equal
variance are uncorrelated), so that for weights f and g

    Cov(f, g) = s^2 (f - f').(g - g') + f' g' r^2.

No table says where values lie in a cell, and nothing is assumed about it: the weights u of the upper ends of all cells,
(upper end - m) / w, give a sum of the expectation T or more, the weights l of the lower ends one of T or less. Cells of one value have
l = u. The estimate takes for each cell the mean of its numbers as it was measured inside, or its only value. That measured mean has noise,
and needs no interval of its own, because it moves the estimate alone and not the ends of the interval.

**Both together.** The two sums have independent noise. They are weighed by their precisions, one over the variance of the noise, where
cells leave nothing open. Otherwise the weight x of the tables makes the interval narrowest (`narrowest`), where cells leave N b open, and N
times the rows' mean of (u - l) / 2. The sums
L = (1 - x) S + x l.Y and U = (1 - x) S + x u.Y have E L - (1 - x) N b <= T <= E U + (1 - x) N b for every fixed x. N likewise: the measured
number and the tables' are weighed by their precisions. Fieller's set (`statistics.intervals.fieller`) has a lower end for L / N that is
above E L / N with probability 2.5 % at most, and an upper end likewise for U, so that the interval from m + w (lower end of L / N) - w (1 -
x) b to m + w (upper end of U / N) + w (1 - x) b holds with 95 % confidence or more (Proposition 28), wherever the values are in their
cells. Normal noise is taken for granted, and x to be fixed: it depends on the noise through the rows' shares and N alone.
`benchmarks/means.py` counts how often intervals hold. Measurements whose noise is not independent (`Measurement.spread`) get no weight.

Numbers beyond the bounds count as the rows have them: in the nearest cell, or not at all. A column whose bounds cut values says so
(`cut_to`). A column's part of the budget is larger the closer its people are together, in shares of its range: the mean of an amount that
most people do not have is a small part of its range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.outcome import Nothing, Open, alike, expect, some
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.intervals import Noisy, fieller
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.digits import digits, rounded
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside, behind, middles, one_value_each
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import of_form
from dpsynth_core.vocabulary.measurement import ROUNDING, Measurement
from dpsynth_core.vocabulary.ranges import cut_to
from dpsynth_core.vocabulary.released import combined
from dpsynth_core.vocabulary.rows import one_table

_GRID = 20_000
_PEOPLE = 0.1
"""Part of a column's budget that measures how many people have a number, where some may have none."""
_CONFIDENCE = 0.95
_NUMBERS = of_form(Form.BINNED)
_HEADROOM = 1 - 2.0**-30
"""Factor that keeps the sum of parts divided in floating point within the whole."""


@dataclass(frozen=True)
class MeanMeasured:
    """The mean of a column of numbers among the people.

    Attributes:
        column: The column.
        rows: Mean that rows are drawn around, in the column's unit.
        value: The best estimate of the people's mean, in the column's unit, from its own measurement and the noisy tables.
        low95: Lower end of its 95 % interval, within the column's bounds.
        high95: Upper end of its 95 % interval, within the column's bounds.
        sigma: Standard deviation of the noise in the measured sum of (value - mean) / width.
        people: Number of people with a number, measured or known.
        tables: Weight of the noisy tables in the estimate, from 0 to 1; None in releases of versions that did not use them.
    """

    column: str
    rows: float
    value: float
    low95: float
    high95: float
    sigma: float
    people: float
    tables: float | None = None


@dataclass(frozen=True, eq=False)
class _Column:
    """A column whose mean is measured.

    Attributes:
        cells: Its values, as finely as they are distinguished.
        mean: Mean of the rows.
        spread: Mean distance from the mean, as a share of the range.
        own: The column with its own cells.
        means: The number that represents each of its own cells of numbers.
        shares: The share of the rows in each cell of numbers, of those with a number.
        table: The noisy counts of its own cells; None without any of independent noise.
    """

    cells: Attribute
    mean: float
    spread: float
    own: Attribute
    means: NDArray[np.float64]
    shares: NDArray[np.float64]
    table: Measurement | None

    @property
    def low(self) -> float:
        return float(self.cells.edges[0])

    @property
    def width(self) -> float:
        return float(self.cells.edges[-1] - self.cells.scale.whole) - self.low

    @property
    def weights(self) -> NDArray[np.float64]:
        return np.nan_to_num(np.clip((middles(self.cells) - self.mean) / self.width, *self.ends))

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest (value - mean) / width that a person can contribute to the sum."""
        return min(0.0, (self.low - self.mean) / self.width), max(0.0, (self.low + self.width - self.mean) / self.width)

    @property
    def grid(self) -> float:
        """The largest change of a mean due to the grid of values, in the column's unit."""
        return float(np.diff(np.asarray(self.cells.edges, dtype=np.float64)).max() - self.cells.scale.whole) / 2

    def weighed(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return (number - mean) / width for each of the column's own cells, 0 for cells without numbers, shape (size,)."""
        return np.nan_to_num(behind((numbers - self.mean) / self.width, self.own))

    @property
    def cell_ends(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest number of each of the column's own cells of numbers."""
        edges = np.asarray(self.own.edges, dtype=np.float64)
        return edges[:-1], edges[1:] - self.own.scale.whole

    @property
    def left_open(self) -> float:
        """Half the distance of two means that the rows' cell shares allow, over the column's width.

        One mean has all people of a cell at its lowest number, the other at its highest. The result
        is 0 if each cell has one value.
        """
        low, high = self.cell_ends
        return float(self.shares @ (high - low)) / 2 / self.width if not one_value_each(self.own) else 0.0


def _columns(
    domain: Domain, codes: NDArray[np.integer], inside: Mapping[str, Inside], tables: Mapping[str, Measurement | None]
) -> list[_Column]:
    """Return the numeric columns whose means can be measured.

    They have one value per bin or a measured histogram, no values that count in another cell, and a
    number in some row.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        inside: Measured histograms by column.
        tables: The noisy counts of the cells by column; columns that are missing have none.
    """
    found = []
    for place, one in enumerate(domain):
        if not one.is_number or one.edges[-1] - one.edges[0] <= one.scale.whole or one.missing_as or one.other_as:
            continue
        parts = inside[one.name].of(one) if one.name in inside else None
        if parts is None and not one_value_each(one):
            continue
        counts = np.bincount(codes[:, place], minlength=one.size)[: one.values]
        if not (number := int(counts.sum())):
            continue
        means = middles(one)[: one.values] if parts is None else parts.means
        mean = float(counts @ means / number)
        cells = one if parts is None else replace(one, edges=_grid(one, inside[one.name].parts))
        spread = float(counts @ np.abs(means - mean)) / number / float(one.edges[-1] - one.edges[0])
        table = tables.get(one.name)
        independent = table if table is not None and table.spread is None else None
        found.append(_Column(cells, mean, max(spread, 1 / (1 + number)), one, means, counts / number, independent))
    return found


def _grid(column: Attribute, parts: Sequence[float]) -> tuple[float, ...]:
    first, end = column.edges[0], column.edges[-1]
    if column.scale.whole and end - first <= _GRID:
        return tuple(range(int(first), int(end) + 1))
    even = np.linspace(first, end, _GRID + 1)
    return tuple(np.union1d(np.rint(even) if column.scale.whole else even, np.asarray(parts, dtype=np.float64)).tolist())


def measure(kernel: SealedKernel, columns: Sequence[_Column], records: Noisy) -> tuple[MeanMeasured, ...]:
    """Measure the means of the columns with the kernel's remaining budget, and return them with 95 % intervals, in order.

    A column gets a larger part of the budget the closer its values are together.

    Args:
        kernel: The kernel, which is charged.
        columns: The columns, at least one.
        records: The number of records, with its noise.
    """
    rho, need = kernel.rho_left * _HEADROOM, np.array([1 / one.spread for one in columns])
    fine = kernel.over(Domain(tuple(one.cells for one in columns)))
    fine.prepare([(one.cells.name,) for one in columns])
    return tuple(_measured(fine, one, rho * part, records) for one, part in zip(columns, (need / need.sum()).tolist(), strict=True))


def _measured(kernel: SealedKernel, column: _Column, rho: float, records: Noisy) -> MeanMeasured:
    clique, cells, people = (column.cells.name,), column.cells, records
    if cells.size > cells.values:
        number = kernel.unit.sum_l2(0.0, 1.0) / math.sqrt(2 * _PEOPLE * rho)
        having = behind(np.ones(cells.values), cells)
        people = Noisy(kernel.measure_sum(clique, np.nan_to_num(having), 0.0, 1.0, number), math.sqrt(number**2 + ROUNDING))
        rho *= 1 - _PEOPLE
    sigma = kernel.unit.sum_l2(*column.ends) / math.sqrt(2 * rho)
    total = kernel.measure_sum(clique, column.weights, *column.ends, sigma)
    return state(column, Noisy(total, math.sqrt(sigma**2 + ROUNDING)), people, records)


def state(column: _Column, total: Noisy, people: Noisy, records: Noisy) -> MeanMeasured:
    """Return the mean of a column among the people, with its interval: the one estimator of means.

    Args:
        column: The column, with its noisy table.
        total: Measured sum of (value - mean of the rows) / width over the people.
        people: Number of people with a number, measured apart from `total` and the tables; `records`
            if all have one.
        records: Number of records.
    """
    seen = None if column.table is None else _Counted(column.table, records)
    number = np.nan_to_num(behind(np.ones(column.own.values), column.own))
    below, trust, weight, reach = people, 0.0, 0.0, normal((1 + _CONFIDENCE) / 2)
    if seen is not None:
        of_tables = seen.covariance(number, number)
        trust = 1.0 if column.own.size == column.own.values else people.sigma**2 / (people.sigma**2 + of_tables)
        below = Noisy(
            (1 - trust) * people.value + trust * seen.sum(number), math.sqrt((1 - trust) ** 2 * people.sigma**2 + trust**2 * of_tables)
        )
        middle = column.weighed(column.means)
        further = below.value * (column.left_open - column.grid / column.width)
        weight = narrowest(total.sigma, math.sqrt(seen.covariance(middle, middle)), further / reach)
    each = [(total.value, (-math.inf, math.inf))] * 3
    for place, numbers in enumerate((column.cell_ends[0], column.means, column.cell_ends[1])):
        above, covariances = total.value, (total.sigma**2, 0.0, below.sigma**2)
        if seen is not None:
            f = column.weighed(numbers)
            above = (1 - weight) * total.value + weight * seen.sum(f)
            own = (1 - weight) ** 2 * total.sigma**2 + weight**2 * seen.covariance(f, f)
            covariances = own, weight * trust * seen.covariance(f, number), below.sigma**2
        each[place] = above, fieller(above, below.value, covariances, reach)
    (_, (low, _)), (likely, _), (_, (_, high)) = each
    room, least, most, size = (1 - weight) * column.grid, column.low, column.low + column.width, max(1.0, below.value)
    ends = column.mean + column.width * low - room, column.mean + column.width * high + room
    low95, high95 = (min(max(end, least), most) for end in ends)
    value = min(max(column.mean + column.width * likely / size, low95), high95)
    return MeanMeasured(column.own.name, column.mean, value, low95, high95, total.sigma, size, weight)


def narrowest(own: float, other: float, further: float) -> float:
    """Return the weight x of the second of two independent estimates for which the interval of their weighted mean is narrowest.

    x minimises sqrt((1 - x)^2 own^2 + x^2 other^2) + x further over 0 <= x <= 1; the half width of the
    interval grows with this term. For `further` = 0, x is own^2 / (own^2 + other^2).

    Args:
        own: Standard deviation of the first estimate, above 0.
        other: Standard deviation of the second, in the same unit.
        further: Bound on the second estimate's bias minus that on the first one's, divided by the normal
            quantile of the interval; negative if the first has the larger bound.
    """
    both = own**2 + other**2
    if further**2 >= both:
        return 0.0 if further > 0 else 1.0
    return min(max((own**2 - further * own * other / math.sqrt(both - further**2)) / both, 0.0), 1.0)


@dataclass(frozen=True, eq=False)
class _Counted:
    """Weighted sums of the noisy counts of a column's cells, with what is known of their sum.

    Attributes:
        table: The counts.
        records: The number of records.
    """

    table: Measurement
    records: Noisy

    def sum(self, f: NDArray[np.float64]) -> float:
        """Return the sum over all people of the weight f of their cell, as estimated."""
        return float((f - f.mean()) @ self.table.values) + float(f.mean()) * self.records.value

    def covariance(self, f: NDArray[np.float64], g: NDArray[np.float64]) -> float:
        """Return the covariance of the noise of two such sums."""
        varying = self.table.deviation**2 * float((f - f.mean()) @ (g - g.mean()))
        return varying + float(f.mean()) * float(g.mean()) * self.records.sigma**2


class Means(Claim[tuple[MeanMeasured, ...]]):
    """The claim about the means of numeric columns: how far the means of the rows are from the people's."""

    name = part = "means"
    share = BudgetShare(default=0.0, least=0.001, most=0.4, otherwise="0 to measure no means")
    purpose = "measuring the means of columns of numbers"
    unmeasured = "The run was interrupted before the means of columns of numbers were measured, although a share of the budget was for it."
    question = "Do the means of columns follow?"
    title = "How far off are means?"
    noun = "means"
    reading = (
        "The mean of each column of numbers was measured with noise, on a share of the budget of its own; noisy counts of the column's "
        "groups add to it as far as they are precise. Nothing is assumed of how values lie in their groups. The intervals hold with 95% "
        "confidence, each by itself. Whoever has no number, or one beyond bounds that have a group of their own, is left out."
    )
    form = TypeAdapter(tuple[MeanMeasured, ...])

    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:
        """Return whether the mechanism makes rows of one table that has, or in a draft may still get, a numeric column."""
        columns = (document.get("domain") or {}).get("attributes")
        numbers = columns is None or any(one.get("kind") in _NUMBERS for one in columns)
        return numbers and mechanism.card.makes_rows and document.get("members") is None

    @override
    def absent(self, plan: Asked) -> tuple[MeanMeasured, ...]:
        """Return (), what a release without measured means holds."""
        return ()

    def lacks(self, plan: Asked, stated: tuple[MeanMeasured, ...]) -> str:  # noqa: ARG002
        """Return "", because a table without numeric columns has no means to miss."""
        return ""

    @override
    def answers(self, plan: Asked, stated: tuple[MeanMeasured, ...]) -> int:
        """Return the number of kernel answers behind the means: one per column, or two.

        A second answer counts the people who have a number, for columns where some may have none.
        """
        return sum(2 if plan.domain[one.column].size > plan.domain[one.column].values else 1 for one in stated)

    @override
    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> tuple[MeanMeasured, ...]:
        """Measure means with the kernel's remaining budget, and return them in the domain's order.

        They are the means of numeric columns with a number in some row, with one value per bin or measured numbers
        inside the bins, and without values that count in another cell. The result is () without rows of a single
        table, without such columns, or if the number of records is not known. Nothing is charged then.

        Args:
            plan: The plan.
            kernel: The kernel with the share for means.
            final: The released tables and rows.
        """
        return self._measure(plan, kernel, final, {one.name: _first(final, one.name) for one in plan.domain if one.is_number})

    def _measure_as_before(self, plan: Asked, kernel: SealedKernel, final: Final) -> tuple[MeanMeasured, ...]:
        """Return the means as versions stated them that did not use the noisy tables: `tables` is None."""
        return tuple(replace(one, tables=None) for one in self._measure(plan, kernel, final, {}))

    def _measure(
        self, plan: Asked, kernel: SealedKernel, final: Final, tables: Mapping[str, Measurement | None]
    ) -> tuple[MeanMeasured, ...]:
        codes, total = one_table(final.released.codes), final.counted
        columns = [] if codes is None else _columns(plan.domain, codes, final.inside, tables)
        return measure(kernel, columns, Noisy(total.value, total.sigma)) if columns and total is not None else ()

    @override
    def follows(self, received: Received, stated: tuple[MeanMeasured, ...]) -> str:
        """Measure the means again from stored noisy answers; return a clause if they are as stated.

        Raises:
            Wrong: A mean differs, is of another column, or was measured of other rows.
            Open: The answers do not fit these rows, but other versions made the release.
            Nothing: No means were measured.
        """
        if not stated:
            raise Nothing("no means were measured")
        before = any(one.tables is None for one in stated)
        if (again := self.again(received, self.took(received, stated), self._measure_as_before if before else None)) is None:
            expect(received.other_versions, "the means were measured of something else than these rows")
            raise Open("whether the means were measured of these rows is seen where the versions are those that it names")
        expect([one.column for one in again] == [one.column for one in stated], "they are of other columns")
        different = [one.column for one, other in zip(again, stated, strict=True) if not alike(asdict(one), asdict(other))]
        expect(not different, f"the mean of {some(different)} does not follow from what was measured")
        return f"{len(stated):,} means and their intervals follow from what was measured"

    @override
    def sentences(self, plan: Asked, stated: tuple[MeanMeasured, ...], final: Final) -> list[str]:
        """Return the sentences about each column's mean, in order, one text per column, unescaped."""
        return [sentence(plan.domain[one.column], one) for one in stated]


def _first(final: Final, name: str) -> Measurement | None:
    """Return the counts of a column from the first measurement that contains it.

    Its noise is independent of all that was known when it was taken. Whether a mechanism measures the
    column again can depend on this noise, so that later measurements would bias the mean.
    """
    first = next((one for one in final.released.measurements if name in one.clique), None)
    return None if first is None else combined([first], (name,))


def near(column: Attribute, one: MeanMeasured) -> bool | None:
    """Return whether the rows' mean is near the people's mean; None if the noise leaves that open.

    Near is within a tenth of the distance from the people's mean to the nearer bound of the column.
    It is decided for the whole 95 % interval of the people's mean.

    Args:
        column: The column of the domain.
        one: Its measured mean.
    """
    low, high = float(column.edges[0]), float(column.edges[-1] - column.scale.whole)
    room = LIMIT * min(one.value - low, high - one.value)
    if max(one.rows - one.low95, one.high95 - one.rows) <= room:
        return True
    return False if max(one.low95 - one.rows, one.rows - one.high95) > room else None


def sentence(column: Attribute, one: MeanMeasured) -> str:
    """Return the means of a column in rows and people as sentences, with the 95 % interval; the name is unescaped.

    Args:
        column: The column of the domain.
        one: Its measured mean.
    """
    width, places = float(column.edges[-1] - column.edges[0]), digits(middles(column))

    def shown(number: float) -> str:
        return rounded(number, places) if column.about.dtype in ("int64", "float64") else column.scale.text(round(number))

    off, cut = abs(one.rows - one.value) / width, cut_to(column)
    return (
        f"{column.name}{cut and f', {cut}'}: {shown(one.rows)} in the rows; {shown(one.value)} among the people as measured, from"
        f" {shown(one.low95)} to {shown(one.high95)}. That is {off:.2%} of the range between its bounds."
    )


MEANS = Means()
