"""Budget offers to leave people out where a column names them, and says why a plan cannot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.extensions.holdout.view import ASKED
from tests.app.demo_project import draft, open_page, project, stored, words


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))


def with_persons(**fields: Any) -> str:
    return project(**draft(unit={"relation": "add-remove", "max_rows_per_person": 1, "person_column": "income"}, **fields))


def test_it_is_offered_only_where_a_column_names_people() -> None:
    assert ASKED not in [one.label for one in open_page("budget", project()).checkbox]
    assert ASKED in [one.label for one in open_page("budget", with_persons()).checkbox]


def test_a_click_stores_the_share_and_another_takes_it_away() -> None:
    place = with_persons()
    app = open_page("budget", place)
    app = next(one for one in app.checkbox if one.label == ASKED).check().run()
    assert stored(place)["extensions"] == {"holdout": 5}
    assert "To mend it" not in words(app)
    next(one for one in app.checkbox if one.label == ASKED).uncheck().run()
    assert "extensions" not in stored(place)


def test_a_plan_that_cannot_leave_people_out_says_why() -> None:
    assert "names no column with it" in words(open_page("budget", project(**draft(extensions={"holdout": 5}))))
