"""AIM: an adaptive and iterative mechanism (McKenna, Mullins, Sheldon, Miklau 2022, Algorithms 2, 3 and 4).

Measures all one-way marginals, then round by round selects the marginal that the model answers worst, measures it, re-estimates, and
spends more per round when the last measurement taught little. Reads the private table only through the kernel, so its cost is what the
kernel charges: an adaptive composition under a filter.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import cast

import numpy as np

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.mechanisms.graphical import aim_forecast, aim_strategies, dependence
from dpsynth_core.mechanisms.graphical.aim_strategies import (
    COLUMNS_ALONE,
    HIDDEN_TABLE,
    LARGE_GAP,
    NO_MORE,
    PLANNED,
    PRINTED,
    USUAL_GAP,
    AimParameters,
)
from dpsynth_core.mechanisms.graphical.grouping import Candidates, OfColumns, groups_of
from dpsynth_core.mechanisms.graphical.levels import Levels, believed, divided
from dpsynth_core.mechanisms.graphical.models import (
    Answers,
    Booleans,
    Capacity,
    Choice,
    Fit,
    Pool,
    Selecting,
    Selections,
    fit,
    none_fits,
)
from dpsynth_core.mechanisms.graphical.prior import NoPrior, Prior
from dpsynth_core.mechanisms.mechanism import Card, Forecast
from dpsynth_core.mechanisms.rounds import TOTAL_SHARE, RoundBudget, count_people, fitted, measure, sigma_for, total_from
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True, eq=False)
class _Start:
    """The state at the start of the rounds, once single columns are measured.

    Attributes:
        kernel: The kernel, whose domain has the columns and their groups of values.
        measurements: The measurements of the columns by their cells, and of tables measured before
            the rounds.
        columns: The weights w_r of the columns.
        columns_only: Whether no budget is left for tables of several columns.
        budget: The budget of the first round.
        candidates: The tables to choose from.
        capacity: The largest size of a model.
        fit: Private-PGM with this run's kernel, folding and smoothed columns.
        prior: Knowledge about tables of several columns before they are measured.
    """

    kernel: Kernel
    measurements: list[Measurement]
    columns: Mapping[Clique, float]
    columns_only: bool
    budget: RoundBudget
    candidates: Candidates
    capacity: Capacity
    fit: Fit
    prior: Prior

    def allowed(self, pool: Pool, measured: Sequence[Measurement], budget: RoundBudget) -> Booleans:
        """Return which tables of the pool a round may select: C_t of Algorithm 4.

        A table is allowed if the model with it takes no larger share of its capacity than the share
        of the budget spent by the end of the round. If no table is allowed, the whole capacity
        counts, because published tables may have taken up the share.

        Args:
            pool: The tables.
            measured: The measurements so far.
            budget: The budget of the round.
        """
        share = max(self.prior.room, (self.kernel.rho_spent + budget.rho) / self.kernel.rho_total)
        fits = self.capacity.fitting(self.cliques(measured), pool, share)
        return fits if fits.any() else self.capacity.fitting(self.cliques(measured), pool)  # published tables may have taken the share

    def cliques(self, measured: Sequence[Measurement]) -> set[Clique]:
        """Return the cliques of a model of these measurements and the prior's marginals."""
        return {m.clique for m in measured} | {m.clique for m in self.prior.marginals}


@dataclass(frozen=True)
class Aim(AimParameters):
    """Algorithm 4 with the strategies of `aim_strategies`; `PUBLISHED` has the printed ones."""

    card: Card = aim_strategies.OURS

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) for 50,000 people, or why the run is refused.

        Args:
            workload: The tables that are asked for.
            rho: The budget, in rho.
        """
        return self.forecast_for(workload, rho, aim_forecast.PEOPLE_ASSUMED)

    def forecast_for(self, workload: Workload, rho: float, people: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) for a number of people, or why the run is refused.

        One-way marginals must fit the capacity. The number of people decides how many rounds the
        budget lasts for.

        Args:
            workload: The tables that are asked for.
            rho: The budget, in rho.
            people: Number of people divided by the number of counts that one person changes.
        """
        return aim_forecast.forecast(self, workload, rho, people)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run Algorithm 4, whose lines the comments name, with the kernel's whole budget; yield its steps.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each table, a Fitted for each estimate of the model, then a Finished.
        """
        domain, fitting, together = kernel.domain, self.strategies.fitting, self.strategies.together
        start = yield from self._initialize(kernel, workload)
        kernel, measurements, budget, prior = start.kernel, start.measurements, start.budget, start.prior
        model = start.fit(measurements, stopping=fitting.final, assumed=prior.marginals)  # line 7
        yield fitted(kernel, 0, "first model from one-way marginals")
        number, last, record, every = 0, start.columns_only, Selections(), start.capacity.pool(start.candidates.weights)
        while not last:
            number += 1
            pool, choices = every, list[Choice]()
            among, earlier = np.ones(len(pool.tables), dtype=bool), cast(GraphicalModel | None, model)
            selecting: Selecting | None = None
            answers: Answers = {}
            for _ in range(together(len(start.columns) + len(record.selections))):
                # lines 13 and 14: select the worst answer among tables that the capacity allows
                affordable, exhausted = budget.affordable(kernel, self.measure_share)
                among &= start.allowed(pool, measurements, affordable)
                if not among.any():
                    break  # every other table shares two columns with one of this round
                budget, last = affordable, exhausted
                if selecting is None or selecting.eps != budget.eps:
                    pool, among = pool.only(among), np.ones(int(among.sum()), dtype=bool)
                    answers = {r: answers[r] for r in pool.tables} if answers else start.candidates.answers(model, pool.tables)
                    selecting = self._selecting(start, model, answers, budget)
                choices.append(selecting.draw(among))
                among &= pool.unrelated(choices[-1].clique)
                # line 15: measure it
                measurements += yield from measure(kernel, number, [choices[-1].clique], budget.sigma)
                record.add(choices[-1], measurements[-1])
                earlier = earlier if prior.learn(measurements[-1], model) else None
                if last:
                    break
            last = last or not choices
            # line 16: estimate the distribution
            model = start.fit(measurements, earlier, fitting.final if last else fitting.between, assumed=prior.marginals)
            yield fitted(kernel, number, f"measured {', '.join(' x '.join(choice.clique) for choice in choices)}")
            # line 17: anneal
            if 2 * sum(choice.taught_little(model) for choice in choices) >= len(choices):
                budget = budget.annealed(kernel.rho_left, self.reserve_rounds, self.strategies.annealing)
        details = {"rounds": number, "model_size_mb": start.capacity.used_mb(start.cliques(measurements)), **prior.details()}
        considered = {r: seen for r, seen in record.considered.items() if r not in start.candidates.finer}
        finished = model if kernel.domain is domain else OfColumns(model, domain)
        yield Finished(fitting.finish(finished), model.total, details, tuple(record.selections), considered)

    def _initialize(self, kernel: Kernel, workload: Workload) -> Generator[Step, None, _Start]:
        """Run Algorithm 2, with a division of the budget between columns that depends on the noise.

        Columns get more where noise is large relative to the number of people, and if the workload
        has few tables, these are measured before any round (`_planned`). Tables in `workload.first`
        are always measured before any round. The steps are yielded, and the state is returned (by
        `yield from`).
        """
        every, domain = workload.aim_weights(), kernel.domain
        first = domain.unpublished(workload.first)
        weights = {r: every[r] for r in domain.unpublished(every)}
        columns: dict[Clique, float] = {r: weight for r, weight in every.items() if len(r) == 1}
        own = {r: weight for r, weight in columns.items() if r in weights}
        ranged = [name for name in workload.ranges if (name,) in own]
        levels = self.strategies.levels(domain, ranged) if len(columns) < self.strategies.wide else {}
        leveled = kernel.grouped(list(chain.from_iterable(levels.values()))) if levels else kernel
        shares = self.strategies.divide(domain, own) if own else {}
        parts = divided(shares, levels)
        measurements, spent = list[Measurement](), 0.0
        if not own and not kernel.unit.total_is_public:
            measurements.append((yield from count_people(kernel, TOTAL_SHARE)))

        def spend(share: float) -> Iterator[Step]:
            """Measure columns until this share of the budget is spent on them, and yield the steps.

            From COLUMNS_ALONE on, the whole remaining budget is spent, because too little would be
            left for other tables.
            """
            nonlocal spent
            if share > spent:
                more = kernel.rho_left if share >= COLUMNS_ALONE else self.measure_share * (share - spent) * kernel.rho_total
                measurements.extend((yield from _measured(leveled, parts, more)))
                spent = share

        yield from spend(self.least_for_columns(weights, domain))
        each, gap = _noise_of_columns(kernel, measurements), USUAL_GAP
        noise = aim_strategies.mean_noise(each)
        loud = {m.clique[0] for m, is_loud in zip(_cells_of(measurements), aim_strategies.loud(each), strict=True) if is_loud}
        parts = divided(aim_strategies.halves_equal(shares), levels) if loud else parts
        if not first and spent < COLUMNS_ALONE and self.asks(noise, len(columns)) and any(len(r) == 2 for r in weights):
            yield from spend(self.share_beside(noise, LARGE_GAP))
            gap = self._gap(kernel, weights, [m for m in measurements if not m.groups], noise)
        for share in (spent,) if first else self.shares_for_columns(spent, noise, gap):
            yield from spend(share)
            start = self._start(kernel, weights, columns, levels, measurements, share)
            if start.prior.marginals:
                break
        asked = domain.unpublished(r for r in workload.weights if len(r) > 1)
        if first:
            rho = aim_strategies.share_first(workload) * kernel.rho_left
            planned: Mapping[Clique, float] = self.strategies.divide(domain, {r: workload.weights[r] for r in first})
        else:
            seen = {r: workload.weights[r] for r in asked if loud.isdisjoint(r)}
            rho = PLANNED * kernel.rho_left * len(seen) / max(1, len(asked))  # rounds keep the part of the others
            planned = self._planned(start, seen, rho, gap)
        start.measurements.extend((yield from _measured(start.kernel, planned, rho)))
        return start

    def _gap(self, kernel: Kernel, tables: Iterable[Clique], columns: Sequence[Measurement], noise: float) -> float:
        """Return the estimated mean dependence of pairs of columns, as a share of people in a wrong cell.

        The estimate (`dependence.gap`) is raised to at least half of its own standard deviation,
        and where columns have little noise, to that noise: otherwise columns could get the whole
        budget, although one of many pairs that look independent may be dependent.

        Args:
            kernel: The kernel, which is charged.
            tables: The tables of the workload, of which the pairs are used.
            columns: The measurements of the columns by their cells.
            noise: Mean noise of the columns (`aim_strategies.mean_noise`).
        """
        believed = self.strategies.fitting.columns(kernel.domain, columns, kernel.known)
        model = fit(kernel, columns, columns=believed)
        found, doubt = dependence.gap(kernel, [r for r in tables if len(r) == 2], model, columns, believed, noise)
        return max(found, min(doubt, USUAL_GAP) / 2, noise if noise < dependence.NOISY else 0.0)

    def _planned(self, start: _Start, tables: Mapping[Clique, float], rho: float, gap: float) -> Mapping[Clique, float]:
        """Return each table's share of `rho` if all these tables are measured before any round; empty if they are not.

        Measuring them at once saves the cost of selections. It applies to few tables that fit one
        model, if noise puts no more people in a wrong cell than independence of the columns would
        (the gap). It does not apply if noise would hide a table and so waste its share, or if a
        prior knows tables already.

        Args:
            start: The state before any round.
            tables: The weights c_r of the workload's tables of several columns, without tables of a
                loud column, which noise hides.
            rho: The budget for all these tables.
            gap: The dependence of the columns, as in `_gap`.
        """
        domain = start.kernel.domain
        few = 0 < len(tables) <= self.strategies.planned and start.capacity.used_mb(tables) <= self.max_size_mb
        if start.columns_only or start.prior.marginals or not few:
            return {}
        parts, l2 = self.strategies.divide(domain, tables), start.kernel.unit.marginal_l2
        model = start.fit(start.measurements)
        moved = {r: dependence.noise_in(model.marginal(r), sigma_for(parts[r] * rho, l2)) / (2 * model.total) for r in tables}
        hidden = max(moved.values()) > HIDDEN_TABLE
        return parts if not hidden and sum(c * moved[r] for r, c in tables.items()) <= gap * sum(tables.values()) else {}

    def _start(
        self,
        kernel: Kernel,
        weights: Mapping[Clique, float],
        columns: Mapping[Clique, float],
        levels: Levels,
        every: Sequence[Measurement],
        share: float,
    ) -> _Start:
        """Return the state before the rounds: groups of values, capacity and prior that follow from the noisy columns.

        Args:
            kernel: The kernel.
            weights: The weights w_r of all tables that may be measured.
            columns: The weights w_r of all columns.
            levels: The levels of columns whose ranges are asked for.
            every: The measurements of columns and of their levels.
            share: The share of the budget for columns.
        """
        measured, people = [m for m in every if not m.groups], total_from(kernel, every)
        believe = believed(levels, every, people) if levels else self.strategies.fitting.columns
        own, published = kernel.domain.unpublished(columns), kernel.domain.published_columns()
        rho = share * kernel.rho_total / len(own) if own else kernel.rho_total / (self.rounds_per_attribute * len(columns))
        budget = RoundBudget.spending(rho, self.measure_share, kernel.unit.marginal_l2, kernel.selection_price)
        noise = budget.sigma / max(1.0, people)
        seen = [*measured, *(Measurement(r, shares * people, 1.0) for r, shares in published.items())]
        groups = groups_of(kernel.domain, seen, self.most_groups(kernel.domain, len(columns), noise))
        if groups and published:  # which may leave room for tables, and none for groups
            tables = [r for r in weights if len(r) > 1]
            groups = () if none_fits(kernel.grouped(groups).domain, tables, self.capacity_mb(len(columns))) else groups
        kernel = kernel.grouped(groups) if groups else kernel
        folding = Folding.of(kernel.domain, measured, self.merge_below, kernel.known)
        estimate = partial(fit, kernel, folding=folding, columns=believe(kernel.domain, measured, kernel.known))
        capacity, candidates = Capacity(folding.model, self.capacity_mb(len(columns))), Candidates.of(kernel.domain, weights, groups)
        alone = share >= COLUMNS_ALONE
        prior = NoPrior() if alone else self.prior(kernel, measured, candidates, capacity, estimate)  # what no table tests is not believed
        return _Start(kernel, measured, columns, alone, budget, candidates, capacity, estimate, prior)

    def prior(self, _kernel: Kernel, _columns: Sequence[Measurement], _candidates: Candidates, _capacity: Capacity, _fit: Fit, /) -> Prior:
        """Return the knowledge about tables of several columns before any is measured: none, for AIM itself.

        Variants of AIM override it; all arguments are ignored here.
        """
        return NoPrior()

    def _selecting(self, start: _Start, model: GraphicalModel, answers: Answers, budget: RoundBudget) -> Selecting:
        """Return the selections of a round, by the score w_r * (||M_r(D) - M_r(p)||_1 - distance from noise alone).

        Args:
            start: The state before the rounds.
            model: The present model p.
            answers: Its answers to the tables that may be selected.
            budget: The budget of the round.
        """
        noise = 2 * start.kernel.unit.marginal_l1 / (budget.eps * model.total)
        weights = start.candidates.weighing(self.strategies.weigh(start.columns, noise))
        offsets = {r: self.strategies.shown(model.folding.model, r, answer, budget.sigma) for r, answer in answers.items()}
        return Selecting(start.kernel, answers, weights, offsets, budget.eps)


def _measured(kernel: Kernel, shares: Mapping[Clique, float], rho: float) -> Generator[Step, None, list[Measurement]]:
    """Measure tables for `rho` together; yield the steps, and return the measurements (by `yield from`).

    Args:
        kernel: The kernel.
        shares: The share of `rho` for each table.
        rho: The budget.
    """
    taken: list[Measurement] = []
    for clique, part in shares.items():
        taken += yield from measure(kernel, 0, [clique], sigma_for(part * rho, kernel.unit.marginal_l2))
    return taken


def _noise_of_columns(kernel: Kernel, columns: Sequence[Measurement]) -> list[float]:
    """Return each measured column's noise if columns had the whole budget, as the share of people in a wrong cell.

    Args:
        kernel: The kernel, which knows the share of the budget spent so far.
        columns: All measurements of columns.
    """
    cells = _cells_of(columns)  # none where all are published
    spread = HALF_NORMAL * math.sqrt(kernel.rho_spent / kernel.rho_total) / (2 * max(1.0, total_from(kernel, columns))) if cells else 0.0
    return [spread * m.values.size * m.deviation for m in cells]


def _cells_of(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Return the measurements of columns by their own cells, without the count of people and groups of values."""
    return [m for m in measurements if m.clique and not m.groups]


PUBLISHED = Aim(
    card=aim_strategies.AS_PUBLISHED, strategies=PRINTED, max_size_mb=80.0, rounds_per_attribute=16, reserve_rounds=1,
    measure_share=0.9, merge_below=0.0, groups=0, column_noise=NO_MORE,
)
"""Algorithms 2, 3 and 4 as printed (McKenna et al. 2022)."""
