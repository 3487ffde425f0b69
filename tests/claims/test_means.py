"""Certified means: near the truth, in intervals that hold, within the bounds, on a share of their own, and followed by recipients."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy

from dpsynth_core import report
from dpsynth_core.bundle.checks.opened import Opened
from dpsynth_core.bundle.unpack import Bundle
from dpsynth_core.bundle.verdicts import FAILED
from dpsynth_core.claims import means
from dpsynth_core.claims.means import MEANS, MeanMeasured
from dpsynth_core.claims.outcome import Wrong
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
from dpsynth_core.vocabulary.measurement import Measurement
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
    return kernel, means.measure(kernel, means._columns(DOMAIN, CODES, INSIDE, {}), Noisy(PEOPLE, 0.0))


def test_only_what_rows_claim_is_measured() -> None:
    """Nothing was measured of what is inside the cells of "wide", and a category has no mean."""
    assert [one.cells.name for one in means._columns(DOMAIN, CODES, INSIDE, {})] == ["n", "price"]
    assert means._columns(DOMAIN, np.zeros((0, 4), dtype=int), INSIDE, {}) == []


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


SOURCE = ArrowSource(DOMAIN, TABLE)


@pytest.mark.parametrize("doubt", [0.0, 60.0])
def test_with_noisy_tables_intervals_are_narrower_and_hold_as_often(doubt: float) -> None:
    """Of 2,000 intervals of a column with a cell for each value 1,900 are expected to hold, and of one with wide cells more.

    The limits of the first have false alarms of 1e-6 (binomial); so has that of the second, which is one-sided. The number of people is
    public, or known with a deviation of `doubt`. The noise of a measured sum is 16 people, that of a cell 5.
    """
    runs, sigma, deviation, rng = 2000, 16.0, 5.0, np.random.default_rng(20261129)
    counts = {name: SOURCE.counts([(name,)])[name,] for name in ("n", "price")}
    for name, missing in (("n", 1000), ("price", 0)):
        values, held, widths = TABLE[name].dropna().astype(float), 0, list[tuple[float, float]]()
        alone = next(one for one in means._columns(DOMAIN, CODES, INSIDE, {}) if one.own.name == name)
        true = float(((values - alone.mean) / alone.width).sum())
        for _ in range(runs):
            noisy = Measurement((name,), counts[name] + rng.normal(0.0, deviation, counts[name].shape), deviation)
            records = Noisy(PEOPLE + doubt * rng.normal(), doubt)
            total = Noisy(true + sigma * rng.normal(), sigma)
            people = Noisy(PEOPLE - missing + 20 * rng.normal(), 20.0) if missing else records
            one, other = (means.state(used, total, people, records) for used in (replace(alone, table=noisy), alone))
            held += one.low95 <= values.mean() <= one.high95
            widths.append((one.high95 - one.low95, other.high95 - other.low95))
        least, most = (int(end) for end in scipy.stats.binom.interval(1 - 2e-6, runs, 0.95))
        assert least <= held <= (most if name == "n" else runs), f"{name}: {held}"
        together, apart = np.mean(widths, axis=0)
        assert together < (0.9 if name == "n" else 1.001) * apart


def test_the_weight_of_tables_makes_the_interval_narrowest() -> None:
    rng, grid = np.random.default_rng(1), np.linspace(0, 1, 2001)
    for own, other, further in rng.exponential(1.0, (200, 3)) * [1, 1, 0.5]:
        for sign in (1, -1):
            half = np.sqrt((1 - grid) ** 2 * own**2 + grid**2 * other**2) + sign * further * grid
            assert means.narrowest(own, other, sign * further) == pytest.approx(grid[half.argmin()], abs=0.02)
    assert means.narrowest(1.0, 2.0, 0.0) == pytest.approx(0.2)


def test_nothing_is_assumed_of_how_values_lie_in_their_cells() -> None:
    """Without noise and wherever all values are in their cells, the interval holds the people's mean, with any weight of the tables."""
    low, high = Attribute.numeric("price", 0.0, 100.0, bins=4, other=False, missing=False), np.array([25.0, 50.0, 75.0, 100.0])
    counts = np.array([40.0, 30.0, 20.0, 10.0])
    (column,) = means._columns(
        Domain((low,)), np.repeat([0, 1, 2, 3], 5)[:, None], INSIDE, {"price": Measurement(("price",), counts, 1e-9)}
    )
    for within in (0.0, 0.3, 0.999):
        true = float(counts @ (high - 25 + 25 * within)) / 100
        for sigma in (1e-9, 30.0, 1e6):
            one = means.state(column, Noisy(100 * (true - column.mean) / 100, sigma), Noisy(100.0, 0.0), Noisy(100.0, 0.0))
            assert one.low95 <= true <= one.high95
            assert 0 <= (one.tables or 0.0) <= 1


def test_tables_whose_noise_is_not_independent_have_no_say() -> None:
    counts = Measurement(("n",), np.zeros(17), 1.0, spread=2.0)
    number = next(iter(means._columns(DOMAIN, CODES, INSIDE, {"n": counts})))
    assert means.state(number, Noisy(0.0, 1.0), Noisy(100.0, 0.0), Noisy(100.0, 0.0)).tables == 0.0


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


def test_means_that_an_earlier_version_stated_are_followed(release: Release, bundle: Bundle) -> None:
    """They were of their own measurement alone, and had no weight of tables."""
    received = Opened(bundle, document.from_json(bundle.document))
    alone = MEANS.again(received, MEANS.took(received, release.claims["means"]), MEANS._measure_as_before)
    assert alone is not None
    assert [one.tables for one in alone] == [None] * 3
    written = [{name: value for name, value in one.items() if name != "tables"} for one in MEANS.to_json(release.plan, alone)]
    assert MEANS.from_json(release.plan, written) == alone
    assert MEANS.follows(received, alone)
    with pytest.raises(Wrong):
        MEANS.follows(received, (alone[0], *release.claims["means"][1:]))


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
    assert said.startswith("wide: 12.3 in the rows; 10.0 among the people as measured, from 5.0 to 20.0.")
    assert "0.23% of the range" in said
    born = Attribute.day("born", "1950-01-01", "1999-12-31")
    assert "1970-01-11 in the rows" in means.sentence(born, MeanMeasured("born", 10.2, 10.0, 5.0, 20.0, 1.0, 100.0))
