"""Plans that are drawn at random, through the wizard: what Mechanism lets somebody lock runs to its end, and all pages of it open."""

from __future__ import annotations

import contextlib
import io
import itertools
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest

import dpsynth_core as dps
from benchmarks import started
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import document
from tests.app.demo_project import PASSED, finished_run, open_page

PLANS = 4
"""`python -m benchmarks started` draws thousands, and runs them without the wizard."""
VIEWS = ("", "columns", "pairs", "rows", "downloads", "about")
"""Of the page Results, as its address names them."""


def _accepted(number: int) -> tuple[dps.Plan, pd.DataFrame, pd.DataFrame | None]:
    """The first accepted plan of a seed, its table, and the table of members if there is one."""
    for place in itertools.count():
        table, domain, given = started.case(51_000 + number, place)
        with contextlib.suppress(InputError):
            return dps.plan(table, domain, **given), table, given["members"][0] if "members" in given else None
    raise AssertionError


def _project(number: int, table: pd.DataFrame, spec: Mapping[str, Any], members: pd.DataFrame | None) -> str:
    """A project with the draft of a plan over uploaded tables; its id."""
    decided = {"version", "name", "looks"} | ({"mechanism", "workload"} if members is not None else set())
    draft = document.new() | {name: value for name, value in spec.items() if name not in decided and value is not None}
    draft["population"] = f"people of {number}"
    several = draft["unit"].get("person_column") is not None and members is None
    about = {"passed": list(PASSED), "source": "upload", "label": "table.csv", "columns": list(table.columns), "several": several}
    draft["wizard"] |= about | {"people": max(1, len(table)), "comparison": "declined"}
    place = projects.create(LOCAL_OWNER, f"plan {number}", draft).id
    draft["data"] = {**draft["data"], "kind": "csv", "path": _uploaded(place, "table.csv", table)}
    if members is not None:
        draft["members"] = {**draft["members"], "kind": "csv", "path": _uploaded(place, "members.csv", members)}
        draft["wizard"]["members"] = {"source": "upload", "label": "members.csv", "columns": list(members.columns), "place": "members:"}
    projects.save(LOCAL_OWNER, place, draft)
    return place


def _uploaded(place: str, name: str, table: pd.DataFrame) -> str:
    return str(projects.upload(LOCAL_OWNER, place, name, io.BytesIO(table.to_csv(index=False).encode())))


@pytest.mark.parametrize("number", range(PLANS))
def test_a_drawn_plan_that_can_be_locked_runs_and_all_its_pages_open(number: int) -> None:
    """A page that fails, fails the test; a plan may be refused on Mechanism, or before its charge, in words of the program's own."""
    plan, table, members = _accepted(number)
    place = _project(number, table, plan.spec, members)
    page = open_page("mechanism", place)
    lock = next((one for one in page.button if "Lock the plan" in one.label), None)
    if lock is None or lock.disabled:
        assert page.error or page.caption
        return
    try:
        run = finished_run(place)
    except InputError:  # before its charge
        return
    assert run.state == "done", run
    for view in VIEWS:
        open_page("results", place, **({"view": view} if view else {}))
    for name in ("domain", "workload", "budget", "mechanism", "ledger"):
        open_page(name, place)
