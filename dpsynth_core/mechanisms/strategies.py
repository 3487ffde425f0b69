"""HDMM's OPT_M: the marginals to measure, and their precision, for the best average answers to a workload of marginals.

Source: McKenna, Miklau, Hay, Machanavajjhala 2018, "Optimizing error of high-dimensional statistical queries under differential privacy".

A strategy is a set of marginals S, each with a share p_S of rho. One person is in one cell of each table, so the costs add up exactly: the
squared sensitivity of the weighted strategy is the sum of its squared weights, and p_S is such a square as a part of the sum. All products
of identity and all-ones matrices have the same eigenspaces, one for each set q of columns, of dimension d_q = prod over q of (n_i - 1).
There S counts with p_S / n_S if it contains q, and not at all otherwise. So the expected squared error of the least-squares answers to the
workload is, up to a constant,

    f(p) = sum over q of a_q / (sum over S that contain q of p_S / n_S),
    a_q = d_q times the sum of c_r^2 / n_r over the marginals r of the workload that contain q,

which is convex. The multiplicative algorithm of optimal design minimises it, p_S <- p_S sqrt(gradient_S), which never increases f and knows
its distance from the least f: f(p)^2 / max_S gradient_S at least. Public inputs only.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, subsets
from dpsynth_core.vocabulary.workload import Workload

NUMBER_OF_ROWS: Clique = ()
"""The smallest marginal; its eigenspace consists of the constant tables."""
_WIDER = 2
"""A strategy may measure sets of up to this many columns more than the widest table of the workload."""
_MOST_SETS = 5_000
_MOST_CELLS = 1_000_000
_MOST_STEPS = 2000
_CLOSE_ENOUGH = 1e-4
"""The search ends when the expected squared error is proved to be this close to the least."""
_LEFT_OUT = 1e-3
"""Tables of little use are not measured, as long as all of them together would lower the expected squared error by no more than this."""
_WORTH_WIDER = 1.02
"""Tables outside the workload are measured where they lower the expected squared error by this factor at least."""

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Strategy:
    """A strategy: the marginals to measure and the budget of each.

    Attributes:
        shares: Share of rho for each measured marginal, () for the number of rows; they add up to
            1. It is {} if nothing needs to be measured.
        above_least: Expected squared error relative to the least of any strategy (the singular
            value bound, which ResidualPlanner reaches); at least 1.
    """

    shares: Mapping[Clique, float]
    above_least: float


def best(workload: Workload, rows_price: float) -> Strategy:
    """Return the best strategy of OPT_M for a workload, over its marginals, their subsets and wider marginals.

    Wider marginals have up to two columns more than the widest of the workload, and at most 1,000,000 cells.
    If these were more than 5,000 sets, one additional column is tried, and then none. Wider marginals are used
    only if they lower the error by 2 % or more. The result is cached.

    Args:
        workload: The marginals to answer, with their weights.
        rows_price: The rho of measuring the number of rows, divided by the rho of measuring a marginal with
            the same sigma; 0 if the number of rows is public.
    """
    return _best(workload.domain, tuple(workload.weights.items()), rows_price)


def within(workload: Workload, rows_price: float) -> Strategy:
    """Return the best strategy of OPT_M that measures only the workload's marginals and their subsets.

    Args:
        workload: The marginals to answer, with their weights.
        rows_price: The rho of measuring the number of rows, divided by the rho of measuring a marginal with
            the same sigma; 0 if the number of rows is public, so that it is not measured.
    """
    return least_squared_error(workload, workload.closure(), rows_price)


@lru_cache(maxsize=8)
def _best(domain: Domain, weights: tuple[tuple[Clique, float], ...], rows_price: float) -> Strategy:
    """Return the better of the strategies without and with wider marginals.

    The result is cached: triples of 15 columns take a second, and a page asks at every click.
    """
    workload = Workload(domain, dict(weights))
    own, wider = within(workload, rows_price), _wider_tables(workload)
    wide = least_squared_error(workload, wider, rows_price) if wider else own
    return wide if wide.above_least * _WORTH_WIDER < own.above_least else own


def _wider_tables(workload: Workload) -> list[Clique]:
    """Return the workload's closure, and sets of up to two columns more than its widest marginal.

    Wider tables pay for columns of few values: three pairs of two-valued columns have 12 cells,
    their common table has 8. The result is empty if there would be too many sets; sets with too
    many cells are left out.
    """
    columns = [name for name in workload.domain.names if any(name in clique for clique in workload.cliques)]
    widest = max(map(len, workload.cliques))
    for width in range(min(widest + _WIDER, len(columns)), widest, -1):
        if sum(math.comb(len(columns), size) for size in range(1, width + 1)) <= _MOST_SETS:
            wider = [clique for clique in subsets(columns, 1, width) if workload.domain.cells(clique) <= _MOST_CELLS]
            return list(dict.fromkeys([*workload.closure(), *wider]))
    return []


def least_squared_error(workload: Workload, tables: Collection[Clique], rows_price: float) -> Strategy:
    """Return the strategy whose shares of rho give the workload's marginals the least expected weighted squared error.

    The error is the sum of c_r^2 times the expected squared error of a cell, over the cells of all
    marginals r. c_r is the weight of r. The result exceeds the least error that these tables allow by about
    0.1 % at most: tables of little use get no share.

    Args:
        workload: The marginals to answer, with their weights.
        tables: The marginals that may be measured. They must contain every marginal of the workload, whole
            or inside a larger one; this is not checked.
        rows_price: The rho of measuring the number of rows, divided by the rho of measuring a marginal
            with the same sigma. 0 if the number of rows is public; it is then not measured.

    Returns:
        The strategy; with no shares if the columns have one value each and the number of rows is public.
    """
    domain = workload.domain
    secret = [NUMBER_OF_ROWS] if rows_price else []
    spaces = [*secret, *(part for part in workload.closure() if _wide(domain, part) == part)]
    if not spaces:
        return Strategy({}, 1.0)  # columns of one value each, and a public number of rows
    candidates = [*secret, *(clique for clique in tables if _wide(domain, clique) or rows_price)]
    dimensions = np.array([math.prod(size - 1 for size in domain.sizes(part)) for part in spaces], dtype=float)
    pulls = _pulls(workload, spaces)
    design = _design(domain, spaces, candidates, rows_price)
    shares, squared = _pruned(design, dimensions * pulls, _optimal(design, dimensions * pulls))
    # with lambda_q the precisions, the sum of price_q lambda_q cannot exceed 1, and sum of d_q b_q / lambda_q is least for this:
    prices = np.array([dimension if part else rows_price for part, dimension in zip(spaces, dimensions, strict=True)])
    least = float(np.sqrt(dimensions * pulls * prices).sum()) ** 2
    kept = {clique: float(share) for clique, share in zip(candidates, shares, strict=True) if share > 0}
    return Strategy(kept, max(1.0, squared / least))


def _wide(domain: Domain, clique: Clique) -> Clique:
    """Return the clique without columns of a single value, which carry no information."""
    return tuple(name for name in clique if domain[name].size > 1)


def _pulls(workload: Workload, spaces: Sequence[Clique]) -> Float:
    """Return, for each set q in `spaces`, a_q / d_q: the sum of c_r^2 / n_r over marginals r that contain q."""
    domain, place = workload.domain, {part: k for k, part in enumerate(spaces)}
    pulls = np.zeros(len(spaces))
    for clique, weight in workload.weights.items():
        for part in subsets(_wide(domain, clique), most=len(clique)):
            if part in place:
                pulls[place[part]] += weight**2 / domain.cells(clique)
    return pulls


def _design(domain: Domain, spaces: Sequence[Clique], candidates: Sequence[Clique], rows_price: float) -> scipy.sparse.csr_array:
    """Return the precision in each coordinate of space q that a share of 1 for marginal S gives: 1 / n_S or 0.

    Args:
        domain: The domain.
        spaces: The sets q of columns.
        candidates: The marginals S that may be measured.
        rows_price: Cost of the number of rows, as in `least_squared_error`.

    Returns:
        Shape (spaces, candidates).
    """
    place, widest = {part: k for k, part in enumerate(spaces)}, max(map(len, spaces))
    entries = [
        (place[part], column, 1 / domain.cells(clique) if clique else 1 / rows_price)
        for column, clique in enumerate(candidates)
        for part in subsets(_wide(domain, clique), most=widest)
        if part in place
    ]
    rows, columns, values = zip(*entries, strict=True)
    return scipy.sparse.csr_array((values, (rows, columns)), shape=(len(spaces), len(candidates)))


def _optimal(design: scipy.sparse.csr_array, importance: Float) -> Float:
    """Return the shares of the budget for the least sum of importance / precision, up to the part `_CLOSE_ENOUGH`.

    Args:
        design: Precision of each space per share of each candidate, shape (spaces, candidates).
        importance: Factor a_q of each space, shape (spaces,).
    """
    shares = np.full(design.shape[1], 1 / design.shape[1])
    transposed = design.T.tocsr()
    for _ in range(_MOST_STEPS):
        precision = design @ shares
        gradient = transposed @ (importance / precision**2)
        squared, steepest = float((importance / precision).sum()), float(gradient.max())
        if squared >= (1 - _CLOSE_ENOUGH) * steepest:
            break
        shares = shares * np.sqrt(gradient / steepest)
        shares /= shares.sum()
    return shares


def _pruned(design: scipy.sparse.csr_array, importance: Float, shares: Float) -> tuple[Float, float]:
    """Return the shares without as many of the smallest ones as `_LEFT_OUT` allows, and the expected squared error.

    Args:
        design: Precision of each space per share of each candidate, shape (spaces, candidates).
        importance: Factor a_q of each space, shape (spaces,).
        shares: The shares of the candidates.
    """
    order = np.argsort(shares, kind="stable")

    def without(count: int) -> tuple[Float, float]:
        kept = shares.copy()
        kept[order[:count]] = 0.0
        kept /= kept.sum()
        precision = design @ kept
        return kept, float((importance / precision).sum()) if precision.min() > 0 else math.inf

    _, whole = without(0)
    few, many = 0, len(shares)  # `few` can be left out, `many` cannot
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (middle, many) if without(middle)[1] <= whole * (1 + _LEFT_OUT) else (few, middle)
    return without(few)
