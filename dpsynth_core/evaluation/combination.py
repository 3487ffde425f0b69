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
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, project
from dpsynth_core.vocabulary.measurement import Clique, Measurement, final, subsets


@dataclass(frozen=True, eq=False)
class Evidence:
    """Noisy tables, found by their columns: few of a wide table's share a column with a marginal."""

    measurements: Sequence[Measurement]

    @cached_property
    def _places(self) -> Mapping[str, list[int]]:
        found = dict[str, list[int]]()
        for place, one in enumerate(self.measurements):
            for name in one.clique:
                found.setdefault(name, []).append(place)
        return found

    @cached_property
    def _sums(self) -> NDArray[np.float64]:
        """Of each table the precision of the number of records that it adds up to, and that times the number: shape (2, tables)."""
        precision = [1 / (one.values.size * one.deviation**2) for one in self.measurements]
        return np.array([precision, [weight * one.values.sum() for weight, one in zip(precision, self.measurements, strict=True)]])

    def about(self, clique: Clique) -> Sequence[Measurement]:
        """What least squares needs of them for a marginal: those that share a column with it, and the number of records that all others
        add up to."""
        near = sorted({place for name in clique for place in self._places.get(name, ())})
        precision, sums = np.delete(self._sums, near, axis=1).sum(axis=1)
        if not near or not precision:
            return self.measurements
        return [*(self.measurements[place] for place in near), Measurement((), np.array(sums / precision), math.sqrt(1 / precision))]


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
        summed = project(m.values, m.clique, shared)  # and spread evenly over the others: along axes of length 1
        lifted[shared] = lifted.get(shared, 0.0) + weight * expand(summed * (summed.size / cells), shared, clique)
        precision[shared] = precision.get(shared, 0.0) + weight
    if clique not in precision:
        return None
    values, variances = np.zeros(sizes), dict[Clique, float]()
    for part in subsets(clique):
        if not part and total is not None:
            values, variances[part] = values + total / cells, 0.0
            continue
        seen = [shared for shared in lifted if set(part) <= set(shared)]
        weight = math.fsum(precision[shared] for shared in seen)
        table = np.asarray(sum(lifted[shared] for shared in seen) / weight)
        for axis, name in enumerate(clique):  # what depends on the part and averages to zero along each of its columns
            mean = table.mean(axis=axis, keepdims=True)
            table = table - mean if name in part else mean
        values = values + table
        variances[part] = 1 / weight
    return Combined(clique, values, variances)
