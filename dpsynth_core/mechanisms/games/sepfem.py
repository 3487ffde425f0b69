"""sepFEM: FEM with the separator's perturbation (Vietri, Tian, Bun, Steinke, Wu 2020, Algorithms 1 and 3).

The rounds are those of `primal_game`, which says what differs from the paper. The queries "this column has this value" tell any two records
apart: they are the separator set of one-hot records. Each is added to the objective with a weight from the Laplace distribution of
scale eta; fresh weights for every record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from dpsynth_core.mechanisms.games import fem, primal_game, query_game
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import Forecast, Split
from dpsynth_core.mechanisms.parameters import Parameter
from dpsynth_core.mechanisms.steps import Step
from dpsynth_core.oracles.records.problem import Linear
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload


class SepFem:
    name: ClassVar[str] = "sepfem"
    title: ClassVar[str] = "sepFEM"
    summary: ClassVar[str] = "FEM with another way to keep its rows varied, which has the better proof. Try it where FEM is good."
    paper: ClassVar[str] = f"{query_game.PAPER}, Algorithm 3"
    privacy: ClassVar[str] = fem.PRIVACY
    makes_rows: ClassVar[bool] = True
    takes_thresholds: ClassVar[bool] = True
    accountant: ClassVar[Accountant] = ZCDP
    parameters: ClassVar[Sequence[Parameter]] = primal_game.parameters(
        0.12, "Scale of the random weights that vary the rows, eta, as a multiple of the square root of the number of rounds."
    )

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:  # noqa: ARG002
        """As for all rounds that the settings allow; a small budget needs fewer."""
        return primal_game.forecast(workload, settings)

    def split(self, workload: Workload, settings: Mapping[str, Any], total_is_public: bool) -> Split:  # noqa: ARG002
        """All but the number of people chooses."""
        return query_game.split(total_is_public)

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Step]:
        """See `primal_game.play`."""
        return primal_game.play(kernel, workload, settings, laplace_costs)


def laplace_costs(rng: np.random.Generator, sizes: Sequence[int], eta: float) -> Linear:
    """The negative of Algorithm 3's weights, as symmetric as they are."""
    return tuple(rng.laplace(0.0, eta, size) for size in sizes)
