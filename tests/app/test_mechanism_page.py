"""The Mechanism page: verdict first, leaks with fixes, honest costs; every control changes what is sealed; nothing is spent unasked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.mechanisms.parameters import parameters
from dpsynth_core.planning import recommendation
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.release.release import INTERRUPTED
from dpsynth_core.release.spool import Spool
from dpsynth_core.release.transcript import RecordedAnswer
from dpsynth_core.store import balance, dispatch, jobs, projects, recorded_views, runs, spools, worker
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.web.shell import document
from tests.app.demo_project import (
    button,
    card_groups,
    draft,
    every_card,
    finished_run,
    hostile_project,
    open_page,
    project,
    sealed,
    started,
    words,
)
from tests.mechanisms.offered import TABLES


def ended(run: str, state: str, error: str = "") -> None:
    jobs.give(run, 0, state, error)
    dispatch.leave(run)


def test_the_light_comes_first_and_follows_the_declared_people() -> None:
    good = open_page("mechanism", project(workload={"kind": "all", "k": 1}))
    assert good.success[0].value.startswith("**Green:**")
    assert "4 of 4" in good.success[0].value
    few = draft()
    few["wizard"]["people"] = 20
    assert open_page("mechanism", project(**few)).error[0].value.startswith("**Red:**")
    unknown = draft()
    unknown["wizard"]["people"] = None
    assert "No light" in open_page("mechanism", project(**unknown)).info[0].value


def test_a_domain_from_the_data_is_listed_as_a_leak_with_its_fix() -> None:
    clean = words(open_page("mechanism", project()))
    assert "read from the private table" not in clean
    leaking = project(domain_origin="data", domain_justification="all values are public since 1990")
    text = words(open_page("mechanism", leaking))
    assert "read from the private table" in text


def test_an_earlier_release_of_the_population_is_mentioned() -> None:
    first = project()
    started(first)
    assert "earlier release" in words(open_page("mechanism", project()))


def test_mechanisms_are_shown_by_what_they_are_wanted_for_the_chosen_one_among_them() -> None:
    place = project()
    app = open_page("mechanism", place)
    assert "#### Independent" in words(app)
    assert "#### AIM" not in words(app)
    app = app.button(key="change_mechanism").click().run()
    assert "#### AIM" in words(app)
    assert "#### Gaussian" not in words(app)
    app = app.button_group(key="mechanism_wanted").set_value("answers").run()
    assert "#### Gaussian" in words(app)
    assert "#### AIM" not in words(app)
    app.button(key="choose_gaussian").click().run()
    assert sealed(place).mechanism.name == "gaussian"
    assert "#### Gaussian" in words(open_page("mechanism", place))


def test_every_mechanism_has_a_card_with_its_cost() -> None:
    text = every_card(project())
    for mechanism in registry.MECHANISMS.values():
        assert f"#### {mechanism.card.title}" in text
    without_public = [name for name in TABLES if not isinstance(registry.get(name), UsesPublic)]
    assert text.count("Fits this") == len(without_public) + len(card_groups())  # and the chosen one above each group
    assert text.count("it needs a public table") == len(TABLES) - len(without_public)
    assert text.count("rules are learnt over columns with two") == len(registry.MECHANISMS) - len(TABLES)


def test_what_does_not_fit_says_why_and_cannot_be_run() -> None:
    wide = {"a": 50_000, "b": 3}
    refused = draft(domain=wide, mechanism={"name": "aim", "settings": {"max_size_mb": 0.1}})
    refused["wizard"]["columns"] = list(wide)
    app = open_page("mechanism", project(**refused))
    assert "Does not fit" in words(app)
    assert "raise max" in words(app)
    assert button(app, "Lock").disabled


def test_the_cards_say_which_mechanisms_take_thresholds() -> None:
    place = project(workload={"kind": "all", "k": 2, "threshold": 1})
    refused = [name for name, mechanism in registry.MECHANISMS.items() if not mechanism.card.takes_thresholds]
    assert every_card(place).count("cannot ask who matches at least 1 of the columns") == len(refused) + len(card_groups())  # as above
    app = open_page("mechanism", place).button(key="change_mechanism").click().run()
    assert app.button(key="choose_aim").disabled


def by_hand(name: str) -> dict[str, Any]:
    """A draft whose mechanism somebody chose."""
    fields = draft(mechanism={"name": name, "settings": {}})
    fields["wizard"]["recommended"] = None
    return fields


def test_the_recommended_mechanism_is_the_chosen_one_until_somebody_chooses_another(monkeypatch: pytest.MonkeyPatch) -> None:
    model = recommendation._model()
    monkeypatch.setattr(recommendation, "_model", lambda: model | {"mechanisms": {"mst": model["mechanisms"]["mst"]}})
    place = project(mechanism=document.new()["mechanism"], workload={"kind": "all", "k": 2}, budget={"epsilon": 10.0, "delta": 1e-9})
    app = open_page("mechanism", place)
    taken = sealed(place).mechanism.name
    assert taken == "mst" != document.new()["mechanism"]["name"]
    assert "We would choose" not in words(app)
    app.button(key="change_mechanism").click().run()
    app.button(key="choose_aim").click().run()
    assert sealed(place).mechanism.name == "aim"
    assert "We would choose" in words(open_page("mechanism", place))
    assert sealed(place).mechanism.name == "aim"


def test_choosing_a_card_is_saved_and_changes_the_plan() -> None:
    place = project()
    app = open_page("mechanism", place)
    title = app.button(key="choose_recommended").label.removeprefix("Choose ")
    assert f"We would choose **{title}**" in words(app)
    app = app.button(key="choose_recommended").click().run()
    assert registry.get(sealed(place).mechanism.name).card.title == title
    assert "We would choose" not in words(app)


def test_what_speaks_for_the_best_few_is_behind_change_and_judged_as_asked() -> None:
    place = project()
    app = open_page("mechanism", place)
    assert not [one for one in app.button_group if one.key == "recommended_by"]
    app = app.button(key="change_mechanism").click().run()
    assert "worst count" not in words(app)
    assert "worst count" in words(app.button_group(key="recommended_by").set_value("largest").run())
    take = next(b for b in app.button if str(b.key).startswith("take_"))
    name = str(take.key).removeprefix("take_")
    take.click().run()
    assert sealed(place).mechanism.name == name


def test_without_a_number_of_people_the_recommendation_asks_for_it() -> None:
    fields = draft()
    fields["wizard"]["people"] = None
    app = open_page("mechanism", project(**fields)).button(key="change_mechanism").click().run()
    assert "a recommendation" in words(app)


@pytest.mark.parametrize("name", [p.name for p in parameters(registry.get("aim"))])
def test_every_parameter_reaches_the_sealed_plan(name: str) -> None:
    place = project(**by_hand("aim"))
    parameter = next(p for p in parameters(registry.get("aim")) if p.name == name)
    assert getattr(Plan.of(sealed(place)).mechanism, name) == parameter.default
    wanted = 0.5 if parameter.high <= 1 else min(20, parameter.high)
    field = next(t for t in open_page("mechanism", place).text_input if t.key.endswith(f"mechanism.settings.{name}"))
    field.input(str(wanted)).run()
    assert getattr(Plan.of(sealed(place)).mechanism, name) == wanted


def test_the_number_of_rows_reaches_the_sealed_plan_and_can_be_taken_back() -> None:
    place = project()
    for typed, wanted in (("1,234", 1234), ("", None)):
        field = next(t for t in open_page("mechanism", place).text_input if t.key.endswith("output.rows"))
        field.input(typed).run()
        assert sealed(place).output.rows == wanted


def test_the_number_of_tables_reaches_the_sealed_plan_and_stays_to_be_taken_back() -> None:
    place = project()
    field = next(t for t in open_page("mechanism", place).text_input if t.key.endswith("output.tables"))
    app = field.input("3").run()
    assert sealed(place).output.tables == 3
    answers = project(mechanism={"name": "gaussian", "settings": {}}, output={"rows": None, "tables": 3, "seed": None})
    app = open_page("mechanism", answers)
    assert not [one for one in app.button if "Lock" in one.label and not one.disabled]
    next(t for t in app.text_input if t.key.endswith("output.tables")).input("").run()
    assert sealed(answers).output.tables == 1
    assert not [t for t in open_page("mechanism", answers).text_input if t.key.endswith("output.tables")]


@pytest.mark.parametrize("typed", ["many", "-3", "0", "1.5"])
def test_rows_that_are_no_number_block_the_run_instead_of_being_dropped(typed: str) -> None:
    place = project()
    field = next(t for t in open_page("mechanism", place).text_input if t.key.endswith("output.rows"))
    app = field.input(typed).run()
    assert button(app, "Lock").disabled


def test_a_parameter_that_cannot_be_used_is_named_and_nothing_can_be_run() -> None:
    place = project(**by_hand("aim"))
    field = next(t for t in open_page("mechanism", place).text_input if t.key.endswith("measure_share"))
    app = field.input("lots").run()
    assert "measure" in words(app)
    assert not [b for b in app.button if "Lock" in b.label and not b.disabled]


def test_nothing_is_spent_before_the_confirmation_and_then_once() -> None:
    place = project()
    app = button(open_page("mechanism", place), "Lock").click().run()
    assert "Invented people" in words(app)
    assert balance.spent("Invented people").rho == 0
    app = button(app, "Spend ε 1 and run").click().run()
    assert [run.state for run in runs.list(LOCAL_OWNER, place)] == ["running"]
    assert balance.spent("Invented people").releases == 1


def test_two_tabs_that_confirm_the_same_plan_run_and_charge_it_once() -> None:
    place = project()
    tabs = [button(open_page("mechanism", place), "Lock").click().run() for _ in range(2)]
    for app in tabs:
        app = button(app, "Spend ε 1 and run").click().run()
        assert "Under way" in words(app)
    assert len(runs.list(LOCAL_OWNER, place)) == 1
    assert balance.spent("Invented people").releases == 1


def test_the_run_has_exactly_the_plan_that_was_on_screen() -> None:
    place = project(budget={"epsilon": 2.0, "delta": 1e-8})
    button(button(open_page("mechanism", place), "Lock").click().run(), "Spend ε 2 and run").click().run()
    assert runs.list(LOCAL_OWNER, place)[0].digest == sealed(place).digest()


def test_a_cap_chosen_for_a_new_population_is_kept_and_enforced() -> None:
    small = draft(budget={"epsilon": 2.0, "delta": 1e-9})
    small["wizard"]["cap"] = {"epsilon": 1.0, "delta": 1e-9}
    app = open_page("mechanism", project(**small))
    assert "limit does" in words(app)
    assert button(app, "Lock").disabled


def test_a_run_that_is_under_way_is_shown_to_every_tab_and_can_be_cancelled() -> None:
    place = project()
    run = started(place)
    dispatch.record(
        run,
        {
            "kind": "measured",
            "round": 0,
            "attributes": ["age"],
            "sigma": 9.0,
            "rho_spent": 0.001,
            "done": 0.3,
            "message": "",
        },
    )
    for app in (open_page("mechanism", place), open_page("mechanism", place)):
        assert "Under way" in words(app)
        assert "is final" in words(app)
        assert app.dataframe[0].value["marginal"].tolist() == ["age"]
        assert not [b for b in app.button if "Lock" in b.label]
    app = button(app, "Cancel").click().run()
    assert "stays charged" in words(app)


def test_a_run_that_waits_may_be_cancelled_for_nothing() -> None:
    place = project()
    runs.submit(LOCAL_OWNER, place, sealed(place))
    app = button(open_page("mechanism", place), "Cancel").click().run()
    assert "given back" in words(app)
    button(app, "Stop the run").click().run()
    assert runs.list(LOCAL_OWNER, place)[0].state == "cancelled"
    assert balance.spent("Invented people").rho == 0
    assert "Nothing was spent" in words(open_page("mechanism", place))


@pytest.mark.parametrize(("state", "word"), [("failed", "Failed"), ("lost", "Lost"), ("cancelled", "Cancelled")])
def test_every_bad_end_says_what_was_spent_and_what_to_do(state: str, word: str) -> None:
    place = project()
    ended(started(place), state, "Its worker ran into <b>**trouble**</b>.")
    app = open_page("mechanism", place)
    text = words(app)
    assert f"**{word}**" in text
    assert "is charged" in text
    assert "**trouble**" not in text  # escaped: it is not ours to format
    assert button(app, "Lock")


def test_what_a_lost_run_measured_is_kept_from_its_page_and_shown_as_results() -> None:
    place = project()
    run = started(place)
    plan = Plan.of(sealed(place))
    spool = Spool(spools.spool_file(run), run, plan, private=True)
    counts = np.full(plan.domain.sizes(("age",)), 40.0)
    answer = RecordedAnswer("measure_marginals", (("age",), 9.0), 1, [Measurement(("age",), counts, 9.0)])
    spool.keep(answer, [Gaussian(9.0, plan.unit.marginal_l2)])
    spool.close()
    ended(run, "lost", "Its worker died.")
    charged = balance.spent("Invented people")
    button(open_page("mechanism", place), "Keep what was measured").click().run()
    worker.work(dispatch.claim(run))
    made = runs.release(LOCAL_OWNER, run)
    assert (made.rows, len(made.measurements), made.branded(INTERRUPTED)) == (0, 1, True)
    assert balance.spent("Invented people") == charged
    for page in ("results", "mechanism"):
        open_page(page, place)


def test_a_run_whose_answers_are_all_on_disk_is_a_release_with_rows_after_one_click(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("the disk failed")

    place = project()
    run = runs.submit(LOCAL_OWNER, place, sealed(place))
    with monkeypatch.context() as patch:
        patch.setattr(worker, "_keep", fail)
        worker.work(dispatch.claim(run))
    charged = balance.spent("Invented people")
    button(open_page("mechanism", place), "Keep what was measured").click().run()
    worker.work(dispatch.claim(run))
    made = runs.release(LOCAL_OWNER, run)
    assert made.rows > 0
    assert not made.branded(INTERRUPTED)
    assert balance.spent("Invented people") == charged
    open_page("results", place)


def test_looks_that_were_taken_stand_among_the_leaks_before_the_plan_is_sealed() -> None:
    place = hostile_project(("a", "b"))
    assert "true values" not in words(open_page("mechanism", place))
    recorded_views.record(LOCAL_OWNER, place, "truth")
    assert "true values" in words(open_page("mechanism", place))


def test_a_plan_that_was_changed_after_its_run_is_told_apart_from_it() -> None:
    place = project()
    finished_run(place)
    for page in ("mechanism", "results"):
        assert "has changed" not in words(open_page(page, place))
    changed = projects.load(LOCAL_OWNER, place).draft
    changed = {**changed, "budget": {**changed["budget"], "epsilon": 2.0}, "workload": {"kind": "all", "k": 1}}
    projects.save(LOCAL_OWNER, place, changed)
    for page in ("mechanism", "results"):
        app = open_page(page, place)
        text = next(box.value for box in app.warning if "has changed" in box.value)
        assert "ε\\: 1" in text
        assert "1\\.0" not in text.split("→")[1]
        assert "tables asked for" in text
    assert button(open_page("mechanism", place), "Lock")  # the new plan is open
    projects.save(LOCAL_OWNER, place, {**changed, "budget": {**changed["budget"], "epsilon": None}})
    assert "not complete" in words(open_page("results", place))
