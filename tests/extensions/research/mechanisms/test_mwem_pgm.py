"""MWEM+PGM: equal rounds over the workload, from the uniform distribution, with the paper's score and noise."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.rounds import TOTAL_SHARE
from dpsynth_core.mechanisms.steps import Fitted, Measured
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway, hand_picked
from tests.mechanisms.runs import DOMAIN, run

PAIRS = all_kway(DOMAIN, 2)


def test_the_noise_is_the_one_of_the_paper_where_the_number_of_rows_is_public() -> None:
    done = run("mwem_pgm", PAIRS, 0.05, "replace", rounds_per_attribute=2, measure_share=0.5)
    rounds = 2 * len(DOMAIN)
    assert [type(event) for event in done.kernel.events] == [Selection, Gaussian] * rounds
    # Algorithm 1: eps = 2 sqrt(rho / T), sigma = sqrt(T / rho), times the sensitivity sqrt(2) of replace
    assert all(e.eps == pytest.approx(2 * math.sqrt(0.05 / rounds), rel=1e-6) for e in done.kernel.events[::2])
    assert all(e.sigma == pytest.approx(math.sqrt(2 * rounds / 0.05), rel=1e-6) for e in done.kernel.events[1::2])


def test_a_secret_number_of_rows_is_measured_first_with_its_share() -> None:
    done = run("mwem_pgm", PAIRS, 0.05)
    first = next(event for event in done.events if isinstance(event, Measured))
    assert first.measurement.clique == ()
    assert done.kernel.events[0].rho == pytest.approx(TOTAL_SHARE * 0.05, rel=1e-6)
    assert abs(float(first.measurement.values) - 4000) < 5 * first.measurement.sigma
    costs = [s.rho + m.rho for s, m in zip(done.kernel.events[1::2], done.kernel.events[2::2], strict=True)]
    assert costs == pytest.approx([(1 - TOTAL_SHARE) * 0.05 / len(DOMAIN)] * len(DOMAIN), rel=1e-6)


def test_the_first_selection_compares_with_the_uniform_distribution() -> None:
    done = run("mwem_pgm", PAIRS, 0.05, "replace")
    first = done.finished.selections[0]
    assert np.allclose(first.chosen.answer, 4000 / first.chosen.answer.size, rtol=1e-6)
    assert (first.chosen.weight, first.chosen.offset) == (1.0, first.chosen.answer.size)  # ||M_r(D) - M_r(p)||_1 - n_r


def test_only_the_workload_is_measured() -> None:
    asked = hand_picked(DOMAIN, {("a", "b"): 1.0, ("b", "c"): 1.0})
    done = run("mwem_pgm", asked, 0.5, "replace")
    assert {e.measurement.clique for e in done.events if isinstance(e, Measured)} <= set(asked.cliques)


def test_there_are_as_many_rounds_as_asked_for_and_at_least_one() -> None:
    for asked, expected in ((0.1, 1), (1.0, 4), (2.5, 10)):
        done = run("mwem_pgm", PAIRS, 0.05, rounds_per_attribute=asked)
        assert done.finished.details["rounds"] == expected == max(e.round for e in done.events if isinstance(e, Fitted))


def test_a_workload_of_which_nothing_fits_is_refused() -> None:
    domain = Domain.from_json({"a": 1000, "b": 1000})
    mechanism = get("mwem_pgm")
    forecast = configured(mechanism, {"max_size_mb": 1.0}).forecast(all_kway(domain, 2), 0.01)
    assert not forecast.fits
    assert "max_size_mb" in forecast.reason


def test_a_workload_of_too_many_cells_is_refused_with_the_number() -> None:
    wide = Domain.from_json({f"c{i}": 100 for i in range(12)})
    mechanism = get("mwem_pgm")
    forecast = configured(mechanism, {}).forecast(all_kway(wide, 3), 0.01)
    assert not forecast.fits
    assert "220,000,000 cells" in forecast.reason
