"""Weights for the released rows, under which their tables are moved by the noise of the release. No model is fitted.

A direct estimate from the noisy answers has noise that is known exactly (`noise`). The rows differ from it by a shift, and an estimate in
them is off by about the root of noise^2 + shift^2. The tables of a set are the tables of the rows plus fresh noise of each cell, plus the
shift times one random number of variance 1. Tables that share columns are made to agree by least squares.

A row cannot count less than 0 times, and a cell with few rows cannot lose many. So cells are joined to parts that hold as many people as
1.5 standard deviations of their noise (`LEAST`), separately for each table and for each of its columns. The weights with the smallest sum
of squares of (weight - 1) that move the parts as wanted, and are not negative, are those of a calibration of survey weights (Deville and
Sarndal 1992, Calibration estimators in survey sampling). What noise does within a part is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigvalsh
from scipy.sparse import csr_array

from dpsynth_core.extensions.intervals.noise import Answer, Informed, answered
from dpsynth_core.inference.contraction import Labels
from dpsynth_core.inference.refinement import refine

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
Parts = NDArray[np.intp]
LEAST = 1.5
"""People in a part, in standard deviations of its noise, at least."""
MOST_PARTS, MOST_OF_COLUMN = 32, 16
"""Largest number of parts of a table, and of a column."""
DAMP, GROWTH = 0.5, 1.25
"""Smallest weight of the smallness of changes beside that of their noise; and the factor by which it is raised in large tables."""
LARGE, MOST_VARIANCE = 2_000_000_000, 0.5
"""Rows times the square of parts from which weights may have this variance at most, as their computation would take long otherwise."""
SWEEPS, CLOSE = 200, 0.05
"""Most steps towards the weights, and the root mean square of what is missing, in standard deviations of the noise, that ends them."""
FAR = 2.0
"""A table tells of a column if the noise of the column's counts in it has at most this many times the variance of the best table's."""
_BLOCK = 5_000
"""Rows that are multiplied at a time."""


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
    """A table with its parts.

    Attributes:
        sums: Sums cells to parts, shape (all parts, cells).
        deviations: The standard deviation of the noise of each cell.
        shift: The noisy counts minus the counts of the rows, 0 for a cell that is not known.
    """

    sums: csr_array
    deviations: Floats
    shift: Floats


@dataclass(frozen=True, eq=False)
class Tilting:
    """The released rows and the parts of their tables, ready to be weighed.

    Attributes:
        informed: The release.
        tables: Its tables with more than one part.
        rows: 1 where a row is in a part, shape (rows, parts).
        deviations: The standard deviation of the noise of each part, as a share of the people.
        damp: The weight of the smallness of changes (`DAMP`).
    """

    informed: Informed
    tables: tuple[_Table, ...]
    rows: csr_array
    deviations: Floats
    damp: float

    @classmethod
    def of(cls, informed: Informed) -> Tilting:
        """Return the rows of a release, ready to be weighed."""
        domain, people = informed.domain, informed.people
        every = [_Counted.of(answer, informed) for answer in answered(domain, domain.names, informed)]
        parts = [_parts_of(one, _columns(every)) for one in every]
        total = sum(int(labels.max()) + 1 for several in parts for labels in several)
        tables, places, first = list[_Table](), list[Parts](), 0
        for one, several in zip(every, parts, strict=True):
            known, at, cells = one.known.ravel(), list[Parts](), list[Parts]()
            for labels in several:
                at.append(labels[known] + first)
                cells.append(np.flatnonzero(known))
                places.append(np.where(known[one.cells], labels[one.cells] + first, -1))
                first += int(labels.max()) + 1
            if at:
                shape = (total, known.size)
                sums = csr_array((np.ones(sum(map(len, at))), (np.concatenate(at), np.concatenate(cells))), shape=shape)
                shift = np.where(one.known, one.answer.values - one.counts, 0.0).ravel()
                tables.append(_Table(sums, np.sqrt(one.variances).ravel(), shift))
        variances = sum((one.sums @ one.deviations**2 for one in tables), np.zeros(total))
        count, deviations = len(informed.codes), np.sqrt(variances) / people
        place = np.stack(places, axis=1) if places else np.zeros((count, 0), dtype=np.intp)
        held = place >= 0
        rows = csr_array((np.ones(int(held.sum())), place[held], np.concatenate([[0], held.sum(axis=1).cumsum()])), shape=(count, total))
        made = cls(informed, tuple(tables), rows, deviations, DAMP)
        return cls(informed, tuple(tables), rows, deviations, _damp(made.curvature)) if count * total**2 > LARGE else made

    @cached_property
    def curvature(self) -> Floats:
        """The mean over rows of the products of parts, in units of their noise, shape (parts, parts)."""
        rows, parts = self.rows.shape
        together = np.zeros((parts, parts))
        for start in range(0, rows, _BLOCK):
            block = self.rows[start : start + _BLOCK].astype(np.float32).toarray()
            together += block.T @ block  # whole numbers up to 5,000, which single precision holds
        return together / rows / self.deviations[:, None] / self.deviations

    @cached_property
    def _factor(self) -> tuple[Floats, bool]:
        factor, lower = cho_factor(self.curvature + self.damp**2 * np.eye(len(self.deviations)))
        return factor, bool(lower)

    def change(self, rng: np.random.Generator) -> Floats:
        """Return a change of each part by noise and shift, as a share of the people, on which all tables agree; shape (parts,).

        Args:
            rng: Source of the noise.
        """
        cells = [rng.normal(size=one.deviations.size) * one.deviations for one in self.tables]
        times = rng.normal()
        moved = [one.sums @ (noise + times * one.shift) for one, noise in zip(self.tables, cells, strict=True)]
        wanted = sum(moved, np.zeros(len(self.deviations))) / self.informed.people / self.deviations
        return np.asarray(self.deviations * (wanted - self.damp**2 * cho_solve(self._factor, wanted)))

    def weights(self, change: Floats) -> Floats:
        """Return the weights of the rows that move the parts by a change, 0 or more, with the mean 1; shape (rows,).

        Args:
            change: The change of each part, as a share of the people, shape (parts,).
        """
        rows, parts = self.rows.shape
        target = np.asarray(self.rows.sum(axis=0)) / rows + change
        slopes, weights = np.zeros(parts), np.ones(rows)
        for _ in range(SWEEPS):
            missing = (target - (self.rows.T @ weights) / rows) / self.deviations - self.damp**2 * slopes
            if float((missing**2).sum()) <= CLOSE**2 * parts:
                break
            slopes = slopes + cho_solve(self._factor, missing)
            weights = np.maximum(0.0, 1 + self.rows @ (slopes / self.deviations))
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
    for axis, (place, _) in enumerate(one.answer.axes):
        if len(shape) > 1 and place in columns and _summed(one.variances, (axis,)).mean() <= FAR * columns[place][0]:
            own = parts(_summed(counts, (axis,)), _summed(variances, (axis,)), MOST_OF_COLUMN)
            found.append(np.broadcast_to(own.reshape([-1 if other == axis else 1 for other in range(len(shape))]), small))
    return [labels.ravel()[at] for labels in found if labels.max() > 0]


def _damp(curvature: Floats) -> float:
    """Return the smallest damping at which the variance of the weights is `MOST_VARIANCE`, were they allowed to be negative."""
    of, damp = np.maximum(eigvalsh(curvature), 0.0), DAMP
    while float((of / (of + damp**2) ** 2).sum()) > MOST_VARIANCE:
        damp *= GROWTH
    return damp
