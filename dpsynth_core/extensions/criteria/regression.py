"""Criteria on a coefficient of a linear regression: how far the release's is off, or whether it has the sign of the real one.

The regression is of a column of numbers y on another, x, and on up to `MOST_BESIDE` more that it is adjusted for. Everybody counts as the
middles of their bins; who lacks one of the values, or is not in the group, is left out.

From the release follow, by the method of Gram and Schmidt over its rows, t_0 = 1 and one t_l for each regressor, x last: the residual after
the predictors before it; and v, what the release's regression leaves of y. All are public functions of a record's cell. Regressors and t
span the same, and x is in t_k alone, with the factor 1: so a regression of v on all t has at t_k the real coefficient less the release's
(Frisch, Waugh 1933). That is the error itself, c_k of

    G c = b,   G_lm = sum of t_l t_m,   b_l = sum of t_l v,   over the people of the group.

Where the release is good, c is near 0 and so are the G_lm with l != m; then b_k decides, and it has most of the budget and of the failure
probability. Every sum is measured by itself. With 95 % confidence all entries are within their reach of what was measured (Bonferroni,
which assumes nothing about their dependence), and c_k is bounded over all G and b there: with D the inverse of the measured G, c~ = D b as
measured, and elementwise |G - measured| <= E, |b - measured| <= f,

    |c - c~| <= (1 - |D| E)^-1 |D| (f + E |c~|)   where the powers of |D| E vanish,

and from the last line alone, b_k less the products G_kl c_l, divided by G_kk. The interval is where both agree. It holds for any table, and
is wider than it would have to be, never narrower. A bound on one side takes the failures of b_k on that side alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.claims.criteria.conditions import Condition, read_among
from dpsynth_core.claims.criteria.criterion import AMONG, UNKNOWN, Entries, Entry, Field, MeasuredCriterion, Published, positive
from dpsynth_core.claims.criteria.statistics import measured_sum, number_column
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.rounds import sigma_for
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.scores import SUM_STEPS
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.inside import middles
from dpsynth_core.vocabulary.marginals import expand
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

Floats = NDArray[np.float64]
Range = tuple[float, float]
_BESIDE = "adjusted_for"
MOST_BESIDE = 3
"""Largest number of further regressors: with k regressors (k + 1)(k + 4) / 2 sums share the budget."""
_DECIDES, _SPREAD = 0.6, 0.15
"""Shares of the budget that measure b_k and G_kk; the other sums have equal parts of the rest."""
_DECIDING_FAILURE = 0.8
"""Share of the failure probability for b_k; the other sums have equal parts of the rest."""
_ROUNDED = 1e-9
"""Variance, relative to the square of the range, that may be rounding alone."""

_TOLERANCE = Field.amount(1.0)
_COLUMNS = (
    Field("outcome", "Column that depends", Entry.NUMBER),
    Field("on", "On the column", Entry.NUMBER),
    Field(_BESIDE, "Adjusted for", Entry.NUMBERS, most=MOST_BESIDE),
    AMONG,
)


@dataclass(frozen=True)
class Coefficient(MeasuredCriterion):
    """A criterion on a coefficient of a linear regression.

    Attributes:
        outcome: The column y that depends.
        on: The column x whose coefficient counts.
        beside: Further regressors.
        among: The group of people.
        limit: Largest allowed error, in units of y for each unit of x.
    """

    is_share: ClassVar[bool] = False

    outcome: str
    on: str
    beside: tuple[str, ...]
    among: Condition
    limit: float

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Name of the object, with which the fields of errors begin.

        Raises:
            InputError: An entry is missing or invalid, a column is named twice, or a regressor has one bin.
        """
        limit = positive(entries, "tolerance", field) if _TOLERANCE in cls.form else 0.0
        importance, name = cls.common(entries, field)
        outcome, on = (number_column(entries.get(one), workload.domain, f"{field}.{one}") for one in ("outcome", "on"))
        if outcome == on:
            raise InputError(f"{field}.on", f"{column_field(on)} is the outcome too", "name another column")
        _check_bins(on, workload.domain, f"{field}.on")
        beside = _beside(entries.get(_BESIDE, []), (outcome, on), workload.domain, f"{field}.{_BESIDE}")
        return cls(importance, name, outcome, on, beside, read_among(entries, workload.domain, field), limit)

    @property
    @override
    def unit_of_error(self) -> str:
        """The words that follow an error: in units of the outcome for each unit of the regressor."""
        return f"in units of “{self.outcome}” for each of “{self.on}”"

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the coefficient and its group in words, as a noun phrase; names and values are unescaped."""
        others = "".join(f" and {name}" for name in self.beside)
        return f"the coefficient of {self.on} in a linear regression of {self.outcome} on it{others}{self.among.among(domain)}"

    @override
    def answers(self, workload: Workload) -> int:
        """Return the number of kernel answers that `measure` takes: (k + 1)(k + 4) / 2 with k regressors."""
        lines = 2 + len(self.beside)
        return lines * (lines + 1) // 2 + lines

    @override
    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Measure the error of the release's coefficient with the kernel's whole remaining budget.

        Args:
            kernel: The kernel, which is charged.
            published: The published tables and the number of records.

        Returns:
            The error with its bounds of 95 % confidence each, in units of y for each unit of x. `UNKNOWN` if the
            release does not determine the coefficient, or noise may hide the spread of a column; the budget is
            spent all the same.
        """
        domain, clique = kernel.domain, self.clique(kernel.domain)
        columns = (*self.beside, self.on, self.outcome)
        numbers = [np.broadcast_to(expand(middles(domain[name]), (name,), clique), domain.sizes(clique)) for name in columns]
        members = np.logical_and.reduce([self.among.on(domain, clique), *(~np.isnan(one) for one in numbers)])
        *regressors, y = (np.where(members, one, 0.0) for one in numbers)
        stated = _stated(published.table(clique), regressors, y, members)
        known = stated or Stated([members.astype(np.float64), *regressors], y, 0.0)
        sums = _measured(kernel, clique, known)
        if stated is None:
            return UNKNOWN
        one_side, either_side = (_difference(sums, sides) for sides in (1, 2))
        return self._interval(stated.slope, one_side, either_side) if one_side and either_side else UNKNOWN

    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """Return the expected half width of the coefficient's bounds, for a release without error.

        It is in units of y for each unit of x. People are assumed to be spread evenly over all bins. The result is
        infinite if noise may hide the spread of a column (below some tens of thousands of people at epsilon 1).

        Args:
            unit: The unit of privacy.
            rho: Budget that measures the criterion, in rho.
            workload: The workload.
            people: Expected number of people in the group `among`, which may be far fewer than all people.
        """
        columns = (*self.beside, self.on, self.outcome)
        *regressors, y = (middles(workload.domain[name])[: workload.domain[name].values] for name in columns)
        sizes, spreads = [1.0, *(float(np.ptp(x)) / 2 for x in regressors)], [1.0, *(float(x.var()) for x in regressors)]
        sums = Sums()
        for (one, other), (share, failure) in _planned(len(regressors)).items():
            scale = sizes[one] * (float(np.ptp(y)) / 2 if other == _LEFT else sizes[other])
            sigma = sigma_for(share * rho, unit.sum_l2(0.0 if other == 0 else -1.0, 1.0))
            sums[one, other] = Measured(people * spreads[one] if one == other else 0.0, scale * sigma, scale, failure)
        ends = _difference(sums, 1)
        return math.inf if ends is None else max(map(abs, ends))

    def _interval(self, slope: float, one_side: Range, either_side: Range) -> Interval:
        """Return the interval of the criterion's error, given bounds of the real coefficient minus the release's.

        Args:
            slope: The release's coefficient.
            one_side: Lower and upper bound, each with 95 % confidence by itself.
            either_side: Lower and upper bound that hold together with 95 % confidence.
        """
        raise NotImplementedError

    @override
    def clique(self, domain: Domain) -> Clique:
        """Return the marginal that decides the criterion: outcome, regressors and the columns of the group."""
        return domain.clique({self.outcome, self.on, *self.beside, *self.among.columns})


@dataclass(frozen=True)
class CoefficientWithin(Coefficient):
    """The error of the release's coefficient, e.g. {"kind": "regression", "outcome": "income", "on": "age", "tolerance": 50}."""

    kind: ClassVar[str] = "regression"
    title: ClassVar[str] = "A regression coefficient"
    form: ClassVar[tuple[Field, ...]] = (_TOLERANCE, *_COLUMNS)

    def _interval(self, slope: float, one_side: Range, either_side: Range) -> Interval:  # noqa: ARG002
        low, high = either_side
        at_least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return Interval(abs(low + high) / 2, at_least, max(map(abs, one_side)))


@dataclass(frozen=True)
class CoefficientSign(Coefficient):
    """The condition that the real coefficient has the sign of the release's.

    Example: {"kind": "regression-sign", "outcome": "income", "on": "age"}. Errors are the distance on the other side of 0.
    """

    kind: ClassVar[str] = "regression-sign"
    title: ClassVar[str] = "The sign of a regression coefficient"
    form: ClassVar[tuple[Field, ...]] = _COLUMNS

    @override
    def requirement(self) -> str:
        """Return the requirement in words: the sign that the coefficient has in the rows."""
        return "of the sign that it has in the rows"

    @override
    def finding(self, interval: Interval) -> str:
        """Return a sentence with the interval of the coefficient in the direction of the rows, with 95 % confidence."""
        least, most = f"{-interval.at_most:.3g}", f"{-interval.at_least:.3g}"
        return f"Measured, counted in the direction of the rows: from {least} to {most} {self.unit_of_error}, with 95% confidence."

    @override
    def rule(self, margin: float) -> str:
        """Return a sentence: how large a measured coefficient must be for the criterion to be met, or not met.

        Args:
            margin: The result of `margin`. A coefficient nearer to 0 leaves the criterion undecided.
        """
        return f"With a coefficient above {self.amount(margin)} in the direction of the rows, it is met; as far in the other one, not met."

    @override
    def hopeless(self, margin: float) -> bool:
        """Return False: the size of the real coefficient decides, which is not known before the run."""
        return False

    def _interval(self, slope: float, one_side: Range, either_side: Range) -> Interval:  # noqa: ARG002
        if slope == 0:
            return UNKNOWN
        ends = sorted(-math.copysign(1.0, slope) * (slope + one) for one in one_side)
        return Interval(sum(ends) / 2, *ends)


@dataclass(frozen=True, eq=False)
class Stated:
    """The release's regression.

    Attributes:
        directions: Orthogonal regressors t_0 to t_k: a number for each cell, 0 outside the group.
        left: Residual v of y in each cell, 0 outside the group.
        slope: The release's coefficient of x.
    """

    directions: list[Floats]
    left: Floats
    slope: float


def _stated(shares: Floats | None, regressors: list[Floats], y: Floats, members: NDArray[np.bool_]) -> Stated | None:
    """Return the regression in the release; None if its group is empty or the regressors are collinear.

    Args:
        shares: The published table, as fractions; None if it is not available.
        regressors: Number of each regressor in each cell, x last.
        y: Number of the outcome in each cell.
        members: True in the cells of the group.
    """
    weights = None if shares is None else np.where(members, shares, 0.0)
    if weights is None or not (group := float(weights.sum())) > 0:
        return None
    directions, slope, left = [members.astype(np.float64)], 0.0, y - _along(y, members, weights)
    for regressor in regressors:
        fresh = regressor
        for _ in range(2):  # once more, for what rounding left
            for one in directions:
                fresh = fresh - _along(fresh, one, weights)
        spread = float((weights * fresh**2).sum())
        if not spread > _ROUNDED * group * float(np.ptp(regressor[members])) ** 2:
            return None
        slope = float((weights * left * fresh).sum()) / spread
        left = left - slope * fresh
        directions.append(fresh)
    return Stated(directions, left, slope)


def _along(values: Floats, direction: NDArray[Any], weights: Floats) -> Floats:
    return direction * (float((weights * values * direction).sum()) / float((weights * direction**2).sum()))


@dataclass(frozen=True)
class Measured:
    """A measured sum.

    Attributes:
        value: The noisy value.
        sigma: Standard deviation of the noise, in the unit of the value.
        scale: Largest contribution of a person.
        failure: Share of the failure probability that its bounds may use, from 0 to 1.
    """

    value: float
    sigma: float
    scale: float
    failure: float

    def reach(self, people: float, sides: int) -> float:
        """Return the largest distance of the measured sum from the true one, with the confidence that `failure` allows.

        It is in the unit of the value, and includes noise and the rounding of people's contributions.

        Args:
            people: Upper bound of the number of people who contribute.
            sides: Number of sides (1 or 2) between which the failure probability is divided.
        """
        deviations = normal(1 - self.failure * (1 - CONFIDENCE) / sides)
        return deviations * self.sigma + self.scale * people / SUM_STEPS


Sums = dict[tuple[int, int], Measured]
"""G_lm by (l, m), l at most m; b_l by (l, `_LEFT`)."""
_LEFT = -1


def _planned(last: int) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the share of the budget and the share of the failure probability of each sum, the deciding sum first.

    Args:
        last: Number of regressors, which is the index of x.

    Returns:
        Both shares for each sum (l, m), named as in `Sums`.
    """
    of_g = [(one, other) for one in range(last + 1) for other in range(one, last + 1)]
    pairs = sorted([*of_g, *((one, _LEFT) for one in range(last + 1))], key=lambda pair: pair != (last, _LEFT))
    rest = len(pairs) - 2
    shares = {(last, _LEFT): _DECIDES, (last, last): _SPREAD}
    failures = {(last, _LEFT): _DECIDING_FAILURE}
    usual = (1 - _DECIDES - _SPREAD) / rest, (1 - _DECIDING_FAILURE) / (rest + 1)
    return {pair: (shares.get(pair, usual[0]), failures.get(pair, usual[1])) for pair in pairs}


def _measured(kernel: SealedKernel, clique: Clique, stated: Stated) -> Sums:
    """Measure all sums with the kernel's remaining budget, the deciding sum first.

    Args:
        kernel: The kernel.
        clique: The columns of the table.
        stated: The release's regression, which defines the sums.
    """
    rho, sums = kernel.rho_left, Sums()
    for (one, other), (share, failure) in _planned(len(stated.directions) - 1).items():
        part = stated.directions[one] * (stated.left if other == _LEFT else stated.directions[other])
        noisy, scale = measured_sum(kernel, clique, part, rho * share)
        sums[one, other] = Measured(scale * noisy.value, scale * noisy.sigma, scale, failure)
    return sums


def _difference(sums: Sums, sides: int) -> Range | None:
    """Return bounds of the real coefficient of x less the release's, the last entry of c.

    None is returned if noise may hide the number of people or the spread of a column.

    Args:
        sums: The measured sums.
        sides: Number of sides (1 or 2) between which the failure probability of b_k is divided.
    """
    last = max(one for one, _ in sums)
    count = sums[0, 0]
    people = count.value + count.reach(0.0, 2)  # their parts are 1, and not rounded
    if count.value - count.reach(0.0, 2) <= 0:
        return None
    lines = range(last + 1)
    pairs = [[(min(one, other), max(one, other)) for other in lines] for one in lines]
    g = np.array([[sums[pair].value for pair in line] for line in pairs])
    e = np.array([[sums[pair].reach(people, 2) for pair in line] for line in pairs])
    b = np.array([sums[one, _LEFT].value for one in lines])
    f = np.array([sums[one, _LEFT].reach(people, sides if one == last else 2) for one in lines])
    return _enclosed(g, e, b, f)


def _enclosed(g: Floats, e: Floats, b: Floats, f: Floats) -> Range | None:
    """Return bounds of the last entry of c with G c = B, for all |G - g| <= e and |B - b| <= f elementwise.

    None is returned if such a G may be singular.
    """
    try:
        inverse = np.linalg.inv(g)
    except np.linalg.LinAlgError:
        return None
    growth = np.abs(inverse) @ e
    if not np.abs(np.linalg.eigvals(growth)).max() < 1:
        return None
    middle = inverse @ b
    far = np.linalg.solve(np.eye(len(b)) - growth, np.abs(inverse) @ (f + e @ np.abs(middle)))
    by_all = float(middle[-1] - far[-1]), float(middle[-1] + far[-1])
    below, above = float(g[-1, -1] - e[-1, -1]), float(g[-1, -1] + e[-1, -1])
    if below <= 0:
        return by_all
    others = g[-1, :-1] * middle[:-1]
    loose = np.abs(g[-1, :-1]) * far[:-1] + e[-1, :-1] * (np.abs(middle[:-1]) + far[:-1])
    low, high = (float(b[-1] - others.sum()) + sign * float(f[-1] + loose.sum()) for sign in (-1, 1))
    by_last = low / (above if low > 0 else below), high / (below if high > 0 else above)
    return max(by_all[0], by_last[0]), min(by_all[1], by_last[1])


def _beside(listed: object, taken: tuple[str, str], domain: Domain, field: str) -> tuple[str, ...]:
    if not isinstance(listed, list) or len(listed) > MOST_BESIDE:
        raise InputError(field, f"it is not a list of at most {MOST_BESIDE} columns", 'write for example ["age", "hours"], or leave it out')
    names = tuple(number_column(name, domain, f"{field}.{place}") for place, name in enumerate(listed))
    for place, name in enumerate(names):
        if name in (*taken, *names[:place]):
            raise InputError(f"{field}.{place}", f"{column_field(name)} is in the regression already", "name another column")
        _check_bins(name, domain, f"{field}.{place}")
    return names


def _check_bins(column: str, domain: Domain, field: str) -> None:
    if domain[column].values < 2:
        raise InputError(field, f"{column_field(column)} has one bin, so that nothing depends on it", "give it more bins")
