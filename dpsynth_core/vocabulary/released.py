"""Marginals of released data: counted in rows of codes, and combined from noisy measurements."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement, final

Float = NDArray[np.float64]


@overload
def counted(columns: Sequence[NDArray[Any]], sizes: Sequence[int], weights: None = None) -> NDArray[np.int64]: ...
@overload
def counted(columns: Sequence[NDArray[Any]], sizes: Sequence[int], weights: Float) -> Float: ...
def counted(columns: Sequence[NDArray[Any]], sizes: Sequence[int], weights: Float | None = None) -> NDArray[Any]:
    """Return the number of rows, or the sum of their weights, for each combination of codes, shape `sizes`.

    Args:
        columns: Codes from 0, one array of shape (rows,) for each size, at least one.
        sizes: Number of codes of each column.
        weights: Weights, shape (rows,); None to count rows.

    Returns:
        Counts as int64, or sums of weights as float64; zeros for no rows.

    Raises:
        ValueError: A code is out of range.
    """
    cells = np.ravel_multi_index(tuple(columns), tuple(sizes))
    return np.bincount(cells, weights, math.prod(sizes)).reshape(sizes)


@overload
def of_codes(domain: Domain, codes: NDArray[np.integer], clique: Clique, weights: None = None) -> NDArray[np.int64]: ...
@overload
def of_codes(domain: Domain, codes: NDArray[np.integer], clique: Clique, weights: Float) -> Float: ...
def of_codes(domain: Domain, codes: NDArray[np.integer], clique: Clique, weights: Float | None = None) -> NDArray[Any]:
    """Return the marginal of a table of codes, shape domain.sizes(clique): counts, or sums of weights.

    For the empty clique it is the number of rows, or the sum of the weights, as an array without axes.

    Args:
        domain: The domain.
        codes: Codes, shape (rows, attributes of the domain).
        clique: The columns.
        weights: The weight of each row, shape (rows,); None to count rows.

    Raises:
        InputError: A column is not in the domain.
        ValueError: A code is out of range.
    """
    if not clique:
        return np.asarray(len(codes) if weights is None else weights.sum())
    return counted([codes[:, domain.position(name)] for name in clique], domain.sizes(clique), weights)


def of_columns(measurements: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """Return the measurements, in order, as marginals of columns alone: axes of groups of values are summed over.

    A measurement without groups is returned as it is; one with nothing but groups becomes the number of rows.
    """
    return tuple(_of_columns(m) if m.groups else m for m in measurements)


def _of_columns(measurement: Measurement) -> Measurement:
    grouped = {groups.name for groups in measurement.groups}
    return averaged([measurement], tuple(name for name in measurement.clique if name not in grouped))


def with_known(measurements: Iterable[Measurement], known: Iterable[MarginalCounts]) -> list[MarginalCounts]:
    """Return the counts of each measured column, combined with known counts as a minimum-variance mean.

    Columns come in the order in which they were first measured; known counts of other columns are left out.

    Args:
        measurements: The measurements; only single columns among them count.
        known: Counts of single columns that were released before.
    """
    before, columns = {one.clique: one for one in known}, list[MarginalCounts]()
    singles: dict[Clique, list[Measurement]] = {}
    for measurement in measurements:
        if len(measurement.clique) == 1:
            singles.setdefault(measurement.clique, []).append(measurement)
    for clique, several in singles.items():
        if (mean := combined(several, clique)) is not None:
            measured = MarginalCounts(clique, mean.values, np.full(mean.values.shape, mean.deviation**2))
            columns.append(measured if clique not in before else both(measured, before[clique]))
    return columns


def both(one: MarginalCounts, other: MarginalCounts) -> MarginalCounts:
    """Return the minimum-variance mean of two counts of the same marginal, cell by cell.

    A cell whose variance is infinite in both has the value 0 and an infinite variance.
    """
    precision = 1 / one.variances + 1 / other.variances
    mean = np.divide(
        one.values / one.variances + other.values / other.variances, precision, where=precision > 0, out=np.zeros(one.values.shape)
    )
    return MarginalCounts(one.clique, mean, np.divide(1.0, precision, where=precision > 0, out=np.full(mean.shape, np.inf)))


def by_column(measurements: Iterable[Measurement]) -> dict[str, list[Measurement]]:
    """Return, for each column, the measurements that contain it, in order.

    Columns that no measurement contains are left out. A wide table has far more marginals than measurements
    contain a given column.
    """
    found = dict[str, list[Measurement]]()
    for one in measurements:
        for name in one.clique:
            found.setdefault(name, []).append(one)
    return found


def combined(measurements: Collection[Measurement], clique: Clique) -> Measurement | None:
    """Return the minimum-variance unbiased mean of all measurements that contain a marginal (AIM, section 5).

    None is returned if no measurement contains it. A measurement of n_s cells summed down to n_r
    cells has noise of variance (n_s / n_r) deviation^2 in each cell, and the inverse as its weight.
    The noise of different measurements is taken to be independent. If a measurement is `final` for
    the marginal, it is returned.

    Args:
        measurements: The measurements.
        clique: The marginal.
    """
    whole = final(measurements, clique)
    if whole is not None:
        return whole
    wanted = set(clique)
    containing = [m for m in measurements if wanted.issubset(m.clique)]
    return averaged(containing, clique) if containing else None


def averaged(containing: Sequence[Measurement], clique: Clique) -> Measurement:
    """Return the minimum-variance mean of measurements that all contain a marginal, also of `final` ones.

    Tables of the same shape are added up before they are summed down, because a column of a wide
    table is in hundreds of tables; cell by cell, because a matrix product would round differently
    with another number of threads.

    Args:
        containing: One or more measurements.
        clique: The marginal.
    """
    if len(containing) == 1:  # as of each pair of a wide table
        (one,) = containing
        summed = project(one.values, one.clique, clique)
        return Measurement(clique, summed, one.deviation * math.sqrt(one.values.size / summed.size))
    precisions = np.array([1 / (m.values.size * m.deviation**2) for m in containing])
    whole, mean = math.fsum(precisions), np.zeros(())
    alike = dict[tuple[tuple[int, ...], tuple[int, ...]], list[int]]()
    for place, m in enumerate(containing):
        alike.setdefault((m.values.shape, tuple(map(m.clique.index, clique))), []).append(place)
    for (shape, axes), places in alike.items():
        if len(places) == 1:  # perhaps a large one: no copy of it
            mean = mean + precisions[places[0]] / whole * project(containing[places[0]].values, range(len(shape)), axes)
            continue
        together = np.zeros(shape)
        for place in places:
            together += precisions[place] / whole * containing[place].values
        mean = mean + project(together, range(len(shape)), axes)
    return Measurement(clique, np.asarray(mean), math.sqrt(1 / (whole * mean.size)))
