"""Releases whose rows draw from measured parts of cells: the rows, the bundle, its check, its replay, and what was interrupted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verdicts import FAILED
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.known import MEASURED
from dpsynth_core.evaluation.questions.question import MEAN, Question
from dpsynth_core.planning.plan import INSIDE, Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.release import document, recovery
from dpsynth_core.release.release import INTERRUPTED, Release
from dpsynth_core.report.answers import sentences
from dpsynth_core.report.explore import explore_page, knowledge
from dpsynth_core.report.facts import facts
from tests.refusals import refused
from tests.releases import check_sound, ended, found, kept, run
from tests.specs import usual

PEOPLE = 4000
QUESTION = "Does it follow how numbers lie in their cells?"
BUDGET = {"epsilon": 8.0, "delta": 1e-9, "certificate": 0.05, "inside": 0.2}
COLUMNS = [
    {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
    {"name": "gain", "kind": "integer", "lower": 0, "upper": 9999, "width": 1000, "other": "nearest", "missing": True},
    {"name": "born", "kind": "date", "discover": True, "most": 8},
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Nine of ten gain nothing, the others from 1 to 9,999."""
    rng = np.random.default_rng(7)
    gain = np.where(rng.random(PEOPLE) < 0.9, 0, rng.integers(1, 10_000, PEOPLE))
    born = pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 18_000, PEOPLE), "D")
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pd.DataFrame({"sex": rng.choice(["f", "m"], PEOPLE), "gain": gain, "born": born.strftime("%Y-%m-%d")}).to_csv(path, index=False)
    return path


def spec(table: Path, **more: Any) -> Spec:
    whole = usual(
        {"kind": "csv", "path": str(table)}, {"version": 1, "attributes": COLUMNS}, population="trial", budget=BUDGET,
        mechanism="mst",
    )
    return Spec.from_json(whole | more)


@pytest.fixture(scope="module")
def release(table: Path) -> Release:
    return run(spec(table), OpenDPNoise())


def test_rows_have_the_heap_and_the_mean_of_the_table(release: Release) -> None:
    """3,600 zeros and a mean of 500: noise of a cell is about 10 people of 4,000, and rows add a standard error of 25 to the mean. Spread
    evenly, the first cell alone would make it 950."""
    assert release.table is not None
    gain = release.table["gain"].drop_null().to_numpy()
    assert abs((gain == 0).mean() - 0.9) < 0.03
    assert abs(gain.mean() - 500) < 150
    assert set(release.inside) == {"gain", "born"}


def test_it_is_part_of_the_budget(release: Release) -> None:
    shares = release.plan.shares
    assert shares.of(INSIDE) == pytest.approx(0.2 * shares.rho)
    assert 0.99 * release.rho < release.rho_spent <= release.rho
    looks = [answer.operation for answer in release.transcript[3:7]]
    assert looks == ["measure_cells"] * 4
    assert any(name == "Numbers inside their bins" for name, _ in facts(release))
    assert "how numbers lie in their cells" in release.statement


def test_a_recipient_finds_it_sound(bundle: Bundle) -> None:
    check_sound(bundle, QUESTION)


def test_it_is_read_back_as_it_was(release: Release, tmp_path: Path) -> None:
    assert kept(release, tmp_path).inside == release.inside


def _moved(obj: dict[str, Any]) -> None:
    obj["inside"]["gain"]["people"][0] += 1


def _left_out(obj: dict[str, Any]) -> None:
    del obj["inside"]["gain"]


@pytest.mark.parametrize("change", [_moved, _left_out])
def test_parts_that_do_not_follow_are_noticed(bundle: Bundle, change: Callable[[dict[str, Any]], None]) -> None:
    obj = json.loads(json.dumps(bundle.document))
    change(obj)
    assert found(replace(bundle, document=obj))[QUESTION] == FAILED


def test_parts_of_other_cells_are_refused(release: Release) -> None:
    obj = json.loads(document.document(release))
    obj["inside"]["gain"]["parts"][0] = -5
    refused(document.from_json, obj, saying="not parts of its cells")


def test_a_run_that_ended_while_it_looked_has_no_tables(release: Release) -> None:
    assert recovery.recover(ended(release, release.transcript), lambda _: None).table == release.table
    for answers in (4, 7):
        refused(recovery.recover, ended(release, release.transcript[:answers]), lambda _: None, saying="no table yet")
    partly = recovery.recover(ended(release, release.transcript[:8]), lambda _: None)
    assert partly.branded(INTERRUPTED)
    assert not partly.inside
    assert FAILED not in found(partly).values()


def test_nothing_is_set_aside_where_there_is_nothing_to_look_into(table: Path) -> None:
    """Answers have no rows to draw; one value a cell has no inside; a stand-in table has no values; and whoever asks for none gets none."""
    without = {"attributes": [*COLUMNS[:1], {"name": "gain", "kind": "integer", "lower": 1, "upper": 16}], "version": 1}
    simulated = {"kind": "standin", "standin": {"rows": 100}}
    declared = {"version": 1, "attributes": COLUMNS[:2]}
    cases: list[dict[str, Any]] = [
        {"mechanism": {"name": "gaussian"}},
        {"domain": without},
        {"domain": declared, "data": simulated},
        {"budget": {**BUDGET, "inside": 0.0}},
        {"budget": {name: value for name, value in BUDGET.items() if name != "inside"}},
    ]
    assert [Plan.of(spec(table, **case)).shares.of(INSIDE) for case in cases] == [0.0] * 5
    error = refused(Plan.of, spec(table, budget={**BUDGET, "inside": 0.5}))
    assert error.field == "budget.inside"


def test_a_mean_is_answered_from_what_rows_draw_from(release: Release) -> None:
    """The middle of the cell of 0 to 999 is 499.5, and nearly everybody in it has 0."""
    question = Question(MEAN, column="gain")
    asked = answer(knowledge(release), question)
    assert asked.standing == MEASURED
    assert asked.stated.value == pytest.approx(500, abs=150)
    assert asked.stated.rows == pytest.approx(500, abs=150)
    assert any("mean of its cell as measured" in text for text in sentences(release.domain, question, asked))
    assert b'"standing":"means"' in explore_page(release, []).value

