"""Sets of rows repeat the noise of a release: the same numbers for everyone, and a spread that is the noise's."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsynth_core.extensions.intervals.sets import Sets
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from dpsynth_core.vocabulary.released import of_codes
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


def test_another_seed_gives_other_sets_of_the_same_model() -> None:
    one, other = (Sets.of(released(), sets_of().fitted, seed) for seed in (1, 2))
    assert one.number(1).codes.shape != other.number(1).codes.shape or (one.number(1).codes != other.number(1).codes).any()


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_sets_have_the_columns_of_the_release_and_about_its_number_of_rows(mechanism: str) -> None:
    """The number of people is secret: its noise, of 15 at most where each of four columns is measured, decides about the number of rows."""
    for codes in drawn(mechanism):
        assert codes.shape[1] == len(DOMAIN)
        assert abs(len(codes) - released(mechanism).rows) < 100


def test_the_spread_of_a_model_without_clipping_is_the_noise() -> None:
    """Independent fits single columns exactly as they were measured, where no count is below 0.

    The standard deviation of a variance from 400 draws is sqrt(2 / 399) = 7 % of it; 4 of these are allowed, with a fixed seed."""
    release = released("independent")
    sets = sets_of("independent")
    (measured,) = (one for one in release.measurements if one.clique == ("sex",))
    rng = np.random.default_rng(5)
    fits = [sets.refitting.fit(sets.refitting.answered(rng)).marginal(("sex",)) for _ in range(400)]
    spread = np.var([counts[0] - counts[1] for counts in fits], ddof=1)
    assert spread == pytest.approx(2 * measured.deviation**2, rel=4 * math.sqrt(2 / 399))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_refitted_models_lie_around_the_released_one(mechanism: str) -> None:
    """The mean of 30 fits is within 5 standard errors of the released model in every cell of a column, but for 3 people.

    Fits that start at the model end before they reach the minimum, and counts are not negative."""
    sets, rng = sets_of(mechanism), np.random.default_rng(8)
    fits = [sets.refitting.fit(sets.refitting.answered(rng)) for _ in range(30)]
    for name in DOMAIN.names:
        tables = np.array([one.marginal((name,)) for one in fits])
        off = np.abs(tables.mean(axis=0) - sets.fitted.model.marginal((name,)))
        assert (off <= 5 * tables.std(axis=0) / math.sqrt(30) + 3).all(), name


def test_the_same_answers_give_the_released_model_again() -> None:
    """A fit that starts at its own result stays there: by less than the noise of a cell, whose deviation is above 6."""
    sets = sets_of("aim")
    again = sets.refitting.fit(sets.refitting.answers)
    for name in DOMAIN.names:
        assert np.abs(again.marginal((name,)) - sets.fitted.model.marginal((name,))).max() < 6


def test_rows_of_sets_keep_to_the_model_that_wrote_them() -> None:
    sets = sets_of("aim")
    for k, codes in enumerate(drawn("aim")[:2], 1):
        assert np.array_equal(of_codes(DOMAIN, codes, ("age",)), of_codes(DOMAIN, sets.number(k).codes, ("age",)))


def test_rows_are_refined_where_noise_is_small_and_left_where_it_is_large() -> None:
    """Where they are left, drawing moves the tables by a tenth of what the noise does or less, by the sum of squares."""
    assert Sets.of(released(epsilon=20.0)).refined
    sets = Sets.of(released(epsilon=0.2))
    assert not sets.refined
    for k in (1, 2, 3):
        for_noise, _ = np.random.SeedSequence(sets.seed, spawn_key=(0, k)).spawn(2)
        model, codes = sets.refitting.fit(sets.refitting.answered(np.random.default_rng(for_noise))), sets.number(k).codes
        tables = [one for one in sets.refitting.answers.measurements if len(one.clique) > 1 and not one.groups]
        moved = [float(((of_codes(DOMAIN, codes, one.clique) - model.marginal(one.clique)) ** 2).sum()) for one in tables]
        assert sum(moved) < 0.1 * sum(one.values.size * one.deviation**2 for one in tables)


@pytest.mark.parametrize(("mechanism", "saying"), [("residual_planner", "answers and no rows"), ("aim_public", "cannot be repeated")])
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
