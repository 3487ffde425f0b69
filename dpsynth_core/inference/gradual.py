"""Rows that are moved towards noisy tables a little at a time (Zhang et al. 2021, "PrivSyn", GUM, the gradually updating method).

One table after the other: cells with too few rows get some of the rows that they lack, at most a share alpha of what they have (or of what
they lack, if they have none), and cells with too many give up as many rows, each at most the same share beta of what it has. A row that is
given up becomes a copy of a row of a cell that lacks some, which keeps what columns outside of the table say together; or it gets that
cell's values in the table's columns alone, which brings combinations that were not there. Alpha shrinks, so that later tables undo less of
what earlier ones did. Released values only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.model import impossible_rows
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
Codes = NDArray[np.int32]

START, SHRINK, EVERY = 1.0, 0.84, 20
"""alpha begins with START and is multiplied by SHRINK after EVERY passes."""
COPIED = 0.5
"""The share of moved rows that become copies in every second pass; in the others, all do."""
_HALVINGS = 40


@dataclass(frozen=True)
class Move:
    """How many rows each cell of a table gets and gives up: whole numbers, shape (cells,), with the same sum."""

    added: Whole
    removed: Whole


def updated(domain: Domain, codes: Codes, tables: Mapping[Clique, Float], passes: int, rng: np.random.Generator) -> Codes:
    """Rows like `codes`, shape (rows, attributes), closer to `tables`, which are scaled to their number. Possible rows stay possible."""
    codes = codes.copy()
    scaled = {clique: (table * (len(codes) / table.sum())).ravel() for clique, table in tables.items()}
    for number in range(passes):
        errors = {clique: float(np.abs(_counts(domain, codes, clique) - wanted).sum()) for clique, wanted in scaled.items()}
        alpha, copied = START * SHRINK ** (number // EVERY), COPIED if number % 2 == 0 else 1.0
        for clique in sorted(scaled, key=lambda clique: -errors[clique]):
            _update(domain, codes, clique, scaled[clique], alpha, copied, rng)
    return codes


def moves(counts: Whole, wanted: Float, alpha: float, rng: np.random.Generator) -> Move:
    """What one update of a table does. counts, wanted: shape (cells,), with the same sum."""
    lacking = np.maximum(wanted - counts, 0.0)
    added = _whole(np.minimum(lacking, alpha * np.where(counts > 0, counts, lacking)), rng)
    over = np.maximum(counts - wanted, 0.0)
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        beta = (low + high) / 2
        low, high = (low, beta) if np.minimum(over, beta * counts).sum() >= added.sum() else (beta, high)
    removed = np.minimum(_whole(np.minimum(over, high * counts), rng), counts)
    return Move(*_levelled(added, removed, rng))


def _update(domain: Domain, codes: Codes, clique: Clique, wanted: Float, alpha: float, copied: float, rng: np.random.Generator) -> None:
    """One table's turn; changes `codes`."""
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
    """The cell of each row, in numbers as narrow as they can be: they are sorted several times as fast."""
    columns = tuple(codes[:, domain.position(name)] for name in clique)
    cells = np.ravel_multi_index(columns, domain.sizes(clique))
    return cells.astype(np.min_scalar_type(domain.cells(clique)))


def _counts(domain: Domain, codes: Codes, clique: Clique) -> Whole:
    return np.bincount(_cells(domain, codes, clique), minlength=domain.cells(clique))


def _places(first: Whole, taken: Whole) -> Whole:
    """The first `taken` places of each cell's stretch, which begins at `first`."""
    begin = np.cumsum(taken) - taken
    return np.repeat(first - begin, taken) + np.arange(taken.sum())


def _whole(amounts: NDArray[np.floating[Any]], rng: np.random.Generator) -> Whole:
    """Rounded down or up at random, with the amount as expectation."""
    return np.floor(amounts + rng.random(amounts.shape)).astype(np.int64)


def _levelled(added: Whole, removed: Whole, rng: np.random.Generator) -> tuple[Whole, Whole]:
    """Both with the smaller of the two sums: single rows, taken at random, are left out of the other."""
    fewer = min(int(added.sum()), int(removed.sum()))
    return _at_most(added, fewer, rng), _at_most(removed, fewer, rng)


def _at_most(amounts: Whole, total: int, rng: np.random.Generator) -> Whole:
    single = np.repeat(np.arange(amounts.size), amounts)
    if len(single) == total:
        return amounts
    return np.bincount(rng.permutation(single)[:total], minlength=amounts.size)
