"""Releases as the wizard makes them: its own draft with its defaults, run to the end. Each is made once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dpsynth_core.release.release import Release
from dpsynth_core.sources import demo
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import document
from tests import hospital
from tests.bundle import bundles

FEW_COLUMNS = ("age", "sex", "employment", "income", "health")
"""Of the simulated people: enough for tables over groups of values, in a third of the time."""
LEARNT: dict[str, dict[str, Any]] = {
    "employment": {"kind": "categorical", "discover": True, "most": 8},
    "income": {"kind": "integer", "discover": True, "most": 8},
}


def _draft(domain: dict[str, Any]) -> document.Draft:
    draft = document.new()
    project_table.adopt(draft, project_table.simulated())
    draft |= {"domain": domain, "domain_origin": "codebook", "workload": {"kind": "all", "k": 2}}
    draft["wizard"]["passed"] = ["data", "domain", "workload", "budget"]
    return draft


def _made(draft: document.Draft) -> Release:
    return bundles.run(document.spec(draft, "First release"))


@cache
def by_default() -> Release:
    """What comes of the simulated people for whoever changes nothing."""
    return _made(_draft(demo.demo_domain().to_json()))


def _of_few_columns(**changes: Any) -> Release:
    return _made(_draft(demo.demo_domain().keep(FEW_COLUMNS).to_json()) | changes)


@cache
def without_rows() -> Release:
    return _of_few_columns(mechanism={"name": "gaussian", "settings": {}})


@cache
def three_tables() -> Release:
    """Of fewer rows than people, and with tables over groups of values."""
    return _of_few_columns(output={"rows": 2000, "seed": None, "tables": 3})


@cache
def learnt() -> Release:
    """Of columns whose values nobody listed."""
    domain = demo.demo_domain().keep(FEW_COLUMNS).to_json()
    domain["attributes"] = [{"name": one["name"], **LEARNT[one["name"]]} if one["name"] in LEARNT else one for one in domain["attributes"]]
    return _made(_draft(domain) | {"budget": document.DEFAULT_BUDGET | {"discovery": 0.1}})


@cache
def of_a_hospital() -> Release:
    """Of a table with every kind of column, several rows a patient, and little budget for so many tables."""
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, DPSYNTH_HOME=f"{folder}/home"):
        Path(folder, "stays").mkdir()
        path = hospital.write_csv(Path(folder) / "stays" / "stays.csv")
        table = project_table.from_path(str(path), only_this_machine=True)
        draft = document.new()
        project_table.adopt(draft, table)
        ((_, suggested), _) = document.doubts(draft)[0].answers
        project_table.adopt(draft, project_table.reread(draft, **suggested))
        domain = hospital.domain()
        draft |= {"population": "Patients", "domain": Domain.from_json(domain).to_json(), "domain_origin": "codebook"}
        draft |= {"workload": {"kind": "all", "k": 1}, "unit": draft["unit"] | {"person_column": "patient", "max_rows_per_person": 5}}
        draft["wizard"] |= {"passed": ["data", "domain", "workload", "budget"], "several": True}
        return _made(draft)


RELEASES: dict[str, Callable[[], Release]] = {
    "by default": by_default,
    "without rows": without_rows,
    "three tables": three_tables,
    "learnt": learnt,
    "hospital": of_a_hospital,
}
