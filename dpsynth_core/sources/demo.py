"""Invented people to try the app with: no file needed, no one's privacy at stake. Everything here is public and made from a seed.

The columns depend on each other in ways that can be seen in a plot: education lifts income and shifts occupation, age drives marital
status, employment, household and health, income differs by sex and region, the way to work by region. Some answers are missing.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Attribute, Domain

ROWS = 50_000

SEX = ("female", "male")
REGION = ("capital", "coast", "highlands", "north", "south")
EDUCATION = ("primary", "secondary", "vocational", "bachelor", "master or more")
MARITAL = ("single", "married", "divorced", "widowed")
EMPLOYMENT = ("employed", "self-employed", "unemployed", "student", "retired", "at home")
OCCUPATION = ("care", "craft", "farming", "management", "office", "research", "sales", "transport", "none")
HEALTH = ("very good", "good", "fair", "bad")
COMMUTE = ("bicycle", "bus", "car", "train", "walk", "none")

_INCOMES = (0, 1, 5_000, *range(10_000, 60_000, 5_000), 60_000, 70_000, 80_000, 100_000, 150_000)
_WORKING = 2  # the first employments are those with work
_NO_WORK = len(OCCUPATION) - 1
_NO_COMMUTE = len(COMMUTE) - 1


def demo_domain() -> Domain:
    """Return the domain of the tables of `simulate`, with 12 columns; it was not read from any rows."""
    return Domain(
        (
            Attribute.integer("age", 16, 95, bins=16),
            Attribute.categorical("sex", SEX),
            Attribute.categorical("region", REGION),
            Attribute.categorical("education", EDUCATION, ordered=True, missing=True),
            Attribute.categorical("marital_status", MARITAL),
            Attribute.categorical("employment", EMPLOYMENT),
            Attribute.categorical("occupation", OCCUPATION, missing=True),
            Attribute.integer("weekly_hours", 0, 80, edges=[0, 1, 10, 20, 30, 36, 40, 41, 46, 51, 61, 80]),
            Attribute.integer("income", 0, 150_000, edges=_INCOMES, missing=True),
            Attribute.integer("household_size", 1, 7),
            Attribute.categorical("health", HEALTH, ordered=True, missing=True),
            Attribute.categorical("commute", COMMUTE),
        )
    )


def simulate(rows: int = ROWS, seed: int = 7) -> pd.DataFrame:
    """Return a table of invented people, one row each; the same arguments give the same table.

    Some cells of education, occupation, income and health are missing.

    Args:
        rows: The number of rows.
        seed: The seed of the random numbers.
    """
    rng = np.random.default_rng(seed)
    age = np.clip(np.where(rng.random(rows) < 0.75, rng.normal(42, 15, rows), rng.normal(70, 10, rows)), 16, 95).astype(np.int64)
    sex = rng.integers(0, len(SEX), rows)
    region = rng.choice(len(REGION), rows, p=[0.28, 0.24, 0.12, 0.14, 0.22])
    education = _education(age, region, rng)
    marital = _marital(age, rng)
    employment = _employment(age, sex, education, rng)
    occupation = _occupation(sex, region, education, employment, rng)
    hours = _hours(sex, employment, occupation, rng)
    income = _income(age, sex, region, education, employment, hours, rng)
    household = _household(age, marital, rng)
    health = _health(age, income, employment, rng)
    commute = _commute(age, region, employment, rng)
    frame = pd.DataFrame(
        {
            "age": age,
            "sex": np.array(SEX)[sex],
            "region": np.array(REGION)[region],
            "education": _with_gaps(EDUCATION, education, 0.02, rng),
            "marital_status": np.array(MARITAL)[marital],
            "employment": np.array(EMPLOYMENT)[employment],
            "occupation": _with_gaps(OCCUPATION, occupation, 0.03, rng),
            "weekly_hours": hours,
            "income": pd.array(income, dtype="Int64"),
            "household_size": household,
            "health": _with_gaps(HEALTH, health, 0.04, rng),
            "commute": np.array(COMMUTE)[commute],
        }
    )
    frame.loc[rng.random(rows) < 0.03 + 0.05 * (income > 70_000), "income"] = pd.NA  # the well-off answer less often
    return frame


def _choose(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the index of a random choice for each row.

    Args:
        weights: Non-negative weights, shape (rows, choices); a row's choices are drawn in
            proportion to them.
        rng: The source of randomness.
    """
    cumulative = np.cumsum(weights, axis=1)
    return (rng.random(len(weights))[:, None] * cumulative[:, -1:] >= cumulative).sum(axis=1)


def _with_gaps(labels: tuple[str, ...], codes: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.object_]:
    """Return the label of each code, replaced by None with probability `share`."""
    values = np.array(labels, dtype=object)[codes]
    values[rng.random(len(codes)) < share] = None
    return values


def _education(age: NDArray, region: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    base = np.array([0.10, 0.28, 0.30, 0.20, 0.12])
    tilt = np.arange(len(EDUCATION)) - 1.5
    lift = 0.45 * (region == 0) - 0.25 * (region == 2) - 0.025 * np.clip(age - 45, 0, None)
    weights = base * np.exp(lift[:, None] * tilt)
    weights[age < 22, 3:] = 0  # too young for a degree
    weights[age < 19, 1:] *= 0.4
    return _choose(weights, rng)


def _marital(age: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    married = 1 / (1 + np.exp(-(age - 31) / 5.0))
    divorced = 0.22 / (1 + np.exp(-(age - 42) / 6.0))
    widowed = 0.9 / (1 + np.exp(-(age - 82) / 6.0))
    weights = np.stack([1 - 0.88 * married, married * (1 - divorced) * (1 - widowed), divorced * (1 - widowed), widowed], axis=1)
    weights[age < 18, 1:] = 0
    return _choose(weights, rng)


def _employment(age: NDArray, sex: NDArray, education: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    adult = 1 / (1 + np.exp(-(age - 20) / 1.8))
    retired = 1 / (1 + np.exp(-(age - 65) / 1.6))
    active = adult * (1 - retired)
    weights = np.stack(
        [
            active * (0.78 + 0.03 * education),
            active * np.where(sex == 1, 0.12, 0.07),
            active * (0.11 - 0.022 * education),
            (1 - adult) + 0.15 * (age < 27),
            retired,
            active * np.where(sex == 0, 0.10, 0.02),
        ],
        axis=1,
    )
    return _choose(weights, rng)


def _occupation(sex: NDArray, region: NDArray, education: NDArray, employment: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    by_education = np.array(
        #  care craft farm  manage office research sales transport
        [[2.0, 2.5, 2.5, 0.1, 0.5, 0.0, 2.0, 2.5],
         [2.0, 2.5, 1.2, 0.5, 2.0, 0.0, 3.0, 2.2],
         [2.0, 4.5, 1.0, 0.6, 2.0, 0.1, 1.5, 1.5],
         [2.2, 0.5, 0.3, 2.5, 3.5, 1.5, 1.2, 0.2],
         [1.8, 0.1, 0.1, 4.0, 1.5, 4.5, 0.5, 0.1]]
    )  # fmt: skip
    by_sex = np.array([[2.2, 0.3, 0.8, 0.8, 1.5, 0.9, 1.3, 0.3], [0.6, 1.8, 1.1, 1.2, 0.7, 1.1, 0.8, 1.8]])
    by_region = np.ones((len(REGION), _NO_WORK))
    by_region[0, [2, 3, 5]] = [0.05, 1.6, 2.0]  # the capital has offices and universities, no fields
    by_region[2, 2] = 4.0
    work = _choose(by_education[education] * by_sex[sex] * by_region[region], rng)
    return np.where(employment < _WORKING, work, _NO_WORK)


def _hours(sex: NDArray, employment: NDArray, occupation: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    part_time = rng.random(len(sex)) < np.where(sex == 0, 0.35, 0.10)
    usual = np.where(rng.random(len(sex)) < 0.45, 40, rng.normal(39, 4, len(sex)))
    hours = np.where(part_time, rng.normal(22, 6, len(sex)), usual) + 6 * (occupation == 3) + 5 * (employment == 1)
    return np.where(employment < _WORKING, np.clip(np.rint(hours), 4, 80), 0).astype(np.int64)


def _income(
    age: NDArray, sex: NDArray, region: NDArray, education: NDArray, employment: NDArray, hours: NDArray, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Return the yearly income in the invented currency; 0 for some, mostly those without work."""
    by_region = np.array([0.22, 0.05, -0.12, -0.08, -0.02])[region]
    experience = 0.35 * np.clip((age - 18) / 30, 0, 1)
    wage = 9.75 + 0.17 * education + experience + by_region + 0.10 * sex + 0.35 * np.log(np.clip(hours, 4, None) / 40)
    pension = 9.45 + 0.14 * education + 0.15 * sex
    benefit = np.full(len(age), 8.9)
    level = np.select([employment < _WORKING, employment == 4], [wage, pension], benefit)
    spread = np.select([employment == 1, employment == 0], [0.65, 0.35], 0.30)
    income = np.exp(level + spread * rng.standard_normal(len(age)))
    nothing = rng.random(len(age)) < np.array([0.0, 0.02, 0.25, 0.6, 0.01, 0.7])[employment]
    return np.where(nothing, 0, np.clip(np.rint(income / 100) * 100, 100, 150_000)).astype(np.int64)


def _household(age: NDArray, marital: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    children = rng.poisson(np.where((age > 25) & (age < 55), 1.1, 0.1) * np.array([0.15, 1.2, 0.6, 0.2])[marital])
    parents = np.where((age < 24) & (marital == 0), rng.integers(1, 4, len(age)), 0)
    return np.clip(1 + (marital == 1) + children + parents, 1, 7)


def _health(age: NDArray, income: NDArray, employment: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    burden = 0.035 * (age - 45) - 0.25 * np.log1p(income / 20_000) + 0.5 * (employment == 2)
    weights = np.array([0.34, 0.40, 0.18, 0.08]) * np.exp(burden[:, None] * (np.arange(len(HEALTH)) - 1.0))
    return _choose(weights, rng)


def _commute(age: NDArray, region: NDArray, employment: NDArray, rng: np.random.Generator) -> NDArray[np.int64]:
    by_region = np.array(
        # bicycle bus car train walk
        [[2.5, 2.0, 1.2, 4.0, 1.2],
         [1.6, 1.5, 4.0, 1.6, 1.0],
         [0.3, 1.0, 7.0, 0.2, 0.8],
         [0.5, 1.5, 5.0, 0.8, 1.0],
         [1.4, 1.2, 4.5, 1.0, 1.0]]
    )  # fmt: skip
    weights = by_region[region] * np.where(age[:, None] < 20, np.array([2.0, 3.0, 0.15, 1.5, 1.5]), 1.0)
    travels = (employment < _WORKING) | (employment == 3)
    return np.where(travels, _choose(weights, rng), _NO_COMMUTE)
