"""Values that one person has never leave; values that many share do. What is proved in `privacy.thresholds`, computed and drawn."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations_with_replacement

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.special import ndtr

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.mechanisms.discovery.learning import shared_by
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant
from dpsynth_core.privacy.events import Thresholded
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.thresholds import threshold
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.keys import MISSING, OTHER
from tests.privacy.tables import GlassNoise
from tests.refusals import refused

CITY = Domain.from_json({"city": 2})


class Texts:
    """A source of keyed counts, in parts."""

    def __init__(self, *parts: Mapping[str, int]) -> None:
        self.domain, self._parts = CITY, parts

    def values(self, name: str) -> Iterator[Mapping[str, int]]:
        assert name == "city"
        yield from self._parts


def kernel(source: Texts, noise: Noise, unit: Unit | None = None, delta: float = 0.1, accountant: Accountant = ZCDP) -> PrivacyKernel:
    return PrivacyKernel(source, unit or Unit(), 1e9, noise, delta, accountant)  # type: ignore[arg-type]  # no marginals are asked for


def tail(t: int, sigma: float) -> float:
    """Pr[Z >= t] of rounded normal noise; discrete noise as fine as ours differs by less than 1e-17."""
    return float(ndtr(-(t - 0.5) / sigma))


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
@pytest.mark.parametrize("sigma", [0.4, 3.0, 25.0])
@pytest.mark.parametrize("delta", [0.2, 1e-3, 1e-12])
def test_however_a_person_divides_their_rows_between_values_none_shows_more_often_than_delta(
    rows: int, sigma: float, delta: float
) -> None:
    least = threshold(sigma, delta, rows)
    divisions = [d for n in range(1, rows + 1) for d in combinations_with_replacement(range(1, rows + 1), n) if sum(d) <= rows]
    shown = [1 - math.prod(1 - tail(least - count, sigma) for count in division) for division in divisions]
    assert max(shown) <= delta


@pytest.mark.parametrize(("sigma", "delta", "rows"), [(25.0, 1e-9, 1), (4.0, 0.1, 5), (100.0, 1e-12, 3)])
def test_the_threshold_is_no_higher_than_it_has_to_be_but_for_a_person(sigma: float, delta: float, rows: int) -> None:
    least = threshold(sigma, delta, rows) - 2
    assert max(tail(least - rows, sigma), rows * tail(least - 1, sigma)) > delta


def test_opendp_proves_the_same_for_its_own_thresholds() -> None:
    """Its bound on delta for one value of one row, at our sigma and a threshold as high: discrete noise in steps of a person."""
    sigma, delta = 25.0, 1e-9
    keyed = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64"))
    metric = dp.l02inf_distance(dp.absolute_distance(T="f64"))
    theirs = dp.m.make_gaussian_threshold(keyed, metric, scale=sigma, threshold=threshold(sigma, delta, 1))
    rho, their_delta = theirs.map((1, 1.0, 1.0))
    assert rho == pytest.approx(float(Thresholded(sigma, 1.0, delta).cost))
    assert their_delta <= delta


@pytest.mark.parametrize(("sigma", "delta", "rows"), [(0.0, 1e-9, 1), (1.0, 0.0, 1), (1.0, 0.5, 1), (1.0, 1e-9, 0), (math.inf, 1e-9, 1)])
def test_what_is_no_threshold_is_refused(sigma: float, delta: float, rows: int) -> None:
    refused(threshold, sigma, delta, rows, kind=ValueError, saying="sigma")


SECRET = "HIV positive, Main Street 4"
DRAWS = 10_000
AT_ONCE = 500
"""Secrets in one table, each of one person: setting up the noise for an answer takes longer than drawing it."""


@pytest.mark.parametrize("unit", [Unit(), Unit("replace")], ids=str)
def test_a_secret_in_one_row_never_leaves(unit: Unit) -> None:
    """Real noise. The proof allows one secret in 1e11 to leave: this fails with probability 1e-7 at most although all is well."""
    table, noise = Texts({**{f"{SECRET}, flat {i}": 1 for i in range(AT_ONCE)}, "Ghent": 400}), OpenDPNoise()
    for _ in range(DRAWS // AT_ONCE):
        answer = kernel(table, noise, unit).discover_values(("city",), 12.0, 1e-11)
        assert answer.keys() == {MISSING, OTHER, "Ghent"}  # 400 is 26 sigma above the threshold


def test_a_secret_shows_as_often_as_delta_says_and_no_more() -> None:
    """delta 0.2 so that it does show. Seeded; 4 standard deviations."""
    draws, table, noise, sigma = 2000, Texts({SECRET: 1}), SeededNoise(5), 12.0
    shown = sum(SECRET in kernel(table, noise, delta=0.3).discover_values(("city",), sigma, 0.2) for _ in range(draws))
    expected = draws * tail(threshold(sigma, 0.2, 1) - 1, sigma)
    assert abs(shown - expected) < 4 * math.sqrt(expected)
    assert expected <= draws * 0.2


@pytest.mark.parametrize("chance", [0.5, 0.95])
def test_a_value_that_so_many_share_is_found_as_likely_as_is_said(chance: float) -> None:
    """1,500 draws, seeded: 4 standard deviations are at most 0.052."""
    sigma, delta = 20.0, 1e-6
    table, noise = Texts({"Ghent": shared_by(sigma, delta, 1, chance)}), SeededNoise(6)
    share = np.mean(["Ghent" in kernel(table, noise).discover_values(("city",), sigma, delta) for _ in range(1500)])
    assert chance - 0.052 < share < chance + 0.07


def test_public_keys_are_always_said_and_come_first() -> None:
    source = Texts({"b": 900, MISSING: 2}, {"a": 500, OTHER: 1, "rare": 3}, {})
    answer = kernel(source, GlassNoise()).discover_values(("city",), 20.0, 1e-6)
    assert answer == {MISSING: 2, OTHER: 1, "a": 500, "b": 900}
    assert list(answer) == [MISSING, OTHER, "a", "b"]


def test_every_key_has_noise_and_counts_of_zero_are_no_keys() -> None:
    noise = GlassNoise()
    kernel(Texts({"a": 500, "zero": 0}, {"b": 7}), noise).discover_values(("city",), 20.0, 1e-6)
    assert [values.tolist() for values, _ in noise.seen] == [[500], [7], [0, 0]]
    assert {sigma for _, sigma in noise.seen} == {20.0}


@pytest.mark.parametrize("accountant", [ZCDP, GDP])
@pytest.mark.parametrize("unit", [Unit(), Unit("replace"), Unit("replace", 3)], ids=str)
def test_it_is_charged_before_anything_is_read(unit: Unit, accountant: Accountant) -> None:
    class Closed(Texts):
        def values(self, name: str) -> Iterator[Mapping[str, int]]:
            raise RuntimeError(name)

    here = kernel(Closed(), OpenDPNoise(), unit, accountant=accountant)
    with pytest.raises(RuntimeError):
        here.discover_values(("city",), 20.0, 0.01)
    assert here.events == (Thresholded(20.0, unit.marginal_l2, 0.01),)
    assert here.rho_spent == pytest.approx(unit.marginal_l2**2 / 800)


def test_deltas_add_up_to_what_was_set_aside() -> None:
    here = kernel(Texts({"a": 1}), OpenDPNoise(), delta=0.01)
    here.discover_values(("city",), 20.0, 0.006)
    refused(here.discover_values, ("city",), 20.0, 0.006, kind=BudgetExceeded)


def test_a_source_of_cells_has_no_values() -> None:
    class Cells:
        domain = CITY

    here = PrivacyKernel(Cells(), Unit(), 1.0, OpenDPNoise(), 0.1)  # type: ignore[arg-type]
    refused(here.discover_values, ("city",), 20.0, 0.01, kind=ValueError, saying="cells")
