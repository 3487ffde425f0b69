"""Sets of rows from one release; the sets differ by the noise of the release.

Set number k follows from the seed alone: noise and rows are drawn from two streams of `SeedSequence(seed, spawn_key=(0, k))`, so that
anyone who has the release makes the same sets again. Further tables of a release (`release.tables`) use spawn keys of one number, and are
something else: rows of the one model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.intervals.refitting import Refitting, check
from dpsynth_core.mechanisms.steps import RowModel, Unmoved
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import Rows
from dpsynth_core.release.sampling import Refitted, refit

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
        fitted: The model of the release.
        refitting: The fit, which is repeated for each set.
        seed: The seed of all sets.
        released: The release.
    """

    fitted: Refitted
    refitting: Refitting
    seed: int
    released: Release

    @classmethod
    def of(cls, release: Release, fitted: Refitted | None = None, seed: int | None = None) -> Sets:
        """Return the sets of a release. Nothing is drawn yet.

        Args:
            release: The release.
            fitted: Its model; None to compute it, which takes about as long as the run.
            seed: Seed of the sets; None for the published seed of the release's rows.

        Raises:
            InputError: Nothing is known of intervals for this kind of release.
        """
        check(release)
        fitted = refit(release) if fitted is None else fitted
        assert release.row_seed is not None, "it was checked"
        return cls(fitted, Refitting.of(release, fitted), release.row_seed if seed is None else seed, release)

    def number(self, k: int) -> OneSet:
        """Return set number k, which is drawn from a model that is fitted again in each call.

        Args:
            k: The number of the set, from 1. The rows depend on this number and the seed alone.
        """
        for_noise, for_rows = np.random.SeedSequence(self.seed, spawn_key=(0, k)).spawn(2)
        return self._drawn(self.refitting.fit(self.refitting.answered(np.random.default_rng(for_noise))), for_rows)

    @cached_property
    def refined(self) -> bool:
        """True if finished rows are refined, which takes most of the time of a large set.

        They are where the noise moves fewer rows than drawing can: where measured tables have on
        average a total variance (cells times the variance of a cell) below the number of rows.
        Refining takes away what drawing adds, which is small beside larger noise.
        """
        tables = self.refitting.answers.measurements
        noise = [one.values.size * one.deviation**2 for one in tables if len(one.clique) > 1]
        return not noise or sum(noise) / len(noise) < self.fitted.released.num_rows

    def _drawn(self, model: RowModel, for_rows: np.random.SeedSequence) -> OneSet:
        model = model if self.refined else Unmoved(model)
        total = float(model.marginal(()))
        seed = int(for_rows.generate_state(1, np.uint64)[0] >> np.uint64(1))
        count = synthesis.row_count(self.fitted.plan, total)
        rows = synthesis.drawn(self.fitted.plan, model, count, seed, self.fitted.released.inside)
        return OneSet(rows.codes, rows)

    def first(self, m: int) -> Iterator[OneSet]:
        """Yield the sets number 1 to m, each made when it is asked for."""
        return map(self.number, range(1, m + 1))
