"""RAP: what it charges, what it chooses, how it fits, and what its rows are worth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.extensions.research.inference.relaxed.relaxed_table import RelaxedTable
from dpsynth_core.extensions.research.mechanisms.projection import rap
from dpsynth_core.extensions.research.mechanisms.projection.rap import Rap, RoundPlan, out_of_reach
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.mechanisms.registry import PUBLISHED, configured, get
from dpsynth_core.mechanisms.steps import Fitted, Measured
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload, all_kway, hand_picked
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.mechanisms.runs import DOMAIN, Run, people, run
from tests.privacy.tables import ArraySource

PAIRS = all_kway(DOMAIN, 2)
TRIPLES = all_kway(DOMAIN, 3)


def largest_error(done: Run, workload: Workload, rows: np.ndarray | None = None) -> float:
    """As a fraction of the people: of the relaxed table, or of rows."""
    queries, model = QueryClass.of(workload), done.finished.model
    true = queries.counts(done.source.counts(workload.cliques)) / len(done.source.rows)
    if rows is None:
        fractions = queries.counts({r: model.marginal(r) for r in workload.cliques}) / done.finished.total
    else:
        fractions = queries.counts(ArraySource(DOMAIN, rows).counts(workload.cliques)) / len(rows)
    return float(np.abs(true - fractions).max())


@pytest.mark.parametrize(("relation", "rows"), [("add-remove", 1), ("replace", 1), ("add-remove", 3), ("replace", 3)])
def test_the_charge_is_the_closed_form(relation: str, rows: int) -> None:
    rho, start, share, rounds, count = 0.05, 0.2, 0.4, 3, 4
    chosen = {"rounds": rounds, "queries": count, "start_share": start, "measure_share": share, "relaxed_rows": 20}
    done = run("rap", PAIRS, rho, relation, rows, **chosen)
    columns, *rest = done.kernel.events
    assert isinstance(columns, Gaussian)
    assert columns.l2**2 / (2 * columns.sigma**2) == pytest.approx(start * rho, rel=1e-6)
    assert columns.l2 == pytest.approx(rows * math.sqrt(len(DOMAIN) * (2 if relation == "replace" else 1)))
    each = (1 - start) * rho / rounds
    # nothing pays for the number of people: where it is secret, the columns tell it
    assert [type(event) for event in rest] == [Selection, Gaussian] * rounds
    for selection, measuring in zip(rest[::2], rest[1::2], strict=True):
        assert selection.count * selection.eps**2 / 8 == pytest.approx((1 - share) * each, rel=1e-6)
        assert count * rows**2 / (2 * measuring.sigma**2) == pytest.approx(share * each, rel=1e-6)
    assert done.kernel.rho_spent == pytest.approx(rho, rel=1e-8)


def test_one_round_measures_every_marginal_once() -> None:
    done = run("rap", PAIRS, 1.0, rounds=1)
    asked = [event.measurement.clique for event in done.events if isinstance(event, Measured)]
    assert asked == [*((name,) for name in DOMAIN.names), *PAIRS.cliques]
    assert not any(isinstance(event, Selection) for event in done.kernel.events)
    assert largest_error(done, PAIRS) < 0.02  # noise of sigma 2.6 in 4000, and a table that can have nearly all answers


def eight_columns(seed: int = 11) -> ArraySource:
    """3,000 invented people in 8 columns of two values, each of which follows the one before for half of them."""
    rng = np.random.default_rng(seed)
    rows = (rng.random((3000, 8)) < np.linspace(0.7, 0.2, 8)).astype(np.int32)
    for i in range(1, 8):
        rows[:, i] = np.where(rng.random(3000) < 0.5, rows[:, i - 1], rows[:, i])
    return ArraySource(Domain.from_json({f"c{i}": 2 for i in range(8)}), rows)


def test_a_small_class_is_measured_whole_and_not_spent_on_choices() -> None:
    """448 counts of 56 tables. Adaptive selection, as before, asks for some 50 of them."""
    source = eight_columns()
    workload = all_kway(source.domain, 3)
    true, errors = source.counts(workload.cliques), {}
    for name, mechanism in (("default", Rap()), ("selecting", Rap(small=0.0)), ("as published", PUBLISHED["rap"])):
        kernel = PrivacyKernel(source, Unit(), 0.03, SeededNoise(4))
        *_, finished = mechanism.steps(kernel, workload)
        chosen = [event for event in kernel.events if isinstance(event, Selection)]
        assert bool(chosen) == (name != "default")
        assert kernel.rho_spent == pytest.approx(0.03, rel=1e-6)
        errors[name] = max(float(np.abs(finished.model.marginal(r) / finished.total - true[r] / 3000).max()) for r in workload.cliques)
    assert errors["default"] < 0.5 * min(errors["selecting"], errors["as published"])


@pytest.mark.parametrize("given", [{"rounds": 2}, {"queries": 3}])
def test_who_sets_rounds_or_queries_gets_selections(given: dict[str, int]) -> None:
    done = run("rap", PAIRS, 1.0, relaxed_rows=20, **given)
    assert any(isinstance(event, Selection) for event in done.kernel.events)


@pytest.mark.parametrize(("people_there", "small"), [(700, True), (600, False)])
def test_what_is_small_depends_on_the_people(people_there: int, small: bool) -> None:
    """Eight cells of sigma 41 each are as much as 330 people, half of 660."""
    queries = QueryClass.of(all_kway(eight_columns().domain, 3))
    assert Rap().measures_all(queries, 41.0, people_there) is small
    assert not Rap(small=0.0).measures_all(queries, 41.0, people_there)


def test_no_query_is_asked_twice_and_none_too_many() -> None:
    few = hand_picked(DOMAIN, {("b", "d"): 1.0})
    done = run("rap", few, 1.0, rounds=200, queries=10_000, relaxed_rows=20)
    assert done.finished.details["rounds"] == 6  # one query each
    assert done.finished.details["queries"] == QueryClass.of(few).size == 6


def test_more_budget_errs_less() -> None:
    """What it asks for more: `test_the_schedule_grows_with_budget_and_people`."""
    low, high = run("rap", TRIPLES, 0.001), run("rap", TRIPLES, 0.5)
    assert largest_error(high, TRIPLES) < 0.5 * largest_error(low, TRIPLES)


@pytest.mark.parametrize("threshold", [1, 2])
def test_thresholds_are_asked_and_answered(threshold: int) -> None:
    asked = Workload(DOMAIN, TRIPLES.weights, threshold)
    done = run("rap", asked, 0.5, "replace", relaxed_rows=200)
    before = run("independent", TRIPLES, 0.5, "replace")
    assert largest_error(done, asked) < 0.5 * largest_error(before, asked)
    assert largest_error(done, asked) < 0.03


def test_marginals_of_different_sizes_go_together() -> None:
    mixed = hand_picked(DOMAIN, {("a",): 1.0, ("a", "b"): 1.0, ("b", "c", "d"): 1.0})
    assert largest_error(run("rap", mixed, 1.0, relaxed_rows=200), mixed) < 0.02


def test_rows_are_nearly_as_good_as_the_relaxed_table() -> None:
    done = run("rap", TRIPLES, 0.5)
    rows = done.finished.model.rows(4000, TRIPLES.weights, np.random.default_rng(0))
    assert largest_error(done, TRIPLES, rows) < 1.1 * largest_error(done, TRIPLES)


def test_a_small_table_gets_fewer_relaxed_rows_so_that_each_stands_for_five_people() -> None:
    done = run("rap", PAIRS, 1.0, "replace", relaxed_rows=1000)
    assert done.finished.details["relaxed_rows"] == 4000 // rap.OVERSAMPLING


def test_the_first_selection_compares_with_the_columns() -> None:
    """What is selected first is wrong although every column is right: b follows a in the invented people."""
    done = run("rap", PAIRS, 100.0, "replace", rounds=2, queries=1)
    assert isinstance(done.finished.model, RelaxedTable)
    queries = QueryClass.of(PAIRS)
    independent = run("independent", PAIRS, 100.0, "replace").finished.model
    true = queries.counts(done.source.counts(PAIRS.cliques))
    gaps = np.abs(queries.counts({r: independent.marginal(r) for r in PAIRS.cliques}) - true)
    assert queries.query(int(gaps.argmax())).clique == ("a", "b")
    relaxed = queries.counts({r: done.finished.model.marginal(r) for r in PAIRS.cliques})
    assert np.abs(relaxed - true)[gaps.argmax()] < 0.2 * gaps.max()


def test_the_same_answers_of_the_kernel_give_the_same_table() -> None:
    first, second = (run("rap", PAIRS, 0.1, seed=5, relaxed_rows=30).finished.model for _ in range(2))
    assert isinstance(first, RelaxedTable)
    assert isinstance(second, RelaxedTable)
    assert np.array_equal(first.columns, second.columns)


def test_the_table_keeps_away_from_what_is_impossible() -> None:
    """Rows would have to leave the table's answers otherwise. Every cell that is empty in the invented people is declared impossible."""
    empty = np.argwhere(people().counts([("a", "b")])[("a", "b")] < 300)
    limited = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), tuple(tuple((int(v),) for v in cell) for cell in empty)),))
    mass = []
    for domain in (DOMAIN, limited):
        kernel = PrivacyKernel(ArraySource(domain, people().rows), Unit(), 0.02, SeededNoise(2))
        *_, finished = Rap(relaxed_rows=200).steps(kernel, hand_picked(domain, {("c", "d"): 1.0}))
        mass.append(float(finished.model.marginal(("a", "b"))[limited.zeros["a", "b"]].sum()) / finished.total)
    assert mass[0] > 0.1
    assert mass[1] < 0.1 * mass[0]


def test_progress_is_told_during_every_fit_and_a_run_can_be_left_there() -> None:
    kernel = PrivacyKernel(people(), Unit(), 0.05, SeededNoise(1))
    steps = configured(get("rap"), {"rounds": 5, "queries": 2}).steps(kernel, PAIRS)
    fitted = [next(event for event in steps if isinstance(event, Fitted)) for _ in range(2)]
    assert 0 < fitted[0].done < fitted[1].done < 0.2
    spent = kernel.rho_spent
    steps.close()
    assert kernel.rho_spent == spent < 0.05


def test_the_schedule_grows_with_budget_and_people() -> None:
    plan = Rap().plan
    plans = [plan(10**6, total, rho) for total, rho in ((50_000, 1.5e-4), (50_000, 0.0143), (50_000, 1.0))]
    assert [one.rounds * one.queries for one in plans] == [36, 168, 672]
    assert plan(10**6, 100_000, 1.5e-4) == plan(10**6, 50_000, 6e-4)
    assert plan(10**6, 10.0**9, 1.0).rounds * plan(10**6, 10.0**9, 1.0).queries <= rap.MOST_ASKED
    assert plan(3, 50_000, 1.0) == RoundPlan(3, 1)
    assert Rap(rounds=4, queries=7).plan(10**6, 1.0, 1e-8) == RoundPlan(4, 7)


def test_what_cannot_be_done_is_refused_before_the_run() -> None:
    wide = Domain.from_json({f"c{i}": 100 for i in range(12)})
    forecast = configured(get("rap"), {}).forecast(all_kway(wide, 3), 0.01)
    assert not forecast.fits
    assert "220,000,000 cells" in forecast.reason
    long = Domain.from_json({"a": 100_000, "b": 100_000, "c": 100_000})
    forecast = configured(get("rap"), {"relaxed_rows": 5000}).forecast(all_kway(long, 1), 0.01)
    assert not forecast.fits
    assert "relaxed_rows" in forecast.reason


@pytest.mark.parametrize("threshold", [None, 1, 2, 3])
def test_nothing_out_of_reach_is_large(threshold: int | None) -> None:
    queries, source = QueryClass(DOMAIN, TRIPLES.cliques, threshold), people()
    columns = {name: source.counts([(name,)])[(name,)].astype(float) for name in DOMAIN.names}
    true = queries.counts(source.counts(TRIPLES.cliques))
    for least in (1.0, 100.0, 1500.0):
        left = out_of_reach(queries, columns, least, keep=5)
        assert (true[left] < least).all()
        assert len(left) <= queries.size - 5
    assert 0 <= queries.size - 5 - len(out_of_reach(queries, columns, 1e9, keep=5)) <= 25  # with the fifth go all that are like it
    assert len(out_of_reach(queries, columns, 1e9, keep=queries.size)) == 0
    assert len(out_of_reach(queries, columns, 1e9, keep=5, most=10)) == 0


def test_small_cells_are_out_of_reach() -> None:
    queries = QueryClass(Domain.from_json({"a": 2, "b": 2}), (("a", "b"),))
    columns = {"a": np.array([90.0, 10.0]), "b": np.array([60.0, 40.0])}
    assert out_of_reach(queries, columns, 30.0, keep=1).tolist() == [2, 3]
