"""Sets of rows repeat the noise of a release: the same numbers for everyone, and a spread that is the noise's."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsynth_core.extensions.intervals.estimates import prepared
from dpsynth_core.extensions.intervals.formulas import read
from dpsynth_core.extensions.intervals.noise import answered, noise_in
from dpsynth_core.extensions.intervals.sets import Sets
from dpsynth_core.extensions.intervals.tilting import LEAST, _products, parts
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from tests.extensions.intervals.releases import DOMAIN, drawn, released, sets_of
from tests.refusals import refused

MECHANISMS = ("aim", "mst", "independent")


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_set_follows_from_its_number_and_the_published_seed(mechanism: str) -> None:
    again = Sets.of(released(mechanism))
    assert np.array_equal(again.number(2).codes, drawn(mechanism)[1])
    first, second = drawn(mechanism)[:2]
    assert first.shape != second.shape or (first != second).any()
    assert np.array_equal(again.number(2).rows.batches().__next__()["age"], next(sets_of(mechanism).number(2).rows.batches())["age"])


def test_another_seed_gives_other_sets_of_the_same_release() -> None:
    one, other = (Sets.of(released(), seed) for seed in (1, 2))
    assert (one.number(1).codes != other.number(1).codes).any()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_sets_have_the_columns_and_the_number_of_rows_of_the_release(mechanism: str) -> None:
    for codes in drawn(mechanism):
        assert codes.shape == (released(mechanism).rows, len(DOMAIN))


def test_functions_of_a_column_change_by_the_noise_of_its_table_and_the_shift() -> None:
    """Independent measures single columns alone, so that nothing has to agree but the number of people. The standard deviation of a
    variance from 2,000 draws is sqrt(2 / 1999) = 3 % of it; 6 of these are allowed, with a fixed seed, and 1 % for the damping."""
    tilting, rng = sets_of("independent").tilting, np.random.default_rng(5)
    exact = list[float]()
    for one in tilting.tables:
        functions = one.functions.toarray()
        functions = functions - (functions @ one.shares)[:, None]
        exact += list(functions**2 @ one.deviations**2 + (functions @ one.shift) ** 2)
    found = np.array([tilting.change(rng) for _ in range(2000)]) * tilting.informed.people
    assert len(exact) == found.shape[1] > 20
    assert np.var(found, axis=0) == pytest.approx(exact, rel=6 * math.sqrt(2 / 1999) + 0.01)


def test_products_of_polynomials_are_moved_for_slopes_and_correlations() -> None:
    """The product of two columns' places is a sum of functions whose noise is known, also where each cell by itself has too much noise."""
    tilting = Sets.of(released(epsilon=0.3)).tilting
    codes = tilting.informed.codes
    functions = np.stack([tilting.values(one) for one in np.eye(len(tilting.deviations))], axis=1)
    shown = 0
    for first, second in ((0, 2), (0, 3), (1, 2), (2, 3)):
        product = codes[:, first] * codes[:, second]
        left = product - functions @ np.linalg.lstsq(functions, product, rcond=None)[0]
        measured = any({place for place, _ in one.axes} >= {first, second} for one in answered(DOMAIN, DOMAIN.names, tilting.informed))
        shown += measured
        assert not measured or left.var() < 0.01 * product.var()
    assert shown > 0


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_sums_over_cells_are_those_over_rows(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the cells of pairs of tables are so many that those alone are counted that rows are in."""
    tilting, rng = sets_of(mechanism).tilting, np.random.default_rng(6)
    codes, tables = tilting.informed.codes, answered(DOMAIN, DOMAIN.names, tilting.informed)
    rows = np.concatenate([one.functions.toarray()[:, of.cell_of(codes)] for one, of in zip(tilting.tables, tables, strict=True)]).T
    weights, slopes = rng.random(len(rows)), rng.normal(size=rows.shape[1])
    assert tilting.sums(weights) == pytest.approx(rows.T @ weights)
    assert tilting.values(slopes) == pytest.approx(rows @ slopes)
    scale = len(rows) * tilting.deviations[:, None] * tilting.deviations
    assert tilting.curvature * scale == pytest.approx(rows.T @ rows, abs=1e-6)
    monkeypatch.setattr("dpsynth_core.extensions.intervals.tilting.COUNTED", 0)
    assert _products(tilting.cells, len(rows), rows.shape[1]) == pytest.approx(rows.T @ rows, abs=1e-6)
    assert mechanism != "aim" or len(tilting.cells) < len(tables)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_weights_move_the_functions_of_tables_as_wanted(mechanism: str) -> None:
    tilting = sets_of(mechanism).tilting
    for seed in range(5):
        change = tilting.change(np.random.default_rng(seed))
        weights = tilting.weights(change)
        assert weights.min() >= 0
        assert weights.mean() == pytest.approx(1.0)
        moved = tilting.sums(weights - 1) / len(weights)
        assert np.sqrt((((moved - change) / tilting.deviations) ** 2).mean()) < 1


def test_rows_of_a_set_have_the_tables_of_its_weights() -> None:
    """Within 2 people in the mean of a table's cells: rows are whole."""
    tilting, rng = sets_of("aim").tilting, np.random.default_rng(4)
    weights = tilting.weights(tilting.change(rng))
    codes, own = tilting.drawn(weights, rng), tilting.informed.codes
    for clique in (("age", "sick"), ("sex", "sick")):
        first, second = (DOMAIN.position(name) for name in clique)
        size = DOMAIN.sizes(clique)
        wanted = np.bincount(np.ravel_multi_index((own[:, first], own[:, second]), size), weights, math.prod(size))
        found = np.bincount(np.ravel_multi_index((codes[:, first], codes[:, second]), size), minlength=math.prod(size))
        assert np.abs(found - wanted).mean() < 2


def test_parts_hold_as_many_people_as_their_noise_asks_for() -> None:
    rng = np.random.default_rng(2)
    for shape in ((30,), (8, 9), (4, 3, 5)):
        counts, variances = rng.gamma(0.5, 100, shape), np.full(shape, 900.0)
        numbers = parts(counts, variances, 32)
        people, noise = np.bincount(numbers.ravel(), counts.ravel()), np.bincount(numbers.ravel(), variances.ravel())
        assert len(people) > 1
        assert (people >= LEAST * np.sqrt(noise)).all()
    assert parts(np.ones((3, 3)), np.full((3, 3), 1e6), 32).max() == 0
    assert parts(np.full(100, 1e6), np.ones(100), 7).max() == 6


def test_sets_lie_about_the_released_rows_as_far_as_the_noise_makes_them_err() -> None:
    """Of numbers that measured tables hold, at 40 sets: the root mean square distance from the released rows. Chance moves it by 11 %, one
    standard deviation, of which 4 are allowed. No weight is negative: the mean of the sets is off as well, by less than the error."""
    sets = Sets.of(released(epsilon=1.0))
    informed = sets.tilting.informed
    drawn_codes = [one.codes for one in sets.first(40)]
    for text in ("mean(visits)", 'share(sick == "yes")', 'difference(sick == "yes", sex == "m")'):
        asked = prepared(DOMAIN, read(text))
        own = asked.estimate(informed.codes, influence=True)
        found = noise_in(own.influence, asked.columns, informed)
        off = np.array([asked.estimate(codes).values[0] for codes in drawn_codes]) - own.values[0]
        assert abs(math.sqrt(float((off**2).mean())) / float(found.errors[0]) - 1) < 0.44, text
        assert abs(float(off.mean())) < float(found.errors[0]), text


@pytest.mark.parametrize(("mechanism", "saying"), [("residual_planner", "answers and no rows"), ("aim_public", "nobody has tried")])
def test_releases_of_other_kinds_are_refused_with_a_remedy(mechanism: str, saying: str) -> None:
    release = released("aim" if mechanism == "aim_public" else mechanism)
    if mechanism == "aim_public":
        release = replace(release, plan=replace(release.plan, mechanism=AimPublic()))
    error = refused(Sets.of, release, saying=saying)
    assert error.field == "release"
    assert error.remedy


def test_correlated_noise_is_refused() -> None:
    release = released("aim")
    correlated = tuple(replace(one, spread=one.sigma) if not one.groups else one for one in release.measurements)
    refused(Sets.of, replace(release, measurements=correlated), saying="correlated")


def test_weights_of_large_tables_stay_near_those_that_may_be_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few steps are taken then; where no weight would be negative, the sums move as wanted all the same."""
    tilting = sets_of("aim").tilting
    monkeypatch.setattr("dpsynth_core.extensions.intervals.tilting.LARGE", 0)
    for seed in range(3):
        change = tilting.change(np.random.default_rng(seed))
        weights = tilting.weights(change)
        moved = tilting.sums(weights - 1) / len(weights)
        assert weights.min() >= 0
        assert np.sqrt((((moved - change) / tilting.deviations) ** 2).mean()) < 1
