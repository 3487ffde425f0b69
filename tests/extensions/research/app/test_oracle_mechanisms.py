"""The mechanisms that need an oracle, from the wizard's Mechanism page to Results: a knob turned, the plan sealed, charged once."""

from __future__ import annotations

import pytest

from dpsynth_core.extensions.research.mechanisms.games import query_game
from dpsynth_core.privacy.conversions import rho_from
from dpsynth_core.privacy.events import Selection
from dpsynth_core.release.release import Release
from dpsynth_core.store import chain, dispatch, runs, worker
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import button, finished_run, open_page, project, words
from tests.extensions.research.app.test_learning import HALVES

NAMES = ("fem", "sepfem", "dualquery", "dqrs", "oraclequery", "learn")
FEW = {"fem": {"records": 5}, "sepfem": {"records": 5}, "oraclequery": {"records": 5}}
TURNED = {"dualquery": ("rounds", 9), "dqrs": ("rounds", 9), "learn": ("check_share", 0.3)}
"""A knob and what is typed there; rounds where nothing else is said."""
RHO = rho_from(1.0, 1e-9)


@pytest.fixture(autouse=True)
def worker_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """This process is the worker."""
    monkeypatch.setattr(dispatch, "launch_worker", lambda job: worker.work(dispatch.claim(job)))


def closed_form(name: str, made: Release) -> float:
    """rho of the whole run, from what the release says of it: see each mechanism's docstring."""
    stated = made.details
    if name == "learn":
        (eps,) = [event.eps for event in made.charges if isinstance(event, Selection)]  # of two columns all rules can be gone through
        return eps**2 / 8 / (1 - 0.3)  # the check has the other share
    if name in ("dualquery", "dqrs"):  # at its default DQRS plays like DualQuery
        t = stated["rounds"]
        choosing = 5 * stated["eta"] ** 2 * (t - 1) * t * (2 * t - 1) / (12 * made.total**2)
    elif name == "oraclequery":
        eps = {event.eps for event in made.charges if isinstance(event, Selection)}
        choosing = stated["rounds"] * max(eps) ** 2 / 8
    else:
        choosing = stated["choices"] * stated["eps_of_a_choice"] ** 2 / 8
    whole = choosing / (1 - query_game.TOTAL_SHARE)  # the number of people has the other share
    budget = made.spec.budget
    return whole / (1 - budget.share("certificate") - budget.share("means") - budget.inside)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_from_the_page_is_done_charged_once_in_closed_form_and_shown(name: str) -> None:
    place = project(domain=HALVES, workload={"kind": "all", "k": 2}, mechanism={"name": name, "settings": FEW.get(name, {})})
    knob, value = TURNED.get(name, ("rounds", 3))
    app = open_page("mechanism", place)
    next(t for t in app.text_input if t.key.endswith(f"mechanism.settings.{knob}")).input(str(value)).run()
    app = button(open_page("mechanism", place), "Lock the plan").click().run()
    app = button(app, "Spend ε 1 and run").click().run()
    (run,) = runs.list(LOCAL_OWNER, place)
    assert run.state == "done", run.error
    made = runs.release(LOCAL_OWNER, run.id)
    assert made.spec.mechanism.settings[knob] == value
    reserved, touched = [entry for entry in chain.entries() if entry.run == run.id]
    assert (reserved.kind, reserved.rho, reserved.own_delta, touched.kind) == ("reserve", pytest.approx(RHO), 0.0, "touch")
    assert made.rho_spent == pytest.approx(closed_form(name, made), rel=1e-6) == pytest.approx(RHO, rel=1e-6)
    if name != "learn":
        assert any("proved best" in sentence for sentence in open_page("mechanism", place).dataframe[0].value["said"])
    shown = open_page("results", place)
    assert ("What was learnt" in words(shown)) == (name == "learn")


def test_rap_runs_thresholds_from_the_wizard_and_its_release_is_shown() -> None:
    chosen = {"name": "rap", "settings": {"rounds": 2, "queries": 5, "relaxed_rows": 100}}
    place = project(workload={"kind": "all", "k": 2, "threshold": 1}, mechanism=chosen)
    made = runs.release(LOCAL_OWNER, finished_run(place).id)
    assert made.details["rounds"] == 2
    assert made.rows > 0
    assert made.rho_spent == pytest.approx(made.rho, rel=1e-8)
    assert [step.message for step in made.history if step.kind == "fitted" and "10 counts" in step.message]
    open_page("results", place)
