"""The page Results analyses a release and hands out sets of rows, for releases of which intervals are known to hold."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from unittest.mock import patch

import pytest
from streamlit.testing.v1 import AppTest

import dpsynth_core as dps
from dpsynth_core.extensions.intervals import analysing, view
from dpsynth_core.extensions.intervals.noise import Informed
from dpsynth_core.extensions.intervals.rowfiles import PROGRAM
from dpsynth_core.release.release import Release
from tests.additions import listed
from tests.app.demo_project import finished_run, open_page, project, words
from tests.bundle.invented_people import COLUMNS, people
from tests.bundle.pack import pack
from tests.extensions.intervals.releases import sets_of

TITLE = "Standard errors of analyses"


@pytest.fixture(scope="module")
def done() -> dict[str, str]:
    """Projects with a finished run of rows, and of answers."""
    rows = {"rows": 2000, "seed": None}
    places = {"rows": project(output=rows), "answers": project(mechanism={"name": "gaussian", "settings": {}})}
    for place in places.values():
        assert finished_run(place).state == "done"
    return places


@pytest.fixture(autouse=True)
def few_sets() -> Iterator[None]:
    with patch.object(view, "USUAL", 3):
        yield


def at(place: str) -> AppTest:
    app = open_page("results", place)
    app.session_state["results_view"] = "downloads"
    return app.run()


def analysed(place: str, text: str) -> AppTest:
    app = at(place)
    app.text_input(key="analysis").set_value(text)
    return app.button(key="analyse").click().run()


def test_an_analysis_has_an_interval_where_its_tables_were_measured(done: dict[str, str]) -> None:
    """Independent measures single columns."""
    app = analysed(done["rows"], "mean(age)")
    assert not app.exception
    (row,) = app.dataframe[-1].value.to_dict("records")
    assert row["interval"] == "holds"
    assert row["from"] < row["estimate"] < row["to"]
    assert "intervals are of noise and of sampling" in words(app)


def test_what_no_table_holds_has_no_interval_and_the_relation_is_named(done: dict[str, str]) -> None:
    app = analysed(done["rows"], "difference(age, sex == 'male')")
    (row,) = app.dataframe[-1].value.to_dict("records")
    assert row["interval"] == "no interval"
    assert "No measured table holds age x sex" in words(app)


def test_a_wrong_analysis_is_refused_with_a_remedy(done: dict[str, str]) -> None:
    assert "is not a column of the rows" in words(analysed(done["rows"], "mean(height)"))


def test_sets_of_rows_are_drawn_on_request(done: dict[str, str]) -> None:
    app = at(done["rows"])
    assert not app.get("download_button")
    app = app.button(key="draw_sets").click().run()
    assert [one.label for one in app.get("download_button")] == ["Download 3 sets of rows"]


def test_the_zip_has_every_set_and_the_program_that_combines_them() -> None:
    with zipfile.ZipFile(io.BytesIO(view.zipped(sets_of("mst"), 2))) as archive:
        sets = [f"plausible-{number}.csv{end}" for number in (1, 2) for end in ("", *listed("BESIDE"))]
        assert archive.namelist() == [*sets, PROGRAM]
        assert archive.read(PROGRAM).count(b"m = 2") == 1
        assert archive.read("plausible-1.csv").startswith(b'"age","sex","sick","visits"')


def test_a_release_without_rows_has_no_such_part(done: dict[str, str]) -> None:
    assert not any(one.label == TITLE for one in at(done["answers"]).expander)
    assert any(one.label == TITLE for one in at(done["rows"]).expander)


def test_too_many_rows_for_a_page_are_left_to_the_command_line(done: dict[str, str]) -> None:
    with patch.object(view, "MOST_CELLS", 1000):
        app = at(done["rows"])
    assert "too many rows for this page" in words(app)
    assert not [one for one in app.button if one.key == "draw_sets"]
    assert [one for one in app.button if one.key == "analyse"]


@pytest.fixture(scope="module")
def release() -> Release:
    made: Release = dps.plan(people(1), COLUMNS, epsilon=8, tables=2).run(progress=False).made
    return made


def received(bundle: bytes) -> AppTest:
    """The page Verify with a bundle that somebody received."""
    app = open_page("verify", project())
    app.file_uploader[0].set_value(("release.zip", bundle, "application/zip"))
    return app.run()


def test_whoever_received_a_bundle_analyses_it_as_python_does(release: Release) -> None:
    app = received(pack(release))
    app.text_input(key="analysis").set_value("income ~ age + sex")
    app = app.button(key="analyse").click().run()
    shown = app.dataframe[-1].value.to_dict("records")
    expected = analysing.analyse(Informed.of(release), "income ~ age + sex", "population")
    assert [(row["result"], row["estimate"], row["from"], row["to"]) for row in shown] == [
        (one.name, one.value, one.low, one.high) for one in expected.results
    ]
    assert len(shown) == 3


@pytest.mark.parametrize("text", ["income ~ nothing", "__import__('os')", "mean("])
def test_a_text_that_is_no_analysis_of_the_bundle_is_refused(text: str, release: Release) -> None:
    app = received(pack(release))
    app.text_input(key="analysis").set_value(text)
    app = app.button(key="analyse").click().run()
    assert app.error
    assert not app.dataframe


def test_a_bundle_without_rows_has_no_intervals_and_says_why() -> None:
    app = received(pack(dps.plan(people(1), COLUMNS, epsilon=8, tables=2, mechanism="gaussian").run(progress=False).made))
    app.text_input(key="analysis").set_value("mean(age)")
    app = app.button(key="analyse").click().run()
    assert app.error
