"""Certified means: the distance of each numeric column's mean in the rows from the people's mean.

Let m be the mean that rows are drawn around, and w the width of the column's bounds. The kernel measures the sum of (value - m) / w over
the people, a number from -1 to 1 for each, and 0 for those without a number: the people's mean is m + w times this sum, divided by the
number of people who have one. Where the rows are right the sum is near 0, so that the precision of that number hardly matters; where people
may have no number, it is measured too, with a tenth of the column's part.

Values are distinguished as finely as needed: one by one, or by a grid of `_GRID` cells and the measured parts of the column's cells. The
interval includes what the grid leaves open. Numbers beyond the bounds count as the rows have them: in the nearest cell, or not at all. A
column's part of the budget is larger the closer its people are together, in shares of its range: the mean of an amount that most people do
not have is a small part of its range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter
from typing_extensions import override

from dpsynth_core.claims.claim import Asked, BudgetShare, Claim, Final, Received
from dpsynth_core.claims.outcome import Nothing, Open, alike, expect, some
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.statistics.intervals import Noisy, fraction
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside, behind, middles, one_value_each
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import of_form
from dpsynth_core.vocabulary.measurement import ROUNDING
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
    """The measured mean of a column of numbers.

    Attributes:
        column: The column.
        rows: Mean that rows are drawn around.
        value: The people's measured mean.
        low95: Lower end of its 95 % interval, within the bounds.
        high95: Upper end of its 95 % interval.
        sigma: Standard deviation of the noise in the measured sum of (value - mean) / width.
        people: Number of people with a number, measured or known.
    """

    column: str
    rows: float
    value: float
    low95: float
    high95: float
    sigma: float
    people: float


@dataclass(frozen=True, eq=False)
class _Column:
    """A column whose mean is measured.

    Attributes:
        cells: Its values, as finely as they are distinguished.
        mean: Mean of the rows.
        people: Share of the rows with a number.
        spread: Mean distance from the mean, as a share of the range.
    """

    cells: Attribute
    mean: float
    people: float
    spread: float

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
        return max((high - low - self.cells.scale.whole) / 2 for low, high in pairwise(self.cells.edges))


def _columns(domain: Domain, codes: NDArray[np.integer], inside: Mapping[str, Inside]) -> list[_Column]:
    """Return the numeric columns whose means can be measured.

    They have one value per bin or a measured histogram, no values that count in another cell, and a
    number in some row.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        inside: Measured histograms by column.
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
        found.append(_Column(cells, mean, number / len(codes), max(spread, 1 / (1 + number))))
    return found


def _grid(column: Attribute, parts: Sequence[float]) -> tuple[float, ...]:
    first, end = column.edges[0], column.edges[-1]
    if column.scale.whole and end - first <= _GRID:
        return tuple(range(int(first), int(end) + 1))
    even = np.linspace(first, end, _GRID + 1)
    return tuple(np.union1d(np.rint(even) if column.scale.whole else even, np.asarray(parts, dtype=np.float64)).tolist())


def measure(kernel: SealedKernel, columns: Sequence[_Column], records: Noisy) -> tuple[MeanMeasured, ...]:
    """Measure the means of the columns with the kernel's remaining budget, and return them with intervals.

    Args:
        kernel: The kernel.
        columns: The columns.
        records: The number of records.
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
    return state(column, Noisy(total, math.sqrt(sigma**2 + ROUNDING)), people)


def state(column: _Column, total: Noisy, people: Noisy) -> MeanMeasured:
    """Return the mean of a column and its interval.

    Args:
        column: The column.
        total: Measured sum of (value - mean of the rows) / width over the people.
        people: Number of people with a number.
    """
    low, high = fraction(total, people, normal((1 + _CONFIDENCE) / 2))
    least, most = column.low, column.low + column.width

    def within(number: float) -> float:
        return min(max(number, least), most)

    number = max(1.0, people.value)
    return MeanMeasured(
        column=column.cells.name,
        rows=column.mean,
        value=within(column.mean + column.width * total.value / number),
        low95=within(column.mean + column.width * low - column.grid),
        high95=within(column.mean + column.width * high + column.grid),
        sigma=total.sigma,
        people=number,
    )


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
        "The mean of each column of numbers was measured with noise, on a share of the budget of its own. The intervals hold with 95% "
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
        """Return (), for no means."""
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
        codes, total = one_table(final.released.codes), final.total
        columns = [] if codes is None else _columns(plan.domain, codes, final.inside)
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
        if (again := self.again(received, self.took(received, stated))) is None:
            expect(received.other_versions, "the means were measured of something else than these rows")
            raise Open("whether the means were measured of these rows is seen where the versions are those that it names")
        expect([one.column for one in again] == [one.column for one in stated], "they are of other columns")
        different = [one.column for one, other in zip(again, stated, strict=True) if not alike(asdict(one), asdict(other))]
        expect(not different, f"the mean of {some(different)} does not follow from what was measured")
        return f"{len(stated):,} means and their intervals follow from what was measured"

    @override
    def sentences(self, plan: Asked, stated: tuple[MeanMeasured, ...], final: Final) -> list[str]:
        return [sentence(plan.domain[one.column], one) for one in stated]


def near(column: Attribute, one: MeanMeasured) -> bool | None:
    """Return whether the rows' mean is near the people's mean; None if the noise leaves that open.

    Near is within a tenth of the distance from the people's mean to the nearer bound of the column.
    It is decided for the whole 95 % interval of the people's mean.
    """
    low, high = float(column.edges[0]), float(column.edges[-1] - column.scale.whole)
    room = LIMIT * min(one.value - low, high - one.value)
    if max(one.rows - one.low95, one.high95 - one.rows) <= room:
        return True
    return False if max(one.low95 - one.rows, one.rows - one.high95) > room else None


def sentence(column: Attribute, one: MeanMeasured) -> str:
    """Return the means of a column in rows and people as sentences; the name is unescaped."""
    width = float(column.edges[-1] - column.edges[0])

    def shown(number: float) -> str:
        if column.about.dtype not in ("int64", "float64"):
            return column.scale.text(round(number))
        return f"{number:,.{max(0, min(6, 3 - math.floor(math.log10(width))))}f}"

    off = abs(one.rows - one.value) / width
    return (
        f"{column.name}: {shown(one.rows)} in the rows; {shown(one.value)} among the people as measured, from {shown(one.low95)} to"
        f" {shown(one.high95)}. That is {off:.2%} of the range between its bounds."
    )


MEANS = Means()
