"""AIM for persons and their rows in order, with one model of a person, a row and the rows before it (`layout`).

The mechanism measures single columns first. Then it measures tables of a row by the number of rows, because persons with many rows have
the most rows and the least weight. After these come rounds as in AIM, which measure the tables that the model answers worst.

Tables of a row are measured with the column that says whether the row is the person's last. A row that is not the last is the row before
of another row, so these tables also give the fit known counts of rows before (`Shift`), without cost. Wide tables of rows are measured as
sums of roots (`roots`). Noise in tables is shrunk towards the model's earlier answer (`shrinkage`). The mechanism reads the private tables
only through the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.drawing import draw, records_of, rough
from dpsynth_core.extensions.sequences.layout import LAST, START, SequenceLink
from dpsynth_core.extensions.sequences.roots import Drawn, counts_of, places_of
from dpsynth_core.inference.estimation import Stopping, estimate, one_each
from dpsynth_core.inference.households import LinkedCodes
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.roots import of_members
from dpsynth_core.inference.shrinkage import shrunk
from dpsynth_core.mechanisms.graphical.linked_rounds import Rounds, costs_of, noise_of, rounds_of
from dpsynth_core.mechanisms.graphical.models import FINAL, Answers, Capacity, Choice, Selections, columns_too_large
from dpsynth_core.mechanisms.mechanism import ASKED, CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split
from dpsynth_core.mechanisms.rounds import fitted, least_error_shares, measure, sigma_for, total_from
from dpsynth_core.mechanisms.steps import Finished, Measured, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement
from dpsynth_core.vocabulary.workload import Workload

Floats = NDArray[np.float64]

COLUMNS, MEASURING, CAPACITY_MB, MERGE_BELOW = 0.1, 0.92, 64.0, 3.0
"""Share of the budget for single columns, and of a round's for measuring; how large the model may become; below how many standard
deviations of its noise a value is one with others."""
OF_NUMBER = 20.0
"""What the number of rows weighs among single columns: every table of rows is counted by it."""
ANNEALING = 1.15
"""Largest factor by which a round costs more after an uninformative one: less than elsewhere, because many tables are worth measuring."""
OF_PLACE, OF_SAME, OF_TWO = 0.1, 7.0, 4.0
"""What all tables of a row's column and its number (first, second, later) weigh, beside all tables that are asked for; what a table of one
column in a row and in the row before weighs, as a multiple of what is asked: later rows are drawn by it, and errors of it add up from row
to row; and likewise of the same column two rows before."""
NUMBERS = 0.15
"""Of what single columns leave, the share for tables of a row by the number of rows."""
PERSONS, WIDE, OF_ROOTS = 100_000, 0.03, 0.65
"""Largest number of persons who are drawn to tell counts from sums of roots; roots are measured of a table of rows where the deviations of
its cells' noise add up to this share of all records, or more; and what is left of the noise then.
"""
TWO_BELOW = 0.0003
"""Two rows before are told where the noise of all that is left, on one table, would put less than this share of records in a wrong cell."""

_COSTS = ((4.0, 1.6e-5, 1.2e-4), (250.0, 1.2e-4, 6e-4))
"""Seconds of a processor and megabytes: of any run, of a row's column, of a cell."""
_UNSAID = 50_000
"""Number of persons where none is declared."""


@dataclass(frozen=True, eq=False)
class SequenceModel:
    """A model of persons and their rows in order, and rows from it.

    Attributes:
        link: The link of the tables.
        model: Model of a person, one of its rows and the rows before.
    """

    link: SequenceLink
    model: GraphicalModel

    def marginal(self, clique: Clique) -> Floats:
        """Return the marginal over `clique` in counts of records, one axis per column."""
        return self.model.marginal(clique)

    def tables(self, n: int, rng: np.random.Generator) -> LinkedCodes:
        """Draw n synthetic persons with their rows in order at random.

        Args:
            n: Number of persons.
            rng: Source of randomness.
        """
        return draw(self.model, self.link, n, rng)


@dataclass(frozen=True)
class Sequences:
    """The mechanism for persons and their rows in order.

    Attributes:
        link: The link of the tables.
        card: The card.
    """

    link: SequenceLink
    card: Card = Card(
        "sequences", "Sequences", GDP,
        summary="Persons and their rows in order: adapts to the tables that it still gets wrong, as AIM does; what follows what is kept.",
        paper="After McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), over rows beside the rows before them",
        privacy=(
            "As AIM's: rounds of selections (exponential mechanism) and measurements (rounded Gaussian noise) compose adaptively under "
            "Gaussian differential privacy. A person with all rows owns a fixed number of records, which are made of these rows alone."
        ),
        differences=(
            "Tables of rows are measured by whether a row is the last one; the others also say what rows before are like.",
            "Of wide tables of rows it measures sums of roots, where rows of a person that are not alike count more for the same noise.",
        ),
    )  # fmt: skip

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for 50,000 persons, or why it is refused."""
        return self.forecast_for(workload, rho, _UNSAID)

    def forecast_for(self, workload: Workload, _rho: float, people: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        Args:
            workload: The tables that are asked for.
            _rho: The budget, which does not matter.
            people: Number of persons.
        """
        reason = columns_too_large(self.link.domain, CAPACITY_MB, CAPACITY_MB)
        values = people * self.link.most * len(self.link.members)
        seconds, megabytes = (fixed + value * values + cell * workload.cells for fixed, value, cell in _COSTS)
        return Forecast(not reason, seconds, megabytes, reason)

    def split(self, workload: Workload, _total_is_public: bool) -> Split:
        """Return the planned division of the budget in order, as shares that add up to 1, as if each chosen table were chosen once."""
        table = MEASURING * fmean(costs_of(workload.domain, workload.weights).values())
        near = Shift(self.link, _without_two(self.link, self.link.domain))
        numbers = NUMBERS * (1 - COLUMNS) if _by_number(map(near.by_last, workload.cliques)) else 0.0
        choosing = (1 - MEASURING) / (1 - MEASURING + table) * (1 - COLUMNS - numbers)
        parts = ((SINGLE, COLUMNS), (ASKED, numbers), (CHOOSING, choosing), (CHOSEN, 1 - COLUMNS - numbers - choosing))
        return tuple((part, share) for part, share in parts if share)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run the mechanism with the kernel's whole budget. Single columns come first, then rounds as in AIM.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each table, a Fitted for each estimate of the model, then a Finished.
        """
        link, l2 = self.link, kernel.unit.marginal_l2
        near = Shift(link, _without_two(link, kernel.domain))
        singles: dict[Clique, float] = {(name,): OF_NUMBER if name == NUMBER else 1.0 for name in (NUMBER, *link.households.names)}
        singles |= {near.by_last((name,)): 1.0 for name in link.own_names}
        columns = list[Measurement]()
        for clique, share in least_error_shares(kernel.domain, singles).items():
            columns += yield from measure(kernel, 0, [clique], sigma_for(share * COLUMNS * kernel.rho_total, l2))
        noise = noise_of(workload, sigma_for(kernel.rho_left, l2) / total_from(kernel, columns))
        shift = Shift(link, kernel.domain, 2) if noise < TWO_BELOW else near
        told = Told(shift, kernel, columns)
        yield fitted(kernel, 0, "first model from single columns")
        candidates = self.candidates(shift, workload)
        left, many = kernel.rho_left, told.allowed(_by_number(candidates), 1.0)
        for clique, share in least_error_shares(kernel.domain, dict.fromkeys(many, 1.0)).items():
            yield from told.measure(0, clique, sigma_for(share * NUMBERS * left, l2))
        told.fit(FINAL)
        yield fitted(kernel, 0, "numbers of rows")
        costs = costs_of(kernel.domain, candidates)
        rounds = Rounds(candidates, costs, MEASURING, ANNEALING)
        number, record = yield from rounds.run(kernel, told, rounds_of(noise), len(columns))
        details = {"rounds": number, "model_size_mb": told.used_mb}
        model = SequenceModel(self.link, told.model)
        yield Finished(model, told.model.total, details, tuple(record.selections), record.considered)

    def candidates(self, shift: Shift, workload: Workload) -> dict[Clique, float]:
        """Return the tables that rounds choose from, with their weights.

        Tables of rows include the column of last rows. A table of one column in a row and in the row before has `OF_SAME` times the
        weight of the workload. The result also has a table of each column of rows with the row's number, and, if the model knows
        two rows before, a table of each column in a row and in the row two before.

        Args:
            shift: Derives statements about rows before from tables.
            workload: The tables that are asked for.
        """
        link, asked = self.link, dict[Clique, float]()
        for clique, weight in workload.weights.items():
            table, same = shift.by_last(clique), any(set(clique) == {name, link.other(name)} for name in clique)
            asked[table] = asked.get(table, 0.0) + weight * (OF_SAME if same else 1.0)
        mine = [name for name in link.members.names if any(name in clique for clique in asked)]
        further = {shift.domain.clique((name, START)): OF_PLACE * sum(asked.values()) / len(mine) for name in mine}
        for lag, (name, back) in link.lags.items():
            weight = workload.weights.get(workload.domain.clique((name, link.other(name))), 0.0) if link.most > 2 else 0.0
            if 1 < back <= shift.back and weight:
                further[shift.domain.clique((name, lag))] = OF_TWO * weight
        return further | asked


def _by_number(cliques: Iterable[Clique]) -> list[Clique]:
    """Return those tables that are of rows by their number, which are measured before any round."""
    return [clique for clique in cliques if {NUMBER, LAST} <= set(clique)]


def _without_two(link: SequenceLink, domain: Domain) -> Domain:
    """Return the domain without columns of the row two before."""
    return domain.keep([name for name in domain.names if link.lags.get(name, (name, 0))[1] < 2])


@dataclass(frozen=True)
class Shift:
    """The statements of tables of rows about the rows before them.

    Attributes:
        link: The link of the tables.
        domain: The domain of the records.
        back: How many rows before tables may name, 1 or 2.
    """

    link: SequenceLink
    domain: Domain
    back: int = 1

    def by_last(self, clique: Clique) -> Clique:
        """Return the table that is measured for a table: with `LAST`, where it then says something of rows before."""
        with_last = self.domain.clique({*clique, LAST})
        return with_last if LAST in clique or self.before(with_last) else clique

    def before(self, clique: Clique) -> list[str]:
        """Return the columns of a table, with columns of the row before in place of a row's own.

        The result is [] if the table says nothing about rows before.
        """
        later = {name: lag for lag, (name, back) in self.link.lags.items() if back == 1}
        if self.back > 1:
            later |= {later[name]: lag for lag, (name, back) in self.link.lags.items() if back == 2}
        names = [later.get(name, name) for name in clique if name != LAST]
        stays = [name for name in clique if name in self.link.member_names and name not in later]
        moved = [name for name in clique if name in later]
        return names if LAST in clique and START not in clique and moved and not stays else []

    def told(self, one: MarginalCounts) -> list[MarginalCounts]:
        """Return what the counts of a table of rows say of the rows before, as the only element, or [] if they say nothing.

        Rows that are not a person's last one are as many records as the rows before that second and later rows have. Cells of absent rows
        get an infinite variance.

        Args:
            one: The counts, with a variance for each cell.
        """
        names = self.before(one.clique)
        if not names:
            return []
        axis = one.clique.index(LAST)
        mine = [name for name in one.clique if name != LAST]
        present = tuple(slice(self.link.members[name].size) if name in self.link.members else slice(None) for name in mine)
        known, doubt = (np.take(values, 0, axis)[present] for values in (one.values, one.variances))
        shape = [self.domain[name].size for name in names]
        values, variances, inner = np.zeros(shape), np.full(shape, np.inf), tuple(slice(size) for size in known.shape)
        values[inner], variances[inner] = known, doubt
        for place, name in enumerate(names):
            if name in self.link.lags:  # whether the row before had a row before is in its own cells
                nobody = [slice(None)] * len(names)
                nobody[place] = slice(-1, None)
                variances[tuple(nobody)] = np.inf
        order = [names.index(name) for name in self.domain.clique(names)]
        return [MarginalCounts(self.domain.clique(names), values.transpose(order), variances.transpose(order))]


class Told:
    """Holds the measurements and fits the model to them.

    Args:
        shift: Derives statements about rows before from tables, and has the model's domain.
        kernel: The kernel, which is charged for tables.
        columns: The measurements of single columns; columns of rows are measured with `LAST`.
    """

    def __init__(self, shift: Shift, kernel: Kernel, columns: Sequence[Measurement]) -> None:
        self._measured, self._roots = [*columns], list[Measurement]()
        self._kernel, self._shift = kernel, shift
        self._sample: Drawn | None = None
        self._before, self._before_roots = dict[Clique, Floats](), dict[Clique, Floats]()
        self._number = next(one for one in columns if one.clique == (NUMBER,))
        self._folding = Folding.of(shift.domain, [_column(one) for one in columns], MERGE_BELOW)
        self._capacity, self._inside = Capacity(self._folding.model, CAPACITY_MB), set[Clique]()
        for one in columns:
            self._inside |= self._told(one.clique)
        self.model = self._fitted(None, FINAL)

    def measure(self, number: int, clique: Clique, sigma: float) -> Generator[Measured, None, Measurement | None]:
        """Measure a table in counts, or in sums of roots where these pay, and return the counts, None for roots (by `yield from`).

        Noise is shrunk towards what the model says before the first measurement of a table; later models have its noise in them.

        Args:
            number: Number of the round.
            clique: The table.
            sigma: Standard deviation of the noise of each cell.
        """
        link, before = self._shift.link, self.model.marginal(clique)
        self._inside |= self._told(clique)
        noisy = sigma * self._shift.domain.cells(clique) > WIDE * self.model.total
        if not link.has_roots or START in clique or not noisy or not link.member_names.intersection(clique):
            self._before.setdefault(clique, before)
            self._measured += yield from measure(self._kernel, number, [clique], sigma)
            return self._measured[-1]
        inside = of_members(link, clique)
        self._roots.append(Measurement(clique, self._kernel.measure_roots(clique, sigma)[inside], sigma))
        self._before_roots.setdefault(clique, np.maximum(before[inside], 0.0) / self._drawn().each(clique))
        return None

    def _told(self, clique: Clique) -> set[Clique]:
        """Return a table, and the one of rows before that it tells."""
        names = self._shift.before(clique)
        return {clique, self._shift.domain.clique(names)} if names else {clique}

    def _drawn(self) -> Drawn:
        """Return a sample of the present model, as large as its number of persons, up to `PERSONS`; it is drawn once for each model."""
        if self._sample is None:
            link, rng = self._shift.link, np.random.default_rng(0)
            persons, sizes, rows = rough(self.model, link, int(min(self.model.total / link.records_each, PERSONS)), rng)
            self._sample = Drawn(link, records_of(link, persons, sizes, rows), sizes)
        return self._sample

    def allowed(self, cliques: Iterable[Clique], fraction: float) -> list[Clique]:
        """Return those tables with which the model stays within a fraction of its capacity, with what they say of rows before."""
        return [clique for clique in self._capacity.allowed(self._inside, cliques, fraction) if self._fits(clique, fraction)]

    def _fits(self, clique: Clique, fraction: float) -> bool:
        names = self._shift.before(clique)
        return not names or self._capacity.allows({*self._inside, clique}, self._shift.domain.clique(names), fraction)

    def answers(self, cliques: Iterable[Clique]) -> Answers:
        """Return the model's answers to tables, in counts."""
        return self.model.marginals(list(cliques))

    def learn(
        self, choice: Choice, _answer: Floats, number: int, sigma: float, _fraction: float, record: Selections
    ) -> Generator[Step, None, Choice]:
        """Measure a chosen table and record the selection (`linked_rounds.Models.learn`)."""
        counted = yield from self.measure(number, choice.clique, sigma)
        if counted is not None:
            record.add(choice, counted)
            return choice
        record.pass_over(choice)
        return replace(choice, chosen=replace(choice.chosen, offset=choice.chosen.offset * OF_ROOTS))

    def learnt_little(self, choice: Choice) -> bool:
        """Return whether the model's answer to a chosen table changed no more than by noise."""
        return choice.taught_little(self.model)

    def fit(self, stopping: Stopping) -> None:
        """Fit the model to everything.

        Args:
            stopping: When the fit ends.
        """
        self.model, self._sample = self._fitted(self.model, stopping), None

    def _fitted(self, earlier: GraphicalModel | None, stopping: Stopping) -> GraphicalModel:
        measured, known = list[Measurement](), [places_of(self._shift.link, self._number)]
        for one in _shrunk(self._measured, self._before):
            measured.append(one)
            known += self._shift.told(MarginalCounts(one.clique, one.values, np.full(one.values.shape, one.deviation**2)))
        if self._roots:
            drawn = self._drawn()
            for one in _shrunk(self._roots, self._before_roots):
                known.append(counts_of(self._shift.link, one, drawn, self.model, self._number))
                known += self._shift.told(known[-1])
        total = total_from(self._kernel, self._measured)
        return estimate(self._shift.domain, measured, total, earlier, stopping, self._folding, known)

    @property
    def used_mb(self) -> float:
        """The size of the model in megabytes (1e6 bytes)."""
        return self._capacity.used_mb(self._inside)


def _shrunk(measured: Sequence[Measurement], before: Mapping[Clique, Floats]) -> Iterator[Measurement]:
    """Yield one measurement for each table, with noise shrunk towards what was believed before; columns stay as they were measured."""
    for one in one_each(measured):
        yield replace(one, values=shrunk(one.values, before[one.clique], one.deviation)) if one.clique in before else one


def _column(one: Measurement) -> Measurement:
    """Return the measurement of a single column that follows from one by `LAST`."""
    if LAST not in one.clique:
        return one
    names, axis = tuple(name for name in one.clique if name != LAST), one.clique.index(LAST)
    return Measurement(names, one.values.sum(axis), one.deviation * math.sqrt(2))
