"""Criteria in words: what was asked before the run, how far off the release is, and whether that is within the limit.

From the plan and released values alone. Names, values and reasons in these texts are hostile.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dpsynth_core.criteria.criterion import MET, MUST, NOT_MET, UNDECIDED, UNMEASURED, Criterion, Decided
from dpsynth_core.release.release import Release
from dpsynth_core.report.facts import percent
from dpsynth_core.vocabulary.domain import Domain

_OUTCOMES = {MET: "Met", NOT_MET: "Not met", UNDECIDED: "Undecided", UNMEASURED: "Not measured"}
EXPLAINED = (
    "These conditions were fixed before the run and sealed with the plan. What each is about was measured with a share of the budget. Met: "
    "the error is within the limit, with 95 % confidence for each condition by itself. Not met: it is above the limit, with the same "
    "confidence. Undecided: the noise leaves both possible. Not measured: the run ended before, and nobody knows."
)


def asked(criterion: Criterion, domain: Domain) -> str:
    """A criterion as a sentence without full stop."""
    name = f"{criterion.name}: " if criterion.name else ""
    about = criterion.sentence(domain)
    return f"{name}{about[:1].upper() + about[1:] if not name else about}, within {amount(criterion, criterion.limit)}"


def amount(criterion: Criterion, error: float) -> str:
    """An error or a limit with its unit."""
    return f"{percent(error) if criterion.is_share else f'{error:.3g}'} {criterion.unit_of_error}"


def line(one: Decided, domain: Domain) -> str:
    """What became of a criterion, in a sentence or two."""
    how = "must" if one.criterion.importance == MUST else "should"
    return f"{_OUTCOMES[one.outcome]} ({how}): {asked(one.criterion, domain)}. {measured(one)}"


def measured(one: Decided) -> str:
    """What was measured, as a sentence."""
    criterion, interval = one.criterion, one.interval
    if interval is None:
        return "The run ended before it was measured."
    if not math.isfinite(interval.at_most):
        return "What was measured says nothing of it."

    def written(error: float) -> str:
        return percent(max(0.0, error)) if criterion.is_share else f"{max(0.0, error):.3g}"

    low = f"at least {written(interval.at_least)} and " if interval.at_least > 0 else ""
    return f"Measured: {written(interval.error)}; {low}at most {written(interval.at_most)}, with 95 % confidence each."


def lines(release: Release) -> list[str]:
    """All criteria of a release, in the order of the plan; none where there are none."""
    return [line(one, release.domain) for one in release.criteria]


def counted(decided: Sequence[Decided]) -> str:
    """How many of each outcome, in a few words."""
    outcomes = Counter(one.outcome for one in decided)
    return ", ".join(f"{outcomes[kind]:,} {kind}" for kind in _OUTCOMES if outcomes[kind])
