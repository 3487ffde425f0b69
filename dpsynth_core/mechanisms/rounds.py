"""What mechanisms share that select, measure and estimate a graphical model: budgets of a round, the model's capacity, the fit, and the
record of what was selected. Released values only: the private table is reached through the kernel that is handed in.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.estimation import Stopping, estimate, estimate_total
from dpsynth_core.inference.junction_tree import SizeOracle, mask_of
from dpsynth_core.inference.model import GraphicalModel, labels_of
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.parameters import real
from dpsynth_core.mechanisms.steps import Candidate, Fitted, Measured, SelectionRecord, Step
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique, Measurement

BYTES_PER_CELL = 8
MEGABYTE = 1e6

MAX_CELLS = 100_000_000
"""A mechanism that compares the model with many marginals keeps both answers: 16 bytes a cell, and it refuses more cells than this."""

BETWEEN, FINAL = Stopping(iterations=100), Stopping(tolerance=1e-2)
"""The last fit is what is published; it stops while ten iterations still improve it by one part in a hundred: on Adult at eps 10 going on
lowered the loss and raised the error, it fitted noise. The fits between rounds show where the model is wrong and whether a measurement
taught anything; stopped as early, they made AIM spend its budget in too few rounds now and then."""


def capacity_mb(default: float = 80.0) -> float:
    """The parameter."""
    return real(default, least=0.1, most=4096.0, text="Capacity of the model in megabytes (JT-SIZE). More: more accurate, slower.")


@dataclass(frozen=True)
class RoundBudget:
    """One round's noise: sigma (counts) for the measurement, eps for the selection. rho: what both cost together."""

    sigma: float
    eps: float
    rho: float

    @staticmethod
    def spending(rho: float, measure_share: float, l2: float, price: float) -> RoundBudget:
        """A round that costs rho, `measure_share` of it for measuring. price: `Kernel.selection_price`."""
        return RoundBudget(sigma_for(measure_share * rho, l2), eps_for((1.0 - measure_share) * rho, price), rho)

    def sharper(self, factor: float) -> RoundBudget:
        """`factor` times the eps, sigma divided by it: factor^2 times the cost."""
        return RoundBudget(self.sigma / factor, self.eps * factor, self.rho * factor**2)


def sigma_for(rho: float, l2: float) -> float:
    """Noise of a measurement of sensitivity l2 that costs rho."""
    return l2 / math.sqrt(2.0 * rho)


def eps_for(rho: float, price: float) -> float:
    """eps of a selection that costs rho. price: `Kernel.selection_price`."""
    return math.sqrt(rho / price)


class Capacity:
    """How large a model may become: cells of its junction tree's maximal cliques. JT-SIZE (AIM, section 4) is eight bytes a cell.

    The domain's structural zeros are part of every model (AIM, appendix D), and so of its size.
    """

    def __init__(self, domain: Domain, max_size_mb: float) -> None:
        self.cells = max_size_mb * MEGABYTE / BYTES_PER_CELL
        self._domain = domain
        self._sizes = SizeOracle(domain.sizes(domain.names))
        self._masks: dict[Clique, int] = {}
        self._latest: tuple[frozenset[Clique], tuple[int, ...]] = (frozenset(), tuple(self._mask(clique) for clique in domain.zeros))

    def allows(self, measured: Iterable[Clique], candidate: Clique, fraction: float = 1.0) -> bool:
        """Whether a model of `measured` and `candidate` stays within `fraction` of the capacity, or is no larger than it was (a subset)."""
        present, wanted = self._present(measured), self._mask(candidate)
        return any(wanted & other == wanted for other in present) or self._sizes.fits(present, wanted, fraction * self.cells)

    def used_mb(self, measured: Iterable[Clique]) -> float:
        """JT-SIZE of a model of `measured`, in megabytes."""
        return self._sizes.cells(self._present(measured)) * BYTES_PER_CELL / MEGABYTE

    def _present(self, measured: Iterable[Clique]) -> tuple[int, ...]:
        """Masks of what is in the model. Those of the last question are kept: many candidates are asked about the same model."""
        cliques = frozenset(measured)
        if cliques != self._latest[0]:
            self._latest = cliques, tuple(sorted({self._mask(clique) for clique in (*self._domain.zeros, *cliques)}))
        return self._latest[1]

    def _mask(self, clique: Clique) -> int:
        found = self._masks.get(clique)
        if found is None:
            found = self._masks[clique] = mask_of(labels_of(self._domain, clique))
        return found


@dataclass(frozen=True, eq=False)
class Choice:
    """What a selection chose, at which eps, and every candidate as it was seen."""

    clique: Clique
    eps: float
    sensitivity: float
    seen: Mapping[Clique, Candidate]


def choose(
    kernel: Kernel,
    answers: Mapping[Clique, NDArray[np.float64]],
    weights: Mapping[Clique, float],
    offsets: Mapping[Clique, float],
    eps: float,
) -> Choice:
    """Select a marginal with score w_r * (||M_r(D) - answers_r||_1 - offset_r); see `Kernel.select_worst_marginal`."""
    chosen = kernel.select_worst_marginal(answers, weights, offsets, eps)
    seen = {r: Candidate(weights[r], offsets[r], answer.astype(np.float32)) for r, answer in answers.items()}
    return Choice(chosen, eps, max(weights.values()) * kernel.marginal_l1, seen)


def choose_worst(kernel: Kernel, answers: Mapping[Clique, NDArray[np.float64]], eps: float) -> Choice:
    """Select by ||M_r(D) - answers_r||_1 alone."""
    return choose(kernel, answers, dict.fromkeys(answers, 1.0), dict.fromkeys(answers, 0.0), eps)


@dataclass
class Record:
    """What was selected and then measured; error bounds are computed from it (see `Finished`)."""

    selections: list[SelectionRecord] = field(default_factory=list)
    considered: dict[Clique, tuple[int, Candidate]] = field(default_factory=dict)

    def add(self, choice: Choice, measurement: Measurement) -> None:
        """`measurement`: of the chosen marginal, with fresh noise."""
        self.considered.update((clique, (len(self.selections), candidate)) for clique, candidate in choice.seen.items())
        chosen = choice.seen[choice.clique]
        self.selections.append(SelectionRecord(chosen, measurement, choice.eps, choice.sensitivity, len(choice.seen)))


def measure(kernel: Kernel, number: int, cliques: Collection[Clique], sigma: float) -> Generator[Step, None, list[Measurement]]:
    """Measure each of `cliques` at sigma, as part of round `number`. Yields a Measured event each; returns the measurements."""
    taken = []
    for clique in cliques:
        taken.append(kernel.measure_marginal(clique, sigma))
        yield Measured(number, taken[-1], kernel.rho_spent, done(kernel))
    return taken


def fit(
    kernel: Kernel,
    measurements: Sequence[Measurement],
    earlier: GraphicalModel | None = None,
    stopping: Stopping = BETWEEN,
    counted: Sequence[Measurement] = (),
    beside: Sequence[Measurement] = (),
) -> GraphicalModel:
    """Private-PGM's estimate. counted: noisy numbers of rows (measurements of the empty clique), where the mechanism took any.
    beside: what is known of marginals without having been measured; it says nothing of the number of rows."""
    total = kernel.measure_total(1.0) if kernel.total_is_public else estimate_total([*counted, *measurements])
    return estimate(kernel.domain, [*measurements, *beside], total, earlier, stopping)


def count(kernel: Kernel, rho: float, l2: float) -> Measurement:
    """The number of rows, as a measurement of the empty clique: exact where it is public, else for rho, with noise for l2."""
    sigma = sigma_for(rho, l2)
    return Measurement((), np.array(kernel.measure_total(sigma)), sigma, rounding=ROUNDING)


def fitted(kernel: Kernel, number: int, message: str) -> Fitted:
    """The event that reports a fit."""
    return Fitted(number, message, kernel.rho_spent, done(kernel))


def done(kernel: Kernel) -> float:
    """How far a run is: the share of the budget that is spent."""
    return min(1.0, kernel.rho_spent / kernel.rho_total)


def columns_of(domain: Domain) -> list[Clique]:
    """The one-way marginals."""
    return [(name,) for name in domain.names]


def columns_too_large(domain: Domain, max_size_mb: float) -> str:
    """Why not even the one-way marginals and the structural zeros fit the model, or ""."""
    if Capacity(domain, max_size_mb).used_mb(columns_of(domain)) <= max_size_mb:
        return ""
    least = "one-way marginals and the impossible combinations" if domain.zeros else "one-way marginals"
    return f"the {least} alone are larger than the model's capacity; raise max_size_mb or merge values"
