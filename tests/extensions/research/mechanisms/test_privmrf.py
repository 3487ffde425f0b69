"""PrivMRF: the graph, the initial marginals and the candidates against literal re-writings on small domains, and what a run is charged."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.research.mechanisms.graphical.privmrf import PrivMrf, _drawn
from dpsynth_core.inference.junction_tree import junction_tree, mask_of
from dpsynth_core.inference.model import labels_of
from dpsynth_core.mechanisms.graphical import attribute_graph, models
from dpsynth_core.mechanisms.graphical.attribute_graph import SIZE_PENALTY, Useful, candidates, cliques_of, initial_marginals
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.steps import Fitted, Measured
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import all_kway
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.mechanisms.runs import DOMAIN, Run, people, run
from tests.privacy.tables import ArraySource
from tests.tiers import examples

PAIRS = all_kway(DOMAIN, 2)
SIX = Domain.from_json({"a": 4, "b": 3, "c": 6, "d": 2, "e": 8, "f": 5})
SCORES = st.lists(st.floats(0, 1).map(lambda score: round(score, 4)), min_size=15, max_size=15, unique=True)


def scored(values: list[float]) -> dict[Clique, float]:
    return dict(zip(combinations(SIX.names, 2), values, strict=True))


def maximal_cliques(domain: Domain, edges: set[Clique]) -> list[Clique]:
    """Over all subsets of columns."""
    complete = [c for k in range(1, len(domain) + 1) for c in combinations(domain.names, k) if set(combinations(c, 2)) <= edges]
    return [c for c in complete if not any(set(c) < set(other) for other in complete)]


def triangulated(domain: Domain, edges: set[Clique]) -> bool:
    """Whether columns can be taken away one by one, each with neighbours that are all joined (Fulkerson and Gross 1965)."""
    left = set(domain.names)
    while left:
        for name in left:
            around = [other for other in domain.names if other in left and domain.clique({name, other}) in edges]
            if set(combinations(around, 2)) <= edges:
                left.remove(name)
                break
        else:
            return False
    return True


def printed_graph(domain: Domain, scores: dict[Clique, float], most_cells: float) -> list[Clique]:
    """Greedy: in each step all edges are tried, and the sum of scores less the price of the cells is computed anew."""

    def cells(edges: set[Clique]) -> int:
        return sum(domain.cells(clique) for clique in maximal_cliques(domain, edges))

    def worth(edges: set[Clique]) -> float:
        return math.fsum(scores[edge] for edge in edges) - SIZE_PENALTY * cells(edges)

    edges: set[Clique] = set()
    while True:
        larger = [edges | {pair} for pair in scores if pair not in edges]
        allowed = [one for one in larger if triangulated(domain, one) and cells(one) <= most_cells]
        if not allowed or worth(max(allowed, key=worth)) <= worth(edges):
            return maximal_cliques(domain, edges)
        edges = max(allowed, key=worth)


@examples(20)  # every subset of columns for every edge of every step
@given(SCORES, st.sampled_from([28, 60, 150, 500, 6000]))
def test_the_graph_is_that_of_a_search_through_all_edges(values: list[float], most_cells: int) -> None:
    scores = scored(values)
    assert sorted(cliques_of(SIX, scores, most_cells)) == sorted(printed_graph(SIX, scores, most_cells))


def test_a_score_that_is_not_worth_its_cells_joins_nothing() -> None:
    domain = Domain.from_json({"a": 3000, "b": 2000})
    price = SIZE_PENALTY * (6_000_000 - 5000)
    assert cliques_of(domain, {("a", "b"): 0.99 * price}, 1e9) == [("a",), ("b",)]
    assert cliques_of(domain, {("a", "b"): 1.01 * price}, 1e9) == [("a", "b")]


@given(SCORES, st.integers(60, 3000))
def test_impossible_combinations_are_in_the_graph_and_its_size(values: list[float], most_cells: int) -> None:
    limited = Domain(SIX.attributes, (StructuralZeros(("a", "c"), (((0,), (0,)),)), StructuralZeros(("c", "d"), (((0,), (1,)),))))
    cliques = cliques_of(limited, scored(values), most_cells)
    assert all(any(set(zero) <= set(clique) for clique in cliques) for zero in limited.zeros)
    assert sum(limited.cells(clique) for clique in cliques) <= most_cells
    sizes = SIX.sizes(SIX.names)
    tree = junction_tree([mask_of(labels_of(SIX, clique)) for clique in cliques], sizes)
    assert tree.cells(sizes) <= most_cells


def printed_initial(domain: Domain, cliques: list[Clique], scores: dict[Clique, float], fits: object) -> set[Clique]:
    """The networks as they are described: for every column outside, parents are added as long as one fits, by the merit computed anew."""

    def r(one: str, other: str) -> float:
        return scores[domain.clique({one, other})]

    def merit(child: str, parents: tuple[str, ...]) -> float:
        among = sum(r(p, q) for p, q in combinations(parents, 2))
        return sum(r(child, p) for p in parents) / math.sqrt(len(parents) + 2 * among) if parents else 0.0

    def grown(child: str, inside: list[str]) -> tuple[str, ...]:
        parents: tuple[str, ...] = ()
        while True:
            more = [(*parents, p) for p in inside if p not in parents and fits((child, *parents, p))]  # type: ignore[operator]
            if not more:
                return parents
            parents = max(more, key=lambda one: merit(child, one))

    families: list[tuple[float, str, Clique]] = []
    for clique in cliques:
        inside = [max(clique, key=lambda name: sum(r(name, other) for other in clique if other != name))]
        while len(inside) < len(clique):
            families_of = {child: grown(child, inside) for child in clique if child not in inside}
            tried = [(merit(child, parents), child, parents) for child, parents in families_of.items() if parents]
            if not tried:
                break
            value, child, parents = max(tried)
            families.append((value, child, domain.clique({child, *parents})))
            inside.append(child)
    best = {max(family for family in families if family[1] == child)[2] for _, child, _ in families}
    chosen = {one for one in best if not any(set(one) < set(other) for other in best)}
    chosen |= {(name,) for name in domain.names if not any(name in one for one in chosen)}
    for _, _, marginal in sorted(families, reverse=True):
        if len(chosen) < len(domain) and not any(set(marginal) <= set(other) for other in chosen):
            chosen.add(marginal)
    return chosen


@given(SCORES, st.sampled_from([5, 20, 60, 400]), st.integers(2, 4), st.sampled_from([150, 6000]))
def test_initial_marginals_are_those_of_networks_written_down_literally(values: list[float], cells: int, columns: int, room: int) -> None:
    scores = scored(values)
    cliques = cliques_of(SIX, scores, room)
    useful = Useful(SIX, cells, columns)
    ours = initial_marginals(useful, cliques, scores)
    assert set(ours) == printed_initial(SIX, cliques, scores, lambda names: len(names) <= columns and SIX.cells(names) <= cells)
    assert len(ours) == len(set(ours)) <= len(SIX)
    assert set().union(*ours) == set(SIX.names)
    assert all(len(one) == 1 or SIX.cells(one) <= cells for one in ours)


def test_candidates_are_useful_subsets_of_cliques_and_each_clique_has_its_weight() -> None:
    cliques = [("a", "b", "d"), ("c", "e")]
    weights = candidates(Useful(SIX, 12, 3), cliques)
    assert set(weights) == {("a",), ("b",), ("d",), ("c",), ("e",), ("a", "b"), ("a", "d"), ("b", "d")}  # abd and ce have too many cells
    assert sum(weights[r] for r in weights if set(r) <= set("abd")) == pytest.approx(9)
    assert weights[("c",)] == weights[("e",)] == pytest.approx(2)


def test_where_there_would_be_too_many_candidates_the_narrow_ones_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attribute_graph, "MOST_CANDIDATES", 21)
    assert {len(r) for r in candidates(Useful(SIX, 1e9, 6), [SIX.names])} == {1, 2}


def plain_run(rho: float, relation: str, seed: int) -> list[tuple[Clique, float]]:
    """The mechanism as one literal loop, with the same noise: marginals and sigmas in the order in which they are measured."""
    kernel = PrivacyKernel(people(), Unit(relation), rho, SeededNoise(seed))
    l1, l2, d = kernel.unit.marginal_l1, kernel.unit.marginal_l2, len(DOMAIN)
    taken, log = [], []

    def measure(clique: Clique, sigma: float) -> None:
        taken.append(kernel.measure_marginals([clique], sigma)[0])
        log.append((clique, sigma))

    for name in DOMAIN.names:
        measure((name,), l2 * math.sqrt(d / (2 * 0.1 * rho)))
    model = models.fit(kernel, taken)
    pairs = list(combinations(DOMAIN.names, 2))
    doubt = l1 * math.sqrt(len(pairs) / (2 * 0.1 * rho))
    noisy = kernel.measure_errors({pair: model.marginal(pair) for pair in pairs}, doubt)
    scores = {pair: max(0.0, error / 2 / model.total) for pair, error in noisy.items()}
    cliques = printed_graph(DOMAIN, scores, 80e6 / 8)
    wanted = 3  # 0.8 for each of four columns

    def theta_useful(names: Clique, marginals: int) -> bool:
        noise = HALF_NORMAL * l2 * math.sqrt(marginals / (2 * 0.7 * rho))
        told = max(0.0, noisy[DOMAIN.clique(names)]) - 2 * doubt if len(names) == 2 else 0.0
        return model.total / DOMAIN.cells(names) >= 6 * noise or told >= noise * DOMAIN.cells(names)

    initial = printed_initial(DOMAIN, cliques, scores, lambda names: theta_useful(names, d + wanted))
    together = len(initial) + wanted
    inside = {c for clique in cliques for k in range(1, 5) for c in combinations(clique, k)}
    offers = {c for c in inside if len(c) == 1 or theta_useful(c, together)} - initial
    assert len(offers) > wanted, "the loop needs rounds"
    useful_cells = model.total / (6 * HALF_NORMAL * l2 * math.sqrt((d + wanted) / (2 * 0.7 * rho)))
    told_cells = {pair: (max(0.0, error) - 2 * doubt) / model.total * 6 * useful_cells for pair, error in noisy.items()}
    order = initial_marginals(Useful(DOMAIN, useful_cells, 6, told_cells), cliques, scores)
    assert set(order) == initial
    for clique in order:
        measure(clique, l2 * math.sqrt(together / (2 * 0.7 * rho)))
    model = models.fit(kernel, taken, model)
    kernel.seed()
    listed = [c for c in candidates(Useful(DOMAIN, math.inf, 6), cliques) if c in offers]
    for count in (2, 1):
        errors = kernel.measure_errors({c: model.marginal(c) for c in listed}, l1 * math.sqrt(len(listed) * 2 / (2 * 0.1 * rho)))
        for clique in sorted(listed, key=lambda c: -errors[c])[:count]:
            measure(clique, l2 * math.sqrt(together / (2 * 0.7 * rho)))
            listed.remove(clique)
        model = models.fit(kernel, taken, model)
    return log


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_run_is_the_literal_loop(relation: str, seed: int) -> None:
    """All candidates are asked about in each round, so that nothing is left to chance but the noise, which both draw alike."""
    done = run("privmrf", PAIRS, 0.05, relation, seed=seed, merge_below=0.0)
    measured = [(e.measurement.clique, e.measurement.sigma) for e in done.events if isinstance(e, Measured)]
    literal = plain_run(0.05, relation, seed)
    assert [clique for clique, _ in measured] == [clique for clique, _ in literal]
    assert [sigma for _, sigma in measured] == pytest.approx([sigma for _, sigma in literal], rel=1e-6)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("rho", [1e-8, 0.05, 10.0])
def test_a_tenth_each_for_columns_and_scores_and_the_rest_as_far_as_it_is_asked(relation: str, rows: int, rho: float) -> None:
    done = run("privmrf", PAIRS, rho, relation, rows)
    events = done.kernel.events
    assert {type(event) for event in events} == {Gaussian}
    assert [event.rho for event in events[:2]] == pytest.approx([rho / 10] * 2, rel=1e-6)
    errors = sum(event.rho for event in events[2:]) - sum(
        done.kernel.unit.marginal_l2**2 / (2 * e.measurement.sigma**2) for e in done.events[len(DOMAIN) :] if isinstance(e, Measured)
    )
    assert errors == pytest.approx(rho / 10 if done.finished.details["rounds"] else 0.0, rel=1e-5, abs=1e-9 * rho)
    assert done.kernel.rho_spent == pytest.approx(rho, rel=1e-8)
    assert dict(get("privmrf").split(PAIRS, False)) == pytest.approx({SINGLE: 0.1, CHOOSING: 0.2, CHOSEN: 0.7})


def test_the_card_says_how_large_a_model_may_be_and_how_candidates_are_drawn() -> None:
    """The authors' program: max_parameter_size of main.py, 10 million cells a clique and 50 million in total; numpy's choice with
    replacement."""
    mechanism = PrivMrf()
    stated = " ".join(mechanism.card.differences)
    assert f"{mechanism.max_size_mb / 8:g} million cells in all" in stated
    assert "drawn twice" in stated
    assert len(set(_drawn(dict.fromkeys("abcdef", 1.0), 6, np.random.default_rng(0)))) == 6


def test_what_is_measured_stays_useful_at_its_noise() -> None:
    done = run("privmrf", PAIRS, 0.02, theta=10.0, dependence=0.0)
    for event in done.events:
        if isinstance(event, Measured) and len(event.measurement.clique) > 1:
            noise = HALF_NORMAL * event.measurement.sigma
            assert done.finished.total / DOMAIN.cells(event.measurement.clique) >= 10 * noise * 0.95  # the total is estimated anew


def test_a_pair_that_says_more_than_its_noise_is_useful_in_spite_of_theta() -> None:
    useful = Useful(SIX, 10.0, 3, {("c", "e"): 48.0, ("a", "c"): 23.9, ("a", "e"): -5.0})
    assert useful.allows(("e", "c"))  # 48 cells
    assert not useful.allows(("a", "c"))  # 24 cells
    assert not useful.allows(("a", "e"))
    assert not useful.allows(("c", "d", "e"))  # what a pair says is no reason to measure more than it
    few, many = (run("privmrf", PAIRS, 0.001, theta=30.0, dependence=times) for times in (0.0, 1.0))
    without, with_it = ({e.measurement.clique for e in done.events if isinstance(e, Measured)} for done in (few, many))
    assert max(map(len, without)) == 1
    assert ("a", "b") in with_it  # b follows a


def test_with_hardly_any_budget_columns_get_all_of_it() -> None:
    done = run("privmrf", PAIRS, 1e-8)
    assert {len(e.measurement.clique) for e in done.events if isinstance(e, Measured)} == {1}


@pytest.mark.parametrize("candidates_asked", [1, 2, 50])
def test_a_round_asks_for_no_more_candidates_than_it_may(candidates_asked: int) -> None:
    done = run("privmrf", PAIRS, 0.05, candidates=candidates_asked)
    asked = [len(answer) for answer in asked_errors(candidates_asked)]
    assert max(asked[1:]) <= candidates_asked
    assert done.kernel.rho_spent == pytest.approx(0.05, rel=1e-8)


def asked_errors(candidates_asked: int) -> list[dict[Clique, np.ndarray]]:
    """What `measure_errors` was asked in such a run; the first are the pairs."""
    kernel = PrivacyKernel(people(), Unit(), 0.05, SeededNoise(41))
    asked: list[dict[Clique, np.ndarray]] = []
    measure_errors = kernel.measure_errors

    class Recording:
        def __getattr__(self, name: str) -> object:
            return getattr(kernel, name)

        def measure_errors(self, answers: dict[Clique, np.ndarray], sigma: float) -> dict[Clique, float]:
            asked.append(answers)
            return measure_errors(answers, sigma)

    list(replace(get("privmrf"), candidates=candidates_asked).steps(Recording(), PAIRS))  # type: ignore[type-var]
    return asked


def error(done: Run) -> float:
    exact = done.source.counts(PAIRS.cliques)
    return float(np.mean([np.abs(done.finished.model.marginal(pair) - exact[pair]).sum() / 8000 for pair in PAIRS.cliques]))


def test_the_model_follows_the_dependence_that_independent_columns_miss() -> None:
    assert error(run("privmrf", PAIRS, 0.05)) < 0.25 * error(run("independent", PAIRS, 0.05))


def test_progress_tells_of_graph_initial_marginals_and_rounds() -> None:
    messages = [e.message for e in run("privmrf", PAIRS, 0.05).events if isinstance(e, Fitted)]
    assert [message.split()[0] for message in messages] == ["joined", "measured", "measured", "measured"]


def test_columns_without_dependence_between_them_are_no_reason_to_fail() -> None:
    domain = Domain.from_json({"a": 1, "b": 3})
    source = ArraySource(domain, np.zeros((50, 2), dtype=np.int32))
    kernel = PrivacyKernel(source, Unit(), 0.5, SeededNoise(1))
    *_, finished = get("privmrf").steps(kernel, all_kway(domain, 2))
    assert finished.model.rows(10, {("a", "b"): 1.0}, np.random.default_rng(0)).shape == (10, 2)  # type: ignore[union-attr]


def test_what_cannot_be_done_is_refused_with_the_reason() -> None:
    one = Domain.from_json({"a": 5})
    assert "needs two columns" in get("privmrf").forecast(all_kway(one, 1), 0.01).reason
    wide = Domain.from_json({f"c{i}": 500 for i in range(40)})
    assert "195,000,000 cells" in get("privmrf").forecast(all_kway(wide, 1), 0.01).reason
