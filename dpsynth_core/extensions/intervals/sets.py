"""Sets of rows from one release; the sets differ by the noise of the release.

Set number k follows from the seed alone: noise and rows are drawn from two streams of `SeedSequence(seed, spawn_key=(0, k))`, so that
anyone who has the release makes the same sets again. Further tables of a release (`release.tables`) use spawn keys of one number, and are
something else: rows of the one model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.intervals.noise import Informed
from dpsynth_core.extensions.intervals.tilting import Tilting
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import Rows
from dpsynth_core.vocabulary.measurement import Clique

FEWEST, USUAL, MOST = 2, 20, 200
"""Bounds of the number of sets, and the default: at 20 the quantile of Student's t is within 7 % of the normal one."""


@dataclass(frozen=True, eq=False)
class OneSet:
    """One set of rows.

    Attributes:
        codes: The cells of the rows, shape (rows, columns of the domain).
        rows: The rows as values.
    """

    codes: NDArray[np.integer]
    rows: Rows


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets of rows of a release.

    Attributes:
        tilting: The released rows, ready to be weighed.
        seed: The seed of all sets.
        released: The release.
    """

    tilting: Tilting
    seed: int
    released: Release

    @classmethod
    def of(cls, release: Release, seed: int | None = None) -> Sets:
        """Return the sets of a release. Nothing is drawn yet.

        Args:
            release: The release.
            seed: Seed of the sets; None for the published seed of the release's rows.

        Raises:
            InputError: Nothing is known of intervals for this kind of release.
        """
        tilting = Tilting.of(Informed.of(release))
        assert release.row_seed is not None, "it was checked"
        return cls(tilting, release.row_seed if seed is None else seed, release)

    def number(self, k: int) -> OneSet:
        """Return set number k, which has as many rows as the release.

        Args:
            k: The number of the set, from 1. The rows depend on this number and the seed alone.
        """
        for_noise, for_rows = np.random.SeedSequence(self.seed, spawn_key=(0, k)).spawn(2)
        weights = self.tilting.weights(self.tilting.change(np.random.default_rng(for_noise)))
        seed = int(for_rows.generate_state(1, np.uint64)[0] >> np.uint64(1))
        count = len(self.tilting.informed.codes)
        rows = synthesis.drawn(self.released.plan, _Weighed(self.tilting, weights), count, seed, self.released.inside)
        return OneSet(rows.codes, rows)

    def first(self, m: int) -> Iterator[OneSet]:
        """Yield the sets number 1 to m, each made when it is asked for."""
        return map(self.number, range(1, m + 1))


@dataclass(frozen=True, eq=False)
class _Weighed:
    """The released rows with weights, as a model that the rows of a set are drawn from.

    Attributes:
        tilting: The released rows.
        weights: Their weights, with the mean 1, shape (rows,).
    """

    tilting: Tilting
    weights: NDArray[np.float64]

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the sum of the weights in each cell of a table, shape (sizes of its columns)."""
        return self.tilting.table(tuple(map(self.tilting.informed.domain.position, clique)), self.weights)

    def rows(self, _n: int, _marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return as many rows as were released; number and marginals are ignored."""
        return self.tilting.drawn(self.weights, rng)
