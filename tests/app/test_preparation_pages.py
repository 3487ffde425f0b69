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
from dpsynth_core.mechanisms.graphical.dependence import AT_MOST
from dpsynth_core.mechanisms.mechanism import DEPENDENCE
from dpsynth_core.planning import discovery
from dpsynth_core.release import synthesis
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.store import balance, ledger, projects, recorded_views, roles
from dpsynth_core.store.home import LOCAL_OWNER, now
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table, draft_rows, fit_view, origin_view
from dpsynth_core.web.domain.column_draft import ColumnDraft, blank
from dpsynth_core.web.shell import curator, document
from tests.app.demo_project import ROOT, button, draft, field, open_page, project, stored, words
from tests.bundle.bundles import files, packed, spec
from tests.patience import SECONDS
from tests.refusals import refused

CSV = b"age,sex,eye\n39,Male,blue\n50,Female,brown\n28,Male,green\n"


def first_visit(name: str = "", content: bytes = b"") -> AppTest:
    """The first page of a new home; with a file of this name, once it was uploaded there."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS).run()
    return app.file_uploader[0].set_value((name, content, "application/octet-stream")).run() if name else app


def can_continue(app: AppTest, page: str) -> bool:
    return not app.button(key=f"next_{page}").disabled


def test_a_first_visit_opens_data_with_everything_after_it_locked() -> None:
    app = first_visit()
    assert app.title[0].value == "Data"
    assert not can_continue(app, "data")
    assert [p.name for p in projects.list(LOCAL_OWNER)] == ["First release"]


@pytest.mark.parametrize("page", ["domain", "workload", "budget", "mechanism", "results"])
def test_a_locked_step_explains_itself_and_shows_nothing_else(page: str) -> None:
    app = first_visit().switch_page(f"pages/{page}.py").run()
    assert "opens when" in app.info[0].value
    assert not app.get("button_group")


def test_the_demo_goes_from_start_to_the_mechanism_with_four_clicks() -> None:
    app = first_visit()
    app.button(key="use_demo").click().run()
    assert app.title[0].value == "Domain"  # nothing is left to be said of invented people
    for page, following in (("domain", "Workload"), ("workload", "Budget"), ("budget", "Mechanism")):
        assert can_continue(app, page), words(app)
        app.button(key=f"next_{page}").click().run()
        assert app.title[0].value == following
    assert document.plan(stored(), "x").workload.cliques


def test_a_column_that_may_tell_people_apart_raises_the_question_whether_one_has_several_rows() -> None:
    app = first_visit("people.csv", CSV.replace(b"eye", b"patient_id"))
    assert "` patient_id `" in words(app)
    field(app, "radio", "Rows").set_value(True).run()
    assert not [one for one in app.caption if "` patient_id `" in one.value]


WRITTEN = "born;pay;x\n31.12.1990;1.234,5;1\n1.2.1985;7,25;2\n"


def test_how_a_file_is_written_is_by_default_until_a_suggestion_is_taken_or_declined(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(WRITTEN)
    table = project_table.from_path(str(path), only_this_machine=True)
    assert (table.section["delimiter"], TableFormat.of(table.section).notation) == (";", TableFormat().notation)
    draft: dict[str, Any] = {"wizard": {}}
    project_table.adopt(draft, table)
    (doubt,) = document.doubts(draft)
    suggested, default = (dict(said) for _, said in doubt.answers)
    assert suggested == {"decimal": ",", "thousands": ".", "date_format": "dd.mm.yyyy"}
    assert default == {"decimal": ".", "thousands": "", "date_format": "yyyy-mm-dd"}
    kept, used = project_table.reread(draft, **default), project_table.reread(draft, **suggested)
    assert (kept.doubts, TableFormat.of(kept.section)) == ((), TableFormat.of(table.section))
    assert (used.doubts, used.section["delimiter"]) == ((), ";")
    assert {name: used.section[name] for name in suggested} == suggested
    (left,) = project_table.reread(draft, date_format="dd.mm.yyyy").doubts  # a suggestion of several parts, of which one is stated
    assert left.fields == {"decimal", "thousands"}


@pytest.mark.parametrize("answer", [0, 1])
def test_a_suggestion_is_answered_by_one_click_and_its_use_is_a_look(answer: int) -> None:
    app = first_visit("people.csv", WRITTEN.encode())
    field(app, "text_input", ":population").set_value("People of Springfield").run()
    assert not can_continue(app, "data")
    app.button(key=f"doubt_0_{answer}").click().run()
    assert can_continue(app, "data")
    assert stored()["data"].get("decimal", ".") == (",", ".")[answer]
    assert recorded_views.of(LOCAL_OWNER, projects.list(LOCAL_OWNER)[0].id) == (("form",), ())[answer]


def test_an_uploaded_table_survives_a_reload() -> None:
    app = first_visit("people.csv", CSV)
    field(app, "text_input", ":population").set_value("People of Springfield").run()
    again = first_visit()
    assert "people.csv" in words(again)
    assert field(again, "text_input", ":population").value == "People of Springfield"
    assert can_continue(again, "data")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "empty"),
        ("unnamed.csv", b"People,,\nage,sex,eye\n4,5,6\n", "no name"),
        ("report.csv", b"%PDF-1.7 \x00", "PDF"),
    ],
)
def test_a_bad_file_is_explained_and_changes_nothing(name: str, content: bytes, message: str) -> None:
    app = first_visit(name, content)
    assert message in app.error[0].value
    assert "data" not in stored()
    assert not can_continue(app, "data")


def test_real_rows_are_shown_only_when_asked_for_and_as_curator_only() -> None:
    app = first_visit("people.csv", CSV)
    assert not app.dataframe
    field(app, "toggle", ":preview").set_value(True).run()
    assert list(app.dataframe[0].value["sex"]) == ["Male", "Female", "Male"]
    assert any(Zone.CURATOR.label in m.value for m in app.markdown)


def test_lines_that_cannot_be_read_are_said_to_the_curator_before_anything_is_charged() -> None:
    app = first_visit("people.csv", CSV)
    assert not app.warning
    field(app, "toggle", ":survey").set_value(True).run()
    assert "check_circle:] Every line" in words(app)
    app.button(key="remove_table").click().run()
    app.file_uploader[0].set_value(("people.csv", CSV + b'1,"x\n', "text/csv")).run()
    assert any("malformed" in warning.value for warning in app.warning)
    assert "quoted cells" in words(app)
    field(app, "selectbox", "Quotes").set_value("none").run()
    assert stored()["data"]["quoting"] == "none"
    assert "quoted cells" not in words(app)


def test_several_rows_per_person_need_a_column_and_a_limit() -> None:
    app = first_visit("people.csv", CSV)
    field(app, "text_input", ":population").set_value("P").run()
    field(app, "radio", "Rows").set_value(True).run()
    assert not can_continue(app, "data")
    field(app, "selectbox", ":unit.person_column").set_value("age").run()
    assert not can_continue(app, "data")
    assert field(app, "text_input", ":unit.max_rows_per_person").value == ""
    assert "how many rows of a person may count" in words(app)
    assert not can_continue(open_page("data", projects.list(LOCAL_OWNER)[0].id), "data")
    field(app, "text_input", ":unit.max_rows_per_person").set_value("3").run()
    assert can_continue(app, "data")
    assert stored()["unit"] == {"relation": "add-remove", "person_column": "age", "max_rows_per_person": 3}
    field(app, "text_input", ":unit.max_rows_per_person").set_value("three").run()
    assert not can_continue(app, "data")
    field(app, "radio", "Rows").set_value(False).run()
    assert can_continue(app, "data")
    assert stored()["unit"]["max_rows_per_person"] == 1


def domain_project(table: bytes, **cells: Any) -> str:
    """A project with an uploaded table of two columns, each of which lists one value. cells: what happens to values without a cell."""
    rows = [blank(name).changed(categories=["x"], **cells) for name in ("sex", "eye")]
    fields = draft(domain=domain_table.domain_of(rows).to_json(), domain_origin="codebook")
    fields["wizard"] |= {"columns": ["sex", "eye"], "source": "upload", "label": "t.csv", "rows": [row.to_json() for row in rows]}
    one = project(**fields)
    path = projects.upload(LOCAL_OWNER, one, "t.csv", io.BytesIO(table))
    data = {"path": str(path), "kind": "csv", "delimiter": ",", "encoding": "utf-8", "missing_markers": [""]}
    projects.save(LOCAL_OWNER, one, fields | {"data": data})
    return one


def declined(app: AppTest) -> AppTest:
    """Go on without a comparison, which opens Workload, and come back to Domain."""
    app.button(key="no_comparison").click().run()
    assert app.title[0].value == "Workload"
    return app.button(key="back_workload").click().run()


def compared(app: AppTest) -> AppTest:
    return app.button(key="compare").click().run()


def test_nothing_exact_shows_and_nothing_is_passed_before_the_curator_decides() -> None:
    place = domain_project(b"sex,eye\nx,blue\nx,brown\nx,x\n")
    app = open_page("domain", place)
    assert recorded_views.of(LOCAL_OWNER, place) == ()
    assert "66.7%" not in words(app)
    assert not can_continue(app, "domain")
    declined(app)
    assert recorded_views.of(LOCAL_OWNER, place) == ()
    assert can_continue(app, "domain")
    compared(app)
    assert "66.7%" in words(app)
    assert recorded_views.of(LOCAL_OWNER, place) == ("compared",)


def test_records_are_compared_with_the_domain_when_asked_for() -> None:
    app = compared(open_page("domain", domain_project(b"sex,eye\nx,blue\nx,brown\nx,x\n")))
    assert "2 values (66.7%)" in words(app)
    assert curator.WARNING in words(app)


def test_a_column_of_which_nothing_is_understood_is_said_unasked_and_needs_a_tick() -> None:
    """Its values are not shown, and that it was said is a look."""
    place = domain_project(b"sex,eye\nX,x\nX,x\nX,x\n")
    app = open_page("domain", place)
    said = [error.value for error in app.error]
    assert len(said) == 1
    assert "no value of the 3 records is in its list" in said[0]
    assert "sex" in said[0]
    assert "X" not in said[0]
    assert recorded_views.of(LOCAL_OWNER, place) == ("compared",)
    app.button(key="no_comparison").click().run()
    assert not can_continue(app, "domain")
    field(app, "checkbox", "I know").check().run()
    assert can_continue(app, "domain")
    compared(app)
    assert "3 values (100.0%)" in words(app)


def test_the_list_marks_columns_that_do_not_fit_until_they_are_mended() -> None:
    app = open_page("domain", domain_project(b"sex,eye\nx,x\nx,\n?,x\nx,x\n", missing=False, other=False))

    def captions() -> list[str]:
        return list(app.radio[0].proto.captions)

    assert not any("outside" in caption or "empty" in caption for caption in captions())
    before = len([badge for badge in app.markdown if "Curator-only" in badge.value])
    compared(app)
    assert captions() == [":red[**1 outside**]", ":red[**1 empty**]"]
    assert len([badge for badge in app.markdown if "Curator-only" in badge.value]) == before + 1
    button(app, "Give empty values a cell of their own").click().run()
    button(app, "means missing").click().run()
    assert captions()[1] == "1 value · typed"
    assert captions()[0] == ":red[**1 empty**]"
    assert "outside" not in str(stored())
    button(app, "Give empty values a cell of their own").click().run()
    assert not any("outside" in caption or "empty" in caption for caption in captions())


def test_a_column_mostly_outside_needs_a_word_from_the_curator() -> None:
    app = compared(open_page("domain", domain_project(b"sex,eye\nx,blue\nx,brown\nx,x\n")))
    assert not can_continue(app, "domain")
    app = field(app, "text_input", ":wizard.outside_is_right").set_value("We publish one colour only.").run()
    assert can_continue(app, "domain")


def test_what_would_count_as_something_else_is_said_and_mended() -> None:
    app = compared(open_page("domain", domain_project(b"sex,eye\nx,x\nx,\n?,x\nx,x\n", missing=False, other=False)))
    assert "would count" in words(app)
    button(app, "Give empty values a cell of their own").click().run()
    button(app, "means missing").click().run()
    assert stored()["data"]["missing_markers"] == ["", "?"]
    assert document.domain(stored())["eye"].missing
    assert not document.domain(stored())["sex"].missing


def test_numbers_outside_that_rows_will_not_tell_from_missing_ones_are_said_before_anything_is_charged() -> None:
    numbers = {"kind": "integer", "values": [], "lower": "0", "upper": "9"}
    place = domain_project(b"sex,eye\n1,1\n2,99\n", **numbers)
    app = compared(open_page("domain", place))
    assert any("both are" in one.label for one in app.expander)
    assert fit_view.LOST in words(app)
    texts = compared(open_page("domain", domain_project(b"sex,eye\nx,x\nx,y\n")))
    assert "1 value (50.0%)" in words(texts)
    assert fit_view.LOST not in words(texts)


def test_values_taken_from_the_records_make_the_domain_one_that_was_read_from_them() -> None:
    app = compared(open_page("domain", domain_project(b"sex,eye\n" + b"x,x\n" * 60 + b"x,green\n" * 20 + b"x,rare\n")))
    button(app, "Add green").click().run()
    assert document.domain(stored())["eye"].categories == ("x", "green")
    assert stored()["domain_origin"] == "data"
    assert not can_continue(app.run(), "domain")


def test_a_second_tab_sees_what_the_first_one_saved() -> None:
    first, second = open_page("budget", one := project()), open_page("budget", one)
    field(first, "text_input", "ε").set_value("0.25").run()
    assert field(second.run(), "text_input", "ε").value == "0.25"


def test_two_tabs_that_edit_different_fields_keep_both() -> None:
    one = project()
    first, second = open_page("budget", one), open_page("budget", one)
    field(first, "text_input", "ε").set_value("0.25").run()
    field(second, "text_input", "δ").set_value("1e-7").run()
    assert stored()["budget"] == {"epsilon": 0.25, "delta": 1e-7, "certificate": 0.05, "inside": 0.1, "means": 0.03}


@pytest.mark.parametrize("text", ["one", "nan", "0", "-1", "", "1,500", "inf", "2000"])
def test_an_epsilon_that_is_no_budget_stops_continue_and_is_kept_as_typed(text: str) -> None:
    one = project()
    app = open_page("budget", one)
    field(app, "text_input", "ε").set_value(text).run()
    assert ":material/error:" in words(app)
    assert not can_continue(app, "budget")
    assert stored()["budget"]["epsilon"] is None
    assert field(open_page("budget", one), "text_input", "ε").value == text


def test_a_decimal_comma_is_taken_as_people_mean_it() -> None:
    app = open_page("budget", project())
    field(app, "text_input", "ε").set_value("0,5").run()
    assert stored()["budget"]["epsilon"] == 0.5


@pytest.mark.parametrize("text", ["1e-3", "0.5", "0", "small"])
def test_a_delta_that_is_too_large_or_no_number_stops_continue(text: str) -> None:
    app = open_page("budget", project())
    field(app, "text_input", "δ").set_value(text).run()
    assert not can_continue(app, "budget")


def test_a_delta_from_one_in_the_declared_number_of_people_stops_continue() -> None:
    app = open_page("budget", project())
    field(app, "text_input", "δ").set_value("0.0001").run()
    assert not can_continue(app, "budget")
    assert "random person" in words(app)
    field(app, "text_input", "δ").set_value("0.00001").run()
    assert can_continue(app, "budget")


def test_an_epsilon_above_ten_stops_continue_until_a_reason_is_written() -> None:
    one = project(data=TableFormat().section("/data/people.csv"))
    ledger.open_population(LOCAL_OWNER, "Invented people", (50.0, 1e-9))
    app = open_page("budget", one)
    field(app, "text_input", "ε").set_value("12").run()
    assert not can_continue(app, "budget")
    assert "not given a reason" in words(app)
    field(app, "text_area", ":budget.reason").set_value("The counts are published already.").run()
    assert can_continue(app, "budget")
    field(app, "text_input", "ε").set_value("2").run()
    assert not [area for area in app.text_area if "Why is so large" in area.label]
    assert document.spec(stored(), "Trial").budget.reason == ""


def test_the_odds_are_said_in_words() -> None:
    assert "**54%**" in words(open_page("budget", project()))


def test_a_wanted_accuracy_sets_epsilon() -> None:
    app = open_page("budget", project())
    assert "it is empty" not in words(app)
    field(app, "text_input", ":wizard.wanted").set_value("-40").run()
    assert "is not above 0" in words(app)
    field(app, "text_input", ":wizard.wanted").set_value("40").run()
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
            if spec["title"]["text"] == ["Where does the budget go?"]
            for data in chart.proto.datasets
        )
    ).read_pandas()
    return dict(zip(rows["stage"], rows["share"], strict=True))


def test_every_part_of_aims_budget_is_named_before_the_run() -> None:
    app = open_page("budget", project(mechanism={"name": "aim", "settings": {}}))
    parts = stages(app)
    assert 0 < parts[DEPENDENCE] <= AT_MOST
    (said,) = [line for line in words(app).splitlines() if line.startswith("Planned parts: ")]
    assert [part.rsplit(" ", 1)[0] for part in said.removeprefix("Planned parts: ").split(", ")] == list(parts)


def test_a_certificate_is_planned_unless_turned_off_and_then_the_run_has_none() -> None:
    one = project()
    app = open_page("budget", one)
    others = {"numbers inside their cells": 0.1, "means": 0.03}
    assert stages(app) == pytest.approx({**others, "single columns": 0.82, "certificate": 0.05})
    with_it = document.spec(stored(), "Trial")
    field(app, "button_group", "Share of the budget").set_value(0.0).run()
    assert stages(app) == pytest.approx({**others, "single columns": 0.87})
    without = document.spec(stored(), "Trial")
    assert (with_it.budget.certificate, without.budget.certificate) == (0.05, 0.0)
    assert with_it.digest() != without.digest()
    planned = synthesis.plan(without)
    assert (planned.shares.mechanism, planned.shares.of("certificate")) == (pytest.approx(0.87 * planned.shares.rho), 0.0)
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


def test_tables_can_be_drawn_from_a_seed() -> None:
    app = open_page("workload", project())
    field(app, "button_group", "Which tables?").set_value("drawn").run()
    field(app, "button_group", "Which are drawn").set_value("skewed").run()
    field(app, "button_group", "Columns per table").set_value(2).run()
    field(app, "text_input", "Tables to draw").set_value("256").run()
    field(app, "text_input", "Seed of the draw").set_value("5").run()
    assert stored()["workload"] == {"kind": "skewed", "k": 2, "count": 256, "seed": 5}
    assert can_continue(app, "workload")
    field(app, "text_input", "Tables to draw").set_value("many").run()
    assert not can_continue(app, "workload")


def test_one_switch_takes_the_papers_constants_and_back() -> None:
    chosen = draft(mechanism={"name": "aim", "settings": {}})
    chosen["wizard"]["recommended"] = None  # by hand
    app = open_page("mechanism", project(**chosen))
    field(app, "toggle", "As published").set_value(True).run()
    assert stored()["mechanism"] == {"name": "aim", "settings": {"preset": "paper"}}
    assert field(app, "text_input", "Rounds per attribute").placeholder == "16"
    field(app, "text_input", "Rounds per attribute").set_value("12").run()
    assert stored()["mechanism"]["settings"] == {"preset": "paper", "rounds_per_attribute": 12}
    field(app, "toggle", "As published").set_value(False).run()
    assert stored()["mechanism"] == {"name": "aim", "settings": {}}


MATCHING = "A question counts the people who match"


def _take_thresholds(monkeypatch: pytest.MonkeyPatch, name: str, takes: bool) -> None:
    """Let a mechanism of the registry take thresholds, or not."""
    mechanism: Any = registry.MECHANISMS[name]
    monkeypatch.setitem(registry.MECHANISMS.loaded, name, replace(mechanism, card=replace(mechanism.card, takes_thresholds=takes)))


def test_a_threshold_is_chosen_explained_and_dropped_when_the_tables_leave_no_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    _take_thresholds(monkeypatch, "aim", True)
    app = open_page("workload", project())
    field(app, "button_group", "Columns per table").set_value(3).run()
    assert field(app, "button_group", MATCHING).value == 0  # one of the choices is always marked
    field(app, "button_group", MATCHING).set_value(2).run()
    assert stored()["workload"] == {"kind": "all", "k": 3, "threshold": 2}
    assert any("at least 2" in caption.value and "AIM" in caption.value for caption in app.caption)
    assert can_continue(app, "workload")
    field(app, "button_group", MATCHING).set_value(1).run()
    assert any(" or " in caption.value for caption in app.caption)
    field(app, "button_group", "Columns per table").set_value(2).run()
    assert stored()["workload"] == {"kind": "all", "k": 2, "threshold": 1}
    field(app, "button_group", "Columns per table").set_value(1).run()
    assert stored()["workload"] == {"kind": "all", "k": 1}
    assert not [group for group in app.get("button_group") if group.label == MATCHING]


def test_hand_picked_tables_can_be_asked_thresholds_too(monkeypatch: pytest.MonkeyPatch) -> None:
    _take_thresholds(monkeypatch, "aim", True)
    app = open_page("workload", project(workload={"kind": "marginals", "marginals": [{"attributes": ["age", "sex"], "weight": 1.0}]}))
    field(app, "button_group", MATCHING).set_value(1).run()
    assert stored()["workload"]["threshold"] == 1
    field(app, "multiselect", "Columns of a table").set_value(["sex"]).run()
    app.button(key="add_marginal").click().run()
    assert stored()["workload"]["threshold"] == 1
    assert len(stored()["workload"]["marginals"]) == 2
    assert can_continue(app, "workload")


def test_no_threshold_is_offered_that_no_mechanism_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in registry.MECHANISMS:
        _take_thresholds(monkeypatch, name, False)
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
    assert "fewer columns" in app.error[0].value
    assert not can_continue(app, "workload")


def test_a_workload_file_is_read_or_refused() -> None:
    app = open_page("workload", project())
    app.file_uploader[0].set_value(("w.json", b'{"kind": "target", "column": "age", "k": 2}', "application/json")).run()
    assert stored()["workload"] == {"kind": "target", "column": "age", "k": 2}
    app.file_uploader[0].set_value(("w.json", b"{", "application/json")).run()
    assert "valid JSON" in app.error[0].value
    assert stored()["workload"]["column"] == "age"


def read(app: AppTest, *columns: str) -> AppTest:
    """Read columns from the data, one by one, as the panel of each offers last."""
    for column in columns:
        field(app, "radio", "Columns").set_value(column).run()
        ways = field(app, "selectbox", "Values from")
        assert ways.options[-1] == "Read them from the data"
        ways.set_value("data").run()
        assert origin_view.READING in words(app)
        app.button(key=f"read_{column}").click().run()
    return app


def upload_project(content: bytes = CSV) -> AppTest:
    """The Domain page of a project with an uploaded table."""
    app = first_visit("people.csv", content)
    field(app, "text_input", ":population").set_value("P").run()
    return app.button(key="next_data").click().run()


def test_a_codebook_fills_the_domain() -> None:
    app = upload_project()
    assert not can_continue(app, "domain")
    codebook = b"column,value\nage,0..99\nsex,Female\nsex,Male\neye,blue\neye,brown\neye,*\n"
    field(app, "file_uploader", "Domain JSON").set_value(("codebook.csv", codebook, "text/csv")).run()
    assert document.domain(stored()).sizes(("age", "sex", "eye")) == (102, 4, 4)
    assert stored()["domain_origin"] == "codebook"
    assert can_continue(declined(app), "domain")


def test_a_codebook_of_an_archive_leaves_open_what_it_does_not_say() -> None:
    app = upload_project()
    answers = "".join(f"<catgry><catValu>{sex}</catValu></catgry>" for sex in ("Female", "Male"))
    variables = f'<var name="sex">{answers}<varFormat type="character"/></var><var name="age" dcml="0"><varFormat type="numeric"/></var>'
    book = f"<codeBook><dataDscr>{variables}</dataDscr></codeBook>".encode()
    field(app, "file_uploader", "Domain JSON").set_value(("survey.xml", book, "text/xml")).run()
    rows = {row["name"]: row for row in stored()["wizard"]["rows"]}
    assert rows["sex"]["categories"] == ["Female", "Male"]
    assert (rows["age"]["kind"], rows["eye"]["use"]) == ("integer", False)
    assert stored()["domain_origin"] in ("codebook", "usual")  # an age has usual bounds


def test_the_benchmark_form_is_a_domain_too() -> None:
    app = upload_project(b"age,sex\n3,1\n4,0\n")
    field(app, "file_uploader", "Domain JSON").set_value(("domain.json", b'{"age": 10, "sex": 2}', "application/json")).run()
    assert document.domain(stored()).sizes(("age", "sex")) == (10, 2)


def test_a_domain_with_reversed_bounds_is_refused_with_the_column() -> None:
    app = upload_project()
    reversed_bounds = b'{"version": 1, "attributes": [{"name": "age", "kind": "integer", "lower": 90, "upper": 10}]}'
    field(app, "file_uploader", "Domain JSON").set_value(("domain.json", reversed_bounds, "application/json")).run()
    assert "age" in app.error[0].value
    assert "lower bound" in app.error[0].value
    assert not can_continue(app, "domain")


def test_each_look_at_the_table_is_recorded_and_survives_reload_and_another_table() -> None:
    app = upload_project()
    place = projects.list(LOCAL_OWNER)[0].id
    assert recorded_views.of(LOCAL_OWNER, place) == ()  # the lines of a small table are looked at by themselves: no look
    app.switch_page("pages/data.py").run()
    app.toggle(key=f"{place}:preview").set_value(True).run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("rows",)
    app.switch_page("pages/domain.py").run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("rows",)  # names of columns are all that is guessed from
    read(app, "sex")
    assert recorded_views.of(LOCAL_OWNER, place) == ("rows", "domain")
    codebook = b"column,value\nage,0..99\nsex,Female\nsex,Male\neye,blue\neye,brown\neye,*\n"
    field(app, "file_uploader", "Domain JSON").set_value(("codebook.csv", codebook, "text/csv")).run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("rows", "domain")
    compared(app)
    again = open_page("data", place)
    again.file_uploader[0].set_value(("others.csv", CSV, "text/csv")).run()
    assert recorded_views.of(LOCAL_OWNER, place) == ("rows", "domain", "compared")


def test_reading_the_domain_from_the_data_needs_a_justification() -> None:
    app = read(upload_project(GUESSED), "sex")
    assert stored()["domain_origin"] == "data"
    assert stored()["domain"]
    assert not can_continue(app, "domain")
    assert Zone.CURATOR.label in words(app)
    field(app, "text_area", ":domain_justification").set_value("The form offers these answers.").run()
    declined(app)
    assert can_continue(app, "domain")
    assert stored()["domain_justification"] == "The form offers these answers."


GUESSED = b"age,sex\n" + b"".join(b"%d,%s\n" % (20 + i % 50, b"MF"[i % 2 :][:1]) for i in range(500))


@pytest.mark.parametrize("reason", ["x", "   ", "xxxxxxxxxxxxxxxxxxxx", "aaa bbb ccc"])
def test_a_keystroke_neither_passes_nor_changes_the_zone(reason: str) -> None:
    app = read(upload_project(GUESSED), "age", "sex")
    field(app, "text_area", ":domain_justification").set_value(reason).run()
    assert not can_continue(app, "domain")
    assert Zone.CURATOR.label in words(app)
    assert document.domain_zone(stored()) is Zone.CURATOR


def test_a_guessed_column_stays_guessed_when_it_is_edited_saved_and_loaded_again() -> None:
    app = read(upload_project(GUESSED), "age", "sex")
    field(app, "radio", "Columns").set_value("sex").run()
    field(app, "text_area", "Values").set_value("F\nM\nX\n").run()
    assert (stored()["domain_origin"], stored()["domain"]["origin"]) == ("data", "data")
    saved = json.dumps(stored()["domain"]).encode()
    again = open_page("domain", projects.list(LOCAL_OWNER)[0].id)
    field(again, "file_uploader", "Domain JSON").set_value(("domain.json", saved, "application/json")).run()
    assert stored()["domain_origin"] == "data"
    assert not can_continue(again, "domain")
    codebook = b"column,value\nage,0..99\nsex,F\nsex,M\n"
    field(again, "file_uploader", "Domain JSON").set_value(("codebook.csv", codebook, "text/csv")).run()
    assert (stored()["domain_origin"], stored()["domain"]["origin"]) == ("codebook", "codebook")


def test_letting_a_read_column_be_learnt_forgets_what_was_read() -> None:
    app = read(upload_project(GUESSED), "sex")
    field(app, "selectbox", "Values from").set_value("learnt").run()
    assert document.domain(stored())["sex"].most
    field(app, "selectbox", "Values from").set_value("typed").run()
    row = next(row for row in stored()["wizard"]["rows"] if row["name"] == "sex")
    assert (row["categories"], row["most"]) == (None, None)
    assert stored()["domain"] is None


def test_one_guessed_column_among_others_is_enough() -> None:
    app = read(upload_project(GUESSED), "age", "sex")
    half = b"column,value\nage,0..99\n"
    field(app, "file_uploader", "Domain JSON").set_value(("codebook.csv", half, "text/csv")).run()
    assert [row["origin"] for row in stored()["wizard"]["rows"]] == ["codebook", "data"]
    assert stored()["domain_origin"] == "codebook"  # the guessed one is left out by then
    rows = [ColumnDraft.from_json(row).changed(use=True) for row in stored()["wizard"]["rows"]]
    assert domain_table.domain_of(rows).origin == "data"


def test_a_public_table_fills_the_domain_without_a_brand() -> None:
    app = upload_project()
    twin = b"age,sex,eye\n" + b"".join(
        b"%d,%s,%s\n" % (i % 90, (b"Male", b"Female")[i % 2], (b"blue", b"brown")[i % 2]) for i in range(400)
    )
    field(app, "file_uploader", "Public table").set_value(("twin.csv", twin, "text/csv")).run()
    assert stored()["domain_origin"] == "public"
    assert document.domain(stored())["sex"].categories == ("Female", "Male")
    assert can_continue(declined(app), "domain")


def test_values_are_typed_into_the_list_of_a_column() -> None:
    app = upload_project()
    field(app, "radio", "Columns").set_value("eye").run()
    field(app, "text_area", "Values").set_value("blue\nbrown\tdark\n").run()
    row = next(row for row in stored()["wizard"]["rows"] if row["name"] == "eye")
    assert (row["categories"], row["labels"]) == (["blue", "brown"], ["blue", "dark"])


def test_a_usual_list_is_suggested_by_the_name_and_taken_with_a_click() -> None:
    app = upload_project()
    field(app, "radio", "Columns").set_value("sex").run()
    field(app, "button_group", "Written as").set_value("Female, Male").run()
    row = next(row for row in stored()["wizard"]["rows"] if row["name"] == "sex")
    assert (row["categories"], row["origin"]) == (["Female", "Male"], "usual")
    assert field(app, "selectbox", "Values from").value == "usual"
    field(app, "radio", "Columns").set_value("eye").run()
    field(app, "selectbox", "Values from").set_value("usual").run()
    field(app, "selectbox", "Which list or bounds").set_value("percent").run()
    assert recorded_views.of(LOCAL_OWNER, projects.list(LOCAL_OWNER)[0].id) == ()
    app.button(key="take_range_eye").click().run()
    row = next(row for row in stored()["wizard"]["rows"] if row["name"] == "eye")
    assert (row["kind"], row["lower"], row["upper"], row["origin"]) == ("numeric", 0, 100, "usual")
    field(app, "radio", "Columns").set_value("age").run()
    assert app.button(key="right_age")
    assert field(app, "selectbox", "Which list or bounds").value == "age"
    app.button(key="right_age").click().run()
    row = next(row for row in stored()["wizard"]["rows"] if row["name"] == "age")
    assert (row["guessed"], row["origin"], row["upper"]) == (False, "usual", 122)
    assert ["eye" in error.value for error in app.error] == [True]  # blue is not a percentage: that is said, and is a look
    assert recorded_views.of(LOCAL_OWNER, projects.list(LOCAL_OWNER)[0].id) == ("compared",)


def test_two_columns_are_pasted_and_a_wrong_paste_changes_nothing() -> None:
    app = upload_project()
    field(app, "text_area", "Lines from a spreadsheet").set_value("eye\tblue\neye\tbrown\nsex\tm\tmale\nchin\tround\n").run()
    app.button(key="take_pasted").click().run()
    assert "chin" in app.toast[0].value
    rows = {row["name"]: row for row in stored()["wizard"]["rows"]}
    assert (rows["eye"]["categories"], rows["eye"]["origin"], rows["sex"]["labels"]) == (["blue", "brown"], "codebook", ["male"])
    assert rows["age"]["origin"] == "usual"
    field(app, "text_area", "Lines from a spreadsheet").set_value("nose\tlong\n").run()
    app.button(key="take_pasted").click().run()
    assert "Pasted lines" in app.error[0].value
    assert field(app, "text_area", "Lines from a spreadsheet").value == "nose\tlong\n"
    assert {row["name"]: row for row in stored()["wizard"]["rows"]} == rows


def test_kinds_are_asked_before_learning_and_guessed_from_names() -> None:
    app = first_visit("lab.csv", b"weight_kg,admitted_date,ward,Labor_13\n1,2,3,4\n")
    field(app, "text_input", ":population").set_value("Patients").run()
    app.button(key="next_data").click().run()
    assert field(app, "multiselect", "Numbers").value == ["weight_kg", "Labor_13"]
    assert field(app, "multiselect", "Dates").value == ["admitted_date"]
    assert field(app, "multiselect", "Times of day").value == []
    field(app, "multiselect", "Numbers").set_value(["weight_kg", "ward"]).run()
    assert "hardly repeat" in words(app)
    app.button(key="learn_open").click().run()
    kinds = {one.name: one.kind for one in document.domain(stored()).unknown}
    assert kinds == {"weight_kg": "numeric", "admitted_date": "date", "ward": "numeric", "Labor_13": "categorical"}


def test_one_open_column_is_spoken_of_as_one() -> None:
    app = first_visit("lab.csv", b"ward\n3\n")
    field(app, "text_input", ":population").set_value("Patients").run()
    app.button(key="next_data").click().run()
    assert "**Check the kind of the open column.** Its name suggests this." in words(app)
    assert "Price: 10% of ε 1." in words(app)


def test_rows_beyond_the_limit_are_a_statement_and_most_of_them_a_warning() -> None:
    app = first_visit("people.csv", CSV)
    field(app, "radio", "Rows").set_value(True).run()
    field(app, "text_input", ":unit.max_rows_per_person").set_value("2").run()
    assert not app.warning
    field(app, "button_group", ":wizard.left_out").set_value("most").run()
    assert "missing from" in app.warning[0].value
    assert stored()["wizard"]["left_out"] == "most"


def test_about_how_many_people_is_a_number_that_may_be_left_out() -> None:
    app = open_page("data", project())
    assert field(app, "text_input", ":wizard.people").value == "50,000"
    field(app, "text_input", ":wizard.people").set_value("1,306").run()
    assert document.people(stored()) == 1306
    field(app, "text_input", ":wizard.people").set_value("hundreds").run()
    assert document.people(stored()) is None
    assert "**Number of people**: this is not a number." in words(app)
    field(app, "text_input", ":wizard.people").set_value("").run()
    assert document.people(stored()) is None


def test_a_domain_without_stored_columns_survives_the_first_change_of_one() -> None:
    place = project()
    before = document.domain(stored())
    assert "rows" not in stored()["wizard"]
    open_page("domain", place)
    assert document.domain(stored()).attributes == before.attributes
    rows = draft_rows.of(projects.load(LOCAL_OWNER, project()).draft)
    assert [row.name for row in rows if row.use and row.problem() is None] == list(before.names)


def test_what_is_open_is_learnt_for_a_share_of_the_budget_that_is_said_before() -> None:
    app = upload_project()
    assert "shared by" in words(app)
    field(app, "selectbox", "Share of the budget that learns").set_value(0.2).run()
    app.button(key="learn_open").click().run()
    assert [a.name for a in document.domain(stored()).unknown] == ["sex", "eye"]
    assert (stored()["domain_origin"], stored()["budget"]["discovery"]) == ("usual", 0.2)
    declined(app)
    for page in ("domain", "workload", "budget"):
        assert can_continue(app, page), words(app)
        app.button(key=f"next_{page}").click().run()
        if page == "workload":
            assert stages(app)["learning values"] == pytest.approx(0.2)
            assert "What is learnt before the tables" in words(app)
    plan = document.plan(stored(), "Trial")
    assert plan.shares.of("discovery") == pytest.approx(0.2 * plan.shares.rho)
    assert document.shares(stored()).of("discovery") == plan.shares.of("discovery")
    assert "records share" in " ".join(discovery.sentences(plan))


PLANNED = "age\t0..99\nsex\tFemale\nsex\tMale\neye\tblue\neye\tbrown\n"


def planned(lines: str = PLANNED) -> AppTest:
    """The Data page of a project that begins with pasted lines and no table."""
    app = first_visit()
    field(app, "button_group", ":wizard.way").set_value("plan").run()
    field(app, "text_area", ":plan_lines").set_value(lines).run()
    app.button(key="plan_columns").click().run()
    field(app, "text_input", ":population").set_value("P").run()
    return app


def test_every_step_but_the_run_opens_without_a_table_and_the_table_comes_last() -> None:
    app = planned()
    for page, following in (("data", "Domain"), ("domain", "Workload"), ("workload", "Budget"), ("budget", "Mechanism")):
        assert can_continue(app, page), words(app)
        app.button(key=f"next_{page}").click().run()
        assert app.title[0].value == following
    assert "Choose the" in words(app)
    assert "has checked" not in words(app)
    assert not [button for button in app.button if "Lock the plan" in button.label]
    refused(document.spec, stored(), "Trial", saying="not chosen a table")
    app.switch_page("pages/data.py").run()
    field(app, "button_group", ":wizard.way").set_value("upload").run()
    app.file_uploader[0].set_value(("people.csv", CSV, "text/csv")).run()
    assert "no others" in words(app)
    app.switch_page("pages/mechanism.py").run()
    assert "opens when" in app.info[0].value  # nobody has decided whether the records are compared with the plan
    app.switch_page("pages/domain.py").run()
    app.button(key="no_comparison").click().run()
    app.switch_page("pages/mechanism.py").run()
    assert [button for button in app.button if "Lock the plan" in button.label]
    assert "has checked" in words(app)
    assert document.domain(stored())["eye"].categories == ("blue", "brown")
    assert recorded_views.of(LOCAL_OWNER, projects.list(LOCAL_OWNER)[0].id) == ()


def test_a_table_that_comes_later_is_compared_with_the_plan_and_can_be_taken_away_again() -> None:
    app = planned("age\nhair\n")
    assert stored()["wizard"]["columns"] == ["age", "hair"]
    field(app, "button_group", ":wizard.way").set_value("upload").run()
    app.file_uploader[0].set_value(("people.csv", CSV, "text/csv")).run()
    assert "lacks" in app.warning[0].value
    assert "hair" in app.warning[0].value
    assert "sex" in app.warning[1].value
    app.button(key="next_data").click().run()
    assert [(row["name"], row.get("use", True)) for row in stored()["wizard"]["rows"]] == [("age", True), ("sex", False), ("eye", False)]
    app.switch_page("pages/data.py").run()
    app.button(key="remove_table").click().run()
    assert stored()["wizard"]["columns"] == ["age", "hair"]
    assert "data" not in stored()


def test_a_plan_that_cannot_be_read_says_so_and_changes_nothing() -> None:
    app = first_visit()
    field(app, "button_group", ":wizard.way").set_value("plan").run()
    field(app, "text_area", ":plan_lines").set_value("a\na\n").run()
    app.button(key="plan_columns").click().run()
    assert "twice" in app.error[0].value
    assert "columns" not in stored()["wizard"]


def test_another_table_closes_the_steps_that_no_longer_fit() -> None:
    app = open_page("data", project()).button(key="remove_table").click().run()
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
    field(app, "text_input", ":population").set_value("One").run()
    app.run()
    assert projects.load(LOCAL_OWNER, one).draft["population"] == "One"
    assert projects.load(LOCAL_OWNER, two).draft["population"] == "Two"
    assert len(set(field(app, "selectbox", "Project").options)) == 2


def test_a_project_deleted_in_another_tab_is_no_crash() -> None:
    one = project()
    app = open_page("budget", one)
    projects.delete(LOCAL_OWNER, one)
    field(app, "text_input", "ε").set_value("2").run()


def test_hostile_names_never_enter_a_label_as_markup() -> None:
    hostile = b'"<script>alert(1)</script>","$x$ :red[y]"\n' + b"a,b\n" * 30
    app = upload_project(hostile)
    for element in [*app.markdown, *app.caption, *app.error, *app.warning]:
        assert "<script>" not in element.value.replace("` <script>alert(1)</script> `", "")


def test_the_name_of_another_owners_project_in_the_address_opens_nothing() -> None:
    roles.greet("someone-else", "Someone", roles.EVERY, now())
    theirs = projects.create("someone-else", "Secret", document.new()).id
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=SECONDS)
    app.query_params["project"] = theirs
    app.run()
    assert "Secret" not in str(field(app, "selectbox", "Project").options)
    assert app.query_params["project"] != [theirs]


def test_the_answer_about_other_copies_is_saved_with_the_plan() -> None:
    app = open_page("data", project())
    field(app, "text_area", ":other_copies").set_value("Totals in the annual report.").run()
    assert stored()["other_copies"] == "Totals in the annual report."
    assert document.spec(stored(), "Trial").other_copies == "Totals in the annual report."
    reloaded = open_page("data", projects.list(LOCAL_OWNER)[0].id)
    assert field(reloaded, "text_area", ":other_copies").value == "Totals in the annual report."


def test_licence_and_creators_are_saved_with_the_plan_and_a_line_that_says_nothing_stops_it() -> None:
    app = open_page("data", project())
    field(app, "text_area", "Licence, creators").set_value("licence: CC-BY-4.0\ncreator: Statistics Office").run()
    assert stored()["about"] == {"licence": "CC-BY-4.0", "creators": ["Statistics Office"]}
    about = document.spec(stored(), "Trial").about
    assert about is not None
    assert about.licence == "CC-BY-4.0"
    reloaded = open_page("data", projects.list(LOCAL_OWNER)[0].id)
    field(reloaded, "text_area", "Licence, creators").set_value("free for all").run()
    assert document.problem(stored(), "data") is not None
    field(reloaded, "text_area", "Licence, creators").set_value("").run()
    assert document.problem(stored(), "data") is None
    assert document.spec(stored(), "Trial").about is None


def test_pairs_are_drawn_only_where_some_of_them_are_not_asked_for() -> None:
    for workload, drawn in (({"kind": "all", "k": 2}, 0), ({"kind": "target", "k": 2, "column": "age"}, 1)):
        app = open_page("workload", project(workload=workload))
        assert len(app.get("vega_lite_chart")) == drawn
        assert ("pairs of columns are asked for" in words(app)) == (not drawn)


def test_a_project_is_copied_without_its_table_once_it_is_said_whom_the_new_one_is_about() -> None:
    one = project(criteria=[{"kind": "tables", "size": 2, "limit": 0.1}])
    recorded_views.record(LOCAL_OWNER, one, "rows")
    app = open_page("budget", one)
    app.button(key="project_copy").click().run()
    app.text_input(key="project_copy_name").set_value("For next year")
    app.button(key="project_copy_confirm").click().run()
    assert [p.name for p in projects.list(LOCAL_OWNER)] == ["Trial"]
    app.button(key="project_copy").click().run()
    app.text_input(key="project_copy_name").set_value("For next year")
    app.radio(key="project_copy_whose").set_value("same")
    app.button(key="project_copy_confirm").click().run()
    made = projects.list(LOCAL_OWNER)[0]
    assert made.name == "For next year"
    assert made.draft["population"] == "Invented people"
    assert made.draft["criteria"] == projects.load(LOCAL_OWNER, one).draft["criteria"]
    assert "data" not in made.draft
    assert recorded_views.of(LOCAL_OWNER, made.id) == ("rows",)
    assert made.id in app.query_params["project"]


def test_a_plan_that_was_made_after_a_look_stays_so_for_other_people() -> None:
    one = project()
    recorded_views.record(LOCAL_OWNER, one, "truth")
    app = open_page("budget", one)
    app.button(key="project_copy").click().run()
    assert "former records" in words(app)
    app.text_input(key="project_copy_name").set_value("Elsewhere")
    app.radio(key="project_copy_whose").set_value("others")
    app.button(key="project_copy_confirm").click().run()
    made = projects.list(LOCAL_OWNER)[0]
    assert (made.name, "population" in made.draft) == ("Elsewhere", False)
    assert recorded_views.of(LOCAL_OWNER, made.id) == ("truth",)


@pytest.mark.parametrize("kind", ["bundle", "plan"])
def test_next_year_begins_with_the_plan_of_a_release(kind: str) -> None:
    """From the bundle or its spec to a plan that can be locked, once the new table is there."""
    content = packed() if kind == "bundle" else files()["spec.json"]
    name = "release.zip" if kind == "bundle" else "spec.json"
    app = first_visit()
    field(app, "button_group", ":wizard.way").set_value("plan").run()
    field(app, "file_uploader", "For next year").set_value((name, content, "application/octet-stream")).run()
    assert "4 columns" in words(app)
    field(app, "button_group", ":wizard.way").set_value("upload").run()
    table = b"sex,age,health,marital_status,income\nfemale,31,good,single,5\n"
    app.file_uploader[0].set_value(("people-2026.csv", table, "text/csv")).run()
    assert "“income”" in words(app).replace("\\", "")
    app.button(key="next_data").click().run()
    app.button(key="no_comparison").click().run()
    after, before = document.spec(stored(), "Trial").published(), spec().published()
    for part in ("population", "unit", "workload", "budget", "mechanism"):
        assert after[part] == before[part], part
    assert Domain.from_json(after["domain"]) == Domain.from_json(before["domain"])


def test_what_is_no_release_is_no_plan_for_next_year() -> None:
    app = first_visit()
    field(app, "button_group", ":wizard.way").set_value("plan").run()
    field(app, "file_uploader", "For next year").set_value(("release.zip", b"PK no", "application/zip")).run()
    assert "ZIP file" in words(app)
    assert not document.columns(stored())


def test_dragging_epsilon_moves_sentences_about_the_person_and_the_tables() -> None:
    """The slider sets the budget that is spent; nothing is charged or read for what it says."""
    app = open_page("budget", project())
    said = [line for line in words(app).splitlines() if "; at ε" in line]
    assert len(said) >= 2
    (error,) = (line for line in words(app).splitlines() if line.startswith("Tables should average **"))
    (guess,) = (line for line in words(app).splitlines() if "50:50" in line)
    slider = next(one for one in app.select_slider if one.label == "Drag ε")
    app = slider.set_value(5.0).run()
    assert stored()["budget"]["epsilon"] == 5.0
    moved = [line for line in words(app).replace("\\", "").splitlines() if "; at ε\N{NO-BREAK SPACE}2.5" in line]
    assert len(moved) == len(said)
    assert moved != said
    after = words(app).splitlines()
    assert error not in after
    assert guess not in after
    assert sum(line.startswith("Tables should average **") for line in after) == 1
    assert not balance.populations()
