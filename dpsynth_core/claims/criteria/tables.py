"""Criteria on tables: the largest share of people in a wrong cell of each, among all people or in a group.

The kernel measures ||M_r(D) - T p_r||_1 for all k tables at once, as the certificate does: one person moves each by marginal_l1 at most.
Within a group, D is its records, p_r the shares among its rows and T a noisy number of people in it. T takes 1 / (1 + sqrt(k)) of the
budget, which makes the sum of both variances smallest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.claims.criteria.conditions import Condition, read_condition
from dpsynth_core.claims.criteria.criterion import OFF_BY, UNKNOWN, Entries, Entry, Field, MeasuredCriterion, Published, positive
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.rounds import distance_sigma, sigma_for
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.error_bounds import largest
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval, Noisy
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

_NAMED = 4

Tables = Mapping[Clique, NDArray[np.float64]]


@dataclass(frozen=True)
class TablesWithin(MeasuredCriterion):
    """Each of some tables, e.g. {"kind": "tables", "tables": [["age", "sex"]], "limit": 0.05}.

    Attributes:
        tables: Tables of the workload, () for all.
        limit: Largest share of people in a wrong cell of each table, a fraction.
    """

    kind: ClassVar[str] = "tables"
    title: ClassVar[str] = "Tables of the workload"
    form: ClassVar[tuple[Field, ...]] = (Field("limit", OFF_BY, Entry.PERCENT, 0.1), Field("tables", "Which tables", Entry.TABLES))
    unit_of_error: ClassVar[str] = "of the people in the wrong group"

    tables: tuple[Clique, ...]
    limit: float

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states; without "tables" it is about every table of the workload.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Place of the criterion in the spec, with which the fields of errors begin.

        Raises:
            InputError: "tables" is not a list of tables or is empty, a table is not one of the workload or is listed
                twice, the limit is not above 0 and below 1, importance or name cannot be used, or another entry is
                stated.
        """
        common, tables = cls.common(entries, field), _tables(entries.get("tables"), workload, f"{field}.tables")
        return cls(*common, tables, positive(entries, "limit", field, 1.0))

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the words that name the tables, unescaped. Of more than four, four are named and the others are counted."""
        if not self.tables:
            return "every table of the workload"
        named = "; ".join(" × ".join(clique) for clique in self.tables[:_NAMED])
        more = len(self.tables) - _NAMED
        return ("the table " if len(self.tables) == 1 else "each of the tables ") + named + (f"; and {more:,} more" if more > 0 else "")

    @override
    def needs(self, workload: Workload) -> tuple[Clique, ...]:
        """Return the tables of the criterion; all of the workload if it names no table."""
        return self.tables or workload.cliques

    @override
    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Measure the largest error of the tables with the kernel's whole remaining budget.

        Returns:
            The error, a share of people in a wrong cell, with its bounds of 95 % confidence each; `UNKNOWN` if a
            table is not published. The budget is spent even then.
        """
        cliques = self.needs(published.workload)
        return _measured(kernel, kernel, cliques, published.tables(cliques), published.people, published.people.value)

    @override
    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """Return by how much the upper bound is expected to exceed the measured error, as a share of people.

        Args:
            unit: The unit of privacy.
            rho: The criterion's part of the budget, in rho.
            workload: The workload.
            people: A public or declared number of people.
        """
        sure = CONFIDENCE if unit.total_is_public else (1 + CONFIDENCE) / 2
        return normal(sure) * distance_sigma(unit, rho, len(self.needs(workload))) / (2 * people)


@dataclass(frozen=True)
class SubgroupWithin(MeasuredCriterion):
    """Every table within a group, e.g. {"kind": "subgroup", "where": {"sex": "f"}, "limit": 0.1}.

    Attributes:
        where: The group.
        limit: Largest share of its people in a wrong cell of each table, a fraction.
    """

    kind: ClassVar[str] = "subgroup"
    title: ClassVar[str] = "A subgroup, in every table"
    form: ClassVar[tuple[Field, ...]] = (Field("limit", OFF_BY, Entry.PERCENT, 0.2), Field("where", "Who is in it", Entry.PEOPLE))
    unit_of_error: ClassVar[str] = "of these people in the wrong group"

    where: Condition
    limit: float

    @classmethod
    @override
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Place of the criterion in the spec, with which the fields of errors begin.

        Raises:
            InputError: The group is missing or not valid, the limit is not above 0 and below 1, importance or name
                cannot be used, or another entry is stated.
        """
        common, where = cls.common(entries, field), read_condition(entries.get("where"), workload.domain, f"{field}.where")
        return cls(*common, where, positive(entries, "limit", field, 1.0))

    @override
    def sentence(self, domain: Domain) -> str:
        """Return the words "every table of the workload among people with ...", unescaped.

        Of more than four values of a column, four are quoted and the others are counted.
        """
        return f"every table of the workload among people with {self.where.sentence(domain)}"

    def needs(self, workload: Workload) -> tuple[Clique, ...]:
        """Return the workload's tables, each with the columns of the condition, and the table of these columns."""
        wide = [workload.domain.clique({*clique, *self.where.columns}) for clique in workload.cliques]
        return tuple(dict.fromkeys([*wide, workload.domain.clique(self.where.columns)]))

    @override
    def answers(self, workload: Workload) -> int:
        """Return 2: the number of people in the group, then the errors."""
        return 2

    @override
    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Measure the largest error of a table within the group with the kernel's whole remaining budget.

        Returns:
            The error, a share of the group's people in a wrong cell, with its bounds of 95 % confidence each;
            `UNKNOWN` if a table is not published for the group, or the group has no rows. The budget is spent even
            then.
        """
        cliques, domain = published.workload.cliques, kernel.domain
        people_sigma = sigma_for(kernel.rho_left * _people_share(len(cliques)), kernel.unit.sum_l2(0.0, 1.0))
        over = domain.clique(self.where.columns)
        people = kernel.measure_sum(over, self.where.on(domain, over).astype(np.float64), 0.0, 1.0, people_sigma)
        among = kernel.among(dict(self.where.cells))
        return _measured(kernel, among, cliques, self._shares(published, domain), Noisy(people, people_sigma), max(0.0, people))

    @override
    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """Return by how much the upper bound is expected to exceed the measured error, as a share of the group's people.

        Args:
            unit: The unit of privacy.
            rho: The criterion's part of the budget, in rho.
            workload: The workload.
            people: A public or declared number of people in the group.
        """
        counting = _people_share(len(workload.cliques))
        people_sigma = sigma_for(counting * rho, unit.sum_l2(0.0, 1.0))
        deviation = math.hypot(distance_sigma(unit, (1 - counting) * rho, len(workload.cliques)), people_sigma)
        return normal((1 + CONFIDENCE) / 2) * deviation / (2 * people)

    def _shares(self, published: Published, domain: Domain) -> Tables:
        """Return the release's tables within the group, as fractions of the group.

        Tables that the release does not determine, or in which the group has no rows, are left out.
        """
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


def _measured(
    kernel: SealedKernel, asked: SealedKernel, cliques: Sequence[Clique], shares: Tables, people: Noisy, rows: float
) -> Interval:
    """Measure the largest error of some tables with the kernel's remaining budget.

    Args:
        kernel: The kernel, whose budget is spent.
        asked: The kernel over those who are counted: all people, or a group.
        cliques: The tables.
        shares: Their published shares.
        people: Number of those who are counted, with its noise.
        rows: The number that the published shares are multiplied by.

    Returns:
        The error with its bounds, as a share of people in a wrong cell; `UNKNOWN` if a table was
        not published.
    """
    sigma = distance_sigma(kernel.unit, kernel.rho_left, len(cliques))
    noisy = asked.measure_errors({r: shares.get(r, np.zeros(kernel.domain.sizes(r))) * rows for r in cliques}, sigma)
    if len(shares) < len(cliques):
        return UNKNOWN
    mass = max(float(np.abs(table).sum()) for table in shares.values())
    return largest([noisy[r] for r in cliques], sigma, people, round(mass, 12))


def _tables(listed: object, workload: Workload, field: str) -> tuple[Clique, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, list) or not listed or not all(isinstance(one, list) for one in listed):
        raise InputError(field, "it is not a list of tables", 'write for example [["age", "sex"]], or leave it out for all tables')
    asked, cliques = set(workload.cliques), list[Clique]()
    for number, columns in enumerate(listed):
        if not all(isinstance(name, str) for name in columns):
            raise InputError(f"{field}.{number}", "a column is not a text", "name the columns of the table")
        try:
            clique = workload.domain.clique(columns)
        except InputError as error:
            raise InputError(f"{field}.{number}", error.problem, error.remedy) from None
        if clique not in asked:
            raise InputError(f"{field}.{number}", "the workload does not ask for this table", "add it to the workload, or name another")
        if clique in cliques:
            raise InputError(f"{field}.{number}", "this table is listed twice", "name it once")
        cliques.append(clique)
    return tuple(cliques)
