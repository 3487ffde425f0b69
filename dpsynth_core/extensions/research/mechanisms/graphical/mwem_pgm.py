"""MWEM+PGM: multiplicative weights with a graphical model in place of the explicit distribution.

The sources are McKenna, Mullins, Sheldon, Miklau 2022, Algorithm 1, and Hardt, Ligett, McSherry 2012 for MWEM.

Starts from the uniform distribution. Each of T rounds selects the marginal of the workload that the model answers worst, measures it and
re-estimates. Every round costs the same, however much it taught: AIM is this with a better score, candidates below the workload and a
budget that adapts. The algorithm as printed has no bound on the model's size; here candidates that do not fit are not offered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from dpsynth_core.inference.model import uniform
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.graphical.models import Capacity, Fitting
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, COUNTING, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.parameters import real
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.workload import Workload

_KEPT = (
    "The number of records is measured for 1% of the budget where it is secret; Algorithm 1 takes it as known.",
    "As many rounds as columns unless set: T is an input of Algorithm 1.",
    "Tables that do not fit the model's capacity are not offered; Algorithm 1 would not end with them.",
)

def _with_the_rounds(progress: float) -> float:
    """Return the share of the model's capacity that may be used after this share of the rounds: the same share.

    If all capacity could be used from the start, an early choice could fill it.
    """
    return progress


def _at_once(_progress: float) -> float:
    return 1.0


@dataclass(frozen=True)
class MwemPgm:
    """MWEM+PGM.

    Attributes:
        max_size_mb: Capacity of the model, in MB.
        rounds_per_attribute: Number of rounds divided by the number of columns.
        measure_share: Share of each round's budget that measures, a fraction.
        cells: Returns n_r, the number of cells that a score subtracts, from the domain and a
            clique.
        opening: Returns the open fraction of the capacity, from the fraction of the rounds.
        fit: Fits a model to the measurements.
    """

    card: Card = Card(
        "mwem_pgm", "MWEM+PGM", ZCDP, keeps_published=True,
        summary="Measures tables of your workload that it still gets wrong, in a fixed number of equal rounds. AIM came after it.",
        paper="McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), Algorithm 1; MWEM: Hardt, Ligett, McSherry (NIPS 2012)",
        privacy=(
            "Measures the number of rows, where it is secret, with rounded Gaussian noise; then every round selects one marginal with the "
            "exponential mechanism (rho = eps^2/8) and measures it with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2)). The "
            "rounds compose adaptively under zero-concentrated differential privacy; a filter refuses what would exceed the total."
        ),
        differences=(
            "Nine tenths of a round measure and a tenth selects; Algorithm 1 halves its budget.",
            "A score subtracts the number of possible cells; Algorithm 1 that of all cells.",
            "The model's capacity opens with the rounds; Algorithm 1 has none.",
            "Fits end early, as soon as they would follow noise, and finished rows are moved towards the model; the paper has neither.",
            *_KEPT,
            "All together: about 0.87 times the published one's error, in 18 settings of Titanic and the demo.",
        ),
    )
    max_size_mb: float = models.capacity_mb()
    rounds_per_attribute: float = real(1.0, least=0.1, most=20.0, text="Number of rounds T, as a multiple of the number of columns.")
    measure_share: float = real(0.9, least=0.1, most=0.99, text="Share of each round's budget that measures; the rest selects.")
    cells: Callable[[Domain, Clique], int] = Domain.possible_cells
    opening: Callable[[float], float] = _with_the_rounds
    fitting: Fitting = Fitting()
    fit: Callable[..., Any] = models.fit

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        Every round compares the model with the whole workload. The run is refused if columns are
        too large, the workload has too many cells, or no table fits the capacity. The budget does not matter.
        """
        domain = workload.domain
        reason = models.columns_too_large(domain, self.max_size_mb)
        reason = reason or rounds.too_many_cells(workload.cells) or models.none_fits(domain, workload.cliques, self.max_size_mb)
        seconds = 2.0 + self._rounds(domain) * (0.2 + 4e-8 * workload.cells + self.max_size_mb / 80.0)
        return Forecast(not reason, seconds, 200.0 + 3e-5 * workload.cells + 2 * self.max_size_mb, reason)

    def split(self, _workload: Workload, total_is_public: bool) -> Split:
        """Return the planned stages with their shares of the budget, which add up to 1.

        They are a count of the people if their number is secret, selections, and selected tables.
        """
        share, rest = self.measure_share, 1.0 if total_is_public else 1 - rounds.TOTAL_SHARE
        stages = ((CHOOSING, (1 - share) * rest), (CHOSEN, share * rest))
        return stages if total_is_public else ((COUNTING, rounds.TOTAL_SHARE), *stages)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run Algorithm 1 with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for the number of rows if it is secret, a Fitted, a Measured and a
            Fitted for each round, then a Finished.
        """
        capacity = Capacity(kernel.domain, self.max_size_mb)
        count = self._rounds(kernel.domain)
        counted = yield from rounds.count_people(kernel, rounds.TOTAL_SHARE)
        model = uniform(kernel.domain, rounds.people(counted))
        if kernel.domain.published:
            model = self.fit(kernel, [], None, self.fitting.between, [counted])
        yield rounds.fitted(kernel, 0, f"every record equally likely{', but for published tables' if kernel.domain.published else ''}")

        measurements, asked = list[Measurement](), kernel.domain.unpublished(workload.cliques)
        record = models.Selections()
        for number in range(1, count + 1):
            share, rho = self.measure_share, kernel.rho_left / (count + 1 - number)
            budget = rounds.RoundBudget.spending(rho, share, kernel.unit.marginal_l2, kernel.selection_price)
            measured = [m.clique for m in measurements]
            room = self.opening(number / count)  # all of the capacity, if nothing fits the open part of it
            offered = capacity.allowed(measured, asked, room) or capacity.allowed(measured, asked)
            offsets = {clique: float(self.cells(kernel.domain, clique)) for clique in offered}
            choice = models.choose(kernel, model.marginals(offered), dict.fromkeys(offered, 1.0), offsets, budget.eps)
            measurements += yield from rounds.measure(kernel, number, [choice.clique], budget.sigma)
            record.add(choice, measurements[-1])
            stopping = self.fitting.final if number == count else self.fitting.between
            model = self.fit(kernel, measurements, model, stopping, [counted])
            yield rounds.fitted(kernel, number, f"measured {' x '.join(choice.clique)}")
        details = {"rounds": count, "model_size_mb": capacity.used_mb(m.clique for m in measurements)}
        yield Finished(self.fitting.finish(model), model.total, details, tuple(record.selections), record.considered)

    def _rounds(self, domain: Domain) -> int:
        """Return T, the number of rounds, in proportion to the number of columns; the authors' program has as many."""
        return max(1, round(self.rounds_per_attribute * len(domain)))


_CARD = printed(MwemPgm.card, models.FITS_CHOSEN, *_KEPT)
PUBLISHED = MwemPgm(_CARD, measure_share=0.5, cells=Domain.cells, opening=_at_once, fitting=models.FITTED_AS_PRINTED)
"""Algorithm 1 as printed (McKenna et al. 2022): eps = 2 sqrt(rho/T), sigma = sqrt(T/rho)."""
