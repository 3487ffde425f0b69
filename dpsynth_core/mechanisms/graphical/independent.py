"""Independent: measure every column on its own, an equal share of the budget each; the rows have no dependence between columns.

The baseline that every other mechanism has to beat, and the right choice when the budget is tiny. Reads the private table only through
the kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.mechanism import SINGLE, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.workload import Workload

MOST_MB = 80.0
"""Largest memory of the model in MB; published tables make it larger than its columns."""


@dataclass(frozen=True)
class Independent:
    """The product of one-way marginals."""

    card: Card = Card(
        "independent", "Independent", GDP, keeps_published=True,
        summary="Gets every single column right and no dependence between columns. Fast; the baseline for the others.",
        paper="Product of one-way marginals, the baseline of McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), section 6",
        privacy=(
            "Measures one marginal per column with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2) each); the costs add up under "
            "Gaussian differential privacy."
        ),
        differences=(
            "Accounted under Gaussian differential privacy; the paper's is zCDP.",
            "Finished rows are moved towards the model; the paper's are not.",
        ),
    )
    fitting: models.Fitting = models.Fitting()

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        Both grow with the cells of the one-way marginals only. Refused are a domain whose columns
        are all published, and published tables whose model is too large.
        """
        cells = sum(workload.domain.sizes(workload.domain.names))
        reason = "" if rounds.columns_of(workload.domain) else "every column is published, and it measures nothing else; use AIM"
        if workload.domain.published and models.columns_too_large(workload.domain, MOST_MB):
            reason = "a model of the published tables and impossible combinations is too large; give fewer or smaller ones"
        return Forecast(not reason, seconds=1.0 + 3e-5 * cells, memory_mb=150.0 + 1e-4 * cells, reason=reason)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        """Return one stage with the share 1: the whole budget measures single columns."""
        return ((SINGLE, 1.0),)

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        """Measure each column for an equal part of the kernel's budget, and fit their product.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each column, a Fitted, then a Finished.
        """
        measurements = yield from rounds.measure_columns(kernel, kernel.rho_total)
        model = models.fit(kernel, measurements, stopping=self.fitting.between)
        yield rounds.fitted(kernel, 0, "product of the one-way marginals")
        yield Finished(self.fitting.finish(model), model.total, {"sigma": measurements[0].sigma})


PUBLISHED = Independent(
    card=printed(
        Independent.card,
        models.FITS_CHOSEN,
        accountant=ZCDP,
        privacy=Independent.card.privacy.replace("Gaussian differential privacy", "zero-concentrated differential privacy"),
    ),
    fitting=models.FITTED_AS_PRINTED,
)
"""All one-way marginals by the Gaussian mechanism, under zCDP (McKenna et al. 2022, section 6.1)."""
