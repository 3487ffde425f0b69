"""A small release of invented patients and their stays in order, for tests of what is said of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpsynth_core.extensions.sequences.layout import SequenceLink, linked
from dpsynth_core.inference.households import kinds
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload

NONE = {"other": False, "missing": False}
PERSONS = {"version": 1, "attributes": [{"name": "sex", "kind": "categorical", "categories": ["f", "m"], **NONE}]}
STAYS = {"version": 1, "attributes": [
    {"name": "diagnosis", "kind": "categorical", "categories": ["heart", "hip", "lung"], **NONE},
    {"name": "ward", "kind": "categorical", "categories": ["A", "B"], **NONE},
]}  # fmt: skip
GAP = {"name": "gap", "kind": "integer", "lower": 0, "upper": 99, "bins": 2, "other": False, "missing": True}
MOST = 4


def link(rules: tuple[Any, ...] = (), one_file: bool = True) -> SequenceLink:
    stated = {"order": ["admitted"], **({"constant": ["sex"]} if one_file else {})}
    return linked(Domain.from_json(PERSONS), Domain.from_json(STAYS), MOST, rules, stated)


def spec(folder: Path, patients: int = 600, rules: tuple[Any, ...] = (), **more: Any) -> Spec:
    """A spec about stays.csv, whose diagnoses mostly stay the same from one stay to the next."""
    rng, rows = np.random.default_rng(3), list[tuple[object, ...]]()
    for patient in range(patients):
        sex, diagnosis, day = "fm"[rng.integers(2)], int(rng.integers(3)), np.datetime64("2024-01-01")
        for _ in range(rng.integers(1, MOST + 2)):
            rows.append((f"P{patient}", str(day), sex, ("heart", "hip", "lung")[diagnosis], "AB"[diagnosis % 2]))
            day, diagnosis = day + rng.integers(1, 99), diagnosis if rng.random() < 0.8 else int(rng.integers(3))
    pd.DataFrame(rows, columns=["patient", "admitted", "sex", "diagnosis", "ward"]).to_csv(folder / "stays.csv", index=False)
    made, path = link(rules), str(folder / "stays.csv")
    whole = {
        "population": "trial", "data": {"path": path}, "domain": PERSONS, "members": {"path": path, "domain": STAYS, "rules": list(rules)},
        "unit": {"person_column": "patient", "max_rows_per_person": MOST},
        "workload": Workload(made.domain, dict.fromkeys(kinds(made), 1.0)).to_json(),
        "budget": {"epsilon": 8.0, "delta": 1e-9, "certificate": 0.2}, "mechanism": {"name": "sequences"},
        "extensions": {"order": ["admitted"], "constant": ["sex"]},
    }  # fmt: skip
    return Spec.from_json(whole | more)
