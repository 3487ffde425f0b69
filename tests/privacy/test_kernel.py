"""The kernel: charges first, reads then, answers with the stated distribution. What one person can change is in test_sensitivity."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import FrozenInstanceError
from itertools import compress
from typing import Any

import numpy as np
import pytest

from dpsynth_core.foundation.errors import BudgetExceeded, InputError
from dpsynth_core.privacy import kernel as kernel_module
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.operation import Asked, operation
from dpsynth_core.privacy.registry import everything
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Noise, View
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor
from dpsynth_core.vocabulary.workload import all_kway
from tests.additions import added
from tests.offers import offered, selected
from tests.privacy.tables import FALSE_ALARM, ArraySource, GlassNoise, frequency_p_value, p_value, rounded_normal, table
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 4, "b": 3, "c": 5})
SOURCES = pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(30)], ids=["opendp", "seeded"])
RELATIONS = pytest.mark.parametrize("relation", ["add-remove", "replace"])
PAIRS = all_kway(DOMAIN, 2).cliques


def people(count: int = 500) -> ArraySource:
    rng = np.random.default_rng(31)
    return table(DOMAIN, [tuple(map(int, rng.integers(0, DOMAIN.sizes(DOMAIN.names)))) for _ in range(count)])


def kernel_of(
    source: ArraySource, rho: float = 1e6, relation: str = "add-remove", noise: Noise | None = None, rows: int = 1
) -> PrivacyKernel:
    return PrivacyKernel(source, Unit(relation, rows), rho, noise or GlassNoise())


def zeros(cliques: Collection[Clique] = PAIRS) -> dict[Clique, np.ndarray]:
    return {clique: np.zeros(DOMAIN.sizes(clique)) for clique in cliques}


def select(kernel: PrivacyKernel, eps: float, cliques: Collection[Clique] = PAIRS) -> Clique:
    return selected(kernel, zeros(cliques), eps)


class BrokenSource(ArraySource):
    def counts(self, cliques: Collection[Clique]) -> dict[Clique, np.ndarray]:  # noqa: ARG002
        raise OSError("the disk is gone")

    def right(self, predictors: Sequence[Predictor]) -> np.ndarray:  # noqa: ARG002
        raise OSError("the disk is gone")


GUESSES = [Predictor("a", Additive(np.eye(4, dtype=np.int64)[code], {}), Largest(np.arange(4))) for code in range(3)]
FOREIGNER = Predictor("z", Additive(np.zeros(2, dtype=np.int64), {}), Largest(np.arange(2)))

OPERATIONS = pytest.mark.parametrize(
    ("operate", "rho"),
    [
        (lambda kernel: kernel.measure_marginals([("a", "b")], 2.0)[0], 1 / 8),
        (lambda kernel: kernel.measure_total(5.0), 1 / 50),
        (lambda kernel: select(kernel, 0.4), 0.16 / 8),
        (lambda kernel: kernel.measure_errors(zeros(), 6.0), 3 / 72),
        (lambda kernel: kernel.measure_largest_error(zeros(), 6.0), 1 / 72),
        (lambda kernel: kernel.measure_largest_error(zeros(), 6.0, 1), 1 / 72),
        (lambda kernel: kernel.measure_largest_range(zeros(), ("a", "b"), 6.0), 1 / 72),
        (lambda kernel: kernel.measure_right(GUESSES, 6.0), 3 / 72),
        (lambda kernel: kernel.measure_ranked_error(zeros(), 2, 6.0), 1 / 72),
        (lambda kernel: kernel.measure_sum(("a",), np.array([-0.5, 0.0, 0.25, 0.25]), -0.5, 0.25, 6.0), 0.25 / 72),
        *(case for module in added("privacy.kernel_cases") for case in module.OPERATIONS.values()),
    ],
    ids=[
        *("measure_marginals", "measure_total", "select", "measure_errors"),
        *("measure_largest_error", "measure_largest_error_of_thresholds"),
        "measure_largest_range",
        "measure_right",
        "measure_ranked_error",
        "measure_sum",
        *(name for module in added("privacy.kernel_cases") for name in module.OPERATIONS),
    ],
)


# Charging


@OPERATIONS
def test_an_operation_costs_what_its_formula_says(operate, rho: float) -> None:
    kernel = kernel_of(people())
    operate(kernel)
    assert kernel.rho_spent == pytest.approx(rho, rel=1e-15)
    assert len(kernel.events) == 1


@OPERATIONS
def test_an_operation_over_budget_is_refused_without_touching_the_table(operate, rho: float) -> None:
    source = people()
    kernel = kernel_of(source, rho=rho * 0.999)
    refused(operate, kernel, kind=BudgetExceeded)
    assert source.passes == []
    assert kernel.rho_spent == 0
    assert kernel.events == ()


@OPERATIONS
def test_an_operation_is_charged_before_the_table_is_read(operate, rho: float) -> None:
    kernel = kernel_of(BrokenSource(DOMAIN, np.zeros((0, 3), dtype=np.int32)))
    with pytest.raises(OSError, match="disk"):
        operate(kernel)
    assert kernel.rho_spent == pytest.approx(rho)


@OPERATIONS
def test_an_operation_whose_noise_fails_stays_charged(operate, rho: float) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("no randomness")

    noise = GlassNoise()
    noise.gaussian = noise.noisy_max = noise.bernoulli_exp = noise.uniform = fail
    kernel = kernel_of(people(), noise=noise)
    with pytest.raises(RuntimeError, match="randomness"):
        operate(kernel)
    assert kernel.rho_spent == pytest.approx(rho)


def test_replacing_a_record_costs_twice_as_much_per_measurement_and_the_same_per_selection() -> None:
    kernel = kernel_of(people(), relation="replace")
    kernel.measure_marginals([("a",)], 2.0)[0]
    select(kernel, 0.4)
    assert [event.rho for event in kernel.events] == pytest.approx([1 / 4, 0.16 / 8], rel=1e-15)
    assert isinstance(kernel.events[1], Selection)


def test_several_rows_per_person_cost_their_square() -> None:
    kernel = kernel_of(people(), rows=3)
    kernel.measure_marginals([("a",)], 2.0)[0]
    kernel.measure_total(2.0)
    assert kernel.events == (Gaussian(2.0, 3.0), Gaussian(2.0, 3.0))


def test_preparing_costs_nothing() -> None:
    kernel = kernel_of(people())
    kernel.prepare(PAIRS)
    assert kernel.rho_spent == 0


@pytest.mark.parametrize("rows", [1, 2])
@RELATIONS
def test_the_total_is_exact_and_free_only_when_it_is_public(relation: str, rows: int) -> None:
    kernel = kernel_of(people(500), relation=relation, rows=rows, noise=SeededNoise(32))
    totals = {kernel.measure_total(40.0) for _ in range(5)}
    assert (totals == {500.0}) == (kernel.rho_spent == 0) == kernel.unit.total_is_public == (relation == "replace" and rows == 1)


@pytest.mark.parametrize(
    "misuse",
    [
        lambda kernel: kernel.measure_marginals([("b", "a")], 1.0)[0],
        lambda kernel: kernel.measure_marginals([()], 1.0)[0],
        lambda kernel: kernel.measure_marginals([("z",)], 1.0)[0],
        lambda kernel: kernel.measure_marginals([("a",)], 0.0)[0],
        lambda kernel: kernel.measure_marginals([("a",)], math.nan)[0],
        lambda kernel: kernel.measure_marginals([("a",)], -1.0)[0],
        lambda kernel: kernel.measure_total(-1.0),
        lambda kernel: select(kernel, 0.0),
        lambda kernel: select(kernel, math.nan),
        lambda kernel: select(kernel, 1.0, ()),
        lambda kernel: kernel.measure_errors({}, 1.0),
        lambda kernel: kernel.measure_errors(zeros(), 0.0),
        lambda kernel: kernel.measure_errors({("a",): np.zeros(3)}, 1.0),
        lambda kernel: kernel.measure_errors({("b", "a"): np.zeros((3, 4))}, 1.0),
        lambda kernel: kernel.measure_errors(zeros() | {("a", "b"): np.full((4, 3), np.nan)}, 1.0),
        lambda kernel: kernel.measure_right([], 1.0),
        lambda kernel: kernel.measure_right(GUESSES, 0.0),
        lambda kernel: kernel.measure_right([FOREIGNER], 1.0),
        lambda kernel: kernel.measure_sum(("a",), np.ones(4), 0.0, 0.5, 1.0),
        lambda kernel: kernel.measure_sum(("a",), np.ones(4), 0.0, 1.5, 1.0),
        lambda kernel: kernel.measure_sum(("a",), np.ones(4), 0.5, 1.0, 1.0),
        lambda kernel: kernel.measure_sum(("a",), np.zeros(4), 0.0, 0.0, 1.0),
        lambda kernel: kernel.measure_sum(("a",), np.ones(3), 0.0, 1.0, 1.0),
        lambda kernel: kernel.measure_sum(("a",), np.full(4, np.nan), 0.0, 1.0, 1.0),
        lambda kernel: kernel.measure_sum(("a",), np.ones(4), 0.0, 1.0, 0.0),
        lambda kernel: kernel.measure_largest_range({}, ("a",), 1.0),
        lambda kernel: kernel.measure_largest_range(zeros(), ("a", "b"), 0.0),
        lambda kernel: kernel.measure_largest_range(zeros(), (), 1.0),
        lambda kernel: kernel.measure_largest_range({("b",): np.zeros(3)}, ("a",), 1.0),
        lambda kernel: kernel.measure_largest_range({("a",): np.zeros(3)}, ("a",), 1.0),
        lambda kernel: kernel.measure_largest_range(zeros(), ("nobody",), 1.0),
        lambda kernel: kernel.measure_ranked_error(zeros(), 0, 1.0),
        lambda kernel: kernel.measure_ranked_error(zeros(), 4, 1.0),
        lambda kernel: kernel.measure_ranked_error(zeros(), 1, 0.0),
        lambda kernel: kernel.measure_ranked_error({("a",): np.zeros(3)}, 1, 1.0),
        lambda kernel: kernel.measure_ranked_error(zeros() | {("a", "b"): np.full((4, 3), np.nan)}, 1, 1.0),
        lambda kernel: kernel.measure_largest_error({}, 1.0),
        lambda kernel: kernel.measure_largest_error(zeros(), 0.0),
        lambda kernel: kernel.measure_largest_error(zeros(), 1.0, 3),
        lambda kernel: kernel.measure_largest_error({("a",): np.zeros(3)}, 1.0),
        lambda kernel: kernel.measure_largest_error(zeros() | {("a", "b"): np.full((4, 3), np.nan)}, 1.0),
        lambda kernel: selected(kernel, {("a",): np.zeros(3)}, 1.0),
        lambda kernel: selected(kernel, {("a",): np.full(4, np.nan)}, 1.0),
        lambda kernel: selected(kernel, zeros(), 1.0, dict.fromkeys(PAIRS, -1.0)),
        lambda kernel: selected(kernel, zeros(), 1.0, offsets=dict.fromkeys(PAIRS, np.inf)),
        lambda kernel: selected(kernel, zeros(), 0.0),
        *(misuse for module in added("privacy.kernel_cases") for misuse in module.MISUSES),
    ],
)
def test_a_misused_operation_costs_nothing_and_reads_nothing(misuse) -> None:
    source = people()
    kernel = kernel_of(source)
    with pytest.raises((ValueError, InputError)):
        misuse(kernel)
    assert kernel.rho_spent == 0
    assert source.passes == []


# Answers


def test_a_measurement_is_the_marginal_plus_noise() -> None:
    source = people()
    exact = source.counts([("a", "c")])[("a", "c")]
    measurement = kernel_of(source).measure_marginals([("a", "c")], 3.0)[0]
    assert np.array_equal(measurement.values, exact)  # GlassNoise adds nothing
    assert (measurement.clique, measurement.sigma, measurement.values.dtype) == (("a", "c"), 3.0, np.dtype(np.float64))


def test_measuring_again_draws_fresh_noise_around_the_same_counts() -> None:
    kernel = kernel_of(people(), noise=SeededNoise(33))
    first, second = (kernel.measure_marginals([("a", "b")], 50.0)[0].values for _ in range(2))
    assert not np.array_equal(first, second)
    assert np.abs(first - second).max() < 50 * 12


@SOURCES
@RELATIONS
def test_measured_marginals_have_rounded_normal_noise_of_sigma(noise: Noise, relation: str) -> None:
    source = people()
    exact = source.counts([("a", "b", "c")])[("a", "b", "c")]
    kernel = kernel_of(source, relation=relation, noise=noise)
    drawn = np.concatenate([(kernel.measure_marginals([("a", "b", "c")], 4.0)[0].values - exact).ravel() for _ in range(500)])
    assert p_value(drawn.astype(np.int64), rounded_normal(4.0), 50) > FALSE_ALARM


@SOURCES
def test_measured_totals_have_rounded_normal_noise_of_sigma(noise: Noise) -> None:
    kernel = kernel_of(people(500), noise=noise)
    drawn = np.array([kernel.measure_total(3.0) - 500 for _ in range(8_000)])
    assert p_value(drawn.astype(np.int64), rounded_normal(3.0), 40) > FALSE_ALARM


@SOURCES
@RELATIONS
def test_selections_have_the_probabilities_of_the_exponential_mechanism(noise: Noise, relation: str) -> None:
    source = people(60)
    rng = np.random.default_rng(34)
    cliques = tuple(all_kway(DOMAIN, 1).cliques) + PAIRS
    among = np.array([clique != ("b",) for clique in cliques])
    answers = {clique: rng.uniform(0, 2 * 60 / DOMAIN.cells(clique), DOMAIN.sizes(clique)) for clique in cliques}
    weights = {clique: float(len(clique)) for clique in cliques}
    offsets = {clique: 0.3 * DOMAIN.cells(clique) for clique in cliques}
    eps = 0.15 if relation == "add-remove" else 0.3
    true = source.counts(cliques)
    scores = np.array([weights[c] * (np.abs(true[c] - answers[c]).sum() - offsets[c]) for c in cliques])[among]
    sensitivity = max(weights.values()) * (1 if relation == "add-remove" else 2)
    probabilities = np.exp(eps * (scores - scores.max()) / (2 * sensitivity))
    kernel = kernel_of(source, relation=relation, noise=noise)
    named, offer = list(compress(cliques, among)), offered(answers, weights, offsets)
    drawn = [named.index(kernel.select_offered_marginal(offer, eps, among)) for _ in range(6_000)]
    # the grid of the scores moves these probabilities by a relative 1e-5: invisible in 6,000 draws
    assert frequency_p_value(drawn, probabilities / probabilities.sum()) > FALSE_ALARM


def test_selections_of_an_offer_are_those_among_its_answers() -> None:
    """They are compared once, also where others were offered in between; what was offered stays as it was."""
    rng = np.random.default_rng(3)
    tables = [{r: rng.normal(2.0, 3.0, DOMAIN.sizes(r)) for r in PAIRS} for _ in range(2)]
    copies, offers = [{r: answer.copy() for r, answer in answers.items()} for answers in tables], list(map(offered, tables))
    for answer in (answer for answers in tables for answer in answers.values()):
        answer[:] = 1e6
    once, always = (kernel_of(people(), noise=SeededNoise(4)) for _ in range(2))
    for number, among in ((0, [1, 1, 1]), (0, [0, 1, 1]), (1, [1, 1, 0]), (1, [1, 1, 1]), (0, [1, 0, 1])):
        chosen = once.select_offered_marginal(offers[number], 3.0, np.array(among, dtype=bool))
        some = dict(compress(copies[number].items(), among))
        assert chosen == selected(always, some, 3.0)


@pytest.mark.parametrize("name", ["cliques", "tables", "weights", "offsets"])
def test_what_is_offered_takes_no_other_arrays(name: str) -> None:
    """A draw scales its noise by the weights, and the scores are kept from the first draw."""
    offer = offered(zeros())
    with pytest.raises(FrozenInstanceError):
        setattr(offer, name, getattr(offered(zeros()), name))
    with pytest.raises(FrozenInstanceError):
        delattr(offer, name)
    for array in (offer.weights, offer.offsets, *offer.tables):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True


@pytest.mark.parametrize("among", [np.zeros(3, dtype=bool), np.ones(2, dtype=bool)], ids=["none", "too few"])
def test_nothing_is_charged_for_a_selection_among_nothing(among: np.ndarray) -> None:
    kernel = kernel_of(people())
    with pytest.raises(ValueError, match="among one or more"):
        kernel.select_offered_marginal(offered(zeros()), 1.0, among)
    assert kernel.events == ()


def test_at_a_large_eps_the_worst_marginal_wins() -> None:
    kernel = kernel_of(people(), noise=SeededNoise(35))
    answers = people().counts(PAIRS)
    wrong = {clique: table_.astype(float) for clique, table_ in answers.items()}
    wrong[("a", "c")] = wrong[("a", "c")][::-1]
    assert selected(kernel, wrong, 100.0) == ("a", "c")


def test_offsets_and_weights_are_part_of_the_score() -> None:
    kernel = kernel_of(people())  # GlassNoise: the largest score wins
    assert selected(kernel, zeros(), 1.0, dict.fromkeys(PAIRS, 1.0) | {("b", "c"): 2.0}) == ("b", "c")
    assert selected(kernel, zeros(), 1.0, offsets=dict.fromkeys(PAIRS, 9.0) | {("a", "c"): 0.0}) == ("a", "c")


def test_measured_errors_are_l1_distances_plus_noise() -> None:
    source, rng = people(), np.random.default_rng(36)
    answers = {clique: np.round(rng.uniform(-3, 90, DOMAIN.sizes(clique)), 2) for clique in PAIRS}
    errors = kernel_of(source).measure_errors(answers, 3.0)  # GlassNoise adds nothing
    true = {clique: np.abs(source.counts([clique])[clique] - answer).sum() for clique, answer in answers.items()}
    assert list(errors) == list(PAIRS)
    # answers are rounded to 2^-14 people, 2^-15 off at most in each of up to 20 cells
    assert errors == pytest.approx(true, abs=20 * 2**-15)


def test_a_ranked_error_is_the_one_at_its_place() -> None:
    source, rng = people(), np.random.default_rng(41)
    answers = {clique: np.round(rng.uniform(-3, 90, DOMAIN.sizes(clique)), 2) for clique in PAIRS}
    errors = sorted(kernel_of(source).measure_errors(answers, 3.0).values())  # GlassNoise adds nothing
    assert [kernel_of(source).measure_ranked_error(answers, rank, 3.0) for rank in (1, 2, 3)] == errors


@SOURCES
def test_measured_errors_have_independent_rounded_normal_noise_of_sigma_on_their_grid(noise: Noise) -> None:
    source = people(60)
    kernel = kernel_of(source, rho=1e12, noise=noise)
    exact = np.array([source.counts([clique])[clique].sum() for clique in PAIRS])
    sigma = 4 / COUNT_STEPS  # so narrow that steps of the grid show
    drawn = np.array([list(kernel.measure_errors(zeros(), sigma).values()) for _ in range(3_000)]) - exact
    steps = drawn * COUNT_STEPS
    assert np.array_equal(steps, np.rint(steps))
    assert p_value(steps.ravel().astype(np.int64), rounded_normal(4.0), 50) > FALSE_ALARM
    # Correlations of 3,000 independent pairs are normal with standard deviation 1/sqrt(3000); 5 of them are exceeded once in 1.7e6.
    assert np.abs(np.corrcoef(steps.T)[np.triu_indices(3, 1)]).max() < 5 / math.sqrt(3_000)


# Parts


def test_a_seed_costs_nothing_reads_nothing_and_is_new_each_time() -> None:
    source = people()
    kernel = PrivacyKernel(source, Unit(), 1.0, OpenDPNoise())
    seeds = {kernel.seed() for _ in range(10)}
    assert len(seeds) == 10
    assert (kernel.events, source.passes) == ((), [])


def test_a_seed_is_repeatable_where_the_noise_is() -> None:
    assert len({PrivacyKernel(people(), Unit(), 1.0, SeededNoise(5)).seed() for _ in range(3)}) == 1


def test_a_part_spends_its_share_and_no_more() -> None:
    source = people()
    kernel = kernel_of(source, rho=1.0)
    part = kernel.part(0.75)
    part.measure_marginals([("a",)], 1 / math.sqrt(2 * part.rho_left))[0]
    assert part.rho_total == part.rho_spent == pytest.approx(0.75)
    assert kernel.rho_left == pytest.approx(0.25)
    passes = len(source.passes)
    refused(part.measure_marginals, [("b",)], 10.0, kind=BudgetExceeded)
    assert len(source.passes) == passes
    assert kernel.events == part.events


def test_what_a_part_may_not_spend_is_there_afterwards() -> None:
    kernel = kernel_of(people(), rho=1.0)
    for share in (0.95, 0.05):
        part = kernel.part(share)
        part.measure_marginals([("a",)], 1 / math.sqrt(2 * part.rho_left))[0]
    assert kernel.rho_spent == pytest.approx(1.0)
    assert kernel.rho_spent <= 1.0


def test_a_part_cannot_overspend_the_whole() -> None:
    kernel = kernel_of(people(), rho=1.0)
    greedy = kernel.part(5.0)
    refused(greedy.measure_marginals, [("a",)], 0.5, kind=BudgetExceeded)
    assert (kernel.rho_spent, greedy.rho_spent) == (0, 0)


def test_a_part_shares_what_was_read() -> None:
    source = people()
    kernel = kernel_of(source)
    kernel.prepare(PAIRS)
    kernel.part(1.0).measure_marginals([("a", "b")], 1.0)[0]
    assert source.passes == [PAIRS]


# Reading


def test_prepared_marginals_and_all_their_subsets_come_from_one_pass() -> None:
    source = people()
    kernel = kernel_of(source)
    kernel.prepare(PAIRS)
    for clique in all_kway(DOMAIN, 1).cliques + PAIRS:
        assert np.array_equal(kernel.measure_marginals([clique], 1.0)[0].values, people().counts([clique])[clique])
    select(kernel, 1.0, all_kway(DOMAIN, 1).cliques + PAIRS)
    assert kernel.measure_total(1.0) == 500
    kernel.prepare(PAIRS)
    assert source.passes == [PAIRS]


def test_without_preparation_a_selection_reads_all_its_candidates_in_one_pass() -> None:
    source = people()
    select(kernel_of(source), 1.0)
    assert source.passes == [PAIRS]


def test_a_source_that_returns_the_wrong_shape_is_not_believed() -> None:
    class Transposed(ArraySource):
        def counts(self, cliques: Collection[Clique]) -> dict[Clique, np.ndarray]:
            return {clique: counts.T for clique, counts in super().counts(cliques).items()}

    with pytest.raises(RuntimeError, match="wrong shape"):
        kernel_of(Transposed(DOMAIN, people().rows)).measure_marginals([("a", "b")], 1.0)[0]


# What it shows


def test_the_kernel_offers_exactly_the_protocol_and_what_its_driver_needs() -> None:
    promised = {name for name in dir(SealedKernel) if not name.startswith("_")}
    offered = {name for name in dir(PrivacyKernel) if not name.startswith("_")}
    assert offered == promised


def test_what_is_free_sees_no_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    @operation()
    def peek(asked: Asked) -> Callable[[View], Any]:  # noqa: ARG001
        return lambda view: view.tables([("a",)])

    monkeypatch.setattr(kernel_module, "find", lambda _: peek)
    with pytest.raises(AttributeError, match="tables"):
        kernel_of(people())._ask("peek")


def test_an_operation_that_is_not_registered_gets_nothing() -> None:
    @operation(Gaussian, lambda _: Gaussian(1.0, 1.0))
    def peek(asked: Asked) -> Callable[[View], Any]:  # noqa: ARG001
        return lambda view: view.tables([("a",)])

    kernel = kernel_of(people())
    for ask in (lambda: peek(kernel), lambda: kernel._ask("peek")):
        with pytest.raises(AttributeError):
            ask()
    with pytest.raises(TypeError):
        everything()["peek"] = peek
    assert kernel.events == ()


def test_a_keyword_is_charged_as_what_it_is_called() -> None:
    """The price has numbers by place: in the order of the parameters, not of the call."""
    kernel = kernel_of(people())
    kernel.measure_sum(sigma=4.0, high=1.0, low=-0.5, weights=np.linspace(-0.5, 1.0, 4), clique=("a",))
    assert kernel.events == (Gaussian(4.0, 1.0),)


def test_everything_the_kernel_holds_is_private_by_name() -> None:
    kernel = kernel_of(people())
    kernel.measure_marginals([("a",)], 1.0)[0]
    assert all(name.startswith(("_PrivacyKernel__", "_Kernel__")) for name in vars(kernel))


def test_what_the_kernel_shows_of_itself_does_not_depend_on_the_table() -> None:
    shown = []
    for source in (people(10), people(500)):
        kernel = kernel_of(source)
        kernel.measure_marginals([("a",)], 1.0)[0]
        names = [name for name in dir(kernel) if not name.startswith("_") and not callable(getattr(kernel, name))]
        shown.append({name: getattr(kernel, name) for name in names})
    assert shown[0] == shown[1]
