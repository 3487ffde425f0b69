"""Criteria on the coefficient of one column of numbers, x, in a linear regression of another, y: how far the release's is off, or whether
it has the sign of the real one. Everybody counts as the middles of their bins; who lacks a value, or is not in the group, is left out.

Let the release have means a and b and coefficient s, all known, and let u = x - a and v = y - b - s u. A regression of v on u has the
coefficient d = beta - s, beta being the real one: the error itself, near 0 where the release is good. Over the n people of the group

    d = (S_uv - S_u S_v / n) / (S_uu - S_u^2 / n),

and each of the five sums is measured, its parts being public functions of a record's cell within public bounds. S_uv decides, for S_u and
S_v are small where the release is good; so it has most of the budget and of the failure probability. With 95 % confidence all five are
within z deviations of what was measured (Bonferroni, so that nothing is assumed of how they depend on each other), and d is between the
smallest and the largest value that the formula can have there, numerator and denominator taken one by one: conservative for all that
noise does to the moments. Of several regressors the noise of a whole matrix would have to be bounded in the same way; nothing is
certified of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpsynth_core.criteria.bounds import CONFIDENCE, Interval
from dpsynth_core.criteria.conditions import EVERYBODY, Condition, read_condition
from dpsynth_core.criteria.criterion import UNKNOWN, Entries, Importance, Published, common, positive
from dpsynth_core.criteria.statistics import number_column
from dpsynth_core.criteria.words import Within
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.kernel import SealedKernel
from dpsynth_core.mechanisms.rounds import sigma_for
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.middles import middles
from dpsynth_core.vocabulary.workload import Workload

Floats = NDArray[np.float64]
Range = tuple[float, float]
_SHARES = {"uv": 0.6, "uu": 0.15, "u": 0.1, "v": 0.1, "n": 0.05}
"""Of the budget, by sum, in the order in which they are measured."""
_FAILURES = {"uv": 0.8, "uu": 0.05, "u": 0.05, "v": 0.05, "n": 0.05}
"""Of the failure probability."""

_ROUNDED = 1e-9
"""A variance, beside the square of the range, that may be nothing but rounding."""


@dataclass(frozen=True)
class Coefficient(Within):
    """outcome: y. on: x. among: the group. limit: the largest error."""

    kind: ClassVar[str]
    is_share: ClassVar[bool] = False

    importance: Importance
    name: str
    outcome: str
    on: str
    among: Condition
    limit: float

    @classmethod
    def _read(cls, entries: Entries, workload: Workload, field: str, limit: float, *known: str) -> Self:
        importance, name = common(entries, field, ("outcome", "on", "among", *known))
        outcome, on = (number_column(entries.get(one), workload.domain, f"{field}.{one}") for one in ("outcome", "on"))
        if outcome == on:
            raise InputError(f"{field}.on", f"{column_field(on)} is the outcome too", "name another column")
        if workload.domain[on].values < 2:
            raise InputError(f"{field}.on", f"{column_field(on)} has one bin, so that nothing depends on it", "give it more bins")
        among = read_condition(entries["among"], workload.domain, f"{field}.among") if "among" in entries else EVERYBODY
        return cls(importance, name, outcome, on, among, limit)

    @property
    def unit_of_error(self) -> str:
        return f"in units of “{self.outcome}” for each of “{self.on}”"

    def sentence(self, domain: Domain) -> str:
        group = f" among those with {self.among.sentence(domain)}" if self.among.cells else ""
        return f"the coefficient of {self.on} in a linear regression of {self.outcome} on it{group}"

    def needs(self, workload: Workload) -> tuple[Clique, ...]:
        return (self._clique(workload.domain),)

    def answers(self, workload: Workload) -> int:  # noqa: ARG002
        return len(_SHARES)

    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        domain, clique = kernel.domain, self._clique(kernel.domain)
        x, y, members = self._cells(domain, clique)
        stated = _stated(published.table(clique), x, y, members)
        mean_x, mean_y, slope = stated or (0.0, 0.0, 0.0)
        u = np.where(members, x - mean_x, 0.0)
        v = np.where(members, y - mean_y - slope * u, 0.0)
        parts = {"uv": u * v, "uu": u**2, "u": u, "v": v, "n": members.astype(np.float64)}
        rho = kernel.rho_left
        ranges = {name: _range(kernel, clique, part, rho * _SHARES[name], _FAILURES[name]) for name, part in parts.items()}
        between = None if stated is None else _difference(ranges)
        return UNKNOWN if between is None else self._interval(slope, between)

    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """As if people were spread evenly over the bins of both columns."""
        x, y = (middles(workload.domain[name])[: workload.domain[name].values] for name in (self.on, self.outcome))
        sigma = sigma_for(_SHARES["uv"] * rho, unit.sum_l2(-1.0, 1.0))
        return _reach(_FAILURES["uv"]) * sigma * float(np.ptp(x) * np.ptp(y)) / 4 / (people * float(x.var()))

    def _interval(self, slope: float, between: Range) -> Interval:
        """The error, from where the real coefficient is beside the release's."""
        raise NotImplementedError

    def _clique(self, domain: Domain) -> Clique:
        return domain.clique({self.outcome, self.on, *self.among.columns})

    def _cells(self, domain: Domain, clique: Clique) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """x, y and whether somebody counts, of every cell of the table."""
        sizes = domain.sizes(clique)
        x, y = (
            np.broadcast_to(middles(domain[name]).reshape([-1 if name == other else 1 for other in clique]), sizes)
            for name in (self.on, self.outcome)
        )
        members = self.among.on(domain, clique) & ~np.isnan(x) & ~np.isnan(y)
        return np.where(members, x, 0.0), np.where(members, y, 0.0), members


@dataclass(frozen=True)
class CoefficientWithin(Coefficient):
    """How far the release's coefficient is off."""

    kind: ClassVar[str] = "regression"

    @classmethod
    def read(cls, entries: Entries, workload: Workload, field: str) -> CoefficientWithin:
        """From its JSON, e.g. {"kind": "regression", "outcome": "income", "on": "age", "tolerance": 50}. Raises InputError."""
        return cls._read(entries, workload, field, positive(entries, "tolerance", field), "tolerance")

    def _interval(self, slope: float, between: Range) -> Interval:  # noqa: ARG002
        low, high = between
        at_least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        return Interval(abs(low + high) / 2, at_least, max(abs(low), abs(high)))


@dataclass(frozen=True)
class CoefficientSign(Coefficient):
    """Whether the real coefficient has the sign of the release's. Errors are how far it is on the other side of 0."""

    kind: ClassVar[str] = "regression-sign"

    @classmethod
    def read(cls, entries: Entries, workload: Workload, field: str) -> CoefficientSign:
        """From its JSON, e.g. {"kind": "regression-sign", "outcome": "income", "on": "age"}. Raises InputError."""
        return cls._read(entries, workload, field, 0.0)

    def requirement(self) -> str:
        return "of the sign that it has in the rows"

    def finding(self, interval: Interval) -> str:
        least, most = f"{-interval.at_most:.3g}", f"{-interval.at_least:.3g}"
        return f"Measured, counted in the direction of the rows: from {least} to {most} {self.unit_of_error}, with 95 % confidence."

    def rule(self, margin: float) -> str:
        return f"With a coefficient above {self.amount(margin)} in the direction of the rows, it is met; as far in the other one, not met."

    def hopeless(self, margin: float) -> bool:  # noqa: ARG002
        """That depends on the coefficient."""
        return False

    def _interval(self, slope: float, between: Range) -> Interval:
        if slope == 0:
            return UNKNOWN
        ends = sorted(-math.copysign(1.0, slope) * (slope + one) for one in between)
        return Interval(sum(ends) / 2, *ends)


KINDS = (CoefficientWithin, CoefficientSign)


def _stated(shares: Floats | None, x: Floats, y: Floats, members: NDArray[np.bool_]) -> tuple[float, float, float] | None:
    """Both means and the coefficient in the release; None where it has nobody there, or the same x for all."""
    weights = None if shares is None else np.where(members, shares, 0.0)
    if weights is None or not (group := float(weights.sum())) > 0:
        return None
    mean_x, mean_y = float((weights * x).sum()) / group, float((weights * y).sum()) / group
    variance = float((weights * (x - mean_x) ** 2).sum())
    if not variance > _ROUNDED * group * float(np.ptp(x[members])) ** 2:
        return None
    return mean_x, mean_y, float((weights * (x - mean_x) * (y - mean_y)).sum()) / variance


def _range(kernel: SealedKernel, clique: Clique, part: Floats, rho: float, failure: float) -> Range:
    """Between which two numbers the sum of a part over all people is: as measured for rho, in units of the largest part."""
    scale = float(np.abs(part).max()) or 1.0
    weights = part / scale
    low, high = min(0.0, float(weights.min())), max(0.0, float(weights.max()))
    if low == high:
        high = 1.0  # everybody counts as 0
    sigma = sigma_for(rho, kernel.unit.sum_l2(low, high))
    noisy, reach = kernel.measure_sum(clique, weights, low, high, sigma), _reach(failure) * sigma
    return scale * (noisy - reach), scale * (noisy + reach)


def _reach(failure: float) -> float:
    """Deviations within which a sum is but for this share of the failure probability, divided between both sides."""
    return float(ndtri(1 - failure * (1 - CONFIDENCE) / 2))


def _difference(ranges: dict[str, Range]) -> Range | None:
    """Between which two numbers d is; None where people or spread may be nothing."""
    fewest, most = ranges["n"]
    if fewest <= 0:
        return None
    products = [a * b for a in ranges["u"] for b in ranges["v"]]
    least, largest = (min(one / number for one in products for number in ranges["n"]), max(o / n for o in products for n in ranges["n"]))
    squares = (0.0 if ranges["u"][0] <= 0 <= ranges["u"][1] else min(one**2 for one in ranges["u"])), max(one**2 for one in ranges["u"])
    below, above = ranges["uu"][0] - squares[1] / fewest, ranges["uu"][1] - squares[0] / most
    if below <= 0:
        return None
    low, high = ranges["uv"][0] - largest, ranges["uv"][1] - least
    return low / (above if low > 0 else below), high / (below if high > 0 else above)
