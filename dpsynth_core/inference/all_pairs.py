"""Models of all pairs of columns, for tables with too many columns for a graphical model, and rows that follow them. Released values only.

One symmetric matrix has a line for each value of each column; where two lines of different columns cross is a cell of their pair. Its
excess over independent columns consists mostly of few patterns, which people share, so that few eigenvalues exceed the eigenvalues of
noise. They are shrunk as is best for their size (Gavish and Donoho 2017, whose limit for symmetric noise is Wigner's). James and Stein's
rule keeps what a single pair shows beyond these patterns, as far as noise does not explain it. Rows start as the patterns suggest, and
single values are changed wherever that brings the rows closer to the tables, as in `inference.refinement`; for pairs alone the prices of
all moves of a block of rows are a product of two matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.inference.gradual import without_negatives

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Codes = NDArray[np.int32]

STANDS_OUT = 3.0
"""Deviations of noise above which a pair's excess over the patterns is kept."""
_RAKED = 5
"""Number of times that the pairs are raked to the columns."""
BLOCK_ROWS, SHORTLIST, PASSES = 1_000, 0.2, 2
"""Rows processed together, the share of them whose moves of one column are considered, and passes over all rows."""
MOST_WORK = 2.5e11
"""Largest product of rows and squared values for all passes, which bounds their time."""
PRICED_TOGETHER = 16
"""Number of columns whose moves are priced by one product; one product per column waits for memory, and takes more than twice as long."""
_LEAST_GAIN = 1e-3
_FEWEST = 1e-6
"""Smallest probability of a value in the first rows, so that each can be drawn."""


@dataclass(frozen=True)
class Lines:
    """The lines (rows and columns) of the matrix, one for each value of each column of the table.

    Attributes:
        sizes: Number of values of each column of the table.
    """

    sizes: tuple[int, ...]

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Index of the first line of each column, followed by the number of lines."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @cached_property
    def numbers(self) -> NDArray[np.intp]:
        """The indices of all lines, from 0."""
        return np.arange(self.starts[-1])

    @cached_property
    def between(self) -> NDArray[np.bool_]:
        """True in the cells whose two lines belong to different columns, shape (lines, lines)."""
        column = np.repeat(np.arange(len(self.sizes)), self.sizes)
        return np.asarray(column[:, None] != column)

    def of(self, column: int) -> slice:
        """Return the slice of lines that belong to a column, given by its index."""
        return slice(int(self.starts[column]), int(self.starts[column + 1]))

    def sums(self, matrix: Floats) -> Floats:
        """Return the sums of a matrix over the lines of each column, along its first axis.

        Args:
            matrix: Shape (lines, ...).

        Returns:
            Shape (columns, ...).
        """
        return np.asarray(np.add.reduceat(matrix, self.starts[:-1], axis=0))

    def spread(self, by_column: Floats) -> Floats:
        """Repeat each column's entry for each of its lines, from shape (columns, ...) to (lines, ...)."""
        return np.repeat(by_column, self.sizes, axis=0)

    def marked(self, codes: Codes) -> Singles:
        """Return the one-hot encoding of rows, float32 of shape (rows, lines): 1 on the line of each of a row's values.

        Args:
            codes: The rows, codes from 0, shape (rows, columns).
        """
        marks = np.zeros((len(codes), int(self.starts[-1])), dtype=np.float32)
        marks[np.arange(len(codes))[:, None], codes + self.starts[:-1]] = 1
        return marks


@dataclass(frozen=True, eq=False)
class Likely:
    """The model of all pairs of columns.

    Attributes:
        lines: The lines of the matrix.
        columns: Probabilities of the columns' values, shape (lines,).
        patterns: Scaled eigenvectors, shape (lines, patterns); patterns @ patterns.T is the
            low-rank part of the pairs' excess over independent columns.
        pairs: Probabilities of pairs of values, shape (lines, lines), 0 within columns.
    """

    lines: Lines
    columns: Floats
    patterns: Floats
    pairs: Singles


def likely(counts: Sequence[Floats], tables: Sequence[Floats], sigma: float, total: float) -> Likely:
    """Return the model of all pairs of values that noisy tables suggest: their probabilities, after shrinking.

    Args:
        counts: Best known counts of each column, in people, each of shape (values,).
        tables: Noisy counts of all pairs of columns, in the order of `combinations`, each of shape (values of the
            first, values of the second).
        sigma: Standard deviation of the noise of each cell of the tables, in people.
        total: Number of people, above 0.
    """
    sizes = [column.size for column in counts]
    lines = Lines(tuple(sizes))
    noisy = np.zeros((int(lines.starts[-1]),) * 2)
    for (one, other), table in zip(combinations(range(len(sizes)), 2), tables, strict=True):
        noisy[lines.of(one), lines.of(other)], noisy[lines.of(other), lines.of(one)] = table, table.T
    noisy /= total
    columns = np.maximum(np.concatenate([without_negatives(column, None, total) for column in counts]) / total, _FEWEST)
    beyond = np.where(lines.between, noisy - np.outer(columns, columns), 0.0)
    for _ in range(2):  # what rows and columns of a table add up to is noise here: the columns are known better
        beyond = (beyond - lines.spread(lines.sums(beyond) / np.array(sizes)[:, None])).T
    patterns = _patterns(lines, beyond, sigma / total)
    known = np.where(lines.between, patterns @ patterns.T, 0.0)
    known += _alone(lines, beyond - known, sigma / total)
    return Likely(lines, columns, patterns, _raked(lines, columns, known).astype(np.float32))


def _patterns(lines: Lines, beyond: Floats, sigma: float) -> Floats:
    """Return the patterns: eigenvectors that stand out of noise, times the roots of shrunken eigenvalues.

    Args:
        lines: The lines of the matrix.
        beyond: Noisy excess of pairs over independent columns, in probabilities, shape (lines,
            lines).
        sigma: Standard deviation of the noise in a cell of `beyond`.

    Returns:
        Shape (lines, patterns).
    """
    directions = len(beyond) - len(lines.sizes)
    edge = 2 * sigma * math.sqrt(directions)
    values, vectors = scipy.linalg.eigh(beyond, subset_by_value=(edge, np.inf))
    return np.asarray(vectors * (values**2 - edge**2) ** 0.25)


def _alone(lines: Lines, left: Floats, sigma: float) -> Floats:
    """Return the part of each pair's remaining excess that noise does not explain (James and Stein's rule).

    Args:
        lines: The lines of the matrix.
        left: Excess that is left after the patterns, in probabilities, shape (lines, lines).
        sigma: Standard deviation of the noise in a cell of `left`.

    Returns:
        Each pair's block of `left` times a factor from 0 to 1; the factor is 0 for a pair that does
        not exceed noise by `STANDS_OUT` deviations.
    """
    squares = lines.sums(lines.sums(left**2).T)
    directions = np.outer(np.array(lines.sizes) - 1, np.array(lines.sizes) - 1)
    stands = squares > sigma**2 * (directions + STANDS_OUT * np.sqrt(2 * directions))
    kept = np.where(stands, 1 - np.divide(sigma**2 * directions, squares, out=np.ones_like(squares), where=stands), 0.0)
    return left * lines.spread(lines.spread(kept).T)


def _raked(lines: Lines, columns: Floats, beyond: Floats) -> Floats:
    """Return probabilities of pairs, all 0 or more, whose sums over either column nearly equal `columns`.

    Args:
        lines: The lines of the matrix.
        columns: Probabilities of the columns' values, shape (lines,).
        beyond: Excess of the pairs over independent columns, shape (lines, lines).
    """
    pairs = np.where(lines.between, np.maximum(np.outer(columns, columns) + beyond, 0.0), 0.0)
    for _ in range(2 * _RAKED):
        sums = lines.spread(lines.sums(pairs.T)).T  # of the row of each cell, within its pair
        pairs = (pairs * np.divide(columns[:, None], sums, out=np.zeros_like(sums), where=sums > 0)).T
    return (pairs + pairs.T) / 2


def rows(known: Likely, n: int, rng: np.random.Generator) -> Codes:
    """Return n synthetic rows that follow the model of all pairs, int32 codes from 0 of shape (n, columns).

    Args:
        known: The model.
        n: Number of rows.
        rng: Source of randomness; the same state gives the same rows.
    """
    return refine(known.lines, _first(known, n, rng), known.pairs, rng)


def _first(known: Likely, n: int, rng: np.random.Generator) -> Codes:
    """Draw n rows to start from, whose columns depend on each other through one normal variable per pattern.

    Given these variables, columns are independent, with probabilities columns + patterns @
    variables (negative ones raised to nearly 0), whose expected products are the pairs'
    probabilities.
    """
    lines, codes = known.lines, np.empty((n, len(known.lines.sizes)), dtype=np.int32)
    patterns, columns = known.patterns.T.astype(np.float32), known.columns.astype(np.float32)
    for some in np.array_split(np.arange(n), max(1, n // BLOCK_ROWS)):
        variables = rng.standard_normal((len(some), len(patterns)), dtype=np.float32)
        chances = np.maximum(columns + variables @ patterns, np.float32(_FEWEST))
        for column in range(len(lines.sizes)):
            reached = chances[:, lines.of(column)].cumsum(axis=1)
            drawn = rng.random((len(some), 1), dtype=np.float32) * reached[:, -1:]
            codes[some, column] = (drawn > reached[:, :-1]).sum(axis=1)
    return codes


def counted(lines: Lines, codes: Codes) -> Singles:
    """Return the number of rows with each pair of values, float32 of shape (lines, lines); 0 within columns.

    Args:
        lines: The lines of the matrix.
        codes: The rows, codes from 0, shape (rows, columns).
    """
    counts = np.zeros(lines.between.shape, dtype=np.float32)
    for some in range(0, len(codes), BLOCK_ROWS):
        marks = lines.marked(codes[some : some + BLOCK_ROWS])
        counts += marks.T @ marks
    counts[~lines.between] = 0
    return counts


def refine(lines: Lines, codes: Codes, pairs: Singles, rng: np.random.Generator, passes: int = PASSES) -> Codes:
    """Return a copy of rows with single values changed, so that the counts of pairs come closer to the wanted counts.

    The sum of the absolute differences over all cells never rises.

    Args:
        lines: The lines of the matrix.
        codes: The rows, shape (rows, columns).
        pairs: Wanted probabilities of pairs, shape (lines, lines); wanted counts are these times
            the rows.
        rng: Source of randomness.
        passes: Number of passes over the rows. They end earlier, so that some rows are not changed, once the number
            of rows passed over, times lines squared, reaches 2.5e11 (`MOST_WORK`).
    """
    refined = codes.copy()
    surplus = counted(lines, codes) - np.float32(len(codes)) * pairs
    left = max(BLOCK_ROWS, int(MOST_WORK / max(1, surplus.size)))  # rows that there is time for
    for _ in range(passes):
        most = min(len(codes), left)
        left -= most
        order = rng.permutation(len(codes))[:most]
        for some in np.array_split(order, max(1, round(most / BLOCK_ROWS))) if most else ():
            held = refined[some]
            marks = lines.marked(held)
            order_of_columns = rng.permutation(len(lines.sizes))
            for first in range(0, len(order_of_columns), PRICED_TOGETHER):
                columns = [int(column) for column in order_of_columns[first : first + PRICED_TOGETHER]]
                own = np.concatenate([lines.numbers[lines.of(column)] for column in columns])
                prices = marks @ _price(surplus[own]).T
                ends = np.cumsum([lines.sizes[column] for column in columns])
                for column, of_column in zip(columns, np.split(prices, ends[:-1], axis=1), strict=True):
                    _improve(lines, surplus, held, marks, column, of_column)
            refined[some] = held
    return refined


def _price(surplus: Singles) -> Singles:
    """Return approximately by how much one more row in a cell raises the cell's absolute error, -1 to 1.

    One row fewer changes the error by about the opposite. `surplus` is the count minus its target.
    """
    return np.clip(2 * surplus, -1, 1)


def _improve(lines: Lines, surplus: Singles, held: Codes, marks: Singles, column: int, prices: Singles) -> None:
    """Change values of one column within a block of rows, in place, where that lowers the absolute error.

    Args:
        lines: The lines of the matrix.
        surplus: Counts minus targets in all cells, 0 within columns; it is updated.
        held: The rows of the block, shape (rows, columns); they are changed.
        marks: `Lines.marked` of the rows; it is updated.
        column: Index of the column.
        prices: Price of each value of the column in each row, shape (rows, values); the lowest is
            best.
    """
    here, every = lines.of(column), np.arange(len(held))
    old = held[:, column].copy()
    new = prices.argmin(axis=1)
    gain = prices[every, new] - prices[every, old]
    count = max(1, int(SHORTLIST * len(held)))
    moved = np.argpartition(gain, min(count, len(gain) - 1))[:count]
    moved = moved[np.argsort(gain[moved], kind="stable")]
    moved = moved[gain[moved] < -_LEAST_GAIN]
    own, theirs, step = surplus[here], marks[moved], np.zeros((here.stop - here.start, len(moved)), dtype=np.float32)
    step[new[moved], every[: len(moved)]], step[old[moved], every[: len(moved)]] = 1, -1
    before = float(np.abs(own).sum())
    while len(moved):
        change = step[:, : len(moved)] @ theirs[: len(moved)]
        change[:, here] = 0
        if np.abs(own + change).sum() < before:
            break
        moved = moved[: len(moved) // 2]  # together they overshoot
    if not len(moved):
        return
    surplus[here] += change
    surplus[:, here] = surplus[here].T
    held[moved, column] = new[moved]
    marks[moved, here.start + old[moved]] = 0
    marks[moved, here.start + new[moved]] = 1
