"""Real rows from relaxed ones: every relaxed row becomes several copies, in which each attribute takes its values by randomised rounding.

The copies of a relaxed row share its values as evenly as possible, each attribute in an order of its own, so that every query keeps
its expectation (paper, section 4) with less spread than independent draws would have. Rows that the domain calls impossible are drawn
again from the same relaxed row. Knows released values only.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference import rows
from dpsynth_core.inference.model import labels_of, structure_of
from dpsynth_core.research.inference.relaxed.onehot import Columns, OneHot
from dpsynth_core.vocabulary.domain import Domain

ATTEMPTS = 20
"""How often impossible rows are drawn again before they are drawn from what is possible, which takes longer."""
LEAST = 1e-6
"""Probability that a value gets in that last draw if its relaxed row gives it none: nothing else may be possible."""

Conditional = NDArray[np.float64]
"""Probabilities of an attribute's values, shape (relaxed rows, values)."""


def rounded(domain: Domain, table: Columns, n: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Codes of n possible rows in random order, shape (n, attributes); floor or ceil of n / (relaxed rows) from each relaxed row."""
    origin = _origins(table.shape[1], n, rng)
    distributions = [_normalised(table[OneHot(domain).block(i)].T) for i in range(len(domain))]
    codes = np.stack([rows.share_out(values, origin, rng) for values in distributions], axis=1)
    for _ in range(ATTEMPTS):
        again = _impossible(domain, codes)
        if not len(again):
            return rng.permutation(codes)
        each = np.arange(len(again))
        codes[again] = np.stack([rows.share_out(values[origin[again]], each, rng) for values in distributions], axis=1)
    return rng.permutation(_forced(domain, distributions, codes, origin, rng))


def _origins(relaxed: int, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """The relaxed row of each row, ascending."""
    extra = rng.permutation(relaxed)[: n % relaxed]
    return np.sort(np.concatenate([np.repeat(np.arange(relaxed), n // relaxed), extra]))


def _normalised(values: Columns) -> Conditional:
    return np.asarray(values / values.sum(axis=1, keepdims=True, dtype=np.float64))


def _impossible(domain: Domain, codes: NDArray[np.int32]) -> NDArray[np.intp]:
    """Which rows lie in a structural zero."""
    wrong = np.zeros(len(codes), dtype=bool)
    for clique, zero in domain.zeros.items():
        wrong |= zero[tuple(codes[:, a] for a in labels_of(domain, clique))]
    return np.flatnonzero(wrong)


def _forced(
    domain: Domain, distributions: list[Conditional], codes: NDArray[np.int32], origin: NDArray[np.intp], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Rows that are still impossible, drawn from what is possible by their relaxed row, along a junction tree of the zeros."""
    structure = structure_of(domain, ())
    again = _impossible(domain, codes)
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
