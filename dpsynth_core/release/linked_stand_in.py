"""Invented households and members, on which a plan for two linked tables can be tried. They are public.

One hidden score for each column of a household, its number of members and each member's columns makes them depend on each other
(`sources.simulated`). What breaks a rule is drawn anew, as in releases.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpsynth_core.inference.household_rules import Rules
from dpsynth_core.planning.spec import StandinSpec
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.sources.simulated import simulate
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link


def opened(link: Link, made: StandinSpec) -> LinkedSource:
    """Return invented households with their members as a source; the same arguments give the same households.

    Args:
        link: The columns of both tables, the largest number of members, and the rules.
        made: The number of households, how strongly columns depend on each other, and the seed.

    Raises:
        InputError: No household was found that keeps all rules.
    """
    own = (*link.households.attributes, Attribute.coded(NUMBER, link.most + 1))
    theirs = (replace(one, name=f"{one.name} of member {place}") for place in range(1, link.most + 1) for one in link.members)
    codes = simulate(Domain((*own, *theirs)), made.rows, made.strength, made.seed).astype(np.int64)
    sizes, last = codes[:, len(own) - 1].copy(), len(own) - 1
    households, members = codes[:, :last].copy(), codes[:, len(own) :].reshape(made.rows, link.most, len(link.members)).copy()
    Rules(link).keep(households, sizes, members, np.random.default_rng(made.seed))
    return LinkedSource.of_codes(link, households.astype(np.int32), sizes, members.astype(np.int32))
