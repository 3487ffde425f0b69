"""Attacks on Results: nothing is read until the curator asks, asking counts as a look, and what is found stays on the screen."""

from __future__ import annotations

import io
import logging
import os
import re
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core import report
from dpsynth_core.extensions.attacks import rehearsing
from dpsynth_core.extensions.attacks.measures import Codes, People
from dpsynth_core.extensions.attacks.outcomes import ABOVE, ALLOWED, NOTHING
from dpsynth_core.extensions.attacks.view import FIRST, HELP, REHEARSE, SWITCH, TITLE
from dpsynth_core.planning.plan import Plan
from dpsynth_core.store import projects, recorded_views, runs
from dpsynth_core.store.folders import project_folder
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import curator
from tests.app.demo_project import draft, finished_run, open_page, project, words

NAMES = {"age": 9, "sex": 2, "region": 7, "income": 12, "health": 5}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))


def table(seed: int, people: int = 300) -> bytes:
    """Invented people as a CSV file."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.integers(0, size, people) for name, size in NAMES.items()}).to_csv(index=False).encode()


def uploaded() -> str:
    """A project over an uploaded table, with a finished run."""
    place = unrun()
    assert finished_run(place).state == "done"
    return place


def unrun(people: int = 300) -> str:
    """A project over an uploaded table, ready to run."""
    domain = {
        "version": 1,
        "attributes": [{"name": name, "kind": "integer", "lower": 0, "upper": size - 1} for name, size in NAMES.items()],
    }
    fields = draft(domain=domain)
    fields["wizard"] |= {"columns": list(NAMES), "source": "upload", "label": "people.csv", "people": people}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "people.csv", io.BytesIO(table(1, people)))
    projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), "kind": "csv"}})
    return place


def switched_on(place: str) -> AppTest:
    return open_page("results", place).toggle(key="attacks_curator").set_value(True).run()


def attacked(place: str, left_out: bytes) -> AppTest:
    app = switched_on(place)
    next(one for one in app.button if one.key and one.key.startswith("attacks_look")).click().run()
    next(one for one in app.file_uploader if str(one.key).startswith("attacks_file")).set_value(("others.csv", left_out, "text/csv"))
    return next(one for one in app.button if one.label == "Attack").click().run()


def lines(app: AppTest) -> list[str]:
    return [line for line in words(app).splitlines() if any(line.endswith(f"**{outcome}** |") for outcome in (NOTHING, ALLOWED, ABOVE))]


def test_people_in_a_file_are_compared_after_the_look_is_confirmed_and_recorded() -> None:
    place = uploaded()
    app = switched_on(place)
    assert curator.FIRST_LOOK in words(app)
    assert not app.file_uploader
    assert recorded_views.of(LOCAL_OWNER, place) == ()
    app = attacked(place, table(2))
    assert recorded_views.of(LOCAL_OWNER, place) == ("truth",)
    assert len(lines(app)) == 6
    assert "300 people of the table and 300 left out" in words(app)
    assert not [line for line in lines(app) if ABOVE in line]


def test_a_file_of_the_table_itself_is_refused() -> None:
    app = attacked(uploaded(), table(1))
    assert "records of the table itself are among them" in words(app)
    assert lines(app) == []


def test_what_a_killed_process_left_is_deleted_and_not_what_another_window_reads() -> None:
    place = uploaded()
    old, young = (project_folder(place) / f"left-out-{name}" for name in ("old", "young"))
    for folder, seconds in ((old, 3_700), (young, 3_500)):
        folder.mkdir()
        (folder / "people").write_bytes(table(3))
        os.utime(folder, (time.time() - seconds,) * 2)
    assert len(lines(attacked(place, table(2)))) == 6
    assert (old.exists(), (young / "people").exists()) == (False, True)


def test_a_file_without_the_columns_is_refused() -> None:
    app = attacked(uploaded(), b"age,sex\n1,1\n")
    assert lines(app) == []
    assert app.error


def test_the_demo_is_rehearsed_on_half_of_its_people() -> None:
    place = project()
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    assert TITLE in [one.label for one in app.expander]
    (switch,) = [one for one in app.toggle if one.label == SWITCH]
    assert switch.help == HELP
    app = switch.set_value(True).run()
    assert lines(app) == []
    app = app.button(key="attacks_rehearse").click().run()
    assert len(lines(app)) >= 4
    assert "20,000 people of the table and 20,000 left out" in words(app)
    app = app.run()
    assert lines(app) == [], "what was found is gone with the next click"


def test_nothing_that_was_found_leaves_the_screen(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither files, logs nor the session hold a line of the table, the page offers no download of it, and the file of others is gone."""
    place = uploaded()
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    caplog.set_level(logging.DEBUG)
    others = table(2)
    app = attacked(place, others)
    found = lines(app)
    assert len(found) == 6
    (run,) = runs.list(LOCAL_OWNER, place)
    app.segmented_control(key="results_view").set_value("downloads").run()
    numbers = [re.findall(r"[+-]\d+\.\d\sto\s[+-]\d+\.\d", line)[0] for line in found]
    files = {path for path in tmp_path.rglob("*") if path.is_file()}
    assert not [path for path in files if "left-out" in str(path)]
    assert {path.suffix for path in files - before} <= {".db-wal", ".db-shm", ".db", ""}
    for path in files:
        content = path.read_bytes()
        assert others[:400] not in content
        assert not [number for number in numbers if number.encode() in content], path
    release = runs.release(LOCAL_OWNER, run.id)
    assert not [number for number in numbers if number in repr(release) or number in caplog.text]
    assert not [number for number in numbers if number in repr(app.session_state)]


def before_the_run(place: str) -> AppTest:
    """The Mechanism page of a project that has not run, with the attacks open."""
    app = open_page("mechanism", place)
    app.session_state["attacks_first"] = True
    return app.run()


def test_a_plan_is_rehearsed_before_its_first_run(tmp_path: Path) -> None:
    place = project()
    app = open_page("mechanism", place)
    assert FIRST in [one.label for one in app.expander]
    assert REHEARSE not in [one.label for one in app.toggle], "it is drawn once it is open"
    app = before_the_run(place).toggle(key="attacks_first_curator").set_value(True).run()
    assert lines(app) == []
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and not path.name.endswith(("-wal", "-shm"))}
    app = app.button(key="attacks_first_rehearse").click().run()
    assert len(lines(app)) >= 4
    assert "20,000 people of the table and 20,000 left out" in words(app)
    assert not [line for line in lines(app) if ABOVE in line]
    assert not runs.list(LOCAL_OWNER, place)
    assert {path: path.read_bytes() for path in before} == before
    assert lines(app.run()) == []


def test_a_rehearsal_of_an_own_table_is_a_look_that_its_release_states() -> None:
    place = unrun()
    app = before_the_run(place).toggle(key="attacks_first_curator").set_value(True).run()
    assert curator.FIRST_LOOK in words(app)
    assert not [one for one in app.button if one.key == "attacks_first_rehearse"]
    assert recorded_views.of(LOCAL_OWNER, place) == ()
    app = app.button(key="attacks_first_look").click().run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("truth",)
    app = app.button(key="attacks_first_rehearse").click().run()
    assert "150 people of the table and 150 left out" in words(app)
    assert len(lines(app)) == 6
    finished_run(place)
    (run,) = runs.list(LOCAL_OWNER, place)
    assert "true values of the table were shown" in " ".join(report.warnings(runs.release(LOCAL_OWNER, run.id)))


def test_rows_that_are_a_copy_are_found_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that writes the records instead of rows: the curator is told before anything is spent."""

    def copied(of: Plan, records: Codes) -> People:
        inside, outside = np.array_split(np.asarray(records, dtype=np.int32), 2)
        return People(tuple(attribute.size for attribute in of.domain), inside, outside, inside.copy())

    monkeypatch.setattr(rehearsing, "rehearsed", copied)
    app = before_the_run(unrun(6_000)).toggle(key="attacks_first_curator").set_value(True).run()
    app = app.button(key="attacks_first_look").click().run()
    app = app.button(key="attacks_first_rehearse").click().run()
    assert [line for line in lines(app) if ABOVE in line]
    assert app.error
