"""Further tables of rows from one measurement: their seeds, names and purpose.

They cost nothing, because they follow from released values. They share the noise: they differ by the drawing of rows alone, and show how
much error that adds, and no other error. All measures are of the first table.
"""

from __future__ import annotations

import re

import numpy as np

from dpsynth_core.foundation import extension
from dpsynth_core.planning.plan import Plan
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link_words import LinkWords

FIRST, MEMBERS = "synthetic.csv", "members.csv"
"""Of two linked tables, the first and the second."""
OF_FIRST = f"Errors, bounds, criteria and models are stated of the first table, {FIRST}, alone."
_FURTHER = re.compile(r"synthetic-([2-9]|[1-9][0-9]+)\.csv")


def name(number: int) -> str:
    """Return the file name of a table of synthetic rows.

    Args:
        number: Number of the table, from 1.
    """
    return FIRST if number == 1 else f"synthetic-{number}.csv"


def is_name(file: str) -> bool:
    """Return whether a file name is of a further table of rows (number 2 or more), of the members' table or of an extension's rows."""
    return file == MEMBERS or _FURTHER.fullmatch(file) is not None or extension.is_row_file(file)


def domain_of(plan: Plan, file: str) -> Domain:
    """Return the domain of the columns of a file of rows.

    Args:
        plan: The plan of the release.
        file: Name of the file: of a table of rows, of members or of an extension's rows.
    """
    if file == MEMBERS:
        return plan.member_domain
    path = extension.row_domain(file)
    domain: Domain = extension.load(path)(plan) if path else plan.row_domain
    return domain


def seed(row_seed: int, number: int) -> int:
    """Return the seed from which a table of rows is drawn: `row_seed` for the first, a derived seed for others.

    Streams of different numbers are independent (`numpy.random.SeedSequence`).

    Args:
        row_seed: Seed of the release's rows.
        number: Number of the table, from 1.
    """
    if number == 1:
        return row_seed
    return int(np.random.SeedSequence(row_seed, spawn_key=(number,)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def explained_members(members: int | None, each: int, words: LinkWords) -> str:
    """Return sentences for readers on two linked tables: what each file holds, and what noisy counts count.

    Args:
        members: Number of rows of members; None for a release without rows.
        each: Number of records of pairs for each row of the first table.
        words: How the tables are called.
    """
    held = "" if members is None else f"{MEMBERS} holds {members:,} rows under the keys of {FIRST}, and each of them has its key there."
    return " ".join(filter(None, [held, held and words.order, words.tables.format(each=each)]))


def explained(tables: int) -> str:
    """Return sentences for readers on why a release has several tables of rows; "" for one table."""
    if tables == 1:
        return ""
    return (
        f"{tables} tables of rows were drawn from the one measurement: {name(1)}, {name(2)}{' and so on' if tables > 2 else ''}. "
        "By how much a number differs between them is what the drawing of rows adds. They share the noise of the measurement, so that "
        "rules for combining variances (Raghunathan et al. 2003; Raab et al. 2016) do not hold: take intervals from the noisy tables or "
        f"the measured errors. {OF_FIRST}"
    )
