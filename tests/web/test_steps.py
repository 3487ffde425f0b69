"""The states of the steps: they open in order, stay revisitable, and close again when what they stand on breaks."""

from __future__ import annotations

import pytest

from dpsynth_core.web.shell import steps
from dpsynth_core.web.shell.steps import State
from tests.web import drafts


def test_a_new_project_has_one_open_step() -> None:
    shown = steps.states(drafts.new(), [])
    assert shown["data"] is State.OPEN
    assert {name for name, state in shown.items() if state is State.LOCKED} == {"domain", "workload", "budget", "mechanism", "results"}


def test_reference_pages_are_always_open() -> None:
    shown = steps.states(drafts.new(), [])
    assert shown["ledger"] is shown["guide"] is State.OPEN


def test_a_complete_draft_opens_the_mechanism() -> None:
    shown = steps.states(drafts.complete(), [])
    assert [shown[name] for name in steps.PREPARATION] == [State.DONE] * 4
    assert shown["mechanism"] is State.OPEN
    assert shown["results"] is State.LOCKED


def test_a_valid_step_that_was_not_continued_from_is_open_not_done() -> None:
    draft = drafts.complete()
    draft["wizard"]["passed"] = ["data"]
    shown = steps.states(draft, [])
    assert (shown["domain"], shown["workload"]) == (State.OPEN, State.LOCKED)


def test_breaking_a_step_reopens_it_and_locks_what_follows() -> None:
    draft = drafts.complete()
    draft["domain"] = None
    shown = steps.states(draft, [])
    assert (shown["data"], shown["domain"], shown["workload"], shown["mechanism"]) == (State.DONE, State.OPEN, State.LOCKED, State.LOCKED)


@pytest.mark.parametrize("state", ["queued", "running", "cancelling"])
def test_an_active_run_shows_on_the_mechanism(state: str) -> None:
    assert steps.states(drafts.complete(), [state])["mechanism"] is State.RUNNING


@pytest.mark.parametrize("state", ["failed", "lost", "cancelled"])
def test_a_run_without_a_release_opens_no_results(state: str) -> None:
    assert steps.states(drafts.complete(), [state])["results"] is State.LOCKED


def test_results_stay_open_whatever_happens_to_the_draft() -> None:
    assert steps.states(drafts.new(), ["done"])["results"] is State.OPEN


def test_the_step_to_go_on_with_is_the_first_that_is_not_done() -> None:
    draft = drafts.complete()
    draft["wizard"]["passed"] = ["data"]
    assert steps.first_open(steps.states(draft, [])) == "domain"
    assert steps.first_open(steps.states(drafts.complete(), [])) == "mechanism"


def test_back_and_continue_follow_the_order() -> None:
    assert steps.before("data") is None
    assert (steps.after("data"), steps.before("domain"), steps.after("results")) == ("domain", "data", None)
