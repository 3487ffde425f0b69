"""Further tables of rows from one measurement: what they are drawn with, what they are called, and what they are for.

They cost nothing more, for they follow from what was released. They share its noise: what differs between them is the drawing of rows
alone, so that they say how much that adds, and nothing of how far all of them are off. All measures are of the first.
"""

from __future__ import annotations

import re

import numpy as np

FIRST, MEMBERS = "synthetic.csv", "members.csv"
"""Of two linked tables, the first and the second."""
OF_FIRST = f"Errors, bounds, criteria and models are stated of the first table, {FIRST}, alone."
_FURTHER = re.compile(r"synthetic-([2-9]|[1-9][0-9]+)\.csv")


def name(number: int) -> str:
    return FIRST if number == 1 else f"synthetic-{number}.csv"


def is_name(file: str) -> bool:
    """Whether a table of rows beside the first is called so: a further one, or that of the members."""
    return file == MEMBERS or _FURTHER.fullmatch(file) is not None


def seed(row_seed: int, number: int) -> int:
    """What a table is drawn with: the first with the seed of the rows itself, each other with one that follows from it and its number.
    Streams of different numbers are independent (`numpy.random.SeedSequence`)."""
    if number == 1:
        return row_seed
    return int(np.random.SeedSequence(row_seed, spawn_key=(number,)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def explained_members(members: int | None, each: int) -> str:
    """How two linked tables, and what is stated of them, are to be read. members: how many were made; None for answers alone. each: records
    of pairs that a row of the first is."""
    held = "" if members is None else f"{MEMBERS} holds {members:,} rows under the keys of {FIRST}, and each of them has its key there. "
    return (
        f"{held}Errors, bounds and noisy tables are of the rows of the first table, also where they say people: each counts once, divided"
        ' evenly among its members, or among ordered pairs of them where a column is "of another". So that this is in whole numbers, noisy'
        f" tables count {each:,} for each row of the first table."
    )


def explained(tables: int) -> str:
    """What several are for; nothing to say of one."""
    if tables == 1:
        return ""
    return (
        f"{tables} tables of rows were drawn from the one measurement: {name(1)}, {name(2)}{' and so on' if tables > 2 else ''}. "
        "By how much a number differs between them is what the drawing of rows adds. They share the noise of the measurement, so that "
        "rules for combining variances (Raghunathan et al. 2003; Raab et al. 2016) do not hold: take intervals from the noisy tables or "
        f"the measured errors. {OF_FIRST}"
    )
