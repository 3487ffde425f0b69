"""Columns, people and tables for the tests of rows from protected tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from dpsynth_core.extensions.rows_from.order import Order
from dpsynth_core.vocabulary.domain import Domain

CLOSED: dict[str, Any] = {"other": False, "missing": False}
DOMAIN: dict[str, Any] = {
    "version": 1,
    "origin": "codebook",
    "attributes": [
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 10, **CLOSED},
        {
            **{"name": "health", "kind": "ordinal", "categories": ["1", "2", "3"], "dtype": "int64"},
            **{"labels": ["good", "fair", "bad"], **CLOSED},
        },
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": True},
        {"name": "job", "kind": "categorical", "categories": ["yes", "no"], "other": False, "missing": True},
    ],
}
GIVER, PROMISE = "Statistics Office", "Counts are multiples of 5, and those below 10 are suppressed."
SEXES: dict[str, Any] = {"columns": ["sex"], "cells": [["f", 600], ["m", 400]]}
HEALTH: dict[str, Any] = {
    "columns": ["health", "sex"],
    "cells": [["good", "f", 300], ["good", "m", None], ["fair", "f", 200], ["fair", "m", 200], ["bad", "f", None], ["bad", "m", 50]],
}
LISTED = [HEALTH, SEXES]


def stated(**parts: Any) -> dict[str, Any]:
    fixed = {"domain": DOMAIN, "tables": LISTED, "people": None, "rows": 500, "seed": 1, "giver": GIVER, "promise": PROMISE}
    return fixed | parts


def order(**parts: Any) -> Order:
    return Order.of(stated(**parts))


def people(number: int = 20_000) -> pd.DataFrame:
    """Invented people whose health depends on their age, and job on sex and age."""
    rng = np.random.default_rng(3)
    age = rng.integers(0, 100, number)
    sex = rng.choice(["f", "m"], number, p=[0.55, 0.45])
    health = 1 + (rng.random(number) < age / 110).astype(int) + (rng.random(number) < age / 150)
    job = np.where((age > 20) & (age < 65) & (rng.random(number) < np.where(sex == "f", 0.6, 0.8)), "yes", "no")
    return pd.DataFrame({"age": age, "health": health, "sex": sex, "job": job})


def grouped(frame: pd.DataFrame) -> pd.DataFrame:
    """The same people with the labels of the domain's groups of ages."""
    low = frame["age"] // 10 * 10
    return frame.assign(age=low.astype(str) + " to " + (low + 9).astype(str))


def counted(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """The table of counts of these columns, with a line for each combination of their values."""
    crossed = grouped(frame).astype("category").groupby(list(columns), observed=False).size()
    return crossed.reset_index(name="count")


def distance(one: pd.DataFrame, other: pd.DataFrame, *columns: str) -> float:
    """The share of people in another cell, by brute force: half the sum of the differences of all cells."""
    shares = [grouped(frame)[list(columns)].astype(str).value_counts(normalize=True) for frame in (one, other)]
    return float(shares[0].sub(shares[1], fill_value=0.0).abs().sum() / 2)


def domain() -> Domain:
    return Domain.stated(DOMAIN)
