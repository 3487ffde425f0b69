"""A table of invented stays of patients in hospital, in no order, and what its columns may hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

MOST = 4
_NONE = {"other": False, "missing": False}
PERSON: list[dict[str, Any]] = [
    {"name": "sex", "kind": "categorical", "categories": ["f", "m"], **_NONE},
    {"name": "born", "kind": "integer", "lower": 1930, "upper": 1999, "bins": 4, **_NONE},
]
STAY: list[dict[str, Any]] = [
    {"name": "diagnosis", "kind": "categorical", "categories": ["heart", "hip", "lung"], **_NONE},
    {"name": "alive", "kind": "categorical", "categories": ["yes", "no"], **_NONE},
]
GAP = {"name": "days_before", "kind": "integer", "lower": 0, "upper": 99, "bins": 4, "other": False, "missing": True}
NEVER = {"never": {"sex": ["m"], "diagnosis": ["hip"]}, "note": "invented"}


def domain(*columns: dict[str, Any], rules: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"version": 1, "attributes": list(columns)} | ({"impossible": list(rules)} if rules else {})


WHOLE = domain(*PERSON, *STAY, GAP, rules=(NEVER,))


def stays(patients: int = 400, seed: int = 0) -> pd.DataFrame:
    """Up to five stays of a patient, of which the diagnosis mostly stays the same; who is dead comes no more. Rows in random order."""
    rng = np.random.default_rng(seed)
    rows = []
    for patient in range(patients):
        sex, born = "fm"[rng.integers(2)], int(rng.integers(1930, 2000))
        day, diagnosis = np.datetime64("2024-01-01") + rng.integers(0, 100), rng.integers(3)
        for _ in range(rng.integers(1, MOST + 2)):
            alive = "no" if rng.random() < 0.1 else "yes"
            rows.append((f"P{patient}", sex, born, str(day), ["heart", "hip", "lung"][diagnosis], alive))
            if alive == "no":
                break
            day += int(rng.integers(1, 99))
            diagnosis = diagnosis if rng.random() < 0.8 else rng.integers(3)
    table = pd.DataFrame(rows, columns=["patient", "sex", "born", "admitted", "diagnosis", "alive"])
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


def files(folder: Path, patients: int = 400) -> None:
    """stays.csv with one domain, whole.json; and the same in two files, with two patients who have no stay."""
    table = stays(patients)
    table.to_csv(folder / "stays.csv", index=False)
    table.drop(columns=["sex", "born"]).to_csv(folder / "rows.csv", index=False)
    persons = table.drop_duplicates("patient")[["patient", "sex", "born"]]
    nobody = pd.DataFrame({"patient": ["Q1", "Q2"], "sex": ["f", "m"], "born": [1950, 1960]})
    pd.concat([persons, nobody]).to_csv(folder / "persons.csv", index=False)
    for name, stated in {"whole": WHOLE, "persons": domain(*PERSON), "rows": domain(*STAY, GAP)}.items():
        (folder / f"{name}.json").write_text(json.dumps(stated))


ONE_FILE = ("--person-column", "patient", "--max-rows-per-person", str(MOST), "--order", "admitted", "--gap", "days_before")
CONSTANT = ("--constant", "sex", "--constant", "born")


def of_one(folder: Path, *extra: str, out: str = "out") -> list[str]:
    """The arguments of `synthesize` for one file."""
    given = ["synthesize", str(folder / "stays.csv"), "--domain", str(folder / "whole.json"), *ONE_FILE, *CONSTANT]
    return [*given, "--epsilon", "4", "--out", str(folder / out), *extra]


def of_two(folder: Path, *extra: str, out: str = "out") -> list[str]:
    """The arguments of `synthesize` for a file of persons and one of rows."""
    given = ["synthesize", str(folder / "persons.csv"), "--domain", str(folder / "persons.json"), "--members", str(folder / "rows.csv")]
    given += ["--members-domain", str(folder / "rows.json"), "--key", "patient", "--max-members", str(MOST), "--order", "admitted"]
    return [*given, "--epsilon", "4", "--out", str(folder / out), *extra]
