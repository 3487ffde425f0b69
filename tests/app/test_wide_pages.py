"""Pages with a table of many columns: proposals on the Workload page, and nothing that falls over."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpsynth_core.claims.ranges import USUAL_SHARE
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.domain import several_view
from tests.additions import listed
from tests.app.demo_project import draft, open_page, project, words

COLUMNS = 75
NAMES = tuple(f"q{number // 5}_{number % 5}" for number in range(COLUMNS))
WIDE = Domain.from_json({name: 2 + number % 3 for number, name in enumerate(NAMES)})


def wide(**fields: Any) -> str:
    """A project over many columns."""
    stated = draft(domain=WIDE.to_json(), mechanism={"name": "aim", "settings": {}})
    stated["wizard"] |= {"columns": list(NAMES), "source": "upload", "label": "wide"}
    return project(**(stated | fields))


def asked() -> Any:
    return projects.list(LOCAL_OWNER)[0].draft["workload"]


def test_each_purpose_is_one_click_with_its_cost_beside_it() -> None:
    app = open_page("workload", wide(workload={"kind": "all", "k": 3}))
    triples = math.comb(COLUMNS, 3)
    assert f"{triples:,} tables" in words(app), "what is asked for says what it costs"
    assert app.radio[0].value == "own"
    for name, tables in (("pairs", math.comb(COLUMNS, 2)), ("target", math.comb(COLUMNS - 1, 2)), ("groups", 15 * math.comb(5, 3))):
        assert any(f"{tables:,} tables" in caption and "± " in caption for caption in app.radio[0].proto.captions)
        app.radio[0].set_value(name).run()
        assert app.radio[0].value == name
    assert len(asked()["marginals"]) == 15 * math.comb(5, 3)
    assert not app.button(key="next_workload").disabled


def test_a_purpose_about_one_column_asks_which_and_a_list_of_your_own_is_kept() -> None:
    app = open_page("workload", project())
    app.radio[0].set_value("target").run()
    next(box for box in app.selectbox if box.label == "Which column is to be explained?").set_value("sex").run()
    assert asked() == {"kind": "target", "column": "sex", "k": 3}
    assert app.radio[0].value == "target"
    app.radio[0].set_value("own").run()
    assert not app.error, "a list that was begun is no mistake"
    assert app.button(key="next_workload").disabled
    app.multiselect[0].set_value(["sex", "age"]).run()
    app.button(key="add_marginal").click().run()
    own = asked()
    assert own["marginals"] == [{"attributes": ["age", "sex"], "weight": 1.0}]
    app.radio[0].set_value("single").run()
    assert asked() == {"kind": "all", "k": 1}
    app.radio[0].set_value("own").run()
    assert asked() == own


def test_ranges_are_asked_for_in_words_and_get_a_share_of_the_budget() -> None:
    app = open_page("workload", project())
    app.radio[0].set_value("ranges").run()
    assert asked() == {"kind": "ranges"}
    assert app.radio[0].value == "ranges"
    assert "“from 30 to 45”" in words(app)
    assert projects.list(LOCAL_OWNER)[0].draft["budget"]["ranges"] == USUAL_SHARE
    assert not app.button(key="next_workload").disabled


def test_tables_set_in_detail_that_serve_a_purpose_are_called_by_it() -> None:
    app = open_page("workload", project(workload={"kind": "target", "column": "age", "k": 2}))
    assert app.radio[0].value == "own"
    columns = next(group for group in app.get("button_group") if group.label == "Columns per table")
    columns.set_value(3).run()
    assert app.radio[0].value == "target"


@pytest.mark.parametrize("page", ["budget", "mechanism", *listed("PAGES")])
def test_other_pages_stand_many_columns(page: str) -> None:
    app = open_page(page, wide())
    assert app.title[0].value != "Workload"


def is_used(name: str) -> bool:
    return any(entry["name"] == name for entry in projects.list(LOCAL_OWNER)[0].draft["domain"]["attributes"])


def test_a_long_list_of_columns_is_searched_and_keeps_the_column_that_is_open() -> None:
    app = open_page("domain", wide())
    listed = next(radio for radio in app.radio if radio.label == "Columns")
    assert len(listed.options) == several_view.PAGE
    next(box for box in app.text_input if box.label == "Search columns").set_value("Q3_").run()
    listed = next(radio for radio in app.radio if radio.label == "Columns")
    assert listed.value == NAMES[0], "what is open stays in the list"
    assert len(listed.options) == 1 + sum(name.startswith("q3_") for name in NAMES)
    assert not [box for box in open_page("domain", project()).text_input if box.label == "Search columns"], "a short list needs none"


def test_a_long_list_of_columns_has_pages_that_follow_the_selected_column() -> None:
    app = open_page("domain", wide())

    def listed() -> Any:
        return next(radio for radio in app.radio if radio.label == "Columns")

    shown = [*listed().options]
    while not app.button(key="later_columns").disabled:
        app.button(key="later_columns").click().run()
        assert listed().value is None, "the selected column is on the first page"
        shown += listed().options
    assert len(shown) == COLUMNS
    listed().set_value(NAMES[-1]).run()
    assert listed().value == NAMES[-1]
    app.button(key="earlier_columns").click().run()
    assert listed().value is None
    listed().set_value(NAMES[several_view.PAGE]).run()
    assert (len(listed().options), listed().value) == (several_view.PAGE, NAMES[several_view.PAGE])
    next(box for box in app.text_input if box.label == "Search columns").set_value("q2_").run()
    assert not [button for button in app.button if button.key == "later_columns"], "what is found fits one page"


def test_several_columns_are_kept_left_out_and_used_again_at_once() -> None:
    app = open_page("domain", wide())
    choice = app.multiselect[0]
    choice.set_value(["q1_0", "q1_1", "q2_0"]).run()
    app.button(key="keep_only").click().run()
    assert [name for name in NAMES if is_used(name)] == ["q1_0", "q1_1", "q2_0"]
    assert app.multiselect[0].value == []
    app.multiselect[0].set_value(["q1_1"]).run()
    app.button(key="leave_several").click().run()
    assert [name for name in NAMES if is_used(name)] == ["q1_0", "q2_0"]
    app.multiselect[0].set_value(["q7_0"]).run()
    app.button(key="use_several").click().run()
    assert [name for name in NAMES if is_used(name)] == ["q1_0", "q2_0", "q7_0"]


def test_a_red_light_over_many_columns_leads_to_the_choice_of_those_that_matter() -> None:
    place = wide(workload={"kind": "all", "k": 2})
    few = projects.load(LOCAL_OWNER, place).draft
    few["wizard"]["people"] = 1_500
    projects.save(LOCAL_OWNER, place, few)
    app = open_page("budget", place)
    assert "Keep " in words(app)
    app.button(key="way_columns").click().run()
    assert app.title[0].value == "Domain"
    assert next(box for box in app.expander if "matter" in box.label).proto.expanded
