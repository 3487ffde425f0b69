"""The noise of a release in an estimate, against least squares by hand and against the spread of direct estimates."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from dpsynth_core.extensions.intervals import formulas
from dpsynth_core.extensions.intervals.allowed import Answers
from dpsynth_core.extensions.intervals.analysing import analyse
from dpsynth_core.extensions.intervals.estimates import Prepared, prepared
from dpsynth_core.extensions.intervals.noise import Informed, noise_in
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release.sampling import refit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import MarginalCounts, Measurement
from dpsynth_core.vocabulary.published import PublishedTable
from dpsynth_core.vocabulary.released import of_codes
from tests.extensions.intervals.releases import DOMAIN, codes, released
from tests.releases import run
from tests.specs import usual

ROWS = codes(3000)


def asked(text: str) -> Prepared:
    return prepared(DOMAIN, formulas.read(text))


def informed(*measurements: Measurement, known: tuple[MarginalCounts, ...] = (), domain: Domain = DOMAIN) -> Informed:
    return Informed(cast(Plan, None), domain, ROWS, float(len(ROWS)), Answers(measurements, known))


def measured(clique: tuple[str, ...], sigma: float, off: Any = 0.0) -> Measurement:
    """A table of the rows with noise of deviation sigma, of which `off` is what came out."""
    return Measurement(clique, of_codes(DOMAIN, ROWS, clique).astype(float) + off, sigma)


def noise(text: str, known: Informed) -> tuple[float, float]:
    analysis = asked(text)
    found = noise_in(analysis.estimate(ROWS, influence=True).influence, analysis.columns, known)
    return float(found.deviations[0]), float(found.shifts[0])


def test_the_noise_of_a_mean_is_that_of_its_cells() -> None:
    """The mean of visits moves by (value - mean) / rows for each person; 0.1 % is left to the bias that the choice of sums admits."""
    mean = ROWS[:, 3].mean()
    exact = 7.0 * math.sqrt(sum((value - mean) ** 2 for value in range(5))) / len(ROWS)
    off = np.array([5.0, -3.0, 0.0, 2.0, 8.0])
    deviation, shift = noise("mean(visits)", informed(measured(("visits",), 7.0, off)))
    assert deviation == pytest.approx(exact, rel=1e-3)
    assert shift == pytest.approx(sum((value - mean) * one for value, one in enumerate(off)) / len(ROWS), rel=1e-2)


def test_several_answers_about_a_column_count_by_their_precision() -> None:
    """A table of two columns, summed over the other one, has the variance of its cells times their number: 4 cells of age, 2 of sex."""
    alone = noise("mean(visits)", informed(measured(("visits",), 7.0)))[0]
    pair = noise("mean(visits)", informed(measured(("sex", "visits"), 7.0)))[0]
    both = noise("mean(visits)", informed(measured(("visits",), 7.0), measured(("sex", "visits"), 7.0), measured(("visits",), 7.0)))[0]
    assert pair == pytest.approx(alone * math.sqrt(2), rel=1e-2)
    assert both == pytest.approx(alone / math.sqrt(1 + 1 + 1 / 2), rel=1e-2)


def test_the_noise_is_the_least_of_all_sums_that_express_the_influence_function() -> None:
    """By least squares over all cells of the three columns, for a difference that two overlapping tables determine together."""
    tables = [measured(("age", "sex"), 6.0), measured(("age", "sick"), 3.0), measured(("sex", "sick"), 9.0)]
    analysis = asked("difference(sick == 'yes', sex == 'm')")
    influence = analysis.estimate(ROWS, influence=True).influence
    rows, first = np.unique(ROWS[:, :3], axis=0, return_index=True)
    share = np.array([(ROWS[:, :3] == row).all(axis=1).mean() for row in rows])
    blocks, deviations = [], []
    for one in tables:
        places = [DOMAIN.position(name) for name in one.clique if name in analysis.columns]
        sizes = tuple(DOMAIN.sizes(tuple(name for name in one.clique if name in analysis.columns)))
        summed = math.prod(DOMAIN.sizes(tuple(name for name in one.clique if name not in analysis.columns)))
        at = np.ravel_multi_index(tuple(rows[:, place] for place in places), sizes)
        blocks.append(np.eye(math.prod(sizes))[at])
        deviations.append(np.full(math.prod(sizes), one.sigma * math.sqrt(summed) / len(ROWS)))
    design, sd = np.hstack(blocks), np.concatenate(deviations)
    normal = design.T @ (share[:, None] * design) + np.diag(sd**2)
    best = np.linalg.solve(normal, design.T @ (share * influence[0][first]))
    assert noise("difference(sick == 'yes', sex == 'm')", informed(*tables))[0] == pytest.approx(np.linalg.norm(best * sd), rel=1e-4)


@pytest.mark.parametrize("text", ["mean(visits)", "visits ~ age", "correlation(age, visits)"])
def test_direct_estimates_spread_by_the_stated_noise(text: str) -> None:
    """Of 400 tables with fresh noise. The deviation of a deviation is 1 / sqrt(2 * 400) = 3.5 % of it; 4 of these are allowed."""
    rng, analysis = np.random.default_rng(3), asked(text)
    influence = analysis.estimate(ROWS, influence=True).influence
    clique = ("age", "visits") if "age" in text else ("visits",)
    found = [
        noise_in(influence, analysis.columns, informed(measured(clique, 5.0, rng.normal(0, 5.0, DOMAIN.sizes(clique))))) for _ in range(400)
    ]
    spread, stated = np.std([one.shifts for one in found], axis=0), np.mean([one.deviations for one in found], axis=0)
    assert spread == pytest.approx(stated, rel=4 / math.sqrt(800))
    assert (np.abs(np.mean([one.shifts for one in found], axis=0)) < 4 * stated / math.sqrt(400)).all()


@pytest.mark.parametrize("text", ["mean(visits)", "visits ~ age", "share(sick == 'yes')"])
def test_more_rows_than_people_change_nothing(text: str) -> None:
    """Each row three times: the tables count the same people, so that noise and shift are the same."""
    rng = np.random.default_rng(4)
    tables = [measured(clique, 5.0, rng.normal(0, 5.0, DOMAIN.sizes(clique))) for clique in (("age", "visits"), ("sick",))]
    analysis, once = asked(text), informed(*tables)
    thrice = replace(once, codes=np.repeat(ROWS, 3, axis=0))
    found = [noise_in(analysis.estimate(one.codes, influence=True).influence, analysis.columns, one) for one in (once, thrice)]
    assert found[1].deviations == pytest.approx(found[0].deviations, rel=1e-6)
    assert found[1].shifts == pytest.approx(found[0].shifts, rel=1e-5, abs=1e-9)
    widths = [(one.error or 0) ** 2 for one in (analyse(known, text, "table").results[0] for known in (once, thrice))]
    assert widths[1] == pytest.approx(widths[0], rel=0.02)


def test_a_value_that_no_row_has_gets_no_interval() -> None:
    """The count of its cell has noise as any other, and the rows say nothing of it."""
    rows = ROWS.copy()
    rows[rows[:, 3] == 4, 3] = 3
    known = replace(informed(measured(("visits",), 7.0)), codes=rows)
    refused, given = (analyse(known, f"share(visits == {value})", "table") for value in (4, 3))
    assert not refused.passes
    assert (refused.results[0].low, refused.results[0].state) == (None, "refused")
    assert "all rows are alike" in str(refused)
    assert given.passes
    every = analyse(replace(known, codes=rows[rows[:, 3] == 3]), "mean(visits)", "table")
    assert every.results[0].low is None


def test_groups_of_values_inform_about_their_column() -> None:
    """Halves of age tell whether somebody is older than 39, and nothing else of age."""
    halves = Groups("age/2", "age", (0, 0, 1, 1))
    counts = np.bincount(ROWS[:, 0] // 2, minlength=2).astype(float)
    known = informed(Measurement(("age/2",), counts, 4.0, groups=(halves,)))
    share = counts[1] / len(ROWS)
    exact = 4.0 * math.hypot(share, 1 - share) / len(ROWS)
    assert noise("share(age >= 40)", known)[0] == pytest.approx(exact, rel=1e-2)


def test_counts_from_before_the_mechanism_inform_where_they_are_known() -> None:
    variances = np.array([4.0, 4.0, math.inf, 4.0, 4.0])
    known = MarginalCounts(("visits",), np.bincount(ROWS[:, 3], minlength=5).astype(float), variances)
    mean = ROWS[:, 3].mean()
    exact = 2.0 * math.sqrt(sum((value - mean) ** 2 for value in (0, 1, 3, 4))) / len(ROWS)
    deviation, shift = noise("mean(visits)", informed(known=(known,)))
    assert deviation == pytest.approx(exact, rel=1e-2)
    assert shift == 0


def test_published_tables_have_no_noise_but_that_of_whole_rows() -> None:
    """One row in each cell: the root of the sum of (value - mean)^2, which is 4.3, divided by the rows."""
    shares = np.bincount(ROWS[:, 3], minlength=5) / len(ROWS)
    domain = replace(DOMAIN, published=(PublishedTable(("visits",), shares, "Census"),))
    assert noise("mean(visits)", informed(domain=domain))[0] < 5 / len(ROWS)


def test_what_nothing_informs_about_has_no_noise() -> None:
    assert noise("mean(visits)", informed(measured(("age",), 3.0))) == (0.0, 0.0)


def test_a_release_says_all_that_its_noise_is_computed_from() -> None:
    release = released("aim")
    found = Informed.of(release)
    assert found.codes is release.codes
    assert found.answers.measurements == release.measurements
    assert found.answers.known == ()


def test_earlier_counts_are_those_that_the_model_was_fitted_to(tmp_path: Path) -> None:
    """Of learnt values and of cells that were looked into; and analyses of learnt columns find them."""
    rng = np.random.default_rng(7)
    lines = [f"{'fm'[rng.integers(0, 2)]},{int(rng.exponential(900))},{rng.integers(18, 80)}" for _ in range(1500)]
    (tmp_path / "people.csv").write_text("\n".join(["sex,gain,age", *lines, ""]), encoding="utf-8")
    columns = [
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
        {"name": "gain", "kind": "integer", "lower": 0, "upper": 9999, "width": 1000, "other": "nearest", "missing": True},
        {"name": "age", "kind": "integer", "discover": True, "most": 8},
    ]
    budget = {"epsilon": 8.0, "delta": 1e-9, "inside": 0.2, "discovery": 0.2}
    data, domain = {"kind": "csv", "path": str(tmp_path / "people.csv")}, {"version": 1, "attributes": columns}
    stated = usual(data, domain, budget=budget, mechanism="mst")
    release = run(Spec.from_json(stated))
    informed, fitted = Informed.of(release), refit(release)
    assert [one.clique for one in informed.answers.known] == [one.clique for one in fitted.known]
    assert {one.clique for one in fitted.known} >= {("age",)}
    for one, other in zip(informed.answers.known, fitted.known, strict=True):
        assert np.array_equal(one.values, other.values)
        assert np.array_equal(one.variances, other.variances)
    assert informed.domain.names == fitted.plan.domain.names
    (mean,) = analyse(informed, "mean(age)", "table").results
    assert mean.state == "holds"
    assert mean.error is not None
    assert 0 < mean.error < 2
