"""AIM that starts from a public table: our own extension, not from a paper.

The private steps are AIM's; between them the model is fitted to public marginals too, weighted by their value (`public_prior`). Budget,
events and error bounds are AIM's: the bounds compare private measurements with the model at that time, and hold for any model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dpsynth_core.mechanisms import public_check
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.aim_strategies import USUAL_GAP
from dpsynth_core.mechanisms.graphical.grouping import Candidates
from dpsynth_core.mechanisms.graphical.models import Capacity, Fit
from dpsynth_core.mechanisms.graphical.prior import Prior
from dpsynth_core.mechanisms.graphical.public_prior import PublicPrior
from dpsynth_core.mechanisms.mechanism import Card, Forecast, Mechanism
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

COLUMNS_AT_MOST = 0.5
"""Largest share of the budget for columns where the public table is informative, because tables of several columns tell whether it is
right.
"""


@dataclass(frozen=True)
class AimPublic(Aim):
    """AIM whose model starts from a public table.

    Attributes:
        public: The public table; None until one is given, and a run is refused without it.
    """

    card: Card = replace(
        Aim.card,
        name="aim_public",
        title="AIM from a public table",
        keeps_published=False,
        summary=(
            "AIM, but its model starts from a public table of the same columns, which counts for less the more your own noisy tables "
            "contradict it, and for nothing where AIM alone comes closer. Better than AIM where the public people resemble yours."
        ),
        privacy="The public table is used as it is: nothing protects the people in it. " + Aim.card.privacy,
        differences=("Ours: no paper has it. Its private steps are those of AIM with our defaults.",),
    )

    public: PublicTable | None = None

    def informed_by(self, public: PublicTable) -> Mechanism:
        """Return a copy of the mechanism that uses this public table."""
        return replace(self, public=public)

    def forecast_for(self, workload: Workload, rho: float, people: float) -> Forecast:
        """Return AIM's forecast (seconds, MB) with the work on public marginals added, or why the run is refused.

        The forecast refuses (`fits` is False, and seconds and MB are 0) without a public table, or where the table
        or the workload is too large.

        Args:
            workload: The tables that are asked for.
            rho: The budget, in rho.
            people: Number of people divided by the number of counts that one person changes.
        """
        if reason := public_check.refusal(self.public, workload):
            return Forecast(False, 0.0, 0.0, reason)
        alone = super().forecast_for(workload, rho, people)
        if not alone.fits:
            return alone
        places = self.public.rows * len(workload.closure()) if self.public else 0
        return replace(alone, seconds=2 * alone.seconds + 1e-8 * places, memory_mb=alone.memory_mb + 8 * workload.cells / 1e6)

    def shares_for_columns(self, least: float, noise: float, gap: float = USUAL_GAP) -> tuple[float, ...]:
        """Return the shares of the budget for single columns that are tried in turn, one or two.

        If AIM's share exceeds 0.5 (COLUMNS_AT_MOST), a run first tries 0.5, or `least` if that is more, at which
        the public table may be used. It takes AIM's share only if the table turned out not to be used.

        Args:
            least: The least share, from 0 to 1.
            noise: Mean noise of the columns (`mean_noise`), a share of people.
            gap: The dependence of the columns, a share of people.
        """
        (alone,) = super().shares_for_columns(least, noise, gap)
        return (max(least, COLUMNS_AT_MOST), alone) if alone > COLUMNS_AT_MOST else (alone,)

    def prior(self, kernel: Kernel, columns: Sequence[Measurement], candidates: Candidates, capacity: Capacity, fit: Fit, /) -> Prior:
        """Return the prior that follows from the public table and the noisy columns; it costs no budget.

        Args:
            kernel: The kernel, for its domain and a public number of rows.
            columns: The measurements of the private columns.
            candidates: The tables that may be measured.
            capacity: The largest size of a model.
            fit: Private-PGM.
        """
        assert self.public is not None, "forecast refuses to run without"
        return PublicPrior.of(self.public, kernel, columns, candidates, capacity, fit)
