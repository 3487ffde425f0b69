"""Invented households and their members: two linked tables to try the app with. Everything here is public and made from a seed.

Members are visibly related: the partners of a couple are of about the same age, children are younger than their parents by a generation,
the income of a household follows the number of its members who work, and households in the capital live in flats.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd

from dpsynth_core.sources.demo import REGION, SEX
from dpsynth_core.vocabulary.domain import Attribute, Domain

ROWS = 20_000
KEY = "household"
DWELLING = ("flat", "house")
WORK = ("at school", "working", "without work", "retired")
_INCOMES = (0, 10_000, 20_000, 30_000, 45_000, 60_000, 90_000, 200_000)


def domains() -> tuple[Domain, Domain]:
    """Return the domains of the households and of the members, without the key column.

    They fit the simulated tables by construction and were not read from any rows.
    """
    incomes = Attribute.integer("income", 0, 200_000, edges=_INCOMES)
    homes = Domain((Attribute.categorical("region", REGION), Attribute.categorical("dwelling", DWELLING), incomes))
    people = (Attribute.integer("age", 0, 95, bins=12), Attribute.categorical("sex", SEX), Attribute.categorical("work", WORK))
    return homes, Domain(people)


@lru_cache(maxsize=1)
def simulate(rows: int = ROWS, seed: int = 7) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return two invented tables, the households and their members, each with the key column `KEY`.

    Keys count from 1, and members are in the order of their households; each household has 1 to 6 members. The
    tables of the last call are kept and returned again, so the caller must not change them.

    Args:
        rows: The number of households.
        seed: The seed; the same arguments give the same tables.
    """
    rng = np.random.default_rng(seed)
    region = rng.choice(len(REGION), rows, p=[0.28, 0.24, 0.12, 0.14, 0.22])
    first = np.clip(np.where(rng.random(rows) < 0.7, rng.normal(42, 12, rows), rng.normal(72, 8, rows)), 20, 95)
    couple = rng.random(rows) < np.where(first < 30, 0.35, 0.62)
    children = np.where(first < 62, rng.poisson(np.where(couple, 1.2, 0.35) * np.exp(-(((first - 41) / 12) ** 2))), 0).clip(0, 4)
    second = np.clip(first + rng.normal(0, 3, rows), 20, 95)
    sex = rng.integers(0, 2, rows)
    parts = [(np.arange(rows), first, sex), (np.flatnonzero(couple), second[couple], 1 - sex[couple])]
    for child in range(4):
        owners = np.flatnonzero(children > child)
        born = first[owners] - rng.normal(29, 4, len(owners))
        parts.append((owners, np.clip(born, 0, 24), rng.integers(0, 2, len(owners))))
    owner, age, own_sex = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(owner, kind="stable")
    owner, age, own_sex = owner[order], np.rint(age[order]).astype(np.int64), own_sex[order]
    work = np.select([age < 19, age > 66], [0, 3], np.where(rng.random(len(age)) < 0.82, 1, 2))
    earners = np.bincount(owner, weights=work == 1, minlength=rows)
    income = np.clip(np.exp(rng.normal(9.4, 0.3, rows) + 0.75 * earners), 0, 200_000)
    house = rng.random(rows) < np.where(region == 0, 0.15, 0.45) + 0.12 * children
    homes = {KEY: np.arange(1, rows + 1), "region": np.array(REGION)[region], "dwelling": np.array(DWELLING)[house.astype(int)]}
    people = {KEY: owner + 1, "age": age, "sex": np.array(SEX)[own_sex], "work": np.array(WORK)[work]}
    return pd.DataFrame({**homes, "income": np.rint(income / 100).astype(np.int64) * 100}), pd.DataFrame(people)
