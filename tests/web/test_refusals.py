"""What disk or database refuse is said in the same words wherever it happens: on a page, in a button, in a part, in a dialog."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dpsynth_core.evaluation import side_by_side
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.web.shell import document, frame, plan_words, refusals, session
from tests.app.demo_project import draft

SAID = ["**DPSYNTH\\_HOME**: its database is locked by another program. Close whatever else uses it, and try again."]


def test_parts_of_the_plan_are_called_what_pages_call_them() -> None:
    assert refusals.sentence(InputError("budget.reason", "it is empty", "write one")) == "**Why so large an ε**: it is empty. Write one."
    published = document.spec(draft(mechanism={"name": "aim", "settings": {"max_size_mb": 2.0}}), "x").published()
    table = side_by_side.differences({"this": published, "none": {"domain": {}, "workload": {}}})
    names = [plan_words.named(path) for path in table["setting"]]
    assert "parameter max_size_mb" in names
    assert [name for name in names if name.startswith(("budget.", "data.", "mechanism.", "output.", "unit.")) or "_" in name[:10]] == []


def test_a_dialog_says_what_the_database_refuses() -> None:
    def page() -> None:
        from dpsynth_core.store.faults import StoreFault
        from dpsynth_core.web.shell import refusals

        @refusals.dialog("Stop this run?")
        def ask() -> None:
            raise StoreFault("DPSYNTH_HOME", "its database is locked by another program", "close whatever else uses it, and try again")

        ask()

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert [error.value for error in app.error] == SAID


def test_a_part_says_that_another_window_deleted_what_it_shows() -> None:
    def page() -> None:
        from dpsynth_core.foundation.errors import InputError
        from dpsynth_core.web.shell import refusals

        def progress() -> None:
            raise InputError("run", "there is none of this name", "it was deleted; open another")

        refusals.polled(progress, None)()

    app = AppTest.from_function(page).run()
    assert not app.exception
    assert [error.value for error in app.error] == ["**Run**: there is none of this name. It was deleted; open another."]


def test_a_page_that_could_not_be_drawn_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[int] = []

    def route() -> None:
        tries.append(1)
        if len(tries) == 1:
            raise StoreFault("DPSYNTH_HOME", "its database is locked by another program", "close whatever else uses it, and try again")
        st.write("here it is")

    monkeypatch.setattr(session, "admitted", lambda: True)
    monkeypatch.setattr(session, "ends", lambda: None)
    monkeypatch.setattr(frame, "_route", route)

    def page() -> None:
        from dpsynth_core.web.shell import frame

        frame.run()

    app = AppTest.from_function(page).run()
    assert [error.value for error in app.error] == SAID
    app.button(key="try_again").click().run()
    assert not app.error
    assert [text.value for text in app.markdown] == ["here it is"]


def test_every_dialog_and_every_part_that_draws_itself_again_is_one_of_these() -> None:
    root = Path(frame.__file__).parents[1]
    sources = [*root.rglob("*.py"), *(root.parents[1] / "pages").glob("*.py")]
    own = [path.name for path in sources if re.search(r"\bst\.(dialog|fragment|experimental_\w+)\(", path.read_text())]
    assert own == ["refusals.py"]
