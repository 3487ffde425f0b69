"""Both claims in a plan: whether they can be measured, and how precisely it will be known, from public facts alone."""

from __future__ import annotations

import math

from dpsynth_core.extensions.disclosure import SETTING, UNIQUES
from dpsynth_core.extensions.disclosure.questions import (
    FEWEST_ALONE,
    FIELD,
    UNIQUES_FIELD,
    UNSAID,
    in_words,
    key_lists,
    questions,
)
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.precision import QUANTILE
from dpsynth_core.planning.spec import MAX_ROWS

FEWEST = 5_000
"""Number of people below which the counts say little."""


def check(plan: Plan) -> None:
    """Check that a plan can have its questions about disclosure.

    Args:
        plan: The plan.

    Raises:
        InputError: A question is not about columns of the plan; the release has no rows, two linked tables, or several tables of rows; or
            noise would hide every answer.
    """
    _check_rows(plan, FIELD)
    questions(plan.spec.extensions, plan.domain)
    check_width(plan, _people(plan))


def check_uniques(plan: Plan) -> None:
    """Check that a plan can have its questions about uniques.

    Args:
        plan: The plan.

    Raises:
        InputError: A question is not about columns of the plan; the release has no rows, two linked tables, or several tables of rows; or
            a public number of people is too small.
    """
    _check_rows(plan, UNIQUES_FIELD)
    key_lists(plan.spec.extensions, plan.domain)
    check_people(plan, _people(plan))


def check_people(plan: Plan, people: int | None) -> None:
    """Check that there are enough people to say how many are alone with their values.

    Args:
        plan: The plan.
        people: A public number of people; None if it is not known, and then the run looks at the number that it releases.

    Raises:
        InputError: There are fewer than 50,000, or the interval is expected to be half of the people wide.
    """
    if people is not None and people < FEWEST_ALONE:
        problem = f"{people:,} people are too few: noise would be larger than the number of those who are alone with their values"
        raise InputError(UNIQUES_FIELD, problem, f"ask it for {FEWEST_ALONE:,} people or more, or leave it out")
    if 2 * alone_margin(plan) >= UNSAID * (people or MAX_ROWS):
        problem = f"noise would hide all answers: they are known to ± {alone_margin(plan):,.0f} people"
        raise InputError(UNIQUES_FIELD, problem, "raise budget.uniques or epsilon, ask fewer questions, or leave it out")


def _check_rows(plan: Plan, field: str) -> None:
    if plan.link is not None:
        raise InputError(field, "two linked tables do not go with it yet", "leave it out")
    if not plan.mechanism.card.makes_rows:
        raise InputError(field, f"{plan.mechanism.card.title} makes no rows that could name a value", "leave it out")
    if plan.spec.output.tables > 1:
        raise InputError(field, "several tables of rows tell more than the first one, which is measured", "ask for one table of rows")


def _people(plan: Plan) -> int | None:
    return plan.spec.data.standin.rows if plan.spec.data.standin else None


def check_width(plan: Plan, people: int | None) -> None:
    """Check that the counts will say something.

    Args:
        plan: The plan.
        people: A public number of people; None if it is not known, and then it may be as large as can be.

    Raises:
        InputError: The intervals are expected to be half of the people wide.
    """
    if 2 * margin(plan, noises=2) >= UNSAID * (people or MAX_ROWS):
        of = f" of {people:,}" if people else ""
        problem = f"noise would hide all answers: they are known to ± {margin(plan):,.0f} people{of}"
        raise InputError(FIELD, problem, "raise budget.disclosure or epsilon, ask fewer questions, or leave it out")


def margin(plan: Plan, noises: int = 1) -> float:
    """Return the half width of the 95 % interval of a count, in people, for a known number of people.

    Args:
        plan: The plan, with a share of the budget for disclosure.
        noises: Number of measured counts that are added up, such as 2 for people for whom any value is named.
    """
    asked = len(questions(plan.spec.extensions, plan.domain))
    return QUANTILE * plan.unit.marginals_l2(asked) * math.sqrt(noises / (2 * plan.shares.of(SETTING)))


def alone_margin(plan: Plan) -> float:
    """Return the half width of the 95 % interval of the number of people who are alone with values that one row has.

    Args:
        plan: The plan, with a share of the budget for uniques.
    """
    asked = len(key_lists(plan.spec.extensions, plan.domain))
    return QUANTILE * plan.unit.errors_l2(asked) / math.sqrt(2 * plan.shares.of(UNIQUES))


def sentences(plan: Plan) -> list[str]:
    """Return sentences on what is asked, what it costs, and how precisely it will be known.

    Args:
        plan: The plan.
    """
    found, people = list[str](), _people(plan)
    if asked := questions(plan.spec.extensions, plan.domain):
        what = "; ".join(f"{one.target} from {in_words(one.keys)}" for one in asked)
        share = plan.shares.of(SETTING) / plan.shares.rho
        found += [f"{share:.3g} of the budget measures for how many people the rows name a value ({what})", *widths(plan, people)]
    if keys := key_lists(plan.spec.extensions, plan.domain):
        share, what = plan.shares.of(UNIQUES) / plan.shares.rho, "; ".join(map(in_words, keys))
        found.append(f"{share:.3g} of the budget measures how many people are alone with values that exactly one row has ({what})")
        found += alone_widths(plan, people)
    return found


def alone_widths(plan: Plan, people: int | None) -> list[str]:
    """Return sentences on how precisely it will be known how many people are alone with their values.

    Args:
        plan: The plan.
        people: A public number of people; None if it is not known.
    """
    half, number = alone_margin(plan), people or FEWEST_ALONE
    said = [f"how many are alone will be known to ± {half:,.0f} people (± {half / number:.2%} of {number:,} people), with 95% confidence"]
    if people is None:
        said.append(f"nothing is measured, and this share is not spent, if the release states fewer than {FEWEST_ALONE:,} people")
    return said


def widths(plan: Plan, people: int | None) -> list[str]:
    """Return sentences on how precisely the answers will be known, with a warning where this is too little.

    Args:
        plan: The plan.
        people: A public number of people; None if it is not known.
    """
    half = margin(plan)
    numbers = [people] if people else [FEWEST, 10 * FEWEST]
    of = " and ".join(f"± {half / number:.2%} of {number:,} people" for number in numbers)
    said = [f"how many are named rightly, and how many wrongly, will be known to ± {half:,.0f} people ({of}), with 95% confidence"]
    if people is None:
        said.append(f"for fewer than {FEWEST:,} people this says little")
    elif people < FEWEST:
        said.append(f"warning: {people:,} are fewer than {FEWEST:,} people, for whom this says little")
    return said
