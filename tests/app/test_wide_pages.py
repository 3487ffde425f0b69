"""Pages with a table of many columns: proposals on the Workload page, and nothing that falls over."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.store import jobs, projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.domain import Domain
from tests.app.demo_project import draft, open_page, project, words

COLUMNS = 75
NAMES = tuple(f"q{number // 5}_{number % 5}" for number in range(COLUMNS))
WIDE = Domain.from_json({name: 2 + number % 3 for number, name in enumerate(NAMES)})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(jobs, "_launch", lambda *_: None)


def wide(**fields: Any) -> str:
    """A project over many columns."""
    stated = draft(domain=WIDE.to_json(), mechanism={"name": "aim", "settings": {}})
    stated["wizard"] |= {"columns": list(NAMES), "source": "upload", "label": "wide"}
    return project(**(stated | fields))


def asked() -> Any:
    return projects.list(LOCAL_OWNER)[0].draft["workload"]


def test_each_proposal_is_one_click_with_its_cost_beside_it() -> None:
    app = open_page("workload", wide(workload={"kind": "all", "k": 3}))
    assert not app.exception
    triples = math.comb(COLUMNS, 3)
    assert f"{triples:,} tables" in words(app), "what is asked for says what it costs"
    for name, tables in (("pairs", math.comb(COLUMNS, 2)), ("target", math.comb(COLUMNS - 1, 2)), ("groups", 15 * math.comb(5, 3))):
        assert f"{tables:,} tables" in words(app)
        app.button(key=f"propose_{name}").click().run()
        assert not app.exception
        assert app.button(key=f"propose_{name}").disabled
    assert len(asked()["marginals"]) == 15 * math.comb(5, 3)
    assert not app.button(key="next_workload").disabled


def test_few_columns_are_offered_everything() -> None:
    app = open_page("workload", project())
    assert "Proposals" not in words(app)
    assert " MB of memory" in words(app)


@pytest.mark.parametrize("page", ["budget", "mechanism", "tradeoffs"])
def test_other_pages_stand_many_columns(page: str) -> None:
    app = open_page(page, wide())
    assert not app.exception
    assert app.title[0].value != "Workload"
