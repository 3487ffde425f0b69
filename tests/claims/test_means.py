"""Certified means: near the truth, in intervals that hold, within the bounds, on a share of their own, and followed by recipients."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core import report
from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verdicts import FAILED
from dpsynth_core.claims import means
from dpsynth_core.claims.means import MEANS, MeanMeasured
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import Plan, set_aside
from dpsynth_core.planning.spec import BudgetSpec, Spec
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.release import document
from dpsynth_core.release.release import Release
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.statistics.intervals import Noisy
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside
from tests.releases import check_sound, found, run
from tests.specs import usual

PEOPLE = 5000
ALONE = Unit()
DOMAIN = Domain(
    (
        Attribute.integer("n", 1, 16, missing=True),
        Attribute.numeric("price", 0.0, 100.0, bins=4),
        Attribute.integer("wide", 0, 999),
        Attribute.categorical("c", ["a"]),
    )
)
INSIDE = {"price": Inside((0.0, 25.0, 50.0, 75.0, 100.0), (1.0, 1.0, 1.0, 1.0))}


def table() -> pd.DataFrame:
    rng = np.random.default_rng(3)
    number = rng.integers(1, 17, PEOPLE).astype(object)
    number[:1000] = None
    return pd.DataFrame({"n": number, "price": rng.exponential(20, PEOPLE).clip(0, 100), "wide": 5, "c": "a"})


TABLE = table()
CODES = np.random.default_rng(4).integers(0, [16, 4, 10, 1], (3000, 4))
"""Of rows that have little to do with the table: n near 8.5, price near 50, and wide of which nothing is known inside."""


def measured(rho: float, seed: int, unit: Unit = ALONE) -> tuple[PrivacyKernel, tuple[MeanMeasured, ...]]:
    kernel = PrivacyKernel(ArrowSource(DOMAIN, TABLE), unit, rho, SeededNoise(seed))
    return kernel, means.measure(kernel, means._columns(DOMAIN, CODES, INSIDE), Noisy(PEOPLE, 0.0))


def test_only_what_rows_claim_is_measured() -> None:
    """Nothing was measured of what is inside the cells of "wide", and a category has no mean."""
    assert [one.cells.name for one in means._columns(DOMAIN, CODES, INSIDE)] == ["n", "price"]
    assert means._columns(DOMAIN, np.zeros((0, 4), dtype=int), INSIDE) == []


def test_the_mean_is_found_however_wrong_the_rows_are() -> None:
    """Noise is 1 person of 5,000 and less."""
    true = float(TABLE["n"].dropna().astype(float).mean()), float(TABLE["price"].mean())
    _, (number, price) = measured(5.0, 0)
    assert number.value == pytest.approx(true[0], abs=0.02)
    assert price.value == pytest.approx(true[1], abs=0.1)
    assert price.rows == pytest.approx(50, abs=2)


@pytest.mark.parametrize("unit", [ALONE, Unit(REPLACE, 2)])
def test_intervals_hold_and_the_budget_too(unit: Unit) -> None:
    """Of 200 intervals 190 are expected to hold, seeds 0 to 99; 180 is 3.2 standard deviations below."""
    true = {"n": float(TABLE["n"].dropna().astype(float).mean()), "price": float(TABLE["price"].mean())}
    held = 0
    for seed in range(100):
        kernel, stated = measured(1e-3, seed, unit)
        assert 1e-3 * (1 - 1e-8) < kernel.rho_spent <= 1e-3
        held += sum(one.low95 <= true[one.column] <= one.high95 for one in stated)
    assert 180 <= held < 200


def test_no_mean_is_beyond_the_bounds() -> None:
    for seed in range(20):
        for one, (low, high) in zip(measured(1e-8, seed)[1], ((1, 16), (0, 100)), strict=True):
            assert low <= one.low95 <= one.value <= one.high95 <= high


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Release:
    path = tmp_path_factory.mktemp("means") / "people.csv"
    TABLE.to_csv(path, index=False)
    return run(_spec(path))


def _spec(path: Path, **more: Any) -> Spec:
    budget = {"epsilon": 8.0, "delta": 1e-9, "certificate": 0.05, "criteria": 0.05, "inside": 0.1, "means": 0.1}
    whole = usual(
        {"kind": "csv", "path": str(path)}, DOMAIN.to_json(), population="trial", budget=budget, mechanism="independent",
        criteria=[{"kind": "share", "of": {"n": "3"}, "tolerance": 0.2}],
    )
    return Spec.from_json(whole | more)


def test_a_release_states_them_and_a_recipient_follows(release: Release, bundle: Bundle) -> None:
    stated = release.claims["means"]
    assert [one.column for one in stated] == ["n", "price", "wide"]
    assert stated[2].value == pytest.approx(5, abs=3)
    check_sound(bundle, MEANS.question)
    assert b"How far off are means?" in bundle.files["report.html"].read()
    assert document.from_json(bundle.document).claims["means"] == stated


def test_one_that_is_off_is_in_the_headline_of_the_report(release: Release) -> None:
    judged = report.quality_of(release).value.verdict
    assert judged is not None
    assert [name for name, _ in judged.means] == ["n", "price", "wide"]
    off = [replace(one, rows=one.high95 + 900, column="wide") for one in release.claims["means"][-1:]]
    made = report.report_page(replace(release, claims={**release.claims, "means": tuple(off)})).value.decode()
    assert "not for the mean of wide." in made.lower()


def test_a_mean_that_does_not_follow_is_noticed(bundle: Bundle) -> None:
    obj = json.loads(json.dumps(bundle.document))
    obj["means"][1]["low95"] += 1
    assert found(replace(bundle, document=obj))[MEANS.question] == FAILED


def test_no_share_is_kept_where_there_are_no_rows_or_no_numbers(tmp_path: Path) -> None:
    def kept(**more: Any) -> float:
        return Plan.of(_spec(tmp_path / "t.csv", **more)).shares.of("means")

    names = Domain((Attribute.categorical("sex", ("f", "m")), Attribute.categorical("region", ("n", "s"))))
    assert kept() > 0
    assert kept(mechanism={"name": "gaussian"}) == 0
    assert kept(domain=names.to_json(), criteria=[]) == 0
    without = set_aside(registry.get("aim"), BudgetSpec(epsilon=1.0, delta=1e-9, means=0.1), {"domain": names.to_json()})
    assert "means" not in without, "a draft in the wizard divides its budget alike"


def test_it_is_said_in_words() -> None:
    one = MeanMeasured("wide", 12.3, 10.0, 5.0, 20.0, 1.0, 100.0)
    said = means.sentence(DOMAIN["wide"], one)
    assert said.startswith("wide: 12 in the rows; 10 among the people as measured, from 5 to 20.")
    assert "0.23% of the range" in said
    born = Attribute.day("born", "1950-01-01", "1999-12-31")
    assert "1970-01-11 in the rows" in means.sentence(born, MeanMeasured("born", 10.2, 10.0, 5.0, 20.0, 1.0, 100.0))
