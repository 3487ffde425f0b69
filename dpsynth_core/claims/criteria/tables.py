"""The criterion "each of these tables has at most so many people in a wrong cell".

The kernel measures ||M_r(D) - T p_r||_1 for all k tables at once, as the certificate does: one person moves each by marginal_l1 at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from dpsynth_core.claims.criteria.criterion import UNKNOWN, Entries, Published, common, positive
from dpsynth_core.claims.criteria.form import OFF_BY, Entry, Field
from dpsynth_core.claims.criteria.words import Within
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.intervals import CONFIDENCE, Interval, largest
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

_NAMED = 4


@dataclass(frozen=True)
class TablesWithin(Within):
    """tables: of the workload, () for all of it. limit: share of people in a wrong cell, of each table."""

    kind: ClassVar[str] = "tables"
    title: ClassVar[str] = "Tables of the workload"
    form: ClassVar[tuple[Field, ...]] = (
        Field("limit", OFF_BY, Entry.PERCENT, 0.1),
        Field("tables", "Which tables", Entry.TABLES),
    )
    unit_of_error: ClassVar[str] = "of the people in the wrong group"

    tables: tuple[Clique, ...]
    limit: float

    @classmethod
    def read(cls, entries: Entries, workload: Workload, field: str) -> TablesWithin:
        """From its JSON, e.g. {"kind": "tables", "tables": [["age", "sex"]], "limit": 0.05}. Raises InputError."""
        importance, name = common(entries, field, cls.form)
        return cls(importance, name, _tables(entries.get("tables"), workload, f"{field}.tables"), positive(entries, "limit", field, 1.0))

    def sentence(self, domain: Domain) -> str:  # noqa: ARG002
        if not self.tables:
            return "every table of the workload"
        named = "; ".join(" × ".join(clique) for clique in self.tables[:_NAMED])
        more = len(self.tables) - _NAMED
        return ("the table " if len(self.tables) == 1 else "each of the tables ") + named + (f"; and {more:,} more" if more > 0 else "")

    def needs(self, workload: Workload) -> tuple[Clique, ...]:
        return self.tables or workload.cliques

    def answers(self, workload: Workload) -> int:  # noqa: ARG002
        return 1

    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        cliques = self.needs(published.workload)
        tables = published.tables(cliques)
        sigma = distance_sigma(kernel.unit, kernel.rho_left, len(cliques))
        noisy = kernel.measure_errors({r: tables.get(r, np.zeros(kernel.domain.sizes(r))) * published.people.value for r in cliques}, sigma)
        if len(tables) < len(cliques):
            return UNKNOWN
        masses = max(float(np.abs(table).sum()) for table in tables.values())
        return largest([noisy[r] for r in cliques], sigma, published.people, round(masses, 12))

    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        sure = CONFIDENCE if unit.total_is_public else (1 + CONFIDENCE) / 2
        return float(scipy.special.ndtri(sure)) * distance_sigma(unit, rho, len(self.needs(workload))) / (2 * people)


def _tables(listed: object, workload: Workload, field: str) -> tuple[Clique, ...]:
    if listed is None:
        return ()
    if not isinstance(listed, list) or not listed or not all(isinstance(one, list) for one in listed):
        raise InputError(field, "it is not a list of tables", 'write for example [["age", "sex"]], or leave it out for all tables')
    asked, cliques = set(workload.cliques), list[Clique]()
    for number, columns in enumerate(listed):
        if not all(isinstance(name, str) for name in columns):
            raise InputError(f"{field}.{number}", "a column is not a text", "name the columns of the table")
        clique = _clique(columns, workload, f"{field}.{number}")
        if clique not in asked:
            raise InputError(f"{field}.{number}", "the workload does not ask for this table", "add it to the workload, or name another")
        if clique in cliques:
            raise InputError(f"{field}.{number}", "this table is listed twice", "name it once")
        cliques.append(clique)
    return tuple(cliques)


def _clique(columns: list[str], workload: Workload, field: str) -> Clique:
    try:
        return workload.domain.clique(columns)
    except InputError as error:
        raise InputError(field, error.problem, error.remedy) from None
