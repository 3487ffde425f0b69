"""Forecast the time and memory of a run of AIM from public facts: domain, workload, budget, and a number of people.

The forecast walks through the rounds with assumed data: the values of a column have frequencies of a power law, and each further table
shows less that is new to the model. The walk gives the number of rounds that the budget lasts for and the size of the model. These give
the time: in every round, one fit of the model and an answer to every candidate. The constants are seconds and bytes on one processor
(benchmarks/forecasts.py).
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dpsynth_core.inference.junction_tree import adjacency, counting, eliminate, mask_of, maximal
from dpsynth_core.inference.model import labels_of
from dpsynth_core.inference.refinement import MOST_LINES, MOST_ROWS
from dpsynth_core.mechanisms.graphical.aim_strategies import COLUMNS_ALONE, MEASURED_FOR_ONE_MORE, AimParameters, mean_noise
from dpsynth_core.mechanisms.graphical.grouping import tables_with_groups
from dpsynth_core.mechanisms.graphical.models import BYTES_PER_CELL, MEGABYTE, columns_too_large, none_fits
from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.mechanisms.rounds import annealing_factor, sigma_for
from dpsynth_core.vocabulary.blocks import TABLE_BYTES
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import Workload

PEOPLE_ASSUMED = 50_000
"""Where their number is not declared."""

SHOWN_FIRST, SHOWN_BY_COLUMNS = 0.25, 1.5
"""The share of people that the first table moves to another cell of the model, and after how many tables a column it is e times less."""
SMALLEST_TENTH = 0.1
"""Of the candidates, by cells: a round that could not even read one of these teaches little."""
SKEW = 2.0
"""Exponent of the power law of a column's values."""
FRESH = 1.6
"""How much rather a round measures a table that is new to the model than one at random: later ones are often measured once more."""
LOOKS = 10
"""At how many moments of a run the size of the model is worked out."""

_START, _TABLE, _CELL, _VALUE, _ROW_OF_A_TABLE = 1.2, 1.5e-3, 7e-7, 4.5e-7, 1.5e-7
_REFINED_ROWS = 50_000
_STEPS, _LAST_STEPS, _STEP, _STEP_CLIQUE, _STEP_CELL = 75, 150, 1e-4, 8e-6, 1.5e-9
_ROUND, _PAIR_COLUMN, _TRIPLE, _ANSWER_CELL, _ANSWER_ROOT = 4e-3, 1.5e-6, 4e-5, 5e-8, 1.3e-6
_START_MB, _TABLE_BYTES, _CELL_BYTES, _MODEL_CELL_BYTES, _MODEL_ROOT_BYTES, _VALUE_BYTES = 215.0, 5e4, 60, 8, 5e4, 12
"""The root of a model's cells counts: its largest tables are never built, and what is multiplied instead grows about so."""


_CODE, _CODE_BYTES = 6e-4, 1e4
"""Of each cell of a single column: fits, rows, bounds and documents that list it; fitted to columns of 2,000 to 20,000 codes."""

MEASURED_A_COLUMN = 3.5
"""Of wide tables: marginals for each column."""
_WIDE_FIT, _WIDE_CANDIDATE, _WIDE_TABLE, _WIDE_LINE = 1.7e-2, 1e-7, 9e-4, 5e-8
"""Of wide tables: seconds of a fit for each column, of each candidate for a selection, of each table for counting and documents, and of
each line of prices for refining rows (`inference.refinement`); fitted to 100 to 600 columns (benchmarks/wide.py)."""
_WIDE_MB, _COUNTED_MB, _TABLE_MB = 350.0, 0.035, 0.0065
"""Of wide tables: the start; of each table, counting it up to the memory of a pass, and refining rows towards it and writing about it."""


@dataclass(frozen=True)
class Spending:
    """The division of a run's budget.

    Attributes:
        aim: The parameters of the run.
        single: Share of the budget for single columns, from 0 to 1.
        shares: Share of each column in that part, by clique; they add up to 1.
    """

    aim: AimParameters
    single: float
    shares: Mapping[Clique, float]

    @property
    def first_round(self) -> float:
        """The share of the budget that the first round spends: the average share of a single column."""
        return self.single / len(self.shares)

    @property
    def capacity(self) -> float:
        """The largest number of cells of a model's junction tree."""
        return self.aim.max_size_mb * MEGABYTE / BYTES_PER_CELL


@dataclass(frozen=True)
class Round:
    """The expected measurement of one table.

    Attributes:
        spent: Share of the budget that is spent afterwards, from 0 to 1.
        tables: Number of different tables measured by then.
        cells: Number of cells of the model's junction tree then.
        share: The measurement's share of a fit and of the answers before it: tables that are
            measured in the same round share these.
    """

    spent: float
    tables: int
    cells: float
    share: float


def forecast(aim: AimParameters, workload: Workload, rho: float, people: float) -> Forecast:
    """Return the expected time (seconds) and memory (MB) of a run of AIM, by walking through its rounds; or why it is refused.

    Args:
        aim: Parameters of the run.
        workload: The tables that are asked for.
        rho: The budget, in rho.
        people: Number of people divided by the number of counts that one person changes.
    """
    domain = workload.domain
    reason = columns_too_large(domain, aim.max_size_mb)
    if reason := reason or (none_fits(domain, workload.aim_weights(), aim.max_size_mb) if domain.published else ""):
        return Forecast(False, 0.0, 0.0, reason)
    columns: dict[Clique, float] = {r: weight for r, weight in workload.aim_weights().items() if len(r) == 1}
    if len(columns) >= aim.strategies.wide:
        return _forecast_wide(aim, workload, len(columns), rho, people)
    shares = aim.strategies.divide(domain, columns)
    single = aim.shares_for_columns(aim.least_for_columns(workload.closure(), domain), noise_of_columns(domain, shares, rho, people))[0]
    spending = Spending(aim, single, shares)
    rounds = walked(workload, rho, people, spending)
    most = aim.most_groups(domain, len(columns), sigma_for(aim.measure_share * spending.first_round * rho, 1.0) / people)
    candidates = tables_with_groups(workload, most) / workload.closure_tables
    return Forecast(True, seconds(workload, rounds, people, candidates), memory_mb(workload, rounds, people, candidates))


def _forecast_wide(aim: AimParameters, workload: Workload, columns: int, rho: float, people: float) -> Forecast:
    """Return the expected time and memory of a run on a table of many columns (`Strategies.wide`).

    The number of people changes only the number of refined rows, not the number of rounds.

    Args:
        aim: Parameters of the run.
        workload: The tables that are asked for.
        columns: Number of columns.
        rho: The budget.
        people: Number of people.
    """
    tables, measured = workload.closure_tables, min(aim.rounds_per_attribute, MEASURED_A_COLUMN) * len(workload.domain)
    fits = MEASURED_FOR_ONE_MORE * math.log1p(measured / columns)
    lines = min(MOST_LINES, 2 * min(people, MOST_ROWS) * sum(map(len, workload.aim_weights())))
    seconds = fits * _WIDE_FIT * columns + tables * (_WIDE_TABLE + measured * _WIDE_CANDIDATE) + lines * _WIDE_LINE
    model_mb = min(aim.capacity_mb(columns), workload.domain.cells(workload.domain.names) * BYTES_PER_CELL // int(MEGABYTE) + 1)
    tables_mb = min(TABLE_BYTES / MEGABYTE, _COUNTED_MB * tables) + _TABLE_MB * tables
    memory = _WIDE_MB + tables_mb + 6 * workload.closure_cells * BYTES_PER_CELL / MEGABYTE + 5 * model_mb * min(1.0, 2 * rho)
    return Forecast(True, seconds, memory)


def noise_of_columns(domain: Domain, shares: Mapping[Clique, float], rho: float, people: float) -> float:
    """Return the expected mean noise of columns if they had the whole budget, a share of people in a wrong cell.

    Args:
        domain: The domain.
        shares: Share of the budget for each column.
        rho: The budget, in rho.
        people: Number of people.
    """
    spread = HALF_NORMAL / (2 * people)
    return mean_noise([spread * domain.cells(clique) * sigma_for(part * rho, 1.0) for clique, part in shares.items()])


def walked(workload: Workload, rho: float, people: float, spending: Spending) -> list[Round]:
    """Return the expected rounds of a run in order, one entry per measured table.

    The result is empty where columns get the whole budget.

    Args:
        workload: The tables that are asked for.
        rho: The budget, in rho.
        people: Number of people.
        spending: The division of the budget.
    """
    if spending.single >= COLUMNS_ALONE:
        return []
    candidates = [clique for clique in workload.aim_weights() if len(clique) > 1]
    spent = list(_spent(workload.domain, candidates, rho, people, spending))
    sizes = told_apart(workload.domain, spending, rho, people)
    noise = HALF_NORMAL * sigma_for(spending.aim.measure_share * spending.first_round * rho, 1.0) / (people * SHOWN_FIRST)
    order = _order(workload.domain, candidates, noise)
    masks = [mask_of(labels_of(workload.domain, clique)) for clique in order]
    looks = sorted({math.ceil(len(spent) * (look + 1) / LOOKS) for look in range(LOOKS)} - {0})
    sizes_then: dict[int, tuple[int, float]] = {}
    count = counting(sizes)
    for look in looks:
        tables = min(look, math.ceil(len(masks) * -math.expm1(-FRESH * look / len(masks))))
        elimination = eliminate(adjacency(masks[:tables], len(sizes)), count)
        cells = float(sum(map(count, maximal(elimination.clusters))))
        sizes_then[look] = tables, min(cells, max(spending.capacity * spent[look - 1], sum(sizes)))
    nearest = [min(looks, key=lambda look: abs(look - number)) for number in range(1, len(spent) + 1)]
    before = len(spending.shares)
    shares = [1 / spending.aim.strategies.together(before + number) for number in range(len(spent))]
    return [Round(part, *sizes_then[look], share) for part, look, share in zip(spent, nearest, shares, strict=True)]


def seconds(workload: Workload, rounds: Sequence[Round], people: float, candidates: float = 1.0) -> float:
    """Return the expected processor seconds of a run, including its certificate, rows and documents.

    Args:
        workload: The tables that are asked for.
        rounds: The expected measurements in order (`walked`).
        people: Number of people.
        candidates: Number of scored tables relative to the number without groups of values.
    """
    tables, cells, columns = workload.closure_tables, workload.closure_cells, len(workload.domain)
    large = sum(1 for clique in workload.aim_weights() if len(clique) > 2)
    answer = _ROUND + _PAIR_COLUMN * columns * tables + _TRIPLE * large + _ANSWER_CELL * cells
    step = needed = 0.0
    for one in rounds:
        step = _STEP + _STEP_CLIQUE * (columns + one.tables) + _STEP_CELL * one.cells  # of a fit
        needed += one.share * (answer + _ANSWER_ROOT * tables * math.sqrt(one.cells) + _STEPS * step)
    return around(workload, people) + math.sqrt(candidates) * needed + _LAST_STEPS * step  # the last fit goes on, with the largest model


def around(workload: Workload, people: float) -> float:
    """Return the processor seconds of all work except the mechanism's own rounds.

    It consists of counting the tables, refining rows towards them, and writing documents.

    Args:
        workload: The tables that are asked for.
        people: Number of people.
    """
    tables, columns = workload.closure_tables, len(workload.domain)
    known = _START + _TABLE * tables + _CELL * workload.closure_cells + _VALUE * people * columns + _CODE * _codes(workload.domain)
    return known + _ROW_OF_A_TABLE * min(people, _REFINED_ROWS) * tables


def memory_mb(workload: Workload, rounds: Sequence[Round], people: float, candidates: float = 1.0) -> float:
    """Return the expected largest memory of a run of AIM, in MB.

    Args:
        workload: The tables that are asked for.
        rounds: The expected measurements in order (`walked`).
        people: Number of people.
        candidates: Number of scored tables relative to the number without groups of values.
    """
    model = max((one.cells for one in rounds), default=0.0)
    needed = _TABLE_BYTES * workload.closure_tables * candidates + _CELL_BYTES * workload.closure_cells
    fitted = _MODEL_CELL_BYTES * model + _MODEL_ROOT_BYTES * math.sqrt(model)
    needed += _CODE_BYTES * _codes(workload.domain)
    return _START_MB + (needed + fitted + _VALUE_BYTES * people * len(workload.domain)) / MEGABYTE


def _codes(domain: Domain) -> int:
    """Return the total number of cells of all single columns."""
    return sum(domain.sizes(domain.names))


def told_apart(domain: Domain, spending: Spending, rho: float, people: float) -> list[int]:
    """Return the expected number of cells that the model distinguishes in each column, in the domain's order.

    These are values that are frequent enough relative to the noise, and one cell for all others.
    The values of a column are assumed to follow a power law (`SKEW`).

    Args:
        domain: The domain.
        spending: The division of the budget.
        rho: The budget, in rho.
        people: Number of people.
    """
    sizes = []
    for name, size in zip(domain.names, domain.sizes(domain.names), strict=True):
        part = spending.shares.get((name,), 1 / len(domain)) * spending.aim.measure_share * spending.single
        rare = spending.aim.merge_below * sigma_for(part * rho, 1.0)
        first = people / sum(rank**-SKEW for rank in range(1, size + 1))
        frequent = min(size, int((first / rare) ** (1 / SKEW))) if rare > 0 else size
        sizes.append(min(size, max(1, frequent) + 1))
    return sizes


def _order(domain: Domain, candidates: Sequence[Clique], noise: float) -> list[Clique]:
    """Return the candidates in an order in which a run may select them: random, later if they are mostly noise.

    The order is the same each time. The draw is Efraimidis and Spirakis' weighted sampling without
    replacement (2006).

    Args:
        domain: The domain.
        candidates: The tables.
        noise: Noise of a cell, as a share of the distance that the first table shows.
    """
    chance = random.Random(0)
    return sorted(candidates, key=lambda clique: chance.random() ** (1 + noise * domain.cells(clique)), reverse=True)


def _spent(domain: Domain, candidates: Sequence[Clique], rho: float, people: float, spending: Spending) -> Iterator[float]:
    """Yield after each round the share of the budget that is expected to be spent by then.

    The shares grow to 1 and include the part for single columns, which is spent before the first
    round. A round after an uninformative one costs more. Without candidates nothing is yielded.

    Args:
        domain: The domain.
        candidates: The tables of several columns that rounds may measure.
        rho: The whole budget, as rho.
        people: Number of people.
        spending: The division of the budget.
    """
    if not candidates:
        return
    small = sorted(domain.cells(clique) for clique in candidates)[int(SMALLEST_TENTH * len(candidates))]
    left, cost, number, last = 1 - spending.single, spending.first_round, 0, False
    while not last:
        last = left <= 2 * cost
        cost = left if last else cost
        shown = people * SHOWN_FIRST * math.exp(-number / (SHOWN_BY_COLUMNS * len(spending.shares)))
        left, number = left - cost, number + 1
        yield 1 - left
        if shown <= HALF_NORMAL * sigma_for(spending.aim.measure_share * cost * rho, 1.0) * small:
            cost *= annealing_factor(cost, left, spending.aim.reserve_rounds, spending.aim.strategies.annealing)
