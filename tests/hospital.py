"""An invented table as a hospital's information system exports it: 30 columns, several stays a patient, in the formats that people have.

CSV as it comes out of a German Excel: semicolons, decimal commas, days as dd.mm.yyyy, Latin-1. Workbook and statistical files hold the same
stays with types of their own; the latter hold codes with labels where a questionnaire has answers.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat

STAYS = 1200
IDENTIFYING = ("case", "patient", "name", "note")
"""Patient says who owns a row; the others are left out."""
LABELS: dict[str, dict[str, str]] = {
    "sex": {"m": "male", "w": "female", "d": "diverse"},
    "insurance": {"GKV": "statutory", "PKV": "private", "SZ": "pays himself"},
    "admission_kind": {"E": "referral", "N": "emergency", "V": "transfer", "G": "birth"},
    "discharge_kind": {"01": "regular", "02": "against advice", "06": "transfer", "07": "death", "09": "rehabilitation"},
    "severity": {"1": "mild", "2": "moderate", "3": "severe", "4": "critical"},
    "smoker": {"j": "yes", "n": "no"},
}
WARDS = ("cardiology", "surgery", "gynaecology", "paediatrics", "neurology", "urology", "intensive care", "Ambulanz für Schmerz")
STATES = ("BW", "BY", "BE", "BB", "HB", "HH", "HE", "MV", "NI", "NW", "RP", "SL", "SN", "ST", "SH", "TH")
DIAGNOSES = ("I21.4", "I50.1", "J18.9", "K35.8", "K80.2", "N39.0", "S72.0", "O80", "C50.4", "E11.9", "F32.1", "G40.2")
PROCEDURES = ("5-470.1", "5-511.1", "8-837.0", "8-930", "1-632.0", "3-200", "9-260")
DAYS = ("birth_date", "discharge_date")
MOMENTS = ("admission",)
TIMES = ("first_contact",)
NUMBERS = ("weight", "temperature", "creatinine", "ventilation_hours", "cost")
"""With a decimal comma."""


def table(seed: int = 7) -> pd.DataFrame:
    """The stays, with Python's own dates and times; about one in twelve cells of some columns is empty."""
    rng = np.random.default_rng(seed)
    patients = np.sort(rng.integers(0, STAYS * 2 // 3, STAYS))
    born = [date(1930, 1, 1) + timedelta(days=int(days)) for days in rng.integers(0, 33_000, STAYS)]
    came = [datetime(2023, 1, 1) + timedelta(minutes=int(minutes)) for minutes in rng.integers(0, 350 * 24 * 60, STAYS)]
    stayed = rng.gamma(1.5, 3.0, STAYS).astype(int)
    columns: dict[str, Any] = {
        "case": [f"F{100_000 + i}" for i in range(STAYS)],
        "patient": [f"P{patient:06d}" for patient in patients],
        "name": [f"Müller, Anna {patient}" for patient in patients],
        "note": [f"Patient {patient} complains; seen on day {i % 9}." for i, patient in enumerate(patients)],
        "sex": rng.choice(list(LABELS["sex"]), STAYS, p=[0.48, 0.51, 0.01]),
        "birth_date": born,
        "age": [came[i].year - born[i].year for i in range(STAYS)],
        "postcode": [f"{code:05d}" for code in rng.integers(1000, 99_999, STAYS)],
        "state": rng.choice(STATES, STAYS),
        "insurance": rng.choice(list(LABELS["insurance"]), STAYS, p=[0.87, 0.11, 0.02]),
        "admission": came,
        "first_contact": [time(moment.hour, moment.minute) for moment in came],
        "discharge_date": [came[i].date() + timedelta(days=int(stayed[i])) for i in range(STAYS)],
        "days": stayed,
        "ward": rng.choice(WARDS, STAYS),
        "admission_kind": rng.choice(list(LABELS["admission_kind"]), STAYS),
        "discharge_kind": rng.choice(list(LABELS["discharge_kind"]), STAYS, p=[0.8, 0.05, 0.06, 0.04, 0.05]),
        "diagnosis": rng.choice(DIAGNOSES, STAYS),
        "second_diagnosis": rng.choice(DIAGNOSES, STAYS),
        "procedure": rng.choice(PROCEDURES, STAYS),
        "weight": np.round(rng.normal(78, 16, STAYS).clip(3, 200), 1),
        "height": rng.normal(171, 11, STAYS).clip(45, 210).astype(int),
        "temperature": np.round(rng.normal(37, 0.7, STAYS).clip(34, 42), 1),
        "pressure": rng.normal(128, 18, STAYS).clip(60, 250).astype(int),
        "creatinine": np.round(rng.gamma(4, 0.25, STAYS).clip(0.1, 9.9), 2),
        "smoker": rng.choice(list(LABELS["smoker"]), STAYS),
        "emergency": rng.random(STAYS) < 0.4,
        "ventilation_hours": np.round(np.where(rng.random(STAYS) < 0.1, rng.gamma(2, 20, STAYS), 0), 1).clip(0, 500),
        "severity": rng.choice(list(LABELS["severity"]), STAYS),
        "cost": np.round(rng.gamma(2, 2400, STAYS).clip(100, 49_999), 2),
    }
    frame = pd.DataFrame({name: pd.Series(list(values), dtype=object) for name, values in columns.items()})
    for name in ("second_diagnosis", "weight", "creatinine", "discharge_kind"):
        frame.loc[rng.random(STAYS) < 0.08, name] = None
    return frame


USABLE = tuple(name for name in table().columns if name not in IDENTIFYING)


def write_csv(path: Path) -> Path:
    lines = [";".join(table().columns), *(";".join(map(_german, row)) for row in table().itertuples(index=False))]
    path.write_bytes("\r\n".join([*lines, ""]).encode("latin-1"))
    return path


def _german(value: object) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, datetime):
        return f"{value:%d.%m.%Y %H:%M}"
    if isinstance(value, date):
        return f"{value:%d.%m.%Y}"
    if isinstance(value, time):
        return f"{value:%H:%M}"
    if isinstance(value, bool | np.bool_):
        return "ja" if value else "nein"
    text = str(value).replace(".", ",") if isinstance(value, float) else str(value)
    return f'"{text}"' if ";" in text else text


def write_xlsx(path: Path) -> Path:
    with pd.ExcelWriter(path, engine="xlsxwriter") as book:
        table().to_excel(book, index=False)
    return path


def write_statistical(path: Path) -> Path:
    """SPSS or Stata, by the ending of the name."""
    frame, labels = table(), {}
    for name, answers in LABELS.items():
        frame[name] = frame[name].map({code: float(number) for number, code in enumerate(answers, 1)}).astype(float)
        labels[name] = {float(number): label for number, label in enumerate(answers.values(), 1)}
    for name in (*NUMBERS, "age", "days", "height", "pressure", "emergency"):
        frame[name] = frame[name].astype(float)
    about = {"column_labels": {name: name.replace("_", " ") for name in frame}, "variable_value_labels": labels}
    if path.suffix == ".sav":
        pyreadstat.write_sav(frame, str(path), **about)
    else:
        frame["first_contact"] = [f"{moment:%H:%M}" for moment in frame["first_contact"]]  # Stata has no times of day
        pyreadstat.write_dta(frame, str(path), **about)
    return path


def domain(coded: bool = False) -> dict[str, Any]:
    """What can occur, as a codebook says it, of all columns that do not identify. coded: answers are numbers, as in statistical files."""
    answers = {name: [str(number) for number in range(1, len(of) + 1)] if coded else list(of) for name, of in LABELS.items()}
    columns: dict[str, dict[str, Any]] = {name: _listed(values) for name, values in answers.items()}
    columns |= {name: _listed(values) for name, values in (("state", STATES), ("ward", WARDS), ("procedure", PROCEDURES))}
    columns["severity"]["kind"] = "ordinal"
    columns["emergency"] = _listed(["0", "1"] if coded else ["nein", "ja"])
    blocks = sorted({code[:3] for code in DIAGNOSES})
    columns |= {name: {"kind": "hierarchical", "level": 3, "categories": blocks} for name in ("diagnosis", "second_diagnosis")}
    columns["postcode"] = {"kind": "hierarchical", "level": 2, "digits": 5, "categories": [f"{area:02d}" for area in range(1, 100)]}
    columns["birth_date"] = {"kind": "date", "lower": "1930-01-01", "upper": "2023-12-31", "width": "10 years"}
    columns["discharge_date"] = {"kind": "date", "lower": "2023-01-01", "upper": "2024-12-31", "width": "month"}
    columns["admission"] = {"kind": "timestamp", "lower": "2023-01-01 00:00", "upper": "2023-12-31 23:59", "width": "month"}
    columns["first_contact"] = {"kind": "time", "lower": "00:00", "upper": "23:59", "width": "6 hours"}
    whole = {"age": (0, 99, 10), "days": (0, 60, 10), "height": (40, 220, 20), "pressure": (50, 260, 20)}
    columns |= {name: {"kind": "integer", "lower": low, "upper": high, "width": width} for name, (low, high, width) in whole.items()}
    tenths = {"weight": (0, 250, 25), "temperature": (33, 43, 1), "ventilation_hours": (0, 500, 50)}
    cents = {"creatinine": (0, 10, 1), "cost": (0, 50_000, 5_000)}
    for digits, numbers in ((1, tenths), (2, cents)):
        for name, (low, high, width) in numbers.items():
            columns[name] = {"kind": "numeric", "lower": low, "upper": high, "width": width, "decimals": digits}
    return {"version": 1, "attributes": [{"name": name, **columns[name]} for name in USABLE], "origin": "codebook"}


def _listed(values: list[str] | tuple[str, ...]) -> dict[str, Any]:
    return {"kind": "categorical", "categories": list(values)}


EXPORTS = {"stays.csv": write_csv, "stays.xlsx": write_xlsx, "stays.sav": write_statistical, "stays.dta": write_statistical}
CODED = ("stays.sav", "stays.dta")


def domain_of(name: str) -> dict[str, Any]:
    """The domain of one of the exports."""
    obj = domain(coded=name in CODED)
    if name == "stays.xlsx":  # a workbook has words of its own for yes and no
        next(one for one in obj["attributes"] if one["name"] == "emergency")["categories"] = ["false", "true"]
    return obj
