"""AIM for households and their members: a model of a household and a random member, and one of two members (`vocabulary.link`).

As AIM it measures single columns, then round by round the tables that the models answer worst. What it adds: members are exchangeable, so
that what is measured of a member holds for the other one too, and a column of members is measured once; tables of two members of one
household are measured by class of its size, because couples are not like families; how many members are alike in a column is measured,
which pairs do not say; of wide tables of members sums of roots are measured (`roots`), where members who are not alike count more; and of
tables what stands out of noise is believed (`shrinkage`). Reads the private tables only through the kernel.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.estimation import Stopping, estimate, one_each
from dpsynth_core.inference.households import CLASSES, LinkedCodes, classes, draw, kinds
from dpsynth_core.inference.households import Model as RowModel
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.inference.roots import Roots, of_members, paired, rooted
from dpsynth_core.inference.shrinkage import shrunk
from dpsynth_core.inference.smoothing import smooth_columns
from dpsynth_core.mechanisms.graphical.grouping import OfColumns
from dpsynth_core.mechanisms.graphical.linked_rounds import Rounds, costs_of, noise_of, rounds_of
from dpsynth_core.mechanisms.graphical.models import (
    FINAL,
    Answers,
    Capacity,
    Choice,
    Selections,
    columns_too_large,
)
from dpsynth_core.mechanisms.mechanism import ASKED, CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split
from dpsynth_core.mechanisms.rounds import ANNEALING, fitted, least_error_shares, measure, sigma_for, total_from
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.vocabulary.zeros import StructuralZeros

COLUMNS, MEASURING, CAPACITY_MB, MERGE_BELOW = 0.09, 0.95, 64.0, 3.0
"""Share of the budget for single columns, and of a round's for measuring; how large the model may become; below how many standard
deviations of its noise a value is one with others."""
APART = 0.06
"""A class of sizes of households is divided where noise is at most this share of either part."""
OF_NUMBER = 7.0
"""What the number of members weighs among single columns: every table of members is counted by it."""
NUMBERS = 0.12
"""Of what is left then, the share for numbers of members by each column of the household, more for a wide one: what is across follows
them, and selections find a wide one late."""
ALIKE = 0.035
"""Likewise, for how many members of a household are alike."""
PRECISE = 5.0
"""How many times as precise as what is measured of members who are alike it counts what is known of their columns."""
OF_THREE, MOST_TABLES, MOST_CELLS = 0.64, 100, 10_000
"""What a table of three columns weighs beside the mean of its pairs, which are asked for and do not tell it; how many there may be, the
smallest first, and of how many cells each."""
WIDE, WIDE_PAIRS, OF_ROOTS, MOST_PAIRS = 0.03, 0.1, 0.65, 4_000_000
"""Sums of roots are measured of a table of one member, and of two, where the deviations of its cells' noise add up to this share of all
records, or more: how many members are alike is mostly known well enough for 1 to 3 % of a cell, and a third of the noise is gone. Where
it is less by the time that a table is chosen again, counts take their place. What was left of the noise on a survey. How many cells the
table may have that says who are alike: of the number of members and two of them."""
WEIGHTS = {"households": 0.8, "members": 1.4, "across": 2.9, "within": 0.82}
"""Of a kind of table, all its tables together."""


_COSTS = ((1.8, 1.7e-6, 4.7e-4), (220.0, 1.4e-5, 4.6e-4))
"""Seconds of a processor and megabytes: of any run, of a value of a pair, of a cell. Fitted to forty releases of invented households
(`benchmarks.linked_forecasts`)."""
_UNSAID = 50_000
"""Number of households where none is declared."""


def needed(households: float, most: int, columns: int, cells: int) -> tuple[float, float]:
    """Return the expected processor seconds and megabytes of a run.

    They grow with the possible pairs of members, and with the cells of the tables.

    Args:
        households: Number of households.
        most: Largest number of members of a household.
        columns: Number of columns that tables ask for.
        cells: Number of cells of all tables.
    """
    values = households * max(2, most * (most - 1)) * columns
    seconds, megabytes = (fixed + of_value * values + of_cell * cells for fixed, of_value, of_cell in _COSTS)
    return seconds, megabytes


def workload(link: Link) -> Workload:
    """Return the workload for two linked tables: every table of two columns.

    All tables of a kind together have a fixed weight (`WEIGHTS`): 0.8 for tables of households, 1.4 of one
    member, 2.9 across both, and 0.82 of two members of one household.
    """
    tables = kinds(link)
    number = Counter(tables.values())
    return Workload(link.domain, {clique: WEIGHTS[kind] / number[kind] for clique, kind in tables.items()})


@dataclass(frozen=True, eq=False)
class HouseholdModel:
    """Models of two linked tables, and rows from them.

    Attributes:
        link: The link of the tables.
        one: Model of a household and a random member.
        two: Model of two members of one household.
        alike: For each column of members, a model of the number of members and of how many share a
            member's value.
    """

    link: Link
    one: RowModel
    two: RowModel
    alike: Mapping[str, RowModel]

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the marginal over `clique` in counts of records, one axis per column.

        It is of the model of two members if the clique names a column of the second member, else of the model
        of a household and a random member.
        """
        return (self.two if set(clique) & set(map(self.link.other, self.link.members.names)) else self.one).marginal(clique)

    def tables(self, n: int, rng: np.random.Generator) -> LinkedCodes:
        """Draw n synthetic households with their members at random.

        Args:
            n: Number of households.
            rng: Source of randomness.
        """
        return draw(self.one, self.two, self.alike, self.link, n, rng)


@dataclass(frozen=True)
class Households:
    """The mechanism for two linked tables.

    Attributes:
        link: The link of the tables.
        card: The card.
    """

    link: Link
    card: Card = Card(
        "households", "Households", GDP,
        summary="Two linked tables, households and their members: adapts to the tables that it still gets wrong, as AIM does.",
        paper="After McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), over pairs of members",
        privacy=(
            "As AIM's: rounds of selections (exponential mechanism) and measurements (rounded Gaussian noise) compose adaptively under "
            "Gaussian differential privacy. A household with all its members is one person, who owns a fixed number of records of pairs."
        ),
        differences=(
            "Measures pairs of members; what holds for one member holds for the other.",
            "Of wide tables of members it measures sums of roots, where members who are not alike count more for the same noise.",
        ),
    )  # fmt: skip

    def forecast(self, workload: Workload, rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run for 50,000 households, or why it is refused."""
        return self.forecast_for(workload, rho, _UNSAID)

    def forecast_for(self, workload: Workload, _rho: float, people: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        Args:
            workload: The tables that are asked for.
            _rho: The budget, which does not matter.
            people: Number of households.
        """
        reason = columns_too_large(workload.domain, CAPACITY_MB, CAPACITY_MB)
        asked = workload.columns
        return Forecast(not reason, *needed(people, self.link.most, len(asked), workload.cells), reason)

    def split(self, workload: Workload, _total_is_public: bool) -> Split:
        """Return the planned division of the budget in order, as shares that add up to 1, as if each chosen table were chosen once.

        The first chosen tables are narrow, so that choosing takes more than stated.
        """
        first = MEASURING * COLUMNS
        asked = (NUMBERS * bool(self._numbers(workload.cliques)) + ALIKE * bool(self._alike())) * (1 - first)
        table = MEASURING * fmean(costs_of(workload.domain, workload.weights).values())
        choosing = (1 - MEASURING) / (1 - MEASURING + table) * (1 - first - asked)
        parts = ((SINGLE, first), (ASKED, asked), (CHOOSING, choosing), (CHOSEN, 1 - first - asked - choosing))
        return tuple((part, share) for part, share in parts if share)

    def _numbers(self, cliques: Iterable[Clique]) -> list[Clique]:
        """Return those cliques that have the number of members and otherwise only the household's own columns."""
        return [clique for clique in cliques if NUMBER in clique and set(clique) <= {NUMBER, *self.link.households.names}]

    def _alike(self) -> dict[str, list[Clique]]:
        """Return, for each column of members, the two tables that say how many members of a household share a value.

        One table has the number of alike members with the column, the other with the number of
        members. The result is empty if households have at most one member.
        """
        clique, alike = self.link.domain.clique, self.link.alike
        return {name: [clique((by, alike(name))) for by in (name, NUMBER)] for name in self.link.members.names if self.link.most > 1}

    def _of_three(self, domain: Domain, asked: Mapping[Clique, float]) -> dict[Clique, float]:
        """Return tables of a column of the household and two of a member, if their three pairs are asked for.

        Only small tables are returned (`MOST_TABLES`, `MOST_CELLS`).

        Args:
            domain: The domain.
            asked: The weights of the tables that are asked for.

        Returns:
            By clique, OF_THREE times the mean weight of the pairs.
        """
        every = product(self.link.households.names, combinations(self.link.members.names, 2))
        pairs = {domain.clique((one, *two)): (two, (one, two[0]), (one, two[1])) for one, two in every}
        tables = {clique: fmean(asked[pair] for pair in of) for clique, of in pairs.items() if set(of) <= asked.keys()}
        small = sorted((clique for clique in tables if domain.cells(clique) <= MOST_CELLS), key=domain.cells)[:MOST_TABLES]
        return {clique: OF_THREE * tables[clique] for clique in small}

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run the mechanism with the kernel's whole budget. Single columns come first, then numbers of members, then rounds as in AIM.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each table, a Fitted for each estimate of the models, then a Finished.
        """
        link, domain = self.link, kernel.domain
        measured = yield from self._measure_columns(kernel)
        total = total_from(kernel, measured)
        noise = noise_of(workload, sigma_for(kernel.rho_left, kernel.unit.marginal_l2) / total)
        rounds = rounds_of(noise)
        held = next(one.values for one in measured if one.clique == (NUMBER,))
        sizes = classes(link, _starts(held / total, noise * math.sqrt(rounds / MEASURING) / APART))
        kernel = kernel.grouped([sizes]) if sizes.size > 1 else kernel
        models, left = _Models(kernel, link, sizes, measured), kernel.rho_left
        candidates = {_by_class(kernel.domain, link, clique, sizes.name): weight for clique, weight in workload.weights.items()}
        alike = yield from self._measure_alike(kernel, left)
        yield from models.measure_numbers(self._numbers(candidates), NUMBERS * left)
        yield fitted(kernel, 0, "first models from single columns and numbers of members")
        candidates |= (three := self._of_three(kernel.domain, candidates))
        costs = costs_of(kernel.domain, candidates, len(three))
        number, record = yield from Rounds(candidates, costs, MEASURING, ANNEALING).run(kernel, models, rounds, len(models.measured))
        details = {"rounds": number, "model_size_mb": models.used_mb}
        considered = {r: seen for r, seen in record.considered.items() if sizes.name not in r}
        one, two = (OfColumns(part.model, domain.keep(set(part.domain.names) - {sizes.name})) for part in models.parts)
        numbers = {name: _number_model(kernel, told, domain.clique((NUMBER, name)), one) for name, told in alike.items()}
        yield Finished(HouseholdModel(link, one, two, numbers), models.total, details, tuple(record.selections), considered)

    def _measure_columns(self, kernel: Kernel) -> Generator[Step, None, list[Measurement]]:
        """Measure single columns, those of members once, for `COLUMNS` of the budget; yield the steps and return the measurements."""
        link, measured = self.link, list[Measurement]()
        columns = (*link.households.names, NUMBER, *link.members.names)
        shares = least_error_shares(kernel.domain, {(name,): OF_NUMBER if name == NUMBER else 1.0 for name in columns})
        for clique, share in shares.items():
            sigma = sigma_for(share * COLUMNS * MEASURING * kernel.rho_total, kernel.unit.marginal_l2)
            measured += yield from measure(kernel, 0, [clique], sigma)
        return measured

    def _measure_alike(self, kernel: Kernel, left: float) -> Generator[Step, None, dict[str, list[Measurement]]]:
        """Measure how many members share a value for `ALIKE` of a budget `left`; yield the steps and return the tables of each column."""
        alike = dict[str, list[Measurement]]()
        for name, cliques in self._alike().items():
            sigma = sigma_for(ALIKE / (2 * len(self.link.members)) * left, kernel.unit.marginal_l2)
            alike[name] = yield from measure(kernel, 0, cliques, sigma)
        return alike


def _starts(held: NDArray[np.float64], few: float) -> list[int]:
    """Return the sizes of households at which classes of sizes begin, in ascending order.

    Sizes 2 and 3 always begin a class (`CLASSES`), because couples differ from families.

    Args:
        held: Share of records in households of each size.
        few: Smallest share of records in a class of larger sizes.
    """
    starts = [*CLASSES]
    for size in range(starts[-1] + 1, len(held)):
        if min(held[starts[-1] : size].sum(), held[size:].sum()) >= few:
            starts.append(size)
    return starts


def _parts(link: Link, *sizes: str) -> tuple[set[str], set[str]]:
    """Return the columns of the two models.

    Args:
        link: The link of the tables.
        *sizes: Names of columns of classes of household sizes.

    Returns:
        The columns of a household, its size and a member; and the size, its classes and the columns
        of two members.
    """
    mine = link.members.names
    return {*link.households.names, NUMBER, *mine}, {NUMBER, *sizes, *mine, *map(link.other, mine)}


def holds(link: Link, clique: Clique) -> bool:
    """Return whether one of the two models contains all columns of the clique."""
    return any(set(clique) <= names for names in _parts(link))


class _Part:
    """One of the two models, with the measurements of its columns.

    Args:
        kernel: The kernel.
        names: The columns of the model.
        told: The measurements of single columns.
    """

    def __init__(self, kernel: Kernel, names: Collection[str], told: Sequence[Measurement]) -> None:
        self.domain = kernel.domain.keep(set(names).intersection(kernel.domain.names))
        columns = [one for one in told if self.holds(one.clique)]
        self._told: list[Measurement | Roots] = [*columns]
        self._folding, self._columns = Folding.of(self.domain, columns, MERGE_BELOW), smooth_columns(self.domain, columns)
        self._capacity = Capacity(self._folding.model, CAPACITY_MB)
        self.model = self._fitted(kernel, None, FINAL, ())

    def holds(self, clique: Clique) -> bool:
        return set(clique) <= set(self.domain.names)

    def allowed(self, cliques: Iterable[Clique], fraction: float) -> list[Clique]:
        return self._capacity.allowed({one.clique for one in self._told}, cliques, fraction)

    def answers(self, cliques: Iterable[Clique]) -> Iterable[tuple[Clique, NDArray[np.float64]]]:
        return self.model.marginals(list(cliques)).items()

    def take(self, told: Sequence[Measurement | Roots], fraction: float) -> None:
        """Add measurements of this model's columns, in place of earlier ones of the same tables.

        Tables with which the model would exceed the share of its capacity are left out.

        Args:
            told: The measurements, or sums of roots; other columns' measurements are ignored.
            fraction: Share of the capacity.
        """
        new = {one.clique: one for one in told if self.holds(one.clique) and self.allowed([one.clique], fraction)}
        self._told = [*(one for one in self._told if one.clique not in new), *new.values()]

    def fit(self, kernel: Kernel, stopping: Stopping, two: RowModel) -> None:
        """Fit the model to its measurements.

        Args:
            kernel: The kernel.
            stopping: When the fit ends.
            two: The model of two members of one household, which converts sums of roots to counts.
        """
        roots = [one.counts(self.model, two) for one in self._told if isinstance(one, Roots)]
        self.model = self._fitted(kernel, self.model, stopping, roots)

    def _fitted(
        self, kernel: Kernel, earlier: GraphicalModel | None, stopping: Stopping, roots: Sequence[MarginalCounts]
    ) -> GraphicalModel:
        told = [one for one in self._told if isinstance(one, Measurement)]
        measured = [one for one in told if one not in self._columns.measured]
        believed = [*self._columns.believed, *roots]
        return estimate(self.domain, measured, total_from(kernel, told), earlier, stopping, self._folding, believed)

    @property
    def used_mb(self) -> float:
        return self._capacity.used_mb({one.clique for one in self._told})


class _Models:
    """The two models, and what is measured for them.

    Args:
        kernel: The kernel.
        link: The link of the tables.
        sizes: The classes of household sizes.
        columns: The measurements of single columns.

    Attributes:
        parts: The model of a household and a member, and that of two members.
        measured: All measurements of counts.
    """

    def __init__(self, kernel: Kernel, link: Link, sizes: Groups, columns: list[Measurement]) -> None:
        self._kernel, self._both, self.measured = kernel, _Both(link, kernel.domain), columns
        self._sums, self._first = _Sums(kernel, self._both, sizes), dict[Clique, NDArray[np.float64]]()
        one, two = (_Part(kernel, names, self._both.of(columns)) for names in _parts(link, sizes.name))
        self.parts = one, two

    def measure_numbers(self, cliques: Iterable[Clique], rho: float) -> Iterator[Step]:
        """Measure those tables that the first model has room for, yield the steps, and fit the first model.

        Args:
            cliques: Tables of the number of members.
            rho: Cost of all of them, in rho.
        """
        first, _ = self.parts
        for clique, share in least_error_shares(self._kernel.domain, dict.fromkeys(first.allowed(cliques, 1.0), 1.0)).items():
            sigma = sigma_for(share * rho, self._kernel.unit.marginal_l2)
            self.measured += yield from measure(self._kernel, 0, [clique], sigma)
            self._first[clique] = first.model.marginal(clique)
            first.take(self._both.of(self.measured[-1:], self._first[clique]), 1.0)
        self._fit(first, FINAL)

    def _home(self, clique: Clique) -> _Part:
        """Return the model that answers a table: the first one if it has all columns."""
        return next(part for part in self.parts if part.holds(clique))

    def allowed(self, cliques: Iterable[Clique], fraction: float) -> list[Clique]:
        by_home = [(clique, self._home(clique)) for clique in cliques]
        return [clique for part in self.parts for clique in part.allowed((r for r, home in by_home if home is part), fraction)]

    def answers(self, cliques: Iterable[Clique]) -> Answers:
        by_home = [(clique, self._home(clique)) for clique in cliques]
        return {clique: answer for part in self.parts for clique, answer in part.answers(r for r, home in by_home if home is part)}

    def learn(
        self, choice: Choice, answer: NDArray[np.float64], number: int, sigma: float, fraction: float, record: Selections
    ) -> Generator[Step, None, Choice]:
        """Measure a chosen table: sums of roots where they pay and no counts were measured, else counts."""
        (first, second), chosen = self.parts, choice.clique
        if chosen not in self._first and self._sums.pay(chosen, sigma / self.total):
            told: Sequence[Measurement | Roots] = self._sums.measured(chosen, sigma, first.model, second.model)
            record.pass_over(choice)
            choice = replace(choice, chosen=replace(choice.chosen, offset=choice.chosen.offset * OF_ROOTS))
        else:
            self.measured += yield from measure(self._kernel, number, [chosen], sigma)
            record.add(choice, self.measured[-1])
            every = one_each(one for one in self.measured if one.clique == chosen)
            told = self._both.of(every, self._first.setdefault(chosen, answer))
        for part in self.parts:
            part.take(told, fraction)
        return choice

    def fit(self, stopping: Stopping) -> None:
        for part in self.parts:
            self._fit(part, stopping)

    def _fit(self, part: _Part, stopping: Stopping) -> None:
        part.fit(self._kernel, stopping, self.parts[1].model)

    def learnt_little(self, choice: Choice) -> bool:
        return choice.taught_little(self._home(choice.clique).model)

    @property
    def total(self) -> float:
        """The estimated number of records."""
        return self.parts[0].model.total

    @property
    def used_mb(self) -> float:
        return sum(part.used_mb for part in self.parts)


def _number_model(kernel: Kernel, told: Sequence[Measurement], known: Clique, first: RowModel) -> GraphicalModel:
    """Return a model of a column of members, the number of members, and how many share a member's value.

    Args:
        kernel: The kernel.
        told: The measurements of numbers of alike members.
        known: The clique of the column and the number of members, whose marginal follows from
            `first`.
        first: The model of a household and a member.
    """
    domain = kernel.domain.keep({*known, *(name for one in told for name in one.clique)})
    alike, size = domain.names[-1], domain[NUMBER].size
    nobody = domain[alike].size - 1  # whose cell is the last, and which households of two and more have not; code 0 is one member
    never = [((k,), tuple(code for code in range(nobody + 1) if (code >= k if code < nobody else k > 1))) for k in range(size)]
    domain = replace(domain, impossible=(StructuralZeros((NUMBER, alike), tuple(never)),))
    values = first.marginal(known)
    precise = MarginalCounts(known, values, np.full(values.shape, (told[0].sigma / PRECISE) ** 2))
    return estimate(domain, told, float(values.sum()), None, FINAL, None, [precise])


class _Sums:
    """The measured sums of roots, by table.

    Args:
        kernel: The kernel.
        both: Mirrors measurements of one member to the other member.
        sizes: The classes of household sizes.
    """

    def __init__(self, kernel: Kernel, both: _Both, sizes: Groups) -> None:
        self._kernel, self._both, self._sizes = kernel, both, sizes
        self._noisy, self._before = dict[Clique, list[Measurement]](), dict[Clique, NDArray[np.float64]]()

    def pay(self, clique: Clique, noise: float) -> bool:
        """Return whether sums of roots can be measured for a table and should take the place of counts.

        That is so for tables of one or two members (two: by class of size), if noise would be large
        in all cells together (`WIDE`, `WIDE_PAIRS`).

        Args:
            clique: The table.
            noise: Standard deviation of the noise of a cell, as a share of all records.
        """
        link, mine = self._both.link, [name for name in clique if name in self._both.link.swapped]
        pair = paired(link, clique) and len(clique) == 3 and self._sizes.name in clique
        if not pair and not set(clique) <= {*link.households.names, NUMBER, *link.members.names}:
            return False
        cells = math.prod(link.domain[name].size - 1 for name in mine)
        others = math.prod(self._kernel.domain[name].size for name in clique if name not in mine)
        wide = WIDE_PAIRS if pair else WIDE
        return bool(mine) and noise * cells * others > wide and cells**2 * (link.most + 1) <= MOST_PAIRS

    def measured(self, clique: Clique, sigma: float, one: GraphicalModel, two: GraphicalModel) -> list[Roots]:
        """Measure the sums of roots of a table, and return the estimates from all its measurements, for both members.

        Args:
            clique: The table.
            sigma: Standard deviation of the noise of each cell.
            one: The present model of a household and a member.
            two: The present model of two members of one household.
        """
        link = self._both.link
        roots = self._kernel.measure_roots(clique, sigma)[of_members(link, clique)]
        every = self._noisy.setdefault(clique, [])
        every.append(Measurement(clique, roots, sigma))
        before = self._before.setdefault(clique, rooted(link, self._sizes, one, two, clique)[0])
        return [Roots(link, self._sizes, told.clique, told.values, told.sigma) for told in self._both.of(one_each(every), before)]


def _by_class(domain: Domain, link: Link, clique: Clique, sizes: str) -> Clique:
    """Return a table of two members with the class of the household's size as a further column.

    Tables with at most one member stay unchanged, and so do tables with the number of members,
    from which the class follows.

    Args:
        domain: The domain of the result, which has the column of classes.
        link: The link of the two tables.
        clique: The columns of the table.
        sizes: Name of the column of classes.
    """
    members = [name in link.members for name in clique]
    others = [name in link.swapped and name not in link.members for name in clique]
    return domain.clique((*clique, sizes)) if any(members) and any(others) and NUMBER not in clique else clique


@dataclass(frozen=True, eq=False)
class _Both:
    """Makes measurements of one member hold for both members of a pair, which are exchangeable.

    Attributes:
        link: The link of the tables.
        domain: The domain, with classes of household sizes.
    """

    link: Link
    domain: Domain

    def of(self, measured: Sequence[Measurement], before: NDArray[np.float64] | None = None) -> list[Measurement]:
        """Return each measurement with its mirror image, in which the two members are exchanged.

        A table that is its own mirror image is made symmetric instead, with less noise.

        Args:
            measured: The measurements.
            before: A model's answer before any measurement of the table, towards which noise is
                shrunk; None for no shrinkage. Shrinking towards a later answer would count the
                noise in it twice.
        """
        every = list[Measurement]()
        for one in measured:
            names = self.link.mirrored(one.clique)
            mirrored = self.domain.clique(names)
            order, itself = [names.index(name) for name in mirrored], mirrored == one.clique
            told = one
            if itself and names != mirrored:  # a number and its counterpart are one, measured twice but for those of equal members
                told = replace(one, values=(one.values + one.values.transpose(order)) / 2, sigma=one.sigma / math.sqrt(2))
            if before is not None:
                told = replace(told, values=shrunk(told.values, before, told.sigma))
            every += [told] if itself else [told, replace(told, clique=mirrored, values=told.values.transpose(order))]
        return every
