"""The Guide explains what the program has: every mechanism from the registry, every word it uses."""

from __future__ import annotations

import re
from unittest.mock import Mock

import pytest

from dpsynth_core.evaluation.quality import SUPPORT
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.parameters import parameters
from dpsynth_core.planning.plan import budgeted
from dpsynth_core.planning.spec import BudgetSpec
from dpsynth_core.privacy import attacker, meaning
from dpsynth_core.report import table_files
from dpsynth_core.store import database
from tests.app.demo_project import ROOT, open_page, project, words


def test_every_mechanism_is_explained_with_paper_and_proof() -> None:
    app = open_page("guide", project())
    app.session_state["guide_tab"] = "Mechanisms"
    app.run()
    text = words(app)
    for mechanism in registry.MECHANISMS.values():
        assert mechanism.card.summary in text
        assert mechanism.card.privacy in text
        assert mechanism.card.paper in text
        assert all(difference in text for difference in mechanism.card.differences)
        assert all(f"`{parameter.name}`" in text for parameter in parameters(mechanism))


def test_the_odds_that_the_guide_states_are_those_of_a_run_and_of_epsilon_alone() -> None:
    text = (ROOT / "assets" / "guide" / "ideas.md").read_text(encoding="utf-8")
    of_run, alone = [], []
    for epsilon in (1.0, 0.1, 5.0):
        shares = budgeted(registry.get("aim"), BudgetSpec(epsilon=epsilon, delta=1e-9), document={})
        of_run.append(f"{meaning.reading(shares.accountant, shares.rho, shares.slack).guess:.0%}")
        alone.append(f"{attacker.posterior_odds(epsilon, 1e-9):.0%}")
    assert f"at most {of_run[0]} right at ε 1, {of_run[1]} at ε 0.1, and {of_run[2]} at ε 5" in text
    assert f"ε alone promises less: {alone[0]}, {alone[1]} and {alone[2]}" in text


def test_every_kind_of_support_on_the_results_page_is_explained() -> None:
    text = (ROOT / "assets" / "guide" / "reading.md").read_text(encoding="utf-8")
    assert all(f"| {kind} |" in text for kind in SUPPORT)


@pytest.mark.parametrize("word", ["marginal", "domain", "kernel", "workload", "population", "zCDP", "seed", "spec", "neighbouring"])
def test_the_glossary_has_the_words_that_the_pages_use(word: str) -> None:
    assert word in (ROOT / "assets" / "guide" / "glossary.md").read_text(encoding="utf-8")


def test_the_guide_says_why_there_are_no_scores_of_closeness() -> None:
    """Nothing that is published is called one, either."""
    app = open_page("guide", project())
    app.session_state["guide_tab"] = "Not protected"
    app.run()
    assert "can look safe without any privacy" in words(app)
    assert not [name for name in table_files.ERRORS if re.search("closest|nearest|dcr|nndr", name)]


def test_the_frame_of_a_page_reads_projects_and_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("guide", project())
    opened = Mock(wraps=database._open)
    monkeypatch.setattr(database, "_open", opened)
    app.run()
    assert opened.call_count == 2
