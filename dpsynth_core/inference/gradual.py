"""Gradual updates of rows towards consistent noisy tables (Zhang et al. 2021, "PrivSyn": its consistency step and GUM).

GUM is the gradually updating method.

One table after the other: cells with too few rows get some of the missing rows, at most a share alpha of what they have (or of what they
lack, if they are empty), and cells with too many give up as many rows, each at most the same share beta. A removed row becomes a copy of a
row of a cell that lacks some, which keeps relations to columns outside of the table; or it gets that cell's values in the table's columns
alone, which brings new combinations. Alpha shrinks, so that later tables undo less of the earlier ones. Released values only.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.publishing import impossible_rows
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, project
from dpsynth_core.vocabulary.measurement import Clique, Measurement

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
Codes = NDArray[np.integer]

START, SHRINK, EVERY = 1.0, 0.84, 20
"""alpha begins with START and is multiplied by SHRINK after EVERY passes."""
COPIED = 0.5
"""Share of moved rows that become copies in every second pass; in the others, all do."""
_HALVINGS = 40
_REPETITIONS = 10
"""Repetitions of making tables agree, which leaves negative cells, and setting these to zero, which disturbs the agreement a little."""


@dataclass(frozen=True)
class Move:
    """One update of a table, as numbers of rows per cell.

    Attributes:
        added: Rows that each cell gains, shape (cells,).
        removed: Rows that each cell loses, shape (cells,), with the same sum.
    """

    added: Whole
    removed: Whole


def updated(domain: Domain, codes: Codes, tables: Mapping[Clique, Float], passes: int, rng: np.random.Generator) -> Codes:
    """Return a copy of rows that is moved towards consistent noisy tables (PrivSyn's GUM).

    Its marginals are usually closer to the tables, though the error of a single one may rise. If no row lies in a
    structural zero before, no row does afterwards. The number of rows stays.

    Args:
        domain: The domain.
        codes: The rows, shape (rows, attributes), at least one row.
        tables: Wanted counts by clique, 0 or more, with a sum above 0; each is scaled to the number of rows.
        passes: Number of passes over all tables; in each, the table with the largest error comes
            first.
        rng: Source of randomness.
    """
    codes = codes.copy()
    scaled = {clique: (table * (len(codes) / table.sum())).ravel() for clique, table in tables.items()}
    for number in range(passes):
        errors = {clique: float(np.abs(_counts(domain, codes, clique) - wanted).sum()) for clique, wanted in scaled.items()}
        alpha, copied = START * SHRINK ** (number // EVERY), COPIED if number % 2 == 0 else 1.0
        for clique in sorted(scaled, key=lambda clique: -errors[clique]):
            _update(domain, codes, clique, scaled[clique], alpha, copied, rng)
    return codes


def moves(counts: Whole, wanted: Float, alpha: float, rng: np.random.Generator) -> Move:
    """Return the rows that each cell of one table gains and loses in one update.

    A cell gains at most the share alpha of its rows, or of its missing rows if it is empty; a cell
    loses at most a share beta of its rows, which is found so that as many rows leave as enter.

    Args:
        counts: Present rows of each cell, shape (cells,).
        wanted: Wanted rows of each cell, shape (cells,), with the same sum.
        alpha: Largest share by which a cell grows.
        rng: Source of randomness, for rounding to whole rows.
    """
    lacking = np.maximum(wanted - counts, 0.0)
    added = _whole(np.minimum(lacking, alpha * np.where(counts > 0, counts, lacking)), rng)
    over = np.maximum(counts - wanted, 0.0)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        beta = (low + high) / 2
        low, high = (low, beta) if np.minimum(over, beta * counts).sum() >= added.sum() else (beta, high)
    removed = np.minimum(_whole(np.minimum(over, high * counts), rng), counts)
    fewer = min(int(added.sum()), int(removed.sum()))
    return Move(_at_most(added, fewer, rng), _at_most(removed, fewer, rng))


def _update(domain: Domain, codes: Codes, clique: Clique, wanted: Float, alpha: float, copied: float, rng: np.random.Generator) -> None:
    """Move rows, in place, towards the wanted counts of one table.

    Args:
        domain: The domain.
        codes: The rows, shape (rows, attributes).
        clique: The columns of the table.
        wanted: Wanted rows of each cell, flattened.
        alpha: Largest share by which a cell grows (`moves`).
        copied: Share of moved rows that become copies of a row of the cell entered; the others take
            on that cell's values in the table's columns alone, unless that would be impossible.
        rng: Source of randomness.
    """
    cells = _cells(domain, codes, clique)
    counts = np.bincount(cells, minlength=wanted.size)
    move = moves(counts, wanted, alpha, rng)
    shuffled = rng.permutation(len(codes))
    by_cell = shuffled[np.argsort(cells[shuffled], kind="stable")]
    first = np.cumsum(counts) - counts
    leaving = rng.permutation(by_cell[_places(first, move.removed)])

    copies = np.minimum(_whole(copied * move.added, rng), counts)
    sources = codes[by_cell[_places(first, copies)]]
    values = np.unravel_index(np.repeat(np.arange(wanted.size), move.added - copies), domain.sizes(clique))
    changed = codes[leaving[len(sources) :]]
    for name, value in zip(clique, values, strict=True):
        changed[:, domain.position(name)] = value
    possible = ~impossible_rows(domain, changed)
    codes[leaving[: len(sources)]] = sources
    codes[leaving[len(sources) :][possible]] = changed[possible]


def _cells(domain: Domain, codes: Codes, clique: Clique) -> NDArray[np.unsignedinteger]:
    """Return the index of each row's cell in the flattened table over `clique`, shape (rows,).

    It has the narrowest integer type, which sorts several times as fast.
    """
    columns = tuple(codes[:, domain.position(name)] for name in clique)
    cells = np.ravel_multi_index(columns, domain.sizes(clique))
    return cells.astype(np.min_scalar_type(domain.cells(clique)))


def _counts(domain: Domain, codes: Codes, clique: Clique) -> Whole:
    return np.bincount(_cells(domain, codes, clique), minlength=domain.cells(clique))


def _places(first: Whole, taken: Whole) -> Whole:
    """Return the first `taken[c]` positions of each cell c, whose consecutive positions begin at `first[c]`."""
    begin = np.cumsum(taken) - taken
    return np.repeat(first - begin, taken) + np.arange(taken.sum())


def _whole(amounts: NDArray[np.floating[Any]], rng: np.random.Generator) -> Whole:
    """Round amounts down or up at random, each with the amount as expectation."""
    return np.floor(amounts + rng.random(amounts.shape)).astype(np.int64)


def _at_most(amounts: Whole, total: int, rng: np.random.Generator) -> Whole:
    single = np.repeat(np.arange(amounts.size), amounts)
    if len(single) == total:
        return amounts
    return np.bincount(rng.permutation(single)[:total], minlength=amounts.size)


def consistent(domain: Domain, measurements: Sequence[Measurement], total: float) -> dict[Clique, Float]:
    """Return a consistent table of counts for each measured clique (Qardaji, Yang, Li 2014, "PriView").

    The tables have no negative cell, add up to `total` each, are 0 in impossible cells, and nearly
    agree on shared columns. Smaller sets of shared columns come first, so that a step leaves
    earlier agreements intact.

    Args:
        domain: The domain.
        measurements: The noisy tables, in records; several of one clique are averaged.
        total: Number of rows, above 0.
    """
    tables, precisions = _combined(measurements)
    overlaps = shared_columns(tuple(tables))
    for _ in range(_REPETITIONS):
        for shared in overlaps:
            agree(tables, precisions, shared)
        tables = {clique: without_negatives(table, domain.impossible_cells(clique), total) for clique, table in tables.items()}
    return tables


def _combined(measurements: Sequence[Measurement]) -> tuple[dict[Clique, Float], dict[Clique, float]]:
    """Return the tables and their precisions by clique: the minimum-variance mean of repeated measurements.

    A precision is the inverse variance of the noise in a cell of the mean.
    """
    sums: dict[Clique, Float] = {}
    precisions: dict[Clique, float] = {}
    for m in measurements:
        precision = 1 / m.deviation**2
        sums[m.clique] = sums.get(m.clique, 0.0) + precision * m.values
        precisions[m.clique] = precisions.get(m.clique, 0.0) + precision
    return {clique: sums[clique] / precisions[clique] for clique in sums}, precisions


def shared_columns(cliques: Collection[Clique]) -> list[Clique]:
    """Return the nonempty intersections of any two cliques, without repetitions, smaller ones first; [] without any."""
    overlaps = {tuple(name for name in a if name in b) for a, b in combinations(cliques, 2)} - {()}
    return sorted(overlaps, key=lambda shared: (len(shared), shared))


def agree(tables: dict[Clique, Float], precisions: dict[Clique, float], shared: Clique) -> None:
    """Make all tables that contain the columns `shared` agree on their marginal over these; changes `tables`.

    The common marginal is the minimum-variance mean. Each table's difference from it is spread
    evenly over the cells that are summed.

    Args:
        tables: Noisy tables by clique.
        precisions: Inverse variance of the noise in a cell, by clique.
        shared: The shared columns.
    """
    containing = [clique for clique in tables if set(shared) <= set(clique)]
    sums = {clique: project(tables[clique], clique, shared) for clique in containing}
    weights = {clique: precisions[clique] * sums[clique].size / tables[clique].size for clique in containing}
    mean = sum(weights[clique] * sums[clique] for clique in containing) / sum(weights.values())
    for clique in containing:
        added_up = tables[clique].size / sums[clique].size
        tables[clique] = tables[clique] + expand(np.asarray(mean - sums[clique]) / added_up, shared, clique)


def without_negatives(table: Float, impossible: NDArray[np.bool_] | None, total: float) -> Float:
    """Return the nearest table without negative cells: max(cell - t, 0) with the t that gives the sum `total`.

    The table has the same shape and is not changed itself.

    Args:
        table: The table; at least one cell is possible.
        impossible: True in the cells that become 0; None for no such cells.
        total: The sum of the result, above 0.
    """
    possible = np.ones(table.shape, dtype=bool) if impossible is None else ~impossible
    cells = table[possible]
    falling = np.sort(cells)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    kept = int(np.flatnonzero(falling > lowered)[-1])
    answer = np.zeros(table.shape)
    answer[possible] = np.maximum(cells - lowered[kept], 0.0)
    return answer
