"""One marginal from many noisy ones: the minimum-variance linear unbiased combination of every measurement that says something about it.

The paper's estimator averages the measurements that contain the marginal (AIM, Theorem 1; `released.combined`) and says itself that a
better one exists. Here it is. Tables over r are a sum of orthogonal parts, one for each subset q of r: what depends on all of q and on no
less. A measurement of s observes the parts of the q that lie in s, each coordinate with variance n_s deviation^2 / n_r, and all
independently; so least squares falls apart into one weighted mean per part (the residual bases of Xiao et al., ResidualPlanner, 2023).
Released values only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, project
from dpsynth_core.vocabulary.measurement import Clique, Measurement, final, subsets

MANY = 50
"""Measurements from which on those with a single column of a marginal are put together: fewer are gone through one by one."""


class Evidence:
    """Noisy tables, of which few say more of a marginal of a wide table than how many records there are, or how many have each value of
    one column."""

    def __init__(self, measurements: Sequence[Measurement]) -> None:
        self._every, self._of = measurements, dict[str, set[int]]()
        for place, one in enumerate(measurements):
            for name in one.clique:
                self._of.setdefault(name, set()).add(place)
        self._whole = _Together(dict(enumerate(measurements)), ())
        self._alone, self._near_column = dict[str, _Together](), dict[str, _Weighed]()

    def about(self, clique: Clique) -> Sequence[Measurement]:
        """What least squares needs of them for a marginal: those with one of these columns, and what all others say of the number of
        records as one more. Of many, those with one of several columns are one measurement of that column."""
        having = {name: self._of[name] for name in clique if name in self._of}
        near = set[int]().union(*having.values())
        if len(clique) < 2 or len(near) <= MANY:
            others = [self._whole.without(self._whole.of(sorted(near)))] if len(near) < len(self._every) else []
            return [*(self._every[place] for place in sorted(near)), *others]
        several = sorted(set[int]().union(*(one & other for one, other in combinations(having.values(), 2))))
        singles = [(self._of_column(name), [p for p in several if p in of]) for name, of in having.items() if not of <= {*several}]
        others = [self._whole.without(self._near(near, several, having))] if len(near) < len(self._every) else []
        return [*(self._every[place] for place in several), *(one.without(one.of(some)) for one, some in singles), *others]

    def _near(self, near: Collection[int], several: Sequence[int], having: Mapping[str, Collection[int]]) -> _Weighed:
        """What those with one of these columns say of the number of records. A wide table has all its pairs: what the tables of each column
        say is added up once."""
        if len(having) > 2:
            return self._whole.of(sorted(near))
        for name in having:
            if name not in self._near_column:
                self._near_column[name] = self._whole.of(sorted(having[name]))
        parts, twice = [self._near_column[name] for name in having], self._whole.of(several)
        return _Weighed(*(sum(each[1:], each[0]) - both for *each, both in zip(*parts, twice, strict=True)))

    def _of_column(self, name: str) -> _Together:
        """Put together when it is first asked for: a table of few columns never does."""
        if name not in self._alone:
            self._alone[name] = _Together({place: self._every[place] for place in sorted(self._of[name])}, (name,))
        return self._alone[name]


class _Weighed(NamedTuple):
    """Precisions added up, and tables times their precisions."""

    precision: float
    tables: NDArray[np.float64]


class _Together:
    """What measurements say of a marginal in each of them, as their precisions add up: as one, without some of them."""

    def __init__(self, measurements: Mapping[int, Measurement], clique: Clique) -> None:
        self._clique, self._rows = clique, {place: row for row, place in enumerate(measurements)}
        summed = [project(m.values, m.clique, clique) for m in measurements.values()]
        parts = zip(measurements.values(), summed, strict=True)
        self._precisions = np.array([table.size / (m.values.size * m.deviation**2) for m, table in parts])
        self._weighed = np.array([weight * table for weight, table in zip(self._precisions, summed, strict=True)])
        self._precision, self._sum = self._precisions.sum(), self._weighed.sum(axis=0)

    def of(self, some: Sequence[int]) -> _Weighed:
        """some: by their numbers."""
        if len(some) == 1:  # as of most tables of a wide one
            return _Weighed(self._precisions[row := self._rows[some[0]]], self._weighed[row])
        rows = [self._rows[place] for place in some]
        return _Weighed(self._precisions[rows].sum(), self._weighed[rows].sum(axis=0))

    def without(self, gone: _Weighed) -> Measurement:
        """gone: of some, not all of them."""
        left = self._precision - gone.precision
        return Measurement(self._clique, np.asarray((self._sum - gone.tables) / left), 1 / math.sqrt(left))


@dataclass(frozen=True, eq=False)
class Combined:
    """The best estimate of a marginal. values: unbiased, shaped like it. variances: of the noise in any direction of the part that depends
    on exactly these columns; `bounded` where they are upper bounds, and the noise of parts may be correlated."""

    clique: Clique
    values: NDArray[np.float64]
    variances: Mapping[Clique, float]
    bounded: bool = False


def least_squares(domain: Domain, measurements: Collection[Measurement], clique: Clique) -> Measurement | None:
    """The best estimate of the marginal, unbiased; None where no measurement contains all of it.

    Its noise is correlated, for the parts have different precisions: the result has a `spread`.
    """
    whole = final(measurements, clique)
    if whole is not None:
        return whole
    best = combined_parts(domain, measurements, clique)
    if best is None:
        return None
    cells = domain.cells(clique)
    variance = 0.0
    for part, of_part in best.variances.items():
        variance += math.prod(domain[name].size - 1 for name in part) * of_part / cells
    return Measurement(clique, best.values, math.sqrt(variance), math.sqrt(max(best.variances.values())))


def combined_parts(domain: Domain, measurements: Collection[Measurement], clique: Clique, total: float | None = None) -> Combined | None:
    """The same with the precision of each part. total: the number of records where it is public, which the estimate then adds up to."""
    whole = final(measurements, clique)
    if whole is not None:
        return Combined(clique, whole.values, dict.fromkeys(subsets(clique), whole.widest**2), bounded=True)
    sizes, cells = domain.sizes(clique), domain.cells(clique)
    lifted: dict[Clique, NDArray[np.float64]] = {}
    precision: dict[Clique, float] = {}
    for m in measurements:
        shared = tuple(name for name in clique if name in m.clique)
        weight = cells / (m.values.size * m.deviation**2)
        summed = m.values if shared == m.clique else project(m.values, m.clique, shared)  # and spread evenly, along axes of length 1
        lifted[shared] = lifted.get(shared, 0.0) + weight * expand(summed * (summed.size / cells), shared, clique)
        precision[shared] = precision.get(shared, 0.0) + weight
    if clique not in precision:
        return None
    values, variances = np.zeros(sizes), dict[Clique, float]()
    for part in subsets(clique):
        if not part and total is not None:
            values, variances[part] = values + total / cells, 0.0
            continue
        seen = [shared for shared in lifted if set(part).issubset(shared)]
        weight = math.fsum(precision[shared] for shared in seen)
        table = np.asarray(sum(lifted[shared] for shared in seen) / weight)
        for axis, name in enumerate(clique):  # what depends on the part and averages to zero along each of its columns
            mean = np.add.reduce(table, axis, keepdims=True) / sizes[axis]
            table = table - mean if name in part else mean
        values = values + table
        variances[part] = 1 / weight
    return Combined(clique, values, variances)
