"""Invented people, others for each seed, with names and a value that no file of a release may hold."""

from __future__ import annotations

import numpy as np
import pandas as pd

import dpsynth_core as dps

PEOPLE = 6_000
NAMED, ALONE = "somebody-", "a place of one person"
"""How the name of every person begins, and where one of them lives alone."""
COLUMNS = {"age": (18, 77), "sex": ["f", "m"], "income": (0, 99), "region": ["north", "south", "coast"]}
TO_LEARN = COLUMNS | {"region": dps.discover()}


def people(seed: int) -> pd.DataFrame:
    """A table with a row for each person: name, age, sex, income and region."""
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 78, PEOPLE), rng.choice(["f", "m"], PEOPLE)
    income = np.clip(age + rng.normal(0, 12, PEOPLE) + 9 * (sex == "m"), 0, 99).round(2)
    region = rng.choice(["north", "south", "coast"], PEOPLE, p=[0.5, 0.3 + 0.01 * seed, 0.2 - 0.01 * seed])
    region[seed] = ALONE
    names = [f"{NAMED}{seed}-{one}" for one in range(PEOPLE)]
    return pd.DataFrame({"person": names, "age": age, "sex": sex, "income": income, "region": region})
