"""AIM: an adaptive and iterative mechanism (McKenna, Mullins, Sheldon, Miklau 2022, Algorithms 3 and 4).

Measures all one-way marginals, then round by round selects the marginal that the model answers worst, measures it, re-estimates, and
spends more per round when the last measurement taught little. Reads the private table only through the kernel, so its cost is what the
kernel charges: an adaptive composition under a zCDP filter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.domain import Domain
from dpsynth_core.inference.estimation import Stopping, estimate, estimate_total
from dpsynth_core.inference.junction_tree import SizeOracle, mask_of
from dpsynth_core.inference.model import GraphicalModel, labels_of
from dpsynth_core.measurement import Clique, Measurement
from dpsynth_core.mechanisms.protocol import Candidate, Event, Finished, Fitted, Forecast, Kernel, Measured, Parameter, Selection
from dpsynth_core.workload import Workload

HALF_NORMAL = math.sqrt(2.0 / math.pi)
"""E|X| for a standard normal X: expected absolute noise of a measured cell, in units of sigma."""

BYTES_PER_CELL = 8
MEGABYTE = 1e6


@dataclass(frozen=True)
class RoundBudget:
    """One round's noise: sigma (counts) for the measurement, eps for the selection."""

    sigma: float
    eps: float

    @staticmethod
    def spending(rho: float, alpha: float, l2: float) -> RoundBudget:
        """A round that costs exactly rho, the share alpha of it for measuring."""
        return RoundBudget(sigma=l2 * math.sqrt(1.0 / (2.0 * alpha * rho)), eps=math.sqrt(8.0 * (1.0 - alpha) * rho))

    def cost(self, l2: float) -> float:
        return l2**2 / (2.0 * self.sigma**2) + self.eps**2 / 8.0

    def annealed(self) -> RoundBudget:
        """Twice the eps, half the sigma: four times the cost."""
        return RoundBudget(self.sigma / 2.0, self.eps * 2.0)


@dataclass(frozen=True)
class _Candidates:
    """W+ with AIM's weights, and which of it the model's capacity allows this round."""

    weights: Mapping[Clique, float]
    masks: Mapping[Clique, int]
    sizes: SizeOracle
    max_cells: float

    def allowed(self, measured: Sequence[Clique], fraction: float) -> list[Clique]:
        """Members of W+ whose junction tree stays within `fraction` of the capacity, and all subsets of measured marginals (free)."""
        present = [self.masks[c] for c in measured]
        limit = fraction * self.max_cells
        return [
            clique
            for clique, mask in self.masks.items()
            if any(mask & other == mask for other in present) or self.sizes.fits(present, mask, limit)
        ]


class Aim:
    name = "aim"
    title = "AIM"
    summary = "Adapts to your workload and your data: measures, round by round, the tables it still gets wrong. The best default."
    paper = "McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), Algorithm 4"
    privacy = (
        "Every round selects one marginal with the exponential mechanism (rho = eps^2/8) and measures it with discrete Gaussian noise "
        "(rho = sensitivity^2 / (2 sigma^2)). The rounds compose adaptively under zero-concentrated differential privacy; a filter refuses "
        "any operation that would exceed the total."
    )
    makes_rows = True
    parameters = (
        Parameter("max_size_mb", "float", 80.0, 0.1, 4096.0, "Capacity of the model in megabytes (JT-SIZE). More: more accurate, slower."),
        Parameter("rounds_per_attribute", "int", 16, 2, 100, "The first rounds are paid as if there were this many per column."),
        Parameter("measure_share", "float", 0.9, 0.1, 0.99, "Share of each round's budget that measures; the rest selects."),
    )

    def forecast(self, domain: Domain, workload: Workload, rho: float, settings: Mapping[str, Any]) -> Forecast:
        """Rough time and memory: one-way marginals must fit the capacity; rounds grow with rho, work with the capacity."""
        one_way = sum(domain.sizes(domain.names))
        if one_way * BYTES_PER_CELL / MEGABYTE > settings["max_size_mb"]:
            reason = "the one-way marginals alone are larger than the model's capacity; raise max_size_mb or merge values"
            return Forecast(False, 0.0, 0.0, reason)
        closure_cells = sum(domain.cells(c) for c in workload.closure())
        memory = 200.0 + 3 * closure_cells * BYTES_PER_CELL / MEGABYTE + 2 * settings["max_size_mb"]
        rounds = min(settings["rounds_per_attribute"] * len(domain), 3 * len(domain))
        seconds = rounds * (0.1 + 4e-8 * closure_cells + settings["max_size_mb"] / 80.0 * min(1.0, 4 * rho))
        return Forecast(True, seconds, memory)

    def steps(self, kernel: Kernel, workload: Workload, settings: Mapping[str, Any]) -> Iterator[Event]:
        """Algorithm 4. Yields a Measured and a Fitted event per round, then Finished."""
        alpha = settings["measure_share"]
        candidates = _candidates(workload, settings["max_size_mb"])
        budget = RoundBudget.spending(kernel.rho_total / (settings["rounds_per_attribute"] * len(kernel.domain)), alpha, kernel.marginal_l2)
        measurements: list[Measurement] = []
        for clique in (c for c in workload.closure() if len(c) == 1):
            measurements.append(kernel.measure_marginal(clique, budget.sigma))
            yield Measured(0, measurements[-1], kernel.rho_spent, _done(kernel))
        model = _fit(kernel, measurements, None, Stopping())
        yield Fitted(0, "first model from one-way marginals", kernel.rho_spent, _done(kernel))

        number, last = 0, False
        selections: list[Selection] = []
        considered: dict[Clique, tuple[int, Candidate]] = {}
        while not last:
            number += 1
            budget, last = _capped(budget, kernel, alpha)
            chosen, before, seen = _select(kernel, candidates, measurements, model, budget)
            measurements.append(kernel.measure_marginal(chosen, budget.sigma))
            considered.update((clique, (len(selections), candidate)) for clique, candidate in seen.items())
            largest = max(candidate.weight for candidate in seen.values())
            selections.append(Selection(seen[chosen], measurements[-1], budget.eps, largest * kernel.marginal_l1, len(seen)))
            yield Measured(number, measurements[-1], kernel.rho_spent, _done(kernel))
            model = _fit(kernel, measurements, model, Stopping(iterations=1000) if last else Stopping())
            yield Fitted(number, f"measured {' x '.join(chosen)}", kernel.rho_spent, _done(kernel))
            change = float(np.abs(model.marginal(chosen) - before).sum())
            if change <= HALF_NORMAL * budget.sigma * before.size:
                budget = budget.annealed()
        cells = candidates.sizes.cells([candidates.masks[m.clique] for m in measurements])
        details = {"rounds": number, "model_size_mb": cells * BYTES_PER_CELL / MEGABYTE}
        yield Finished(model, model.total, details, tuple(selections), considered)


def _candidates(workload: Workload, max_size_mb: float) -> _Candidates:
    domain = workload.domain
    weights = workload.aim_weights()
    masks = {clique: mask_of(labels_of(domain, clique)) for clique in weights}
    return _Candidates(weights, masks, SizeOracle(domain.sizes(domain.names)), max_size_mb * MEGABYTE / BYTES_PER_CELL)


def _done(kernel: Kernel) -> float:
    return min(1.0, kernel.rho_spent / kernel.rho_total)


def _fit(kernel: Kernel, measurements: Sequence[Measurement], model: GraphicalModel | None, stopping: Stopping) -> GraphicalModel:
    total = kernel.measure_total(1.0) if kernel.total_is_public else estimate_total(measurements)
    return estimate(kernel.domain, measurements, total, model, stopping)


def _capped(budget: RoundBudget, kernel: Kernel, alpha: float) -> tuple[RoundBudget, bool]:
    """When what is left is at most two such rounds, this round takes all of it and is the last."""
    if kernel.rho_left <= 2.0 * budget.cost(kernel.marginal_l2):
        return RoundBudget.spending(kernel.rho_left, alpha, kernel.marginal_l2), True
    return budget, False


def _select(
    kernel: Kernel, candidates: _Candidates, measurements: Sequence[Measurement], model: GraphicalModel, budget: RoundBudget
) -> tuple[Clique, NDArray[np.float64], dict[Clique, Candidate]]:
    """The round's marginal, the model's answer to it before measuring, and every candidate as it was seen."""
    used = (kernel.rho_spent + budget.cost(kernel.marginal_l2)) / kernel.rho_total
    allowed = candidates.allowed([m.clique for m in measurements], used)
    answers = {clique: model.marginal(clique) for clique in allowed}
    offsets = {clique: HALF_NORMAL * budget.sigma * answer.size for clique, answer in answers.items()}
    weights = {clique: candidates.weights[clique] for clique in allowed}
    chosen = kernel.select_worst_marginal(answers, weights, offsets, budget.eps)
    seen = {clique: Candidate(weights[clique], offsets[clique], answer.astype(np.float32)) for clique, answer in answers.items()}
    return chosen, answers[chosen], seen
