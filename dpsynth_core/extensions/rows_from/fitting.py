"""Rows that agree with protected tables as well as one graphical model can (Private-PGM). No record is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpsynth_core.extensions.rows_from import tables
from dpsynth_core.extensions.rows_from.order import Order
from dpsynth_core.inference.estimation import estimate
from dpsynth_core.inference.rare_values import ColumnFolding, Folding
from dpsynth_core.inference.rows import in_random_order
from dpsynth_core.mechanisms.graphical.models import CONVERGED
from dpsynth_core.release.rows import Rows
from dpsynth_core.sources.decoding import DrawnRows, as_written
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import MarginalCounts
from dpsynth_core.vocabulary.rows import row_marginals


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows from protected tables.

    Attributes:
        rows: The rows.
        differences: For each table, the share of the rows that must move to another cell to have its known shares.
    """

    rows: Rows
    differences: tuple[float, ...]


def drawn(order: Order) -> Drawn:
    """Return the rows of an order; the same order gives the same rows.

    The fit takes each table as shares of the number of people. A suppressed count has an infinite
    variance, so that the other counts determine its cell, and nothing does beyond that. A column in
    no table is even over its values, unless a rule of the domain concerns it.
    """
    domain, rng = order.domain, np.random.default_rng(order.seed)
    wanted = [tables.scaled(one, order.tables, order.people) for one in order.tables]
    known = [
        MarginalCounts(one.columns, np.nan_to_num(one.counts), np.where(np.isnan(one.counts), np.inf, one.deviation**2)) for one in wanted
    ]
    model = estimate(domain, [], order.people, stopping=CONVERGED, folding=_without_empty_cells(order), known=[*known, *_even(order)])
    cliques = [one.columns for one in wanted]
    codes = as_written(order.domain, model.rows(order.rows, dict.fromkeys(cliques, 1.0), rng))
    codes = in_random_order(codes, rng)
    counts = row_marginals(order.domain, codes, cliques)
    off = tuple(tables.difference(one, order.people, counts[one.columns]) for one in wanted)
    return Drawn(DrawnRows(order.domain, codes, rng.bit_generator.state, order.seed), off)


def _without_empty_cells(order: Order) -> Folding:
    """Return a folding without the cells of a column that every table with the column counts as empty, such as missing values.

    A fit alone would leave a few rows there. Of a column in no table these are the cells of missing
    and of unlisted values. Columns that a rule concerns keep all cells, because a rule may need them.
    """
    columns = {}
    for column in _free(order):
        found = np.zeros(column.size, dtype=bool)
        for one in order.tables:
            if column.name in one.columns:
                axes = tuple(axis for axis, name in enumerate(one.columns) if name != column.name)
                found |= np.asarray((one.counts != 0).any(axis=axes))  # nan is not 0
        if column.name in order.untold:
            found[: column.values] = True
        if not found.all():
            columns[column.name] = ColumnFolding(np.where(found, np.cumsum(found) - 1, -1), found.astype(np.float64))
    return Folding(order.domain, columns)


def _even(order: Order) -> list[MarginalCounts]:
    """Return even counts of the values of each column that is in no table and in no rule, with none missing or unlisted."""
    even = []
    for column in (column for column in _free(order) if column.name in order.untold):
        counts = np.zeros(column.size)
        counts[: column.values] = order.people / column.values
        even.append(MarginalCounts((column.name,), counts, np.ones(column.size)))
    return even


def _free(order: Order) -> list[Attribute]:
    """Return the columns that have values and that no rule concerns."""
    ruled = {name for clique in order.domain.zeros for name in clique}
    return [order.domain[name] for name in order.domain.names if name not in ruled and order.domain[name].values]
