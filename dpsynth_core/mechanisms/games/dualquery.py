"""DualQuery (Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014; section 5 of Vietri et al. 2020): every round draws all its samples afresh.

The game is `dual_game`. T rounds with s samples cost rho = s eta^2 m^2 (T-1) T (2T-1) / (12 N^2): the first round's samples are uniform and
free, the later ones add up the squares 1 .. T-1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dpsynth_core.mechanisms.games import dual_game, query_game
from dpsynth_core.mechanisms.games.dual_game import Schedule, Table
from dpsynth_core.mechanisms.games.query_game import Codes, Signed
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import Forecast, Split
from dpsynth_core.mechanisms.parameters import Parameter
from dpsynth_core.mechanisms.steps import Step
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.queries import SparseAnswers
from dpsynth_core.vocabulary.workload import Workload


class DualQuery:
    name: ClassVar[str] = "dualquery"
    title: ClassVar[str] = "DualQuery"
    summary: ClassVar[str] = (
        "Finds a few dozen rows that together answer your counts, and repeats them. Quick and coarse. For many large tables and a small "
        "epsilon."
    )
    paper: ClassVar[str] = "Gaboardi, Gallego Arias, Hsu, Roth, Wu: Dual Query: Practical Private Query Release (ICML 2014)"
    privacy: ClassVar[str] = (
        "Measures the number of people, where it is secret, with rounded Gaussian noise; then every round draws samples of counting "
        "queries with the exponential mechanism (rho = eps^2/8 each, eps growing with the rounds). The rows are found by a solver that "
        "sees the samples only. The rounds compose under zero-concentrated differential privacy."
    )
    makes_rows: ClassVar[bool] = True
    takes_thresholds: ClassVar[bool] = True
    accountant: ClassVar[Accountant] = ZCDP
    parameters: ClassVar[Sequence[Parameter]] = dual_game.parameters(eta=2.0, samples=5)

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:  # noqa: ARG002
        """As for all rounds that the settings allow; a small budget needs fewer."""
        return dual_game.forecast(workload, settings)

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:  # noqa: ARG002
        """All but the number of people chooses."""
        return query_game.split(total_is_public)

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Step]:
        """See `dual_game.play`."""

        def scheduled(rounds: int, _eta: float) -> Schedule:
            return all_fresh(rounds, settings["samples"])

        return dual_game.play(kernel, workload, settings, scheduled, redraw)


def all_fresh(rounds: int, samples: int) -> Schedule:
    return Schedule(samples, np.full(rounds - 1, samples), np.full(rounds - 1, np.nan))


def redraw(table: Table, t: int, _sample: Signed, _record: Codes, hits: SparseAnswers) -> Signed:
    return table.fresh(t, hits)
