"""A rehearsal: the plan is run on one half of the people, so that the other half was left out. Nothing of the run is kept."""

from __future__ import annotations

import numpy as np

from dpsynth_core.extensions.attacks.measures import Codes, People
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.rows import one_table

_NEED_VALUES = ("inside", "means", "ranges")
"""Shares of the budget for numbers, which a table of codes does not have."""

AFTERWARDS = "attack the rows of a release, beside a file of people who did not take part"


def plan(spec: Spec) -> Plan:
    """Return the plan of a rehearsal: the plan of the spec, but without what is measured of numbers inside cells.

    The mechanism gets the budget of what is left out, so that the whole budget stays the same. A coin that leaves people out of the
    release is left out too, because half of all people are left out here.

    Raises:
        InputError: The spec makes no valid plan; or the plan learns values of columns or weights its rows, so that
            codes are not enough for it.
        CapacityError: The mechanism or this machine cannot run the plan.
    """
    budget = spec.budget.model_copy(update=dict.fromkeys(_NEED_VALUES, 0.0))
    found = synthesis.plan(spec.model_copy(update={"budget": budget, "extensions": extension.of_all_records(spec.extensions)}))
    if found.portions:
        raise InputError("rehearsal", "this plan learns values of columns", AFTERWARDS)
    if found.weight is not None:
        problem = "this plan weights its rows, and a rehearsal has cells without weights"
        raise InputError("rehearsal", problem, f"{AFTERWARDS}: attacks count people, whatever they weigh")
    return found


def rehearsed(of: Plan, records: Codes) -> People:
    """Run a plan on one half of the records. The other half are the people who were left out.

    Nothing is charged or stored. The result has exact records: it is for the curator alone.

    Args:
        of: A plan for a rehearsal (`plan`), of a mechanism that makes rows.
        records: Records in random order, as codes of the plan's domain, shape (people, columns).

    Raises:
        InputError: The plan cannot be run, or gives no rows.
    """
    inside, outside = np.array_split(np.asarray(records, dtype=np.int32), 2)
    made = synthesis.synthesize(of, CodesSource(of.domain, inside), synthesis.noise_for(of.spec), lambda _: None)
    rows = one_table(made.codes)
    if rows is None or not len(rows):
        raise InputError("rehearsal", "it made no rows", "choose a mechanism that makes rows, or a larger budget")
    return People(tuple(attribute.size for attribute in of.domain), inside, outside, rows)
