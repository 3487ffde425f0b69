"""A random sample of the records that count, as codes, in memory that does not grow with their number."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.predictors import Codes

_SEED = 0
"""The seed is fixed, because the choice of the sampled records protects no person."""


class SampledSource(MarginalSource, Protocol):
    """A source whose records can be sampled, for display to the curator only."""

    def sample(self, most: int) -> NDArray[np.int32]:
        """Return a uniform random sample of at most `most` records, in random order; private, for the curator only.

        The records are codes, int32 of shape (records, attributes of the domain); all records if there are no more than `most`.
        """


class Sample:
    """A uniform random sample of the records that are added, in bounded memory.

    Each record gets a random number, and the records with the smallest numbers are kept. The seed is fixed, so the
    same records in the same order give the same sample. It has the methods of a counter (`records.Batches`).

    Attributes:
        records: The sampled records, codes of shape (records, columns of the domain), in random
            order.
    """

    nbytes = 0

    def __init__(self, domain: Domain, most: int) -> None:
        self.domain, self.columns, self._most = domain, domain.names, most
        self.records = np.zeros((0, len(domain)), dtype=np.int32)
        self._numbers, self._rng = np.zeros(0), np.random.default_rng(_SEED)

    def add(self, codes: Codes, rows: int) -> None:
        """Add a batch of `rows` records, given by the codes of every column, and keep a sample of all records added so far."""
        numbers = np.concatenate([self._numbers, self._rng.random(rows)])
        whole = np.concatenate([self.records, np.column_stack([codes[name] for name in self.columns]).astype(np.int32)])
        kept = np.argsort(numbers)[: self._most]
        self.records, self._numbers = whole[kept], numbers[kept]
