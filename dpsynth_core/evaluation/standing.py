"""The standing of each column of a release: good enough, not good enough, odd, or unknown.

It follows from released values alone, by the rules of the verdict: a column by itself is as good as the verdict counts it among the single
columns, and an unread column is never good.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass

from dpsynth_core.evaluation import naming
from dpsynth_core.evaluation.quality import Statements
from dpsynth_core.evaluation.verdict import LIMIT, single_columns
from dpsynth_core.vocabulary.attribute import Attribute

GOOD, POOR, ODD, UNKNOWN = "good", "poor", "odd", "unknown"
_SIGNS = {GOOD: "✓", POOR: "✕", ODD: "✕", UNKNOWN: "?"}
_WHOLE = 0.995
"""A share from which on it is called all."""


@dataclass(frozen=True)
class Standing:
    """The standing of a column.

    Attributes:
        column: The name, hostile text.
        kind: GOOD, POOR, ODD or UNKNOWN.
        why: Why it is odd or poor, in a few words; "" otherwise.
        limit: What its error is at most (95 %), as a share of people in a wrong cell; NaN where unknown.
    """

    column: str
    kind: str
    why: str = ""
    limit: float = math.nan

    @property
    def stands_out(self) -> bool:
        """True if a reader should look at the column first."""
        return self.kind in (ODD, POOR)

    @property
    def caption(self) -> str:
        """The text under the column's picture: the sign of its standing, and why it is odd or poor."""
        return f"{_SIGNS[self.kind]} {self.why}".strip()


def standings(statements: Statements, off: Collection[str] = ()) -> tuple[Standing, ...]:
    """Return the standing of each column: those that stand out first (odd ones, then poor ones), otherwise in the order of the domain.

    Args:
        statements: The statements of the release.
        off: The columns whose released mean is surely not near the true one (`Verdict.off`).
    """
    domain, limits = statements.evidence.domain, single_columns(statements)
    poor = {clique[0] for clique in naming.named(statements.spans, statements.silent).poor if len(clique) == 1}
    much = {one.column: one for one in statements.undeclared if one.is_shown}
    found = []
    for one in (one for one in domain if one.name not in statements.unasked):
        limit = limits.get(one.name, math.nan)
        if one.name in statements.silent or not one.values:
            found.append(Standing(one.name, ODD, _emptiness(statements, one), limit))
        elif one.name in much:
            found.append(Standing(one.name, ODD, f"{much[one.name].share:.0%} other", limit))
        elif one.name in poor:
            found.append(Standing(one.name, POOR, "not good enough", limit))
        elif one.name in off:
            found.append(Standing(one.name, POOR, "mean is off", limit))
        else:
            found.append(Standing(one.name, GOOD if limit <= LIMIT else UNKNOWN, "", limit))
    return tuple(sorted(found, key=lambda one: (not one.stands_out, one.kind == POOR)))


def _emptiness(statements: Statements, attribute: Attribute) -> str:
    """Return what nearly all people have in an unread column, such as "all missing"."""
    counts = statements.published([(attribute.name,)]).get((attribute.name,))
    whole = 0.0 if counts is None else float(counts.sum())
    if counts is None or whole <= 0:
        return "not learnt"
    shares = {"missing": attribute.missing_code, "other": attribute.other_code}
    held = {what: float(counts[code]) / whole for what, code in shares.items() if code is not None}
    what = max(held, key=lambda name: held[name], default="")
    if not what or held[what] < 0.5:
        return "not read"
    return f"all {what}" if held[what] >= _WHOLE else f"{held[what]:.0%} {what}"
