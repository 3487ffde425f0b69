"""The protection and the expected error that each epsilon of a plan buys, from public facts alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpsynth_core.foundation.zones import Zoned, public
from dpsynth_core.planning.alternatives import at_epsilon
from dpsynth_core.planning.expected_verdict import Facts
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy import meaning

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Bought:
    """The protection and the expected error at one epsilon.

    Attributes:
        epsilon: The epsilon.
        guess: Largest chance (0.5 to 1) that someone who is 50:50 about a person ends up right.
        error: Expected mean error of the tables, as a share of people in a wrong cell.
        low: The mean error if errors are one standard deviation of the forecast's misses below `error`.
        high: The mean error if errors are one such standard deviation above `error`.
    """

    epsilon: float
    guess: float
    error: float
    low: float
    high: float


def bought(plan: Plan, facts: Facts, epsilon: float) -> Bought:
    """Return what a plan buys with another epsilon.

    Args:
        plan: The plan.
        facts: The public facts about the people.
        epsilon: The epsilon.

    Raises:
        InputError: Epsilon is out of range.
    """
    changed, hope = at_epsilon(plan, facts, epsilon)
    guess = meaning.reading(changed.shares.accountant, changed.shares.rho, changed.shares.slack).guess
    return Bought(epsilon, guess, hope.error, hope.error_low, hope.error_high)


def curve(plan: Plan, facts: Facts, epsilons: Iterable[float]) -> Zoned[pd.DataFrame]:
    """Return what several epsilons buy, a row each in ascending order. Public.

    The columns are epsilon, guess, error, low and high, as in `Bought`.

    Args:
        plan: The plan.
        facts: The public facts about the people.
        epsilons: The values of epsilon, at least one; repeated ones count once.

    Raises:
        InputError: An epsilon is out of range.
    """
    import pandas as pd

    return public(pd.DataFrame([vars(bought(plan, facts, epsilon)) for epsilon in sorted(set(epsilons))]))


def sentence(one: Bought, who: str = "people") -> str:
    """Return a sentence on the expected error of the tables, in per cent, as Markdown.

    It states the range from `low` to `high` if these differ.

    Args:
        one: What the epsilon buys.
        who: What is counted, in plural.
    """
    spread = f" ({_percent(one.low)} to {_percent(one.high)})" if one.low < one.high else ""
    return f"Tables should average **{_percent(one.error)}**{spread} of {who} in a wrong group."


def _percent(share: float) -> str:
    """Return a share as text in percent with two significant digits: 0.42%, 4.2%, 42%."""
    digits = 0 if share <= 0 else max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:.{digits}f}%"
