"""Further tables of rows from one measurement: their seeds, names and purpose.

They cost nothing, because they follow from released values. They share the noise: they differ by the drawing of rows alone, and show how
much error that adds, and no other error. All measures are of the first table.
"""

from __future__ import annotations

import re

import numpy as np

FIRST, MEMBERS = "synthetic.csv", "members.csv"
"""Of two linked tables, the first and the second."""
OF_FIRST = f"Errors, bounds, criteria and models are stated of the first table, {FIRST}, alone."
_FURTHER = re.compile(r"synthetic-([2-9]|[1-9][0-9]+)\.csv")


def name(number: int) -> str:
    """Return the file name of a table of rows; the first has number 1."""
    return FIRST if number == 1 else f"synthetic-{number}.csv"


def is_name(file: str) -> bool:
    """Return whether a file name is used for a table of rows beside the first: a further one, or the members'."""
    return file == MEMBERS or _FURTHER.fullmatch(file) is not None


def seed(row_seed: int, number: int) -> int:
    """Return the seed of a table: the rows' seed for the first, and for each other a seed that follows from it and its number.

    Streams of different numbers are independent (`numpy.random.SeedSequence`).
    """
    if number == 1:
        return row_seed
    return int(np.random.SeedSequence(row_seed, spawn_key=(number,)).generate_state(1, np.uint64)[0] >> np.uint64(1))


def explained_members(members: int | None, each: int) -> str:
    """Return how to read two linked tables and their statements.

    Args:
        members: Number of members; None for answers alone.
        each: Number of records of pairs for each row of the first table.
    """
    held = "" if members is None else f"{MEMBERS} holds {members:,} rows under the keys of {FIRST}, and each of them has its key there. "
    return (
        f"{held}Errors, bounds and noisy tables are of the rows of the first table, also where they say people: each counts once, divided"
        ' evenly among its members, or among ordered pairs of them where a column is "of another". So that this is in whole numbers, noisy'
        f" tables count {each:,} for each row of the first table."
    )


def explained(tables: int) -> str:
    """Return the purpose of several tables; "" for one table."""
    if tables == 1:
        return ""
    return (
        f"{tables} tables of rows were drawn from the one measurement: {name(1)}, {name(2)}{' and so on' if tables > 2 else ''}. "
        "By how much a number differs between them is what the drawing of rows adds. They share the noise of the measurement, so that "
        "rules for combining variances (Raghunathan et al. 2003; Raab et al. 2016) do not hold: take intervals from the noisy tables or "
        f"the measured errors. {OF_FIRST}"
    )
