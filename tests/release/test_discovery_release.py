"""Releases whose columns were learnt: from a file that nobody described to rows, a bundle, its check, and its recovery."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verdicts import FAILED
from dpsynth_core.inference import estimation
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.events import Thresholded
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.release import document, recovery, synthesis
from dpsynth_core.release.release import INTERRUPTED, Release
from dpsynth_core.report.words import assumptions
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import MarginalCounts
from tests.refusals import refused
from tests.releases import check_sound, ended, found, kept, run
from tests.specs import usual

SECRET = "HIV positive; Main Street 4"
PEOPLE = 1500
QUESTION = "Do learnt values follow?"


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,500 people, one of whom has a city, an age and a birthday of their own."""
    rng = np.random.default_rng(7)
    out = io.StringIO()
    rows = csv.writer(out)
    rows.writerow(["sex", "city", "age", "born"])
    for _ in range(PEOPLE):
        city = rng.choice(["Ghent", "Mons", "Liège", "NA", "Lier", "Aalst"], p=[0.4, 0.3, 0.17, 0.1, 0.02, 0.01])
        rows.writerow([rng.choice(["f", "m"]), city, rng.integers(18, 80), f"{rng.integers(1950, 2000)}-0{rng.integers(1, 10)}-15"])
    rows.writerow(["f", SECRET, 123456, "1799-09-09"])
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text(out.getvalue())
    return path


def spec(table: Path, **more: Any) -> Spec:
    columns = [
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
        {"name": "city", "kind": "categorical", "discover": True, "most": 6},
        {"name": "age", "kind": "integer", "discover": True, "most": 8},
        {"name": "born", "kind": "date", "discover": True, "most": 8},
    ]
    whole = usual(
        {"kind": "csv", "path": str(table)}, {"version": 1, "attributes": columns}, population="trial",
        budget={"epsilon": 4.0, "delta": 1e-9, "certificate": 0.05, "discovery": 0.2}, mechanism="independent",
    )
    return Spec.from_json(whole | more)


@pytest.fixture(scope="module")
def release(table: Path) -> Release:
    return run(spec(table))


def test_common_values_are_found_and_the_domain_is_whole(release: Release) -> None:
    """Found with certainty for all purposes: the counts are more than ten standard deviations above the threshold."""
    assert {"Ghent", "Mons", "Liège"} <= set(release.domain["city"].categories)
    assert release.domain["city"].other
    assert release.domain["city"].missing  # 150 of 1,500, noise of 13
    assert not release.domain.unknown
    assert [a.size <= m for a, m in zip(release.domain, (2, 6, 8, 8), strict=True)] == [True] * 4
    assert release.domain["sex"] == Attribute.categorical("sex", ["f", "m"])
    # 24 people have each age from 18 to 79: ends may miss some ages to noise, but not eight of them, which are 14 deviations
    assert 10 <= release.domain["age"].lower <= 26
    assert 71 <= release.domain["age"].upper < 1000
    assert release.rows > 1000


def test_what_one_person_has_alone_is_in_no_file(bundle: Bundle, release: Release) -> None:
    """Fails with probability delta, 1e-10, although all is well."""
    for name, content in bundle.files.items():
        assert SECRET.encode() not in content.read(), name
    assert SECRET not in str(release.transcript)
    assert release.domain["age"].upper < 100_000
    assert release.domain["born"].lower.year > 1800


def test_the_budget_holds_and_deltas_are_part_of_it(release: Release) -> None:
    shares = release.plan.shares
    assert release.rho_spent <= release.rho
    learnt = [event for event in release.charges if isinstance(event, Thresholded)]
    assert len(learnt) == 1
    assert sum(event.delta for event in learnt) <= shares.delta == pytest.approx(1e-10)
    operations = [answer.operation for answer in release.transcript[:7]]
    assert operations == ["discover_values", *["measure_cells"] * 6]


def test_the_mechanism_uses_the_counts_that_discovery_paid_for(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of every learnt column, in its cells; nothing is known of a column that was declared. The noise of a count is 13 of 1,500."""
    used: list[MarginalCounts] = []

    def estimate(*facts: Any) -> GraphicalModel:
        used.extend(facts[-1])
        return estimation.estimate(*facts)

    monkeypatch.setattr(models, "estimate", estimate)
    release = run(spec(table))
    assert [one.clique[0] for one in used] == ["city", "age", "born"]
    assert all(one.values.shape == one.variances.shape == (release.domain[one.clique[0]].size,) for one in used)
    ghent = release.domain["city"].categories.index("Ghent")
    assert abs(used[0].values[ghent] / release.total - 0.4) < 0.1


def test_a_recipient_finds_it_sound(bundle: Bundle) -> None:
    check_sound(bundle, QUESTION)


def test_it_is_read_back_as_it_was(release: Release, tmp_path: Path) -> None:
    again = kept(release, tmp_path)
    assert again.domain == release.domain
    assert again.plan.workload == release.plan.workload


def _smuggled(obj: dict[str, Any]) -> None:
    obj["domain"]["attributes"][1]["categories"][-1] = "Atlantis"


def _moved(obj: dict[str, Any]) -> None:
    obj["domain"]["attributes"][2]["edges"][0] -= 1
    obj["domain"]["attributes"][2]["lower"] -= 1


def _told(obj: dict[str, Any]) -> None:
    answer = next(answer for answer in obj["transcript"] if answer["operation"] == "discover_values")
    answer["given"]["dict"].append(["Atlantis", 3])


@pytest.mark.parametrize("change", [_smuggled, _moved, _told])
def test_values_that_do_not_follow_are_noticed(bundle: Bundle, change: Callable[[dict[str, Any]], None]) -> None:
    obj = json.loads(json.dumps(bundle.document))
    change(obj)
    assert found(replace(bundle, document=obj)).get(QUESTION, FAILED) == FAILED


def _more(obj: dict[str, Any]) -> None:
    obj["domain"]["attributes"][1]["categories"] += list("abcdefg")


def _declared(obj: dict[str, Any]) -> None:
    obj["domain"]["attributes"][0]["categories"] = ["f", "m", "x"]


def _unlearnt(obj: dict[str, Any]) -> None:
    obj["domain"] = obj["spec"]["domain"]


@pytest.mark.parametrize("change", [_more, _declared, _unlearnt])
def test_a_domain_that_was_not_asked_for_is_refused(release: Release, change: Callable[[dict[str, Any]], None]) -> None:
    obj = json.loads(document.document(release))
    change(obj)
    refused(document.from_json, obj)


def test_the_same_release_comes_from_its_answers_and_nothing_from_too_few(table: Path) -> None:
    release = run(spec(table, mechanism={"name": "aim"}))  # it asks table by table
    whole = recovery.recover(ended(release, release.transcript), lambda _: None)
    assert whole.domain == release.domain
    assert whole.table == release.table
    for answers in (1, 4, 7):  # while values are learnt, and just after
        refused(recovery.recover, ended(release, release.transcript[:answers]), lambda _: None, saying="no table yet")
    partly = recovery.recover(ended(release, release.transcript[:9]), lambda _: None)
    assert partly.branded(INTERRUPTED)
    assert partly.domain == release.domain
    assert document.from_json(json.loads(document.document(partly))).domain == release.domain


def test_readers_are_told_where_values_come_from(bundle: Bundle, release: Release) -> None:
    city = release.plan.portions[0]
    assert f"{city.least(1):,}" in release.statement
    for name in ("report.html", "DATA_CARD.md"):
        assert f"{city.shared_by(1):,} records share" in bundle.files[name].read().decode(), name
    lines = {line["column"]: line["values_outside"] for line in csv.DictReader(io.StringIO(bundle.files["codebook.csv"].read().decode()))}
    assert [name for name, outside in lines.items() if "learnt" in outside] == ["city", "age", "born"]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_more_values_than_a_column_may_have_are_merged(table: Path, relation: str) -> None:
    columns = [{"name": "city", "kind": "categorical", "discover": True, "most": 4}]
    again = run(spec(table, domain={"version": 1, "attributes": columns}, workload={"kind": "all", "k": 1}, unit={"relation": relation}))
    assert again.domain["city"] == Attribute.categorical("city", ["Ghent", "Mons"], other=True, missing=True)


def test_a_person_column_limits_what_a_person_adds(tmp_path: Path) -> None:
    """Somebody with 400 rows of one value counts twice, so that it is not a value that many share."""
    path = tmp_path / "visits.csv"
    path.write_text("who,place\n" + "ann,Atlantis\n" * 400 + "".join(f"p{i},Ghent\n" for i in range(400)))
    columns = [{"name": "place", "kind": "categorical", "discover": True}]
    unit = {"person_column": "who", "max_rows_per_person": 2}
    again = run(spec(path, domain={"version": 1, "attributes": columns}, workload={"kind": "all", "k": 1}, unit=unit))
    assert again.domain["place"].categories == ("Ghent",)


def test_the_column_of_persons_comes_back_as_new_identifiers_alone(tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    place = {"name": "place", "kind": "categorical", "categories": ["Ghent", "Mons"]}
    domain = {"version": 1, "attributes": [{"name": "who", "kind": "identifier", "pattern": "N001"}, place]}
    unit = {"person_column": "who", "max_rows_per_person": 1}
    fields = {"domain": domain, "workload": {"kind": "all", "k": 1}, "unit": unit, "output": {"seed": 1}}
    releases = []
    for people in ("ann{}", "{}-bob"):
        path.write_text("who,place\n" + "".join(f"{people.format(i)},Ghent\n" for i in range(400)))
        releases.append(run(spec(path, **fields), SeededNoise(1)))
    one, two = releases
    assert one.table is not None
    assert two.table is not None
    assert one.table.equals(two.table)  # whoever the people are, the rows are the same
    assert one.table["who"].to_pylist()[:2] == ["N001", "N002"]
    assert any("do not say which rows belong to one person" in sentence for sentence in assumptions(one))
    refused(synthesis.plan, spec(path, **fields | {"domain": {"who": 2, "place": 2}}), saying='"kind": "identifier"')


def test_every_mechanism_for_rows_takes_learnt_columns(table: Path) -> None:
    for name in ("aim", "mst", "gaussian", "residual_planner"):
        city = {"name": "city", "kind": "categorical", "discover": True}
        few = [{"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False}, city]
        again = run(spec(table, domain={"version": 1, "attributes": few}, mechanism={"name": name}))
        assert "Ghent" in again.domain["city"].categories
