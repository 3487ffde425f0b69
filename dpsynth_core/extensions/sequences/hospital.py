"""An invented hospital: patients and their stays in order, to try the program with. Everything here is public and made from a seed.

A patient's stays hang together in more than the stay before: an unseen frailty makes stays longer, deadlier and closer together, and an
unseen chronic disease comes back for ever. Who dies comes no more.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Attribute, Domain

PATIENTS = 20_000
KEY, ORDER, GAP, CONSTANT = "patient", "admitted", "days_before", ("sex", "age", "region")
"""The columns that name the patient, order the stays, and hold the days since the stay before; and those that are the same in all stays."""
MOST = 12
"""Largest number of stays of a patient."""
SEX = ("female", "male")
REGION = ("centre", "east", "hills", "north", "south", "west")
DIAGNOSIS = (*("birth", "cancer", "diabetes", "digestion", "fracture", "heart", "infection", "joints", "kidney", "lung", "mind", "stroke"),)
WARD = ("geriatrics", "intensive care", "maternity", "medicine", "psychiatry", "surgery")
DISCHARGE = ("care home", "died", "home", "other hospital", "rehabilitation")
DIED = DISCHARGE.index("died")
_LENGTHS, _GAPS = (0, 1, 2, 4, 7, 11, 16, 31, 91), (0, 1, 8, 15, 31, 91, 181, 366, 731, 1461)
_FIRST, _DAYS = np.datetime64("2020-01-01"), 1461
_CHRONIC = tuple(DIAGNOSIS.index(name) for name in ("cancer", "diabetes", "heart", "kidney", "lung", "mind"))
_WARDS = np.array(
    #  geriatrics, intensive care, maternity, medicine, psychiatry, surgery; a line a diagnosis
    [[0, .2, 30, 0, 0, .5], [1, .6, .1, 8, .1, 8], [2, .4, .2, 12, .2, 1], [1, .4, .1, 7, .1, 6],
     [3, .5, 0, 1, .1, 14], [3, 2.5, 0, 12, .1, 3], [2, 1.5, .2, 12, .1, 1], [2, .1, 0, 1, .1, 16],
     [2, 1, .1, 12, .1, 2], [2, 2, 0, 13, .1, 1], [1, .1, .1, 1, 16, 0], [4, 3, 0, 9, .2, 1]]
)  # fmt: skip
_DAYS_THERE = np.array([9.0, 6.0, 3.0, 5.0, 16.0, 4.5])
_DEADLY = np.array([0.0005, 0.05, 0.01, 0.01, 0.02, 0.05, 0.03, 0.002, 0.03, 0.045, 0.003, 0.08])


def domain() -> Domain:
    """Return the domain of `simulate`'s columns without patient and day, with the days since the stay before; read from no rows."""
    stay = (("diagnosis", DIAGNOSIS), ("ward", WARD))
    return Domain(
        (
            Attribute.categorical("sex", SEX),
            Attribute.integer("age", 0, 99, bins=10),
            Attribute.categorical("region", REGION),
            *(Attribute.categorical(name, labels) for name, labels in stay),
            Attribute.integer("days", 0, 90, edges=_LENGTHS),
            Attribute.categorical("discharge", DISCHARGE),
            Attribute.integer(GAP, 0, 1460, edges=_GAPS, missing=True),
        )
    )


@lru_cache(maxsize=1)
def simulate(patients: int = PATIENTS, seed: int = 7) -> pd.DataFrame:
    """Return a table of invented stays, one row each, by day of admission; the same arguments give the same table.

    Each patient has from one to `MOST` stays, and dies in the last one at most. Patients are counted from 1. The table of the last call is
    kept and returned again, so the caller must not change it.

    Args:
        patients: Number of patients.
        seed: Seed of the random numbers.
    """
    rng = np.random.default_rng(seed)
    sex, region = rng.integers(0, 2, patients), rng.choice(len(REGION), patients, p=[0.3, 0.15, 0.1, 0.15, 0.2, 0.1])
    age = np.clip(np.where(rng.random(patients) < 0.7, rng.normal(63, 16, patients), rng.uniform(0, 60, patients)), 0, 99).astype(np.int64)
    frailty = rng.gamma(2.0, 0.5, patients) * np.exp((age - 60) / 60)
    ill = rng.random(patients) < np.clip(0.15 + 0.006 * age, 0, 0.75)
    chronic = np.where(ill, np.array(_CHRONIC)[_choose(_ills(age, region), rng)], -1)
    day = rng.integers(0, _DAYS - 200, patients)
    here, before, parts = np.arange(patients), np.full(patients, -1), list[pd.DataFrame]()
    for number in range(MOST):
        diagnosis = _choose(_weights(sex[here], age[here], chronic[here], before[here]), rng)
        weak = frailty[here]
        ward = _choose(_WARDS[diagnosis] * np.where(np.arange(len(WARD)) == 0, np.where(age[here] >= 70, 2.5, 0.05)[:, None], 1.0), rng)
        days = np.minimum(rng.gamma(1.4, _DAYS_THERE[ward] * (0.5 + 0.5 * np.clip(weak, 0, 3)) / 1.4).astype(np.int64), 90)
        died = rng.random(len(here)) < np.clip(
            _DEADLY[diagnosis] * (0.4 + weak) * np.where(ward == 1, 3, 1) * np.exp((age[here] - 65) / 35), 0, 0.9
        )
        going = np.stack(
            [0.04 * weak * (age[here] > 65), np.zeros(len(here)), np.full(len(here), 1.2), 0.05 + 0.2 * (ward == 1), _rehab(diagnosis)]
        )
        discharge = np.where(died, DIED, _choose(going.T, rng))
        admitted = day[here]
        parts.append(
            pd.DataFrame({"who": here, "at": admitted, "diagnosis": diagnosis, "ward": ward, "days": days, "discharge": discharge})
        )
        again = rng.random(len(here)) < np.clip(
            0.22 + 0.2 * np.minimum(weak, 2) + 0.22 * (chronic[here] >= 0) + 0.04 * min(number, 4), 0, 0.9
        )
        pause = np.where(discharge == 3, rng.integers(0, 2, len(here)), rng.gamma(0.9, 190 / (0.6 + weak), len(here)).astype(np.int64))
        day[here], before[here] = admitted + days + pause, diagnosis
        here = here[again & ~died & (day[here] < _DAYS)]
    stays = pd.concat(parts).sort_values(["at", "who"], kind="stable")
    who = stays["who"].to_numpy()
    labels = {"diagnosis": DIAGNOSIS, "ward": WARD, "discharge": DISCHARGE}
    table = {KEY: who + 1, ORDER: (_FIRST + stays["at"].to_numpy()).astype(str)}
    table |= {"sex": np.array(SEX)[sex[who]], "age": age[who], "region": np.array(REGION)[region[who]]}
    table |= {
        name: np.array(labels[name])[stays[name]] if name in labels else stays[name].to_numpy() for name in ("diagnosis", "ward", "days")
    }
    return pd.DataFrame(table | {"discharge": np.array(DISCHARGE)[stays["discharge"]]})


def _choose(weights: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the index of a random choice for each row of weights, shape (rows, choices), in proportion to them."""
    cumulative = np.cumsum(weights, axis=1)
    return (rng.random(len(weights))[:, None] * cumulative[:, -1:] >= cumulative).sum(axis=1)


def _ills(age: NDArray[np.int64], region: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights of chronic diseases, shape (patients, diseases of `_CHRONIC`)."""
    old = np.clip((age - 30) / 40, 0.02, 2)
    return np.stack([old, 0.8 * old, 1.6 * old, 0.5 * old, 0.9 + 0.7 * (region == 1), 1.6 / (1 + old) + 0.3 * (region == 0)], axis=1)


def _weights(sex: NDArray[np.int64], age: NDArray[np.int64], chronic: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weights of diagnoses, shape (patients, diagnoses), given the chronic disease and the diagnosis before (-1 for none)."""
    old, every = np.clip((age - 30) / 40, 0.02, 2), np.arange(len(DIAGNOSIS))
    fertile = (sex == 0) & (age > 16) & (age < 46)
    some = [5.0 * fertile, 1.1 * old, 0.3 * old, 1.5 + 0 * old, 0.7 + 0.6 * old * (1 + (sex == 0)), 1.3 * old * (1 + 0.4 * (sex == 1))]
    some += [1.3 + 0.3 * old, 0.9 * old, 0.3 * old, 0.6 + 0.4 * old, 0.7 / (0.6 + old), 0.6 * old]
    weights = np.stack(some, axis=1)
    weights = weights + 14.0 * (every == chronic[:, None]) + 4.0 * (every == before[:, None])
    after = np.isin(before, [1, 4, 7])[:, None] & (every == DIAGNOSIS.index("infection"))  # what follows operations
    return weights + 2.5 * after


def _rehab(diagnosis: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the weight of rehabilitation after each diagnosis."""
    return np.where(np.isin(diagnosis, [4, 7, 11]), 0.8, 0.04)
