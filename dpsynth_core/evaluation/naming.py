"""Name each table of a release good enough, not good enough, or not measured closely enough to tell.

A table is good enough if at most `limit` of the people are in a wrong cell. With a certificate, a table is named good or poor where its
bounds exclude the other; the rule limits how many are named by chance (`statistics.naming`, Proposition 23). Without a certificate, a
table is named good where the noise of the release bounds its error, and never poor: such bounds are upper bounds only. A table with an
unread column is never named good (`unread`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpsynth_core.claims.certificate import Certificate
from dpsynth_core.evaluation.bounds import Bound
from dpsynth_core.evaluation.unread import says_something
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.vocabulary.measurement import Clique

Span = tuple[float, float]
"""What the error of a table is at least and at most, as shares of people; (0, nan) where nothing is known."""


@dataclass(frozen=True)
class Named:
    """Tables by how good they are, each as its columns.

    Attributes:
        limit: The error that a good table stays within, as a share of people.
        good: Good tables, the surest first.
        poor: Poor tables, the worst first.
        unknown: The others, in the order of the workload.
    """

    limit: float
    good: tuple[Clique, ...]
    poor: tuple[Clique, ...]
    unknown: tuple[Clique, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the tables as JSON."""
        return {"limit": self.limit} | {name: [list(clique) for clique in getattr(self, name)] for name in ("good", "poor", "unknown")}


def named(spans: Mapping[Clique, Span], unread: Collection[str] = (), limit: float = LIMIT) -> Named:
    """Sort tables into good, poor and unknown ones.

    Args:
        spans: Lower and upper bound of the error of every table, as `spans` makes them.
        unread: Names of the unread columns, whose tables are never good.
        limit: Share of people in a wrong cell up to which a table is good.
    """
    good = sorted((r for r, (_, high) in spans.items() if high <= limit and says_something(r, unread)), key=lambda r: spans[r][1])
    poor = sorted((r for r, (low, _) in spans.items() if low > limit), key=lambda r: -spans[r][0])
    told = {*good, *poor}
    return Named(limit, tuple(good), tuple(poor), tuple(r for r in spans if r not in told))


def spans(cliques: Iterable[Clique], certificate: Certificate | None, bounds: Mapping[Clique, Bound]) -> dict[Clique, Span]:
    """Return the interval of each table's error. It is the widest possible where a certificate's noise is as large as the table."""
    stated = () if certificate is None or certificate.says_nothing else certificate.marginals
    measured = {one.attributes: (one.low95, min(1.0, one.bound95)) for one in stated}
    return {r: measured[r] if r in measured else (0.0, _bounded(bounds.get(r))) for r in cliques}


def _bounded(bound: Bound | None) -> float:
    return math.nan if bound is None or math.isinf(bound.tight) else min(1.0, bound.tight)
