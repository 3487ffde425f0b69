"""The card on Budget: questions are stored in the draft, with their share and expected widths, or what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsynth_core.extensions.disclosure.claim import DISCLOSURE
from dpsynth_core.extensions.disclosure.view import ALONE_LABEL, LABEL
from dpsynth_core.store import runs
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import finished_run, open_page, project, stored, words


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path))


def questions(app, text: str, label: str = LABEL):  # type: ignore[no-untyped-def]
    return next(one for one in app.text_area if one.label == label).set_value(text).run()


def test_questions_are_stored_and_their_answers_are_in_the_release() -> None:
    place = project()
    app = open_page("budget", place)
    assert "will be known to" not in words(app)
    app = questions(app, "health from age, sex\n\n health from age, sex ")
    assert stored(place)["extensions"] == {"disclosure": ["health from age, sex"]}
    assert "How many are named rightly, and how many wrongly, will be known to" in words(app)
    run = finished_run(place)
    assert run.state == "done"
    assert runs.release(LOCAL_OWNER, run.id).claims[DISCLOSURE.name] is not None
    assert "What could somebody learn who knows my age and sex?" in [one.label for one in open_page("results", place).expander]
    questions(open_page("budget", place), "")
    assert "extensions" not in stored(place)
    assert "disclosure" not in stored(place)["budget"]


def test_a_text_that_is_no_question_is_named_with_its_remedy() -> None:
    place = project()
    app = questions(open_page("budget", place), "health of age")
    assert "does not name a column of the domain" in words(app)
    assert "To mend it" in words(app)


def test_columns_that_are_known_together_are_stored_with_their_share() -> None:
    place = project()
    app = questions(open_page("budget", place), "age, sex\n", ALONE_LABEL)
    assert stored(place)["extensions"] == {"uniques": ["age, sex"]}
    assert "How many are alone will be known to" in words(app) or "too few" in words(app)
    app = questions(open_page("budget", place), "age and sex", ALONE_LABEL)
    assert "does not name columns of the domain" in words(app)
    questions(open_page("budget", place), "", ALONE_LABEL)
    assert "extensions" not in stored(place)
