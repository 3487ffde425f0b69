"""The Trade-offs page: every control changes what is tried, nothing is spent unasked, and private errors have no way out."""

from __future__ import annotations

import io
import json
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpsynth_core.charts.theme import SHORT_TITLE
from dpsynth_core.extensions.tradeoffs import sweep_form, sweep_view, sweeps, trial
from dpsynth_core.extensions.tradeoffs.sweep import Swept
from dpsynth_core.extensions.tradeoffs.sweeps import Stored
from dpsynth_core.foundation.zones import ZoneError, curator_only, public
from dpsynth_core.store import approvals, balance, chain, dispatch, projects, runs, worker
from dpsynth_core.store.database import transaction
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import curator
from tests.app.demo_project import button, draft, finished_run, open_page, project, words
from tests.refusals import refused


@pytest.fixture(autouse=True)
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """No worker processes: the list says which would have been started."""
    workers: list[str] = []
    monkeypatch.setenv("DPSYNTH_SWEEP_WORKERS", "1")
    monkeypatch.setattr(dispatch, "launch_worker", lambda job: workers.append(job))
    return workers


def small(**notes: Any) -> dict[str, Any]:
    """A draft that tries two fast mechanisms at two budgets on 200 rows; keyword arguments are further choices of the page."""
    made = draft()
    grid = {"mechanisms": ["independent", "gaussian"], "epsilons": [0.5, 2.0], "repeats": 1}
    made["wizard"]["tradeoffs"] = {"rows": 200, "strength": 0.5} | grid | notes
    return made


def private(**notes: Any) -> str:
    """A project over an uploaded table, which is private."""
    fields = small(table="private", **notes)
    fields["domain"] = {"version": 1, "attributes": [{"name": n, "kind": "coded", "size": 2} for n in ("a", "b")]}
    fields["wizard"] |= {"columns": ["a", "b"], "source": "upload", "label": "people.csv"}
    place = project(**fields)
    path = projects.upload(LOCAL_OWNER, place, "people.csv", io.BytesIO(b"a,b\n" + b"0,1\n1,0\n" * 50))
    form = {"kind": "csv", "delimiter": ",", "encoding": "utf-8", "missing_markers": [""]}
    projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), **form}})
    return place


def drawn(app: AppTest) -> list[str]:
    """The specifications of all charts."""
    return [chart.proto.spec for chart in app.get("vega_lite_chart")]


def only(place: str) -> Stored:
    (stored,) = sweeps.list(LOCAL_OWNER, place)
    return stored


def finished(place: str, started: list[str]) -> AppTest:
    """The page after its sweep was started and a worker did all of it."""
    app = open_page("tradeoffs", place)
    if sweeps.list(LOCAL_OWNER, place):
        app.session_state["tradeoffs_other"] = True
        app.run()
    button(app, "Start").click().run()
    worker.work(dispatch.claim(started[-1]))
    return open_page("tradeoffs", place)


def chosen(place: str) -> dict[str, Any]:
    return projects.load(LOCAL_OWNER, place).draft


def test_the_page_opens_before_anything_is_prepared_and_says_what_it_needs() -> None:
    app = open_page("tradeoffs", project(domain=None, workload=None))
    assert "needs columns, tables and a budget" in words(app)


@pytest.mark.parametrize("label", ["Stop", "Delete"])
def test_what_the_disk_refuses_to_a_button_is_said_at_the_top_of_the_page(
    label: str, started: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    place = project(**small())
    if label == "Delete":
        app = finished(place, started)
    else:
        app = open_page("tradeoffs", place)
        button(app, "Start").click().run()

    def full(*_: object) -> None:
        raise StoreFault("DPSYNTH_HOME", "the disk that it is on is full", "free some space and try again")

    monkeypatch.setattr(dispatch, "stop", full)
    button(app, label).click().run()
    assert [error.value for error in app.error] == ["**DPSYNTH\\_HOME**: the disk that it is on is full. Free some space and try again."]
    assert "was not done" in words(app)
    assert only(place)
    app.run()
    assert not app.error


def test_what_the_disk_refuses_to_a_choice_is_said_and_the_draft_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    place = project(**small())
    app = open_page("tradeoffs", place)
    before = chosen(place)

    def full(*_: object) -> None:
        raise StoreFault("DPSYNTH_HOME", "the disk that it is on is full", "free some space and try again")

    with monkeypatch.context() as patch:
        patch.setattr(projects, "save", full)
        app.pills[0].set_value([app.pills[0].options[0]]).run() if app.pills else app.slider[0].set_value(2).run()
    assert len(app.error) == 1
    assert chosen(place) == before


def test_a_part_that_draws_itself_again_says_what_the_disk_refuses(monkeypatch: pytest.MonkeyPatch, started: list[str]) -> None:
    place = project(**small())
    app = open_page("tradeoffs", place)
    button(app, "Start").click().run()
    assert started

    def broken(*_: object) -> None:
        raise StoreFault("DPSYNTH_HOME", "its disk fails", "check the disk, then try again")

    monkeypatch.setattr(sweeps, "points", broken)
    app.run()
    assert any("its disk fails" in error.value for error in app.error)


def test_a_stand_in_needs_no_private_table(started: list[str]) -> None:
    fields = small()
    del fields["data"], fields["population"]
    place = project(**fields)
    projects.save(LOCAL_OWNER, place, fields)
    app = finished(place, started)
    assert "4 of 4 trials" in words(app)
    assert chain.entries() == ()


def test_start_tries_exactly_what_is_on_screen_and_spends_nothing(started: list[str]) -> None:
    place = project(**small(strength=0.75, sizes="parts"))
    app = open_page("tradeoffs", place)
    assert "spends nothing" in words(app)
    button(app, "Start 16 trials").click().run()
    sweep = only(place).sweep
    assert (sweep.mechanisms, sweep.epsilons, sweep.repeats, sweep.table) == (("independent", "gaussian"), (0.5, 2.0), 1, "standin")
    assert sweep.sizes == (1, 2, 3, 6)
    assert sweep.base.data.standin is not None
    assert (sweep.base.data.standin.rows, sweep.base.data.standin.strength) == (200, 0.75)
    assert len(started) == 1
    assert chain.entries() == ()


@pytest.mark.parametrize(
    ("label", "typed", "note", "value"),
    [("Rows", "1,234", "rows", 1234), ("Values of ε", "2 0.5, 8", "epsilons", [0.5, 2.0, 8.0])],
)
def test_what_is_typed_is_saved_and_tried(label: str, typed: str, note: str, value: Any) -> None:
    place = project(**small())
    app = open_page("tradeoffs", place)
    next(t for t in app.text_input if t.label == label).input(typed).run()
    assert sweep_form.note(chosen(place), note) == value


def test_trials_that_the_click_itself_has_changed_are_not_started(started: list[str]) -> None:
    """A person types and clicks Start at once: leaving the field and the click come together."""
    app = open_page("tradeoffs", project(**small()))
    next(t for t in app.text_input if t.label == "Rows").input("400")
    next(b for b in app.button if b.label.startswith("Start")).click().run()
    assert not started
    assert "they were just changed" in words(app)
    next(b for b in app.button if b.label.startswith("Start")).click().run()
    assert started


@pytest.mark.parametrize(
    ("label", "typed"), [("Rows", "many"), ("Rows", "0"), ("Values of ε", "one"), ("Values of ε", "-1"), ("Values of ε", "nan")]
)
def test_what_cannot_be_used_stops_the_start(label: str, typed: str) -> None:
    app = open_page("tradeoffs", project(**small()))
    app = next(t for t in app.text_input if t.label == label).input(typed).run()
    assert not [b for b in app.button if "Start" in b.label]


def test_boxes_and_pills_are_saved_and_tried() -> None:
    place = project(**small())
    app = open_page("tradeoffs", place)
    next(s for s in app.selectbox if s.label == "Repeats").select(5).run()
    next(s for s in app.selectbox if s.label == "Tables asked for").select("parts").run()
    assert (sweep_form.note(chosen(place), "repeats"), sweep_form.note(chosen(place), "sizes")) == (5, "parts")


def test_no_mechanism_at_all_is_said_and_not_started() -> None:
    app = open_page("tradeoffs", project(**small(mechanisms=[])))
    assert "at least one" in words(app)
    assert not [b for b in app.button if "Start" in b.label]


def test_a_mechanism_that_cannot_be_tried_is_named_with_the_reason() -> None:
    fields = small(mechanisms=["aim", "independent"]) | {"mechanism": {"name": "aim", "settings": {"max_size_mb": 0.1}}}
    fields["domain"] = {"age": 50_000, "sex": 2}
    app = open_page("tradeoffs", project(**fields))
    assert "AIM" in words(app)
    assert "leave out the ones named above" in words(app).lower()


def test_points_appear_as_they_come_and_a_sweep_can_be_stopped_and_resumed(started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    place = project(**small())
    button(open_page("tradeoffs", place), "Start").click().run()
    app = open_page("tradeoffs", place)
    assert "first points appear here" in words(app)
    real = trial.Trials.run
    monkeypatch.setattr(trial.Trials, "run", lambda self, number: real(self, number) if number == 0 else 1 / 0)
    worker.work(dispatch.claim(started[-1]))
    monkeypatch.setattr(trial.Trials, "run", real)
    app = open_page("tradeoffs", place)
    assert "3 trials failed" in words(app)
    assert "division" not in words(app)
    button(app, "Try the failed ones again").click().run()
    app = open_page("tradeoffs", place)
    assert "left" in app.get("progress")[0].proto.text
    assert "How does the error fall with epsilon?" in drawn(app)[0]
    button(app, "Stop").click().run()
    assert only(place).state == "stopped"
    button(open_page("tradeoffs", place), "Go on").click().run()
    worker.work(dispatch.claim(started[-1]))
    assert "4 of 4 trials" in words(open_page("tradeoffs", place))


def test_another_sweep_can_be_put_together_beside_a_finished_one(started: list[str]) -> None:
    place = project(**small())
    app = finished(place, started)
    assert not [b for b in app.button if "Start" in b.label]  # folded away, and not made before it is asked for
    app.session_state["tradeoffs_other"] = True
    assert button(app.run(), "Start 4 trials")


def test_a_setting_is_picked_and_taken_into_the_plan(started: list[str]) -> None:
    place = project(**small())
    app = finished(place, started)
    app = app.selectbox(key="tradeoffs_mechanism").select("Gaussian answers").run()
    app = app.selectbox(key="tradeoffs_epsilon").select(2.0).run()
    assert "Take Gaussian answers at ε 2" in button(app, "into the plan").label
    button(app, "into the plan").click().run()
    plan = chosen(place)
    assert (plan["mechanism"]["name"], plan["budget"]["epsilon"]) == ("gaussian", 2.0)


def test_the_table_behind_every_chart_can_be_had(started: list[str]) -> None:
    place = project(**small())
    app = finished(place, started)
    assert [b.label for b in app.get("download_button")] == ["Every trial", "The curves", "The tables of this setting", "Every table"]


def test_a_column_that_is_a_formula_stays_text_in_a_download() -> None:
    assert b"'=1+1" in sweep_view._csv(lambda: public(pd.DataFrame({"marginal": ["=1+1"]})))


def test_a_sweep_can_be_deleted(started: list[str]) -> None:
    place = project(**small())
    button(finished(place, started), "Delete").click()
    app = finished(place, started)
    next(b for b in app.button if b.key == "sweep_delete").click().run()
    assert len(sweeps.list(LOCAL_OWNER, place)) == 1


def test_a_public_table_can_be_tried_on_at_no_cost(started: list[str]) -> None:
    place = private()
    path = projects.upload(LOCAL_OWNER, place, "public.csv", io.BytesIO(b"a,b\n" + b"1,1\n0,0\n" * 30), shelf="public")
    public_table = {"path": str(path), "kind": "csv", "delimiter": ",", "encoding": "utf-8", "missing_markers": [""], "sha256": ""}
    fields = dict(chosen(place)) | {"public": public_table}
    fields["wizard"]["tradeoffs"]["table"] = "public"
    projects.save(LOCAL_OWNER, place, fields)
    app = finished(place, started)
    assert "4 of 4 trials" in words(app)
    assert only(place).sweep.base.data.path == str(path)
    assert len(app.get("download_button")) == 4
    assert chain.entries() == ()


# Plans that learn, and settings that vary


def learning(**notes: Any) -> dict[str, Any]:
    """A draft whose plan learns two of four columns."""
    fields = small(**notes)
    for attribute in fields["domain"]["attributes"]:
        if attribute["name"] in ("age", "region"):
            kind = "integer" if attribute["name"] == "age" else "categorical"
            attribute |= {"discover": True, "kind": kind}
            for key in attribute.keys() - {"name", "kind", "discover"}:
                del attribute[key]
    return fields | {"budget": {"epsilon": 5.0, "delta": 1e-9, "certificate": 0.1, "discovery": 0.3}}


def test_a_plan_that_learns_is_tried_with_invented_values_and_after_a_release_with_learnt_ones(started: list[str]) -> None:
    place = project(**learning())
    assert "invented**" in words(open_page("tradeoffs", place))
    app = finished(place, started)
    assert "4 of 4 trials" in words(app)
    assert "invented" in words(app)
    assert only(place).sweep.invented == ("age", "region")
    run = finished_run(place)
    with transaction() as db:
        db.execute("UPDATE jobs SET created = '2020-01-01T00:00:00.000+00:00' WHERE kind = 'sweep'")
    app = finished(place, started)
    newest = sweeps.list(LOCAL_OWNER, place)[0].sweep
    assert newest.invented == ()
    assert newest.domain == runs.release(LOCAL_OWNER, run.id).plan.domain
    assert "invented" not in words(app)
    assert "has learnt" in words(app)
    app.session_state["tradeoffs_beside"] = [run.id]
    app = app.run()
    assert "is not drawn" not in words(app)
    assert any("Diamond with a name" in caption.value for caption in app.caption)


def test_invented_values_are_not_tried_on_the_simulated_people(started: list[str]) -> None:
    app = open_page("tradeoffs", project(**learning(table="public")))
    assert "Try it on simulated data" in words(app)
    assert not [b for b in app.button if "Start" in b.label]
    assert not started


def test_a_setting_is_varied_drawn_and_taken_into_the_plan(started: list[str]) -> None:
    place = project(**small(mechanisms=["mst", "independent"]))
    app = open_page("tradeoffs", place)
    app = next(s for s in app.selectbox if s.label == "Setting to vary").select("mst.max_size_mb").run()
    app = next(t for t in app.text_input if t.label == "Its values").input("1 20").run()
    button(app, "Start 6 trials").click().run()
    assert only(place).sweep.swept == Swept("mst", "max_size_mb", (1.0, 20.0))
    worker.work(dispatch.claim(started[-1]))
    app = open_page("tradeoffs", place)
    for axis, question in (("by_seconds", "processor time?"), ("by_setting", "What does max_size_mb do to the error?")):
        app.session_state["tradeoffs_axis"] = axis
        app = app.run()
        assert any(question in spec for spec in map(joined_title, drawn(app)))
    app = app.selectbox(key="tradeoffs_mechanism").select("MST, max_size_mb 20").run()
    button(app, "into the plan").click().run()
    assert chosen(place)["mechanism"] == {"name": "mst", "settings": {"max_size_mb": 20.0}}


def joined_title(spec: str) -> str:
    drawing = json.loads(spec)
    lines = {param["name"]: param.get("value") for param in drawing.get("params", ())}
    return " ".join(lines.get(SHORT_TITLE) or drawing["title"]["text"])


@pytest.mark.parametrize("typed", ["-1", "many", "1,5", "1 2 3 4 5 6 7 8 9"])
def test_values_of_a_setting_that_cannot_be_used_stop_the_start(typed: str) -> None:
    app = open_page("tradeoffs", project(**small(mechanisms=["mst"], setting="mst.max_size_mb")))
    app = next(t for t in app.text_input if t.label == "Its values").input(typed).run()
    assert not [b for b in app.button if "Start" in b.label]


def test_each_table_has_a_chart_of_its_own(started: list[str]) -> None:
    app = finished(project(**small()), started)
    labels = {title for title in map(joined_title, drawn(app)) if "how far off?" in title}
    assert len(labels) == 6


# The private table


def test_the_private_table_is_charged_only_after_the_warning_is_confirmed(started: list[str]) -> None:
    place = private()
    app = open_page("tradeoffs", place)
    assert "for your eyes only" in words(app)
    app = button(app, "Start 4 trials").click().run()
    assert "The charge is final" in words(app)
    assert chain.entries() == ()
    app = button(app, "Charge it and start").click().run()
    assert only(place).sweep.table == "private"
    assert balance.spent("Invented people").rho == pytest.approx(only(place).sweep.rho)
    assert len(started) == 1


def test_trials_whose_population_demands_approvals_since_they_were_started_say_that_they_wait_in_vain() -> None:
    place = private()
    button(button(open_page("tradeoffs", place), "Start").click().run(), "Charge it and start").click().run()
    assert "approval that cannot come" not in words(open_page("tradeoffs", place))
    approvals.demand(LOCAL_OWNER, "Invented people", ["plan"])
    app = open_page("tradeoffs", place)
    assert "approval that cannot come" in words(app)
    assert "first points appear" not in words(app)
    app = button(app, "Stop").click().run()
    assert "approval that cannot come" not in words(app)
    assert balance.spent("Invented people").rho == 0


def test_private_errors_are_watermarked_and_have_no_way_out(started: list[str]) -> None:
    place = private()
    button(button(open_page("tradeoffs", place), "Start").click().run(), "Charge it and start").click().run()
    worker.work(dispatch.claim(started[-1]))
    app = open_page("tradeoffs", place)
    assert curator.WARNING in words(app)
    assert len(app.get("download_button")) == 0
    assert not [b for b in app.button if "into the plan" in b.label]
    specs = drawn(app)
    assert specs
    assert all("CURATOR-ONLY" in spec for spec in specs)
    assert not any('"params"' in spec and sweep_view.charts.TRIED in spec for spec in specs)
    refused(sweep_view._csv, lambda: curator_only(pd.DataFrame()), kind=ZoneError)


def test_private_outcomes_are_kept_in_no_cache(started: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    place = private()
    button(button(open_page("tradeoffs", place), "Start").click().run(), "Charge it and start").click().run()
    worker.work(dispatch.claim(started[-1]))
    monkeypatch.setattr(sweep_view, "_public", lambda *_: pytest.fail("it was cached"))
    open_page("tradeoffs", place)


def test_a_sweep_beyond_the_cap_says_so_and_starts_nothing() -> None:
    place = private(epsilons=[9.0], repeats=5)
    app = button(button(open_page("tradeoffs", place), "Start").click().run(), "Charge it and start").click().run()
    assert "above its cap" in words(app)
    assert sweeps.list(LOCAL_OWNER, place) == ()


def test_sweeps_of_a_project_are_told_apart(started: list[str]) -> None:
    place = project(**small())
    finished(place, started)
    with transaction() as db:
        db.execute("UPDATE jobs SET created = '2020-01-01T00:00:00.000+00:00'")
    app = finished(place, started)
    box = app.selectbox(key=sweep_form.SHOWN)
    assert len(box.options) == 2
    assert all("4 trials on simulated data" in option for option in box.options)


def test_values_of_epsilon_may_have_decimal_commas_but_are_never_guessed() -> None:
    assert sweep_form.read_epsilons("0,1 0,5; 1, 3") == [0.1, 0.5, 1.0, 3.0]
    assert sweep_form.read_epsilons("0.1,0.5,2") == [0.1, 0.5, 2.0]
    refused(sweep_form.read_epsilons, "1,5", saying="one number or two")
