"""FEM: follow the perturbed leader with the exponential mechanism (Vietri, Tian, Bun, Steinke, Wu 2020, Algorithms 1 and 2).

The rounds are those of `primal_game`, which says what differs from the paper. Here every value of every column (a coordinate of the one-hot
record) costs its own exponentially distributed amount with mean eta; fresh costs for every record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dpsynth_core.mechanisms.games import primal_game, query_game
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import Forecast, Split
from dpsynth_core.mechanisms.parameters import Parameter
from dpsynth_core.mechanisms.steps import Step
from dpsynth_core.oracles.records.problem import Linear
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload

PRIVACY = (
    "Measures the number of people, where it is secret, with rounded Gaussian noise; then every round chooses one counting query or its "
    "negation with the exponential mechanism (rho = eps^2/8). The records are found by a solver that sees the chosen queries only, so they "
    "cost nothing however the search ends. The rounds compose adaptively under zero-concentrated differential privacy."
)


class Fem:
    name: ClassVar[str] = "fem"
    title: ClassVar[str] = "FEM"
    summary: ClassVar[str] = (
        "Keeps the largest error of any single count small: asks which count is worst, finds rows that mend it, and again. For many "
        "large tables and a small epsilon."
    )
    paper: ClassVar[str] = f"{query_game.PAPER}, Algorithm 2"
    privacy: ClassVar[str] = PRIVACY
    makes_rows: ClassVar[bool] = True
    takes_thresholds: ClassVar[bool] = True
    accountant: ClassVar[Accountant] = ZCDP
    parameters: ClassVar[Sequence[Parameter]] = primal_game.parameters(
        0.25, "Mean of the random costs that vary the rows, eta, as a multiple of the square root of the number of rounds."
    )

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:  # noqa: ARG002
        """As for all rounds that the settings allow; a small budget needs fewer."""
        return primal_game.forecast(workload, settings)

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:  # noqa: ARG002
        """All but the number of people chooses."""
        return query_game.split(total_is_public)

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Step]:
        """See `primal_game.play`."""
        return primal_game.play(kernel, workload, settings, exponential_costs)


def exponential_costs(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
    """Algorithm 2's sigma_j."""
    return tuple(rng.exponential(eta, size) for size in sizes)
