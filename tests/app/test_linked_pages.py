"""Two linked tables through the pages: the second is folded away, a key must hold in both, one list of columns, and what has no place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import synthesis
from dpsynth_core.store import projects, recorded_views, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary import link
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.web.data import members_view, project_table
from dpsynth_core.web.domain import draft_rows
from dpsynth_core.web.run import launch
from dpsynth_core.web.shell import curator, document, kept_rules, plan_first
from tests.additions import listed
from tests.app.demo_project import field, finished_run, open_page, stored, words
from tests.app.test_preparation_pages import can_continue, first_visit
from tests.homes import HOUSEHOLDS, MOST, PEOPLE, tables
from tests.refusals import refused

PASSED = ["data", "domain", "workload", "budget"]


def linked(folder: Path, **fields: Any) -> str:
    """A project over both tables, ready to run."""
    homes, people = tables(folder)
    draft = document.new() | {"population": "Homes", "budget": document.new()["budget"] | {"epsilon": 4.0}}
    project_table.adopt(draft, project_table.from_path(str(homes), True))
    project_table.link(draft, project_table.from_path(str(people), True))
    draft["unit"]["max_rows_per_person"] = MOST
    draft["domain"] = {"version": 1, "attributes": [{"name": "region", "kind": "coded", "size": 2}]}
    draft["members"]["domain"] = PEOPLE
    draft["wizard"] |= {"passed": PASSED, "people": 3000, "comparison": "declined"}
    return projects.create(LOCAL_OWNER, "Homes", draft | fields).id


@pytest.fixture
def place(tmp_path: Path) -> str:
    return linked(tmp_path)


def _second(app: AppTest, path: Path) -> AppTest:
    field(app, "text_input", ":wizard.second_path").set_value(str(path)).run()
    return app.button(key="open_second").click().run()


def test_two_files_become_two_linked_tables_with_their_key_and_survive_a_reload(tmp_path: Path) -> None:
    homes, people = tables(tmp_path)
    app = first_visit()
    app.file_uploader[0].set_value(("homes.csv", homes.read_bytes(), "text/csv")).run()
    (fold,) = [one for one in app.expander if one.label.endswith("no second table")]
    assert not fold.proto.expanded
    field(app, "text_input", ":population").set_value("Homes").run()
    app = _second(app, people)
    assert (stored()["unit"]["person_column"], stored()["unit"]["max_rows_per_person"]) == ("id", project_table.MOST_MEMBERS)
    assert can_continue(app, "data"), words(app)
    assert not [one for one in app.radio if one.label == "Rows"]  # a person is a household here
    assert can_continue(open_page("data", projects.list(LOCAL_OWNER)[0].id), "data")
    app.button(key="remove_second").click().run()
    assert "members" not in stored()
    assert stored()["unit"] == document.new()["unit"]


def test_a_key_that_one_table_lacks_stops_the_page(tmp_path: Path) -> None:
    homes, people = tables(tmp_path)
    people.write_text(people.read_text().replace("id,", "home,", 1))
    app = first_visit()
    app.file_uploader[0].set_value(("homes.csv", homes.read_bytes(), "text/csv")).run()
    field(app, "text_input", ":population").set_value("Homes").run()
    app = _second(app, people)
    assert "in common" in words(app)
    assert not can_continue(app, "data")


@pytest.mark.parametrize("most", ["0", "11", "six"])
def test_more_members_than_can_count_are_refused(place: str, most: str) -> None:
    app = open_page("data", place)
    field(app, "text_input", ":unit.max_rows_per_person").set_value(most).run()
    assert not can_continue(app, "data")


def test_keys_are_looked_at_when_asked_and_the_look_is_noted(place: str) -> None:
    app = open_page("data", place)
    assert "1 row" not in words(app)
    assert recorded_views.of(LOCAL_OWNER, place) == ()
    field(app, "toggle", ":keys").set_value(True).run()
    assert "1 row" in words(app).replace("rows", "row")
    assert recorded_views.of(LOCAL_OWNER, place) == ("truth",)


def test_one_list_has_the_columns_of_both_and_a_codebook_speaks_of_its_own_table(place: str) -> None:
    app = open_page("domain", place)
    (columns,) = [one for one in app.radio if one.label == "Columns"]
    assert len(columns.options) == 4  # the key, of both, among them
    rows = draft_rows.of(document.completed(stored()))
    assert {row.name: row.table for row in rows} == {"id": "", "region": "", "sex": "people.csv", "adult": "people.csv"}
    other = draft_rows.codebook_of(document.domains(stored())[1]).fill(rows)
    assert [row.use for row in other] == [False, True, True, True]


def test_both_tables_are_compared_with_their_domains(place: str) -> None:
    draft = projects.load(LOCAL_OWNER, place).draft
    narrow = {**PEOPLE, "attributes": [PEOPLE["attributes"][0] | {"categories": ["0", "7"]}, PEOPLE["attributes"][1]]}
    wizard = draft["wizard"] | {"comparison": "made"}
    projects.save(LOCAL_OWNER, place, {**draft, "wizard": wizard, "members": draft["members"] | {"domain": narrow}})
    app = open_page("domain", place)
    assert "` sex `" in words(app)
    assert recorded_views.of(LOCAL_OWNER, place) == ("compared",)
    projects.save(LOCAL_OWNER, place, {**stored(), "members": draft["members"]})
    assert recorded_views.of(LOCAL_OWNER, place) == ("outside",)  # the domain of the second table was changed after it


def test_the_workload_is_told_by_kind_and_the_plan_is_that_of_the_command_line(place: str) -> None:
    app = open_page("workload", place)
    for kind in ("Of households", "Of members", "Across", "Within"):
        assert kind in words(app)
    assert can_continue(app, "workload")
    plan = document.plan(stored(), "Homes")
    assert plan.link is not None
    assert plan.mechanism.card.name == "households"
    assert (NUMBER, "adult") in plan.workload.weights
    assert set(dict(plan.shares.aside)) == {"certificate"}
    assert Plan.of(plan.spec).domain == plan.domain


@pytest.mark.parametrize("page", ["budget", "mechanism", "compare", *listed("PAGES")])
def test_every_page_of_the_plan_is_drawn(place: str, page: str) -> None:
    app = open_page(page, place)
    assert "Green:" in words(app) or page in ("compare", *listed("PAGES"))
    assert ("of the households in the wrong group" in words(app)) == (page == "mechanism")
    assert "9 of 9" in words(app) or "Green:" not in words(app)


def test_there_is_no_light_without_a_number_of_households_or_of_what_is_unlike_all_that_was_tried(place: str) -> None:
    draft = projects.load(LOCAL_OWNER, place).draft
    projects.save(LOCAL_OWNER, place, {**draft, "wizard": draft["wizard"] | {"people": None}})
    assert "No light:" in words(open_page("budget", place)).replace("*", "")
    wide = {"version": 1, "attributes": [PEOPLE["attributes"][0], *({"name": f"c{i}", "kind": "coded", "size": 60} for i in range(8))]}
    columns = draft["wizard"]["members"]["columns"] + [f"c{i}" for i in range(8)]
    wizard = draft["wizard"] | {"members": draft["wizard"]["members"] | {"columns": columns}}
    projects.save(LOCAL_OWNER, place, {**draft, "wizard": wizard, "members": draft["members"] | {"domain": wide}})
    assert "unlike all" in words(open_page("budget", place))


def test_conditions_are_about_columns_that_somebody_asks_for(place: str) -> None:
    """Not about how members are alike, which the link measures for the rows; the plan refuses that by its name."""
    draft = projects.load(LOCAL_OWNER, place).draft
    asked = [{"kind": "share", "of": {"sex": ["man"]}, "tolerance": 0.1}]
    projects.save(LOCAL_OWNER, place, {**draft, "criteria": asked})
    offered = [one.options for one in open_page("budget", place).multiselect if "criterion:0:" in one.key]
    assert ["region", NUMBER, "sex", "adult", "sex of another", "adult of another"] in offered
    assert not [name for names in offered for name in names if "alike" in name]
    alike = [{"kind": "share", "of": {"members alike in sex": ["2"]}, "tolerance": 0.1}]
    plan = document.plan(document.completed({**draft, "criteria": asked}), "Homes")
    assert len(plan.criteria) == 1
    spec = plan.spec
    refused(Plan.of, spec.model_copy(update={"criteria": tuple(alike)}), saying="members alike in sex")
    tables = {"kind": "marginals", "marginals": [{"attributes": ["sex", "members alike in sex"]}]}
    refused(Plan.of, spec.model_copy(update={"workload": tables}), saying="members alike in sex")


def test_that_nothing_will_bound_most_tables_without_a_certificate_is_said_where_it_is_chosen(place: str) -> None:
    app = open_page("budget", place)
    assert "no bound" not in words(app)
    field(app, "button_group", "Share of the budget").set_value(0.0).run()
    assert "have none" in words(app)


def test_more_budget_is_the_way_offered_for_two_tables(place: str) -> None:
    draft = projects.load(LOCAL_OWNER, place).draft
    small = draft | {"budget": draft["budget"] | {"epsilon": 0.3}}
    projects.save(LOCAL_OWNER, place, {**small, "wizard": draft["wizard"] | {"people": 700}})
    app = open_page("budget", place)
    app.button(key="way_epsilon").click().run()
    assert 0.3 < stored()["budget"]["epsilon"] < 20
    assert "Green:" in words(open_page("budget", place))


def test_too_few_households_are_said_before_anything_is_spent(place: str) -> None:
    draft = projects.load(LOCAL_OWNER, place).draft
    projects.save(LOCAL_OWNER, place, {**draft, "wizard": draft["wizard"] | {"people": 30}})
    assert "Red:" in words(open_page("budget", place))


def test_another_table_lets_go_of_the_second_one_where_it_has_none(place: str) -> None:
    app = open_page("data", place)
    app.button(key="remove_table").click().run()
    assert "members" not in stored()
    app.button(key="use_demo").click().run()
    assert app.title[0].value == "Domain"


def test_a_draft_of_another_project_cannot_name_its_second_table(place: str, tmp_path: Path) -> None:
    kept = projects.upload(LOCAL_OWNER, place, "people.csv", [b"id,sex,adult\n1,0,1\n"], shelf=members_view.SHELF)
    theirs = linked(tmp_path)
    draft = projects.load(LOCAL_OWNER, theirs).draft
    projects.save(LOCAL_OWNER, theirs, {**draft, "members": draft["members"] | {"path": str(kept)}})
    with pytest.raises(Exception, match="there is no such file or folder"):
        finished_run(theirs)


def test_noise_of_a_run_is_in_households(place: str) -> None:
    run = finished_run(place)
    shown = open_page("mechanism", place).dataframe[0].value
    of_records = [event.sigma for event in runs.events(LOCAL_OWNER, run.id) if event.kind == "measured"]
    each = link.records_each(run.spec.unit.max_rows_per_person)
    assert sorted(shown["sigma"]) == pytest.approx([sigma / each for sigma in sorted(of_records)])


def test_results_have_both_tables_every_kind_of_error_and_questions(place: str) -> None:
    assert finished_run(place).state == "done"
    app = open_page("results", place)
    assert "under the keys" in words(app)
    for view in ("columns", "pairs", "rows", "downloads", "about"):
        app = open_page("results", place, view=view)
        assert not next(link for link in app.get("link_button") if link.proto.label == "Ask a question").proto.disabled
        if view == "columns":
            app = field(app, "toggle", "Show true values").set_value(True).run()
        if view == "rows":
            assert list(app.dataframe[0].value.columns) == ["id", "region"]
            app = app.button_group(key="results_table").set_value(False).run()
            assert list(app.dataframe[0].value.columns) == ["id", "sex", "adult"]
    open_page("compare", place)


def test_simulated_households_go_from_one_click_to_a_plan_that_protects_nobody() -> None:
    app = first_visit()
    app.button(key="use_linked_demo").click().run()
    assert app.title[0].value == "Domain"
    for page, following in (("domain", "Workload"), ("workload", "Budget"), ("budget", "Mechanism")):
        assert can_continue(app, page), words(app)
        app.button(key=f"next_{page}").click().run()
        assert app.title[0].value == following
    plan = document.plan(stored(), "x")
    assert plan.link is not None
    assert not plan.spec.protects
    synthesis.plan(plan.spec)
    app = open_page("data", projects.list(LOCAL_OWNER)[0].id)
    field(app, "toggle", ":preview").set_value(True).run()
    assert [next(iter(one.value.columns)) for one in app.dataframe] == ["household", "household"]
    app.button(key="remove_second").click().run()
    assert "members" not in stored()


def test_a_copy_is_a_plan_for_the_first_table_and_a_release_of_two_begins_none(place: str) -> None:
    draft = document.completed(projects.load(LOCAL_OWNER, place).draft)
    new = plan_first.copied(draft, plan_first.Whose.SAME)
    assert "members" not in new
    assert new["unit"] == document.new()["unit"]
    refused(plan_first.of_release, document.spec(draft, "Homes"), saying="two linked tables")


def test_a_changed_domain_of_the_second_table_is_said_since_a_run(place: str) -> None:
    run = finished_run(place)
    draft = document.completed(projects.load(LOCAL_OWNER, place).draft)
    assert launch.since(run, draft) == ()
    narrow = {**PEOPLE, "attributes": PEOPLE["attributes"][:1]}
    told = launch.since(run, {**draft, "members": draft["members"] | {"domain": narrow}})
    assert told == ("columns or values of the second table", "tables asked for")
    project_table.unlink(draft)
    assert "mechanism: Households → AIM" in launch.since(run, draft | {"workload": {"kind": "all", "k": 1}})


def test_metadata_of_sdv_speaks_of_both_tables_at_once(place: str) -> None:
    listed = {"sdtype": "categorical", "order": ["0", "1"]}
    parts = {"homes": {"columns": {"id": {"sdtype": "id"}, "region": listed}}, "people": {"columns": {"sex": listed, "adult": listed}}}
    link = {"parent_table_name": "homes", "parent_primary_key": "id", "child_table_name": "people", "child_foreign_key": "id"}
    content = json.dumps({"METADATA_SPEC_VERSION": "V1", "tables": parts, "relationships": [link]}).encode()
    app = open_page("domain", place)
    field(app, "file_uploader", "Domain JSON").set_value(("metadata.json", content, "application/json")).run()
    assert [one["kind"] for one in stored()["members"]["domain"]["attributes"]] == ["ordinal", "ordinal"]
    assert [one["name"] for one in stored()["domain"]["attributes"]] == ["region"]
    codebook = draft_rows.read_codebook(content)
    assert codebook.linked


def test_true_values_are_of_households_and_members_in_parts(place: str) -> None:
    """Pages count in households: each once in every table, and in parts where members share it."""
    finished_run(place)
    run = runs.list(LOCAL_OWNER, place)[0]
    counts = curator.truth(run.spec, [("region",), ("adult",)])
    assert counts.zone is Zone.CURATOR
    assert {float(table.sum()) for table in counts.value.values()} == {float(HOUSEHOLDS)}
    assert any(count % 1 for count in counts.value[("adult",)])


def _pick(app: AppTest, side: str, column: str, values: list[str]) -> AppTest:
    return next(one for one in app.multiselect if f":zeros:{side}:{column}" in one.key).set_value(values).run()


def _way(app: AppTest, way: str) -> AppTest:
    return next(one for one in app.button_group if one.key.endswith(":zeros:way")).set_value(way).run()


def test_rules_of_both_tables_are_stated_on_the_page_and_hold_in_the_plan(place: str) -> None:
    app = open_page("domain", place)
    (fold,) = [one for one in app.expander if one.label == "Rules that hold in every household"]
    assert not fold.proto.expanded
    app = _pick(_way(app, "number"), "of", "sex", ["man"])
    app.button(key="zeros_number").click().run()
    assert stored()["members"]["rules"] == [{"members_with": {"sex": ["man"]}, "exactly": 1}]
    assert "sex “man”" in words(app).replace("\\", "").replace("\u2060", "")
    app = _way(app, "older")
    app = _pick(_pick(app, "less", "sex", ["man"]), "more", "sex", ["man"])
    assert app.button(key="zeros_older").disabled  # of two men, neither could be older
    app = _pick(_pick(app, "less", "sex", ["woman"]), "more", "sex", ["man"])
    app.button(key="zeros_older").click().run()
    assert stored()["members"]["rules"][1]["cells"] == [["woman", "1", "man", "0"]]
    link = document.plan(document.completed(stored()), "Homes").link
    assert link is not None
    assert (len(link.numbers), len(link.rules)) == (1, 2)  # that at most one is a man rules out two
    app = _way(app, "sentence")
    next(one for one in app.selectbox if one.label == "If").set_value(NUMBER).run()
    _pick(app, "if", NUMBER, ["1", "2", "3"])
    app = _pick(app, "then", "region", ["0", "1"])
    app.button(key="zeros_add").click().run()
    assert "can keep" in words(app)
    assert len(stored()["members"]["rules"]) == 2
    app.button(key="zeros_delete_0").click().run()
    assert len(stored()["members"]["rules"]) == 1


def test_rules_about_the_first_table_go_on_holding_when_a_second_comes_and_goes(tmp_path: Path, place: str) -> None:
    draft = document.completed(projects.load(LOCAL_OWNER, place).draft)
    project_table.unlink(draft)
    draft["domain"]["attributes"].append({"name": "tenure", "kind": "coded", "size": 2})
    rule = {"never": {"region": ["0"], "tenure": ["1"]}}
    kept_rules.keep(draft, [rule])
    project_table.link(draft, project_table.from_path(str(tmp_path / "people.csv"), True))
    assert (draft["members"]["rules"], draft["domain"].get("impossible")) == ([rule], None)
    kept_rules.keep(draft, [rule, {"members_with": {"sex": ["man"]}, "at_most": 1}])
    project_table.unlink(draft)
    assert draft["domain"]["impossible"] == [rule]
