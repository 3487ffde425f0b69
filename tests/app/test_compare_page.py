"""The Compare page: what differs, where one wins, a favourite; true values only on request and only on screen."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import curator
from tests.app.demo_project import draft, finished_run, open_page, project, words


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compare") / "home"


@pytest.fixture(autouse=True)
def at_home(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One home for the file: runs take seconds."""
    monkeypatch.setenv("DPSYNTH_HOME", str(home))


@pytest.fixture(scope="module")
def compared(home: Path) -> str:
    """A project with two finished runs that differ in epsilon; seeded, for a 95 % bound may fall below the other's now and then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(home))
        place = project()
        for epsilon in (0.05, 5.0):
            budget = {"epsilon": epsilon, "delta": 1e-9, "certificate": 0.1}
            projects.save(LOCAL_OWNER, place, draft(budget=budget, output={"rows": None, "seed": 7}))
            assert finished_run(place).state == "done"
    return place


def test_with_one_run_or_none_there_is_nothing_to_compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "empty"))
    app = open_page("compare", project())
    assert "needs two finished runs" in words(app)


def test_two_runs_are_compared_by_what_differs_and_by_table(compared: str) -> None:
    app = open_page("compare", compared)
    settings = app.dataframe[0].value
    assert settings["What"].tolist() == ["ε"]
    assert {*settings["A"], *settings["B"]} == {"0.05", "5.0"}
    assert sorted(app.dataframe[1].value.columns) == ["A", "B", "marginal"]
    assert len(app.dataframe[1].value) == 6
    better = "A" if settings["A"].iloc[0] == "5.0" else "B"
    means = {metric.label[0]: metric.value for metric in app.metric}
    assert float(means[better].rstrip("%")) < max(float(value.rstrip("%")) for value in means.values())


def test_what_changed_about_the_people_is_said_with_the_noise_of_both(compared: str) -> None:
    """Both runs are of the same people, with noise that is fixed: nothing is shown to have changed."""
    app = open_page("compare", compared)
    said = words(app)
    assert "What changed about the people?" in said
    assert "none is shown to have changed" in said
    assert [one.label for one in app.get("download_button")] == ["Download as HTML", "Download as MD"]


def test_runs_can_be_judged_by_their_largest_error(compared: str) -> None:
    app = open_page("compare", compared)
    better = "A" if app.dataframe[0].value["A"].iloc[0] == "5.0" else "B"
    app = app.button_group(key="compare_measure").set_value("Largest error of one count").run()
    stated = {metric.label: float(metric.value.rstrip("%")) for metric in app.metric}
    assert min(stated, key=stated.__getitem__) == f"{better}: at most, the largest"
    assert app.dataframe[1].value["marginal"].tolist() == ["any cell of any table"]
    app = app.toggle(key="results_curator").set_value(True).run()
    assert {metric.label for metric in app.metric} == {"A: the largest", "B: the largest"}
    assert len(app.dataframe) == 1


def test_runs_of_other_projects_can_be_compared_too(compared: str) -> None:
    other = project()
    app = open_page("compare", other)
    assert len(app.multiselect(key="compare_runs").options) == 2
    assert "of another project" in words(app)
    assert compared


def test_one_run_alone_asks_for_another(compared: str) -> None:
    app = open_page("compare", compared)
    picked = app.multiselect(key="compare_runs")
    app = picked.set_value(picked.value[:1]).run()
    assert "Choose two runs or more" in words(app)


def test_a_favourite_is_kept_and_comes_first_on_the_results_page(compared: str) -> None:
    app = open_page("compare", compared)
    older = open_page("results", compared).selectbox(key="results_run").options[-1]
    letter = next(m.label[0] for m in app.metric if m.label)
    app = next(b for b in app.button if b.key == f"pin_{'B' if letter == 'A' else 'A'}").click().run()
    assert "★" in " ".join(app.multiselect(key="compare_runs").options)
    results = open_page("results", compared).selectbox(key="results_run")
    assert results.options[0].startswith("★")
    assert older.removeprefix("★ ") in {option.removeprefix("★ ") for option in results.options}
    assert results.index == 0
    next(b for b in open_page("compare", compared).button if b.label == "Favourite").click().run()
    assert "★" not in " ".join(open_page("results", compared).selectbox(key="results_run").options)


def test_true_values_are_watermarked_and_not_listed(compared: str) -> None:
    app = open_page("compare", compared)
    app = app.toggle(key="results_curator").set_value(True).run()
    assert curator.WARNING in words(app)
    assert len(app.dataframe) == 1
    assert "on average" in app.metric[0].label
    assert "at most" not in app.metric[0].label
