"""Criteria in words: what was asked before the run, how far off the release is, and whether that is within the limit.

From the plan and released values alone. Names, values and reasons in these texts are hostile.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from dpsynth_core.claims.criteria.criterion import MET, MUST, NOT_MET, UNDECIDED, UNMEASURED, Criterion, Decided
from dpsynth_core.claims.criteria.words import TOO_SMALL
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.domain import Domain

_OUTCOMES = {MET: "Met", NOT_MET: "Not met", UNDECIDED: "Undecided", UNMEASURED: "Not measured"}
EXPLAINED = (
    "These conditions were fixed before the run and sealed with the plan. What each is about was measured with a share of the budget. Met: "
    "the error is within the limit, with 95% confidence for each condition by itself. Not met: it is above the limit, with the same "
    "confidence. Undecided: the noise leaves both possible. Not measured: the release holds nothing of it."
)


def asked(criterion: Criterion, domain: Domain) -> str:
    """A criterion as a sentence without full stop."""
    name = f"{criterion.name}: " if criterion.name else ""
    about = criterion.sentence(domain)
    return f"{name}{about[:1].upper() + about[1:] if not name else about}, {criterion.requirement()}"


def line(one: Decided, domain: Domain) -> str:
    """What became of a criterion, in a sentence or two."""
    how = "must" if one.criterion.importance == MUST else "should"
    return f"{_OUTCOMES[one.outcome]} ({how}): {asked(one.criterion, domain)}. {measured(one)}"


def measured(one: Decided) -> str:
    """What was measured, as a sentence."""
    interval = one.interval
    if interval is None:
        return "The run ended before it was measured, or what was measured of it is left out."
    if not math.isfinite(interval.at_most):
        return f"{TOO_SMALL[:-1]}, or nothing was released of it."
    return one.criterion.finding(interval)


def lines(release: Release) -> list[str]:
    """All criteria of a release, in the order of the plan; none where there are none."""
    return [line(one, release.domain) for one in release.criteria]


def counted(decided: Sequence[Decided]) -> str:
    """How many of each outcome, in a few words."""
    outcomes = Counter(one.outcome for one in decided)
    return ", ".join(f"{outcomes[kind]:,} {kind}" for kind in _OUTCOMES if outcomes[kind])
