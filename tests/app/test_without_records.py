"""Pages about a release draw it from the release: once it is made, they say the same when nobody may open the records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.release import synthesis
from dpsynth_core.sources import demo
from dpsynth_core.web.results import quality_view
from tests.additions import added
from tests.app.demo_project import finished_run, open_page, project

PAGES = [
    *(("results", view) for view in ("tables", "columns", "pairs", "rows", "downloads")),
    ("compare", ""),
    ("ledger", ""),
    ("verify", ""),
]
_ANEW = re.compile(rb"[0-9a-f]{32}")
"""The name of a file that is made once it is asked for, which each drawing of the page draws anew."""
FIELDS: dict[str, Any] = {
    "output": {"rows": None, "seed": 7},
    "budget": {"epsilon": 5.0, "delta": 1e-9, "certificate": 0.1, "means": 0.05, "inside": 0.05},
    "criteria": [{"kind": "mean", "column": "age", "tolerance": 5.0}],
}


@pytest.fixture
def released() -> str:
    """A project with a finished run, in which extensions asked for what they have pages about."""
    settings = {name: value for module in added("everything_asked") for name, value in getattr(module, "ON_PAGES", {}).items()}
    place = project(**FIELDS, mechanism={"name": "aim", "settings": {}}, extensions=settings)
    finished_run(place)
    return place


def no_records(*_: Any) -> Any:
    raise AssertionError("the records were opened")


def drawn(node: Any) -> Iterator[bytes]:
    """Yield what each element of a page holds: its text, and the numbers behind a table or a chart."""
    for child in node.children.values():
        if hasattr(child, "children"):
            yield from drawn(child)
        else:
            yield _ANEW.sub(b"", child.proto.SerializeToString(deterministic=True))


def shown(page: str, place: str, view: str) -> list[bytes]:
    app: AppTest = open_page(page, place)
    if view:
        app.session_state["results_view"] = view
        app.session_state[quality_view.EVERY_TABLE] = True
    return list(drawn(app.run()._tree))


@pytest.mark.parametrize(("page", "view"), PAGES)
def test_a_page_about_a_release_needs_no_records(page: str, view: str, released: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with_records = shown(page, released, view)
    monkeypatch.setattr(synthesis, "open_source", no_records)
    monkeypatch.setattr(demo, "simulate", no_records)
    assert shown(page, released, view) == with_records
