"""AIM: an adaptive and iterative mechanism (McKenna, Mullins, Sheldon, Miklau 2022, Algorithms 3 and 4).

Measures all one-way marginals, then round by round selects the marginal that the model answers worst, measures it, re-estimates, and
spends more per round when the last measurement taught little. Reads the private table only through the kernel, so its cost is what the
kernel charges: an adaptive composition under a filter.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.folding import Folding
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.graphical.models import (
    BETWEEN,
    BYTES_PER_CELL,
    FINAL,
    MEGABYTE,
    Capacity,
    capacity_mb,
    columns_too_large,
    fit,
    merge_below,
)
from dpsynth_core.mechanisms.graphical.public_prior import NoPrior, Prior
from dpsynth_core.mechanisms.graphical.selections import Choice, Selections, choose
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.rounds import RoundBudget, fitted, measure, sigma_for, total_from
from dpsynth_core.mechanisms.shares import least_error_shares
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.tally import TABLE_BYTES
from dpsynth_core.vocabulary.workload import Workload

ROUNDS_EXPECTED, SECONDS_PER_CANDIDATE = 3.5, 1.5e-4
"""Of a forecast: rounds per column, and what each candidate adds to a round. On 100 columns with all pairs, the first 156 rounds took
0.77 processor seconds each for 5,050 candidates, and two fifths of the budget."""
COUNTED_MB, ROWS_MB = 0.035, 0.05
"""What counting a table takes up to the memory of a pass, and what refining 50,000 rows towards it does."""
WIDE_FIT, WIDE_CANDIDATE, WIDE_TABLE = 1.2e-2, 2.3e-5, 1.2e-2
"""The same of wide tables: seconds of a fit for each column, of each candidate for a selection, and of each table for rows and documents.
On 100 columns (benchmarks/results/wide.md)."""
COLUMNS_ALONE = 2 / 3
"""The share of the budget from which on single columns get all of it, and no table of several columns is asked for."""
WIDE = 50
"""From so many columns of a workload on, rounds and models are made cheaper: see `Aim`."""
COLUMNS_A_TABLE, WIDE_CAPACITY = 10, 1 / 16
"""Of wide tables: columns for each marginal that a round measures, and the share of `max_size_mb` that the model may take. On 50 columns
(benchmarks/wide_rounds.py)."""


@dataclass(frozen=True)
class Aim:
    """Algorithm 4 as published but for seven choices, five of them data-independent. Six rounds per column are planned instead of sixteen,
    since early rounds with little budget mostly measure noise; 256 MB of capacity are the default instead of 80, since nothing of that size
    is ever built here. Single columns share what the paper gives to all of them alike so that their expected error is least: it is the
    columns of many values that noise spoils. And a round never gets so much that fewer than `reserve_rounds` like it could follow: with the
    paper's rule, which is a reserve of one, the last round alone often takes a quarter of the budget, more than any one marginal is worth.
    benchmarks/aim_defaults.py measures them against the paper's. The fifth: values that noisy counts show to be rare are one value to the
    model (`inference.folding`; benchmarks/compression.py).

    The sixth is for wide tables, of `WIDE` columns or more. A round selects and measures a tenth as many marginals as there are columns,
    all of them by the same model and none sharing a column, each for what a round's one marginal costs elsewhere; and the model may take
    a sixteenth of the capacity. A run has a few dozen fits then, whatever the number of columns (benchmarks/wide_rounds.py).

    The last is for tables of few people: columns get more of the budget where noise is large beside the people (`_worth_of_columns`;
    benchmarks/shapes.py). Tried with it, of no use: scores that expect less noise of what was measured before, so that columns are
    measured once more where that helps most.

    Under GDP, where a selection costs pi/2 times as much as under zCDP, a tenth of each round still selects: with 0.934 measuring, which
    divides the noise as zCDP's 0.9 does, or 0.95, some of Adult, Titanic and the demo had a lower error and some a higher one, by 1 or 2 %.
    The paper's all-Gaussian variant, which would select by noisy errors, costs more: with as much noise as the exponential mechanism's, the
    errors of k candidates cost k / 2.6 times what one selection does, 6 times for the 16 most promising."""

    card: ClassVar[Card] = Card(
        name="aim",
        title="AIM",
        summary="Adapts to your workload and your data: measures, round by round, the tables it still gets wrong. The best default.",
        paper="McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), Algorithm 4",
        privacy=(
            "Every round selects one marginal with the exponential mechanism (rho = pi eps^2/16) and measures it with rounded Gaussian "
            "noise (rho = mu^2/2 = sensitivity^2 / (2 sigma^2)). The rounds compose adaptively under Gaussian differential privacy; a "
            "filter refuses any operation that would exceed the total. Beyond epsilon 20 or so the accountant is zCDP, and a selection "
            "costs eps^2/8."
        ),
        accountant=GDP,
    )
    max_size_mb: float = capacity_mb(256.0, f" Of {WIDE} columns and more, a sixteenth is used.")
    rounds_per_attribute: int = whole(6, least=2, most=100, text="The first rounds are paid as if there were this many per column.")
    reserve_rounds: int = whole(8, least=1, most=100, text="Later rounds may cost more, but at least this many must stay affordable.")
    measure_share: float = real(0.9, least=0.1, most=0.99, text="Share of each round's budget that measures; the rest selects.")
    merge_below: float = merge_below()
    column_noise: float = real(
        0.04, least=0.001, most=1000.0, text="Smaller: more of the budget goes to single columns in tables of few people. 1000: none."
    )

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Rough time and memory: one-way marginals must fit the capacity; rounds grow with rho, work with the capacity."""
        reason = columns_too_large(workload.domain, self.max_size_mb)
        if reason:
            return Forecast(False, 0.0, 0.0, reason)
        closure_cells = workload.closure_cells
        columns = len({name for clique in workload.cliques for name in clique})
        model_mb = min(self._capacity_mb(columns), workload.domain.cells(workload.domain.names) * BYTES_PER_CELL // int(MEGABYTE) + 1)
        tables_mb = min(TABLE_BYTES / MEGABYTE, COUNTED_MB * workload.closure_tables) + ROWS_MB * workload.closure_tables
        memory = 330.0 + tables_mb + 6 * closure_cells * BYTES_PER_CELL / MEGABYTE + 5 * model_mb * min(1.0, 2 * rho)
        return Forecast(True, self._seconds(workload, columns, rho), memory)

    def _seconds(self, workload: Workload, columns: int, rho: float) -> float:
        """Processor seconds of a run."""
        measured = min(self.rounds_per_attribute, ROUNDS_EXPECTED) * len(workload.domain)
        if columns >= WIDE:
            fits = measured / marginals_a_round(columns)
            return fits * WIDE_FIT * columns + workload.closure_tables * (WIDE_TABLE + measured * WIDE_CANDIDATE)
        round_seconds = 0.15 + SECONDS_PER_CANDIDATE * workload.closure_tables + 6e-8 * workload.closure_cells
        return measured * (round_seconds + self.max_size_mb / 256.0 * min(1.0, rho))

    def split(self, workload: Workload, _total_is_public: bool) -> Split:
        """The columns of the workload are paid as that many of the planned rounds; later rounds may become fewer and more precise. Where
        noise is large beside the people, columns take more from the other stages, which is known once the first of them are measured."""
        share, columns = self.measure_share, len({name for clique in workload.cliques for name in clique})
        first = share * columns / (self.rounds_per_attribute * len(workload.domain))
        return ((SINGLE, first), (CHOOSING, (1 - share) * (1 - first)), (CHOSEN, share * (1 - first)))

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Algorithm 4. Yields a Measured and a Fitted event per round, then Finished."""
        share, weights = self.measure_share, workload.aim_weights()
        columns: dict[Clique, float] = {r: weight for r, weight in weights.items() if len(r) == 1}
        least = len(columns) / (self.rounds_per_attribute * len(kernel.domain))
        measurements = yield from _measure_columns(kernel, columns, share * least * kernel.rho_total)
        worth = _worth_of_columns(kernel, measurements, self.column_noise)
        columns_alone = worth >= COLUMNS_ALONE
        if worth > least:
            more = kernel.rho_left if columns_alone else share * (worth - least) * kernel.rho_total
            measurements += yield from _measure_columns(kernel, columns, more)
        round_rho = max(least, worth) * kernel.rho_total / len(columns)
        budget = RoundBudget.spending(round_rho, share, kernel.unit.marginal_l2, kernel.selection_price)
        folding = Folding.of(kernel.domain, measurements, self.merge_below)
        capacity = Capacity(folding.model, self._capacity_mb(len(columns)))
        prior = self.prior(kernel, capacity, folding, weights, measurements)
        model = fit(kernel, measurements, stopping=FINAL, assumed=prior.measurements, folding=folding)
        yield fitted(kernel, 0, "first model from one-way marginals")

        number, last, record = 0, columns_alone, Selections()
        while not last:
            number += 1
            choices: list[Choice] = []
            earlier: GraphicalModel | None = model
            while len(choices) < marginals_a_round(len(columns)) and not last:
                budget, last = _capped(budget, kernel, share)
                answers = _answers(kernel, capacity, weights, measurements, model, budget, prior, choices)
                choices.append(_select(kernel, weights, answers, model, budget))
                measurements += yield from measure(kernel, number, [choices[-1].clique], budget.sigma)
                record.add(choices[-1], measurements[-1])
                earlier = earlier if prior.learn(measurements[-1]) else None
            stopping = FINAL if last else BETWEEN
            model = fit(kernel, measurements, earlier, stopping, assumed=prior.measurements, folding=folding)
            yield fitted(kernel, number, f"measured {', '.join(' x '.join(choice.clique) for choice in choices)}")
            if 2 * sum(_taught_little(model, choice) for choice in choices) >= len(choices):
                budget = budget.sharper(_annealing(kernel.rho_left / budget.rho, self.reserve_rounds))
        size = capacity.used_mb(m.clique for m in (*measurements, *prior.measurements))
        details = {"rounds": number, "model_size_mb": size, **prior.details()}
        yield Finished(model, model.total, details, tuple(record.selections), record.considered)

    def _capacity_mb(self, columns: int) -> float:
        return self.max_size_mb * (WIDE_CAPACITY if columns >= WIDE else 1.0)

    def prior(
        self,
        _kernel: Kernel,
        _capacity: Capacity,
        _folding: Folding,
        _weights: Mapping[Clique, float],
        _columns: Sequence[Measurement],
        /,
    ) -> Prior:
        """What is known besides what is measured, once the columns are. weights: of all candidates."""
        return NoPrior()


def _measure_columns(kernel: Kernel, weights: Mapping[Clique, float], rho: float) -> Generator[Step, None, list[Measurement]]:
    """Measure the one-way marginals for `rho` together, divided so that their expected weighted error is least."""
    taken: list[Measurement] = []
    for clique, part in least_error_shares(kernel.domain, weights).items():
        taken += yield from measure(kernel, 0, [clique], sigma_for(part * rho, kernel.unit.marginal_l2))
    return taken


def _worth_of_columns(kernel: Kernel, columns: Sequence[Measurement], column_noise: float) -> float:
    """The share of the budget that single columns deserve: e / (e + column_noise), e being the share of people that noise would put in a
    wrong cell of a column, on average, if columns had all of it. Where that is large, most of what a table of several columns could say is
    drowned. columns: all that was measured."""
    people = max(1.0, total_from(kernel, columns))
    now = HALF_NORMAL * sum(m.values.size * m.deviation for m in columns) / (2 * len(columns) * people)
    with_all = now * math.sqrt(kernel.rho_spent / kernel.rho_total)
    return with_all / (with_all + column_noise)


def _annealing(rounds_left: float, reserve: int) -> float:
    """How much sharper later rounds become: twice (half the sigma, four times the cost), or as much as leaves `reserve` of them."""
    return min(2.0, math.sqrt(max(1.0, rounds_left / reserve)))


def _capped(budget: RoundBudget, kernel: Kernel, share: float) -> tuple[RoundBudget, bool]:
    """When what is left is at most two such rounds, this round takes all of it and is the last."""
    if kernel.rho_left <= 2.0 * budget.rho:
        return RoundBudget.spending(kernel.rho_left, share, kernel.unit.marginal_l2, kernel.selection_price), True
    return budget, False


def marginals_a_round(columns: int) -> int:
    """How many marginals are selected and measured before the model is fitted anew."""
    return columns // COLUMNS_A_TABLE if columns >= WIDE else 1


def _answers(
    kernel: Kernel,
    capacity: Capacity,
    weights: Mapping[Clique, float],
    measurements: Sequence[Measurement],
    model: GraphicalModel,
    budget: RoundBudget,
    prior: Prior,
    choices: Sequence[Choice],
) -> dict[Clique, NDArray[np.float64]]:
    """The model's answers to the marginals of W+ that the capacity allows. choices: the ones of this round, of which those after have no
    column: what they would show is not in the model yet."""
    used = max(prior.room, (kernel.rho_spent + budget.rho) / kernel.rho_total)
    measured = {m.clique for m in (*measurements, *prior.measurements)}
    if not choices:
        return model.marginals(capacity.allowed(measured, weights, used))
    before, last = choices[-1].answers, set(choices[-1].clique)
    return {r: before[r] for r in capacity.allowed(measured, [r for r in before if last.isdisjoint(r)], used)}


def _select(
    kernel: Kernel,
    weights: Mapping[Clique, float],
    answers: Mapping[Clique, NDArray[np.float64]],
    model: GraphicalModel,
    budget: RoundBudget,
) -> Choice:
    """The marginal that the model answers worst beyond the noise it would be measured with."""
    offsets = {r: HALF_NORMAL * budget.sigma * model.folding.model.possible_cells(r) for r in answers}
    return choose(kernel, answers, {r: weights[r] for r in answers}, offsets, budget.eps)


def _taught_little(model: GraphicalModel, choice: Choice) -> bool:
    """Whether measuring changed the model's answer by no more than the noise alone would: time for better measurements."""
    before = choice.seen[choice.clique]
    return float(np.abs(model.marginal(choice.clique) - before.answer).sum()) <= before.offset
