"""A column of survey weights, chosen on the Budget page behind the fold of the checks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpsynth_core.claims.weights import USUAL_SHARE
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import document
from tests.app.demo_project import open_page, project
from tests.app.test_linked_pages import linked


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
    assert any("its bounds" in caption.value for caption in app.caption), "what is wrong with it is said there"
    next(field for field in app.selectbox if field.label == "Column of survey weights").set_value(None).run()
    assert "weight" not in stored(place)
    assert "weighted" not in stored(place)["budget"]


def test_of_two_linked_tables_the_households_have_the_weight_and_nothing_is_predicted(tmp_path: Path) -> None:
    weight = {"name": "w", "kind": "numeric", "lower": 0, "upper": 8, "bins": 4, "other": "nearest", "missing": False}
    place = linked(tmp_path, criteria=[{"kind": "share", "of": {"sex": ["man"]}, "tolerance": 0.1}])
    draft = stored(place)
    columns = {**draft["domain"], "attributes": [*draft["domain"]["attributes"], weight]}
    wizard = draft["wizard"] | {"columns": [*draft["wizard"]["columns"], "w"]}
    projects.save(LOCAL_OWNER, place, {**draft, "domain": columns, "wizard": wizard})
    app = open_page("budget", place)
    chosen = next(field for field in app.selectbox if field.label == "Column of survey weights")
    assert chosen.options == ["no column", "w"], "members have theirs from their household"
    assert not [field for field in app.multiselect if field.label == "Models should predict"]
    chosen.set_value("w").run()
    plan = document.plan(document.completed(stored(place)), "Homes")
    assert plan.weight is not None
    assert set(dict(plan.shares.aside)) == {"certificate", "criteria", "weighted"}
