"""A click while a page is drawn interrupts the drawing: what the wizard stores must not change by that.

The browser may then lack a widget that the server counts as drawn. When it gets it at the next run without its value, it shows the widget's
own default and sends that with the click after it; the callback stores it as if a person had entered it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetStates
from streamlit.testing.v1 import AppTest

from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.data import project_table
from tests.app.demo_project import draft, open_page, project

PAGES = ("data", "domain", "workload", "budget", "mechanism", "tradeoffs")
MEAN = {"kind": "mean", "column": "age", "among": {"age": "0..39", "sex": ["female"]}, "tolerance": 2.5, "name": "<b>young</b>"}


def uploaded() -> str:
    stated = draft(other_copies="Totals of 2024.", criteria=[MEAN])
    place = projects.create(LOCAL_OWNER, "Trial", stated)
    people = io.BytesIO(demo.simulate(rows=50).to_csv(index=False).encode())
    project_table.adopt(stated, project_table.from_upload(LOCAL_OWNER, place.id, "people.csv", people))
    projects.save(LOCAL_OWNER, place.id, stated | {"population": "People of 2024"})
    return place.id


def simulated() -> str:
    stated = draft(unit={"relation": "add-remove", "person_column": "age", "max_rows_per_person": 3}, delta=1e-7)
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
    assert not app.exception
    app._run(WidgetStates())
    assert not app.exception
    assert not list(shown_wrongly(app))
