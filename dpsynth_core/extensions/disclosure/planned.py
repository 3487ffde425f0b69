"""Disclosure in a plan: whether it can be measured, and how precisely that will be known, from public facts alone."""

from __future__ import annotations

import math

from dpsynth_core.extensions.disclosure import SETTING
from dpsynth_core.extensions.disclosure.questions import FIELD, PER_QUESTION, UNSAID, in_words, questions
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
    if plan.link is not None:
        raise InputError(FIELD, "two linked tables do not go with it yet", "leave it out")
    if not plan.mechanism.card.makes_rows:
        raise InputError(FIELD, f"{plan.mechanism.card.title} makes no rows that could name a value", "leave it out")
    if plan.spec.output.tables > 1:
        raise InputError(FIELD, "several tables of rows tell more than the first one, which is measured", "ask for one table of rows")
    questions(plan.spec.extensions, plan.domain)
    check_width(plan, plan.spec.data.standin.rows if plan.spec.data.standin else None)


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
        noises: Number of measured counts that are added up, such as 2 for people for whom a value is named wrongly.
    """
    asked = len(questions(plan.spec.extensions, plan.domain))
    return QUANTILE * plan.unit.query_l1 * math.sqrt(noises * PER_QUESTION * asked / (2 * plan.shares.of(SETTING)))


def sentences(plan: Plan) -> list[str]:
    """Return sentences on what is asked, what it costs, and how precisely it will be known.

    Args:
        plan: The plan.
    """
    asked = questions(plan.spec.extensions, plan.domain)
    what = "; ".join(f"{one.target} from {in_words(one.keys)}" for one in asked)
    share = plan.shares.of(SETTING) / plan.shares.rho
    first = f"{share:.3g} of the budget measures for how many people the rows name a value ({what})"
    people = plan.spec.data.standin.rows if plan.spec.data.standin else None
    return [first, *widths(plan, people)]


def widths(plan: Plan, people: int | None) -> list[str]:
    """Return sentences on how precisely the answers will be known, with a warning where this is too little.

    Args:
        plan: The plan.
        people: A public number of people; None if it is not known.
    """
    right, wrong = margin(plan), margin(plan, noises=2)
    numbers = [people] if people else [FEWEST, 10 * FEWEST]
    of = " and ".join(f"± {right / number:.2%} of {number:,} people" for number in numbers)
    said = [f"how many are named rightly will be known to ± {right:,.0f} people ({of}), wrongly to ± {wrong:,.0f}, with 95% confidence"]
    if people is None:
        said.append(f"for fewer than {FEWEST:,} people this says little")
    elif people < FEWEST:
        said.append(f"warning: {people:,} are fewer than {FEWEST:,} people, for whom this says little")
    return said
