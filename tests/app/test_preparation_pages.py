"""The preparation pages through Streamlit's own test driver: values survive a reload and a second tab, bad input stops Continue."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.ipc
import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.release import synthesis
from dpsynth_core.store import jobs, ledger, projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.domain import domain_table
from dpsynth_core.web.shell import document
from tests.app.demo_project import ROOT, draft, open_page, project, words

CSV = b"age,sex,eye\n39,Male,blue\n50,Female,brown\n28,Male,green\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(jobs, "_launch", lambda *_: None)


def first_visit() -> AppTest:
    return AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()


def stored() -> dict[str, Any]:
    return dict(projects.list(LOCAL_OWNER)[0].draft)


def field(app: AppTest, kind: str, label: str) -> Any:
    found = [element for element in app.get(kind) if element.label.startswith(label)]
    assert found, f"no {kind} {label!r} among {[element.label for element in app.get(kind)]}"
    return found[0]


def can_continue(app: AppTest, page: str) -> bool:
    return not app.button(key=f"next_{page}").disabled


def test_a_first_visit_opens_data_with_everything_after_it_locked() -> None:
    app = first_visit()
    assert not app.exception
    assert app.title[0].value == "Data"
    assert not can_continue(app, "data")
    assert [p.name for p in projects.list(LOCAL_OWNER)] == ["First release"]


@pytest.mark.parametrize("page", ["domain", "workload", "budget", "mechanism", "results"])
def test_a_locked_step_explains_itself_and_shows_nothing_else(page: str) -> None:
    app = first_visit().switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert "opens when the steps before it are done" in app.info[0].value
    assert not app.get("button_group")


def test_the_demo_goes_from_start_to_the_mechanism_with_four_clicks() -> None:
    app = first_visit()
    field(app, "button_group", "Where is it?").set_value("demo").run()
    app.button(key="use_demo").click().run()
    for page, following in (("data", "Domain"), ("domain", "Workload"), ("workload", "Budget"), ("budget", "Mechanism")):
        assert can_continue(app, page), words(app)
        app.button(key=f"next_{page}").click().run()
        assert not app.exception
        assert app.title[0].value == following
    assert document.plan(stored(), "x").workload.cliques


def test_an_uploaded_table_survives_a_reload() -> None:
    app = first_visit()
    app.file_uploader[0].set_value(("people.csv", CSV, "text/csv")).run()
    field(app, "text_input", "Name of the population").set_value("People of Springfield").run()
    again = first_visit()
    assert "people.csv" in words(again)
    assert field(again, "text_input", "Name of the population").value == "People of Springfield"
    assert can_continue(again, "data")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty"),
        ("double.csv", b"age,age\n1,2\n3,4\n", "twice"),
        ("unnamed.csv", b"age,,sex\n1,2,3\n4,5,6\n", "no name"),
        ("report.csv", b"%PDF-1.7 \x00", "PDF"),
    ],
)
def test_a_bad_file_is_explained_and_changes_nothing(name: str, content: bytes, message: str) -> None:
    app = first_visit()
    app.file_uploader[0].set_value((name, content, "text/csv")).run()
    assert not app.exception
    assert message in app.error[0].value
    assert "data" not in stored()
    assert not can_continue(app, "data")


def test_real_rows_are_shown_only_when_asked_for_and_as_curator_only() -> None:
    app = first_visit()
    app.file_uploader[0].set_value(("people.csv", CSV, "text/csv")).run()
    assert not app.dataframe
    field(app, "toggle", "Show the first rows").set_value(True).run()
    assert list(app.dataframe[0].value["sex"]) == ["Male", "Female", "Male"]
    assert any(Zone.CURATOR.label in m.value for m in app.markdown)


def test_lines_that_cannot_be_read_are_said_to_the_curator_before_anything_is_charged() -> None:
    app = first_visit()
    app.file_uploader[0].set_value(("people.csv", CSV, "text/csv")).run()
    assert "Every line has a value for each column" in words(app)
    app.file_uploader[0].set_value(("people.csv", CSV + b'1,"x\n', "text/csv")).run()
    assert not app.exception
    assert any("1 line is malformed" in warning.value for warning in app.warning)
    field(app, "selectbox", "Quotes").set_value("none").run()
    assert stored()["data"]["quoting"] == "none"
    field(app, "toggle", "Look at every line").set_value(False).run()
    assert not app.warning


def test_several_rows_per_person_need_a_column_and_a_limit() -> None:
    app = first_visit()
    app.file_uploader[0].set_value(("people.csv", CSV, "text/csv")).run()
    field(app, "text_input", "Name of the population").set_value("P").run()
    field(app, "radio", "Rows").set_value(True).run()
    assert not can_continue(app, "data")
    field(app, "selectbox", "Column that tells people apart").set_value("age").run()
    field(app, "text_input", "Rows each").set_value("3").run()
    assert can_continue(app, "data")
    assert stored()["unit"] == {"relation": "add-remove", "person_column": "age", "max_rows_per_person": 3}
    field(app, "text_input", "Rows each").set_value("three").run()
    assert not can_continue(app, "data")
    field(app, "radio", "Rows").set_value(False).run()
    assert can_continue(app, "data")
    assert stored()["unit"]["max_rows_per_person"] == 1


def test_records_are_compared_with_the_domain_only_when_asked_for() -> None:
    domain = {"version": 1, "attributes": [{"name": name, "kind": "categorical", "categories": ["x"]} for name in ("sex", "eye")]}
    fields = draft(domain=domain, domain_origin="codebook")
    fields["wizard"] |= {"columns": ["sex", "eye"], "source": "upload", "label": "t.csv"}
    fields["wizard"]["rows"] = [row | {"column": name, "values": ["x"]} for name in ("sex", "eye") for row in domain_table.blank([name])]
    one = project(**fields)
    path = projects.upload(LOCAL_OWNER, one, "t.csv", io.BytesIO(b"sex,eye\nx,blue\nx,brown\nx,x\n"))
    data = {"path": str(path), "kind": "csv", "delimiter": ",", "encoding": "utf-8", "missing_markers": [""]}
    projects.save(LOCAL_OWNER, one, fields | {"data": data})
    app = open_page("domain", one)
    before = len(app.dataframe)
    app = field(app, "toggle", "Count the values").set_value(True).run()
    assert not app.exception
    assert len(app.dataframe) == before + 1
    assert app.dataframe[-1].value["outside"].tolist() == pytest.approx([2 / 3, 0])
    assert "not for screenshots" in words(app)
    assert "most values are not in the domain" in words(app)


def test_a_second_tab_sees_what_the_first_one_saved() -> None:
    first, second = open_page("budget", one := project()), open_page("budget", one)
    field(first, "text_input", "ε").set_value("0.25").run()
    assert field(second.run(), "text_input", "ε").value == "0.25"


def test_two_tabs_that_edit_different_fields_keep_both() -> None:
    one = project()
    first, second = open_page("budget", one), open_page("budget", one)
    field(first, "text_input", "ε").set_value("0.25").run()
    field(second, "text_input", "δ").set_value("1e-7").run()
    assert stored()["budget"] == {"epsilon": 0.25, "delta": 1e-7, "certificate": 0.05}


@pytest.mark.parametrize("text", ["one", "nan", "0", "-1", "", "1,5", "inf", "2000"])
def test_an_epsilon_that_is_no_budget_stops_continue_and_is_kept_as_typed(text: str) -> None:
    one = project()
    app = open_page("budget", one)
    field(app, "text_input", "ε").set_value(text).run()
    assert not app.exception
    assert ":material/error:" in words(app)
    assert not can_continue(app, "budget")
    assert stored()["budget"]["epsilon"] is None
    assert field(open_page("budget", one), "text_input", "ε").value == text


@pytest.mark.parametrize("text", ["1e-3", "0.5", "0", "small"])
def test_a_delta_that_is_too_large_or_no_number_stops_continue(text: str) -> None:
    app = open_page("budget", project())
    field(app, "text_input", "δ").set_value(text).run()
    assert not can_continue(app, "budget")
    assert not app.exception


def test_a_delta_from_one_in_the_number_of_people_gets_a_warning() -> None:
    app = open_page("budget", project())
    field(app, "text_input", "δ").set_value("0.0001").run()
    assert "random person" in app.warning[0].value
    assert can_continue(app, "budget")


def test_the_odds_are_said_in_words() -> None:
    assert "at most **54%** right" in words(open_page("budget", project()))


def test_a_wanted_accuracy_sets_epsilon() -> None:
    app = open_page("budget", project())
    field(app, "text_input", "People off").set_value("40").run()
    app.button(key="use_epsilon").click().run()
    chosen = stored()["budget"]["epsilon"]
    assert chosen != 1.0
    assert field(app, "text_input", "ε").value == f"{chosen:g}"
    assert any(metric.value in ("± 40", "± 39") for metric in app.metric)


def stages(app: AppTest) -> dict[str, float]:
    """The split bar as drawn: share by stage."""
    specs = [json.loads(chart.proto.spec) for chart in app.get("vega_lite_chart")]
    rows = pyarrow.ipc.open_stream(
        next(
            data.data.data
            for chart, spec in zip(app.get("vega_lite_chart"), specs, strict=True)
            if spec["title"]["text"] == "Where does the budget go?"
            for data in chart.proto.datasets
        )
    ).read_pandas()
    return dict(zip(rows["stage"], rows["share"], strict=True))


def test_a_certificate_is_planned_unless_turned_off_and_then_the_run_has_none() -> None:
    one = project()
    app = open_page("budget", one)
    assert stages(app) == pytest.approx({"single columns": 0.95, "certificate": 0.05})
    with_it = document.spec(stored(), "Trial")
    field(app, "button_group", "Share of the budget").set_value(0.0).run()
    assert not app.exception
    assert stages(app) == pytest.approx({"single columns": 1.0})
    without = document.spec(stored(), "Trial")
    assert (with_it.budget.certificate, without.budget.certificate) == (0.05, 0.0)
    assert with_it.digest() != without.digest()
    planned = synthesis.plan(without)
    assert (planned.shares.mechanism, planned.shares.certificate) == (planned.shares.rho, 0.0)
    assert "± " in words(open_page("budget", project()))


def test_a_certificate_takes_from_the_tables() -> None:
    app = open_page("budget", project())
    before = next(metric.value for metric in app.metric if metric.value.startswith("±"))
    field(app, "button_group", "Share of the budget").set_value(0.2).run()
    assert next(metric.value for metric in app.metric if metric.value.startswith("±")) != before


def test_a_budget_above_the_populations_limit_stops_continue() -> None:
    one = project()
    ledger.open_population(LOCAL_OWNER, "Invented people", (0.5, 1e-9))
    app = open_page("budget", one)
    assert not can_continue(app, "budget")
    assert "account" in app.error[0].value
    field(app, "text_input", "ε").set_value("0.4").run()
    assert can_continue(app, "budget")


def test_the_workload_can_be_said_three_ways_and_remembers_each() -> None:
    app = open_page("workload", project())
    field(app, "button_group", "Columns per table").set_value(3).run()
    assert stored()["workload"] == {"kind": "all", "k": 3}
    field(app, "button_group", "Which tables?").set_value("target").run()
    field(app, "selectbox", "Column of interest").set_value("sex").run()
    assert stored()["workload"] == {"kind": "target", "column": "sex", "k": 2}
    field(app, "button_group", "Which tables?").set_value("marginals").run()
    assert not can_continue(app, "workload")
    field(app, "multiselect", "Columns of a table").set_value(["sex", "age"]).run()
    app.button(key="add_marginal").click().run()
    assert stored()["workload"] == {"kind": "marginals", "marginals": [{"attributes": ["age", "sex"], "weight": 1.0}]}
    assert can_continue(app, "workload")
    field(app, "button_group", "Which tables?").set_value("all").run()
    assert stored()["workload"] == {"kind": "all", "k": 3}


MATCHING = "A question counts the people who match"


def test_a_threshold_is_chosen_explained_and_dropped_when_the_tables_leave_no_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Aim, "card", replace(Aim.card, takes_thresholds=True))
    app = open_page("workload", project())
    field(app, "button_group", "Columns per table").set_value(3).run()
    assert field(app, "button_group", MATCHING).value == 0  # one of the choices is always marked
    field(app, "button_group", MATCHING).set_value(2).run()
    assert stored()["workload"] == {"kind": "all", "k": 3, "threshold": 2}
    assert any("at least 2 of these" in caption.value and "AIM" in caption.value for caption in app.caption)
    assert can_continue(app, "workload")
    field(app, "button_group", MATCHING).set_value(1).run()
    assert any(" or " in caption.value for caption in app.caption)
    field(app, "button_group", "Columns per table").set_value(2).run()
    assert stored()["workload"] == {"kind": "all", "k": 2, "threshold": 1}
    field(app, "button_group", "Columns per table").set_value(1).run()
    assert stored()["workload"] == {"kind": "all", "k": 1}
    assert not [group for group in app.get("button_group") if group.label == MATCHING]
    assert not app.exception


def test_hand_picked_tables_can_be_asked_thresholds_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Aim, "card", replace(Aim.card, takes_thresholds=True))
    app = open_page("workload", project(workload={"kind": "marginals", "marginals": [{"attributes": ["age", "sex"], "weight": 1.0}]}))
    field(app, "button_group", MATCHING).set_value(1).run()
    assert stored()["workload"]["threshold"] == 1
    field(app, "multiselect", "Columns of a table").set_value(["sex"]).run()
    app.button(key="add_marginal").click().run()
    assert stored()["workload"]["threshold"] == 1
    assert len(stored()["workload"]["marginals"]) == 2
    assert can_continue(app, "workload")


def test_no_threshold_is_offered_that_no_mechanism_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    for mechanism in registry.MECHANISMS.values():
        monkeypatch.setattr(type(mechanism), "card", replace(mechanism.card, takes_thresholds=False))
    app = open_page("workload", project())
    assert not [group for group in app.get("button_group") if group.label == MATCHING]


def test_a_marginal_of_a_billion_cells_is_refused_with_the_remedy() -> None:
    names = [f"x{i}" for i in range(9)]
    huge = {"version": 1, "attributes": [{"name": name, "kind": "coded", "size": 100} for name in names]}
    one = project(domain=huge, workload={"kind": "all", "k": 2})
    plan = projects.load(LOCAL_OWNER, one).draft
    projects.save(LOCAL_OWNER, one, {**plan, "wizard": {**plan["wizard"], "columns": names}})
    app = open_page("workload", one)
    field(app, "button_group", "Columns per table").set_value(5).run()
    assert not app.exception
    assert "fewer columns" in app.error[0].value
    assert not can_continue(app, "workload")


def test_a_workload_file_is_read_or_refused() -> None:
    app = open_page("workload", project())
    app.file_uploader[0].set_value(("w.json", b'{"kind": "target", "column": "age", "k": 2}', "application/json")).run()
    assert stored()["workload"] == {"kind": "target", "column": "age", "k": 2}
    app.file_uploader[0].set_value(("w.json", b"{", "application/json")).run()
    assert "not JSON" in app.error[0].value
    assert stored()["workload"]["column"] == "age"


def upload_project(content: bytes = CSV) -> AppTest:
    """The Domain page of a project with an uploaded table."""
    app = first_visit()
    app.file_uploader[0].set_value(("people.csv", content, "text/csv")).run()
    field(app, "text_input", "Name of the population").set_value("P").run()
    return app.button(key="next_data").click().run()


def test_a_codebook_fills_the_domain() -> None:
    app = upload_project()
    assert not can_continue(app, "domain")
    codebook = b"column,value\nage,0..99\nsex,Female\nsex,Male\neye,blue\neye,brown\neye,*\n"
    field(app, "file_uploader", "Domain JSON").set_value(("codebook.csv", codebook, "text/csv")).run()
    assert not app.exception
    assert document.domain(stored()).sizes(("age", "sex", "eye")) == (100, 2, 3)
    assert stored()["domain_origin"] == "codebook"
    assert can_continue(app, "domain")


def test_the_benchmark_form_is_a_domain_too() -> None:
    app = upload_project(b"age,sex\n3,1\n4,0\n")
    field(app, "file_uploader", "Domain JSON").set_value(("domain.json", b'{"age": 10, "sex": 2}', "application/json")).run()
    assert document.domain(stored()).sizes(("age", "sex")) == (10, 2)


def test_a_domain_with_reversed_bounds_is_refused_with_the_column() -> None:
    app = upload_project()
    reversed_bounds = b'{"version": 1, "attributes": [{"name": "age", "kind": "integer", "lower": 90, "upper": 10}]}'
    field(app, "file_uploader", "Domain JSON").set_value(("domain.json", reversed_bounds, "application/json")).run()
    assert "age" in app.error[0].value
    assert "below lower bound" in app.error[0].value
    assert not can_continue(app, "domain")


def test_reading_the_domain_from_the_data_needs_a_justification() -> None:
    app = upload_project(b"age,sex\n" + b"".join(b"%d,%s\n" % (20 + i % 50, b"MF"[i % 2 :][:1]) for i in range(500)))
    app.button(key="read_data").click().run()
    assert not app.exception
    assert stored()["domain_origin"] == "data"
    assert stored()["domain"]
    assert not can_continue(app, "domain")
    assert Zone.CURATOR.label in words(app)
    field(app, "text_area", "Why this domain").set_value("The form offers these answers.").run()
    assert can_continue(app, "domain")
    assert stored()["domain_justification"] == "The form offers these answers."


def test_a_public_table_fills_the_domain_without_a_brand() -> None:
    app = upload_project()
    twin = b"age,sex,eye\n" + b"".join(
        b"%d,%s,%s\n" % (i % 90, (b"Male", b"Female")[i % 2], (b"blue", b"brown")[i % 2]) for i in range(400)
    )
    field(app, "file_uploader", "Public table").set_value(("twin.csv", twin, "text/csv")).run()
    assert stored()["domain_origin"] == "public"
    assert document.domain(stored())["sex"].categories == ("Female", "Male")
    assert can_continue(app, "domain")


def test_values_are_typed_into_the_list_of_a_column() -> None:
    app = upload_project()
    field(app, "selectbox", "Column").set_value("eye").run()
    field(app, "text_area", "Values").set_value("blue\nbrown\tdark\n").run()
    row = next(row for row in stored()["wizard"]["rows"] if row["column"] == "eye")
    assert (row["values"], row["labels"]) == (["blue", "brown"], ["blue", "dark"])


def test_another_table_closes_the_steps_that_no_longer_fit() -> None:
    app = open_page("data", project())
    app.file_uploader[0].set_value(("people.csv", CSV, "text/csv")).run()
    app.switch_page("pages/mechanism.py").run()
    assert "opens when" in app.info[0].value


def test_projects_are_made_renamed_and_deleted_with_confirmation() -> None:
    app = first_visit()
    app.button(key="project_new").click().run()
    app.text_input(key="project_new_name").set_value("Second")
    app.button(key="project_new_confirm").click().run()
    assert {p.name for p in projects.list(LOCAL_OWNER)} == {"First release", "Second"}
    app.button(key="project_rename").click().run()
    app.text_input(key="project_rename_name").set_value("Other")
    app.button(key="project_rename_confirm").click().run()
    assert {p.name for p in projects.list(LOCAL_OWNER)} == {"First release", "Other"}
    app.button(key="project_delete").click().run()
    assert len(projects.list(LOCAL_OWNER)) == 2
    app.button(key="project_delete_confirm").click().run()
    assert [p.name for p in projects.list(LOCAL_OWNER)] == ["First release"]


def test_equal_project_names_stay_apart() -> None:
    one, two = project(), projects.create(LOCAL_OWNER, "Trial", draft(population="Two")).id
    app = open_page("data", one)
    field(app, "text_input", "Name of the population").set_value("One").run()
    app.run()
    assert projects.load(LOCAL_OWNER, one).draft["population"] == "One"
    assert projects.load(LOCAL_OWNER, two).draft["population"] == "Two"
    assert len(set(app.selectbox(key="project_picker").options)) == 2


def test_a_project_deleted_in_another_tab_is_no_crash() -> None:
    one = project()
    app = open_page("budget", one)
    projects.delete(LOCAL_OWNER, one)
    field(app, "text_input", "ε").set_value("2").run()
    assert not app.exception


def test_hostile_names_never_enter_a_label_as_markup() -> None:
    hostile = b'"<script>alert(1)</script>","$x$ :red[y]"\n' + b"a,b\n" * 30
    app = upload_project(hostile)
    assert not app.exception
    for element in [*app.markdown, *app.caption, *app.error, *app.warning]:
        assert "<script>" not in element.value.replace("` <script>alert(1)</script> `", "")


def test_the_name_of_another_owners_project_in_the_address_opens_nothing() -> None:
    theirs = projects.create("someone-else", "Secret", document.new()).id
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["project"] = theirs
    app.run()
    assert not app.exception
    assert "Secret" not in str(app.selectbox(key="project_picker").options)
    assert app.query_params["project"] != [theirs]
