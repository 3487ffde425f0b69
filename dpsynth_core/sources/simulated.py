"""A simulated stand-in for a private table: rows of codes over any declared domain, from a seed. It is public.

It shares with the private table only what was declared: the columns, their cells and the combinations that cannot occur. The frequencies
of values and the dependence between columns are invented. So it answers how a mechanism behaves on tables of this shape and size, under
an assumed strength of dependence, not how the private table looks.

Every column has a hidden score, standard normal, that follows up to three earlier columns' scores with a correlation of `strength`; the
score's quantile picks the cell (a Gaussian copula). The values of a column without an order are shuffled, so that their dependence is
not monotone. Where cells are impossible, a value is picked among the ones that the columns drawn before leave possible.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.sources.standins import check
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.zeros import Cells, eliminated

FOLLOWED = 3
"""A column follows so many earlier ones at most."""
SKEW = 0.8
"""Shares of unordered values fall like rank^-SKEW, unless another skew is asked for."""
RARE = 0.02
"""Share of the missing values, and of those that are not listed, where a column has such a cell."""

_BLOCK_CELLS = 4_000_000

Float = NDArray[np.float64]


def simulate(domain: Domain, rows: int, strength: float, seed: int = 0, skew: float = SKEW) -> NDArray[np.int32]:
    """Return simulated rows of codes, shape (rows, columns of the domain).

    The same arguments give the same table.

    Args:
        domain: The domain.
        rows: The number of rows, from 1 to 1,000,000.
        strength: The correlation, from 0 to 1, of a column's hidden score with the scores of
            earlier columns: 0 for independent columns, 1 for columns that are determined by earlier
            columns.
        seed: The seed of the random numbers.
        skew: The exponent of the shares of unordered values, rank^-skew: 0 for values that are
            equally common.

    Raises:
        InputError: The number of rows or the strength is out of range.
    """
    from scipy.special import ndtr

    check(rows, strength)
    rng = np.random.default_rng(seed)
    shares = {attribute.name: _shares(attribute, skew, rng) for attribute in domain}
    return at_quantiles(domain, shares, ndtr(_scores(len(domain), rows, strength, rng)))


def at_quantiles(domain: Domain, shares: Mapping[str, Float], quantiles: Float) -> NDArray[np.int32]:
    """Return rows of codes, int32 of shape (rows, columns of the domain), that no rule of the domain excludes.

    A quantile picks the cell of its column by the cumulated shares of the cells. Cells that a rule excludes, together
    with the cells that the row has in other columns already, are left out of this choice. No randomness is used.

    Args:
        domain: The domain.
        shares: The share of each cell, by column, adding up to 1.
        quantiles: From 0 to 1, shape (rows, columns of the domain).
    """
    tied = list(eliminated(domain.zeros, {attribute.name: attribute.size for attribute in domain}))
    possible = {name: (columns, table) for name, columns, table in tied}
    order = [name for name, _, _ in reversed(tied)] + [name for name in domain.names if name not in possible]
    codes: dict[str, NDArray[np.int32]] = {}
    for name in order:
        quantile = quantiles[:, domain.position(name)]
        codes[name] = _among(shares[name], quantile, name, *possible[name], codes) if name in possible else _pick(shares[name], quantile)
    return np.column_stack([codes[name] for name in domain.names])


def _shares(attribute: Attribute, skew: float, rng: np.random.Generator) -> Float:
    """Return the share of each cell of a column; all are positive and they add up to 1.

    Ordered values have one hump, and values without an order fall by rank, in random order. Cells
    for missing and other values have `RARE`.
    """
    values, extra = attribute.values, attribute.size - attribute.values
    if not attribute.is_coded and attribute.about.ordered:
        middle, place = rng.uniform(0.25, 0.75), (np.arange(values) + 0.5) / values
        weights = 0.05 + np.exp(-(((place - middle) / 0.25) ** 2) / 2)
    else:
        weights = np.asarray((1.0 + rng.permutation(values)) ** -skew, dtype=np.float64)
    return np.concatenate([(1 - RARE * extra) * weights / weights.sum(), np.full(extra, RARE)])


def _scores(columns: int, rows: int, strength: float, rng: np.random.Generator) -> Float:
    """Return one hidden score for each row and column, standard normal, shape (rows, columns).

    Each column's score has correlation `strength` with a random mixture of up to `FOLLOWED` earlier
    columns' scores.
    """
    scores = rng.standard_normal((rows, columns))
    correlation = np.eye(columns)
    for column in range(1, columns):
        followed = rng.choice(column, size=min(column, FOLLOWED), replace=False)
        weights = rng.choice([-1.0, 1.0], len(followed)) * rng.uniform(0.3, 1.0, len(followed))
        mixture = np.zeros(columns)
        mixture[followed] = weights / np.sqrt(weights @ correlation[np.ix_(followed, followed)] @ weights)
        scores[:, column] = strength * (scores @ mixture) + np.sqrt(1 - strength**2) * scores[:, column]
        correlation[column, :column] = correlation[:column, column] = (strength * (correlation @ mixture))[:column]
    return scores


def _pick(shares: Float, quantile: Float) -> NDArray[np.int32]:
    """Return the cell whose interval of cumulated shares contains each quantile, shape (rows,)."""
    return np.minimum(np.searchsorted(np.cumsum(shares), quantile, side="right"), len(shares) - 1).astype(np.int32)


def _among(
    shares: Float, quantile: Float, name: str, columns: tuple[str, ...], possible: Cells, codes: dict[str, NDArray[np.int32]]
) -> NDArray[np.int32]:
    """Return a possible cell of column `name` for each row, shape (rows,).

    A row's quantile picks the cell among those that are possible together with the row's cells in
    the other `columns`.

    Args:
        shares: The share of each cell of `name`.
        quantile: The quantile of each row, shape (rows,).
        name: The column to draw.
        columns: The columns of `possible`, in the order of its axes; `name` is one of these.
        possible: True for each combination of cells that can occur.
        codes: The cells drawn so far, by column.
    """
    table = np.moveaxis(possible, columns.index(name), -1)
    beside = [codes[other] for other in columns if other != name]
    picks = np.empty(len(quantile), dtype=np.int32)
    block = max(1, _BLOCK_CELLS // len(shares))
    for start in range(0, len(quantile), block):
        rows = slice(start, start + block)
        weights = np.atleast_2d(table[tuple(column[rows] for column in beside)]) * shares
        reached = np.cumsum(weights, axis=1)
        picked = (quantile[rows, None] * reached[:, -1:] >= reached).sum(axis=1)
        last = len(shares) - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)
        picks[rows] = np.minimum(picked, last)
    return picks
