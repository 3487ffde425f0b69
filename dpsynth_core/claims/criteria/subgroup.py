"""The criterion "in every table of the workload, at most so many of the people of a group are in a wrong cell".

Within the group each table is measured as `tables` measures it for everybody: ||M_r(D_group) - T p_r||_1, p_r being the shares among the
rows of the group and T a noisy number of people in it. T takes 1 / (1 + sqrt(k)) of the budget, which makes the sum of both variances
smallest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.claims.criteria.conditions import Condition, read_condition
from dpsynth_core.claims.criteria.criterion import UNKNOWN, Entries, Published, common, positive
from dpsynth_core.claims.criteria.form import OFF_BY, Entry, Field
from dpsynth_core.claims.criteria.words import Within
from dpsynth_core.mechanisms.rounds import distance_sigma, sigma_for
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval, Noisy, largest
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class SubgroupWithin(Within):
    """where: who is in the group. limit: share of its people in a wrong cell, of each table."""

    kind: ClassVar[str] = "subgroup"
    title: ClassVar[str] = "A subgroup, in every table"
    form: ClassVar[tuple[Field, ...]] = (
        Field("limit", OFF_BY, Entry.PERCENT, 0.2),
        Field("where", "Who is in it", Entry.PEOPLE),
    )
    unit_of_error: ClassVar[str] = "of these people in the wrong group"

    where: Condition
    limit: float

    @classmethod
    def read(cls, entries: Entries, workload: Workload, field: str) -> SubgroupWithin:
        """From its JSON, e.g. {"kind": "subgroup", "where": {"sex": "f"}, "limit": 0.1}. Raises InputError."""
        importance, name = common(entries, field, cls.form)
        where = read_condition(entries.get("where"), workload.domain, f"{field}.where")
        return cls(importance, name, where, positive(entries, "limit", field, 1.0))

    def sentence(self, domain: Domain) -> str:
        return f"every table of the workload among people with {self.where.sentence(domain)}"

    def needs(self, workload: Workload) -> tuple[Clique, ...]:
        """Each table with the columns of the condition beside it, and these alone."""
        wide = [workload.domain.clique({*clique, *self.where.columns}) for clique in workload.cliques]
        return tuple(dict.fromkeys([*wide, workload.domain.clique(self.where.columns)]))

    def answers(self, workload: Workload) -> int:  # noqa: ARG002
        return 2

    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        cliques, domain = published.workload.cliques, kernel.domain
        counting = kernel.rho_left * _people_share(len(cliques))
        people_sigma = sigma_for(counting, kernel.unit.sum_l2(0.0, 1.0))
        over = domain.clique(self.where.columns)
        people = kernel.measure_sum(over, self.where.on(domain, over).astype(np.float64), 0.0, 1.0, people_sigma)
        shares = self._shares(published, domain)
        sigma = distance_sigma(kernel.unit, kernel.rho_left, len(cliques))
        answers = {r: shares.get(r, np.zeros(domain.sizes(r))) * max(0.0, people) for r in cliques}
        noisy = kernel.among(dict(self.where.cells)).measure_errors(answers, sigma)
        if len(shares) < len(cliques):
            return UNKNOWN
        mass = max(float(np.abs(table).sum()) for table in shares.values())
        return largest([noisy[r] for r in cliques], sigma, Noisy(people, people_sigma), round(mass, 12))

    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        counting = _people_share(len(workload.cliques))
        people_sigma = sigma_for(counting * rho, unit.sum_l2(0.0, 1.0))
        deviation = math.hypot(distance_sigma(unit, (1 - counting) * rho, len(workload.cliques)), people_sigma)
        return float(scipy.special.ndtri((1 + CONFIDENCE) / 2)) * deviation / (2 * people)

    def _shares(self, published: Published, domain: Domain) -> dict[Clique, NDArray[np.float64]]:
        """What the release says of each table within the group, as fractions of it; nothing where it says nothing."""
        stated: dict[Clique, NDArray[np.float64]] = {}
        wide = {clique: domain.clique({*clique, *self.where.columns}) for clique in published.workload.cliques}
        tables = published.tables(list(dict.fromkeys(wide.values())))
        for clique, over in wide.items():
            inside = np.where(self.where.on(domain, over), tables[over], 0.0) if over in tables else np.zeros(())
            if (group := float(inside.sum())) > 0:
                stated[clique] = project(inside, over, clique) / group
        return stated


def _people_share(tables: int) -> float:
    return 1 / (1 + math.sqrt(tables))
