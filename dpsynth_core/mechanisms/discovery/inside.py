"""Distributions of numbers inside the cells of their columns, from noisy counts of finer cells, before the mechanism runs.

Cells are what the curator finds natural, such as steps of 5,000; people are not spread evenly in them. Each column gets two looks:
- The first, with the same noise for all, counts its cells, with 0 and both bounds separate, where many columns have their heap.
- The second divides cells in which the first saw many people, and merges quiet ones, one, two, four and so on after the last busy one:
  thirteen empty cells would each add noise, and noise would hide that they are empty. It has less noise the closer a column's people are to
  its most usual value, in shares of its range: of an amount that most people do not have, a few at the far end are half of the mean. Both
  looks at a cell are combined. Cells are then cut where an even spread is refuted, and nowhere else (`numbers.refined`).

Added up, the counts inform about the column's own cells, for a mechanism that can use them: little of the budget is lost for tables.
Everything here except the kernel's answers is post-processing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.smoothing import smoothed
from dpsynth_core.mechanisms.discovery import numbers
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.measurement import ROUNDING, MarginalCounts

Floats = NDArray[np.float64]

_FIRST = 0.12
"""Share of the budget for the first look."""
_EVEN = 0.1
"""Share of the second look's budget that is divided evenly."""
_SIGN = 3.0
"""Standard deviations beyond which a count shows that people are there."""
_MOST = 4096
"""Largest number of cells of a look."""
_HEADROOM = 1 - 2.0**-30
"""Factor that keeps the sum of parts divided in floating point within the whole."""


@dataclass(frozen=True, eq=False)
class Found:
    """The distribution of a column's numbers inside its cells.

    Attributes:
        column: Name of the column.
        inside: The distribution.
        counts: Counts of the column's own cells that follow from the looks, in records; None if the column
            counts missing or undeclared values in one of its cells.
    """

    column: str
    inside: Inside
    counts: MarginalCounts | None


def look(kernel: SealedKernel, asked: Sequence[Attribute]) -> tuple[Found, ...]:
    """Measure the distribution inside the cells of these columns, with the kernel's whole remaining budget.

    Args:
        kernel: The kernel, which is charged.
        asked: The columns (`vocabulary.inside.of_several_values`), at least one.

    Returns:
        One result per column, in order, from noisy counts alone.
    """
    l2, rho = kernel.unit.marginal_l2, kernel.rho_left * _HEADROOM
    noise = l2 * math.sqrt(len(asked) / (2 * _FIRST * rho))
    first = _looked(kernel, map(_first_cells, asked), [noise] * len(asked))
    need = np.array([1 / _spread(one) ** 2 for one in first])
    parts = (1 - _FIRST) * rho * (_EVEN / len(asked) + (1 - _EVEN) * need / need.sum())
    sigmas = [l2 / math.sqrt(2 * part) for part in parts.tolist()]
    second = _looked(kernel, map(_second_cells, first, sigmas), sigmas)
    return tuple(map(_found, asked, first, second))


@dataclass(frozen=True, eq=False)
class _Look:
    """One look at a column: noisy counts of fine cells.

    Attributes:
        cells: The column with the cells of the look.
        counts: Noisy counts of cells of numbers, then of cells for missing and other values.
        sigma: Standard deviation of the noise.
    """

    cells: Attribute
    counts: Floats
    sigma: float

    @property
    def edges(self) -> Floats:
        return np.asarray(self.cells.edges, dtype=np.float64)

    @property
    def people(self) -> Floats:
        """The noisy number of people in each cell of numbers, without the cells for missing and other values."""
        return self.counts[: self.cells.values]

    @property
    def variance(self) -> float:
        return self.sigma**2 + ROUNDING

    @property
    def busy(self) -> NDArray[np.bool_]:
        return self.people > _SIGN * self.sigma

    @property
    def quiet(self) -> NDArray[np.bool_]:
        """True for the cells of numbers that are not busy, and are no cell of 0 or of a bound."""
        own = _own_cells(self.cells)
        return ~self.busy & ~np.array([cell in own for cell in pairwise(self.cells.edges)])

    def place(self, edges: Floats) -> NDArray[np.intp]:
        """Return the index of this look's cell that contains each finer cell.

        Args:
            edges: Edges of the finer cells, ascending.
        """
        return np.searchsorted(self.edges, edges[:-1], side="right") - 1


def _looked(kernel: SealedKernel, cells: Iterable[Attribute], sigmas: Sequence[float]) -> list[_Look]:
    asked = list(cells)
    kernel.prepare_cells(asked)
    return [_Look(one, kernel.measure_cells((one.name,), one, sigma), sigma) for one, sigma in zip(asked, sigmas, strict=True)]


def _own_cells(column: Attribute) -> list[tuple[float, float]]:
    """Return the cells, as (low, high), of the single values 0, lower bound and upper bound, if they lie in the range."""
    scale, (low, *_, end) = column.scale, column.edges
    own = [(value, scale.beyond(value)) for value in (low, 0, end - scale.whole)]
    return [(first, last) for first, last in own if low <= first and last <= end]


def _first_cells(column: Attribute) -> Attribute:
    """Return the column with the cells of the first look: its own cells, with 0 and both bounds separate.

    Missing and undeclared values that the column counts in one of its cells get cells of their own.
    """
    edges = {*column.edges, *(edge for cell in _own_cells(column) for edge in cell)}
    return replace(column.unfolded() if _recodes(column) else column, edges=tuple(sorted(edges)))


def _recodes(column: Attribute) -> bool:
    return column.missing_as is not None or column.other_as is not None


def _spread(first: _Look) -> float:
    """Return the mean distance of people from their most frequent cell, as a share of the column's range.

    It is at least what noise could hide.
    """
    edges, people = first.edges, np.where(first.busy, first.people, 0.0)
    middles = (edges[:-1] + edges[1:]) / 2
    far = np.abs(middles - middles[first.people.argmax()]) / (edges[-1] - edges[0])
    return max(first.sigma, float(people @ far)) / max(first.sigma, float(people.sum()))


def _second_cells(first: _Look, sigma: float) -> Attribute:
    column, edges = first.cells, first.cells.edges
    finer = set(numbers.divided(column.scale, edges, np.where(first.busy, first.people, 0.0), sigma, _MOST))
    quiet = first.quiet
    starts, ends = (np.flatnonzero(np.diff(np.concatenate([[0], quiet, [0]])) == step).tolist() for step in (1, -1))
    for start, end in zip(starts, ends, strict=True):
        before, behind = start > 0 and first.busy[start - 1], end < len(quiet) and first.busy[end]
        kept = _growing(end - start, bool(before), bool(behind))
        finer -= {edges[start + cut] for cut in range(1, end - start) if cut not in kept}
    return replace(column, edges=tuple(sorted(finer))) if len(finer) <= _MOST else column


def _growing(cells: int, before: bool, behind: bool) -> set[int]:
    """Return where to cut a run of quiet cells into cells that grow with the distance from busy ones: 1, 2, 4 and so on.

    Args:
        cells: Number of cells in the run.
        before: Whether a busy cell comes before the run.
        behind: Whether a busy cell comes after the run.

    Returns:
        Numbers of cells of the run that lie before each cut.
    """
    lengths = [2**power - 1 for power in range(1, cells.bit_length() + 1)]
    half = cells / 2 if before and behind else cells
    return {cut for cut in lengths if before and cut <= half} | {cells - cut for cut in lengths if behind and cut <= half}


def _found(column: Attribute, first: _Look, second: _Look) -> Found:
    edges = np.union1d(first.edges, second.edges)
    people, variances = _together(first, second, edges)
    parts = numbers.refined(column.edges, tuple(edges.tolist()), people, second.sigma, len(edges))
    within = np.searchsorted(np.asarray(parts, dtype=np.float64), edges[:-1], side="right") - 1
    inside = Inside(parts, tuple(np.maximum(np.bincount(within, people, len(parts) - 1), 0.0).tolist()))
    if _recodes(column):
        return Found(column.name, inside, None)
    own = np.asarray(column.edges, dtype=np.float64)
    sums = np.bincount(np.searchsorted(own, edges[:-1], side="right") - 1, people, column.values)
    doubts = np.bincount(np.searchsorted(own, first.edges[:-1], side="right") - 1, variances, column.values)
    trust = 1 / first.variance + 1 / second.variance
    spare = (first.counts[first.cells.values :] / first.variance + second.counts[second.cells.values :] / second.variance) / trust
    counts = MarginalCounts((column.name,), np.concatenate([sums, spare]), np.concatenate([doubts, np.full(spare.shape, 1 / trust)]))
    return Found(column.name, inside, counts)


def _together(first: _Look, second: _Look, edges: Floats) -> tuple[Floats, Floats]:
    """Combine two looks at a column.

    In a cell that the second look divided or left as it was, the two numbers are weighted by their
    precision. A quiet cell, merged or not, keeps the second look's number, spread evenly, if it
    exceeds one deviation of the noise, and gets 0 otherwise: few people in some cells means few in
    each.

    Args:
        first: The first look.
        second: The second look.
        edges: The edges of both looks, ascending.

    Returns:
        The number of people in each cell between `edges`, and the variance of the number in each
        cell of the first look.
    """
    of_first, of_second = first.place(edges), second.place(edges)
    quiet = first.quiet[of_first]
    means, doubts = (one[of_second] for one in _believed(second))
    parts, sums, fine = (np.bincount(of_first, one) for one in (np.ones(len(means)), means, doubts))
    trust = fine / (fine + first.variance)
    each = means + (trust * (first.people - sums) / parts)[of_first]
    there = np.where(second.people > second.sigma, second.people, 0.0)[of_second]
    share = np.diff(edges) / np.diff(second.edges)[of_second]
    spread = np.bincount(of_first, (there + second.sigma) ** 2 * share / 2)
    return np.where(quiet, there * share, each), np.where(first.quiet, spread, trust * first.variance)


def _believed(look: _Look) -> tuple[Floats, Floats]:
    """Return a look's smoothed counts and their variances, where most cells may be nearly empty.

    A variance lies between the noise's and the remaining error's: it is the product of both
    deviations.
    """
    means, deviations = smoothed(look.people, math.sqrt(look.variance), ordered=False)
    return means, deviations * math.sqrt(look.variance)
