"""Tables over a clique: project to a smaller clique, expand to a larger one, count from codes, combine noisy measurements.

A marginal is a plain array with one axis per column of its clique, in the order of the clique. Columns may be names or numbers. Does
not know where a table comes from or whether it is private. (`project` and `expand` as in mbi's `Factor`.)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Sequence
from itertools import combinations
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement, final

Scalar = TypeVar("Scalar", bound=np.generic)
Float = NDArray[np.float64]


def summed_axes(clique: Sequence[Hashable], onto: Collection[Hashable]) -> tuple[int, ...]:
    """The axes of a table over `clique` whose columns `onto` lacks: those that a projection sums over."""
    return tuple(axis for axis, column in enumerate(clique) if column not in onto)


def project(values: NDArray[Scalar], clique: Sequence[Hashable], onto: Sequence[Hashable]) -> NDArray[Scalar]:
    """A table over `clique` summed down to the columns `onto`, axes in that order; `values` itself, or a view of it, where nothing is
    summed. ValueError if `onto` has a column that the clique lacks, or one twice."""
    axes = summed_axes(clique, onto)
    summed = np.asarray(values.sum(axis=axes)) if axes else values
    kept = [column for column in clique if column in onto]
    if len(kept) == len(onto) and all(a == b for a, b in zip(kept, onto, strict=True)):
        return summed
    return summed.transpose([kept.index(column) for column in onto])


def expand(values: NDArray[Scalar], clique: Sequence[Hashable], over: Sequence[Hashable]) -> NDArray[Scalar]:
    """View of a table over `clique` with an axis for each column of `over`, in that order: of length 1, to be broadcast, for those that
    the clique lacks. `over` has all columns of the clique; ValueError otherwise."""
    view = values.transpose([clique.index(column) for column in over if column in clique])
    if view.ndim == len(over):
        return view
    shape = iter(view.shape)
    return view.reshape([next(shape) if column in clique else 1 for column in over])


def at_least(marginal: NDArray[Any], threshold: int) -> NDArray[Any]:
    """For each cell y of a marginal, how many of its records agree with y in at least `threshold` columns; shaped like the marginal.

    With e_j(y) the records that agree with y in some set of j columns, summed over the sets, these are (inclusion and exclusion)
    sum over j >= threshold of (-1)^(j - threshold) C(j - 1, threshold - 1) e_j(y). No rounding where the marginal holds integers.
    """
    columns = range(marginal.ndim)
    if threshold == len(columns):
        return marginal
    total = np.zeros_like(marginal)
    for size in range(threshold, len(columns) + 1):
        factor = (-1) ** (size - threshold) * math.comb(size - 1, threshold - 1)
        for kept in combinations(columns, size):
            total += factor * expand(project(marginal, columns, kept), kept, columns)
    return total


@overload
def counted(columns: Sequence[NDArray[Any]], sizes: Sequence[int], weights: None = None) -> NDArray[np.int64]: ...
@overload
def counted(columns: Sequence[NDArray[Any]], sizes: Sequence[int], weights: Float) -> Float: ...
def counted(columns: Sequence[NDArray[Any]], sizes: Sequence[int], weights: Float | None = None) -> NDArray[Any]:
    """How many rows have each combination of codes, or what they weigh together: shape `sizes`.

    columns: codes, one array of shape (rows,) for each size, at least one.  weights: shape (rows,).  ValueError for a code out of range.
    """
    cells = np.ravel_multi_index(tuple(columns), tuple(sizes))
    return np.bincount(cells, weights, math.prod(sizes)).reshape(sizes)


@overload
def of_codes(domain: Domain, codes: NDArray[np.int32], clique: Clique, weights: None = None) -> NDArray[np.int64]: ...
@overload
def of_codes(domain: Domain, codes: NDArray[np.int32], clique: Clique, weights: Float) -> Float: ...
def of_codes(domain: Domain, codes: NDArray[np.int32], clique: Clique, weights: Float | None = None) -> NDArray[Any]:
    """The marginal of a table of codes, shape domain.sizes(clique): counts, or sums of the rows' weights.

    codes: shape (rows, attributes of the domain).  weights: shape (rows,).
    """
    if not clique:
        return np.asarray(len(codes) if weights is None else weights.sum())
    return counted([codes[:, domain.position(name)] for name in clique], domain.sizes(clique), weights)


def of_columns(measurements: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """The measurements as tables of columns alone: those over groups of values are summed down to the columns beside them."""
    return tuple(_of_columns(m) if m.groups else m for m in measurements)


def _of_columns(measurement: Measurement) -> Measurement:
    grouped = {groups.name for groups in measurement.groups}
    clique = tuple(name for name in measurement.clique if name not in grouped)
    summed = project(measurement.values, measurement.clique, clique)
    return Measurement(clique, summed, measurement.deviation * math.sqrt(measurement.values.size / summed.size))


def combined(measurements: Collection[Measurement], clique: Clique) -> Measurement | None:
    """The minimum-variance unbiased mean of the measurements that contain a marginal, with its noise (AIM, section 5); None if none does.

    A measurement of n_s cells summed down to n_r cells has noise of variance (n_s / n_r) deviation^2 in each of them; its weight is the
    inverse of that. The noise of different measurements is taken to be independent. A measurement that is `final` for the marginal is
    returned as it is.
    """
    whole = final(measurements, clique)
    if whole is not None:
        return whole
    containing = [m for m in measurements if set(clique) <= set(m.clique)]
    if not containing:
        return None
    tables = [project(m.values, m.clique, clique) for m in containing]
    precisions = [table.size / (m.values.size * m.deviation**2) for m, table in zip(containing, tables, strict=True)]
    whole_precision = math.fsum(precisions)
    mean = sum(precision / whole_precision * table for precision, table in zip(precisions, tables, strict=True))
    return Measurement(clique, np.asarray(mean), math.sqrt(1 / whole_precision))
