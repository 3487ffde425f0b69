"""The page Changes: two finished runs, or two bundles that are uploaded, are checked and compared."""

from __future__ import annotations

from unittest.mock import patch

from dpsynth_core.extensions.repeated import changes_page
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import finished_run, open_page, project, words


def test_without_runs_two_bundles_are_asked_for() -> None:
    app = open_page("changes", project())
    assert not app.exception
    assert app.button(key="changes_go").disabled
    assert not [one for one in app.selectbox if str(one.key).startswith("changes")]


def test_the_two_newest_runs_are_checked_and_compared() -> None:
    place = project()
    for _ in range(2):
        finished_run(place)
    app = open_page("changes", place)
    app.button(key="changes_go").click().run()
    assert not app.exception
    assert "beyond the noise of both releases" in words(app) or "none is shown to have changed" in words(app)
    assert "Corrected by Holm" in words(app)
    assert not app.dataframe
    assert any("| Table | Cells | Changed |" in one.value for one in app.markdown)
    assert {one.label for one in app.get("download_button")} == {"Download as HTML", "Download as CSV"}
    app.toggle(key="changes_sampling").set_value(True).run()
    assert "Corrected by Holm" not in words(app)  # what was compared had other choices
    app.button(key="changes_go").click().run()
    assert "sampling error of simple random samples" in words(app)


def test_a_table_on_the_page_has_no_download_and_hostile_names_are_text() -> None:
    titles = ("Share", "Before")
    lines = [["=1+1 | **bold** `x`", "< 0.1"], ["name", ""]]
    drawn = changes_page._table(titles, lines).splitlines()
    assert drawn[:2] == ["| Share | Before |", "| --- | ---: |"]
    assert r"\|" in drawn[2]
    assert r"\*\*bold" in drawn[2]
    assert drawn[3] == "| name |  |"


def test_a_download_is_noted_for_each_run() -> None:
    place = project()
    sides = [changes_page.Side(run=finished_run(place)) for _ in range(2)]
    current = projects.load(LOCAL_OWNER, place)
    with patch.object(changes_page.runs, "note_download") as noted:
        assert changes_page._taken(current, sides, b"page") == b"page"
    assert [call.args for call in noted.call_args_list] == [(LOCAL_OWNER, side.id, "changes") for side in sides]
