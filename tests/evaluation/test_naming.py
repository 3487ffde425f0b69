"""Which tables are good enough, which are not, and of which neither is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.claims.certificate import ROWS, Certificate, Largest, state
from dpsynth_core.evaluation.bounds import SUPPORTED, UNBOUNDED, Bound
from dpsynth_core.evaluation.naming import named, spans
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import Clique

CLIQUES: tuple[Clique, ...] = (("a", "b"), ("a", "c"), ("b", "c"))


def certificate(errors: dict[Clique, float], noise: float, people: float = 1000.0, doubt: float = 0.0) -> Certificate:
    """errors: as measured, shares of people. noise: of each, as a share."""
    published = {r: np.full((3, 3), 1 / 9) for r in errors}
    noisy = {r: 2 * people * share for r, share in errors.items()}
    return state(noisy, published, Total(people, doubt), 2 * people * noise, 0.1, ROWS, Largest(1.0, 1.0))


def test_there_are_three_answers() -> None:
    made = named(spans(CLIQUES, certificate(dict(zip(CLIQUES, (0.02, 0.2, 0.1), strict=True)), 0.02), {}))
    assert made.to_json() == {"limit": 0.1, "good": [["a", "b"]], "poor": [["a", "c"]], "unknown": [["b", "c"]]}


def test_without_a_certificate_bounds_say_good_and_never_poor() -> None:
    stated = Bound(SUPPORTED, 0.3, 0.05), Bound(SUPPORTED, 0.9, 0.4), Bound(UNBOUNDED, math.inf, math.inf)
    made = named(spans(CLIQUES, None, dict(zip(CLIQUES, stated, strict=True))))
    assert (made.good, made.poor, made.unknown) == (CLIQUES[:1], (), CLIQUES[1:])


def test_no_table_with_an_unread_column_is_good() -> None:
    made = named(spans([("a", "d")], None, {("a", "d"): Bound(SUPPORTED, 0.01, 0.01)}), {"d"})
    assert (made.good, made.unknown) == ((), (("a", "d"),))


@pytest.mark.parametrize("doubt", [0.0, 10.0])
def test_where_noise_is_far_larger_than_the_limit_luck_names_nothing(doubt: float) -> None:
    """A hundred people, noise of 76 points in each table: today's bound of the luckiest of ten thousand would be 0."""
    rng = np.random.default_rng(29)
    for measured in rng.normal(0.38, 0.76, (50, 200)):
        errors = {("a", f"c{number}"): float(share) for number, share in enumerate(measured)}
        known = spans(errors, certificate(errors, 0.76, 100.0, doubt), {})
        assert named(known).good == ()


@pytest.mark.parametrize(("noise", "at_least"), [(0.057, 0.0), (0.025, 0.3)])
def test_few_of_those_that_are_named_good_are_not(noise: float, at_least: float) -> None:
    """200 releases of 28 tables whose errors are about those of a release of Titanic, and of one of 3,000 people: of all that are named
    good at most 5 % are worse than the limit. Seeded; so many are drawn that three standard deviations are 1.5 points."""
    rng, wrong, right, truly = np.random.default_rng(7), 0, 0, 0
    for _ in range(200):
        true = {("a", f"c{number}"): float(share) for number, share in enumerate(rng.gamma(9.0, 0.01, 28))}
        measured = {r: share + rng.normal(0, noise) for r, share in true.items()}
        good = named(spans(true, certificate(measured, noise), {})).good
        wrong += sum(true[r] > 0.1 for r in good)
        right += sum(true[r] <= 0.1 for r in good)
        truly += sum(share <= 0.1 for share in true.values())
    assert wrong <= 0.065 * (wrong + right)
    assert right >= at_least * truly
