"""Derive intervals for a mean over a group, the form of every statistic here, from the released evidence.

A **mean over a group** is theta = sum v(c) p(c) / sum g(c) p(c), over the cells c of the question's columns C, with p the shares of the
people in them, g = 1 in the cells of the group and v its values there (0 elsewhere). A share of all people has g = 1 and v = 1 in its
cells; a share within a group has v = 1 in some of the group's cells; a mean has the number that represents each cell.
v and g are products of one vector for each column, f = f_1 x f_2 x ..., because filters are conjunctions.

**Noisy counts.** Where a measured table contains C, least squares over all measurements gives an unbiased table Y over C, a sum of
orthogonal parts, one for each q in C, whose noise has variance s_q^2 in every direction and is independent of other parts
(`combination`). For every fixed f

    <f, Y> = <f, M> + normal noise,   Cov(<f, Y>, <g, Y>) = sum over q of s_q^2 <P_q f, P_q g>,

with P_q the projection on part q: for products of vectors  <P_q f, P_q g> = prod over i in q of (f_i.g_i - F_i G_i / n_i)  times  prod
over the other i of F_i G_i / n_i,  F_i the sum of f_i. Where the number of people is public, the empty part has no noise. As
<v - theta g, M> = 0, the set of all theta with  <v - theta g, Y>^2 <= z^2 Var(<v - theta g, Y>)  contains the true one with the
confidence of z (Fieller, 1954). It solves a quadratic inequality and is an interval wherever the group's size is known to be above 0;
elsewhere the interval is all possible values. The result holds for questions that are asked without looking at the noise, and as far as
the choice of measured tables does not depend on it (see `bounds`).

**A table's limit.** At most b of the people are in a wrong cell of a table that contains C. Then p is the rows' table with at most mass b
moved, a statement about all questions at once. theta is largest if the mass comes from the group's smallest values and goes to the largest
value. People outside the group come next, and people of the group with a value below theta run out only when theta is the largest value
(`moved`). A share of all people changes by at most b, and a share within a group by at most b over the group's share.

**Medians.** k is a median of the group if at most half of the group is below k and at least half is at most k. Both are signs of a fixed
sum for the true median. The set of all k for which neither is refuted, each at half the failure probability, contains the median.

**Differences.** For two means with intervals (l1, u1), (l2, u2) from a table's limit, the interval is (l1 - u2, u1 - l2), because the
limit holds for both at once. From noisy counts, the margins are added as for correlated normal numbers (MOVER: Zou, Donner,
2008): exact where the groups' sizes are known, and elsewhere an approximation whose coverage is tested.

**Ranges that cut cells.** The people of a cut cell may be in the group or not. theta is then bounded by its least and largest value over
all choices, each a mean over a group of whole cells (`groups`), with the intervals above. The choice that is least for the true table
has an interval that contains the least value with the confidence of z, and the least of all lower ends is below it; likewise above.

**Both.** Where both kinds of evidence exist, the interval is their intersection: the limit then holds with `LIMIT_ALPHA`, the noisy
counts with the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.combination import Combined
from dpsynth_core.evaluation.questions.question import Vector
from dpsynth_core.statistics.intervals import fieller
from dpsynth_core.vocabulary.domain import Domain

Interval = tuple[float, float]
Product = Mapping[str, Vector]
"""A product of vectors, by column; of columns that are not named, ones."""
Sum = Sequence[tuple[float, Product]]
"""A sum of products, each with its factor."""


@dataclass(frozen=True, eq=False)
class Noisy:
    """Weighted sums over the best noisy table of a question's columns, in records, and the covariance of their noise.

    Attributes:
        domain: The columns.
        table: The least-squares estimate of the table, which contains all columns of the question.
    """

    domain: Domain
    table: Combined

    def vector(self, f: Product, name: str) -> Vector:
        """Return the product's vector for the column `name`, or ones if it names no vector for that column."""
        return f[name] if name in f else np.ones(self.domain[name].size)

    def sum(self, f: Product | Sum) -> float:
        """Return <f, Y>, the noisy table Y summed over its cells with the weights f, in records."""
        if not isinstance(f, Mapping):
            return math.fsum(factor * self.sum(one) for factor, one in f)
        values = self.table.values
        for name in reversed(self.table.clique):
            values = values @ self.vector(f, name)
        return float(values)

    def covariance(self, f: Product | Sum, g: Product | Sum) -> float:
        """Return the covariance of the noise of <f, Y> and <g, Y>, in records squared."""
        if not isinstance(f, Mapping):
            return math.fsum(factor * self.covariance(one, g) for factor, one in f)
        if not isinstance(g, Mapping):
            return math.fsum(factor * self.covariance(f, one) for factor, one in g)
        even, deviating = dict[str, float](), dict[str, float]()
        for name in self.table.clique:
            a, b = self.vector(f, name), self.vector(g, name)
            even[name] = float(a.sum()) * float(b.sum()) / a.size
            deviating[name] = float(a @ b) - even[name]
        return math.fsum(
            variance * math.prod(deviating[name] if name in part else even[name] for name in self.table.clique)
            for part, variance in self.table.variances.items()
        )

    def along(self, group: Product, column: str) -> tuple[NDArray[np.float64], float, float]:
        """Return the group's noisy counts by cell of a column, with two numbers that give the variance of their weighted sums.

        Args:
            group: The group; its vector for `column` is ignored.
            column: The column.

        Returns:
            The counts, in records, shape (cells of the column,), and numbers a and b: for weights f
            of these n cells with sum F, the variance of the noise of the weighted sum is  a (f.f -
            F^2 / n) + b F^2 / n.
        """
        values, varying, even = self.table.values, 0.0, 0.0
        for name in reversed(self.table.clique):
            if name != column:
                values = np.tensordot(values, self.vector(group, name), (self.table.clique.index(name), 0))
        others = {name: self.vector(group, name) for name in self.table.clique if name != column}
        level = {name: float(f.sum()) ** 2 / f.size for name, f in others.items()}
        for part, variance in self.table.variances.items():
            of_part = variance * math.prod(float(f @ f) - level[name] if name in part else level[name] for name, f in others.items())
            varying, even = (varying + of_part, even) if column in part else (varying, even + of_part)
        return np.asarray(values), varying, even

    def cells(self, group: Product, columns: Sequence[str]) -> list[Estimated]:
        """Return the share of the group in each cell of the table over `columns`, flattened in C order.

        Cells outside of the group are in the list too, but their results are undefined. All cells in the group have
        the same variances, which are computed once.
        """
        table, clique = self.table.values, self.table.clique
        for axis, name in reversed(list(enumerate(clique))):
            if name in columns:
                table = table * self.vector(group, name).reshape([-1 if i == axis else 1 for i in range(table.ndim)])
            else:
                table = np.tensordot(table, self.vector(group, name), (axis, 0))
        kept = [name for name in clique if name in columns]
        table = np.asarray(table).transpose([kept.index(name) for name in columns])
        inside = {name: self.vector(group, name) for name in columns}
        one = times(group, {name: (np.arange(v.size) == int(np.flatnonzero(v)[0])).astype(float) for name, v in inside.items()})
        moments = self.covariance(one, one), self.covariance(one, group), self.covariance(group, group)
        below = self.sum(group)
        return [Estimated(float(above), below, *moments) for above in table.ravel()]

    def mean(self, v: Product | Sum, g: Product | Sum) -> Estimated:
        """Return the mean of `v` over the group `g` as the quotient of <v, Y> and <g, Y>."""
        return Estimated(self.sum(v), self.sum(g), self.covariance(v, v), self.covariance(v, g), self.covariance(g, g))


@dataclass(frozen=True)
class Estimated:
    """A mean over a group from noisy counts, as a quotient of two noisy sums.

    Attributes:
        above: The numerator.
        below: The denominator: the number of records in the group.
        above_above: Variance of the numerator's noise.
        above_below: Covariance of the noise of numerator and denominator.
        below_below: Variance of the denominator's noise.
    """

    above: float
    below: float
    above_above: float
    above_below: float
    below_below: float

    @property
    def value(self) -> float:
        """The estimated mean; NaN if the estimated size of the group is not above 0."""
        return self.above / self.below if self.below > 0 else math.nan

    def interval(self, z: float) -> Interval:
        """Return Fieller's confidence interval of the mean, for the two-sided normal quantile `z`.

        It is (-inf, inf) where noise does not exclude that the group is empty.
        """
        return fieller(self.above, self.below, (self.above_above, self.above_below, self.below_below), z)


def within(interval: Interval, least: float, most: float) -> Interval:
    """Clip an interval to the possible values `least` to `most`, and return it.

    An interval that is wholly outside becomes one of half its width at the nearest possible value,
    because noise moved it there.
    """
    low, high = interval
    half = (high - low) / 2
    if high <= least:
        low, high = least, least + half
    elif low >= most:
        low, high = most - half, most
    return max(least, low), min(most, high)


def agreeing(first: Interval, second: Interval) -> Interval:
    """Return the intersection of two intervals; if they do not intersect, the smallest interval with both."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (low, high) if low <= high else (min(first[0], second[0]), max(first[1], second[1]))


def moved(values: NDArray[np.float64], shares: NDArray[np.float64], limit: float) -> Interval:
    """Return the smallest and the largest mean over a group if up to `limit` of all people are in other cells than stated.

    Args:
        values: The values of the group's cells, shape (cells,), at least one.
        shares: The cells' shares of all people, fractions, shape (cells,).
        limit: The share of all people who may be in a wrong cell, a fraction.
    """
    group = float(shares.sum())
    order = np.argsort(values, kind="stable")
    least, most = float(values[order[0]]), float(values[order[-1]])
    if limit >= group:
        return least, most
    mean = float(values @ shares) / group
    up = _transported(values[order], shares[order], limit, most)
    down = _transported(values[order[::-1]], shares[order[::-1]], limit, least)
    return max(least, mean + down / group), min(most, mean + up / group)


def _transported(values: NDArray[np.float64], shares: NDArray[np.float64], limit: float, target: float) -> float:
    """Return by how much sum(values * shares) changes if mass `limit`, taken from the cells in order, gets the value `target`."""
    before = np.concatenate([[0.0], np.cumsum(shares)[:-1]])
    taken = np.clip(limit - before, 0.0, shares)
    return float((target - values) @ taken)


def difference(first: Estimated, second: Estimated, covariance: float | None, z: float) -> Interval:
    """Return the confidence interval of first - second, two means from noisy counts (MOVER).

    It is (-inf, inf) if one of the groups may be empty.

    Args:
        first: The first mean.
        second: The second mean.
        covariance: Covariance of the noise of (numerator - value * denominator) of the two means, 0
            for two releases; None for the worst case, a correlation of -1.
        z: Two-sided normal quantile.
    """
    (low1, high1), (low2, high2) = first.interval(z), second.interval(z)
    if math.isinf(low1) or math.isinf(low2):
        return -math.inf, math.inf
    correlation = -1.0
    if covariance is not None:
        variances = [e.above_above - 2 * e.value * e.above_below + e.value**2 * e.below_below for e in (first, second)]
        scale = math.sqrt(max(0.0, variances[0]) * max(0.0, variances[1]))
        correlation = max(-1.0, min(1.0, covariance / scale)) if scale > 0 else 0.0

    def margin(a: float, b: float) -> float:
        return math.sqrt(max(0.0, a**2 + b**2 - 2 * correlation * a * b))

    one, other = first.value, second.value
    return one - other - margin(one - low1, high2 - other), one - other + margin(high1 - one, other - low2)


def times(f: Product, g: Product) -> dict[str, Vector]:
    """Return the product of two products of vectors: by column, the element-wise product of their vectors."""
    return {name: f[name] * g[name] if name in f and name in g else (f[name] if name in f else g[name]) for name in (*f, *g)}
