"""Runs and trials of the same mechanism, with its defaults and as published, are not called the same."""

from __future__ import annotations

from dpsynth_core.mechanisms import registry
from dpsynth_core.store.runs import Run
from dpsynth_core.web.compare.compare_view import run_name
from dpsynth_core.web.shell import document
from dpsynth_core.web.tradeoffs import sweep_form
from tests.web.drafts import complete

PAPER = {"name": "mst", "settings": {"preset": "paper"}}
TITLE = registry.PUBLISHED["mst"].card.title


def test_a_run_as_published_is_called_so() -> None:
    def named(mechanism: dict[str, object]) -> str:
        spec = document.spec(complete() | {"mechanism": mechanism}, "Trial").model_dump_json()
        run = Run("1", "me", "2", spec, "abc", "People", 0.1, "done", True, "2026-01-02T03:04:05", None, None, None, "")
        return run_name(run).split(" · ")[0]

    assert named(PAPER) == TITLE
    assert named({"name": "mst", "settings": {}}) == registry.get("mst").card.title != TITLE


def test_the_plan_s_own_mechanism_is_offered_to_trials_as_it_is_set() -> None:
    titles = sweep_form.titles(complete() | {"mechanism": PAPER})
    assert titles == {name: TITLE if name == "mst" else registry.get(name).card.title for name in titles}
    assert "mst" in titles
