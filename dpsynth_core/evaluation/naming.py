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
    """The tables of a release sorted into good, poor and unknown ones, each table as its columns.

    Attributes:
        limit: The largest error of a good table, as a share of people in a wrong cell.
        good: Tables whose upper bound is at most `limit`, the smallest upper bound first.
        poor: Tables whose lower bound is above `limit`, the largest lower bound first.
        unknown: All other tables, in the order of the workload.
    """

    limit: float
    good: tuple[Clique, ...]
    poor: tuple[Clique, ...]
    unknown: tuple[Clique, ...]

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-serialisable dict with the fields of the class as keys and each table as a list of columns."""
        return {"limit": self.limit} | {name: [list(clique) for clique in getattr(self, name)] for name in ("good", "poor", "unknown")}


def named(spans: Mapping[Clique, Span], unread: Collection[str] = (), limit: float = LIMIT) -> Named:
    """Sort tables into good, poor and unknown ones.

    Args:
        spans: By table, the lower and upper bound of its error, as the function `spans` returns
            them, as shares of people in a wrong cell.
        unread: Names of the unread columns; a table with such a column is never good.
        limit: Share of people in a wrong cell up to which a table is good.
    """
    good = sorted((r for r, (_, high) in spans.items() if high <= limit and says_something(r, unread)), key=lambda r: spans[r][1])
    poor = sorted((r for r, (low, _) in spans.items() if low > limit), key=lambda r: -spans[r][0])
    told = {*good, *poor}
    return Named(limit, tuple(good), tuple(poor), tuple(r for r in spans if r not in told))


def spans(cliques: Iterable[Clique], certificate: Certificate | None, bounds: Mapping[Clique, Bound]) -> dict[Clique, Span]:
    """Return by table the lower and upper bound of its error, as shares of people in a wrong cell.

    Each bound holds with 95 % confidence by itself. The bounds of the certificate come first. For a
    table without one, or if the noise of the certificate is as large as the whole table, the
    interval is from 0 to the tight bound of `bounds`, and (0, nan) where that is missing or
    infinite. Upper bounds are clipped to 1.

    Args:
        cliques: The tables.
        certificate: The measured errors, or None.
        bounds: By table, its a-priori error bound (`bounds.bounds`).
    """
    stated = () if certificate is None or certificate.says_nothing else certificate.marginals
    measured = {one.attributes: (one.low95, min(1.0, one.bound95)) for one in stated}
    return {r: measured[r] if r in measured else (0.0, _bounded(bounds.get(r))) for r in cliques}


def _bounded(bound: Bound | None) -> float:
    """Return the tight bound clipped to 1, as a share of people; NaN where it is missing or infinite."""
    return math.nan if bound is None or math.isinf(bound.tight) else min(1.0, bound.tight)
