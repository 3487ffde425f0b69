"""Rows of a person in order in Python: from a frame in memory, from a file, and from two tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpsynth_core as dps
from tests.extensions.sequences.stays import GAP, MOST, PERSON, STAY, WHOLE, domain, files, stays
from tests.refusals import refused

OPTIONS: dict[str, Any] = {
    "epsilon": 4, "person": "patient", "rows_per_person": MOST, "order": "admitted", "constant": ["sex", "born"], "gap": "days_before",
}  # fmt: skip


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    return tmp_path


def test_a_frame_becomes_persons_and_rows_and_a_table_like_it(home: Path) -> None:
    table = stays(200).assign(admitted=lambda one: pd.to_datetime(one["admitted"]))
    plan = dps.plan(table, WHOLE, **OPTIONS)
    assert plan.spec["extensions"] == {"order": ["admitted"], "constant": ["sex", "born"], "gap": ["days_before"]}
    assert plan.forecast.fits
    assert plan.forecast.seconds > 0
    release = plan.run(progress=False)
    assert release.rows["patient"].tolist() == list(range(1, len(release.rows) + 1))
    assert release.members["patient"].is_monotonic_increasing
    whole = dps.rows_in_order(release)
    assert list(whole.columns) == ["patient", "sex", "born", "diagnosis", "alive", "days_before"]
    assert len(whole) == len(release.members)
    assert whole.groupby("patient")[["sex", "born"]].nunique().max().max() == 1
    release.save(home / "release.zip")
    pd.testing.assert_frame_equal(dps.rows_in_order(dps.open(home / "release.zip")), whole, check_dtype=False)


def test_frame_and_file_and_command_line_make_the_same_plan(home: Path) -> None:
    files(home, 50)
    first = dps.plan(home / "stays.csv", WHOLE, **OPTIONS)
    second = dps.plan(stays(50), WHOLE, **OPTIONS | {"constant": ("sex", "born"), "order": ["admitted"]})
    drop = {"name", "data", "members"}
    assert {k: v for k, v in first.spec.items() if k not in drop} == {k: v for k, v in second.spec.items() if k not in drop}
    assert first.spec["members"]["domain"] == second.spec["members"]["domain"]


def test_two_tables_and_file_order(home: Path) -> None:
    files(home, 100)
    two = {"members": (home / "rows.csv", domain(*STAY)), "order": "file order"}
    given = {name: OPTIONS[name] for name in ("epsilon", "person", "rows_per_person")} | two
    release = dps.plan(home / "persons.csv", domain(*PERSON), **given).run(progress=False)
    assert list(release.members.columns) == ["patient", "diagnosis", "alive"]
    assert list(dps.rows_in_order(release).columns) == ["patient", "sex", "born", "diagnosis", "alive"]


@pytest.mark.parametrize(
    ("changed", "saying"),
    [
        ({"person": None}, "name the column of the person"),
        ({"rows_per_person": None}, "how many rows of a person count"),
        ({"order": 5}, "extensions.order"),
        ({"order": ["admitted", "born"]}, "at most 1"),
        ({"order": None}, "order is not stated"),
        ({"tables": 2}, "rows of a person in order have tables of their own"),
        ({"tables": 3}, "rows of a person in order have tables of their own"),
        ({"means": 0.1}, "rows of a person in order do not go with it yet"),
        ({"models": "sex"}, "models: rows of a person in order do not go with it yet"),
        ({"row_tables": 2}, "output.tables: rows of a person in order do not go with it yet"),
        ({"mechanism": "mst"}, "rows of a person in order have a mechanism of their own"),
        ({"constant": []}, "a list of different texts"),
    ],
)
def test_what_does_not_go_is_refused(changed: dict[str, Any], saying: str) -> None:
    options = {name: value for name, value in {**OPTIONS, **changed}.items() if value is not None}
    refused(dps.plan, stays(10), WHOLE, saying=saying, **options)


def test_simulated_people_have_no_rows_in_order() -> None:
    refused(dps.plan, "demo", WHOLE, saying="read from files that this machine counts", **OPTIONS)


def test_a_release_without_rows_in_order_has_no_such_table() -> None:
    columns = domain(*PERSON, *STAY)
    release = dps.plan(stays(50), columns, epsilon=4, tables=1, person="patient", rows_per_person=MOST).run(progress=False)
    refused(dps.rows_in_order, release, saying="order")
    assert GAP["name"] not in release.rows


def test_an_order_that_is_released_never_falls() -> None:
    """Waves of a panel, which are a column of rows too; in the table they are in any order. Its bins hold one value each."""
    table = stays(300).assign(wave=lambda one: one.groupby("patient")["admitted"].rank(method="first").astype(int) * 2)
    wave = {"name": "wave", "kind": "integer", "lower": 1, "upper": 10, "other": False, "missing": False}
    options = OPTIONS | {"order": "wave", "gap": "days_before", "epsilon": 1}
    release = dps.plan(table, domain(*PERSON, *STAY, GAP, wave), **options).run(progress=False)
    assert (release.members.groupby("patient")["wave"].diff().dropna() >= 0).all()
    assert release.members["wave"].nunique() > 1
