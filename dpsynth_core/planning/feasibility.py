"""Noise that a plan leaves in its tables, from public facts alone: domain, workload, budget, and a public or declared number of people.

The private table is never looked at. The yardstick is the share of people that noise alone would put in a wrong cell of a table, if the
whole budget were spread evenly over two measurements per column, which is about how AIM spends it. A model that pools tables does better on
large tables; nothing does better on single columns.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.zones import Zoned, public
from dpsynth_core.planning import precision
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.statistics.naming import MOSTLY as MOSTLY
from dpsynth_core.vocabulary.measurement import HALF_NORMAL
from dpsynth_core.vocabulary.workload import Workload

MEASUREMENTS_PER_COLUMN = 2
READABLE = LIMIT
"""Largest share of people in a wrong cell at which a table is good enough."""

BEYOND = 6
"""Excess of a release's own bound over the effect of noise, in deviations of a cell's noise, as a sum over the cells: rows are not the
noisy counts, and the number of people is not known exactly. Measured on simulated tables of 1,300 and 5,000 people: 3 to 9.
"""

READABLE_GROUP = 0.2
"""Largest relative error by noise at which a group can still be read."""


@dataclass(frozen=True)
class Outlook:
    """The expected quality of tables of one kind.

    Attributes:
        kind: Kind of the tables, in words.
        tables: Number of tables.
        cells: Cells of the median table.
        share: Share of people whom noise puts in a wrong cell of the median table; None without a
            number of people.
        people_needed: Number of people needed so that `share` is at most a tenth (`READABLE`).
        within: Number of tables that are good enough by a release's own bounds, with 95 %
            confidence each; 0 without a number of people.
    """

    kind: str
    tables: int
    cells: int
    share: float | None
    people_needed: int
    within: int


@dataclass(frozen=True)
class Feasibility:
    """The noise that a plan leaves in its tables.

    Attributes:
        noise: Expected absolute error of a cell of a measured table, in people; it does not depend
            on the number of people.
        smallest_group: Number of people in a cell from which noise changes the count by at most
            20 % (`READABLE_GROUP`), with 95 % confidence.
        columns: Outlook of the single columns in the workload's tables.
        tables: Outlook of the workload's tables.
    """

    noise: float
    smallest_group: int
    columns: Outlook
    tables: Outlook


def assess(workload: Workload, rho: float, unit: Unit, people: int | None, *, once: bool = False) -> Zoned[Feasibility]:
    """Return the noise that a plan leaves in its tables. Public.

    Args:
        workload: The workload.
        rho: The mechanism's budget, in rho.
        unit: The unit of privacy.
        people: A public or declared number of people, never counted in the private table; None if
            unknown.
        once: Whether each column is measured once and nothing else is, as by Independent.
    """
    domain = workload.domain
    measured = (1 if once else MEASUREMENTS_PER_COLUMN) * len(domain)
    noise = HALF_NORMAL * precision.sigma(rho, unit, measured)
    smallest_group = math.ceil(precision.half_width(rho, unit, measured) / READABLE_GROUP)
    single = np.array([attribute.size for attribute in domain if attribute.name in workload.columns])
    columns = _outlook("single columns", single, noise, people)
    tables = _outlook("tables you asked for", workload.table_cells, noise, people)
    return public(Feasibility(noise, smallest_group, columns, tables))


def _outlook(kind: str, every: NDArray[np.int64], noise: float, people: int | None) -> Outlook:
    """Return the outlook of some tables.

    Args:
        kind: Kind of the tables, in words.
        every: The number of cells of each table.
        noise: Expected absolute error of a cell, in people.
        people: Number of people, or None.
    """
    cells = int(np.sort(every)[len(every) // 2])  # the upper one of two in the middle
    needed = math.ceil(noise * cells / (2 * READABLE))
    if not people:
        return Outlook(kind, len(every), cells, share=None, people_needed=needed, within=0)
    within = int(np.sum(sure(noise, every.astype(float)) <= 2 * READABLE * people))
    return Outlook(kind, len(every), cells, min(1.0, noise * cells / (2 * people)), needed, within)


def sure(noise: float, cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the 95 % bound that a release will state for the L1 error of each table, in people, shape (tables,).

    The sum of the cells' half-normal errors of mean `noise` is taken as normal; `BEYOND` is added.

    Args:
        noise: Expected absolute error of a cell, in people.
        cells: Number of cells of each table, shape (tables,).
    """
    sigma = noise / HALF_NORMAL
    deviation = sigma * np.sqrt(cells * (1 - HALF_NORMAL**2))
    return np.asarray(cells * noise + statistics.NormalDist().inv_cdf(0.95) * deviation + BEYOND * sigma)
