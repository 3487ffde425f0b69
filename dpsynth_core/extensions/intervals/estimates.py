"""Estimates of analyses and their influence functions, for rows that are counted by the cells of the analysis' columns.

An influence function has one number for each row: how much the estimate moves, times the number of rows, when the weight of that row grows
(Hampel 1974). Its mean square divided by the number of rows is the ordinary variance of the estimate, which is robust to
heteroscedasticity (White 1980).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from dpsynth_core.extensions.intervals import variables
from dpsynth_core.extensions.intervals.formulas import FIELD, Analysis, Condition, Regression, Statistic
from dpsynth_core.extensions.intervals.variables import Cells
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import Domain

Floats = NDArray[np.float64]
_STEPS, _CLOSE, _LONGEST_STEP = 50, 1e-9, 4.0
"""Most steps of Newton's method, the largest step at which it ends, and how far a step may move a linear predictor."""
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Estimated:
    """Estimates in one set of rows.

    Attributes:
        values: The estimates, shape (results,).
        influence: The influence function of each, shape (results, rows); empty if it was not asked for.
        rows: Number of rows.
    """

    values: Floats
    influence: Floats
    rows: int

    @property
    def variances(self) -> Floats:
        """The ordinary variance of each estimate, shape (results,); influence functions must have been asked for."""
        return np.asarray((self.influence**2).mean(axis=1) / self.rows)


class _Constant(Exception):
    """A term that is the same in all rows, so that its coefficient cannot be estimated.

    Attributes:
        place: Its place among the names.
    """

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


Compute = Callable[[list[Floats], Floats], tuple[Floats, Floats]]
"""Returns estimates and influence functions, shape (results, cells), from variables and the weight of each cell; weights sum to 1."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """An analysis of a domain, ready to be computed.

    Attributes:
        names: A name for each result.
        columns: The columns that it uses, in the order of the domain.
        domain: The domain.
    """

    names: tuple[str, ...]
    columns: tuple[str, ...]
    domain: Domain
    _design: tuple[tuple[Cells, ...], ...]
    _compute: Compute

    def absent(self, codes: NDArray[np.integer]) -> tuple[int, ...]:
        """Return the places, from 0 among the names, of the terms of a regression that are 0 in every row; () for a statistic.

        Such a term is the indicator of a value, or a condition, that no row has; its coefficient
        cannot be estimated.

        Args:
            codes: The cells of the rows, shape (rows, columns of the domain).
        """
        terms = enumerate(self._design[1:], start=1) if len(self.names) > 1 else ()  # a statistic has one name
        seen = {name: np.unique(codes[:, self.domain.position(name)]) for name in self.columns}
        return tuple(place for place, factors in terms if any(not np.nan_to_num(one.values[seen[one.column]]).any() for one in factors))

    def without(self, places: Collection[int]) -> Prepared:
        """Return a regression without the terms at these places, from 0 among the names; without places, the same object."""
        if not places:
            return self
        kept = [place for place in range(len(self.names)) if place not in places]
        return replace(self, names=tuple(self.names[k] for k in kept), _design=tuple(self._design[k] for k in kept))

    def estimate(self, codes: NDArray[np.integer], influence: bool = False, weights: Floats | None = None) -> Estimated:
        """Return the estimates in a set of rows.

        Rows with a missing value in one of the columns are left out; their influence is 0.

        Args:
            codes: The cells of the rows, shape (rows, columns of the domain).
            influence: Whether influence functions are wanted.
            weights: The weight of each row; None for equal weights.

        Raises:
            InputError: The rows hold too little for the analysis, such as an empty group, or a term is the same in all
                rows.
        """
        sizes = self.domain.sizes(self.columns)
        places = [self.domain.position(name) for name in self.columns]
        flat = np.ravel_multi_index(tuple(codes[:, place].astype(np.int64) for place in places), sizes)
        cells, of_row = np.unique(flat, return_inverse=True)
        counts = np.bincount(of_row, weights)
        at = dict(zip(self.columns, np.unravel_index(cells, sizes), strict=True))
        design = [math.prod((one.values[at[one.column]] for one in factors), start=np.ones(len(cells))) for factors in self._design]
        known = ~np.isnan(sum(design, np.zeros(len(cells))))
        held = counts[known].sum()
        if known.sum() == 0 or (weights is None and held < 2):
            raise InputError(FIELD, "no two rows of the release have all values that it needs", "use columns with fewer missing values")
        try:
            values, psi = self._compute([np.asarray(one)[known] for one in design], counts[known] / held)
        except _Constant as found:
            raise InputError(FIELD, f"{self.names[found.place]} is the same in all rows of the release", "leave it out") from None
        every = np.zeros((len(values), len(cells) if influence else 0))
        if influence:
            every[:, known] = psi * (counts.sum() / held)
        return Estimated(values, every[:, of_row] if influence else every, len(codes))


def prepared(domain: Domain, analysis: Analysis) -> Prepared:
    """Return an analysis ready to be computed in rows of a domain.

    Args:
        domain: The domain.
        analysis: The analysis.

    Raises:
        InputError: A column or value is unknown or of the wrong kind, or the outcome of a regression does not fit its
            family or is among the terms.
    """
    return _regression(domain, analysis) if isinstance(analysis, Regression) else _statistic(domain, analysis)


def _made(domain: Domain, names: tuple[str, ...], design: list[tuple[Cells, ...]], compute: Compute) -> Prepared:
    used = {one.column for factors in design for one in factors}
    return Prepared(names, tuple(name for name in domain.names if name in used), domain, tuple(design), compute)


def _statistic(domain: Domain, stated: Statistic) -> Prepared:
    of = [variables.single(domain, one) for one in stated.of]
    design: list[tuple[Cells, ...]] = [(one,) for one in of]
    title = " and ".join(one.name for one in of)
    computes: dict[str, Compute] = {
        "mean": lambda x, p: _mean(x[0], p),
        "share": lambda x, p: _mean(x[0], p),
        "difference": lambda x, p: _difference(x[0], x[1], p),
        "correlation": lambda x, p: _correlation(x[0], x[1], p),
        "odds_ratio": lambda x, p: _log_odds_ratio(x[0], x[1], p),
    }
    groups = {"difference": stated.of[-1:], "odds_ratio": stated.of}.get(stated.name, ())
    if not all(isinstance(one, Condition) for one in groups):
        example = f'write for example {stated.name}(sick == "yes", sex == "f")'
        raise InputError(FIELD, f"{stated.name} compares groups, which are conditions", example)
    if stated.name == "quantile":
        attribute = variables.attribute_of(domain, of[0].column)
        if isinstance(stated.of[0], Condition):
            raise InputError(FIELD, "a condition has no quantile", "name a column of numbers")
        wide = _widths(domain, of[0])
        compute: Compute = lambda x, p: _quantile(x[0], x[-1], p, stated.level)  # noqa: E731
        design.append((Cells("width", attribute.name, wide),))
        title = f"{stated.level:g} of {title}"
    else:
        compute = computes[stated.name]
    if stated.among is not None:
        inside = variables.indicator(domain, stated.among)
        design.append((inside,))
        return _made(domain, (f"{_word(stated.name)} {title} | {inside.name}",), design, _within(compute))
    return _made(domain, (f"{_word(stated.name)} {title}",), design, compute)


def _word(name: str) -> str:
    return {"odds_ratio": "log odds ratio of", "quantile": "quantile", "difference": "difference of"}.get(name, f"{name} of")


def _widths(domain: Domain, of: Cells) -> Floats:
    """Return the width over which the values of each cell are spread: a whole number stands for a width of 1."""
    attribute = domain[of.column]
    if attribute.is_listed or attribute.is_coded:
        listed = np.sort(of.values[~np.isnan(of.values)])
        return np.where(np.isnan(of.values), np.nan, float(np.diff(listed).min()) if len(listed) > 1 else 1.0)
    wide = [last - low + (1.0 if attribute.scale.whole else 0.0) for low, last in variables.ends(attribute)]
    return np.concatenate([wide, np.full(attribute.size - attribute.values, np.nan)])


def _within(compute: Compute) -> Compute:
    """Return the computation restricted to the rows where its last variable is 1."""

    def of_group(x: list[Floats], p: Floats) -> tuple[Floats, Floats]:
        inside = x[-1] == 1
        held = float(p[inside].sum())
        if held <= 0:
            raise InputError(FIELD, "no row of the release is in the group", "choose a larger group")
        values, psi = compute([one[inside] for one in x[:-1]], p[inside] / held)
        every = np.zeros((len(values), len(p)))
        every[:, inside] = psi / held
        return values, every

    return of_group


def _mean(y: Floats, p: Floats) -> tuple[Floats, Floats]:
    value = float(p @ y)
    return np.array([value]), (y - value)[None, :]


def _difference(y: Floats, group: Floats, p: Floats) -> tuple[Floats, Floats]:
    (one, first), (other, second) = (_within(lambda x, q: _mean(x[0], q))([y, inside], p) for inside in (group, 1 - group))
    return one - other, first - second


def _correlation(x: Floats, y: Floats, p: Floats) -> tuple[Floats, Floats]:
    parts = []
    for one in (x, y):
        centred = one - p @ one
        spread = math.sqrt(float(p @ centred**2))
        if spread <= _LEAST:
            raise InputError(FIELD, "a column has the same value in all rows, so that it correlates with nothing", "choose another column")
        parts.append(centred / spread)
    r = float(p @ (parts[0] * parts[1]))
    return np.array([r]), (parts[0] * parts[1] - r / 2 * (parts[0] ** 2 + parts[1] ** 2))[None, :]


def _log_odds_ratio(a: Floats, b: Floats, p: Floats) -> tuple[Floats, Floats]:
    value, psi = 0.0, np.zeros(len(p))
    for i in (0, 1):
        for j in (0, 1):
            cell = (a == i) & (b == j)
            held = float(p[cell].sum())
            if held <= 0:
                raise InputError(FIELD, "one of the four groups of an odds ratio has no rows", "use larger groups")
            sign = 1 if i == j else -1
            value += sign * math.log(held)
            psi += sign * (cell / held - 1)
    return np.array([value]), psi[None, :]


def _quantile(y: Floats, widths: Floats, p: Floats, level: float) -> tuple[Floats, Floats]:
    """Return a quantile of numbers that are spread evenly within their cells."""
    middles, at = np.unique(y, return_inverse=True)
    held = np.bincount(at, p)
    wide = np.zeros(len(middles))
    wide[at] = widths
    through = np.cumsum(held)
    k = int(np.searchsorted(through, level * through[-1]))
    inside = (level * through[-1] - (through[k] - held[k])) / held[k]
    below = (y < middles[k]) + inside * (y == middles[k])
    return np.array([middles[k] + (inside - 0.5) * wide[k]]), ((level - below) * wide[k] / held[k])[None, :]


def _regression(domain: Domain, stated: Regression) -> Prepared:
    outcome = variables.single(domain, stated.outcome)
    family = stated.family or ("logistic" if set(outcome.values[~np.isnan(outcome.values)]) <= {0.0, 1.0} else "linear")
    if family == "logistic" and not set(outcome.values[~np.isnan(outcome.values)]) <= {0.0, 1.0}:
        raise InputError(FIELD, "the outcome of a logistic regression is neither 0 nor 1", f'compare it: {outcome.name} == "a value"')
    if family == "poisson" and (outcome.values[~np.isnan(outcome.values)] < 0).any():
        raise InputError(FIELD, "the outcome of a Poisson regression can be negative", "use a linear one")
    terms = [one for term in stated.terms for one in variables.term(domain, term)]
    if any(cells.column == outcome.column for _, factors in terms for cells in factors):
        raise InputError(FIELD, f"{outcome.column} is on both sides", "leave it out of one")
    names = ("(Intercept)", *(name for name, _ in terms))
    design: list[tuple[Cells, ...]] = [(outcome,), *(factors for _, factors in terms)]

    def compute(x: list[Floats], p: Floats) -> tuple[Floats, Floats]:
        return _fitted(family, x[0], np.column_stack([np.ones(len(p)), *x[1:]]), p)

    return _made(domain, names, design, compute)


def _fitted(family: str, y: Floats, x: Floats, p: Floats) -> tuple[Floats, Floats]:
    """Return the coefficients of a generalised linear model with its canonical link, by Newton's method.

    Args:
        family: "linear", "logistic" or "poisson".
        y: The outcome, shape (cells,).
        x: The design, shape (cells, coefficients).
        p: The weights, which sum to 1.

    Raises:
        _Constant: A column of the design is the same in all cells.
    """
    middle = p @ x
    middle[0] = 0.0
    spread = np.sqrt(np.maximum(p @ (x - middle) ** 2, 0.0))
    spread[0] = 1.0
    flat = np.flatnonzero(spread <= _LEAST * np.maximum(1.0, np.abs(middle)))
    if flat.size:
        raise _Constant(int(flat[0]))
    z = (x - middle) / spread
    beta = np.zeros(z.shape[1])
    if family == "poisson":
        beta[0] = math.log(max(float(p @ y), _LEAST))
    for _ in range(1 if family == "linear" else _STEPS):
        mu, slope = _mean_and_slope(family, z @ beta)
        information = (z * (p * slope)[:, None]).T @ z
        step = np.linalg.pinv(information, hermitian=True) @ (z.T @ (p * (y - mu)))
        reach = 0.0 if family == "linear" else float(np.abs(z @ step).max())
        beta = beta + step * min(1.0, _LONGEST_STEP / max(reach, _LEAST))
        if np.abs(step).max() < _CLOSE:
            break
    mu, slope = _mean_and_slope(family, z @ beta)
    bread = np.linalg.pinv((z * (p * slope)[:, None]).T @ z, hermitian=True)
    psi = (z @ bread) * (y - mu)[:, None]
    scaled, influence = beta / spread, psi / spread
    scaled[0] -= float(middle[1:] @ scaled[1:])
    influence[:, 0] -= influence[:, 1:] @ middle[1:]
    return scaled, influence.T


def _mean_and_slope(family: str, predictor: Floats) -> tuple[Floats, Floats]:
    if family == "linear":
        return predictor, np.ones(len(predictor))
    if family == "poisson":
        mean = np.exp(np.minimum(predictor, 500.0))
        return mean, mean
    mean = expit(predictor)
    return mean, mean * (1 - mean)
