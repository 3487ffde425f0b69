"""The share of an analysis that the measured tables determine, computed from released rows and the names of tables alone.

An estimate moves with its influence function. Where that function is a sum of functions of measured tables' cells, the noisy answers inform
about the whole estimate; where it is not, the rows hold what the model assumes (independence), and no interval from them means anything.
R2 is the share of the function's variance that such sums express, found by backfitting (Breiman and Friedman 1985), less what they would
express of random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement

Floats = NDArray[np.float64]
SWEEPS, CLOSE = 25, 1e-4
"""Most sweeps over the tables, and the gain of R2 in a sweep at which they end."""
MOST_ROWS = 100_000
"""Largest number of rows that are looked at; the first ones, because rows are in random order."""
MUCH = 0.25
"""Share of what tables leave of an influence function from which a pair of columns is named as the missing relation."""
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class Table:
    """A measured table, represented by the cell that each row falls into.

    Attributes:
        columns: The columns of the table; for groups of values, the column that they group.
        cells: The cell of each row, shape (rows,), numbered from 0 among the cells that rows are in.
        whole: Whether it distinguishes all cells of its columns, and not only groups of cells.
    """

    columns: frozenset[str]
    cells: NDArray[np.intp]
    whole: bool

    def means(self, values: Floats) -> Floats:
        """Return the mean of values in the cell of each row, shape (rows, functions).

        Args:
            values: Values of functions for each row, shape (rows, functions).
        """
        one, averaging = self._averaging
        return np.asarray(one @ (averaging @ values))

    @cached_property
    def _averaging(self) -> tuple[csr_array, csr_array]:
        """The matrices from cells to rows, and from rows to means of cells."""
        one = csr_array((np.ones(len(self.cells)), (np.arange(len(self.cells)), self.cells)))
        return one, one.multiply((1 / np.asarray(one.sum(axis=0))[self.cells])[:, None]).T.tocsr()


def tables(
    domain: Domain, codes: NDArray[np.integer], measurements: Sequence[Measurement], known: Sequence[MarginalCounts] = ()
) -> list[Table]:
    """Return the tables that inform a release: first the measured, then those known from before, then the published.

    A measured table is left out if another measured one has all its columns and more. A table that is known or
    published is left out if a table before it has all its columns, with each cell by itself.

    Args:
        domain: The domain of the rows.
        codes: The cells of the rows, shape (rows, columns).
        measurements: The measured tables.
        known: Counts of columns from before the mechanism.
    """
    found = list[Table]()
    for one in measurements:
        if one.clique and not any(_inside(one, other) for other in measurements if other is not one):
            found.append(_table(domain, codes, one))
    held = [one.columns for one in found if one.whole]
    others: list[Clique] = [*(one.clique for one in known), *(one.columns for one in domain.published)]
    for clique in dict.fromkeys(others):
        if not any(set(clique) <= columns for columns in held):
            found.append(Table(frozenset(clique), _cells(domain, codes, clique), True))
    return found


def _inside(one: Measurement, other: Measurement) -> bool:
    """Return whether a table's columns are some, but not all, of another table's, so that it follows by summing."""
    return set(one.clique) < set(other.clique)


def _table(domain: Domain, codes: NDArray[np.integer], one: Measurement) -> Table:
    groups = {each.name: each for each in one.groups}
    names = [groups[name].column if name in groups else name for name in one.clique]
    places = [codes[:, domain.position(name)].astype(np.int64) for name in names]
    of_groups = [np.asarray(groups[name].places)[at] if name in groups else at for name, at in zip(one.clique, places, strict=True)]
    cells, columns = np.ravel_multi_index(tuple(of_groups), one.values.shape), frozenset(names)
    return Table(columns, np.unique(cells, return_inverse=True)[1], not groups)


def _cells(domain: Domain, codes: NDArray[np.integer], clique: Clique) -> NDArray[np.intp]:
    at = tuple(codes[:, domain.position(name)].astype(np.int64) for name in clique)
    return np.unique(np.ravel_multi_index(at, domain.sizes(clique)), return_inverse=True)[1]


@dataclass(frozen=True, eq=False)
class Explained:
    """The share of each influence function that the measured tables determine.

    Attributes:
        r2: The share, from 0 to 1, shape (results,); 0 for a function that is the same for all rows, of which nothing is
            known: the tables' cells that no row is in may say otherwise.
        missing: For each result, the columns of the relation that would explain most of the rest, also where little is
            left; () for a function that is the same for all rows.
    """

    r2: Floats
    missing: tuple[Clique, ...]


def explained(influence: Floats, domain: Domain, codes: NDArray[np.integer], measured: Sequence[Table], columns: Clique) -> Explained:
    """Return how much of influence functions the measured tables determine, and which relation is missing.

    The result is deterministic.

    Args:
        influence: The influence functions, shape (results, rows).
        domain: The domain of the rows.
        codes: The cells of the rows, shape (rows, columns).
        measured: The measured tables (`tables` of the same rows).
        columns: The columns of the analysis.
    """
    chance = np.random.default_rng(0).normal(size=len(codes))  # fixed: the same release gives the same R2
    left = np.vstack([influence, chance]).T
    left = left - left.mean(axis=0)
    spread = (left**2).mean(axis=0)
    constant, whole = spread[:-1] <= _LEAST**2, np.maximum(spread, _LEAST**2)
    shares = np.ones(len(whole))
    for _ in range(SWEEPS):
        for one in measured:
            left = left - one.means(left)
        before, shares = shares, (left**2).mean(axis=0) / whole
        if (before - shares).max(initial=0.0) < CLOSE:
            break
    r2 = np.where(constant, 0.0, 1 - np.minimum(1.0, shares[:-1] / max(shares[-1], _LEAST)))
    missing = (() if same else _missing(left[:, k], domain, codes, measured, columns) for k, same in enumerate(constant))
    return Explained(r2, tuple(missing))


def _missing(left: Floats, domain: Domain, codes: NDArray[np.integer], measured: Sequence[Table], columns: Clique) -> Clique:
    """Return the smallest relation of the analysis' columns that no table holds and that explains much of what is left.

    If no pair of columns explains so much, all columns of the analysis together are the relation.

    Args:
        left: What the measured tables leave of an influence function, shape (rows,).
        domain: The domain.
        codes: The cells of the rows.
        measured: The measured tables.
        columns: The columns of the analysis.
    """
    whole = max(float((left**2).mean()), _LEAST**2)
    best: tuple[float, Clique] = (0.0, columns)
    for pair in combinations(columns, 2):
        if not any(set(pair) <= one.columns and one.whole for one in measured):
            means = Table(frozenset(pair), _cells(domain, codes, pair), True).means(left[:, None])
            best = max(best, (float((means**2).mean()) / whole, pair))
    return best[1] if best[0] >= MUCH else columns
