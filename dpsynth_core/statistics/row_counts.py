"""Counts of many marginals of synthetic rows: single columns and pairs from one product of matrices where that is cheaper.

A table of 300 columns has 44,850 pairs. With the rows one-hot encoded in a matrix X, the product X^T X holds the counts of all pairs.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import Repeated, row_marginals

MANY = 1_000
"""Number of marginals from which the product is considered; fewer are counted in milliseconds."""
MOST_VALUES = 3_000
"""Largest number of values of all columns together, so that the product takes 72 MB."""
_WORTH = 2e6
"""Multiplications that take as long as one marginal takes otherwise, about 30 microseconds."""
_CHUNK = 2**12
"""Number of rows that are multiplied at once. Single precision counts it exactly."""


def row_counts(domain: Domain, codes: NDArray[np.integer] | Repeated, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
    """Return many marginals of synthetic rows as exact counts by clique, int64, the same as `rows.row_marginals`.

    The arrays may be parts of one larger array, so the caller must not change them.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain); repetitions are counted.
        cliques: The marginals, in domain order.
    """
    if isinstance(codes, Repeated) or not is_product_cheaper(domain, len(codes), cliques):
        return row_marginals(domain, codes, cliques)
    sizes = domain.sizes(domain.names)
    ends = np.cumsum(sizes, dtype=np.intp)
    together = _product(codes, ends - np.array(sizes, dtype=np.intp), int(ends[-1]))
    place = {name: slice(end - size, end) for name, end, size in zip(domain.names, ends.tolist(), sizes, strict=True)}
    tables = {clique: together[place[clique[0]], place[clique[-1]]] for clique in cliques}
    return {clique: table if len(clique) == 2 else table.diagonal() for clique, table in tables.items()}


def is_product_cheaper(domain: Domain, rows: int, cliques: Collection[Clique]) -> bool:
    """Return whether one product of matrices counts these marginals in less time than blocks of columns (`tally.Tally`) do.

    It is never so for fewer than 1,000 marginals, for more than 3,000 values of all columns together, or if a marginal
    has no column or more than two.

    Args:
        domain: The domain.
        rows: Number of rows.
        cliques: The marginals.
    """
    values = sum(domain.sizes(domain.names))
    few_columns = len(cliques) >= MANY and {1, 2}.issuperset(map(len, cliques))
    return few_columns and values <= MOST_VALUES and rows * values**2 <= _WORTH * len(cliques)


def _product(codes: NDArray[np.integer], begins: NDArray[np.integer], values: int) -> NDArray[np.int64]:
    """Return the number of rows that have both values, for all pairs of values of all columns, shape (values, values).

    Args:
        codes: Codes of the rows, shape (rows, columns).
        begins: Index of the first value of each column among all values, shape (columns,).
        values: Number of values of all columns.
    """
    together = np.zeros((values, values))
    for start in range(0, len(codes), _CHUNK):
        having = codes[start : start + _CHUNK] + begins
        present = np.zeros((len(having), values), dtype=np.float32)
        np.put_along_axis(present, having, 1.0, axis=1)
        together += present.T @ present
    return together.astype(np.int64)
