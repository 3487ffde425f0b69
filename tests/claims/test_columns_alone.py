"""Columns alone: measured, not worked out from the release; and a run of Independent lies in the interval that is stated for it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.claims import columns_alone
from dpsynth_core.claims.certificate import CERTIFIED_COLUMNS, ROWS, certify
from dpsynth_core.claims.columns_alone import Columns, nearest_distributions
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.workload import all_kway
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.mechanisms.runs import DOMAIN, people

N, RHO = 2000, 0.02
PEOPLE = people(rows=N)
PAIRS = all_kway(DOMAIN, 2)
TRUE = {r: counts / N for r, counts in PEOPLE.counts(PAIRS.cliques).items()}
SIGMA = Unit().marginal_l2 * math.sqrt(len(DOMAIN) / (2 * RHO))


def evidence(seed: int, sigma: float) -> Evidence:
    """Rows of other people, and noisy columns of the right ones."""
    rng = np.random.default_rng(seed)
    columns = PEOPLE.counts([(name,) for name in DOMAIN.names])
    noisy = tuple(Measurement(r, counts + sigma * rng.standard_normal(counts.shape), sigma) for r, counts in columns.items())
    return Evidence(DOMAIN, people(N, seed=seed).rows, noisy, float(N))


def columns_of(seed: int, sigma: float = 20.0) -> Columns:
    made = columns_alone.of(evidence(seed, sigma), SIGMA, TRUE)
    assert made is not None
    return made


def product_error(columns: Columns) -> float:
    return float(np.mean([in_wrong_cell(TRUE[r], columns.product(r)) for r in PAIRS.cliques]))


def independent_errors(runs: int) -> list[float]:
    """Errors of real runs of Independent."""
    errors = []
    for seed in range(runs):
        *_, last = get("independent").steps(PrivacyKernel(PEOPLE, Unit(), RHO, SeededNoise(seed)), PAIRS)
        assert isinstance(last, Finished)
        errors.append(float(np.mean([in_wrong_cell(TRUE[r], last.model.marginal(r) / last.model.total) for r in PAIRS.cliques])))
    return errors


def noisy_columns(seed: int, sigma: float) -> Columns:
    """As if a release's columns were the noisy ones."""
    released = evidence(seed, sigma)
    shares = {m.clique[0]: nearest_distributions(m.values[None] / N)[0] for m in released.measurements}
    return Columns(DOMAIN, shares, dict.fromkeys(DOMAIN.names, sigma), SIGMA)


@pytest.mark.parametrize("sigma", [10.0, 60.0])  # sharper columns than a run of Independent has, and less sharp ones
def test_real_runs_of_independent_lie_in_the_interval(sigma: float) -> None:
    runs, inside = independent_errors(10), 0
    for seed in range(30):
        columns = noisy_columns(seed, sigma)
        noise = 60.0 * np.random.default_rng(seed).standard_normal()
        stated = columns.stated(2 * N * product_error(columns) + noise, 60.0 * math.sqrt(len(TRUE)), TRUE, Total(float(N), 0.0))
        inside += sum(stated.low95 <= error <= stated.high95 for error in runs)
    # of 300 pairs that share 30 intervals 285 are expected at least: three binomial deviations of the 30, for the ten runs of one are alike
    assert inside >= 300 * (0.95 - 3 * math.sqrt(0.95 * 0.05 / 30))


def test_the_error_is_measured_by_the_kernel_and_unbiased() -> None:
    columns, published, total = columns_of(5), {r: table[::-1] for r, table in TRUE.items()}, Total(float(N), 0.0)
    kernels = [PrivacyKernel(PEOPLE, Unit(), 1e-3, SeededNoise(seed)) for seed in range(200)]
    made = [certify(kernel, published, total, ROWS, None, columns) for kernel in kernels]
    stated = [one.columns for one in made if one.columns is not None]
    deviation = stated[0].sigma / math.sqrt(len(TRUE)) / 2 / N
    off = np.mean([one.error for one in stated]) - product_error(columns)
    assert abs(off) < 5 * deviation / math.sqrt(len(stated))  # five standard errors
    assert len(stated) == 200


def test_it_costs_its_share_of_the_certificate_and_takes_it_from_the_tables() -> None:
    kernel = PrivacyKernel(PEOPLE, Unit(), 0.01, SeededNoise(1))
    made = certify(kernel, TRUE, Total(float(N), 0.0), ROWS, None, columns_of(5))
    assert made.columns is not None
    assert kernel.events[1] == Gaussian(made.columns.sigma, Unit().errors_l2(len(TRUE)))
    assert kernel.events[1].rho == pytest.approx(CERTIFIED_COLUMNS * 0.01, rel=1e-6)
    assert kernel.rho_spent == pytest.approx(0.01, rel=1e-6)
    alone = certify(PrivacyKernel(PEOPLE, Unit(), 0.01, SeededNoise(1)), TRUE, Total(float(N), 0.0), ROWS)
    assert alone.columns is None
    assert alone.sigma < made.sigma


def test_a_released_table_that_is_flat_or_noisy_does_not_move_what_was_measured() -> None:
    """What went wrong when it was worked out from the release: the yardstick followed the release's own errors."""
    columns, mean, total = columns_of(5), 300.0, Total(float(N), 0.0)
    flat = {r: np.full(table.shape, 1 / table.size) for r, table in TRUE.items()}
    product = {r: columns.product(r) for r in TRUE}
    assert {columns.stated(mean, 50.0, published, total).error for published in (TRUE, flat, product)} == {300.0 / 2 / N}


def test_columns_that_no_noisy_table_has_say_nothing_of_how_good_independent_is_at_least() -> None:
    released = Evidence(DOMAIN, people(N, seed=5).rows, (), float(N))
    columns = columns_alone.of(released, SIGMA, TRUE)
    assert columns is not None
    stated = columns.stated(600.0, 20.0, TRUE, Total(float(N), 0.0))
    assert stated.low95 == 0.0 < stated.error < stated.high95


def test_a_release_without_some_of_its_columns_has_no_yardstick() -> None:
    only = Evidence(DOMAIN, None, evidence(1, 5.0).measurements[:-1], float(N))
    assert columns_alone.of(only, SIGMA, TRUE) is None


def test_a_vague_number_of_records_widens_the_interval() -> None:
    columns = columns_of(5)
    sharp, vague = (columns.stated(600.0, 50.0, TRUE, Total(float(N), sigma)) for sigma in (0.0, 60.0))
    assert sharp.error == vague.error
    assert vague.low95 < sharp.low95 < sharp.high95 < vague.high95
    assert columns.stated(600.0, 50.0, TRUE, Total(10.0, 4000.0)).high95 == 1.0


def test_products_keep_to_impossible_cells_and_to_the_columns() -> None:
    limited = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), (((0, 1), (2,)), ((3,), (0, 1)))),))
    plain = columns_of(5)
    table = Columns(limited, plain.shares, plain.noise, SIGMA).product(("a", "b"))
    assert not table[limited.zeros["a", "b"]].any()
    assert table.sum(axis=0) == pytest.approx(plain.shares["b"], abs=1e-3)  # the last of 20 rounds of fitting


def test_the_nearest_distribution_lowers_all_cells_alike() -> None:
    rows = np.array([[0.7, 0.5, -0.1], [0.2, 0.3, 0.5]])
    assert nearest_distributions(rows) == pytest.approx(np.array([[0.6, 0.4, 0.0], [0.2, 0.3, 0.5]]))


def test_an_empty_column_cell_is_no_trouble() -> None:
    two: dict[Clique, np.ndarray] = {("x", "y"): np.array([[1.0, 0.0], [0.0, 0.0]])}
    shares = {"x": np.array([1.0, 0.0]), "y": np.array([1.0, 0.0])}
    columns = Columns(Domain.from_json({"x": 2, "y": 2}), shares, {"x": 0.0, "y": 0.0}, 0.0)
    with np.errstate(all="raise", under="ignore"):
        assert columns.stated(10.0, 0.0, two, Total(1000.0, 0.0)).high95 == pytest.approx(0.005, abs=1e-6)
