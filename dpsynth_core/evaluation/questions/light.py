"""Rate an answer as known closely, roughly, or not at all.

An answer is known closely if its whole interval is within `LIMIT` of the estimate. Distances are shares of the way from the answer to the
nearest number without information: no people, an end of the range of a share or mean, or no difference. A rare group must therefore be
known as closely, for its size, as a large one. The width of an interval of noisy counts is fixed before its noise is drawn, so luck does
not make an answer close: intervals of answers rated this way hold about as often as all others, which `test_light.py` counts.
"""

from __future__ import annotations

import math

import numpy as np

from dpsynth_core.evaluation.questions.answer import Stated
from dpsynth_core.evaluation.questions.groups import values_in
from dpsynth_core.evaluation.questions.known import MEASURED, Known
from dpsynth_core.evaluation.questions.question import AMONG, COUNT, DIFFERENCE, MEAN, MEDIAN, VERSUS, Question
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.vocabulary.ranges import cut_to

CLOSELY, ROUGHLY, UNKNOWN = "closely", "roughly", "unknown"
_ROUNDED, _NOTHING = 1e-6, 1e-9
"""What the page, which computes the same in another order, may differ by: a part of the answer, and of all that it can be."""


def light(known: Known, question: Question, stated: Stated) -> str:
    """Rate an answer as CLOSELY, ROUGHLY or UNKNOWN (known closely, roughly or not at all).

    It is UNKNOWN without an interval, if the interval covers all possible answers, or if it
    excluded the rows. It is CLOSELY if the interval reaches from the answer at most a tenth (`LIMIT`) of the
    distance to the nearest uninformative number: 0 for a count or a difference, else
    the nearest end of the possible range. A median is CLOSELY if its interval is one cell. A mean of
    values that were cut to bounds is ROUGHLY at best: it is not known how far beyond they were. So is
    one whose interval leaves out the noise inside cells.

    Args:
        known: The released values.
        question: The question.
        stated: The answer; for a cross table, the answer for one of its cells.
    """
    value, low, high = stated.value, stated.low, stated.high
    if value is None or low is None or high is None or stated.disagree:
        return UNKNOWN
    least, most, middle = _ends(known, question)
    nothing = 0.0 if math.isinf(most) else _NOTHING * (most - least)
    if low <= least + nothing and high >= most - nothing and high - low > nothing:
        return UNKNOWN
    if question.statistic == MEDIAN:
        return CLOSELY if low == high else ROUGHLY
    if question.column and (cut_to(known.domain[question.column]) or _leaves_out(known, question)):
        return ROUGHLY
    room = abs(value) if question.statistic in (COUNT, DIFFERENCE) else min(value - least, most - value)
    reach = max(high - value, value - low) + middle
    return CLOSELY if reach <= LIMIT * room + _ROUNDED * abs(value) + nothing else ROUGHLY


def _leaves_out(known: Known, question: Question) -> bool:
    """Return whether a mean takes measured means of cells, whose noise is not in its interval."""
    return known.standing(question.column) == MEASURED and known.stated_mean(question) is None


def _ends(known: Known, question: Question) -> tuple[float, float, float]:
    """Return the smallest and the largest possible answer, and the largest distance of values from what represents their cell.

    The distance is 0 unless the answer is a mean or a difference of means.
    """
    kind = question.statistic
    if kind == COUNT:
        return 0.0, math.inf if known.total is None else known.total.value, 0.0
    if not question.column:
        return (-1.0 if kind == DIFFERENCE else 0.0), 1.0, 0.0
    attribute = known.domain[question.column]
    groups = (question.among, question.versus) if kind == DIFFERENCE else (question.among,)
    inside = [np.array(group.get(question.column, range(attribute.size))) for group in groups]
    if kind == MEDIAN:
        ordered = inside[0][inside[0] < attribute.ordered]
        return float(ordered.min()), float(ordered.max()), 0.0
    roles = (AMONG, VERSUS) if kind == DIFFERENCE else (AMONG,)
    values = [values_in(known, question, role)[cells] for role, cells in zip(roles, inside, strict=True)]
    ranges = [(float(np.nanmin(one)), float(np.nanmax(one))) for one in values]
    if kind == MEAN:
        return *ranges[0], 0.0 if known.stated_mean(question) else known.off(question.column)
    return ranges[0][0] - ranges[1][1], ranges[0][1] - ranges[1][0], 2 * known.off(question.column)
