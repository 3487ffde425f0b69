"""Plans: noise from theorems, accuracy inverted, shares that add up, coverage counted by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from dpsynth_core.claims.certificate import ROWS, certify
from dpsynth_core.claims.columns_alone import Columns
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning import precision
from dpsynth_core.planning.plan import Shares, set_aside
from dpsynth_core.planning.spec import BudgetSpec
from dpsynth_core.privacy.accountant import GDP, ZCDP, Accountant
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary import workload
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.mechanisms.runs import people
from tests.refusals import refused

DOMAIN = Domain(
    tuple(Attribute.categorical(name, [f"{name}{i}" for i in range(size)]) for name, size in zip("abcd", (2, 3, 5, 7), strict=True))
)
PAIRS = workload.all_kway(DOMAIN, 2)


def test_equal_shares_spend_exactly_the_budget() -> None:
    unit, rho = Unit("replace", 3), 0.2
    sigma = precision.sigma(rho, unit, tables=6)
    assert 6 * unit.marginal_l2**2 / (2 * sigma**2) == pytest.approx(rho)


def test_the_half_width_holds_95_percent_of_gaussian_noise() -> None:
    width = precision.half_width(0.1, Unit(), 4)
    draws = np.random.default_rng(5).normal(0, precision.sigma(0.1, Unit(), 4), 100_000)
    # 100,000 draws: the share has a standard error of 0.0007, five of them are 0.0035
    assert np.mean(np.abs(draws) <= width) == pytest.approx(0.95, abs=0.0035)


@given(
    wanted=st.floats(0.5, 5000),
    delta=st.sampled_from([1e-12, 1e-9, 1e-6]),
    relation=st.sampled_from(["add-remove", "replace"]),
    tables=st.integers(1, 500),
    accountant=st.sampled_from([ZCDP, GDP]),
)
def test_the_epsilon_for_an_accuracy_gives_that_accuracy(
    wanted: float, delta: float, relation: str, tables: int, accountant: Accountant
) -> None:
    unit = Unit(relation)
    try:
        epsilon = precision.epsilon_for(wanted, delta, unit, tables, accountant=accountant)
    except InputError:
        return
    reached = precision.half_width(accountant.rho_from(epsilon, delta), unit, tables)
    # at the smallest epsilon that is allowed, more accuracy than asked for
    assert reached == pytest.approx(wanted, rel=1e-6) if epsilon > 1e-6 else reached <= wanted


def test_an_accuracy_out_of_reach_is_refused_with_a_remedy() -> None:
    refused(precision.epsilon_for, 1e-3, 1e-9, Unit(), 1000, saying="less accuracy")


@given(st.floats(1e-6, 999))
def test_rounding_an_epsilon_never_asks_for_less(epsilon: float) -> None:
    rounded = precision.round_up(epsilon)
    assert epsilon * (1 - 1e-9) <= rounded <= epsilon * 1.011


def split(name: str, given: dict[str, Any], rho: float, certificate: float = 0.0) -> pd.DataFrame:
    mechanism, shares = registry.get(name), Shares(rho, (1 - certificate) * rho, 0.0, ZCDP, (("certificate", certificate * rho),))
    return precision.budget_split(registry.configured(mechanism, given), PAIRS, shares).value


@pytest.mark.parametrize("share", [0.9, -0.1, 1e-6])
def test_a_certificate_s_share_out_of_range_is_refused(share: float) -> None:
    refused(set_aside, registry.get("aim"), BudgetSpec(epsilon=1.0, delta=1e-9, certificate=share), {}, saying=r"budget\.certificate")


@pytest.mark.parametrize("mechanism", list(registry.MECHANISMS))
def test_the_parts_of_every_mechanisms_budget_add_up(mechanism: str) -> None:
    frame = split(mechanism, {}, 0.3)
    assert frame["share"].sum() == pytest.approx(1)
    assert frame["rho"].sum() == pytest.approx(0.3)
    assert (frame["share"] > 0).all()


@pytest.mark.parametrize("unit", [Unit("replace"), Unit("add-remove", 3), Unit("replace", 2)], ids=str)
def test_what_is_told_of_a_certificate_beforehand_is_what_it_does(unit: Unit) -> None:
    kernel = PrivacyKernel(people(), unit, 0.01, SeededNoise(1))
    cliques = workload.all_kway(kernel.domain, 2).cliques
    published = {r: np.full(kernel.domain.sizes(r), 1 / kernel.domain.cells(r)) for r in cliques}
    shares = {name: np.full(kernel.domain[name].size, 1 / kernel.domain[name].size) for name in kernel.domain.names}
    made = certify(kernel, published, Total(4000.0, 0.0), ROWS, None, Columns(kernel.domain, shares, {}, 1.0))
    width = ndtri(0.975)
    assert precision.certificate_margin(0.01, unit, len(cliques)) == pytest.approx(width * made.sigma / 2, rel=1e-6)
    assert precision.largest_margin(0.01, unit) == pytest.approx(width * made.max_sigma, rel=1e-6)


@pytest.mark.parametrize("mechanism", list(registry.MECHANISMS))
def test_the_certificate_takes_its_share_of_the_whole_and_the_mechanism_divides_the_rest(mechanism: str) -> None:
    alone, frame = split(mechanism, {}, 0.3), split(mechanism, {}, 0.3, certificate=0.05)
    assert frame["stage"].to_list() == [*alone["stage"], "certificate"]
    assert frame["rho"].iloc[-1] == pytest.approx(0.05 * 0.3)
    assert frame["rho"].iloc[:-1].to_list() == pytest.approx((0.95 * alone["rho"]).to_list())


def test_the_split_of_aim_follows_its_settings() -> None:
    frame = split("aim", {"measure_share": 0.5, "rounds_per_attribute": 10}, 1.0)
    shares = dict(zip(frame["stage"], frame["share"], strict=True))
    assert shares["single columns (at least)"] == pytest.approx(0.5 * 4 / 40)
    assert shares["choosing what to ask"] == pytest.approx(shares["chosen tables (at most)"])


def test_coverage_counts_the_tables_of_each_pair() -> None:
    asked = workload.hand_picked(DOMAIN, {("a", "b"): 1.0, ("a", "b", "c"): 2.0, ("d",): 1.0})
    zoned = precision.coverage(asked)
    distances = {(row, column): n for row, column, n in zoned.value.itertuples(index=False)}
    assert zoned.zone is Zone.PUBLIC
    assert len(distances) == 16
    assert (
        distances["a", "b"],
        distances["b", "a"],
        distances["b", "c"],
        distances["a", "d"],
        distances["d", "d"],
        distances["a", "a"],
    ) == (2, 2, 1, 0, 1, 2)


def test_the_largest_tables_come_first() -> None:
    assert precision.largest(PAIRS, 2) == ((("c", "d"), 35), (("b", "d"), 21))


def test_sharings_go_from_all_tables_to_one() -> None:
    many = workload.all_kway(Domain(tuple(Attribute.categorical(f"x{i}", ["0", "1"]) for i in range(10))), 2)
    assert [shared.tables for shared in precision.sharings(many)] == [45, 4, 1]
    assert [shared.tables for shared in precision.sharings(PAIRS)] == [6, 1]
    assert [shared.tables for shared in precision.sharings(workload.hand_picked(DOMAIN, {("a",): 1.0}))] == [1]


def test_the_attackers_curve_lies_above_guessing_and_ends_in_the_corner() -> None:
    frame = precision.attacker(0.015).value
    assert (frame["true_positive"] >= frame["false_positive"]).all()
    assert frame["true_positive"].iloc[-1] == 1
    assert frame["true_positive"].max() <= 1
