"""Combine noisy measurements into the minimum-variance linear unbiased estimate of one marginal.

AIM's estimator averages the measurements that contain the marginal (Theorem 1; `released.combined`), and the paper notes that a better
one exists. This module computes it. A table over r is a sum of orthogonal parts, one for each subset q of r. A measurement of s observes
the parts of all q within s, each coordinate with variance n_s deviation^2 / n_r, independently. Least squares is therefore one weighted
mean per part (the residual bases of Xiao et al., ResidualPlanner, 2023). The part of q is the same, up to scale, in every marginal that
contains q. The module reads released values only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.marginals import expand
from dpsynth_core.vocabulary.measurement import Clique, Measurement, subsets
from dpsynth_core.vocabulary.released import averaged


@dataclass(frozen=True, eq=False)
class Combined:
    """The minimum-variance unbiased estimate of a marginal, with its noise by orthogonal part.

    Attributes:
        clique: The columns of the marginal.
        values: Unbiased counts of records, one axis per column.
        variances: By subset q of the columns, the variance (records squared) of the noise along any
            unit vector within part q, the part that depends on exactly the columns q.
        bounded: True if the variances are upper bounds and the noise of different parts may be
            correlated.
    """

    clique: Clique
    values: NDArray[np.float64]
    variances: Mapping[Clique, float]
    bounded: bool = False


class Evidence:
    """All noisy measurements of a release, from which the estimate of any marginal is computed.

    The average and the residual of each clique are cached, because a wide table has many more
    marginals than measurements, and different marginals share their parts. Arrays of the results must not be
    changed.
    """

    def __init__(self, measurements: Sequence[Measurement]) -> None:
        self._every, self._of = measurements, dict[str, set[int]]()
        for place, one in enumerate(measurements):
            for name in one.clique:
                self._of.setdefault(name, set()).add(place)
        self._final = {one.clique: one for one in reversed(measurements) if one.spread is not None}
        self._parts = dict[Clique, tuple[Measurement, NDArray[np.float64]] | None]()

    def average(self, clique: Clique) -> Measurement | None:
        """Return the weighted mean of the measurements that contain a marginal, in records.

        A measurement weighs the more, the less noise a cell has once its table is summed to the marginal
        (`released.combined`). The result is None if no measurement contains `clique`. A measurement that already
        combines all others of this marginal (`spread` is not None) is returned unchanged.
        """
        part = self._part(clique)
        return self._final.get(clique, part and part[0])

    def parts(self, clique: Clique, total: float | None = None) -> Combined | None:
        """Return the least-squares estimate of a marginal, with the variance of each orthogonal part.

        Args:
            clique: The columns of the marginal.
            total: The number of records, where it is public; the estimate then sums to it exactly.
                It is ignored where a measurement with correlated noise already combines all others.

        Returns:
            The estimate, or None if no measurement contains all columns.
        """
        whole = self._final.get(clique)
        if whole is not None:
            return Combined(clique, whole.values, dict.fromkeys(subsets(clique), whole.widest**2), bounded=True)
        parts = [(part, seen) for part in subsets(clique) if (seen := self._part(part)) is not None]
        if not parts or parts[-1][0] != clique:
            return None
        cells = parts[-1][1][1].size
        values, variances = np.zeros(parts[-1][1][1].shape), dict[Clique, float]()
        for part, (average, table) in parts:
            if not part and total is not None:
                values, variances[part] = values + total / cells, 0.0
                continue
            values = values + expand(table * (table.size / cells), part, clique)
            variances[part] = average.deviation**2 * (table.size / cells)
        return Combined(clique, values, variances)

    def least_squares(self, clique: Clique) -> Measurement | None:
        """Return the least-squares estimate of a marginal as a measurement with correlated noise.

        The noise is correlated because the orthogonal parts have different variances: `sigma` is
        the root mean square of the cells' noise, and `spread` its largest standard deviation in any
        direction. The number of records is taken as unknown. The result is None if no measurement
        contains `clique`.
        """
        best = self.parts(clique)
        if best is None or best.bounded:
            return self._final.get(clique)
        sizes = dict(zip(clique, best.values.shape, strict=True))
        variance = sum(math.prod(sizes[name] - 1 for name in part) * of_part for part, of_part in best.variances.items())
        return Measurement(clique, best.values, math.sqrt(variance / best.values.size), math.sqrt(max(best.variances.values())))

    def _part(self, part: Clique) -> tuple[Measurement, NDArray[np.float64]] | None:
        """Return (average of the measurements that contain the columns `part`, its residual).

        The residual is the part of the averaged table that depends on all these columns at once; it
        sums to zero along each axis. The result is None if no measurement contains the columns.
        """
        if part not in self._parts:
            places = sorted(set.intersection(*(self._of.get(name, set()) for name in part))) if part else range(len(self._every))
            average = averaged([self._every[place] for place in places], part) if places else None
            table = np.zeros(0) if average is None else average.values
            for axis in range(len(part) if average is not None else 0):
                table = table - np.add.reduce(table, axis, keepdims=True) / table.shape[axis]
            self._parts[part] = None if average is None else (average, table)
        return self._parts[part]
