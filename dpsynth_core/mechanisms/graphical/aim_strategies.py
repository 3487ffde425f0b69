"""The parameters of AIM, and a named strategy for each step in which it departs from its paper.

Users may set the parameters; the strategies are fixed functions and limits. `aim` runs with them and `aim_forecast` forecasts the run.
docs/accuracy.md gives the reason for each strategy, its gain, and the alternatives that lost against it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.graphical.dependence import AT_MOST, noise_in
from dpsynth_core.mechanisms.graphical.grouping import pay
from dpsynth_core.mechanisms.graphical.levels import Levels, levels_of, without_levels
from dpsynth_core.mechanisms.graphical.models import COLUMNS_SMOOTHED, FITS_CHOSEN, ROUGH, WEIGHTS_KEPT
from dpsynth_core.mechanisms.mechanism import ASKED, AT_LEAST, CHOOSING, CHOSEN, COUNTING, DEPENDENCE, LEFT, SINGLE, Card, Split, printed
from dpsynth_core.mechanisms.parameters import real, whole
from dpsynth_core.mechanisms.rounds import ANNEALING, TOTAL_SHARE, Division, equal_shares, least_error_shares
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import Workload

NO_MORE = 1000.0
"""The largest `column_noise`: columns get nothing more, however few people there are."""
COLUMNS_ALONE = 2 / 3
"""The share of the budget from which on single columns get all of it, and no table of several columns is asked for."""
USUAL_GAP, LARGE_GAP = 0.05, 0.5
"""What independent columns would get wrong of a pair, as a share of the people: at least that where nothing is known, and where they depend
strongly."""
WIDE, WIDE_CAPACITY = 50, 1 / 16
"""From so many columns on, a model may take only this share of `max_size_mb`, and values have no groups."""
_ANY_NOISE = 1e-9
LOUD, LOUDER = 0.1, 2.0
"""The share of the people that noise may put in a wrong cell of a column, and how many times as many as of the median other column: what
is above both does not count. Of a column that noise hides no more than `USUAL_GAP` counts: what independent columns would put in one."""
HIDDEN = 0.005
"""The share of the people that the noise of a selection may hide of a column's errors."""
HIDDEN_TABLE = 0.2
"""The share of the people that noise puts in a wrong cell of a table that it hides: half of them is the most that there can be."""
FEW, PLANNED = 15, 0.9
"""At most so many tables are measured at once, for this share of what columns leave."""
FIRST = 0.5
"""Tables that are wanted first get this share of what columns leave, where the workload has others beside them; else `PLANNED`."""
MEASURED_FOR_ONE_MORE = 10
"""A round measures one table for each so many that were measured before it, columns included, and one at least."""

Weights = Mapping[Clique, float]


def share_first(workload: Workload) -> float:
    """Return the share, of the budget that columns leave, for the tables that the workload asks to measure first.

    Returns:
        0 if it asks for none; 0.5 if it has other tables of several columns besides; otherwise 0.9. Published
        tables are left out of both.
    """
    first = {*workload.domain.unpublished(workload.first)}
    others = any(len(r) > 1 and r not in first for r in workload.domain.unpublished(workload.weights))
    return 0.0 if not first else FIRST if others else PLANNED


def mean_noise(columns: Sequence[float]) -> float:
    """Return the mean noise of columns, where the noise of unusually noisy columns is capped.

    The cap of a column is 0.1 (`LOUD`), or 0.05 for a column whose noise is above 0.2, or twice the median
    of the other columns' noise if that is more. A single column has no cap. The larger the mean, the larger
    the budget for columns. Without the cap, a few columns of thousands of values would take the budget for
    tables, and the relation of two other columns would be lost.

    Args:
        columns: For each column, the share of people that noise would put in a wrong cell if
            columns had the whole budget.

    Returns:
        A share of the people; 0 without columns.
    """
    return math.fsum(map(min, columns, _most_noise(columns))) / max(1, len(columns))


def loud(columns: Sequence[float]) -> list[bool]:
    """Return whether each column is loud: its noise is above 0.2 (`HIDDEN_TABLE`), and above its cap in `mean_noise`.

    Args:
        columns: For each column, the share of people that noise would put in a wrong cell if
            columns had the whole budget.
    """
    return [one > max(HIDDEN_TABLE, most) for one, most in zip(columns, _most_noise(columns), strict=True)]


def _most_noise(columns: Sequence[float]) -> list[float]:
    """Return the cap of each column's noise in `mean_noise`; infinite if there is a single column.

    The cap depends on the median of the other columns, because a few loud columns would raise their
    mean so far that no column exceeds it.
    """
    if len(columns) < 2:
        return [math.inf] * len(columns)
    others = [LOUDER * statistics.median([*columns[:place], *columns[place + 1 :]]) for place in range(len(columns))]
    return [max(USUAL_GAP if one > HIDDEN_TABLE else LOUD, limit) for one, limit in zip(columns, others, strict=True)]


def halves_equal(shares: Weights) -> Weights:
    """Return the columns' shares of the budget: half divided equally, half in proportion to `shares`.

    It is meant for columns of which some weigh far more. The least error of all columns together
    gives these nearly everything. The others would be so noisy that rounds, which cost as much as a
    column gets on average, would measure them again instead of tables. With half of that average, a
    column's noise is at most 1.41 times the noise of a table measured in a round.

    Args:
        shares: Share of each column for the least error of all columns together.
    """
    return {clique: (share + 1 / len(shares)) / 2 for clique, share in shares.items()}


def a_tenth_of_those_before(measured: int) -> int:
    """Return the number of tables that the next round measures: `measured` // MEASURED_FOR_ONE_MORE, at least 1.

    Args:
        measured: Number of tables measured so far.
    """
    return max(1, measured // MEASURED_FOR_ONE_MORE)


def one_a_round(_measured: int) -> int:
    """Return 1, the number of tables that each round of the paper measures."""
    return 1


def light_columns_as_heavy(columns: Weights, noise: float) -> dict[str, float]:
    """Return the columns' weights in scores, by name, with light ones raised where a selection is noisy.

    Weights are raised until a selection's noise hides at most 0.5 % of the people (`HIDDEN`) of each column's
    errors, but not above the heaviest column's weight.

    Args:
        columns: The weight w_r of each column, at least one.
        noise: Noise of a selection in the errors of the heaviest column, as a share of the people.
    """
    heaviest = max(columns.values())
    least = heaviest * min(1.0, noise / HIDDEN)
    return {name: max(weight, least) for (name,), weight in columns.items()}


def noise_in_possible_cells(domain: Domain, clique: Clique, answer: NDArray[np.float64], sigma: float) -> float:
    """Return the L1 distance, in counts, that noise alone would show between a table and its measurement.

    For a table of one or two columns, the noise in a cell counts as at most the cell's count. For larger
    tables, which are mostly empty, all possible cells count in full, because otherwise rounds would select too
    many large tables.

    Args:
        domain: The model's domain.
        clique: The table.
        answer: The model's answer, in counts.
        sigma: Standard deviation of the noise, in counts.
    """
    return noise_in(answer, sigma) if len(clique) < 3 else HALF_NORMAL * sigma * domain.possible_cells(clique)


def noise_in_all_cells(domain: Domain, clique: Clique, _answer: NDArray[np.float64], sigma: float) -> float:
    """Return the L1 distance, in counts, that noise alone would show over all cells of a table, as in AIM's paper.

    Args:
        domain: The model's domain.
        clique: The table.
        sigma: Standard deviation of the noise, in counts.
    """
    return HALF_NORMAL * sigma * domain.cells(clique)


def as_workload_weighs(columns: Weights, _noise: float) -> dict[str, float]:
    """Return the columns' weights w_r in scores as they are, by name: the paper's choice."""
    return {name: weight for (name,), weight in columns.items()}


@dataclass(frozen=True)
class Strategies:
    """One strategy for each step of Algorithm 4 that has alternatives.

    Attributes:
        divide: Returns each column's share of the budget for single columns.
        weigh: Returns the weight of each column in the scores, from the w_r of the columns and the noise of a selection in the errors of
            the heaviest one, as a share of the people.
        shown: Returns the distance that noise alone would show for a table, from the model's domain and its answer; the scores subtract it.
        together: Returns the number of tables that a round measures, from the number measured before it.
        wide: Number of columns from which models are made cheaper.
        fitting: How models are fitted.
        levels: Returns the levels of columns whose ranges are asked for.
        planned: Largest number of tables that are measured before any round.
        annealing: Largest factor by which the next round may cost more after one that taught little.
    """

    divide: Division = least_error_shares
    weigh: Callable[[Weights, float], dict[str, float]] = light_columns_as_heavy
    shown: Callable[[Domain, Clique, NDArray[np.float64], float], float] = noise_in_possible_cells
    together: Callable[[int], int] = a_tenth_of_those_before
    wide: float = WIDE
    fitting: models.Fitting = models.Fitting(between=ROUGH)
    levels: Callable[[Domain, Collection[str]], Levels] = levels_of
    planned: int = FEW
    annealing: float = ANNEALING


PRINTED = Strategies(
    equal_shares, as_workload_weighs, noise_in_all_cells, one_a_round, float("inf"), models.FITTED_AS_PRINTED, without_levels,
    planned=0, annealing=4.0,
)
"""Algorithms 2, 3 and 4."""


@dataclass(frozen=True)
class AimParameters:
    """The parameters that a run of AIM and its forecast share."""

    max_size_mb: float = models.capacity_mb(256.0, f" Of {WIDE} columns and more, a sixteenth is used.")
    rounds_per_attribute: int = whole(6, least=2, most=100, text="The first rounds are paid as if there were this many per column.")
    reserve_rounds: int = whole(8, least=1, most=100, text="Later rounds may cost more, but at least this many must stay affordable.")
    measure_share: float = real(0.9, least=0.1, most=0.99, text="Share of each round's budget that measures; the rest selects.")
    merge_below: float = models.merge_below()
    groups: int = whole(8, least=0, most=64, text="Columns of many values are also measured in so many groups of values. 0: never.")
    column_noise: float = real(
        0.04, least=0.001, most=NO_MORE, text="Smaller: more of the budget goes to single columns in tables of few people. 1000: none."
    )
    strategies: Strategies = Strategies()

    def least_for_columns(self, tables: Collection[Clique], domain: Domain) -> float:
        """Return the least share of the budget for single columns, from 0 to 1, the cost of selections included.

        It is 1 if only columns are asked for, unless `column_noise` is 1000 (`NO_MORE`). Columns with a
        published table are not counted.

        Args:
            tables: The tables of the workload with all their subsets.
            domain: The domain.
        """
        tables = domain.unpublished(tables)
        columns = sum(len(r) == 1 for r in tables)
        return 1.0 if columns == len(tables) and self.column_noise < NO_MORE else columns / (self.rounds_per_attribute * len(domain))

    def asks(self, noise: float, columns: int) -> bool:
        """Return whether a run measures the dependence of its columns, because the answer may change their budget.

        Args:
            noise: Mean noise of the columns (`mean_noise`).
            columns: Number of columns.
        """
        return columns < self.strategies.wide and 0 < self.share_beside(noise, LARGE_GAP) < COLUMNS_ALONE

    def share_beside(self, noise: float, gap: float) -> float:
        """Return the share of the budget for single columns, from 0 to 1, that balances their noise: e / (e + c).

        c is `column_noise`, less where columns depend less than usual, and more from four times the
        usual dependence on. The share is 0 if `column_noise` is 1000 (`NO_MORE`), and otherwise 1 without any
        dependence.

        Args:
            noise: Mean noise e of the columns (`mean_noise`), a share of people.
            gap: The dependence of the columns, a share of people in a wrong cell of a pair.
        """
        beside = self.column_noise * max(min(1.0, gap / USUAL_GAP), gap / USUAL_GAP / 4)
        return 0.0 if self.column_noise == NO_MORE else noise / (noise + beside) if beside else 1.0

    def shares_for_columns(self, least: float, noise: float, gap: float = USUAL_GAP) -> tuple[float, ...]:
        """Return the shares of the budget for single columns that are tried in turn, ascending; here a single one.

        A further share is used only if the share before it left no knowledge about tables of
        several columns.

        Args:
            least: The least share, from 0 to 1.
            noise: Mean noise e of columns (`mean_noise`), a share of people.
            gap: The dependence of the columns (`dependence.gap`), a share of people.
        """
        return (max(least, self.share_beside(noise, gap)),)

    def capacity_mb(self, columns: int) -> float:
        """Return the capacity in MB of the model of a table.

        It is `max_size_mb`, or 1/16 as much from `Strategies.wide` (usually 50) columns on.

        Args:
            columns: Number of the table's columns.
        """
        return self.max_size_mb * (WIDE_CAPACITY if columns >= self.strategies.wide else 1.0)

    def most_groups(self, domain: Domain, columns: int, noise: float) -> int:
        """Return the largest number of groups of a column's values; 0 where groups are not worth their time.

        Args:
            domain: The domain.
            columns: Number of columns.
            noise: Standard deviation of the noise of a cell in a round, as a share of the people.
        """
        return self.groups if columns < self.strategies.wide and pay(domain, self.groups, noise) else 0

    def split(self, workload: Workload, total_is_public: bool) -> Split:
        """Return the planned division of the budget among stages, in order, as shares that add up to 1.

        The columns of the workload are paid as that many of the planned rounds; later rounds may
        become fewer and more precise. Where noise is large relative to the number of people,
        columns take more from the other stages, which is known once the first columns are measured.
        Few tables that are measured at once save the cost of choosing them. People are counted only
        if their number is secret and no column gives it. Stages without a share are left out.

        Args:
            workload: The tables that are asked for.
            total_is_public: Whether the number of records is public.
        """
        share, every = self.measure_share, workload.closure()
        columns = workload.domain.unpublished(r for r in every if len(r) == 1)
        counting = 0.0 if columns or total_is_public else TOTAL_SHARE
        first = self.least_for_columns(every, workload.domain)
        if first == 1.0:
            return ((SINGLE, 1.0),)
        first *= share
        wanted = share_first(workload) * (1 - first - counting)
        pairs = not wanted and any(len(r) == 2 for r in workload.domain.unpublished(every))
        asked = AT_MOST if first and pairs and self.asks(_ANY_NOISE, sum(len(r) == 1 for r in every)) else 0.0
        left = 1 - first - asked - counting - wanted
        single, chosen = (SINGLE, CHOSEN) if self.column_noise == NO_MORE else (AT_LEAST, LEFT)
        before = ((COUNTING, counting), (single, first), (DEPENDENCE, asked), (ASKED, wanted))
        parts = (*before, (CHOOSING, (1 - share) * left), (chosen, share * left))
        return tuple((part, share) for part, share in parts if share)


OURS = Card(
    "aim", "AIM", GDP, keeps_published=True,
    summary="Adapts to your workload and your data: measures, round by round, the tables it still gets wrong. The best default.",
    paper="McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), Algorithm 4",
    privacy=(
        "Every round selects one marginal with the exponential mechanism (rho = pi eps^2/16) and measures it with rounded Gaussian "
        "noise (rho = mu^2/2 = sensitivity^2 / (2 sigma^2)). The rounds compose adaptively under Gaussian differential privacy; a "
        "filter refuses any operation that would exceed the total. Beyond epsilon 20 or so the accountant is zCDP, and a selection "
        "costs eps^2/8."
    ),
    differences=(
        "Accounted under Gaussian differential privacy; the paper's is zCDP.",
        "The first rounds are planned for 6 rounds per column, the paper's T is 16; rounds keep a reserve of 8, the paper's rule of 1.",
        "The model may take 256 MB (JT-SIZE), the paper's 80.",
        "Single columns divide their budget for the least expected error; the paper measures all with one sigma.",
        "Columns get more of the budget where noise is large beside the people, columns of far more values than most only a part of "
        "that; the paper fixes their share.",
        "At most 2% of the budget measures how far all pairs of columns are from independent ones: columns get the "
        "more, the less they depend on each other. Where nothing but columns is asked for, they get all; the paper has neither.",
        "A score subtracts the noise of the possible cells alone, and of a pair no more of a cell than is in it; the paper's of all cells.",
        "Where noise is large, columns in few tables weigh as much in a score as those in many; the paper counts their tables. All "
        "triples with one column of the demo err 18 and 16% less at epsilon 0.1 and 1.",
        "Fits end early, as soon as they would follow noise; the paper prints the minimum.",
        COLUMNS_SMOOTHED,
        "Columns of many values are measured in groups of values too, where that promises more; the paper measures all values.",
        "Columns whose ranges are asked for are measured in groups of neighbours of several sizes too; the paper measures tables.",
        "Rare values that noise hides are one to the model, and finished rows are moved towards it; the paper has neither.",
        f"A round measures one table for each {MEASURED_FOR_ONE_MORE} before it; the paper's rounds measure one.",
        f"A round after one that taught little costs up to {ANNEALING:g} times as much; the paper's 4 times.",
        f"Up to {FEW} tables are measured at once, for {PLANNED:.0%} of what columns leave, where one model holds them and noise would put "
        "no more people in a wrong cell than independent columns would, and hide none of them; tables of a column that noise would make "
        "far worse than the others are left to rounds, and columns beside it divide half of their budget equally. The paper selects each.",
        f"From {WIDE} columns on the model may take a sixteenth of its size; the paper has no such rule.",
        WEIGHTS_KEPT,
        "All together: about 0.74 times the published one's error, in 22 settings of Titanic and the demo.",
    ),
)

AS_PUBLISHED = printed(
    OURS,
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
)
