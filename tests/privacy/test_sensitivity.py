"""The sensitivities that are charged, against every neighbour of small tables, found by brute force.

`GlassNoise` shows what the kernel would have protected and the scale it chose, on two neighbouring tables: the test does not
trust any formula of the kernel's.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations_with_replacement, product

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.privacy.events import Event, Gaussian, Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.unit import MOST_TIMES, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor
from dpsynth_core.vocabulary.workload import all_kway
from tests.offers import selected
from tests.privacy.tables import GlassNoise, table
from tests.tiers import examples

dp.enable_features("contrib")

DOMAIN = Domain.from_json({"a": 2, "b": 3})
CELLS = tuple(product(range(2), range(3)))
CLIQUES = (*all_kway(DOMAIN, 1).cliques, *all_kway(DOMAIN, 2).cliques)
ALL_UNITS = [Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 2)]
UNITS = pytest.mark.parametrize("unit", ALL_UNITS, ids=str)
ASKED = [*([clique] for clique in CLIQUES), [("a",), ("b",)], [("a", "b"), ("b",), ("a", "b")], [*CLIQUES]]
"""Marginals that are measured in one draw, one of them twice."""
CHARGED = [(unit, cliques) for unit in ALL_UNITS for cliques in (*ASKED, None) if cliques or not unit.total_is_public]
"""What a kernel charges for measuring: marginals, and the total (None) where it is secret."""

Row = tuple[int, ...]
People = tuple[tuple[Row, ...], ...]
"""One tuple of rows for each person."""


def belongings(rows: int) -> tuple[tuple[Row, ...], ...]:
    """All that one person can own: 1 to `rows` rows."""
    return tuple(chain.from_iterable(combinations_with_replacement(CELLS, k) for k in range(1, rows + 1)))


def neighbours(people: People, unit: Unit) -> Iterator[People]:
    for i in range(len(people)):
        others = people[:i] + people[i + 1 :]
        if unit.relation == "replace":
            yield from ((*others, owned) for owned in belongings(unit.max_rows_per_person))
        else:
            yield others
    if unit.relation == "add-remove":
        yield from ((*people, owned) for owned in belongings(unit.max_rows_per_person))


def kernel_and_glass(people: People, unit: Unit) -> tuple[PrivacyKernel, GlassNoise]:
    glass = GlassNoise()
    return PrivacyKernel(table(DOMAIN, list(chain.from_iterable(people))), unit, 1e3, glass), glass


def tables(unit: Unit) -> st.SearchStrategy[People]:
    return st.lists(st.sampled_from(belongings(unit.max_rows_per_person)), max_size=3).map(tuple)


def measured(people: People, unit: Unit, cliques: list[Clique] | None) -> tuple[np.ndarray, Event]:
    """What the noise was added to, and the charge, for marginals or (None) the total."""
    kernel, glass = kernel_and_glass(people, unit)
    _ = kernel.measure_total(1.0) if cliques is None else kernel.measure_marginals(cliques, 1.0)
    assert len(glass.seen) == len(kernel.events) == 1
    return glass.seen[0][0].ravel(), kernel.events[0]


def distances(unit: Unit, cliques: list[Clique] | None, people: People) -> Iterator[tuple[float, Event]]:
    here, event = measured(people, unit, cliques)
    for other in neighbours(people, unit):
        yield float(np.sum((here - measured(other, unit, cliques)[0]) ** 2)) ** 0.5, event


@pytest.mark.parametrize(("unit", "cliques"), CHARGED, ids=str)
def test_no_neighbour_is_further_than_a_measurement_is_charged_for(unit: Unit, cliques: list[Clique] | None) -> None:
    @given(tables(unit))
    @examples(15)
    def check(people: People) -> None:
        for distance, event in distances(unit, cliques, people):
            assert isinstance(event, Gaussian)
            assert distance <= event.l2 * (1 + 1e-15)  # `distance` itself is a rounded square root

    check()


@UNITS
@pytest.mark.parametrize("cliques", ASKED, ids=str)
def test_some_neighbour_is_as_far_as_a_measurement_is_charged_for(unit: Unit, cliques: list[Clique]) -> None:
    people = (((0, 0),) * unit.max_rows_per_person,)
    assert max(distance - event.l2 for distance, event in distances(unit, cliques, people)) == pytest.approx(0, abs=1e-15)


@UNITS
@pytest.mark.parametrize("clique", [("b2",), ("a", "b2")], ids=str)
def test_no_neighbour_is_further_in_a_table_over_groups_than_its_measurement_is_charged_for(unit: Unit, clique: Clique) -> None:
    @given(tables(unit))
    @examples(15)
    def check(people: People) -> None:
        here, event = measured_in_groups(people, unit, clique)
        assert isinstance(event, Gaussian)
        assert here.sum() == sum(map(len, people))
        for other in neighbours(people, unit):
            distance = float(np.sum((here - measured_in_groups(other, unit, clique)[0]) ** 2)) ** 0.5
            assert distance <= event.l2 * (1 + 1e-15)

    check()


def measured_in_groups(people: People, unit: Unit, clique: Clique) -> tuple[np.ndarray, Event]:
    kernel, glass = kernel_and_glass(people, unit)
    kernel.grouped([Groups("b2", "b", (0, 1, 0))]).measure_marginals([clique], 1.0)
    return glass.seen[0][0].ravel(), kernel.events[0]


@UNITS
def test_the_total_is_free_only_where_no_neighbour_differs_in_it(unit: Unit) -> None:
    people = (((0, 0),), ((1, 2),) * unit.max_rows_per_person)
    sizes = {sum(map(len, other)) for other in (people, *neighbours(people, unit))}
    assert unit.total_is_public == (len(sizes) == 1)


@UNITS
def test_the_l1_sensitivity_is_the_furthest_neighbour(unit: Unit) -> None:
    people = (((0, 0),) * unit.max_rows_per_person, ((1, 1),))
    here = measured(people, unit, [("a", "b")])[0]
    furthest = max(np.abs(here - measured(other, unit, [("a", "b")])[0]).sum() for other in neighbours(people, unit))
    assert furthest == unit.marginal_l1


answers = st.fixed_dictionaries(
    {
        clique: st.lists(st.floats(-2, 5), min_size=DOMAIN.cells(clique), max_size=DOMAIN.cells(clique)).map(
            lambda cells, clique=clique: np.array(cells).reshape(DOMAIN.sizes(clique))
        )
        for clique in CLIQUES
    }
)
weights = st.fixed_dictionaries({clique: st.floats(1e-3, 50) for clique in CLIQUES})
offsets = st.fixed_dictionaries({clique: st.floats(-10, 1e4) for clique in CLIQUES})


def scored(people: People, unit: Unit, given_answers: dict, given_weights: dict, given_offsets: dict) -> tuple[np.ndarray, float, Event]:
    """The integer scores that entered the noisy max, the Gumbel scale, and the charge."""
    kernel, glass = kernel_and_glass(people, unit)
    selected(kernel, given_answers, 0.7, given_weights, given_offsets)
    scores, scale = glass.seen[0]
    return scores, scale, kernel.events[0]


def opendp_price(difference: int, scale: float) -> float:
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return float(dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale).map(difference))


@UNITS
def test_no_neighbour_changes_a_score_by_more_than_a_selection_is_charged_for(unit: Unit) -> None:
    @given(tables(unit), answers, weights, offsets)
    @examples(25)
    def check(people: People, given_answers: dict, given_weights: dict, given_offsets: dict) -> None:
        here, scale, event = scored(people, unit, given_answers, given_weights, given_offsets)
        largest = 0
        for other in neighbours(people, unit):
            there, scale_there, _ = scored(other, unit, given_answers, given_weights, given_offsets)
            assert scale_there == scale  # the scale is public: it may not depend on the table
            largest = max(largest, int(np.abs(here - there).max()))
        assert event == Selection(0.7)
        assert opendp_price(largest, scale) <= event.rho * (1 + 1e-15)  # OpenDP rounds its own product up

    check()


@UNITS
def test_some_neighbour_changes_a_score_by_what_a_selection_is_charged_for(unit: Unit) -> None:
    people = (((0, 0),) * unit.max_rows_per_person,)
    # the only occupied cell is answered too high, all others too low: moving a row adds to the distance at both ends
    candidate = {("a", "b"): np.full((2, 3), -1.0) + np.eye(2, 3) * 5}, {("a", "b"): 3.0}, {("a", "b"): 1.0}
    here, scale, event = scored(people, unit, *candidate)
    furthest = max(int(np.abs(here - scored(other, unit, *candidate)[0]).max()) for other in neighbours(people, unit))
    assert opendp_price(furthest, scale) == pytest.approx(event.rho, rel=1e-12)  # rounding of the price only


def error_steps(people: People, unit: Unit, given_answers: dict) -> tuple[np.ndarray, float, Event]:
    """The whole numbers that noise was added to when all errors were measured at once, the noise's width, and the charge."""
    kernel, glass = kernel_and_glass(people, unit)
    kernel.measure_errors(given_answers, 1.0)
    return *glass.seen[0], kernel.events[0]


def furthest_errors(people: People, unit: Unit, given_answers: dict) -> tuple[float, Event]:
    """The L2 distance of the errors to those of the furthest neighbour, in units of sigma, and the charge for sigma = 1."""
    here, width, event = error_steps(people, unit, given_answers)
    there = [error_steps(other, unit, given_answers) for other in neighbours(people, unit)]
    assert all(same == width for _, same, _ in there)  # the width is public
    return max((float(np.linalg.norm(here - steps)) / width for steps, _, _ in there), default=0.0), event


@UNITS
def test_no_neighbour_changes_errors_by_more_than_they_are_charged_for(unit: Unit) -> None:
    @given(tables(unit), answers)
    @examples(25)
    def check(people: People, given_answers: dict) -> None:
        distance, event = furthest_errors(people, unit, given_answers)
        assert isinstance(event, Gaussian)
        assert distance <= event.l2 * (1 + 1e-15)  # `distance` itself is a rounded square root

    check()


@UNITS
def test_some_neighbour_changes_errors_by_what_they_are_charged_for(unit: Unit) -> None:
    people = (((0, 0),) * unit.max_rows_per_person,)
    # every marginal is answered too high where the person is and too low elsewhere: moving adds to each distance at both ends
    wrong = {clique: np.where(np.indices(DOMAIN.sizes(clique)).sum(axis=0) == 0, 9.0, -9.0) for clique in CLIQUES}
    distance, event = furthest_errors(people, unit, wrong)
    assert distance == pytest.approx(event.l2, rel=1e-15)


def largest_range(people: People, unit: Unit, columns: Clique, given_answers: dict) -> tuple[float, Event]:
    """The whole number that noise was added to, in units of sigma, and the charge for sigma = 1."""
    kernel, glass = kernel_and_glass(people, unit)
    kernel.measure_largest_range({r: table for r, table in given_answers.items() if set(columns) & set(r)}, columns, 1.0)
    numbers, width = glass.seen[0]
    return float(numbers[0]) / width, kernel.events[0]


@UNITS
@pytest.mark.parametrize("columns", [("b",), ("a", "b")], ids=str)
def test_no_neighbour_moves_the_largest_range_by_more_than_it_is_charged_for(unit: Unit, columns: Clique) -> None:
    @given(tables(unit), answers)
    @examples(25)
    def check(people: People, given_answers: dict) -> None:
        here, event = largest_range(people, unit, columns, given_answers)
        assert isinstance(event, Gaussian)
        assert all(abs(here - largest_range(other, unit, columns, given_answers)[0]) <= event.l2 for other in neighbours(people, unit))

    check()


@UNITS
def test_some_neighbour_moves_the_largest_range_by_what_it_is_charged_for(unit: Unit) -> None:
    """Far too few people are stated of one end of a column, and far too many of the other: who is in the range from the one end on."""
    people = (((0, 0),) * unit.max_rows_per_person, ((0, 1),) * unit.max_rows_per_person)
    stated = {("b",): np.array([9.0, -9.0, -9.0])}
    here, event = largest_range(people, unit, ("b",), stated)
    assert isinstance(event, Gaussian)
    furthest = max(abs(here - largest_range(other, unit, ("b",), stated)[0]) for other in neighbours(people, unit))
    assert furthest == event.l2


def ranked_steps(people: People, unit: Unit, given_answers: dict, rank: int) -> tuple[int, float, Event]:
    kernel, glass = kernel_and_glass(people, unit)
    kernel.measure_ranked_error(given_answers, rank, 1.0)
    (steps,), width = glass.seen[0]
    return int(steps), width, kernel.events[0]


@UNITS
@pytest.mark.parametrize("rank", range(1, len(CLIQUES) + 1))
def test_no_neighbour_changes_a_ranked_error_by_more_than_it_is_charged_for(unit: Unit, rank: int) -> None:
    @given(tables(unit), answers)
    @examples(15)
    def check(people: People, given_answers: dict) -> None:
        here, width, event = ranked_steps(people, unit, given_answers, rank)
        assert isinstance(event, Gaussian)
        for other in neighbours(people, unit):
            there, same, _ = ranked_steps(other, unit, given_answers, rank)
            assert same == width  # the width is public
            assert abs(here - there) <= event.l2 * width

    check()


@UNITS
@pytest.mark.parametrize("rank", range(1, len(CLIQUES) + 1))
def test_some_neighbour_changes_it_by_what_it_is_charged_for(unit: Unit, rank: int) -> None:
    people = (((0, 0),) * unit.max_rows_per_person,)
    # as in the test of all errors: moving adds to each distance at both ends, and so to each rank
    wrong = {clique: np.where(np.indices(DOMAIN.sizes(clique)).sum(axis=0) == 0, 9.0, -9.0) for clique in CLIQUES}
    here, width, event = ranked_steps(people, unit, wrong, rank)
    assert isinstance(event, Gaussian)
    assert max(abs(here - ranked_steps(other, unit, wrong, rank)[0]) for other in neighbours(people, unit)) == event.l2 * width


LOOKING = Additive(np.zeros(2, dtype=np.int64), {"b": np.array([[1, 0], [0, 1], [1, 0]])})
GUESSES = [
    Predictor("a", LOOKING, Largest(np.arange(2))),
    Predictor("b", Additive(np.array([0, 0, 1]), {}), Largest(np.arange(3))),
    Predictor("a", Additive(np.array([1, 0]), {}), Largest(np.arange(2))),
]


def right(people: People, unit: Unit, predictors: list[Predictor]) -> tuple[np.ndarray, Event]:
    kernel, glass = kernel_and_glass(people, unit)
    kernel.measure_right(predictors, 1.0)
    return glass.seen[0][0], kernel.events[0]


@UNITS
def test_no_neighbour_changes_how_many_predictors_are_right_about_by_more_than_is_charged_for(unit: Unit) -> None:
    @given(tables(unit))
    @examples(15)
    def check(people: People) -> None:
        here, event = right(people, unit, GUESSES)
        assert isinstance(event, Gaussian)
        assert all(np.linalg.norm(here - right(other, unit, GUESSES)[0]) <= event.l2 for other in neighbours(people, unit))

    check()


@UNITS
def test_some_neighbour_changes_them_by_what_is_charged_for(unit: Unit) -> None:
    people = (((0, 0),) * unit.max_rows_per_person,)
    alike = [GUESSES[0]] * 3
    here, event = right(people, unit, alike)
    furthest = max(np.linalg.norm(here - right(other, unit, alike)[0]) for other in neighbours(people, unit))
    assert isinstance(event, Gaussian)
    assert furthest == pytest.approx(event.l2, rel=1e-15)


def summed(people: People, unit: Unit, weights: np.ndarray) -> tuple[float, Event]:
    """The whole number that noise was added to when a sum was measured, in units of sigma, and the charge for sigma = 1."""
    kernel, glass = kernel_and_glass(people, unit)
    kernel.measure_sum(("a", "b"), weights, min(0.0, float(weights.min())), max(0.0, float(weights.max())), 1.0)
    steps, width = glass.seen[0]
    return float(steps[0]) / width, kernel.events[0]


@UNITS
def test_no_neighbour_moves_a_sum_by_more_than_it_is_charged_for_and_one_by_as_much(unit: Unit) -> None:
    """Every pair of belongings: the weights are such that the smallest and the largest differ in size and sign."""
    weights = np.array([[-0.3, 0.1, 0.7], [0.0, 1.0, -0.45]])
    furthest = 0.0
    for owned in belongings(unit.max_rows_per_person):
        people = (owned, ((0, 0),))
        here, event = summed(people, unit, weights)
        assert isinstance(event, Gaussian)
        distances_here = [abs(here - summed(other, unit, weights)[0]) for other in neighbours(people, unit)]
        assert max(distances_here) <= event.l2 * (1 + 1e-15)
        furthest = max(furthest, *distances_here)
    assert furthest == pytest.approx(event.l2, rel=1e-5)  # weights are rounded to 2^-20


TIMES = np.array([0, 3, 1])
"""How often records count, by their cell of b."""


def weighted_steps(people: People, unit: Unit, operation: str) -> tuple[np.ndarray, float, Event]:
    """What noise was added to where records count as often as `TIMES` says, the noise's width, and the charge."""
    kernel, glass = kernel_and_glass(people, unit)
    weighted = kernel.weighted("b", TIMES)
    if operation == "marginal":
        weighted.measure_marginals([("a",)], 1.0)[0]
    elif operation == "total":
        weighted.measure_total(1.0)
    elif operation == "errors":
        weighted.measure_errors({("a",): np.array([9.0, -9.0]), ("a", "b"): np.full((2, 3), 0.5)}, 1.0)
    else:
        weighted.among({"a": (1,)}).measure_sum(("a", "b"), np.array([[-0.3, 0.1, 0.7], [0.0, 1.0, -0.45]]), -0.45, 1.0, 1.0)
    return *glass.seen[0], kernel.events[0]


@UNITS
@pytest.mark.parametrize("operation", ["marginal", "total", "errors", "sum of a group"])
def test_no_neighbour_changes_weighted_records_by_more_than_is_charged_for(unit: Unit, operation: str) -> None:
    """Every pair of belongings; the total and the marginal move by all that is charged for, in every unit but where people are replaced by
    people with as many records."""
    furthest = 0.0
    for owned in belongings(unit.max_rows_per_person):
        people = (owned, ((0, 0), (1, 2))[: unit.max_rows_per_person])
        here, width, event = weighted_steps(people, unit, operation)
        assert isinstance(event, Gaussian)
        there = [weighted_steps(other, unit, operation) for other in neighbours(people, unit)]
        distances = [float(np.linalg.norm((here - steps).ravel())) / width for steps, _, _ in there]
        assert max(distances) <= event.l2 * (1 + 1e-15)
        furthest = max(furthest, *distances)
    if operation in ("marginal", "total"):
        assert furthest == pytest.approx(event.l2)


def test_records_count_whole_times_whatever_is_given() -> None:
    """A kernel takes nothing on trust: no record counts less than 0 times, or more often than the unit allows."""
    people: People = (((0, 0),), ((1, 2),))
    kernel, glass = kernel_and_glass(people, Unit())
    kernel.weighted("b", np.array([-5.7, 0.0, 1e9])).measure_marginals([("a",)], MOST_TIMES)[0]
    assert glass.seen[0][0].tolist() == [0, MOST_TIMES]
    assert kernel.events[0].l2 == MOST_TIMES


def error_steps_of_a_group(people: People, unit: Unit) -> tuple[np.ndarray, float, Event]:
    kernel, glass = kernel_and_glass(people, unit)
    kernel.among({"b": (0, 2)}).measure_errors({("a",): np.array([9.0, -9.0]), ("a", "b"): np.full((2, 3), 0.5)}, 1.0)
    return *glass.seen[0], kernel.events[0]


@UNITS
def test_no_neighbour_changes_errors_of_a_group_by_more_than_those_of_everybody_are_charged_for(unit: Unit) -> None:
    for owned in belongings(unit.max_rows_per_person):
        people = (owned, ((0, 0), (1, 2))[: unit.max_rows_per_person])
        here, width, event = error_steps_of_a_group(people, unit)
        assert isinstance(event, Gaussian)
        for other in neighbours(people, unit):
            assert np.linalg.norm(here - error_steps_of_a_group(other, unit)[0]) / width <= event.l2 * (1 + 1e-15)


def test_a_group_is_counted_as_its_records_are_and_its_size_is_secret() -> None:
    people = (((0, 0),), ((0, 1),), ((1, 2),), ((1, 2),))
    kernel, glass = kernel_and_glass(people, Unit("replace"))
    group = kernel.among({"b": (0, 2)})
    assert group.measure_marginals([("a",)], 1.0)[0].values.tolist() == [1.0, 2.0]
    group.measure_total(1.0)
    assert len(kernel.events) == 2
    assert [value.tolist() for value, _ in glass.seen] == [[1, 2], [3]]
