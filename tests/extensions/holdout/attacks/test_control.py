"""People left out by a coin are whom attacks on Results compare with: those of this release, all of them, and nobody who took part."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import dpsynth_core as dps
from dpsynth_core.extensions.attacks.outcomes import ABOVE, ALLOWED, NOTHING
from dpsynth_core.extensions.holdout import coin, control
from dpsynth_core.planning.plan import Plan
from dpsynth_core.store import projects, recorded_views, runs
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import draft, finished_run, open_page, project, words

SIZES = {"age": 9, "sex": 2, "region": 7, "income": 12}
PEOPLE = 600


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))


def table() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    columns = {name: rng.integers(0, size, PEOPLE) for name, size in SIZES.items()}
    return pd.DataFrame({"person": rng.permutation(PEOPLE), **columns})


def test_the_curator_sees_those_left_out_and_nobody_else(tmp_path: Path) -> None:
    people = table()
    people.to_csv(tmp_path / "people.csv", index=False)
    columns = {name: (0, size - 1) for name, size in SIZES.items()}
    plan = dps.plan(tmp_path / "people.csv", columns, epsilon=1, mechanism="independent", person="person", holdout=30).sealed
    found = control.left_out(plan.spec, plan.domain, 10_000).value
    wanted = people[[not coin.of(plan)(str(one)) for one in people["person"]]]
    assert control.has_people_left_out(plan.spec)
    assert 100 < len(wanted) < 260
    assert Counter(map(tuple, found.tolist())) == Counter(map(tuple, wanted[list(SIZES)].to_numpy().tolist()))
    few = control.left_out(plan.spec, plan.domain, 50).value
    assert len(few) == 50


def uploaded() -> str:
    """A project over an uploaded table that leaves half of the people out, with a finished run."""
    attributes = [{"name": name, "kind": "integer", "lower": 0, "upper": size - 1} for name, size in SIZES.items()]
    unit = {"relation": "add-remove", "max_rows_per_person": 1, "person_column": "person"}
    fields = draft(domain={"version": 1, "attributes": attributes}, unit=unit, extensions={"holdout": 50})
    fields["wizard"] |= {"columns": list(SIZES), "source": "upload", "label": "people.csv", "people": PEOPLE}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "people.csv", io.BytesIO(table().to_csv(index=False).encode()))
    projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), "kind": "csv"}})
    assert finished_run(place).state == "done"
    return place


def found(app: AppTest) -> list[str]:
    return [line for line in words(app).splitlines() if any(line.endswith(f"**{outcome}** |") for outcome in (NOTHING, ALLOWED, ABOVE))]


def test_results_attacks_the_rows_beside_the_people_whom_this_release_left_out() -> None:
    place = uploaded()
    app = open_page("results", place).toggle(key="attacks_curator").set_value(True).run()
    next(one for one in app.button if one.key and one.key.startswith("attacks_look")).click().run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("truth",)
    assert app.segmented_control(key="attacks_way").value == control.CONTROL.title
    app = app.button(key="attacks_control").click().run()
    assert len(found(app)) == 6
    assert not [line for line in found(app) if ABOVE in line]
    (run,) = runs.list(LOCAL_OWNER, place)
    fallen = [coin.of(Plan.of(run.spec))(str(one)) for one in range(PEOPLE)]
    assert f"{sum(fallen)} people of the table and {PEOPLE - sum(fallen)} left out" in words(app)


def test_a_release_that_leaves_nobody_out_has_no_such_people() -> None:
    place = project()
    assert finished_run(place).state == "done"
    app = open_page("results", place).toggle(key="attacks_curator").set_value(True).run()
    assert control.CONTROL.title not in app.segmented_control(key="attacks_way").options
