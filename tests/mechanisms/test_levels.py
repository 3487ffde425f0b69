"""Levels of groups of neighbours: what they are, what they cost, and that ranges are better known with them than by cells alone."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.mechanisms.graphical.levels import MOST_CELLS, believed, divided, levels_of
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.steps import Measured
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import largest_run
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.workload import Workload, all_kway, ranges
from tests.privacy.tables import ArraySource

AGE = Attribute.integer("age", 0, 63, bins=64).unfolded()
DOMAIN = Domain((AGE, Attribute.categorical("sex", ["f", "m"])))
SEEDS = range(20)


def test_levels_are_groups_of_four_of_the_level_below_and_spare_cells_are_apart() -> None:
    fine, coarse = levels_of(DOMAIN, ["age"])["age"]
    assert fine.places == (*(cell // 4 for cell in range(64)), 16, 16)
    assert coarse.places == (*(cell // 16 for cell in range(64)), 4, 4)


def test_small_columns_have_no_levels_and_very_large_ones_are_measured_as_usual() -> None:
    domain = Domain.from_json({"few": 7, "some": 8, "many": MOST_CELLS + 1})
    assert {name: len(levels) for name, levels in levels_of(domain, domain.names).items()} == {"few": 0, "some": 1}


def test_a_level_is_called_like_no_column() -> None:
    assert [one.name for one in levels_of(Domain.from_json({"age": 8, "age (by 4)": 2}), ["age"])["age"]] == ["age (by 4)*"]


def test_columns_with_ranges_divide_what_they_have_together_and_others_keep_theirs() -> None:
    parts = divided({("age",): 0.5, ("sex",): 0.4, ("few",): 0.1}, {**levels_of(DOMAIN, ["age"]), "few": ()})
    coarser = {("age (by 4)",): 0.1, ("age (by 16)",): 0.1}
    assert parts == pytest.approx({("age",): 0.2, ("few",): 0.2, ("sex",): 0.4} | coarser)
    assert divided({("sex",): 1.0}, {}) == {("sex",): 1.0}


def largest_range(seed: int, *, with_levels: bool) -> float:
    """Of what is believed of a column of 200 noisy counts, for the same budget."""
    rng, domain = np.random.default_rng(seed), Domain.from_json({"day": 200})
    counts = rng.geometric(0.01, 200).astype(float)
    levels = levels_of(domain, ["day"]) if with_levels else {"day": ()}
    measured = []
    for clique, part in divided({("day",): 1.0}, levels).items():
        groups = tuple(one for one in levels["day"] if (one.name,) == clique)
        exact = groups[0].summed(counts, 0) if groups else counts
        measured.append(Measurement(clique, exact + rng.normal(0, 30 / part**0.5, exact.shape), 30 / part**0.5, groups=groups))
    (one,) = believed(levels, measured, counts.sum())(domain, measured[:1]).believed
    assert one.values.min() >= 0
    assert one.values.sum() == pytest.approx(counts.sum(), rel=1e-3)
    assert (one.variances <= measured[0].deviation ** 2 * (1 + 1e-9)).all()
    return float(largest_run(one.values - counts, 0, range(200)))


def test_ranges_are_better_known_with_levels() -> None:
    """By cells alone the standard deviation of a range is about the root of 200 / 6 of theirs, 5.8 times, and with levels 3.6 times. Ratios
    of the largest vary by a quarter: their mean over 20 columns by 0.06."""
    ratio = np.mean([largest_range(seed, with_levels=True) / largest_range(seed, with_levels=False) for seed in SEEDS])
    print(f"seeds {SEEDS}, ratio {ratio}")
    assert ratio < 0.85


def table(seed: int) -> ArraySource:
    rng = np.random.default_rng(seed)
    return ArraySource(DOMAIN, np.stack([rng.binomial(63, 0.4, 2000), rng.integers(0, 2, 2000)], axis=1).astype(np.int32))


def run(mechanism: str, workload: Workload, settings: dict[str, str] | None = None) -> tuple[PrivacyKernel, list[Measured]]:
    kernel = PrivacyKernel(table(1), Unit(), 0.05, SeededNoise(1))
    steps = list(configured(get(mechanism), settings or {}).steps(kernel, workload))
    return kernel, [step for step in steps if isinstance(step, Measured)]


def test_aim_measures_levels_where_ranges_are_asked_for_and_only_there() -> None:
    kernel, asked = run("aim", ranges(DOMAIN))
    assert kernel.rho_spent == pytest.approx(0.05, rel=1e-6)
    names = {one.measurement.clique for one in asked}
    assert {("age",), ("age (by 4)",), ("age (by 16)",)} <= names
    _, plain = run("aim", all_kway(DOMAIN, 2))
    assert not {name for one in plain for name in one.measurement.clique} & {"age (by 4)", "age (by 16)"}


def test_aim_as_published_measures_tables_alone() -> None:
    _, published = run("aim", ranges(DOMAIN), {"preset": "paper"})
    assert {one.measurement.clique for one in published} <= {("age",), ("sex",), ("age", "sex")}
