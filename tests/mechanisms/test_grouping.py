"""AIM's groups of values: which values are together, and what a model that measured groups answers and writes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.inference.estimation import estimate
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.graphical import grouping
from dpsynth_core.mechanisms.graphical.grouping import Candidates, OfColumns, groups_of, tables_with_groups
from dpsynth_core.mechanisms.steps import Measured
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import with_groups
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import run_on
from tests.privacy.tables import ArraySource

GROUPS = 8


@pytest.mark.parametrize("seed", range(6))
def test_neighbours_are_divided_as_evenly_as_brute_force_can(seed: int) -> None:
    people = np.random.default_rng(seed).geometric(0.1, 9).astype(float)
    places = grouping._neighbours(people, 4)
    assert sorted(places) == places
    best = min(
        sum(part.sum() ** 2 for part in np.split(people, cuts)) for count in range(4) for cuts in combinations(range(1, 9), count)
    )
    assert sum(people[np.array(places) == group].sum() ** 2 for group in set(places)) == pytest.approx(best)


def test_a_column_of_very_many_values_is_divided_in_little_memory_and_evenly() -> None:
    """Runs of a 512th of the people are told apart: no group has more than an eighth and two of those, whatever the values."""
    people = np.random.default_rng(1).geometric(0.01, 50_000).astype(float)
    places = np.array(grouping._neighbours(people, 8))
    assert list(places) == sorted(places)
    assert set(places) == set(range(8))
    assert np.bincount(places, people).max() / people.sum() <= 1 / 8 + 2 / 512 + 1e-3
    assert set(grouping._neighbours(np.zeros(2000), 4)) == set(range(4))


def test_columns_whose_ties_would_have_too_many_cells_have_no_groups() -> None:
    assert grouping.many_celled(Domain.from_json({"x": 20_000, "y": 100_000}), 16) == ["x"]


def test_one_group_is_one_group() -> None:
    domain = Domain.from_json(
        {"version": 1, "attributes": [{"name": "t", "kind": "categorical", "categories": list("abcde"), "other": True, "missing": False}]}
    )
    assert groups_of(domain, [measured("t", [1.0] * 6)], 1)[0].places == (0, 0, 0, 0, 0, 1)


def test_the_most_frequent_values_stay_alone() -> None:
    assert grouping._frequent(np.array([1.0, 9.0, 2.0, 7.0, 3.0]), 3) == [2, 0, 2, 1, 2]


def measured(name: str, values: list[float]) -> Measurement:
    return Measurement((name,), np.array(values), 1.0)


def test_columns_of_many_values_get_groups_and_spare_cells_one_of_their_own() -> None:
    numbers = {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 20, "other": True, "missing": True}
    towns = {"name": "town", "kind": "categorical", "categories": [f"t{i}" for i in range(20)], "other": False, "missing": False}
    few = {"name": "few", "kind": "categorical", "categories": list("abcdefghijk"), "other": False, "missing": False}
    domain = Domain.from_json({"version": 1, "attributes": [numbers, towns, few]})
    columns = [measured("age", [5.0] * 20 + [3.0, 4.0]), measured("town", [float(i) for i in range(20)]), measured("few", [1.0] * 11)]
    ages, towns_made = groups_of(domain, columns, GROUPS)
    assert (ages.name, towns_made.name) == (f"age ({GROUPS} groups)", f"town ({GROUPS} groups)")
    assert ages.places[20:] == (GROUPS - 1, GROUPS - 1)
    assert list(ages.places[:20]) == sorted(ages.places[:20])
    assert [len(group) for group in towns_made.members] == [1] * (GROUPS - 1) + [20 - GROUPS + 1]


def test_groups_pay_where_noise_hides_tables_of_two_columns() -> None:
    """Of 20 x 30 cells, half of sqrt(2 / pi) of a deviation each: a twentieth of the people from a noise of 0.0002 of them on."""
    domain = Domain.from_json({"x": 20, "y": 30, "z": 2})
    least = 2 * grouping.NOISY / (np.sqrt(2 / np.pi) * 600)
    assert grouping.pay(domain, GROUPS, 1.01 * least)
    assert not grouping.pay(domain, GROUPS, 0.99 * least)
    assert not grouping.pay(domain, 0, 1.0)
    assert not grouping.pay(Domain.from_json({"z": 2}), GROUPS, 1.0)


def test_a_name_that_is_taken_gets_a_star() -> None:
    domain = Domain.from_json({"x": 20, f"x ({GROUPS} groups)": 2})
    assert [one.name for one in groups_of(domain, [measured("x", [1.0] * 20)], GROUPS)] == [f"x ({GROUPS} groups)*"]


DOMAIN = Domain.from_json({"a": 12, "b": 3, "c": 14})
GROUPED = (Groups("A", "a", tuple(i // 4 for i in range(12))), Groups("C", "c", tuple(i // 7 for i in range(14))))


def people(rows: int = 20_000) -> np.ndarray:
    """Values of a and c depend on each other through their thirds and halves, and on b."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 12, rows)
    c = (a // 4 * 5 + rng.integers(0, 5, rows)).clip(0, 13)
    b = np.where(rng.random(rows) < 0.7, c // 7, rng.integers(0, 3, rows))
    return np.stack([a, b, c], axis=1).astype(np.int32)


def model() -> GraphicalModel:
    codes, domain = people(), with_groups(DOMAIN, GROUPED)
    every = np.column_stack([codes, codes[:, 0] // 4, codes[:, 2] // 7]).astype(np.int32)
    cliques = [("a",), ("b",), ("c",), ("b", "A"), ("A", "C")]
    return estimate(domain, [Measurement(r, of_codes(domain, every, r).astype(float), 5.0) for r in cliques], float(len(codes)))


def test_candidates_are_answered_like_the_model_answers_them() -> None:
    fitted = model()
    candidates = Candidates.of(fitted.domain, all_kway(DOMAIN, 3).aim_weights(), GROUPED)
    assert len(candidates.weights) == 3 + (2 + 4 + 2) + 4 == tables_with_groups(all_kway(DOMAIN, 3), 8)
    assert candidates.weights[("b", "A", "C")] == candidates.weights[("a", "b", "c")]
    assert candidates.weighing({"a": 1.0, "b": 10.0, "c": 100.0}).keys() == candidates.weights.keys()
    assert candidates.weighing({"a": 1.0, "b": 10.0, "c": 100.0})[("a", "C")] == 101.0
    for clique, answer in candidates.answers(fitted, list(candidates.weights)).items():
        np.testing.assert_allclose(answer, fitted.marginal(clique), atol=1e-6)


def test_rows_have_no_groups_and_follow_the_model() -> None:
    """20,000 rows, moved towards the model's answers: a cell is off by less than a row or two, on average."""
    fitted, pairs = OfColumns(model(), DOMAIN), all_kway(DOMAIN, 2)
    rows = fitted.rows(20_000, pairs.weights, np.random.default_rng(1))
    assert rows.shape == (20_000, 3)
    for pair in pairs.cliques:
        assert np.abs(of_codes(DOMAIN, rows, pair) - fitted.marginal(pair)).mean() < 2


def test_aim_measures_groups_where_that_is_cheaper_and_errs_less_for_it() -> None:
    source, pairs = ArraySource(DOMAIN, people(4000)), all_kway(DOMAIN, 2)
    done = run_on(source, "aim", pairs, 5e-4, seed=3)
    grouped = [e.measurement for e in done.events if isinstance(e, Measured) and e.measurement.groups]
    assert grouped
    assert all(m.values.shape == tuple(with_groups(DOMAIN, m.groups)[name].size for name in m.clique) for m in grouped)
    assert set(done.finished.considered) <= set(pairs.aim_weights())


def test_a_public_table_is_counted_in_groups_too() -> None:
    """Its rows have no groups; the model that starts from them does."""
    source, pairs = ArraySource(DOMAIN, people(4000)), all_kway(DOMAIN, 2)
    done = run_on(source, "aim_public", pairs, 5e-4, seed=3, column_noise=0.04)
    assert any(e.measurement.groups for e in done.events if isinstance(e, Measured))
    assert done.finished.details["public_tables"] >= 0
