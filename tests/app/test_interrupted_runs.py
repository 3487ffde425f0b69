"""A click while a page is drawn interrupts the drawing: what the wizard stores must not change by that.

The browser may then lack a widget that the server counts as drawn. When it gets it at the next run without its value, it shows the widget's
own default and sends that with the click after it; the callback stores it as if a person had entered it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.budget import criteria_view
from dpsynth_core.web.data import project_table
from dpsynth_core.web.workload import workload_view
from tests.additions import listed
from tests.app.demo_project import PASSED, draft, open_page, project, words

PAGES = ("data", "domain", "workload", "budget", "mechanism", *listed("PAGES"))
MEAN = {"kind": "mean", "column": "age", "among": {"age": "0..40", "sex": ["female"]}, "tolerance": 2.5, "name": "<b>young</b>"}


def uploaded() -> str:
    stated = draft(other_copies="Totals of 2024.", criteria=[MEAN], models=[{"column": "age", "tolerance": 4.5}])
    place = projects.create(LOCAL_OWNER, "Trial", stated)
    people = io.BytesIO(demo.simulate(rows=50).to_csv(index=False).encode())
    project_table.adopt(stated, project_table.from_upload(LOCAL_OWNER, place.id, "people.csv", people))
    stated["wizard"] |= {"passed": list(PASSED), "comparison": "declined"}  # another table is to be compared with the domain anew
    projects.save(LOCAL_OWNER, place.id, stated | {"population": "People of 2024"})
    return place.id


def simulated() -> str:
    stated = draft(unit={"relation": "add-remove", "person_column": "patient", "max_rows_per_person": 3}, delta=1e-7)
    stated["wizard"]["columns"] += ["patient"]
    stated["wizard"] |= {"several": True, "people": 40_000, "cap": {"epsilon": 7.0, "delta": 1e-6}}
    return project(**stated)


def shown_wrongly(app: AppTest) -> Iterator[str]:
    """Widgets that a browser without any of them would show with another value than they have."""
    state = app.session_state._state._state
    for element in app:
        proto = getattr(element, "proto", None)
        if not hasattr(proto, "set_value") or proto.set_value:
            continue
        fresh = state._new_widget_state.widget_metadata[proto.id].deserializer(None)
        if fresh != state[proto.id]:
            yield f"{element.type} {proto.label}"


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("made", [uploaded, simulated])
def test_a_browser_that_missed_a_widget_is_sent_its_value_again(made: Callable[[], str], page: str) -> None:
    app = open_page(page, made())
    assert "This step opens when" not in words(app)
    app._run(WidgetStates())
    assert not list(shown_wrongly(app))


def test_a_browser_that_has_not_drawn_an_answer_does_not_undo_it() -> None:
    """It sends the values of the widgets that it shows with its next click."""
    stated = draft()
    place = projects.create(LOCAL_OWNER, "Trial", stated)
    stays = io.BytesIO(b"age;cost;day\n" + b"41;7,5;31.12.2023\n52;8,25;30.11.2023\n" * 30)
    project_table.adopt(stated, project_table.from_upload(LOCAL_OWNER, place.id, "stays.csv", stays))
    projects.save(LOCAL_OWNER, place.id, stated)
    app = open_page("data", place.id)
    shown = [widget for widget in app._tree.get_widget_states().widgets if widget.WhichOneof("value") != "trigger_value"]
    next(button for button in app.button if button.label.startswith("Use numbers")).click().run()
    answered = projects.load(LOCAL_OWNER, place.id).draft
    assert (answered["data"]["decimal"], answered["data"]["date_format"]) == (",", "dd.mm.yyyy")
    app._run(WidgetStates(widgets=shown))
    assert projects.load(LOCAL_OWNER, place.id).draft == answered


def test_a_list_of_tables_without_weights_is_shown_and_kept() -> None:
    """A document may leave weights out, which are 1 then."""
    listed: dict[str, Any] = {"kind": "marginals", "marginals": [{"attributes": ["age", "sex"]}, {"attributes": ["region"], "weight": 2.0}]}
    place = project(workload=listed)
    app = open_page("workload", place)
    assert not app.exception
    assert not app.run().exception
    assert projects.load(LOCAL_OWNER, place).draft["workload"] == listed
    tables = listed["marginals"]
    assert workload_view.edited(tables, tables, {"deleted_rows": [1]}) == [{"attributes": ["age", "sex"], "weight": 1.0}]


def test_two_clicks_before_a_page_is_drawn_again_are_both_kept() -> None:
    """Both are answered by what was drawn before the first of them."""
    about = {"kind": "share", "of": {"age": ["16 to 20"], "sex": ["female"]}, "tolerance": 0.02, "importance": "must"}
    place = project(criteria=[about, about | {"tolerance": 0.03}], models=[{"column": "age", "tolerance": 4.5}])
    app = open_page("budget", place)
    app.multiselect(key=f"{place}:criterion:0:of:age").set_value(["21 to 25"])
    app.multiselect(key=f"{place}:criterion:0:of:sex").set_value(["male"])
    app.multiselect(key=f"{place}:models").set_value(["age", "sex"])
    app.number_input(key=f"{place}:near:age").set_value(2.0).run()
    stated = projects.load(LOCAL_OWNER, place).draft
    assert stated["criteria"][0]["of"] == {"age": ["21 to 25"], "sex": ["male"]}
    assert stated["models"] == [{"column": "age", "tolerance": 2.0}, {"column": "sex"}]


def test_a_second_click_on_remove_does_not_remove_the_next_condition() -> None:
    first, second = MEAN, {**MEAN, "tolerance": 3.0}
    stated = draft(criteria=[first, second])
    criteria_view.remove(stated, 0, first)
    criteria_view.remove(stated, 0, first)
    assert stated["criteria"] == [second]


def test_a_second_deletion_before_the_list_is_drawn_again_deletes_no_other_table() -> None:
    """A data editor counts the lines of the list that it was given."""
    base = [{"attributes": [name], "weight": 1.0} for name in ("age", "sex", "region", "health")]
    after = workload_view.edited(base, base, {"deleted_rows": [0]})
    edits = {"deleted_rows": [0, 1], "edited_rows": {3: {"weight": 5.0}}}
    assert workload_view.edited(after, base, edits) == [base[2], {"attributes": ["health"], "weight": 5.0}]
    added = {"attributes": ["age", "sex"], "weight": 2.0}  # in another tab
    assert workload_view.edited([*base, added], base, edits)[-1] == added
