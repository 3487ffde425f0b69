"""Weights for the released rows, under which their tables are moved by the noise of the release. No model is fitted.

The noise of a table's noisy counts is known exactly (`noise`). The shift is the noisy counts minus the counts of the rows. An estimate in
the rows has an error of about the root of noise^2 + shift^2. So the tables of a set are the tables of the rows, plus fresh noise in each
cell, plus the shift times one random number of variance 1. Tables that share columns are made to agree by least squares.

The weight of a row is not negative, and a cell with few rows cannot lose many. So the sums of two kinds of functions of the cells are
moved, and not each cell:
- Indicators of parts. A part is made of neighbouring cells that together hold as many people as 3 standard deviations of their noise
  (`LEAST`). Each table has parts, and each of its columns.
- Products of polynomials in the places of the cells. Slopes and correlations depend on many cells with few people. With parts alone, they
  moved by half of their noise where the noise is large.

The weights move these sums as wanted, with the smallest sum of squares of (weight - 1). That is a calibration of survey weights (Deville
and Sarndal 1992, Calibration estimators in survey sampling). Where the noise is too large for it, the noisiest sums move by less
(`MOST_VARIANCE`). The noise of other functions is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigvalsh
from scipy.sparse import csr_array, hstack

from dpsynth_core.extensions.intervals.noise import Answer, Informed, answered
from dpsynth_core.inference.contraction import Labels
from dpsynth_core.inference.refinement import refine

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
Parts = NDArray[np.intp]
LEAST = 3.0
"""People in a part, in standard deviations of its noise, at least; of a polynomial, the least ratio of its spread to its noise."""
DEGREE, PRODUCT = 3, 4
"""Largest degree of a polynomial in a column, and of a product of polynomials."""
MOST_PARTS, MOST_OF_COLUMN = 32, 16
"""Largest number of parts of a table, and of a column."""
DAMP, GROWTH = 0.3, 1.25
"""Smallest weight of the smallness of changes beside that of their noise; and the factor by which it is raised where noise is large."""
MOST_VARIANCE = 1.5
"""Largest variance that the noise may give to weights, were they allowed to be negative. With 1, sets of AIM at epsilon 0.2 moved by less
than the noise, and intervals of 95 % held in 92.3 ± 1.7 % (`benchmarks/intervals.py`). More would make most weights 0."""
LARGE = 2_000_000_000
"""Rows times the square of functions from which weights stay near those that may be negative, as their computation takes long."""
SWEEPS, CLOSE = 200, 0.05
"""Most steps towards the weights, and the root mean square of what is missing, in standard deviations of the noise, that ends them."""
FAR = 2.0
"""A table tells of a column if the noise of the column's counts in it has at most this many times the variance of the best table's."""
MOST_CELLS = 2_048
"""Largest number of cells that the cells of several tables are numbered as. More would no longer fit into a processor's cache."""
COUNTED = 4
"""Cells of a pair of tables, in multiples of the rows, up to which all are counted; of more, those alone that rows are in."""


@dataclass(frozen=True, eq=False)
class _Counted:
    """An answer beside the rows.

    Attributes:
        answer: The noisy answer.
        cells: The cell of each row, shape (rows,).
        known: Whether a cell's count is known.
        variances: The variance of each count, 0 where it is not known.
        counts: The counts of the rows, scaled to the people.
    """

    answer: Answer
    cells: Parts
    known: NDArray[np.bool_]
    variances: Floats
    counts: Floats

    @classmethod
    def of(cls, answer: Answer, informed: Informed) -> _Counted:
        cells, known, rows = answer.cell_of(informed.codes), np.isfinite(answer.variances), len(informed.codes)
        counts = np.bincount(cells, minlength=answer.values.size).reshape(answer.values.shape) * np.float64(informed.people / rows)
        return cls(answer, cells, known, np.where(known, answer.variances, 0.0), counts)

    def is_whole(self, axis: int) -> bool:
        """Return whether an axis has each value of its column by itself, and not groups of values."""
        of = self.answer.axes[axis][1]
        return len(set(of)) == len(of)


@dataclass(frozen=True, eq=False)
class _Table:
    """A table with its functions.

    Attributes:
        functions: The functions of its cells, shape (functions of this table, cells).
        deviations: The standard deviation of the noise of each cell.
        shift: The noisy counts minus the counts of the rows, 0 for a cell that is not known.
        shares: The share of the people in each cell; 0 in a table with cells that are not known, whose total is not known either.
    """

    functions: csr_array
    deviations: Floats
    shift: Floats
    shares: Floats

    def moved(self, counts: Floats) -> Floats:
        """Return how far counts that are added to the cells move the sums of the functions, if the number of people stays the same.

        Args:
            counts: The counts that are added, of either sign, shape (cells,).
        """
        return np.asarray(self.functions @ (counts - self.shares * counts.sum()))


@dataclass(frozen=True, eq=False)
class _Cells:
    """The cells of one table, or of several together, that rows are in, with functions of them.

    Attributes:
        of: The number of each row's cell, shape (rows,).
        functions: The value of each function in each cell, shape (cells, functions).
        places: The place of each of these functions among the functions of all tables.
        columns: The places of the tables' columns in the domain.
    """

    of: Parts
    functions: csr_array
    places: Parts
    columns: frozenset[int]

    @classmethod
    def numbered(cls, cells: Parts, functions: csr_array, places: Parts, columns: frozenset[int]) -> _Cells:
        """Return those cells that rows are in, numbered from 0.

        Args:
            cells: The cell of each row.
            functions: The value of each function in every cell, shape (cells, functions).
            places: The place of each function.
            columns: The places of the tables' columns.
        """
        held = np.bincount(cells) > 0
        return cls((held.cumsum() - 1)[cells], csr_array(functions[np.flatnonzero(held)]), places, columns)

    @property
    def size(self) -> int:
        """The number of cells."""
        return int(self.functions.shape[0])

    def with_cells(self, other: _Cells) -> _Cells | None:
        """Return the cells of two tables together; None if they share no column or would have too many cells (`MOST_CELLS`)."""
        if not self.columns & other.columns or self.size * other.size > 16 * MOST_CELLS:
            return None
        cells = self.of * other.size + other.of
        first, second = np.divmod(np.arange(self.size * other.size), other.size)
        if np.count_nonzero(np.bincount(cells)) > MOST_CELLS:
            return None
        functions = hstack([self.functions[first], other.functions[second]], format="csr")
        return _Cells.numbered(cells, functions, np.concatenate([self.places, other.places]), self.columns | other.columns)


def _joined(tables: Sequence[_Cells]) -> tuple[_Cells, ...]:
    """Return the tables with the cells of several numbered together, so that a row is looked up once for all of these."""
    made = list[_Cells]()
    for one in sorted(tables, key=lambda table: sorted(table.columns)):
        found = next(((number, both) for number in reversed(range(len(made))) if (both := made[number].with_cells(one))), None)
        if found is None:
            made.append(one)
        else:
            made[found[0]] = found[1]
    return tuple(made)


def _products(tables: Sequence[_Cells], rows: int, functions: int) -> Floats:
    """Return the sum over rows of the products of functions, shape (functions, functions).

    Rows are counted in the cells of each pair of tables, which are few, and products are of cells.
    """
    together = np.zeros((functions, functions))
    for number, one in enumerate(tables):
        values = one.functions.toarray().T
        for other in tables[number:]:
            if one.size * other.size <= COUNTED * rows:
                joint = np.bincount(one.of * other.size + other.of, minlength=one.size * other.size).reshape(one.size, other.size)
            else:
                joint = csr_array((np.ones(rows), (one.of, other.of)), shape=(one.size, other.size))
            found = values @ (joint @ other.functions.toarray())
            together[np.ix_(one.places, other.places)] = found
            together[np.ix_(other.places, one.places)] = found.T
    return together


@dataclass(frozen=True, eq=False)
class Tilting:
    """The released rows and functions of the cells of their tables, ready to be weighed.

    Attributes:
        informed: The release.
        tables: Its tables that have functions.
        cells: The cells that rows are in, of several tables together.
        deviations: The standard deviation of the noise of each function's sum, as a share of the people.
        curvature: The mean over rows of the products of functions, in units of their noise, shape (functions, functions).
        damp: The weight of the smallness of changes (`DAMP`).
    """

    informed: Informed
    tables: tuple[_Table, ...]
    cells: tuple[_Cells, ...]
    deviations: Floats
    curvature: Floats
    damp: float

    @classmethod
    def of(cls, informed: Informed) -> Tilting:
        """Return the rows of a release, ready to be weighed."""
        domain, people, rows = informed.domain, informed.people, len(informed.codes)
        every = [_Counted.of(answer, informed) for answer in answered(domain, domain.names, informed)]
        columns, tables, cells, first = _columns(every), list[_Table](), list[_Cells](), 0
        for one in every:
            functions = csr_array(_functions(one, columns))
            shift = np.where(one.known, one.answer.values - one.counts, 0.0).ravel()
            shares = one.counts.ravel() / one.counts.sum() if one.known.all() else np.zeros(one.known.size)
            tables.append(_Table(functions, np.sqrt(one.variances).ravel(), shift, shares))
            places = first + np.arange(functions.shape[0])
            first += len(places)
            cells.append(_Cells.numbered(one.cells, csr_array(functions.T), places, frozenset(place for place, _ in one.answer.axes)))
        variances = [one.functions.power(2) @ one.deviations**2 for one in tables]
        deviations = np.sqrt(np.concatenate([np.zeros(0), *variances])) / people
        curvature = _products(cells, rows, first) / rows / deviations[:, None] / deviations
        return cls(informed, tuple(tables), _joined(cells), deviations, curvature, _damp(curvature))

    def sums(self, weights: Floats) -> Floats:
        """Return the sum of each function over the rows, each with its weight, shape (functions,).

        Args:
            weights: The weights of the rows, shape (rows,).
        """
        found = np.zeros(len(self.deviations))
        for one in self.cells:
            found[one.places] = one.functions.T @ np.bincount(one.of, weights, minlength=one.size)
        return found

    def values(self, slopes: Floats) -> Floats:
        """Return a sum of functions for each row, shape (rows,).

        Args:
            slopes: The factor of each function, shape (functions,).
        """
        found = np.zeros(len(self.informed.codes))
        for one in self.cells:
            found += (one.functions @ slopes[one.places])[one.of]
        return found

    def _factor(self, damp: float) -> tuple[Floats, bool]:
        factor, lower = cho_factor(self.curvature + damp**2 * np.eye(len(self.deviations)))
        return factor, bool(lower)

    @cached_property
    def _for_changes(self) -> tuple[Floats, bool]:
        return self._factor(self.damp)

    @cached_property
    def _for_weights(self) -> tuple[Floats, bool]:
        return self._for_changes if self.damp == DAMP else self._factor(DAMP)

    def change(self, rng: np.random.Generator) -> Floats:
        """Return a change of each function's mean by noise and shift, on which all tables agree; shape (functions,).

        Args:
            rng: Source of the noise.
        """
        cells = [rng.normal(size=one.deviations.size) * one.deviations for one in self.tables]
        times = rng.normal()
        moved = [one.moved(noise + times * one.shift) for one, noise in zip(self.tables, cells, strict=True)]
        wanted = np.concatenate([np.zeros(0), *moved]) / self.informed.people / self.deviations
        return np.asarray(self.deviations * (wanted - self.damp**2 * cho_solve(self._for_changes, wanted)))

    def weights(self, change: Floats) -> Floats:
        """Return the weights of the rows that move the functions' means by a change, 0 or more, with the mean 1; shape (rows,).

        Newton's steps, with the matrix of weights that may be negative, are accelerated (Nesterov 1983), and start anew where
        they lead back. Without this, 200 steps left half of the change undone in tables with rare values.

        Args:
            change: The change of the mean of each function over the people, shape (functions,).
        """
        rows, functions = len(self.informed.codes), len(self.deviations)
        target = self.sums(np.ones(rows)) / rows + change
        factor, damp = (self._for_changes, self.damp) if rows * functions**2 > LARGE else (self._for_weights, DAMP)
        slopes = start = before = cho_solve(self._for_weights, change / self.deviations)
        momentum, weights = 0, np.maximum(0.0, 1 + self.values(slopes / self.deviations))
        for _ in range(SWEEPS):
            missing = (target - self.sums(weights) / rows) / self.deviations - damp**2 * (slopes - start)
            if float((missing**2).sum()) <= CLOSE**2 * functions:
                break
            step = slopes + cho_solve(factor, missing)
            momentum = momentum + 1 if float(missing @ (step - before)) >= 0 else 0
            slopes, before = step + momentum / (momentum + 3) * (step - before), step
            weights = np.maximum(0.0, 1 + self.values(slopes / self.deviations))
        return np.asarray(weights * (rows / weights.sum()))

    def drawn(self, weights: Floats, rng: np.random.Generator) -> Codes:
        """Return as many rows as were released, each as often as its weight says, with values changed so that tables are nearer.

        Args:
            weights: The weights of the released rows, with the mean 1.
            rng: Source of randomness.
        """
        codes, domain = self.informed.codes, self.informed.domain
        order = np.lexsort(codes[:, rng.permutation(codes.shape[1])].T)
        through = np.floor(np.minimum(weights[order].cumsum(), len(codes)) + rng.random())
        chosen = codes[np.repeat(order, np.diff(through, prepend=0.0).astype(np.intp))]
        targets = {labels: self.table(labels, weights) / len(codes) for labels in self._whole}
        zeros = {tuple(map(domain.position, clique)): table for clique, table in domain.zeros.items()}
        return refine(chosen, targets, dict.fromkeys(targets, 1.0), domain.sizes(domain.names), rng, zeros, passes=1)

    def table(self, labels: Labels, weights: Floats) -> Floats:
        """Return the sum of the weights in each cell of a table, shape (sizes of its columns).

        Args:
            labels: The places of its columns in the domain.
            weights: The weights of the released rows.
        """
        domain, codes = self.informed.domain, self.informed.codes
        shape = tuple(domain.sizes(domain.names)[place] for place in labels)
        cells = np.ravel_multi_index(tuple(codes[:, place].astype(np.int64) for place in labels), shape)
        return np.asarray(np.bincount(cells, weights, minlength=int(np.prod(shape))), dtype=np.float64).reshape(shape)

    @cached_property
    def _whole(self) -> list[Labels]:
        """The places of the columns of the largest tables."""
        domain = self.informed.domain
        found = {tuple(sorted(place for place, _ in one.axes)) for one in answered(domain, domain.names, self.informed)}
        return [one for one in sorted(found) if not any(set(one) < set(other) for other in found)]


def parts(counts: Floats, variances: Floats, most: int) -> Parts:
    """Return the number of the part of each cell, from 0: boxes, of which the one with the most people is halved until none can be.

    Each half has at least `LEAST` standard deviations of its noise. Of all cuts, the one is made that leaves the most
    people in the smaller half.

    Args:
        counts: People in each cell.
        variances: The variance of the noise of each.
        most: Largest number of parts.
    """
    boxes, done = [tuple(slice(0, size) for size in counts.shape)], list[tuple[slice, ...]]()
    while boxes and len(boxes) + len(done) < most:
        boxes.sort(key=lambda box: float(counts[box].sum()))
        box = boxes.pop()
        cut = _cut(counts[box], variances[box])
        if cut is None:
            done.append(box)
            continue
        axis, place = cut
        at = box[axis].start + place
        boxes += [(*box[:axis], half, *box[axis + 1 :]) for half in (slice(box[axis].start, at), slice(at, box[axis].stop))]
    numbers = np.zeros(counts.shape, dtype=np.intp)
    for number, box in enumerate([*done, *boxes]):
        numbers[box] = number
    return numbers


def _cut(counts: Floats, variances: Floats) -> tuple[int, int] | None:
    """Return the axis and the first cell of the second half of the best cut; None if no cut is possible."""
    best, found = 0.0, None
    for axis in range(counts.ndim):
        people, noise = (np.cumsum(_summed(one, (axis,)))[:-1] for one in (counts, variances))
        others, rest = counts.sum() - people, np.maximum(variances.sum() - noise, 0.0)
        allowed = (people >= LEAST * np.sqrt(noise)) & (others >= LEAST * np.sqrt(rest))
        smaller = np.where(allowed, np.minimum(people, others), 0.0)
        if smaller.size and smaller.max() > best:
            best, found = float(smaller.max()), (axis, int(smaller.argmax()) + 1)
    return found


def _summed(table: Floats, kept: Sequence[int]) -> Floats:
    return np.asarray(table.sum(axis=tuple(axis for axis in range(table.ndim) if axis not in kept)))


def _columns(every: Sequence[_Counted]) -> dict[int, tuple[float, Parts]]:
    """Return by place of a column the mean variance of its counts in the table that knows them best, and its parts there."""
    best = dict[int, tuple[float, Parts]]()
    for one in every:
        for axis, (place, _) in enumerate(one.answer.axes):
            variances = _summed(one.variances, (axis,))
            if one.is_whole(axis) and (place not in best or variances.mean() < best[place][0]):
                best[place] = float(variances.mean()), parts(_summed(one.counts, (axis,)), variances, MOST_OF_COLUMN)
    return best


def _tells(one: _Counted, axis: int, columns: dict[int, tuple[float, Parts]]) -> bool:
    """Return whether a table tells of the column of an axis (`FAR`)."""
    place = one.answer.axes[axis][0]
    return place in columns and float(_summed(one.variances, (axis,)).mean()) <= FAR * columns[place][0]


def _parts_of(one: _Counted, columns: dict[int, tuple[float, Parts]]) -> list[Parts]:
    """Return the parts of a table's cells, and of each column of which it tells (`FAR`), as a number for each cell; [] without any."""
    shape = one.counts.shape
    groups = [columns[place][1] if one.is_whole(axis) else np.arange(shape[axis]) for axis, (place, _) in enumerate(one.answer.axes)]
    small = tuple(int(group.max()) + 1 for group in groups)
    at = np.broadcast_to(np.ravel_multi_index(np.ix_(*groups), small), shape).ravel()
    counts, variances = (
        np.bincount(at, table.ravel(), int(np.prod(small))).astype(np.float64).reshape(small) for table in (one.counts, one.variances)
    )
    found = [parts(counts, variances, MOST_PARTS)]
    for axis in range(len(shape)):
        if len(shape) > 1 and _tells(one, axis, columns):
            own = parts(_summed(counts, (axis,)), _summed(variances, (axis,)), MOST_OF_COLUMN)
            found.append(np.broadcast_to(own.reshape([-1 if other == axis else 1 for other in range(len(shape))]), small))
    return [labels.ravel()[at] for labels in found if labels.max() > 0]


def _functions(one: _Counted, columns: dict[int, tuple[float, Parts]]) -> Floats:
    """Return the functions of a table's cells whose sums are moved, 0 in cells that are not known, shape (functions, cells)."""
    indicators = [np.arange(int(labels.max()) + 1)[:, None] == labels for labels in _parts_of(one, columns)]
    known, smooth = one.known.ravel(), _polynomials(one, columns)
    return np.where(known, np.concatenate([np.zeros((0, known.size)), *indicators, *smooth]), 0.0)


def _polynomials(one: _Counted, columns: dict[int, tuple[float, Parts]]) -> list[Floats]:
    """Return products of polynomials in the columns of a table whose noise is small beside their spread, each of shape (1, cells).

    Polynomials of a single column are left out if the table does not tell of the column (`FAR`).
    """
    counts, variances, found = one.counts, one.variances, list[Floats]()
    far = [axis for axis in range(counts.ndim) if counts.ndim > 1 and not _tells(one, axis, columns)]
    bases = [_orthonormal(_summed(counts, (axis,))) for axis in range(counts.ndim)]
    for degrees in np.ndindex(*map(len, bases)):
        axes = [axis for axis, degree in enumerate(degrees) if degree]
        if axes and sum(degrees) <= PRODUCT and not (len(axes) == 1 and axes[0] in far):
            values = reduce(np.multiply.outer, [base[degree] for base, degree in zip(bases, degrees, strict=True)])
            if LEAST**2 * float((values**2 * variances).sum()) <= counts.sum() * float((values**2 * counts).sum()):
                found.append(values.reshape(1, -1))
    return found


def _orthonormal(counts: Floats) -> Floats:
    """Return polynomials in the places of the cells of a column, from degree 0 to `DEGREE` at most, shape (polynomials, cells).

    In the mean over the people, the square of each is 1, and the product of two is 0.

    Args:
        counts: The people in each cell, shape (cells,).
    """
    shares, degrees = counts / counts.sum(), np.arange(min(DEGREE + 1, int((counts > 0).sum())))
    powers = np.linspace(-1.0, 1.0, len(counts))[:, None] ** degrees
    _, triangle = np.linalg.qr(np.sqrt(shares)[:, None] * powers)
    return np.asarray(np.linalg.solve(triangle.T, powers.T))


def _damp(curvature: Floats) -> float:
    """Return the smallest damping at which the variance of the weights is `MOST_VARIANCE`, were they allowed to be negative."""
    of, damp = np.maximum(eigvalsh(curvature), 0.0), DAMP
    while float((of / (of + damp**2) ** 2).sum()) > MOST_VARIANCE:
        damp *= GROWTH
    return damp
