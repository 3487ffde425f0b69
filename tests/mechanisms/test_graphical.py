"""What holds for every mechanism that selects, measures and estimates a graphical model."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.inference.junction_tree import junction_tree, mask_of
from dpsynth_core.inference.model import labels_of
from dpsynth_core.inference.smoothing import Columns
from dpsynth_core.mechanisms.graphical.models import Capacity, Selecting, fit, unrelated_tables
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.mechanisms.parameters import parameters
from dpsynth_core.mechanisms.registry import MECHANISMS, configured, get
from dpsynth_core.mechanisms.steps import Measured
from dpsynth_core.privacy.events import Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import workload_error
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import MarginalCounts, Measurement
from dpsynth_core.vocabulary.workload import all_kway
from tests.additions import listed
from tests.mechanisms.runs import DOMAIN, Run, run
from tests.privacy.tables import ArraySource

PAIRS = all_kway(DOMAIN, 2)
NAMES = [
    name
    for name, mechanism in MECHANISMS.items()
    if any(p.name == "max_size_mb" for p in parameters(mechanism)) and not isinstance(mechanism, UsesPublic)
]
ALL = pytest.mark.parametrize("name", NAMES)
CHOOSING = pytest.mark.parametrize("name", [name for name in NAMES if name != "hdmm_pgm"])
"""Those that leave out what does not fit; HDMM+PGM measures all that it planned, or is refused."""
RELATIONS = pytest.mark.parametrize("relation", ["add-remove", "replace"])


def measured(done: Run) -> list[tuple[str, ...]]:
    return [event.measurement.clique for event in done.events if isinstance(event, Measured)]


def error(done: Run) -> float:
    true = done.source.counts(PAIRS.cliques)
    answers = {clique: done.finished.model.marginal(clique) for clique in PAIRS.cliques}
    return workload_error(PAIRS, true, answers, int(true[PAIRS.cliques[0]].sum()))


def test_all_of_the_family_are_here() -> None:
    assert {*NAMES} == {"aim", "mst", *listed("GRAPHICAL")}


@ALL
@RELATIONS
@pytest.mark.parametrize("rows", [1, 3])
def test_the_whole_budget_is_spent_and_the_meter_never_trips(name: str, relation: str, rows: int) -> None:
    done = run(name, PAIRS, 0.05, relation, rows)
    assert done.kernel.rho_spent == pytest.approx(0.05, rel=1e-8)  # the meter's headroom is a billionth
    assert sum((event.cost for event in done.kernel.events), Fraction(0)) <= Fraction(0.05)


@ALL
def test_dependence_is_found_where_independent_cannot(name: str) -> None:
    # a fixed seed; the table of `runs` has one strong pair, so the gap is large and half is a wide margin
    assert error(run(name, PAIRS, 0.5)) < 0.5 * error(run("independent", PAIRS, 0.5))


@ALL
def test_rows_are_of_every_column_and_follow_the_model(name: str) -> None:
    model = run(name, PAIRS, 0.5).finished.model
    codes = model.rows(5000, PAIRS.weights, np.random.default_rng(0))
    assert codes.shape == (5000, len(DOMAIN))
    table = np.zeros((4, 3))
    np.add.at(table, (codes[:, 0], codes[:, 1]), 1)
    share = model.marginal(("a", "b")) / model.total
    # rounding and sampling 5000 rows: each cell within five standard deviations of a binomial
    assert (np.abs(table / 5000 - share) <= 5 * np.sqrt(share / 5000) + 1 / 5000).all()


@ALL
@RELATIONS
def test_every_selection_is_told_with_all_that_error_bounds_need(name: str, relation: str) -> None:
    done = run(name, PAIRS, 0.05, relation)
    finished = done.finished
    selected = [event for event in done.kernel.events if isinstance(event, Selection)]
    assert [s.eps for s in finished.selections] == [event.eps for event in selected]
    assert {id(s.measurement) for s in finished.selections} <= {id(e.measurement) for e in done.events if isinstance(e, Measured)}
    for selection in finished.selections:
        assert selection.chosen.answer.shape == DOMAIN.sizes(selection.measurement.clique)
        assert selection.sensitivity >= selection.chosen.weight * done.kernel.unit.marginal_l1
    assert {s.measurement.clique for s in finished.selections} <= set(finished.considered)
    assert all(0 <= last < len(selected) and seen.answer.shape == DOMAIN.sizes(c) for c, (last, seen) in finished.considered.items())


@CHOOSING
@pytest.mark.parametrize("cells", [24, 30, 60])
def test_the_model_never_outgrows_its_capacity(name: str, cells: int) -> None:
    """24 cells: the largest pair, or two small ones; 15 are the columns alone, 144 everything."""
    sizes = DOMAIN.sizes(DOMAIN.names)
    done = run(name, PAIRS, 0.5, max_size_mb=cells * 8 / 1e6)
    assert junction_tree([mask_of(labels_of(DOMAIN, clique)) for clique in measured(done)], sizes).cells(sizes) <= cells
    assert done.kernel.rho_spent == pytest.approx(0.5, rel=1e-8)


@ALL
def test_columns_that_do_not_fit_are_refused_before_anything_is_spent(name: str) -> None:
    wide = Domain.from_json({"a": 100_000, "b": 3})
    forecast = configured(get(name), {"max_size_mb": 0.1}).forecast(all_kway(wide, 1), 0.01)
    assert not forecast.fits
    assert "max_size_mb" in forecast.reason


@ALL
def test_a_column_of_one_value_does_no_harm(name: str) -> None:
    domain = Domain.from_json({"a": 4, "one": 1, "b": 3})
    assert get(name).forecast(all_kway(domain, 2), 0.01).fits


def test_a_larger_capacity_is_never_less_willing() -> None:
    asked = [((), ("a", "c")), ([("a", "b"), ("b", "c")], ("a", "c")), ([("a", "b")], ("c", "d")), ([("a", "c")], ("a",))]
    for present, candidate in asked:
        allowed = [Capacity(DOMAIN, cells * 8 / 1e6).allows(present, candidate) for cells in range(10, 160, 10)]
        assert allowed == sorted(allowed)


def test_a_subset_of_what_is_measured_always_fits() -> None:
    assert Capacity(DOMAIN, 1e-6).allows([("a", "b", "c")], ("a", "c"))


def test_a_selection_of_a_transcript_that_could_not_be_is_refused() -> None:
    answers = {(name,): np.zeros(DOMAIN.sizes((name,))) for name in "abc"}
    kernel = SimpleNamespace(select_offered_marginal=lambda *_: ("a", "b"), unit=Unit())
    selecting = Selecting(kernel, answers, dict.fromkeys(answers, 1.0), dict.fromkeys(answers, 0.0), 1.0)
    with pytest.raises(InputError, match="could not be"):
        selecting.draw(np.ones(3, dtype=bool))


def test_what_is_believed_of_a_column_takes_the_place_of_its_measurement() -> None:
    """And is weighed against what is measured of the column later. The number of rows follows from measurements alone."""
    first = Measurement(("a",), np.array([100.0, 300.0, 600.0]), 10.0)
    later = Measurement(("a",), np.array([260.0, 340.0, 400.0]), 10.0)
    believed = MarginalCounts(("a",), np.array([200.0, 300.0, 500.0]), np.full(3, 300.0))
    columns = Columns((believed,), (first,))
    domain = Domain((Attribute.coded("a", 3),))
    kernel = PrivacyKernel(ArraySource(domain, np.zeros((5, 1), dtype=np.int32)), Unit(), 1.0, SeededNoise(1))
    alone = fit(kernel, [first], columns=columns)
    assert alone.total == pytest.approx(1000.0)
    assert alone.marginal(("a",)) == pytest.approx([200.0, 300.0, 500.0], abs=0.5)
    again = fit(kernel, [first, later], columns=columns)
    assert again.marginal(("a",)) == pytest.approx([245.0, 330.0, 425.0], abs=0.5)  # a quarter of the weight is the belief's


def test_a_pool_knows_which_tables_are_apart_as_the_rule_says() -> None:
    every = [clique for k in (1, 2, 3) for clique in all_kway(DOMAIN, k).weights]
    pool = Capacity(DOMAIN, 1.0).pool(every)
    for chosen in every:
        assert [clique for clique, left in zip(every, pool.unrelated(chosen), strict=True) if left] == unrelated_tables(chosen, every)
