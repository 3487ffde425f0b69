"""MWEM and PMW^Pub: Algorithm 1 written with lists and loops gives the same weights; the closed form of the charge; what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsynth_core.extensions.research.inference.weights import MAX_CELLS, CellWeights, RowWeights
from dpsynth_core.extensions.research.mechanisms.weights import reweighing
from dpsynth_core.extensions.research.mechanisms.weights.mixture import Mixture
from dpsynth_core.extensions.research.mechanisms.weights.reweighing import SELECTIONS, Mwem, PmwPub
from dpsynth_core.extensions.research.privacy.events import Laplace, PermuteAndFlip
from dpsynth_core.extensions.research.vocabulary.queries import Incidence, Query, QueryClass
from dpsynth_core.mechanisms.public_check import POOR, CheckResult, refusal
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.steps import Fitted
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload, all_kway
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.mechanisms.runs import DOMAIN, people, run
from tests.privacy.tables import ArraySource

PAIRS = all_kway(DOMAIN, 2)
EVERYONE = np.argwhere(np.ones(DOMAIN.sizes(DOMAIN.names))).astype(np.int32)
THRESHOLDS = [PAIRS, PAIRS.asking(1)]


def both(workload: Workload) -> tuple[CellWeights, RowWeights]:
    """The same distribution kept in the two ways: the uniform one over all records."""
    queries = QueryClass.of(workload)
    return CellWeights(queries), RowWeights(Incidence(queries, EVERYONE), np.ones(len(EVERYONE)))


@pytest.mark.parametrize("workload", THRESHOLDS, ids=["cells", "thresholds"])
def test_weights_on_cells_and_on_rows_are_the_same_weights(workload: Workload) -> None:
    cells, rows = both(workload)
    queries, rng = QueryClass.of(workload), np.random.default_rng(3)
    for number in rng.integers(queries.size, size=40):
        cells.remember()
        rows.remember()
        step = float(rng.normal(0, 0.5))
        for weights in (cells, rows):
            weights.reweigh(queries.query(int(number)), step)
        every = np.arange(queries.size)
        np.testing.assert_allclose(cells.answers().at(every), rows.answers().at(every), atol=1e-12)
        assert cells.answer(queries.query(5)) == pytest.approx(rows.answer(queries.query(5)), abs=1e-12)
    for clique in workload.cliques:
        np.testing.assert_allclose(cells.average(100.0).marginal(clique), rows.average(100.0).marginal(clique), atol=1e-9)


def update(weights: dict[tuple[int, ...], float], query: Query, answer: float) -> dict[tuple[int, ...], float]:
    """One multiplicative update, as Algorithm 1 prints it."""

    def satisfied(row: tuple[int, ...]) -> bool:
        return sum(row[c] == v for c, v in zip(query.columns, query.values, strict=True)) >= query.threshold

    now = sum(weight for row, weight in weights.items() if satisfied(row))
    raised = {row: weight * math.exp(satisfied(row) * (answer - now) / 2) for row, weight in weights.items()}
    return {row: weight / sum(raised.values()) for row, weight in raised.items()}


@pytest.mark.parametrize("skip", [0.0, 0.5])
@pytest.mark.parametrize("workload", THRESHOLDS, ids=["cells", "thresholds"])
def test_the_output_is_the_average_of_the_iterates_of_algorithm_1(
    workload: Workload, skip: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without replay, from the released answers alone, with lists and loops."""
    monkeypatch.setattr(reweighing, "REPLAYED", math.inf)
    monkeypatch.setattr(reweighing, "_replay", newest_only)
    public = people(30, seed=5).rows
    source = people()
    kernel = PrivacyKernel(source, Unit("replace"), 0.05, SeededNoise(8))
    mechanism = PmwPub(public=PublicTable(DOMAIN, public, "public", ""))
    *_, finished = configured(mechanism, {"rounds": 12, "skip": skip}).steps(kernel, workload)
    rows, counts = np.unique(public, axis=0, return_counts=True)
    weights = {tuple(row): count / 30 for row, count in zip(rows.tolist(), counts, strict=True)}
    total = dict.fromkeys(weights, 0.0)
    first = int(12 * skip)
    for number, query in enumerate(finished.details["queries"]):
        total = {row: total[row] + weights[row] * (number >= first) / (12 - first) for row in total}
        values = tuple(DOMAIN[n].cell_labels().index(cell) for n, cell in zip(query["attributes"], query["cells"], strict=True))
        columns = tuple(map(DOMAIN.position, query["attributes"]))
        weights = update(weights, Query(tuple(query["attributes"]), values, query["at_least"], columns), query["answer"])
    ours = {tuple(row): w / 4000 for row, w in zip(finished.model.codes.tolist(), finished.model.weights, strict=True)}
    assert ours == pytest.approx(total, abs=1e-12)


def newest_only(weights: Any, asked: list[reweighing.MeasuredQuery], rng: np.random.Generator) -> None:  # noqa: ARG001
    weights.reweigh(asked[-1].query, (asked[-1].answer - weights.answer(asked[-1].query)) / 2)


def test_replay_applies_what_is_at_least_half_as_wrong_as_the_newest() -> None:
    cells, _ = both(PAIRS)
    queries = QueryClass.of(PAIRS)
    answers = {0: 0.5, 1: cells.answer(queries.query(1)) + 0.01, 7: 0.4}
    asked = [reweighing.MeasuredQuery(queries.query(number), answer, 1.0) for number, answer in answers.items()]
    before = [abs(cells.answer(one.query) - one.answer) for one in asked]
    alone = both(PAIRS)[0]
    reweighing._replay(cells, asked, np.random.default_rng(0))
    for i in (0, 2):  # half as wrong or more: both are moved, in some order
        assert abs(cells.answer(asked[i].query) - asked[i].answer) < before[i]
    for i in np.random.default_rng(0).permutation([0, 2]):
        alone.reweigh(asked[i].query, (asked[i].answer - alone.answer(asked[i].query)) / 2)
    np.testing.assert_allclose(cells.answers().values, alone.answers().values, atol=1e-12)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("name", ["mwem", "pmwpub"])
def test_the_charge_is_the_closed_form(name: str, relation: str) -> None:
    """rho = 1 / (2 sigma_N^2) + T (eps^2 / 8 + m^2 / (2 sigma^2)), all of the budget; the same eps and sigma in every round."""
    done = run(name, PAIRS, 0.02, relation, rows=2, rounds=9)
    kinds = [type(event) for event in done.kernel.events]
    assert kinds == [Gaussian, *[Selection, Gaussian] * 9]  # two rows a person: the number of rows is secret in both relations
    chosen = [event for event in done.kernel.events if isinstance(event, Selection)]
    counted, *measured = [event for event in done.kernel.events if isinstance(event, Gaussian)]
    assert {event.l2 for event in (counted, *measured)} == {2.0}
    closed = 4 / (2 * counted.sigma**2) + 9 * (chosen[0].eps ** 2 / 8 + 4 / (2 * measured[0].sigma ** 2))
    assert done.kernel.rho_spent == pytest.approx(closed, rel=1e-9)
    assert closed == pytest.approx(0.02, rel=1e-8)
    assert [event.sigma for event in measured] == pytest.approx([measured[0].sigma] * 9, rel=1e-9)


def test_permute_and_flip_costs_a_round_what_the_exponential_mechanism_does() -> None:
    """T (eps^2 / 2 + m^2 / (2 sigma^2)) in place of T (eps^2 / 8 + ...), with half the eps: the same sigma, and all of the budget."""
    usual, done = (run("pmwpub", PAIRS, 0.02, "replace", rounds=9, selection=name) for name in SELECTIONS)
    assert [type(event) for event in done.kernel.events] == [PermuteAndFlip, Gaussian] * 9
    chosen, measured = done.kernel.events[:2]
    assert isinstance(chosen, PermuteAndFlip)
    assert isinstance(measured, Gaussian)
    closed = 9 * (chosen.eps**2 / 2 + 1 / (2 * measured.sigma**2))
    assert done.kernel.rho_spent == pytest.approx(closed, rel=1e-9)
    assert closed == pytest.approx(0.02, rel=1e-8)
    assert measured == usual.kernel.events[1]
    assert usual.kernel.events[0] == Selection(2 * chosen.eps)


def test_the_check_inside_a_run_is_paid_from_its_share_and_comes_first() -> None:
    done = run("pmwpub", PAIRS, 0.02, check_share=0.1, rounds=5)
    assert [type(event) for event in done.kernel.events[:2]] == [Gaussian, Laplace]
    assert done.kernel.events[1].rho == pytest.approx(0.002, rel=1e-8)
    first = next(event for event in done.events if isinstance(event, Fitted))
    assert first.message == done.finished.details["best_mixture"]["sentence"]


def test_a_good_table_is_told_from_one_that_cannot_do() -> None:
    def reading(codes: np.ndarray) -> dict[str, Any]:
        kernel = PrivacyKernel(people(), Unit(), 0.05, SeededNoise(9))
        *_, finished = Mixture(public=PublicTable(DOMAIN, codes, "", "")).steps(kernel, PAIRS)
        return finished.details["best_mixture"]

    good, poor = reading(people(400, seed=6).rows), reading(np.array([[3, 2, 5, 1], [3, 2, 4, 1]], dtype=np.int32))
    assert not good["poor"]
    assert good["sentence"].startswith("Nothing speaks against this public table")
    assert poor["poor"]
    assert poor["error"] == pytest.approx(0.94, abs=0.1)  # d = 1 for all of them, for 5 % of the people
    assert "use another public table" in poor["sentence"]


def test_a_check_without_an_answer_says_so_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrivacyKernel, "best_mixture_error", lambda *_: None, raising=False)
    done = run("pmwpub", PAIRS, 0.02, check_share=0.1, rounds=5)
    reading = done.finished.details["best_mixture"]
    assert reading["error"] is None
    assert not reading["poor"]
    assert reading["sentence"] == "The check of the public table gave no answer: its solver's bounds did not meet."
    assert done.finished.details["rounds"] == 5


def test_the_condition_of_the_check_is_stated_where_there_is_one() -> None:
    checked = PmwPub(check_share=0.1).condition(DOMAIN)
    assert "bounds on the best-mixture error would meet" in checked
    assert checked == Mixture().condition(DOMAIN)
    assert PmwPub().condition(DOMAIN) == ""


def test_a_reading_is_poor_only_when_noise_cannot_explain_it() -> None:
    assert CheckResult(POOR + 0.02, 0.01, 0.01).poor
    assert not CheckResult(POOR + 0.02, 0.03, 0.01).poor


def test_structural_zeros_have_no_mass_in_either() -> None:
    domain = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), (((0,), (0, 1)),)),))
    workload = all_kway(domain, 2)
    kernel = PrivacyKernel(ArraySource(domain, people().rows), Unit(), 0.05, SeededNoise(2))
    public = PublicTable(domain, EVERYONE, "", "")
    assert len(public.support()[0]) == len(EVERYONE) * 10 // 12
    for mechanism in (Mwem(), PmwPub(public=public)):
        stage = kernel.part(0.02)
        *_, finished = configured(mechanism, {"rounds": 5}).steps(stage, workload)
        assert finished.model.marginal(("a", "b"))[0, :2].tolist() == [0.0, 0.0]


def test_more_budget_answers_better() -> None:
    """Largest error of a pair's cell, mean of 4 seeds: at 100 times the budget it falls below a half."""

    def error(rho: float) -> float:
        errors = []
        for seed in range(4):
            done = run("mwem", PAIRS, rho, "replace", seed=seed)
            true = done.source.counts(PAIRS.cliques)
            errors.append(max(np.abs(true[r] - done.finished.model.marginal(r)).max() for r in PAIRS.cliques))
        return float(np.mean(errors))

    assert error(0.1) < error(0.001) / 2


def test_domains_that_are_too_large_are_refused_with_a_remedy() -> None:
    wide = Domain.from_json({f"c{i}": 10 for i in range(8)})
    forecast = get("mwem").forecast(all_kway(wide, 2), 0.01)
    assert not forecast.fits
    assert f"{MAX_CELLS:,}" in forecast.reason
    assert "use fewer columns" in forecast.reason
    least = wide.keep(wide.names[:7])
    assert get("mwem").forecast(all_kway(least, 2), 0.01).fits


@pytest.mark.parametrize("name", ["pmwpub", "mixture"])
def test_without_a_public_table_or_with_too_large_a_one_a_run_is_refused(name: str) -> None:
    assert "it needs a public table" in get(name).forecast(PAIRS, 0.01).reason
    large = PublicTable(DOMAIN, np.zeros((1, 4), dtype=np.int32), "", "")
    object.__setattr__(large, "codes", np.broadcast_to(large.codes, (20_000_000, 4)))
    assert "use a sample of it" in refusal(large, PAIRS)


def test_more_people_and_more_budget_mean_more_rounds_unless_they_are_set() -> None:
    counts = [PmwPub().round_count(rho, n) for rho, n in ((1e-4, 1e4), (1e-2, 1e4), (1e-2, 1e6))]
    assert counts == sorted(counts)
    assert counts[0] < counts[2]
    assert PmwPub(rounds=7).round_count(1.0, 1e6) == 7


def test_rows_are_rounded_shares_and_not_samples() -> None:
    """Of weights that ask for whole numbers of rows, exactly those are written."""
    cells = CellWeights(QueryClass.of(PAIRS))
    cells.remember()
    model = cells.average(float(len(EVERYONE)))
    codes = replace(model).rows(3 * len(EVERYONE), {}, np.random.default_rng(0))
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    assert len(rows) == len(EVERYONE)
    assert set(counts.tolist()) == {3}
