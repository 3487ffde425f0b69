"""The attacks on a release: on people of the table, on people who were left out, and on a copy of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpsynth_core.extensions.attacks.measures import ATTACKS, Codes, People, Roles, Tried
from dpsynth_core.extensions.attacks.outcomes import Ceiling, Count, difference, outcome
from dpsynth_core.foundation.errors import InputError

FEWEST = 50
"""Fewest people of a group. With fewer, hardly any attack is found."""
MOST = 20_000
"""Most people of a group who are looked at; more take too long."""
FIELD = "people left out"


@dataclass(frozen=True)
class Beside:
    """The counts of how often an attack works, beside its controls.

    Attributes:
        attack: What the attack does, in words.
        inside: On people of the table.
        outside: On people who did not take part.
        low: Lower end of the interval of the difference of the shares, of confidence 95 %.
        high: Upper end.
        copy: On people of the table, if the rows were a copy of the table.
        allowed: The largest share of people of the table that epsilon allows, at the share of the others.
        outcome: One of `outcomes.NOTHING`, `ALLOWED` and `ABOVE`.
        of_copy: The outcome if the rows were a copy of the table. If it is NOTHING, this attack finds too
            little here to say anything.
    """

    attack: str
    inside: Count
    outside: Count
    low: float
    high: float
    copy: Count
    allowed: float
    outcome: str
    of_copy: str


def compared(people: People, roles: Roles, ceiling: Ceiling) -> tuple[Beside, ...]:
    """Return each attack with its controls, in the order of `measures.ATTACKS`.

    An attack is left out if a group has no person on whom it can be tried. The result is exact: it is for the curator
    alone, and callers keep it in the zone of the people.

    Args:
        people: People of the table, people left out, and the rows.
        roles: What the attacker knows and looks for.
        ceiling: What epsilon allows (`outcomes.Ceiling`).

    Raises:
        InputError: A group has fewer than 50 people (`FEWEST`), or both groups have the same records in the
            same order.
    """
    check(people.inside, people.outside)
    copied = replace(people, rows=people.inside)
    tried = [(title, attack(people, roles), attack(copied, roles)) for title, attack in ATTACKS]
    asked = [one for one in tried if len(one[1].inside) and len(one[1].outside)]
    return tuple(_beside(title, of_rows, of_copy, ceiling, len(asked)) for title, of_rows, of_copy in asked)


def check(inside: Codes, outside: Codes) -> None:
    """Check that two groups can be compared, and return nothing. Errors contain no value of a record.

    Raises:
        InputError: A group has fewer than 50 people (`FEWEST`), or both groups have the same records in the same order.
    """
    if len(inside) < FEWEST:
        raise InputError("table", f"it has fewer than {FEWEST} people", "attacks on so few people say nothing")
    if len(outside) < FEWEST:
        raise InputError(FIELD, f"there are fewer than {FEWEST}", "give a file with more people")
    if np.array_equal(inside, outside):
        raise InputError(FIELD, "these are the records of the table itself", "give a file of people who did not take part")


def _beside(title: str, tried: Tried, copied: Tried, ceiling: Ceiling, attacks: int) -> Beside:
    inside, outside = counts(tried)
    copy, beside_copy = counts(copied)
    low, high = difference(inside, outside)
    allowed = float(max(outside.share, ceiling(np.array([outside.share]))[0]))
    found, of_copy = (outcome(one, other, ceiling, attacks) for one, other in ((inside, outside), (copy, beside_copy)))
    return Beside(title, inside, outside, low, high, copy, allowed, found, of_copy)


def counts(tried: Tried) -> Sequence[Count]:
    """Return how often an attack worked: first on people of the table, then on the others."""
    return [Count(int(one.sum()), len(one)) for one in (tried.inside, tried.outside)]
