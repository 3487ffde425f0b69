"""AIM: an adaptive and iterative mechanism (McKenna, Mullins, Sheldon, Miklau 2022, Algorithms 3 and 4).

Measures all one-way marginals, then round by round selects the marginal that the model answers worst, measures it, re-estimates, and
spends more per round when the last measurement taught little. Reads the private table only through the kernel, so its cost is what the
kernel charges: an adaptive composition under a filter.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.folding import Folding
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.refinement import MOST_ROWS, PASS_LINES
from dpsynth_core.inference.smoothing import Columns
from dpsynth_core.mechanisms.graphical import aim_forecast
from dpsynth_core.mechanisms.graphical.aim_forecast import Spending
from dpsynth_core.mechanisms.graphical.grouping import Candidates, OfColumns, groups_of, pay, tables_with_groups
from dpsynth_core.mechanisms.graphical.models import (
    BYTES_PER_CELL,
    COLUMNS_SMOOTHED,
    FITS_CHOSEN,
    FITTED_AS_PRINTED,
    MEGABYTE,
    WEIGHTS_KEPT,
    Capacity,
    Fitting,
    capacity_mb,
    columns_too_large,
    fit,
    merge_below,
)
from dpsynth_core.mechanisms.graphical.public_prior import NoPrior, Prior
from dpsynth_core.mechanisms.graphical.selections import Choice, Selections, choose
from dpsynth_core.mechanisms.kernel import Kernel
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.rounds import RoundBudget, fitted, measure, measured_together, sigma_for, total_from
from dpsynth_core.mechanisms.shares import Division, equal_shares, least_error_shares
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.tally import TABLE_BYTES
from dpsynth_core.vocabulary.workload import Workload

MEASURED_A_COLUMN = 3.5
"""Of the forecast of wide tables: marginals for each column."""
COUNTED_MB, TABLE_MB = 0.035, 0.015
"""What counting a table takes up to the memory of a pass, and what refining rows towards it and writing about it do."""
WIDE_FIT, WIDE_CANDIDATE, WIDE_TABLE, WIDE_LINE = 5e-3, 3e-6, 5e-3, 1e-7
"""Of wide tables: seconds of a fit for each column, of each candidate for a selection, of each table for counting and documents, and of
each line of prices for refining rows (`inference.refinement`). Fitted to 100 and 300 columns, 50,000 rows, epsilon 1: 102 and 445 processor
seconds, 484 and 1,627 MB (benchmarks/wide.py)."""
NO_MORE = 1000.0
"""The largest `column_noise`: columns get nothing more, however few people there are."""
COLUMNS_ALONE = 2 / 3
"""The share of the budget from which on single columns get all of it, and no table of several columns is asked for."""
WIDE = 50
"""From so many columns of a workload on, models are made cheaper: see `Aim`."""
WIDE_CAPACITY = 1 / 16
"""Of wide tables: the share of `max_size_mb` that the model may take. On 50 columns (benchmarks/wide_rounds.py)."""
HIDDEN = 0.005
"""The share of the people that the noise of a selection may hide of a column's errors."""
MEASURED_FOR_ONE_MORE = 10
"""A round measures one marginal for each so many that were measured before it, columns included, and one at least."""


@dataclass(frozen=True)
class Rules:
    """What of AIM is no number that people set. shares: how single columns divide their budget. cells: n_r in the scores. hidden: the share
    of the people that the noise of a selection may hide of any column (`Aim._weights`). for_one_more: a round measures one marginal for
    each so many before it. wide: from so many columns on, models are made cheaper. fitting: of all models."""

    shares: Division = least_error_shares
    cells: Callable[[Domain, Clique], int] = Domain.possible_cells
    hidden: float = HIDDEN
    for_one_more: float = MEASURED_FOR_ONE_MORE
    wide: float = WIDE
    fitting: Fitting = Fitting()


@dataclass(frozen=True, eq=False)
class _Start:
    """What rounds start from, once single columns are measured. kernel: of the columns and their groups of values. budget: of a round.
    believed: of the columns. prior: what is known of tables of several."""

    kernel: Kernel
    budget: RoundBudget
    candidates: Candidates
    folding: Folding
    capacity: Capacity
    believed: Columns
    prior: Prior


@dataclass(frozen=True)
class Aim:
    """Algorithm 4 as published but for ten choices, five of them data-independent. Six rounds per column are planned instead of sixteen,
    since early rounds with little budget mostly measure noise; 256 MB of capacity are the default instead of 80, since nothing of that size
    is ever built here. Single columns share what the paper gives to all of them alike so that their expected error is least: it is the
    columns of many values that noise spoils. And a round never gets so much that fewer than `reserve_rounds` like it could follow: with the
    paper's rule, which is a reserve of one, the last round alone often takes a quarter of the budget, more than any one marginal is worth.
    benchmarks/aim_figures.py measures all of them against the paper's. The fifth: values that noisy counts show to be rare are one value to
    the model (`inference.folding`; benchmarks/compression.py).

    The sixth: the more is measured, the less one marginal more changes the model. So a round selects and measures a tenth as many as were
    measured before it, all of them by the same model and no two sharing two columns, each for what a round's one marginal would cost. A
    fifteenth is as accurate and slower, a seventh worse on some tables. It changes the error of Adult by -1, -1 and -6 % at epsilon 0.1, 1
    and 10, of 16 columns of two values by -3 and -15 % at 0.1 and 1, and halves the fits (benchmarks/shapes.py). Tried with it, of no use:
    that no two share a column, where the last ones of a round are what is left (Adult at epsilon 1 errs 1 % less, the columns of two values
    at 0.1 10 % more); more precise rounds only where half of five measurements taught little. Of wide tables, of `WIDE` columns or more,
    the model may take but a sixteenth of the capacity (benchmarks/wide_rounds.py).

    The seventh is for tables of few people: columns get more of the budget where noise is large beside the people (`Aim._worth`;
    benchmarks/shapes.py). Tried with it, of no use: scores that expect less noise of what was measured before, so that columns are
    measured once more where that helps most.

    The eighth: noisy columns are smoothed as far as they show that neighbouring values are alike or many of them rare
    (`inference.smoothing`), because where people are few or epsilon is small, half of what noise does to the error comes from single
    columns. AIM errs 9 and 13 % less on Titanic at epsilon 1 and 0.1, 17 % less on 2,000 people at 0.1, 16 % less on a column of 500
    values at 0.1; elsewhere as before (benchmarks/shapes.py).

    The ninth: where noise is large, light columns count as heavy ones in the scores (`Aim._weights`). Where one column is in every table
    of the workload, the printed weights make the noise of a selection, which is that of the heaviest table, several times as large in
    pairs without it, though every table has such a pair. On all triples with one column AIM errs 18, 2 and 0 % less at epsilon 0.1 on the
    demo, Adult and Titanic, and 16, 2 and 6 % less at 1; on the paper's skewed workload of the demo 8 and 9 % less, of Titanic 0 and 3 %.
    Where noise is small, or all columns are in as many tables, nothing changes; between the two, Titanic's skewed one errs 2 % more at 10.
    Tried with it, of no use: other norms of the weights of a column's tables than their sum, at any noise (the root of the sum of squares:
    10 and 17 % less on the demo at 0.1 and 1, 5 % more at 10); single columns that divide their budget by flatter weights (Titanic at 0.1
    2 % more).

    The last: columns of many values have groups of values as further columns (`grouping`), so that a table of 32 by 32 cells may be
    measured as one of 8 by 8, with far less noise. A round takes the form that promises most. Where noise is small they are left out. The
    model ties groups to their columns, and within a group values are independent of what was measured of the group alone. On Adult, all
    three-way marginals, that lowers the error by 6 to 7 % at epsilon 0.1 and 1 and costs about twice the time (benchmarks/shapes.py). Tried
    with it, of no use: only all columns of a table in groups or none; two sizes of groups, one within the other; the square root of the
    weights w_r in the scores, which gains another 1 % and takes ten times as long; offsets of 0.7 and 1.4 times the expected noise.

    Under GDP, where a selection costs pi/2 times as much as under zCDP, a tenth of each round still selects: with 0.934 measuring, which
    divides the noise as zCDP's 0.9 does, or 0.95, some of Adult, Titanic and the demo had a lower error and some a higher one, by 1 or 2 %.
    The paper's all-Gaussian variant, which would select by noisy errors, costs more: with as much noise as the exponential mechanism's, the
    errors of k candidates cost k / 2.6 times what one selection does, 6 times for the 16 most promising."""

    card: Card = Card(
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
        differences=(
            "Accounted under Gaussian differential privacy; the paper's is zCDP.",
            "The first rounds are planned for 6 rounds per column, the paper's T is 16; rounds keep a reserve of 8, the paper's rule of 1.",
            "The model may take 256 MB (JT-SIZE), the paper's 80.",
            "Single columns divide their budget for the least expected error; the paper measures all with one sigma.",
            "Columns get more of the budget where noise is large beside the people; the paper fixes their share.",
            "A score subtracts the noise of the possible cells alone; the paper's of all cells.",
            "Where noise is large, columns in few tables weigh as much in a score as those in many; the paper counts their tables. All "
            "triples with one column of the demo err 18 and 16% less at epsilon 0.1 and 1.",
            "Fits end early, as soon as they would follow noise; the paper prints the minimum.",
            COLUMNS_SMOOTHED,
            "Columns of many values are measured in groups of values too, where that promises more; the paper measures all values.",
            "Rare values that noise hides are one to the model, and finished rows are moved towards it; the paper has neither.",
            f"A round measures one table for each {MEASURED_FOR_ONE_MORE} before it; the paper's rounds measure one.",
            f"From {WIDE} columns on the model may take a sixteenth of its size; the paper has no such rule.",
            WEIGHTS_KEPT,
            "All together: 0.71 times the published one's error on average, in 14 settings of Titanic and the demo.",
        ),
    )
    max_size_mb: float = capacity_mb(256.0, f" Of {WIDE} columns and more, a sixteenth is used.")
    rounds_per_attribute: int = whole(6, least=2, most=100, text="The first rounds are paid as if there were this many per column.")
    reserve_rounds: int = whole(8, least=1, most=100, text="Later rounds may cost more, but at least this many must stay affordable.")
    measure_share: float = real(0.9, least=0.1, most=0.99, text="Share of each round's budget that measures; the rest selects.")
    merge_below: float = merge_below()
    groups: int = whole(8, least=0, most=64, text="Columns of many values are also measured in so many groups of values. 0: never.")
    column_noise: float = real(
        0.04, least=0.001, most=NO_MORE, text="Smaller: more of the budget goes to single columns in tables of few people. 1000: none."
    )
    rules: Rules = Rules()

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """As for an ordinary number of people."""
        return self.forecast_for(workload, rho, aim_forecast.PEOPLE_ASSUMED)

    def forecast_for(self, workload: Workload, rho: float, people: float) -> Forecast:
        """One-way marginals must fit the capacity; how many rounds the budget lasts for depends on the people (`aim_forecast`)."""
        reason = columns_too_large(workload.domain, self.max_size_mb)
        if reason:
            return Forecast(False, 0.0, 0.0, reason)
        columns: dict[Clique, float] = {r: weight for r, weight in workload.aim_weights().items() if len(r) == 1}
        if len(columns) >= self.rules.wide:
            return self._forecast_wide(workload, len(columns), rho, people)
        shares = self.rules.shares(workload.domain, columns)
        least = self._least(len(columns), workload.domain)
        worth = self._portions(least, aim_forecast.noise_of_columns(workload.domain, shares, rho, people))[0]
        spending = Spending(
            single=worth,
            shares=shares,
            columns_alone=worth >= COLUMNS_ALONE,
            measure_share=self.measure_share,
            reserve_rounds=self.reserve_rounds,
            capacity=self.max_size_mb * MEGABYTE / BYTES_PER_CELL,
            merge_below=self.merge_below,
            for_one_more=self.rules.for_one_more,
        )
        rounds = aim_forecast.walked(workload, rho, people, spending)
        most = self._most_groups(workload.domain, len(columns), sigma_for(self.measure_share * spending.first_round * rho, 1.0) / people)
        candidates = tables_with_groups(workload, most) / workload.closure_tables
        seconds = aim_forecast.seconds(workload, rounds, people, candidates)
        return Forecast(True, seconds, aim_forecast.memory_mb(workload, rounds, people, candidates))

    def _forecast_wide(self, workload: Workload, columns: int, rho: float, people: float) -> Forecast:
        """Of as many rounds for whatever number of people; how many rows are refined depends on them."""
        tables, measured = workload.closure_tables, min(self.rounds_per_attribute, MEASURED_A_COLUMN) * len(workload.domain)
        fits = self.rules.for_one_more * math.log1p(measured / columns)
        lines = min(PASS_LINES, min(people, MOST_ROWS) * sum(map(len, workload.aim_weights())))
        seconds = fits * WIDE_FIT * columns + tables * (WIDE_TABLE + measured * WIDE_CANDIDATE) + lines * WIDE_LINE
        cells = workload.domain.cells(workload.domain.names)
        model_mb = min(self._capacity_mb(columns), cells * BYTES_PER_CELL // int(MEGABYTE) + 1)
        tables_mb = min(TABLE_BYTES / MEGABYTE, COUNTED_MB * tables) + TABLE_MB * tables
        memory = 330.0 + tables_mb + 6 * workload.closure_cells * BYTES_PER_CELL / MEGABYTE + 5 * model_mb * min(1.0, 2 * rho)
        return Forecast(True, seconds, memory)

    def split(self, workload: Workload, _total_is_public: bool) -> Split:
        """The columns of the workload are paid as that many of the planned rounds; later rounds may become fewer and more precise. Where
        noise is large beside the people, columns take more from the other stages, which is known once the first of them are measured."""
        share, columns = self.measure_share, len({name for clique in workload.cliques for name in clique})
        first = share * self._least(columns, workload.domain)
        return ((SINGLE, first), (CHOOSING, (1 - share) * (1 - first)), (CHOSEN, share * (1 - first)))

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Algorithm 4. Yields a Measured and a Fitted event per round, then Finished."""
        share, weights = self.measure_share, workload.aim_weights()
        columns: dict[Clique, float] = {r: weight for r, weight in weights.items() if len(r) == 1}
        least = self._least(len(columns), kernel.domain)
        fitting, divide = self.rules.fitting, self.rules.shares
        measurements = yield from _measure_columns(kernel, divide(kernel.domain, columns), share * least * kernel.rho_total)
        spent = least
        for worth in self._portions(least, _noise_of_columns(kernel, measurements)):
            columns_alone = worth >= COLUMNS_ALONE
            if worth > spent:
                more = kernel.rho_left if columns_alone else share * (worth - spent) * kernel.rho_total
                measurements += yield from _measure_columns(kernel, divide(kernel.domain, columns), more)
            spent = worth
            start = self._start(kernel, weights, measurements, worth * kernel.rho_total / len(columns))
            if start.prior.marginals:
                break
        domain, kernel, budget, prior = kernel.domain, start.kernel, start.budget, start.prior
        candidates, folding, capacity, believed = start.candidates, start.folding, start.capacity, start.believed
        model = fit(kernel, measurements, stopping=fitting.final, assumed=prior.marginals, folding=folding, columns=believed)
        yield fitted(kernel, 0, "first model from one-way marginals")

        number, last, record = 0, columns_alone, Selections()
        while not last:
            number += 1
            choices: list[Choice] = []
            earlier: GraphicalModel | None = model
            together = measured_together(len(columns) + len(record.selections), self.rules.for_one_more)
            while len(choices) < together and not last:
                capped = _capped(budget, kernel, share)
                answers = _answers(kernel, capacity, candidates, measurements, model, capped[0], prior, choices)
                if not answers:
                    break  # every other one is too like those of this round
                budget, last = capped
                choices.append(self._select(kernel, candidates, columns, answers, model, budget, choices[-1] if choices else None))
                measurements += yield from measure(kernel, number, [choices[-1].clique], budget.sigma)
                record.add(choices[-1], measurements[-1])
                earlier = earlier if prior.learn(measurements[-1], model) else None
            stopping = fitting.final if last else fitting.between
            model = fit(kernel, measurements, earlier, stopping, assumed=prior.marginals, folding=folding, columns=believed)
            yield fitted(kernel, number, f"measured {', '.join(' x '.join(choice.clique) for choice in choices)}")
            if 2 * sum(_taught_little(model, choice) for choice in choices) >= len(choices):
                budget = budget.sharper(_annealing(kernel.rho_left / budget.rho, self.reserve_rounds))
        size = capacity.used_mb(_cliques(measurements, prior))
        details = {"rounds": number, "model_size_mb": size, **prior.details()}
        considered = {clique: last for clique, last in record.considered.items() if clique in weights}
        finished = model if kernel.domain is domain else OfColumns(model, domain)
        yield Finished(fitting.finish(finished), model.total, details, tuple(record.selections), considered)

    def _portions(self, least: float, noise: float) -> tuple[float, ...]:
        """The shares of the budget that single columns get, ascending: the next one only where, after the one before, nothing else is known
        of tables of several. noise: as in `_worth`."""
        return (max(least, self._worth(noise)),)

    def _start(self, kernel: Kernel, weights: Mapping[Clique, float], columns: Sequence[Measurement], rho: float) -> _Start:
        """What the rounds start from. columns: all measurements of them. rho: of a round."""
        number = len({measurement.clique for measurement in columns})
        budget = RoundBudget.spending(rho, self.measure_share, kernel.unit.marginal_l2, kernel.selection_price)
        grouping = self._groups(kernel, columns, number, budget.sigma)
        kernel = kernel.grouped(grouping) if grouping else kernel
        folding = Folding.of(kernel.domain, columns, self.merge_below)
        capacity = Capacity(folding.model, self._capacity_mb(number))
        believed = self.rules.fitting.columns(kernel.domain, columns)
        prior = self.prior(kernel, capacity, folding, weights, columns, grouping, believed)
        return _Start(kernel, budget, Candidates.of(kernel.domain, weights, grouping), folding, capacity, believed, prior)

    def _worth(self, noise: float) -> float:
        """The share of the budget that single columns deserve: e / (e + column_noise), e being `_noise_of_columns`. Where that is large,
        most of what a table of several columns could say is drowned. Nothing for `NO_MORE`."""
        return 0.0 if self.column_noise == NO_MORE else noise / (noise + self.column_noise)

    def _groups(self, kernel: Kernel, columns: Sequence[Measurement], number: int, sigma: float) -> tuple[Groups, ...]:
        """Of values, whose tables are candidates too. number: of columns. sigma: of a round."""
        return groups_of(kernel.domain, columns, self._most_groups(kernel.domain, number, sigma / max(1.0, total_from(kernel, columns))))

    def _most_groups(self, domain: Domain, columns: int, noise: float) -> int:
        """None in wide tables, which have many candidates as it is, and where they are not worth their time. noise: as a share of the
        people."""
        return self.groups if columns < self.rules.wide and pay(domain, self.groups, noise) else 0

    def _least(self, columns: int, domain: Domain) -> float:
        """The share of the budget that so many columns of a workload get at least, with what selecting would cost."""
        return columns / (self.rounds_per_attribute * len(domain))

    def _capacity_mb(self, columns: int) -> float:
        return self.max_size_mb * (WIDE_CAPACITY if columns >= self.rules.wide else 1.0)

    def _select(
        self,
        kernel: Kernel,
        candidates: Candidates,
        columns: Mapping[Clique, float],
        answers: Mapping[Clique, NDArray[np.float64]],
        model: GraphicalModel,
        budget: RoundBudget,
        before: Choice | None,
    ) -> Choice:
        """The marginal that the model answers worst beyond the noise it would be measured with. columns: their w_r. before: the choice
        before it by this model."""
        if before is not None and before.eps != budget.eps:
            before = None  # the noise is another as well
        cells, possible = self.rules.cells, model.folding.model
        offsets = before.offsets if before else {r: HALF_NORMAL * budget.sigma * cells(possible, r) for r in answers}
        noise = 2 * kernel.unit.marginal_l1 / (budget.eps * model.total)
        weights = {r: before.seen[r].weight for r in answers} if before else candidates.weighing(self._weights(columns, noise))
        return choose(kernel, answers, weights, offsets, budget.eps, before)

    def _weights(self, columns: Mapping[Clique, float], noise: float) -> dict[str, float]:
        """What each column weighs in the scores: w_r as printed, but at least so much that the noise of a selection hides no more of its
        errors than `hidden`, or as much as the heaviest. columns: their w_r. noise: in the errors of the heaviest, as a share of the
        people."""
        heaviest = max(columns.values())
        least = heaviest * min(1.0, noise / self.rules.hidden)
        return {name: max(weight, least) for (name,), weight in columns.items()}

    def prior(
        self,
        _kernel: Kernel,
        _capacity: Capacity,
        _folding: Folding,
        _weights: Mapping[Clique, float],
        _columns: Sequence[Measurement],
        _groups: Sequence[Groups],
        _believed: Columns,
        /,
    ) -> Prior:
        """What is known besides what is measured, once the columns are. weights: of the candidates over columns alone.
        groups: of values."""
        return NoPrior()


def _measure_columns(kernel: Kernel, shares: Mapping[Clique, float], rho: float) -> Generator[Step, None, list[Measurement]]:
    """Measure the one-way marginals for `rho` together. shares: each one's part of it."""
    taken: list[Measurement] = []
    for clique, part in shares.items():
        taken += yield from measure(kernel, 0, [clique], sigma_for(part * rho, kernel.unit.marginal_l2))
    return taken


def _noise_of_columns(kernel: Kernel, columns: Sequence[Measurement]) -> float:
    """The share of people that noise would put in a wrong cell of a column, on average, if columns had all of the budget. columns: all that
    was measured."""
    people = max(1.0, total_from(kernel, columns))
    now = HALF_NORMAL * sum(m.values.size * m.deviation for m in columns) / (2 * len(columns) * people)
    return now * math.sqrt(kernel.rho_spent / kernel.rho_total)


def _annealing(rounds_left: float, reserve: int) -> float:
    """How much sharper later rounds become: twice (half the sigma, four times the cost), or as much as leaves `reserve` of them."""
    return min(2.0, math.sqrt(max(1.0, rounds_left / reserve)))


def _capped(budget: RoundBudget, kernel: Kernel, share: float) -> tuple[RoundBudget, bool]:
    """When what is left is at most two such rounds, this round takes all of it and is the last."""
    if kernel.rho_left <= 2.0 * budget.rho:
        return RoundBudget.spending(kernel.rho_left, share, kernel.unit.marginal_l2, kernel.selection_price), True
    return budget, False


def _answers(
    kernel: Kernel,
    capacity: Capacity,
    candidates: Candidates,
    measurements: Sequence[Measurement],
    model: GraphicalModel,
    budget: RoundBudget,
    prior: Prior,
    choices: Sequence[Choice],
) -> dict[Clique, NDArray[np.float64]]:
    """The model's answers to the marginals of W+ that the capacity allows. choices: the ones of this round. Those after share no two
    columns with them, and are no part of one: what they showed is not in the model yet."""
    used = max(prior.room, (kernel.rho_spent + budget.rho) / kernel.rho_total)
    measured = _cliques(measurements, prior)
    if not choices:
        return candidates.answers(model, capacity.allowed(measured, candidates.weights, used))
    before, latest = choices[-1].answers, set(choices[-1].clique)
    others = [r for r in before if len(latest.intersection(r)) < min(2, len(r))]
    return {r: before[r] for r in capacity.allowed(measured, others, used)}


def _cliques(measurements: Sequence[Measurement], prior: Prior) -> set[Clique]:
    """What a model of both holds."""
    return {m.clique for m in measurements} | {m.clique for m in prior.marginals}


def _taught_little(model: GraphicalModel, choice: Choice) -> bool:
    """Whether measuring changed the model's answer by no more than the noise alone would: time for better measurements."""
    before = choice.seen[choice.clique]
    return float(np.abs(model.marginal(choice.clique) - before.answer).sum()) <= before.offset


PUBLISHED = Aim(
    card=printed(
        Aim.card,
        FITS_CHOSEN,
        WEIGHTS_KEPT,
        "A subset of a measured table is always a candidate, as it leaves JT-SIZE as it is.",
        "Scores have the sensitivity max w_r of Algorithm 4; the generalised exponential mechanism is not used.",
        accountant=ZCDP,
        privacy=(
            "Every round selects one marginal with the exponential mechanism (rho = eps^2/8) and measures it with rounded Gaussian noise "
            "(rho = sensitivity^2 / (2 sigma^2)). The rounds compose adaptively under zero-concentrated differential privacy; a filter "
            "refuses any operation that would exceed the total."
        ),
    ),
    max_size_mb=80.0,
    rounds_per_attribute=16,
    reserve_rounds=1,
    measure_share=0.9,
    merge_below=0.0,
    groups=0,
    column_noise=NO_MORE,
    rules=Rules(equal_shares, Domain.cells, hidden=math.inf, for_one_more=math.inf, wide=math.inf, fitting=FITTED_AS_PRINTED),
)
"""Algorithms 2, 3 and 4 as printed (McKenna et al. 2022)."""
