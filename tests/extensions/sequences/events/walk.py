"""Three files of invented patients, their stays and the drugs of these, and the arguments of the command that reads them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

from tests.extensions.sequences.stays import MOST, PERSON, STAY, domain, stays

MOST_EVENTS = 3
DRUG = [
    {"name": "drug", "kind": "categorical", "categories": ["aspirin", "heparin", "iron", "none known"], "other": False, "missing": False},
    {"name": "dose", "kind": "integer", "lower": 0, "upper": 399, "bins": 4, "other": False, "missing": True},
]
_USUAL = {"heart": 0, "hip": 1, "lung": 2}
COLUMNS = [str(one["name"]) for one in DRUG]


def files(folder: Path, patients: int = 400) -> None:
    """persons.csv, rows.csv and drugs.csv with their domains: the drug mostly follows the diagnosis, and many stays have none."""
    rng, table = np.random.default_rng(1), stays(patients)
    table["visit"] = [f"V{number}" for number in range(len(table))]
    drugs = []
    for patient, visit, diagnosis in table[["patient", "visit", "diagnosis"]].itertuples(index=False):
        for _ in range(rng.choice([0, 0, 1, 2, 5])):
            drug = _USUAL[diagnosis] if rng.random() < 0.9 else 3
            drugs.append((patient, visit, DRUG[0]["categories"][drug], 100 * drug + int(rng.integers(0, 100))))  # type: ignore[index]
    pd.DataFrame(drugs, columns=["patient", "visit", *COLUMNS]).to_csv(folder / "drugs.csv", index=False)
    table.drop(columns=["sex", "born"]).to_csv(folder / "rows.csv", index=False)
    persons = table.drop_duplicates("patient")[["patient", "sex", "born"]]
    nobody = pd.DataFrame({"patient": ["Q1", "Q2"], "sex": ["f", "m"], "born": [1950, 1960]})
    pd.concat([persons, nobody]).to_csv(folder / "persons.csv", index=False)
    for name, stated in {"persons": domain(*PERSON), "rows": domain(*STAY, *DRUG)}.items():
        (folder / f"{name}.json").write_text(json.dumps(stated))


EVENTS = (
    "--events",
    "drugs.csv",
    "--event-key",
    "visit",
    "--event-column",
    "drug",
    "--event-column",
    "dose",
    "--most-events",
    str(MOST_EVENTS),
)


def command(folder: Path, *extra: str, out: str = "out", events: tuple[str, ...] = EVENTS) -> list[str]:
    """The arguments of `synthesize` for the three files."""
    given = ["synthesize", str(folder / "persons.csv"), "--domain", str(folder / "persons.json"), "--members", str(folder / "rows.csv")]
    given += ["--members-domain", str(folder / "rows.json"), "--key", "patient", "--max-members", str(MOST), "--order", "admitted"]
    return [*given, *events, "--epsilon", "8", "--out", str(folder / out), *extra]
