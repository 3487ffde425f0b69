"""Counts of a table of codes in memory, shape (rows, attributes of the domain)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.blocks import BLOCK_CELLS
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.tally import Tally

if TYPE_CHECKING:
    from dpsynth_core.vocabulary.predictors import Predictor

_LEAST_CELLS = 2**10
"""Smallest number of cells of a block in which rows are counted, unless there are more rows."""


def narrow(sizes: Collection[int]) -> np.dtype[np.unsignedinteger]:
    """Return the narrowest unsigned type for codes of columns with these sizes, which also holds the largest size itself."""
    return np.min_scalar_type(max(sizes, default=0))


@dataclass(frozen=True, eq=False)
class Repeated:
    """Rows with repetitions; `len` counts repetitions.

    Attributes:
        codes: Codes of distinct rows, shape (n, attributes of the domain).
        times: How often each row occurs, shape (n,), 1 or more.
    """

    codes: NDArray[np.integer]
    times: NDArray[np.integer]

    def __len__(self) -> int:
        return int(self.times.sum(dtype=np.int64))

    def columns(self) -> NDArray[np.integer]:
        """Return the codes with `times` as a further, last column, shape (n, attributes + 1)."""
        return np.column_stack([self.codes, self.times])


def one_table(codes: NDArray[np.integer] | Repeated | None) -> NDArray[np.integer] | None:
    """Return the codes of rows of one table (or None) unchanged; refuse the rows of two linked tables (`Repeated`).

    Raises:
        TypeError: The rows are of two linked tables.
    """
    if isinstance(codes, Repeated):
        raise TypeError("two linked tables are not a table of rows")
    return codes


def row_marginals(domain: Domain, codes: NDArray[np.integer] | Repeated, cliques: Collection[Clique]) -> dict[Clique, NDArray[np.int64]]:
    """Return many marginals of some rows as exact counts, by clique, int64 of each marginal's shape.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain); repetitions are counted.
        cliques: The marginals, in domain order.
    """
    if isinstance(codes, Repeated):
        parts = [(times, row_marginals(domain, codes.codes[codes.times == times], cliques)) for times in np.unique(codes.times)]
        return {r: np.asarray(sum(times * counts[r] for times, counts in parts) + np.zeros(domain.sizes(r), np.int64)) for r in cliques}
    most = 2 ** (len(codes) // 8).bit_length() - 1  # larger tables take longer to sum than rows do
    tally = Tally(domain, cliques, min(BLOCK_CELLS, max(_LEAST_CELLS, most)))
    tally.add({name: codes[:, domain.position(name)] for name in tally.columns}, len(codes))
    return tally.counts()


def right_counts(domain: Domain, codes: NDArray[np.int32], predictors: Sequence[Predictor]) -> NDArray[np.int64]:
    """Return the number of rows that each predictor is right about, shape (predictors,).

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        predictors: The predictors.
    """
    from dpsynth_core.vocabulary.predictors import RightCounts  # loaded where models are asked for

    counts = RightCounts(domain, predictors)
    counts.add({name: codes[:, domain.position(name)] for name in counts.columns}, len(codes))
    return counts.numbers
