"""Proposals of feasible workloads for what readers may study, and the cost of any workload.

They follow from public facts alone. With 100 columns there are 4,950 pairs and 161,700 triples: most of a budget, and of the time, would go
to unread tables. Such a table is offered triples with one column and within groups instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from dpsynth_core.claims.models.training_time import in_words
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Forecast, Mechanism
from dpsynth_core.planning import precision
from dpsynth_core.planning.plan import Shares, forecast
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary import names
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.blocks import passes
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import FEWEST_IN_ORDER, Workload

MANY_COLUMNS = 20
"""Number of columns from which columns with similar names are proposed as groups, and all triples are not proposed."""
MANY_TABLES = 1000
"""Number of tables from which the command line states their cost before it starts."""
GROUP = 8
"""Largest number of columns of a group: 56 triples."""


@dataclass(frozen=True)
class Cost:
    """The cost of a workload under a budget.

    Attributes:
        tables: Number of tables.
        cells: Number of cells of all tables together.
        passes: Number of passes over the records to count the tables; 1 if it was not asked for.
        noise: Half width of a cell's 95 % interval, in people, if all tables were measured with
            equal shares of the budget.
        noise_measured: Half width of a cell's 95 % interval, in people, if only about as many tables are
            measured as AIM would choose (two per column).
        forecast: Expected time and memory of the mechanism.
    """

    tables: int
    cells: int
    passes: int
    noise: float
    noise_measured: float
    forecast: Forecast


@dataclass(frozen=True)
class Proposal:
    """A purpose and the workload that serves it.

    Title and text are our own words; the title may name a column, which is hostile text.

    Attributes:
        name: Its identifier.
        title: The purpose, as in a verdict.
        text: What can be learnt from such tables.
        form: JSON of the workload.
    """

    name: str
    title: str
    text: str
    form: Mapping[str, Any]


def cost(workload: Workload, mechanism: Mechanism, shares: Shares, unit: Unit, people: int | None = None, *, read: bool = True) -> Cost:
    """Return the cost of a workload under a budget; if the workload cannot run, the forecast says so.

    Args:
        workload: The workload.
        mechanism: The mechanism.
        shares: The shares of the budget.
        unit: The unit of privacy.
        people: Approximate public number of people; None if it is unknown.
        read: Whether to work out the passes over the records, which takes a second for 40,000 tables; otherwise they are stated as 1.
    """
    tables, columns = len(workload.cliques), len(workload.domain)
    measured = min(tables, 2 * columns)
    every, chosen = (precision.half_width(shares.mechanism, unit, number) for number in (tables, measured))
    counted = dict.fromkeys([*workload.cliques, *((name,) for name in workload.domain.names)])  # as the kernel does, with single columns
    number = passes(workload.domain, list(counted)) if read else 1
    return Cost(tables, workload.cells, number, every, chosen, forecast(mechanism, workload, unit, shares, people))


def proposals(domain: Domain, column: str | None = None) -> tuple[Proposal, ...]:
    """Return the proposals of workloads for a domain, from single columns to larger tables; too large ones are left out.

    For 20 columns or more (`MANY_COLUMNS`), tables within groups of columns take the place of all tables of three.

    Args:
        domain: The domain.
        column: The column of interest; None or an unknown name stands for the last one.
    """
    target, usable = column if column in domain.names else domain.names[-1], []
    for proposal in _made(domain, target):
        with suppress(InputError):  # a table of it would be too large
            workloads.from_json(domain, proposal.form)
            usable.append(proposal)
    return tuple(usable)


def _made(domain: Domain, column: str) -> Iterator[Proposal]:
    """Yield the proposals for a domain, without checking that their tables are small enough."""
    yield Proposal("single", names.of_columns(1), "How many people have each value.", {"kind": "all", "k": 1})
    if len(domain) >= 2:
        yield Proposal("pairs", names.of_columns(2), "How columns are related, two at a time.", {"kind": "all", "k": 2})
        if any(attribute.ordered >= FEWEST_IN_ORDER for attribute in domain):
            yield Proposal("ranges", "Ranges", "For example, ages 30–45.", {"kind": "ranges"})
    if len(domain) < 3:
        return
    around = {"kind": "target", "column": column, "k": 3}
    yield Proposal("target", names.with_column(column), "How one column depends on every two others.", around)
    if len(domain) < MANY_COLUMNS:
        text = "Whether relations differ between groups."
        yield Proposal("triples", names.of_columns(3), text, {"kind": "all", "k": 3})
        return
    groups = related(domain.names)
    tables = [clique for group in groups for clique in combinations(group, min(3, len(group)))]
    form = {"kind": "marginals", "marginals": [{"attributes": list(clique), "weight": 1.0} for clique in tables]}
    text = f"Every three of a group, in {len(groups):,} groups of columns that stand together and are named alike."
    yield Proposal("groups", "Tables of three columns within groups", text, form)


def related(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Divide the columns into groups of neighbours with similar names, at most 8 columns each (`GROUP`), in their order.

    Names are similar if they differ only in their last part, such as q3_1 and q3_2. Neighbouring
    columns without a similar name form groups of their own. Only names are compared; relations in
    the records are not looked at.
    """
    runs: list[list[str]] = []
    for name in names:
        if runs and _stem(runs[-1][-1]) == _stem(name) and len(runs[-1]) < GROUP:
            runs[-1].append(name)
        else:
            runs.append([name])
    return [tuple(run) for run in _without_single(runs)]


def _without_single(runs: list[list[str]]) -> Iterator[list[str]]:
    """Yield the groups of columns; neighbouring single columns form groups of at most `GROUP`.

    Groups of several columns, and a single column between two such groups, stay as they are. The
    order stays, too.
    """
    waiting: list[str] = []
    for run in runs:
        if len(run) == 1:
            waiting += run
        if waiting and (len(run) > 1 or len(waiting) == GROUP):
            yield waiting
            waiting = []
        if len(run) > 1:
            yield run
    if waiting:
        yield waiting


def _stem(name: str) -> str:
    """Return a column's name in lower case without its last part, a number or what follows the last separator."""
    return re.sub(r"(\d+|[_.\-\s][^_.\-\s]*)$", "", name.strip().lower())


def sentence(spent: Cost) -> str:
    """Return the cost of many tables as text for the command line; it names no column."""
    needed = spent.forecast
    machine = f"{in_words(needed.seconds)} and {needed.memory_mb:,.0f} MB" if needed.fits else f"not feasible: {needed.reason}"
    noise = f"If all were measured alike, a cell would be ± {spent.noise:,.0f} people; in chosen ones, ± {spent.noise_measured:,.0f}"
    instead = "Fewer tables come out better: --workload all-2way, target:COLUMN:3, or a file with groups of related columns"
    read = f", counted in {spent.passes} passes over the records" if spent.passes > 1 else ""
    return f"{spent.tables:,} tables of {spent.cells:,} cells in all{read}: {machine}. {noise}. {instead}"
