"""The attacks on a release: on people of the table, on people who were left out, and on a copy of the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy

from dpsynth_core.extensions.attacks.measures import ATTACKS, Codes, People, Roles, Tried
from dpsynth_core.extensions.attacks.outcomes import Ceiling, Count, difference, outcome
from dpsynth_core.foundation.errors import InputError

FEWEST = 50
"""Fewest people of a group. With fewer, hardly any attack is found."""
MOST = 20_000
"""Most people of a group who are looked at; more take too long."""
FIELD = "people left out"
_BY_CHANCE = 1e-9
"""Probability below which chance does not explain that records are in both groups."""
_SAME = 0.1
"""Share of the smaller group with such records, from which on a comparison is refused. Below, differences are at most a tenth too small."""


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
        InputError: A group has fewer than 50 people (`FEWEST`), or people of the table are among those left out
            (`check`).
    """
    check(people.inside, people.outside)
    copied = replace(people, rows=people.inside)
    tried = [(title, attack(people, roles), attack(copied, roles)) for title, attack in ATTACKS]
    asked = [one for one in tried if len(one[1].inside) and len(one[1].outside)]
    return tuple(_beside(title, of_rows, of_copy, ceiling, len(asked)) for title, of_rows, of_copy in asked)


def check(inside: Codes, outside: Codes) -> None:
    """Check that two groups can be compared, and return nothing. Errors contain no value of a record, and no number of them.

    Left-out people may have the records of people of the table by chance, and in a table with few cells nearly all
    do. So these are taken for the same people in two cases alone. One is that both groups have the same records,
    in whatever order. In the other, chance does not explain how often a record that two people have is once in each
    group (with a probability of about 1e-9), and this happens for at least a tenth of the smaller group. If hardly
    anybody shares a record, this finds the table itself even where both groups are samples from 200,000 people.

    Raises:
        InputError: A group has fewer than 50 people (`FEWEST`), or people of the table are among those left out.
    """
    if len(inside) < FEWEST:
        raise InputError("table", f"it has fewer than {FEWEST} people", "attacks on so few people say nothing")
    if len(outside) < FEWEST:
        raise InputError(FIELD, f"there are fewer than {FEWEST}", "give a file with more people")
    if _same_people(inside, outside):
        raise InputError(FIELD, "records of the table itself are among them", "give a file of people who did not take part")


def _same_people(inside: Codes, outside: Codes) -> bool:
    """Return whether people of one group are taken to be in the other, as `check` says.

    If who is in which group is chance, then two people are in different groups with probability `split`. It does not
    matter how frequent records are, as only those that two people have are looked at.
    """
    people = len(inside), len(outside)
    _, found = np.unique(np.concatenate([inside, outside]), axis=0, return_inverse=True)
    of_inside, of_outside = (np.bincount(part, minlength=found.max() + 1) for part in np.split(found.ravel(), [people[0]]))
    if np.array_equal(of_inside, of_outside):
        return True
    pairs = of_inside + of_outside == 2
    apart = int((pairs & (of_inside == 1)).sum())
    split = 2 * people[0] * people[1] / (sum(people) * (sum(people) - 1))
    by_chance = scipy.stats.binom.sf(apart - 1, int(pairs.sum()), split)
    return bool(by_chance < _BY_CHANCE and apart >= _SAME * min(people))


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
