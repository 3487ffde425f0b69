"""The Results page: worst first, released values unless asked otherwise, and downloads that hold nothing else."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from dpsynth_core import report
from dpsynth_core.release.rows import StoredRows
from dpsynth_core.store import recorded_views, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.web.results import open_runs, quality_view, results_view
from dpsynth_core.web.shell import curator
from tests.additions import listed
from tests.app.demo_project import COLUMNS, finished_run, hostile_project, open_page, project, words

WATERMARK = "CURATOR-ONLY"
VIEWS = ("tables", "columns", "pairs", "rows", "downloads", "about")
HOSTILE = ("<script>alert(1)</script>", "**bold** :smile: $x$", "=HYPERLINK(1)")


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One for the file: runs take seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(tmp_path_factory.mktemp("home")))
        yield


@pytest.fixture(scope="module")
def done() -> dict[str, str]:
    """Projects with a finished run each, by name: rows, answers only, hostile names, rows without a certificate, and rows without a
    single noisy table."""
    bare = {"epsilon": 1.0, "delta": 1e-9}
    replace = {"relation": "replace", "person_column": None, "max_rows_per_person": 1}
    places = {
        "rows": project(),
        "answers": project(mechanism={"name": "gaussian", "settings": {}}),
        "hostile": hostile_project(HOSTILE),
        "bare": project(budget=bare, mechanism={"name": "mst", "settings": {}}),
    }
    for name in listed("WITHOUT_TABLES"):
        places[name] = project(population="Other people", budget=bare, unit=replace, mechanism={"name": name, "settings": {}})
    for place in places.values():
        assert finished_run(place).state == "done"
    return places


def at(place: str, view: str) -> AppTest:
    app = open_page("results", place)
    app.session_state["results_view"] = view
    app.session_state[quality_view.EVERY_TABLE] = True
    return app.run()


def charts(app: AppTest) -> list[str]:
    return [json.dumps(json.loads(chart.proto.spec), ensure_ascii=False) for chart in app.get("vega_lite_chart")]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("kind", ["rows", "answers", "hostile", "bare", *listed("WITHOUT_TABLES")])
def test_every_view_of_every_kind_of_release_can_be_drawn(done: dict[str, str], kind: str, view: str) -> None:
    app = at(done[kind], view)
    assert not any(WATERMARK in chart for chart in charts(app))


@pytest.mark.parametrize("view", VIEWS)
def test_no_view_reads_all_rows_of_a_release(done: dict[str, str], view: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if 20 rows were as many as fit in memory: the Rows view reads no more than it shows, the others none at all."""
    read: list[int] = []

    def batches(rows: StoredRows, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        table = pq.read_table(rows.path, columns=columns)
        for start in range(0, table.num_rows, 20):
            read.append(start)
            yield table.slice(start, 20)

    def forbidden(*_: object) -> None:
        raise AssertionError("all rows are in memory")

    monkeypatch.setattr(StoredRows, "batches", batches)
    monkeypatch.setattr("dpsynth_core.release.release.as_table", forbidden)
    monkeypatch.setattr(results_view, "_ROWS_SHOWN", 30)
    at(done["rows"], view)
    assert read == ([0, 20] if view == "rows" else [])


def test_how_long_it_took_is_shown_as_curator_only_and_in_no_fact(done: dict[str, str]) -> None:
    text = words(at(done["rows"], "about"))
    facts, taken = text.split("How long did it take?")
    assert "Curator-only" in taken
    assert "total" in taken
    assert "total" not in facts[facts.index("Facts") :]


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_names_are_never_markup(done: dict[str, str], view: str) -> None:
    app = at(done["hostile"], view)
    for text in words(app).splitlines():
        assert not any(name in text for name in HOSTILE), text
    assert not any(":smile:" in option for box in app.get("multiselect") for option in box.options)


def test_the_list_of_tables_starts_with_the_worst(done: dict[str, str]) -> None:
    table = at(done["rows"], "tables").dataframe[0].value
    assert table["limit"].notna().all()
    assert table["limit"].is_monotonic_decreasing
    assert "true" not in table


@pytest.mark.parametrize("kind", ["rows", "answers", "hostile", "bare"])
def test_the_first_view_shows_every_column_from_released_values_alone(done: dict[str, str], kind: str) -> None:
    app = open_page("results", done[kind])
    (wall,) = [chart.proto for chart in app.get("vega_lite_chart") if "columns look odd" in chart.proto.spec]
    tables = [convert_arrow_bytes_to_pandas_df(one.data.data) for one in wall.datasets]
    assert {name for table in tables if "told" in table for name in table["column"]} == {*(HOSTILE if kind == "hostile" else COLUMNS)}
    assert "Released: differentially private." in wall.spec
    assert WATERMARK not in wall.spec


def test_a_column_of_numbers_is_shown_with_its_mean_and_quantiles(done: dict[str, str]) -> None:
    app = at(done["rows"], "columns")
    assert app.selectbox(key="results_column").value == "age"
    assert re.search(r"The mean is [\d.]+ .*5% below \d+.*95% below \d+", plain(words(app)))


def test_true_values_are_off_until_asked_for_and_then_watermarked(done: dict[str, str]) -> None:
    for view in ("tables", "columns", "pairs"):
        app = at(done["rows"], view)
        assert not app.toggle(key="results_curator").value
        app = app.toggle(key="results_curator").set_value(True).run()
        assert any(WATERMARK in chart for chart in charts(app)), view
        assert curator.WARNING in words(app)
    assert recorded_views.of(LOCAL_OWNER, done["rows"]) == ()  # these people are invented


def test_true_values_that_were_shown_are_recorded_and_stay_so(done: dict[str, str]) -> None:
    place = done["hostile"]
    at(place, "tables")
    assert recorded_views.of(LOCAL_OWNER, place) == ()
    app = at(place, "columns")
    app = app.toggle(key="results_curator").set_value(True).run()
    assert recorded_views.of(LOCAL_OWNER, place) == (), "the first look is confirmed"
    assert curator.FIRST_LOOK in words(app)
    assert not any(WATERMARK in chart for chart in charts(app))
    app = next(one for one in app.button if one.label == "Show them").click().run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("truth",)
    assert any(WATERMARK in chart for chart in charts(app))
    app.toggle(key="results_curator").set_value(False).run()
    open_page("results", place)
    assert recorded_views.of(LOCAL_OWNER, place) == ("truth",)


def test_the_limit_that_is_asked_for_decides_which_tables_are_trusted(done: dict[str, str]) -> None:
    app = at(done["rows"], "tables")
    limits = app.dataframe[0].value["limit"]
    middle = round(float(100 * limits.median()), 1)
    app = app.number_input(key="results_threshold").set_value(middle).run()
    good = int((limits <= middle / 100).sum())
    assert 0 < good < len(limits)
    assert f"{good} of the {len(limits)} tables" in words(app)
    app = app.get("button_group")[1].set_value("together").run()
    for kind in ("good", "poor"):
        app.session_state["results_kind"] = kind
        app = app.run()


def test_all_together_is_drawn_and_listed_by_the_stricter_limit(done: dict[str, str]) -> None:
    app = at(done["rows"], "tables")
    each = app.dataframe[0].value
    assert each["good"].tolist() == (each["limit"] <= 0.1).tolist()
    app.session_state["results_together"] = "together"
    together = app.run().dataframe[0].value
    assert (together["limit"] == together["together"]).all()
    assert (together["limit"].sort_values().to_numpy() > each["limit"].sort_values().to_numpy()).all()
    assert together["good"].tolist() == (together["together"] <= 0.1).tolist()


def test_errors_bounds_and_baselines_are_drawn_for_every_release(done: dict[str, str]) -> None:
    pictures = {}
    for name, place in done.items():
        app = at(place, "tables")
        pictures[name] = app.button_group(key="results_picture").options
        for picture in pictures[name]:
            app = app.button_group(key="results_picture").set_value(picture).run()
    every = ["Against bounds and baselines", "Errors", "Bound against error"]
    assert pictures["answers"] == pictures["bare"] == every
    assert pictures["rows"] == ["Errors", "Against bounds and baselines"]  # Independent measures no table of two columns


def test_bounds_beside_true_errors_are_curator_only_and_their_order_goes_with_them(done: dict[str, str]) -> None:
    app = at(done["bare"], "tables")
    app = app.toggle(key="results_curator").set_value(True).run()
    for picture in ("Bound against error", "Against bounds and baselines"):
        app = app.button_group(key="results_picture").set_value(picture).run()
        drawn = next(chart for chart in charts(app) if "AIM's bound" in chart)
        assert "True error" in drawn
        assert WATERMARK in drawn
    app = app.selectbox(key="results_order").set_value("true").run()
    app = app.toggle(key="results_curator").set_value(False).run()
    assert app.selectbox(key="results_order").value == "limit"
    assert WATERMARK not in "".join(charts(app))


def test_the_view_stands_in_the_address_and_an_unknown_one_is_ignored(done: dict[str, str]) -> None:
    app = open_page("results", done["rows"])
    assert "view" not in app.query_params
    app = app.button_group(key="results_view").set_value("about").run()
    assert app.query_params["view"] == "about"
    app = app.button_group(key="results_view").set_value("rows").run()
    app.query_params["view"] = "about"  # as the browser's way back sets it
    assert app.run().button_group(key="results_view").value == "about"
    del app.query_params["view"]
    assert app.run().button_group(key="results_view").value == "tables"
    assert "view" not in app.query_params
    app.switch_page("pages/guide.py").run()
    assert app.switch_page("pages/results.py").run().button_group(key="results_view").value == "tables"
    linked = open_page("results", done["rows"], view="rows")
    assert "rows shown" in words(linked)
    open_page("results", done["rows"], view="<script>")


def test_columns_of_which_nothing_was_learnt_are_named() -> None:
    nothing = replace(Attribute.categorical("postcode", ("x",), other=True, missing=True), categories=())
    found = Domain((nothing, Attribute.categorical("sex", ("f", "m"), other=True), Attribute.integer("age", 0, 99)))
    assert quality_view.nothing_learnt(found) == ["postcode"]


def test_a_kind_of_tables_filters_the_list_and_the_charts(done: dict[str, str]) -> None:
    app = at(done["rows"], "tables")
    whole = len(app.dataframe[0].value)
    limit = float(100 * app.dataframe[0].value["limit"].median())
    app.number_input(key="results_threshold").set_value(round(limit, 1))
    counts = {}
    for kind in ("good", "poor"):
        app.session_state["results_kind"] = kind
        app = app.run()
        counts[kind] = len(app.dataframe[0].value)
    assert counts["good"] + counts["poor"] == whole
    assert min(counts.values()) > 0


@pytest.mark.parametrize("kind", ["rows", "answers", "bare", *listed("WITHOUT_TABLES")])
def test_the_verdict_on_the_page_is_the_one_in_report_and_data_card(done: dict[str, str], kind: str) -> None:
    release = runs.release(LOCAL_OWNER, runs.list(LOCAL_OWNER, done[kind])[0].id)
    verdict = report.quality_of(release).value.verdict
    assert verdict is not None
    shown, page = plain(words(at(done[kind], "tables"))), html.unescape(report.report_page(release).value.decode())
    card = report.parts(release)[report.CARD].value.decode().replace("\\", "")
    for sentence in (report.ruling(verdict), report.reasons(verdict), report.comparison(verdict), *report.fit_for(verdict)):
        assert sentence in shown
        assert sentence in page
        assert sentence in card
    assert ("Verdict", f"{report.ruling(verdict)} {report.reasons(verdict)}") in report.verdict_facts(release)


def plain(text: str) -> str:
    """What Markdown shows."""
    return text.replace("\\", "").replace("\u2060", "")


def test_the_largest_error_is_a_released_number_and_its_true_value_curator_only(done: dict[str, str]) -> None:
    app = at(done["rows"], "tables")
    assert "off by" in words(app)
    assert "The worst single count is off by at most" in words(app)
    assert "Of any one cell" not in {metric.label for metric in app.metric}
    app = app.toggle(key="results_curator").set_value(True).run()
    shown = {metric.label: metric.value for metric in app.metric}
    assert shown["Of any one cell"].endswith("%")
    assert shown["Of any “at least 1”"].endswith("%")
    assert "The worst single count is off by at most" in words(at(done["answers"], "tables"))


def test_without_a_certificate_the_page_says_so_and_shows_bounds(done: dict[str, str]) -> None:
    app = at(done["bare"], "tables")
    assert "No certificate was made" in words(app).replace("\\", "").replace("\u2060", "")
    table = app.dataframe[0].value
    assert table["error"].isna().all()
    assert (table["limit"] == table["bound"]).all()
    assert not [group for group in app.get("button_group") if group.label == "with 95% confidence"]


def test_no_list_shows_true_values(done: dict[str, str]) -> None:
    app = at(done["rows"], "tables")
    app = app.toggle(key="results_curator").set_value(True).run()
    assert not app.dataframe  # it could be copied and downloaded


def test_downloads_know_no_true_values(done: dict[str, str]) -> None:
    app = at(done["rows"], "columns")
    app.toggle(key="results_curator").set_value(True).run()
    app.session_state["results_view"] = "downloads"
    shown = [button.proto.label for button in app.run().get("link_button")]
    assert shown[:2] == ["Ask a question", "Download the release bundle"]
    assert {"Rows as CSV", "Rows as CSV for spreadsheets", "Rows as Parquet", "Report", "Sealed plan"} <= set(shown)
    assert len(set(shown)) == len(shown)  # a screen reader tells them apart
    assert not app.toggle


def test_a_private_table_that_is_gone_is_an_error_with_a_remedy(done: dict[str, str]) -> None:
    run = runs.list(LOCAL_OWNER, done["hostile"])[0]
    path = Path(run.spec.data.path)
    content = path.read_bytes()
    path.unlink()
    try:
        app = at(done["hostile"], "columns")
        app = app.toggle(key="results_curator").set_value(True).run()
        assert app.error
        assert not any(WATERMARK in chart for chart in charts(app))
    finally:
        path.write_bytes(content)


def test_rows_are_filtered_by_picked_values(done: dict[str, str]) -> None:
    app = at(done["rows"], "rows")
    assert set(app.dataframe[0].value["sex"]) == {"female", "male"}
    assert app.dataframe[0].proto.HasField("placeholder")  # a missing value is no “None”, which could be a category
    assert app.dataframe[0].proto.placeholder == ""
    app = app.selectbox(key="results_filter").select("sex").run()
    app = app.multiselect[0].select("female").run()
    assert set(app.dataframe[0].value["sex"]) == {"female"}


def test_answers_only_say_so_and_offer_no_rows(done: dict[str, str]) -> None:
    assert "no rows" in words(at(done["answers"], "rows"))
    labels = [button.proto.label for button in at(done["answers"], "downloads").get("link_button")]
    assert not [label for label in labels if label.startswith("Rows")]
    assert "Download the release bundle" in labels


@pytest.mark.usefixtures("done")
def test_results_are_locked_before_a_run_is_done() -> None:
    assert "This step opens when" in words(open_page("results", project()))


@pytest.mark.usefixtures("done")
def test_a_deleted_run_is_gone_and_its_charge_stays() -> None:
    place = project()
    run = finished_run(place)
    app = at(place, "about")
    app = app.checkbox(key=f"sure_{run.id}").check().run()
    assert open_runs.question_page(LOCAL_OWNER, run.id, "")
    next(b for b in app.button if b.label == "Delete the run").click().run()
    assert runs.list(LOCAL_OWNER, place) == ()
    assert open_runs.question_page.cache_info().currsize == 0  # it holds rows of what is gone
    assert "budget reserved" in str(open_page("ledger", place).dataframe[0].value["what"].tolist())


def test_the_page_of_questions_is_one_click_away_wherever_there_is_something_to_ask(done: dict[str, str]) -> None:
    for kind, place in done.items():
        links = {button.proto.label: button.proto.url for button in at(place, "columns").get("link_button")}
        (run,) = runs.list(LOCAL_OWNER, place)
        assert report.can_answer(runs.release(LOCAL_OWNER, run.id)), kind
        assert links == {"Ask a question": f"/download/{run.id}/questions"}, kind


def test_more_rows_of_a_group_are_drawn_with_what_is_known_of_their_errors(done: dict[str, str]) -> None:
    app = at(done["rows"], "downloads")
    app.number_input(key="sampled_rows").set_value(200)
    column = app.selectbox(key="sampled_column").options[1]
    app.selectbox(key="sampled_column").set_value(column).run()
    assert app.button(key="draw_rows").disabled
    values = next(one for one in app.multiselect if one.label == "With")
    app = values.set_value(values.options[:1]).run()
    app = app.button(key="draw_rows").click().run()
    assert "Errors were measured of the released rows" in words(app)
    assert [one.label for one in app.get("download_button")] == ["Download 200 rows as CSV"]


def test_a_release_without_rows_offers_no_more_of_them(done: dict[str, str]) -> None:
    assert not any(one.label == "More rows, or rows of a group" for one in at(done["answers"], "downloads").expander)
