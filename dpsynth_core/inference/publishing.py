"""Rows that agree with the domain: with published tables, towards which values are changed, and with impossible combinations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.published import AGREE, PublishedTable
from dpsynth_core.vocabulary.released import of_codes

Codes = NDArray[np.integer]

TRIES = 20
"""Number of redraws of rows that must not have the value that is missing elsewhere."""


def matched_to_published(domain: Domain, codes: Codes, rng: np.random.Generator) -> Codes:
    """Return rows that match the published tables up to rounding, with as few changed values as needed.

    The table with the most columns comes first. Each further table changes only columns that no
    earlier one has, within the cells of the columns that they share. No row is moved into a
    structural zero, so that a table may stay unmatched where rules forbid the change. Without published tables the
    rows themselves are returned, else a copy.

    Args:
        domain: The domain with its published tables.
        codes: The rows, shape (n, attributes).
        rng: Source of randomness.
    """
    fixed = set[str]()
    codes = codes.copy() if domain.published else codes
    for table in _in_order(domain):
        if free := [name for name in table.columns if name not in fixed]:
            _match(domain, codes, table, free, rng)
            fixed.update(free)
    return codes


def _in_order(domain: Domain) -> list[PublishedTable]:
    return sorted(domain.published, key=lambda table: -len(table.columns))


def _match(domain: Domain, codes: Codes, table: PublishedTable, free: list[str], rng: np.random.Generator) -> None:
    """Change the `free` columns of rows, in place, until they match one published table.

    Its other columns stay, so that the table's shares hold within each cell of these.
    """
    held = [name for name in table.columns if name not in free]
    order = [table.columns.index(name) for name in (*held, *free)]
    sizes, places = domain.sizes((*held, *free)), [domain.position(name) for name in (*held, *free)]
    many = math.prod(sizes[len(held) :])
    shares = table.shares.transpose(order).reshape(-1, many)
    cells = np.ravel_multi_index(tuple(codes[:, place].astype(np.intp) for place in places), sizes)
    counts = np.bincount(cells, minlength=shares.size).reshape(shares.shape)
    targets = _rounded(shares, counts)
    for _ in range(TRIES):
        surplus = (counts - targets).reshape(-1)
        among = np.flatnonzero(surplus[cells] > 0)
        if not len(among):
            return
        among = among[np.lexsort((rng.random(len(among)), cells[among]))]
        first = np.searchsorted(cells[among], cells[among])
        leaving = among[np.arange(len(among)) - first < surplus[cells[among]]]
        leaving = leaving[np.lexsort((rng.random(len(leaving)), cells[leaving] // many))]
        entered = np.repeat(np.arange(shares.size), np.maximum(-surplus, 0))  # as many within each cell of the columns that stay
        changed = codes[leaving]
        changed[:, places[len(held) :]] = np.stack(np.unravel_index(entered % many, sizes[len(held) :]), axis=1)
        good = ~impossible_rows(domain, changed)
        codes[leaving[good]], cells[leaving[good]] = changed[good], entered[good]
        counts = np.bincount(cells, minlength=shares.size).reshape(shares.shape)


def _rounded(shares: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the shares scaled to the row sums of `counts`, rounded by largest remainders.

    Rounding keeps each row sum.

    Args:
        shares: Shares of a published table, shape (cells of the columns that stay, cells of the
            free ones).
        counts: Present numbers of rows, of that shape.

    Returns:
        Wanted numbers of rows, of that shape; where all shares of a row are 0, its present counts.
    """
    of_row, people = shares.sum(axis=1, keepdims=True), counts.sum(axis=1, keepdims=True)
    wanted = np.divide(shares * people, of_row, where=of_row > 0, out=counts.astype(np.float64))
    whole = np.floor(wanted)
    rank = np.argsort(np.argsort(whole - wanted, axis=1, kind="stable"), axis=1, kind="stable")
    return (whole + (rank < people - whole.sum(axis=1, keepdims=True))).astype(np.int64)


def impossible_rows(domain: Domain, codes: Codes) -> NDArray[np.bool_]:
    """Return whether each row lies in a structural zero, a mask of shape (rows,).

    Args:
        domain: The domain.
        codes: The rows, shape (rows, attributes).
    """
    wrong = np.zeros(len(codes), dtype=bool)
    for clique, zeros in domain.zeros.items():
        wrong |= zeros[tuple(codes[:, a] for a in map(domain.position, clique))]
    return wrong


def most_off(domain: Domain, rows: int) -> list[float]:
    """Return, for each published table, an upper bound on the error of a cell after `matched_to_published`, in rows.

    The tables are in the domain's order; [] without any. Tables with more columns are matched first. The bound is 1, for
    rounding, if the table shares no column with an earlier one. If one earlier table has all shared columns, two parts are
    added to 1: its own bound times the number of its cells for each cell of the shared columns, and the difference that is
    allowed between the two tables. The bound is infinite if the shared columns lie in several tables, or if the domain has
    impossible combinations: then a cell is only as close as the model is.

    Args:
        domain: The domain with its published tables.
        rows: Number of rows.
    """
    limits, fixed = dict[PublishedTable, float](), set[str]()
    for table in _in_order(domain):
        shared = fixed.intersection(table.columns)
        before = [one for one in limits if shared.issubset(one.columns)]
        limits[table] = math.inf if domain.zeros or (shared and not before) else 1.0
        if shared and before:
            rounded = [limits[one] * one.shares.size / math.prod(domain.sizes(tuple(shared))) for one in before]
            limits[table] += min(rounded) + AGREE * rows
        fixed.update(table.columns)
    return [limits[table] for table in domain.published]


def rows_off(domain: Domain, codes: Codes) -> list[float]:
    """Return, for each published table in the domain's order, the largest error of a cell in the rows, as a number of rows.

    An error below 1 is rounding alone. The result is [] without published tables.

    Args:
        domain: The domain with its published tables.
        codes: The rows, shape (rows, attributes).
    """
    tables = ((of_codes(domain, codes, one.columns), len(codes) * one.shares) for one in domain.published)
    return [round(float(np.abs(counts - wanted).max()), 6) for counts, wanted in tables]
