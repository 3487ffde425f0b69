"""A small sensitive table with canaries, its domain, and a spec of it with every field. What a canary says may never be seen again."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

CANARIES = ("Quillfeather", "918273645546372", "1873-03-17")
"""A text, a number and a date that no domain lists."""
HEADER = ("name", "age", "sex", "pay", "day")
MECHANISM = "independent"


def domain() -> dict[str, Any]:
    return {
        "version": 1,
        "attributes": [
            {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 4, "other": False, "missing": False},
            {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": True, "missing": True},
            {"name": "pay", "kind": "numeric", "lower": 0.0, "upper": 10.0, "bins": 3, "other": False, "missing": False},
            {"name": "day", "kind": "date", "lower": "2020-01-01", "upper": "2020-12-31", "bins": 2, "missing": True},
        ],
    }


def rows(rng: random.Random, count: int = 40) -> list[list[str]]:
    """Texts in the order of HEADER; every fifth row holds canaries in all of its cells."""
    made = []
    for number in range(count):
        if number % 5 == 2:
            made.append([f"{CANARIES[0]} {number}", CANARIES[1], CANARIES[0], CANARIES[1] + ".25", CANARIES[2]])
        else:
            day = f"2020-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"
            made.append([f"p{number}", str(rng.randint(0, 99)), rng.choice("fm"), f"{rng.uniform(0, 10):.2f}", day])
    return made


def text(rng: random.Random, delimiter: str = ",", end: str = "\n", count: int = 40) -> str:
    return end.join(delimiter.join(row) for row in [list(HEADER), *rows(rng, count)]) + end


def spec() -> dict[str, Any]:
    """With every field that a spec can have for a file."""
    return {
        "version": 1,
        "name": "trial",
        "population": "people",
        "data": {
            "path": "people.csv",
            "kind": "csv",
            "delimiter": ",",
            "encoding": "utf-8",
            "quoting": "lines",
            "missing_markers": ["", "NA"],
        },
        "unit": {"relation": "add-remove", "person_column": "name", "max_rows_per_person": 2},
        "domain": domain(),
        "domain_origin": "typed",
        "domain_justification": "",
        "workload": {"kind": "marginals", "marginals": [{"attributes": ["age", "sex"], "weight": 1.0}, {"attributes": ["pay"]}]},
        "budget": {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.1},
        "mechanism": {"name": MECHANISM, "settings": {}},
        "output": {"rows": 20, "seed": 3},
    }


def write(rng: random.Random, place: Path) -> None:
    """people.csv, domain.json and spec.json, all of them good."""
    (place / "people.csv").write_text(text(rng), encoding="utf-8")
    (place / "domain.json").write_text(json.dumps(domain()), encoding="utf-8")
    (place / "spec.json").write_text(json.dumps(spec()), encoding="utf-8")


def synthesize(data: str = "people.csv", domain: str = "domain.json", **options: str | None) -> tuple[str, ...]:
    """The command, fast unless options say otherwise; None leaves an option out."""
    given = {"epsilon": "1", "workload": "all-1way", "mechanism": MECHANISM, "out": "out", "population": "people"} | options
    pairs = ((f"--{name.replace('_', '-')}", value) for name, value in given.items() if value is not None)
    return ("synthesize", data, "--domain", domain, *(part for pair in pairs for part in pair))
