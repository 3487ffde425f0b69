"""AIM for households and their members: one model of a household, a random member of it and another one (`vocabulary.link`).

As AIM it measures single columns, then round by round the tables that the model answers worst. What it adds: members are exchangeable, so
that what is measured of a member holds for the other one too, and a column of members is measured once; and tables of two members of one
household are measured by class of its size, because couples are not like families. Reads the private tables only through the kernel."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.folding import Folding
from dpsynth_core.inference.households import LinkedCodes, classes, draw, kinds
from dpsynth_core.inference.households import Model as PairModel
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.smoothing import smooth_columns
from dpsynth_core.mechanisms.graphical.grouping import OfColumns
from dpsynth_core.mechanisms.graphical.models import BETWEEN, FINAL, Capacity, Choice, Selections, apart, choose, columns_too_large, fit
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split
from dpsynth_core.mechanisms.rounds import RoundBudget, fitted, least_error_shares, measure, sigma_for
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.workload import Workload

COLUMNS, MEASURING, RESERVE, ROUNDS, CAPACITY_MB, MERGE_BELOW = 0.12, 0.9, 8, 60, 64.0, 3.0
"""Share of the budget for single columns, and of a round's for measuring; rounds that stay affordable; as how many the first are paid; how
large the model may become; below how many standard deviations of its noise a value is one with others."""
TOGETHER = 6
"""A round measures one table for each so many before it."""
WEIGHTS = {"households": 0.5, "members": 1.0, "across": 2.5, "within": 1.2}
"""Of a kind of table, all its tables together."""


def workload(link: Link) -> Workload:
    """All tables of two columns of the four kinds."""
    tables = kinds(link)
    number = Counter(tables.values())
    return Workload(link.domain, {clique: WEIGHTS[kind] / number[kind] for clique, kind in tables.items()})


@dataclass(frozen=True, eq=False)
class HouseholdModel:
    """A model of pairs, and two tables from it. records: how many of them a household is."""

    link: Link
    pairs: PairModel

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        return self.pairs.marginal(clique)

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.int32]:
        """Of pairs; `tables` draws what a release has."""
        return self.pairs.rows(n, marginals, rng)

    def tables(self, n: int, rng: np.random.Generator) -> LinkedCodes:
        """n households with their members."""
        return draw(self.pairs, self.link, n, rng)


@dataclass(frozen=True)
class Households:
    """link: how the two tables belong together."""

    link: Link
    card: Card = Card(
        "households", "Households", GDP,
        summary="Two linked tables, households and their members: adapts to the tables that it still gets wrong, as AIM does.",
        paper="After McKenna, Mullins, Sheldon, Miklau: AIM (VLDB 2022), over pairs of members",
        privacy=(
            "As AIM's: rounds of selections (exponential mechanism) and measurements (rounded Gaussian noise) compose adaptively under "
            "Gaussian differential privacy. A household with all its members is one person, who owns a fixed number of records of pairs."
        ),
        differences=("Measures pairs of members; what holds for one member holds for the other.",),
    )  # fmt: skip

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Work grows with the tables that are scored in each round."""
        cells = sum(map(workload.domain.cells, workload.cliques))
        reason = columns_too_large(workload.domain, CAPACITY_MB)
        return Forecast(not reason, 10.0 + ROUNDS * 2e-6 * cells, 500.0 + 1e-4 * cells, reason)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        first = MEASURING * COLUMNS
        return ((SINGLE, first), (CHOOSING, (1 - MEASURING) * (1 - COLUMNS)), (CHOSEN, 1 - first - (1 - MEASURING) * (1 - COLUMNS)))

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Columns of households and of one member; then rounds of tables."""
        link, domain = self.link, kernel.domain
        shares = least_error_shares(domain, {(name,): 1.0 for name in domain.names if name not in map(link.other, link.members.names)})
        measured: list[Measurement] = []
        for clique, share in shares.items():
            sigma = sigma_for(share * COLUMNS * MEASURING * kernel.rho_total, kernel.unit.marginal_l2)
            measured += yield from measure(kernel, 0, [clique], sigma)
        sizes = Groups(f"{NUMBER} (classes)", NUMBER, classes(link))
        kernel = kernel.grouped([sizes]) if sizes.size > 1 else kernel
        both = _Both(link, kernel.domain)
        candidates = {_by_class(kernel.domain, link, clique, sizes.name): weight for clique, weight in workload.weights.items()}
        folding, columns = Folding.of(kernel.domain, both.of(measured), MERGE_BELOW), smooth_columns(kernel.domain, both.of(measured))
        capacity = Capacity(folding.model, CAPACITY_MB)
        budget = RoundBudget.spending(kernel.rho_left / ROUNDS, MEASURING, kernel.unit.marginal_l2, kernel.selection_price)
        model = fit(kernel, both.of(measured), stopping=FINAL, folding=folding, columns=columns)
        yield fitted(kernel, 0, "first model from single columns")
        number, last, record = 0, not candidates, Selections()
        while not last:
            number += 1
            pool, choices = list(candidates), list[Choice]()
            for _ in range(max(1, len(measured) // TOGETHER)):
                budget, last = budget.affordable(kernel, MEASURING)
                spent = (kernel.rho_spent + budget.rho) / kernel.rho_total
                pool = capacity.allowed({m.clique for m in both.of(measured)}, pool, spent)
                if not pool:
                    break
                choices.append(_chosen(kernel, model, {r: candidates[r] for r in pool}, budget))
                measured += yield from measure(kernel, number, [choices[-1].clique], budget.sigma)
                record.add(choices[-1], measured[-1])
                pool = apart(choices[-1].clique, pool)
                if last:
                    break
            stopping = FINAL if last or not choices else BETWEEN
            model = fit(kernel, both.of(measured), model, stopping, folding=folding, columns=columns)
            yield fitted(kernel, number, f"measured {', '.join(' x '.join(choice.clique) for choice in choices)}")
            last = last or not choices
            if 2 * sum(choice.taught_little(model) for choice in choices) >= len(choices):
                budget = budget.annealed(kernel.rho_left, RESERVE)
        details = {"rounds": number, "model_size_mb": capacity.used_mb({m.clique for m in both.of(measured)})}
        considered = {r: seen for r, seen in record.considered.items() if sizes.name not in r}
        yield Finished(HouseholdModel(link, OfColumns(model, domain)), model.total, details, tuple(record.selections), considered)


def _by_class(domain: Domain, link: Link, clique: Clique, sizes: str) -> Clique:
    """A table of two members, by class of the household's size; any other as it is."""
    members = [name in link.members for name in clique]
    others = [name in link.swapped and name not in link.members for name in clique]
    return domain.clique((*clique, sizes)) if any(members) and any(others) and NUMBER not in clique else clique


def _chosen(kernel: Kernel, model: GraphicalModel, weights: Mapping[Clique, float], budget: RoundBudget) -> Choice:
    answers = model.marginals(list(weights))
    offsets = {r: HALF_NORMAL * budget.sigma * model.folding.model.possible_cells(r) for r in weights}
    return choose(kernel, answers, weights, offsets, budget.eps)


@dataclass(frozen=True, eq=False)
class _Both:
    """Measurements as they hold for both members: those of one member for the other too, those of both made symmetric."""

    link: Link
    domain: Domain

    def of(self, measured: Sequence[Measurement]) -> list[Measurement]:
        every = list[Measurement]()
        for one in measured:
            names = self.link.mirrored(one.clique)
            mirrored = self.domain.clique(names)
            values = one.values.transpose([names.index(name) for name in mirrored])
            if mirrored != one.clique:
                every += [one, replace(one, clique=mirrored, values=values)]
            elif names == mirrored:  # of households alone
                every.append(one)
            else:  # each number and its counterpart are one number, measured twice but for those of equal members
                every.append(replace(one, values=(one.values + values) / 2, sigma=one.sigma / math.sqrt(2)))
        return every
