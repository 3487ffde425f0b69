"""The relaxed table as a model: it answers any marginal itself, and writes rows by randomised rounding. Knows released values only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.inference.relaxed.onehot import Columns, OneHot, marginal
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.foundation import threads
from dpsynth_core.inference import rows
from dpsynth_core.inference.model import refined, structure_of
from dpsynth_core.inference.publishing import impossible_rows
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.measurement import Clique

ATTEMPTS = 20
"""Number of times impossible rows are drawn again before the slower draw from the possible ones."""
LEAST = 1e-6
"""Probability of a value in the last draw if its relaxed row gives it none, since no other value may be possible."""

Conditional = NDArray[np.float64]
"""Probabilities of an attribute's values, shape (relaxed rows, values)."""


@dataclass(frozen=True, eq=False)
class RelaxedTable:
    """A relaxed table as a model.

    Attributes:
        domain: The domain.
        columns: Distributions, shape (columns of the one-hot space, relaxed rows).
        total: Number of people that all relaxed rows together stand for.
    """

    domain: Domain
    columns: Columns
    total: float

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the marginal of a clique in counts of people, shape domain.sizes(clique).

        Raises:
            InputError: A name is not in the domain.
        """
        return self._fractions(clique) * self.total

    def answers(self, queries: QueryClass) -> SparseAnswers:
        """Return the answer to every query of a class in counts, rounded to whole people, for a selection.

        A fraction of a person is far below any selection's noise, and whole numbers leave few
        different scores. Queries whose answer is rounded to 0 are not listed. One marginal at a time is in memory.
        """
        numbers, values = [], []
        for clique in queries.cliques:
            fractions = at_least(self._fractions(clique), queries.threshold or len(clique))
            counts = np.rint(fractions.reshape(-1) * self.total)
            nonzero = np.flatnonzero(counts)
            numbers.append(nonzero + queries.block(clique).start)
            values.append(counts[nonzero])
        return SparseAnswers(np.concatenate(numbers), np.concatenate(values))

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Draw n rows at random, as codes of shape (n, attributes).

        Rows are rounded, then single values are changed to bring them closer to this table's own answers.

        Args:
            n: Number of rows.
            marginals: The marginals that the rows should answer, each with its weight c_r.
            rng: Source of randomness.
        """
        with threads.one_thread():  # answers in float32 are rounded by how many there are, and a repeated release has one
            return refined(self.domain, self._fractions, rounded(self.domain, self.columns, n, rng), marginals, rng)

    def _fractions(self, clique: Clique) -> NDArray[np.float64]:
        flat = marginal(self.columns, OneHot(self.domain).blocks(clique))
        return flat.astype(np.float64).reshape(self.domain.sizes(clique))


def rounded(domain: Domain, table: Columns, n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Return codes of n possible rows in random order, int32 of shape (n, attributes).

    Each relaxed row gives n / (relaxed rows) copies, rounded down or up at random. Among its copies
    each value comes up as often as expected, also rounded down or up at random. The values of
    different attributes are combined at random. So every query keeps its expectation (paper,
    section 4), with less spread than independent draws would have.

    Impossible rows are drawn again from their relaxed rows, which changes expectations. Those left
    after 20 tries (`ATTEMPTS`) are drawn from the possible rows, where every value has a weight of at
    least 1e-6 (`LEAST`).

    Args:
        domain: The domain.
        table: The relaxed rows, shape (columns of the one-hot space, relaxed rows).
        n: Number of rows.
        rng: Source of randomness.
    """
    relaxed = table.shape[1]
    origin = np.sort(np.concatenate([np.repeat(np.arange(relaxed), n // relaxed), rng.permutation(relaxed)[: n % relaxed]]))
    shares = [table[OneHot(domain).block(i)].T for i in range(len(domain))]
    distributions = [np.asarray(values / values.sum(axis=1, keepdims=True, dtype=np.float64)) for values in shares]
    codes = np.stack([rows.share_out(values, origin, rng) for values in distributions], axis=1)
    for _ in range(ATTEMPTS):
        again = np.flatnonzero(impossible_rows(domain, codes))
        if not len(again):
            return rng.permutation(codes)
        each = np.arange(len(again))
        codes[again] = np.stack([rows.share_out(values[origin[again]], each, rng) for values in distributions], axis=1)
    return rng.permutation(_forced(domain, distributions, codes, origin, rng))


def _forced(
    domain: Domain, distributions: list[Conditional], codes: NDArray[np.int32], origin: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Draw the rows that are still impossible once more, among possible values only.

    Rows are drawn from the distributions of their relaxed row, along a junction tree of the
    structural zeros.

    Args:
        domain: The domain.
        distributions: For each attribute, the probabilities of its values, shape (relaxed rows,
            values).
        codes: Codes of the rows, shape (n, attributes); changed.
        origin: The relaxed row that each row comes from.
        rng: Randomness.

    Returns:
        The codes, of which all rows are possible.
    """
    structure = structure_of(domain, ())
    again = np.flatnonzero(impossible_rows(domain, codes))
    for relaxed in np.unique(origin[again]):
        mine = again[origin[again] == relaxed]
        potentials = [np.ones([structure.sizes[a] for a in labels]) for labels in structure.cliques]
        for attribute, values in enumerate(distributions):
            place = next(i for i, labels in enumerate(structure.cliques) if attribute in labels)
            shape = [-1 if a == attribute else 1 for a in structure.cliques[place]]
            potentials[place] *= np.maximum(values[relaxed], LEAST).reshape(shape)
        for table, possible in zip(potentials, structure.possible, strict=True):
            table *= 1.0 if possible is None else possible
        codes[mine] = rows.generate(structure, potentials, len(mine), rng)
    return codes
