"""The criterion "the p-quantile of a column of numbers, such as the median, agrees with the release's within a tolerance".

Only bins are known of a record. Let q be the release's quantile, its rows being spread evenly within each bin, and a and b the outermost
edges of bins within the tolerance of q. Certified is that at most p of the group are below a, and at least p below b: then the real
p-quantile lies from a to b, and differs from q by the tolerance at most. Both are signs of sums over the group, S_a <= 0 and S_b >= 0,

    S_e = sum over its people of (1 if below e, else 0) - p,     p a whole multiple of 2^-20,

so that the number of people in the group need not be known. Where numbers beyond a column's bounds count in the nearest bin, its outermost
edges bound no number, and are not used. A person's part is from -p to 1 - p. The error is max(S_a, -S_b): the number of people too many on
one side. It is above 0 exactly where one of the signs is wrong, and the limit is 0. It is one of the two sums, whose noise is normal, so
that the larger of both as measured is below it by more than z sigma with the failure probability of one noise alone, and above it by more
only where one of two independent noises is above z sigma.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.claims.criteria.conditions import Condition, read_among
from dpsynth_core.claims.criteria.criterion import AMONG, UNKNOWN, Entries, Entry, Field, MeasuredCriterion, Published, positive
from dpsynth_core.claims.criteria.statistics import number_column
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.mechanisms.rounds import sigma_for
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.scores import SUM_STEPS
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.inside import middles
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.marginals import expand, project
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

_MEDIAN = 0.5
_ROUNDED = 1e-9
"""Rounding of sums of shares and edges, as a share of a column's range."""


@dataclass(frozen=True)
class Quantile(MeasuredCriterion):
    """A criterion on a quantile, e.g. {"kind": "quantile", "column": "age", "p": 0.9, "tolerance": 10, "among": {"sex": "f"}}.

    Attributes:
        column: The column.
        p: Share of the group below the quantile, a fraction between 0 and 1.
        tolerance: Allowed distance, in the column's unit.
        among: The group; people without a value are left out.
        each: Records per person.
    """

    kind: ClassVar[str] = "quantile"
    title: ClassVar[str] = "The median or another quantile of a column of numbers"
    form: ClassVar[tuple[Field, ...]] = (
        Field.amount(10.0),
        Field("column", "Column", Entry.NUMBER),
        Field("p", "Share of people below it, in %: 50 for the median", Entry.QUANTILE),
        AMONG,
    )
    by_size: ClassVar[bool] = False
    is_share: ClassVar[bool] = False
    limit: ClassVar[float] = 0.0

    column: str
    p: float
    tolerance: float
    among: Condition
    each: int = 1
    who: str = "people"

    @property
    @override
    def unit_of_error(self) -> str:
        """The words that follow an error, which is a number of people (or households): "people too many on one side"."""
        return f"{self.who} too many on one side"

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states; without "p" it is about the median.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Name of the object, with which the fields of errors begin.

        Raises:
            InputError: An entry is missing or invalid, the tolerance is below the narrowest bin, or numbers
                beyond the column's bounds count as another value.
        """
        importance, name = cls.common(entries, field)
        column = number_column(entries.get("column"), workload.domain, f"{field}.column")
        if (recoded := workload.domain[column].other_as) is not None:
            problem = f"numbers beyond the bounds of {column_field(column)} count as {shown(recoded.label)}, so that no edge bounds them"
            raise InputError(f"{field}.column", problem, "give them a cell of their own or the nearest group, or name another column")
        p = positive({"p": _MEDIAN, **entries}, "p", field, 1.0)
        on_grid = min(SUM_STEPS - 1, max(1, round(p * SUM_STEPS))) / SUM_STEPS  # a share that weights of sums can be exactly
        tolerance = positive(entries, "tolerance", field)
        narrowest = float(np.diff(np.array(workload.domain[column].edges, dtype=np.float64)).min())
        if tolerance < narrowest:
            problem = f"within {tolerance:g} of a number there need not be an edge of any bin of {column_field(column)}"
            raise InputError(f"{field}.tolerance", problem, f"use {narrowest:g} or more, or narrower bins")
        return cls(importance, name, column, on_grid, tolerance, read_among(entries, workload.domain, field))

    @override
    def linked(self, link: Link, domain: Domain, field: str) -> Self:
        """Return the criterion for two linked tables, whose errors count households."""
        return replace(self, each=link.records_each, who=link.words.households)

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the quantile and its group in words, such as "the median of age"; names and values are unescaped."""
        what = "median" if self.p == _MEDIAN else f"{100 * self.p:.4g}% quantile"
        return f"the {what} of {self.column}{self.among.among(domain)}"

    @override
    def answers(self, workload: Workload) -> int:
        """Return the number of kernel answers that `measure` takes: 2."""
        return 2

    @override
    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Measure how many people too many are on one side of the quantile's bounds, with the kernel's whole remaining budget.

        Args:
            kernel: The kernel, which is charged.
            published: The published tables and the number of records.

        Returns:
            The number with its bounds of 95 % confidence each, 0 or less if the criterion is met; `UNKNOWN` if the
            release does not determine the quantile, where the budget is spent all the same.
        """
        domain, clique = kernel.domain, self.clique(kernel.domain)
        values = middles(domain[self.column])
        members = self.among.on(domain, clique) & expand(~np.isnan(values), (self.column,), clique)
        shares = published.table(clique)
        stated = None if shares is None else project(np.where(members, shares, 0.0), clique, (self.column,))
        edges = None if stated is None else bracket(domain[self.column], stated, self.p, self.tolerance)
        unit, rho = kernel.unit, kernel.rho_left
        sigma = sigma_for(rho / 2, unit.sum_l2(-self.p, 1 - self.p))
        sums = []
        for edge in edges or (0, 0):  # 1 - p for those of the group in the first bins, -p for the others, 0 for everybody else
            below = expand(np.arange(values.size) < edge, (self.column,), clique)
            weights = np.where(members, np.where(below, 1 - self.p, -self.p), 0.0)
            sums.append(kernel.measure_sum(clique, weights, -self.p, 1 - self.p, sigma))
        if edges is None:
            return UNKNOWN
        error, sigma = max(sums[0], -sums[1]) / self.each, sigma / self.each
        either = math.sqrt(CONFIDENCE)  # of two independent noises each, so that neither is above
        return Interval(error, error - normal(either) * sigma, error + normal(CONFIDENCE) * sigma)

    @override
    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """Return by how much the upper bound is expected to exceed the measured error; infinite if it could tell nothing.

        It is in people, or in households of linked tables.

        Args:
            unit: The unit of privacy.
            rho: The criterion's part of the budget, in rho.
            workload: The workload; not used.
            people: A public or declared number of people, or of households, in the group.
        """
        margin = normal(CONFIDENCE) * sigma_for(rho / 2, unit.sum_l2(-self.p, 1 - self.p)) / self.each
        return margin if margin < min(self.p, 1 - self.p) * people else math.inf

    @override
    def amount(self, error: float) -> str:
        """Return an error in words: a number of people, or of households of linked tables, on the wrong side."""
        return f"{error:,.0f} {self.unit_of_error}"

    @override
    def requirement(self) -> str:
        """Return the requirement in words, with the tolerance in the column's unit."""
        return f"within {self.tolerance:g} in units of “{self.column}”, from edge to edge of its bins"

    @override
    def finding(self, interval: Interval) -> str:
        """Return a sentence with the measured error and its bound of 95 % confidence, in people or households."""
        if interval.at_most <= 0:
            spare, least = f"{-interval.error:,.0f} {self.who} to spare", f"at least {-interval.at_most:,.0f}"
            return f"Measured: it lies between those edges, with {spare}, {least} with 95% confidence."
        least = f"at least {interval.at_least:,.0f}"
        if interval.at_least > 0:
            return f"Measured: it lies outside, with {self.amount(interval.error)}, {least} with 95% confidence."
        return f"Measured: {least} and at most {self.amount(interval.at_most)}, so that it may lie between those edges or outside."

    @override
    def uncertainty(self, margin: float) -> str:
        """Return an expected uncertainty, a number of people, in words."""
        return f"{margin:,.0f} people" if math.isfinite(margin) else "as many people as can be on one side"

    @override
    def rule(self, margin: float) -> str:
        """Return a sentence: which measured errors are met, not met or undecided."""
        share = f"{100 * self.p:.4g}%"
        return (
            f"Met where fewer than {share} are below the lower edge and more than {share} below the upper one, each by that many people; "
            "not met where one of them is by as many on the wrong side; in between it stays undecided."
        )

    @override
    def clique(self, domain: Domain) -> Clique:
        """Return the marginal that decides the criterion: the column and the columns of its group."""
        return domain.clique({self.column, *self.among.columns})


def bracket(attribute: Attribute, shares: NDArray[np.float64], p: float, tolerance: float) -> tuple[int, int] | None:
    """Return the outermost bin edges within a tolerance of a quantile, as numbers of bins below the edges.

    If numbers beyond the bounds count in the nearest bin, the outermost edges of the column are not
    used, because they bound no number.

    Args:
        attribute: The column.
        shares: Share of people in each of its cells, of any sum; only bins count.
        p: Share of people below the quantile, between 0 and 1.
        tolerance: The tolerance, in the column's unit.

    Returns:
        The number of bins below the lower edge and below the upper edge. None if no person has a
        value, or no edge is within the tolerance on one side.
    """
    edges = np.array(attribute.edges, dtype=np.float64)
    inside = np.maximum(shares[: len(edges) - 1], 0.0)
    if not inside.sum() > 0:
        return None
    below = np.concatenate([[0.0], np.cumsum(inside)[:-1] / inside.sum(), [1.0]])
    place = min(int(np.searchsorted(below, p, side="right")), len(inside)) - 1
    within = (p - below[place]) / (below[place + 1] - below[place])
    quantile = float(edges[place] + within * (edges[place + 1] - edges[place]))
    slack = _ROUNDED * float(edges[-1] - edges[0])
    if attribute.nearest:  # whose numbers are in an outermost bin may be anywhere beyond
        edges[[0, -1]] = -np.inf, np.inf
    first = int(np.searchsorted(edges, quantile - tolerance - slack))
    last = int(np.searchsorted(edges, quantile + tolerance + slack, side="right")) - 1
    near = edges[first] <= quantile + slack and edges[last] >= quantile - slack
    return (first, last) if near else None
