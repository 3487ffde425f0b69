"""The cost and yield of a plan from public facts alone, without reading records or drawing noise.

It covers the noise per cell, the budget for a wanted accuracy, the split of the budget, the pairs in the workload, and what an attacker
could learn. Noise is the Gaussian noise of a measured cell, sigma = l2 * sqrt(m / (2 rho)) when m tables share the budget rho equally.
Every cell of a measured table gets the same sigma for tables of every size.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from dpsynth_core.claims.certificate import CERTIFIED_COLUMNS, CERTIFIED_LARGEST
from dpsynth_core.claims.models.stated import PER_COLUMN
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zoned, public
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.planning.plan import INSIDE, LEARNING, Plan, Shares
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.privacy.budget import MAX_EPSILON, MIN_EPSILON
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import percent
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

if TYPE_CHECKING:
    import pandas as pd

CONFIDENCE = 0.95
"""Share of cells whose noise stays within the half width that is shown."""
QUANTILE = float(ndtri((1 + CONFIDENCE) / 2))

_DRAWN = np.unique(np.concatenate([np.linspace(0, 1, 41), np.geomspace(1e-4, 0.1, 19)]))
"""False-positive rates at which an attacker's curve is drawn: dense where it rises."""


@dataclass(frozen=True)
class Sharing:
    """A number of tables that share the budget equally, with a title for the screen.

    Attributes:
        title: The case in words.
        tables: Number of tables.
    """

    title: str
    tables: int


def sharings(workload: Workload) -> tuple[Sharing, ...]:
    """Return up to three cases of how many tables share the budget: all, a tenth, one.

    An adaptive mechanism measures only the important tables, which the tenth stands for. The tenth is left
    out if it is fewer than two tables, and a single table is the only case.
    """
    every = len(workload.cliques)
    if every == 1:
        return (Sharing("the one table", 1),)
    few = round(every / 10)
    middle = (Sharing(f"{few:,} of them", few),) if few > 1 else ()
    return (Sharing(f"all {every:,} tables", every), *middle, Sharing("one alone", 1))


def sigma(rho: float, unit: Unit, tables: int) -> float:
    """Return the standard deviation of the noise of a cell, in people, if `tables` tables share the budget `rho` equally."""
    return unit.marginal_l2 * math.sqrt(tables / (2 * rho))


def half_width(rho: float, unit: Unit, tables: int) -> float:
    """Return the half width in people of a cell's interval: 95 % of the cells are this close to their true count.

    Args:
        rho: The budget, in rho.
        unit: The unit of privacy.
        tables: Number of tables that share the budget equally.
    """
    return QUANTILE * sigma(rho, unit, tables)


def certificate_margin(rho: float, unit: Unit, tables: int) -> float:
    """Return the half width of the 95 % interval of each error in a certificate, as a number of people in a wrong cell.

    The mean error over all tables is sqrt(tables) times more precise.

    Args:
        rho: The budget of the whole certificate, in rho; only a part pays for these errors.
        unit: The unit of privacy.
        tables: The number of tables, each with one error.
    """
    return QUANTILE * distance_sigma(unit, (1 - CERTIFIED_LARGEST - CERTIFIED_COLUMNS) * rho, tables) / 2


def largest_margin(rho: float, unit: Unit) -> float:
    """Return the half width of the 95 % interval of the largest error of a cell, in people.

    Args:
        rho: The budget of the whole certificate, in rho; only a part pays for this number.
        unit: The unit of privacy.
    """
    return QUANTILE * unit.query_l1 / math.sqrt(2 * CERTIFIED_LARGEST * rho)


def without_certificate(link: Link | None) -> str:
    """Return a sentence on how little will be known about errors without a certificate.

    Args:
        link: The link of two tables; None for one table.
    """
    bounded = "Errors will only be bounded from the noisy tables: several times larger than they are"
    if link is None:
        return f"{bounded}, and in tables that were not measured hardly at all."
    return f"{bounded}. {link.words.unbounded}"


def distance_sentences(domain: Domain) -> list[str]:
    """Return clauses on pairs of ordered columns whose difference the rows keep only coarsely; [] without such pairs.

    Each also says what to declare instead. It begins in lower case, has no full stop, and names the
    columns quoted and unescaped.
    """
    return [
        f"the rows keep the order of {rule.first!r} and {rule.second!r}, but how far apart these are only as finely as their groups: where "
        f"that matters, declare the difference as a column of its own in place of {rule.second!r}"
        for rule in domain.loose_orders
    ]


def models_margin(rho: float, unit: Unit, columns: int) -> float:
    """Return the half width of the 95 % interval of the number of people about whom one model is right, in people.

    The number of people is taken as known; where it is noisy, its noise comes on top.

    Args:
        rho: The budget for the quality of all models, in rho.
        unit: The unit of privacy.
        columns: Number of columns that are predicted.
    """
    return QUANTILE * unit.query_l1 * math.sqrt(PER_COLUMN * columns / (2 * rho))


def models_sentences(plan: Plan) -> list[str]:
    """Return sentences on the cost of models and the precision of their measured quality; empty if no model is asked for."""
    if not plan.targets:
        return []
    from dpsynth_core.claims.models import training_time  # loaded where models are asked for

    columns = ", ".join(repr(target.column) for target in plan.targets)
    rho = plan.shares.of(MODELS.name)
    margin, share = models_margin(rho, plan.unit, len(plan.targets)), rho / plan.shares.rho
    known = f"to ± {margin:,.0f} people, with 95% confidence for each"
    time = training_time.sentence(plan.targets, len(plan.domain), plan.spec.output.rows)
    return [f"{share:.3g} of the budget measures how often models of {columns} are right: {known}", time]


def epsilon_for(wanted: float, delta: float, unit: Unit, tables: int, accountant: Accountant = ZCDP, measuring: float = 1.0) -> float:
    """Return the smallest epsilon with which `half_width` is at most `wanted` people, but at least 1e-6 (`MIN_EPSILON`).

    Args:
        wanted: Half width in people.
        delta: Delta for the conversion of rho.
        unit: The unit of privacy.
        tables: Number of tables that share the budget.
        accountant: The accountant.
        measuring: Share of rho that measures the tables.

    Raises:
        InputError: It would take an epsilon above 1,000 (`MAX_EPSILON`).
    """
    rho = tables * (QUANTILE * unit.marginal_l2 / wanted) ** 2 / 2 / measuring
    epsilon = accountant.epsilon_from(rho, delta)
    if epsilon > MAX_EPSILON:
        raise InputError("accuracy", f"it would need an epsilon above {MAX_EPSILON:g}", "ask for less accuracy, or for fewer tables")
    return max(epsilon, MIN_EPSILON)


def round_up(epsilon: float, digits: int = 3) -> float:
    """Return epsilon with `digits` significant digits, never rounded down; at most 1,000 (`MAX_EPSILON`)."""
    places = digits - 1 - math.floor(math.log10(epsilon))
    return min(MAX_EPSILON, math.ceil(epsilon * 10**places - 1e-9) / 10**places)


def budget_parts(mechanism: Mechanism, workload: Workload, shares: Shares, total_is_public: bool = False) -> list[tuple[str, float]]:
    """Return the stages of a budget as pairs (name, rho): learning first, then the mechanism's, measurements of the result last.

    This is the plan: an adaptive mechanism may move budget from later rounds to fewer, better ones.

    Args:
        mechanism: The mechanism.
        workload: The workload.
        shares: The shares of the budget.
        total_is_public: Whether the number of records is public, so that nothing is spent on it.
    """
    before = {LEARNING: "learning values", INSIDE: "numbers inside their cells"}
    parts = [(before[name], rho) for name, rho in shares.aside if name in before]
    parts += [(stage, share * shares.mechanism) for stage, share in mechanism.split(workload, total_is_public)]
    return parts + [(name, rho) for name, rho in shares.aside if name not in before and rho > 0]


def budget_sentence(mechanism: Mechanism, workload: Workload, shares: Shares, total_is_public: bool = False) -> str:
    """Return the split of a budget in words: each stage with its percentage of the whole rho.

    Args:
        mechanism: The mechanism.
        workload: The workload.
        shares: The shares of the budget.
        total_is_public: Whether the number of records is public, so that nothing is spent on it.
    """
    parts = budget_parts(mechanism, workload, shares, total_is_public)
    return ", ".join(f"{stage} {percent(rho / shares.rho)}" for stage, rho in parts)


def budget_split(mechanism: Mechanism, workload: Workload, shares: Shares, total_is_public: bool = False) -> Zoned[pd.DataFrame]:
    """Return the split of a budget as a frame for a chart. Public.

    There is one row per stage, in order, with the columns stage, share (of the whole rho, 0 to 1) and rho.

    Args:
        mechanism: The mechanism.
        workload: The workload.
        shares: The shares of the budget.
        total_is_public: Whether the number of records is public, so that nothing is spent on it.
    """
    import pandas as pd

    parts = budget_parts(mechanism, workload, shares, total_is_public)
    return public(pd.DataFrame([{"stage": stage, "share": rho / shares.rho, "rho": rho} for stage, rho in parts]))


def coverage(workload: Workload) -> Zoned[pd.DataFrame]:
    """Return how many of the workload's tables contain each pair of columns. Public.

    The frame has one row per ordered pair, with the columns row, column and marginals (the number
    of tables). A pair of a column with itself stands for all tables that contain the column.
    """
    import pandas as pd

    pairs: Counter[tuple[str, str]] = Counter()
    for clique in workload.cliques:
        pairs.update((name, name) for name in clique)
        pairs.update(combinations(clique, 2))
    pairs |= {(other, one): number for (one, other), number in pairs.items()}
    both = product(workload.domain.names, repeat=2)
    return public(pd.DataFrame([{"row": one, "column": other, "marginals": pairs[one, other]} for one, other in both]))


def covered_pairs(workload: Workload) -> tuple[int, int]:
    """Return (number of pairs of columns that some table contains, number of all pairs of columns)."""
    pairs = {pair for clique in workload.cliques for pair in combinations(clique, 2)}
    return len(pairs), math.comb(len(workload.domain), 2)


def largest(workload: Workload, most: int = 8) -> tuple[tuple[Clique, int], ...]:
    """Return the `most` tables with the most cells, each with its number of cells, the largest first."""
    size = {attribute.name: attribute.size for attribute in workload.domain}
    sized = ((clique, math.prod([size[name] for name in clique])) for clique in workload.cliques)
    return tuple(heapq.nsmallest(most, sized, key=lambda pair: -pair[1]))


def attacker(rho: float, slack: float = 0.0, accountant: Accountant = ZCDP) -> Zoned[pd.DataFrame]:
    """Return the trade-off curve of the best membership test under a budget. Public.

    The frame has the columns false_positive (ascending) and true_positive, both rates from 0 to 1.

    Args:
        rho: The budget, in rho of the accountant.
        slack: The delta of approximate zCDP, a probability.
        accountant: The accountant.
    """
    import pandas as pd

    return public(pd.DataFrame({"false_positive": _DRAWN, "true_positive": _found(rho, slack, accountant)}))


@lru_cache(maxsize=64)
def _found(rho: float, slack: float, accountant: Accountant) -> NDArray[np.float64]:
    """Return the largest true-positive rate at each false-positive rate of `_DRAWN`."""
    return meaning.power(accountant, rho, _DRAWN, slack)
