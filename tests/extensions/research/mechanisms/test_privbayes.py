"""PrivBayes+PGM: a network that takes in one column at a time, with parents as many as the noise leaves useful."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.research.mechanisms.graphical.privbayes import MOST_CELLS, MOST_SETS, _Offers
from dpsynth_core.mechanisms.graphical.models import Capacity
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.steps import Measured
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, Run, run

PAIRS = all_kway(DOMAIN, 2)


def tables(done: Run) -> list[tuple[str, ...]]:
    return [s.measurement.clique for s in done.finished.selections]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("seed", range(4))
def test_each_table_adds_one_column_to_those_before(relation: str, seed: int) -> None:
    done = run("privbayes", PAIRS, 1.0, relation, seed=seed)
    first, *later = tables(done)
    assert len(first) == 2
    network = set(first)
    for table in later:
        assert len(set(table) - network) == 1
        network |= set(table)
    assert network == set(DOMAIN.names)


@pytest.mark.parametrize("max_parents", [1, 2, 3])
def test_no_column_gets_more_parents_than_asked_for(max_parents: int) -> None:
    assert max(map(len, tables(run("privbayes", PAIRS, 100.0, max_parents=max_parents)))) == max_parents + 1


@pytest.mark.parametrize("usefulness", [0.5, 4.0, 40.0])
def test_tables_are_offered_while_their_average_count_is_worth_the_noise(usefulness: float) -> None:
    done = run("privbayes", PAIRS, 0.05, usefulness=usefulness)
    columns = [e.measurement for e in done.events if isinstance(e, Measured)][: len(DOMAIN)]
    total = np.mean([m.values.sum() for m in columns])
    for table in done.finished.considered:
        # the noisy total is a weighted mean of these sums, within a few per cent of their mean
        assert total / DOMAIN.cells(table) > 0.9 * usefulness * HALF_NORMAL * columns[0].sigma


def test_less_noise_means_larger_tables() -> None:
    cells = [max(map(DOMAIN.cells, run("privbayes", PAIRS, rho).finished.considered), default=0) for rho in (1e-6, 0.01, 1.0)]
    assert cells == sorted(set(cells))


def test_where_nothing_is_useful_the_columns_get_the_whole_budget() -> None:
    done = run("privbayes", PAIRS, 1e-6)
    assert not any(isinstance(event, Selection) for event in done.kernel.events)
    assert [e.measurement.clique for e in done.events if isinstance(e, Measured)] == 2 * [(name,) for name in DOMAIN.names]
    assert done.kernel.rho_spent == pytest.approx(1e-6, rel=1e-8)


def test_selecting_and_measuring_cost_their_shares() -> None:
    done = run("privbayes", PAIRS, 1.0, measure_share=0.6)
    assert sum(e.rho for e in done.kernel.events if isinstance(e, Selection)) == pytest.approx(0.4, rel=1e-6)
    columns, *chosen = [e.rho for e in done.kernel.events if isinstance(e, Gaussian)]
    assert columns == pytest.approx(len(DOMAIN) * 0.6 / (2 * len(DOMAIN) - 1), rel=1e-6)
    assert chosen == pytest.approx([0.6 / (2 * len(DOMAIN) - 1)] * (len(DOMAIN) - 1), rel=1e-6)


def offers(domain: Domain, max_parents: int = 3, megabytes: float = 80.0) -> _Offers:
    return _Offers(domain, Capacity(domain, megabytes), max_parents)


def test_only_the_largest_sets_of_parents_are_offered() -> None:
    offered = offers(DOMAIN, 2).tables({"a", "b", "c"}, [("a", "b"), ("b", "c")], 40)
    # with d: a x b x d has 24 cells, b x c x d 36, a x c x d 48 and so is not offered; every pair is part of one of the two
    assert offered == [("a", "b", "d"), ("b", "c", "d")]


def test_a_set_that_is_no_part_of_a_fitting_one_is_offered_itself() -> None:
    assert offers(DOMAIN, 2).tables({"a", "b", "c"}, [("a", "b"), ("b", "c")], 30) == [("c", "d"), ("a", "b", "d")]


def test_many_columns_and_large_tables_stay_within_time_and_memory() -> None:
    domain = Domain.from_json({f"c{i}": 30 for i in range(40)})
    network = set(domain.names[:20])
    offered = offers(domain, 3).tables(network, [], 1e12)
    assert 0 < len(offered) <= MOST_SETS
    assert sum(map(domain.cells, offered)) <= MOST_CELLS / len(domain)


def test_a_single_column_is_refused() -> None:
    domain = Domain.from_json({"a": 5})
    forecast = configured(get("privbayes"), {}).forecast(all_kway(domain, 1), 0.01)
    assert not forecast.fits
    assert "two columns" in forecast.reason
