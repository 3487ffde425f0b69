"""A column of survey weights, chosen on the Budget page behind the fold of the checks."""

from __future__ import annotations

from typing import Any

from dpsynth_core.claims.weighted import USUAL_SHARE
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import open_page, project


def stored(place: str) -> dict[str, Any]:
    return dict(projects.load(LOCAL_OWNER, place).draft)


def test_a_column_is_named_as_the_weight_and_a_share_is_kept_for_it() -> None:
    place = project()
    app = open_page("budget", place)
    chosen = next(field for field in app.selectbox if field.label == "Column of survey weights")
    assert chosen.value is None
    assert "weight" not in stored(place)
    chosen.set_value("age").run()
    assert stored(place)["weight"] == {"column": "age"}
    assert stored(place)["budget"]["weighted"] == USUAL_SHARE
    assert any("weights beyond its bounds" in caption.value for caption in app.caption), "what is wrong with it is said there"
    next(field for field in app.selectbox if field.label == "Column of survey weights").set_value(None).run()
    assert "weight" not in stored(place)
    assert "weighted" not in stored(place)["budget"]
