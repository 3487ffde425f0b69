"""Gaussian: measure every marginal of the workload once, the budget split for the least expected weighted error. Answers only, no rows.

The strongest simple way to *answer* a small workload, and the yardstick for what rows lose. Reads the private table only through
the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.mechanism import ASKED, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import combined
from dpsynth_core.vocabulary.workload import Workload

_SECONDS_PER_CELL = 1.5e-5
_BYTES_PER_CELL = 24


@dataclass(frozen=True)
class NoisyAnswers:
    """Unbiased noisy marginals: a Model that writes no rows. Cells may be negative, and marginals need not agree with each other.

    Impossible cells are answered 0 (`Domain.cleared`); the measurements keep their noise in them.

    Attributes:
        domain: The domain.
        measurements: The measured marginals, in counts.
    """

    domain: Domain
    measurements: tuple[Measurement, ...]

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the minimum-variance mean of all measurements that contain the clique, in counts, one axis per column.

        Raises:
            KeyError: No measurement contains the clique.
        """
        mean = combined(self.measurements, clique)
        if mean is None:
            raise KeyError(clique)
        return self.domain.cleared(clique, mean.values)


@dataclass(frozen=True)
class GaussianAnswers:
    """The Gaussian mechanism for the tables of a workload."""

    card: Card = Card(
        "gaussian", "Gaussian answers", GDP, makes_rows=False,
        summary="Adds noise to every table of the workload, once. Answers only, no rows. Good for a few small tables.",
        paper="Gaussian mechanism with an optimal split, a baseline of McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022)",
        privacy=(
            "Measures each marginal of the workload with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2) each); the costs add up "
            "under Gaussian differential privacy. How the budget is split depends on the workload and the domain alone."
        ),
        differences=("Accounted under Gaussian differential privacy; the paper's is zCDP.",),
    )

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused: more than 100 million cells.

        Both grow with the number of cells of the workload; the budget does not matter.
        """
        cells = workload.cells
        reason = rounds.too_many_cells(cells)
        return Forecast(not reason, 1.0 + _SECONDS_PER_CELL * cells, 150.0 + _BYTES_PER_CELL * cells / 1e6, reason)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        """Return one stage with the share 1: the whole budget measures the tables that are asked for."""
        return ((ASKED, 1.0),)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Measure each table of the workload once, with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer and the last one, `Finished`, has the model.

        Yields:
            A Measured for each table, then a Finished with the noisy tables as its model.
        """
        shares = rounds.least_error_shares(workload.domain, workload.weights)
        measurements: list[Measurement] = []
        for clique, share in shares.items():
            sigma = rounds.sigma_for(share * kernel.rho_total, kernel.unit.marginal_l2)
            measurements += yield from rounds.measure(kernel, 0, [clique], sigma)
        total = rounds.total_from(kernel, measurements)
        yield Finished(NoisyAnswers(kernel.domain, tuple(measurements)), total, {"marginals": len(measurements)})


PUBLISHED = GaussianAnswers(
    card=printed(
        GaussianAnswers.card,
        accountant=ZCDP,
        privacy=GaussianAnswers.card.privacy.replace("Gaussian differential privacy", "zero-concentrated differential privacy"),
    )
)
"""All queries of the workload by the Gaussian mechanism with the optimal split, under zCDP (McKenna et al. 2022, section 6.1)."""
