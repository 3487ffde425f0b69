"""Independent: every column measured alike, all budget spent, no dependence in the rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.statistics.distances import marginal_errors
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, run

ONE_WAY = all_kway(DOMAIN, 1)
RELATIONS = pytest.mark.parametrize("relation", ["add-remove", "replace"])


@RELATIONS
@pytest.mark.parametrize("rows", [1, 2])
def test_every_column_is_measured_once_with_the_same_share_of_the_whole_budget(relation: str, rows: int) -> None:
    done = run("independent", ONE_WAY, 0.02, relation, rows)
    (event,) = done.kernel.events
    assert isinstance(event, Gaussian)
    assert event.l2 == done.kernel.unit.marginals_l2(len(DOMAIN))
    assert {e.measurement.sigma for e in done.events if isinstance(e, Measured)} == {event.sigma}
    assert done.kernel.rho_spent == pytest.approx(0.02, rel=1e-8)  # the meter's headroom is a billionth
    assert {e.measurement.clique for e in done.events if isinstance(e, Measured)} == set(ONE_WAY.cliques)


def test_progress_rises_to_one_and_ends_with_finished() -> None:
    events = run("independent", ONE_WAY, 0.02).events
    done = [event.done for event in events if isinstance(event, Measured | Fitted)]
    assert done == sorted(done)
    assert done[-1] == 1
    assert isinstance(events[-1], Finished)


@RELATIONS
def test_columns_are_right_up_to_the_noise(relation: str) -> None:
    done = run("independent", ONE_WAY, 0.5, relation)
    sigma = done.finished.details["sigma"]
    true = done.source.counts(ONE_WAY.cliques)
    estimates = {clique: done.finished.model.marginal(clique) for clique in ONE_WAY.cliques}
    for clique, error in marginal_errors(true, estimates).items():
        # expected error per cell is 0.8 sigma; 5 sigma for every cell of the largest column is far beyond any fixed seed's luck
        assert 2 * error * 4000 <= 5 * sigma * DOMAIN.cells(clique)


def test_the_estimate_of_a_pair_is_the_product_of_its_columns() -> None:
    finished = run("independent", ONE_WAY, 0.5).finished
    a, b, ab = (finished.model.marginal(clique) for clique in (("a",), ("b",), ("a", "b")))
    assert np.allclose(ab, np.outer(a, b) / finished.total, rtol=1e-9)


def test_the_total_combines_all_columns_when_it_is_secret() -> None:
    # weights 1/(sigma^2 n_i): variance sigma^2 / sum(1/n_i), less than that of the best single column
    totals = [run("independent", ONE_WAY, 0.05, seed=seed).finished.total for seed in range(60)]
    sigma = math.sqrt(len(DOMAIN) / (2 * 0.05))
    expected = sigma / math.sqrt(sum(1 / DOMAIN.cells(clique) for clique in ONE_WAY.cliques))
    assert np.std(totals) == pytest.approx(expected, rel=0.35)  # 60 draws: relative error 9 %, four of them
    assert abs(np.mean(totals) - 4000) < 5 * expected / math.sqrt(60)


def test_the_total_is_exact_and_free_when_it_is_public() -> None:
    done = run("independent", ONE_WAY, 0.02, "replace")
    assert done.finished.total == 4000
    assert len(done.kernel.events) == 1


def test_rows_follow_the_estimated_columns() -> None:
    finished = run("independent", ONE_WAY, 0.5).finished
    rows = finished.model.rows(4000, {}, np.random.default_rng(0))
    assert rows.shape == (4000, len(DOMAIN))
    for clique, counts in row_marginals(DOMAIN, rows, ONE_WAY.cliques).items():
        # randomised rounding keeps every count of the first column within 1; later columns add a little per cell of earlier ones
        assert np.abs(counts - finished.model.marginal(clique) * 4000 / finished.total).max() < 60
