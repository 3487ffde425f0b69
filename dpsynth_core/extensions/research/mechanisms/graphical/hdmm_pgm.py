"""HDMM+PGM: the measurements of HDMM, estimated with a graphical model instead of least squares.

The sources are McKenna, Sheldon, Miklau 2019, "Graphical-model based estimation and inference for differential privacy", and McKenna,
Miklau, Hay, Machanavajjhala 2018 for HDMM.

All that the strategy measures has to fit one model, so only the workload's own tables and tables inside them are offered to it: then it
fits if the workload does, with every choice of the strategy. Nothing depends on the records, and so nothing is left out that they do not
need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from dpsynth_core.extensions.research.mechanisms.answers import hdmm
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.mechanism import Card, Forecast, Split, split_by_size
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.mechanisms.strategies import within
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class HdmmPgm:
    """HDMM's measurements with a graphical model; `max_size_mb` is the capacity of the model in MB."""

    card: Card = Card(
        "hdmm_pgm", "HDMM+PGM", GDP,
        summary="Measures the tables of your workload as well as can be planned without the data. For a few tables that fit one model.",
        paper="McKenna, Sheldon, Miklau: Graphical-model Based Estimation and Inference (ICML 2019), with HDMM (VLDB 2018), OPT_M",
        privacy=hdmm.Hdmm.card.privacy,
        differences=(
            "Only tables of your workload and tables inside them are measured, so that the model fits if the workload does.",
            "Strategies are found as for HDMM, and with Gaussian noise.",
            "The fit weighs squared distances by their noise and stops early; what was learnt of single columns before is used too.",
        ),
    )
    max_size_mb: float = models.capacity_mb()

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        A run is one fit of a model that has all tables of the workload. It is refused if that model
        exceeds the capacity, columns are too large, or there are too many cells. The budget does not matter.
        """
        domain, cells = workload.domain, workload.closure_cells
        reason = models.columns_too_large(domain, self.max_size_mb) or rounds.too_many_cells(cells)
        size = 0.0 if reason else models.Capacity(domain, self.max_size_mb).used_mb(workload.cliques)
        if size > self.max_size_mb:
            problem = f"a model of all your tables at once needs {size:,.0f} MB, more than its capacity of {self.max_size_mb:,.0f} MB"
            others = "use fewer tables, choose AIM, or take HDMM for answers without rows"
            reason = f"{problem}; {models.room_for(size, others)}"
        seconds = 2.0 + 2e-5 * cells + 4e-3 * workload.closure_tables + 0.01 * len(workload.cliques) * min(size, self.max_size_mb)
        return Forecast(not reason, seconds, 200.0 + 6e-5 * cells + 5 * min(size, self.max_size_mb), reason)

    def split(self, workload: Workload, total_is_public: bool) -> Split:
        """Return the shares of the best strategy inside the workload by size of table: count of records, single columns, larger.

        The shares are of the budget and add up to 1; a size with the share 0 is left out.
        """
        return split_by_size(within(workload, 0.0 if total_is_public else 1.0).shares)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run HDMM+PGM with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each marginal of the strategy, a Fitted, then a Finished.
        """
        strategy = within(workload, hdmm.rows_price(kernel.unit))
        measurements: list[Measurement] = []
        for step in hdmm.measured(kernel, strategy):
            measurements.append(step.measurement)
            yield step
        tables, counted = [m for m in measurements if m.clique], [m for m in measurements if not m.clique]
        model = models.fit(kernel, tables, stopping=models.FINAL, counted=counted)
        yield rounds.fitted(kernel, 0, f"fitted to {len(tables)} tables")
        size = models.Capacity(kernel.domain, self.max_size_mb).used_mb(m.clique for m in tables)
        yield Finished(model, model.total, {"marginals": len(tables), "model_size_mb": size})
