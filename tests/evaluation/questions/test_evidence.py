"""Intervals of answers: the arithmetic against brute force, and how often they hold."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from dpsynth_core.evaluation.bounds import SUPPORTED, UNSUPPORTED, Bound
from dpsynth_core.evaluation.combination import Evidence
from dpsynth_core.evaluation.questions.answer import COUNTED, LIMITED, answer
from dpsynth_core.evaluation.questions.evidence import Noisy, agreeing, moved, within
from dpsynth_core.evaluation.questions.known import Known, Limit, known
from dpsynth_core.evaluation.questions.question import Question, cell_values, half_width
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import of_codes
from tests.refusals import refused

DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.integer("age", 0, 99, bins=5, other=False, missing=True),
        Attribute.categorical("job", ["none", "part", "full"]),
    )
)
SIZES = DOMAIN.sizes(DOMAIN.names)


def people(rng: np.random.Generator, number: int) -> np.ndarray:
    """Codes of people whose columns depend on each other, (number, 3)."""
    shares = rng.dirichlet(np.full(math.prod(SIZES), 0.7))
    cells = rng.choice(shares.size, size=number, p=shares)
    return np.column_stack(np.unravel_index(cells, SIZES)).astype(np.int32)


def measured(rng: np.random.Generator, codes: np.ndarray, clique: Clique, sigma: float) -> Measurement:
    counts = of_codes(DOMAIN, codes, clique)
    return Measurement(clique, counts + rng.normal(0, sigma, counts.shape), sigma)


def test_the_variance_of_a_sum_is_that_of_many_draws() -> None:
    """2,000 draws know a standard deviation to 1.6 %: five of these are 8 %."""
    rng = np.random.default_rng(1)
    codes = people(rng, 500)
    product = {"sex": np.array([1.0, 0.0]), "age": np.array([10.0, 30, 50, 70, 90, 0])}
    sums, deviation = [], 0.0
    for _ in range(2000):
        tables = [measured(rng, codes, ("sex", "age"), 4.0), measured(rng, codes, ("age",), 2.0), measured(rng, codes, ("age", "job"), 3.0)]
        best = Evidence(tables).parts(("sex", "age"))
        assert best is not None
        noisy = Noisy(DOMAIN, best)
        sums.append(noisy.sum(product))
        deviation = math.sqrt(noisy.covariance(product, product))
    assert np.std(sums) == pytest.approx(deviation, rel=0.08)
    exact = float((product["sex"][codes[:, 0]] * product["age"][codes[:, 1]]).sum())
    assert np.mean(sums) == pytest.approx(exact, abs=5 * deviation / math.sqrt(2000))


def test_a_public_number_of_people_takes_the_noise_out_of_everybody() -> None:
    rng = np.random.default_rng(2)
    best = Evidence([measured(rng, people(rng, 500), ("sex",), 5.0)]).parts(("sex",), total=500.0)
    assert best is not None
    assert best.values.sum() == pytest.approx(500)
    assert Noisy(DOMAIN, best).covariance({}, {}) == 0


def test_no_table_within_the_limit_has_a_mean_outside_of_what_can_be_moved() -> None:
    """Against random tables at the very limit; the ends are reached by one of the tables that the proof names."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        shares = rng.dirichlet(np.full(6, 0.6))
        values, group, limit = rng.integers(0, 5, 4).astype(float), slice(0, 4), float(rng.uniform(0, 0.4))
        low, high = moved(values, shares[group], limit)
        for _ in range(50):
            other = rng.dirichlet(np.full(6, 0.3))
            distance = np.abs(other - shares).sum() / 2
            other = shares + (other - shares) * min(1.0, limit / distance)
            mean = float(values @ other[group]) / float(other[group].sum())
            assert low - 1e-9 <= mean <= high + 1e-9
        extreme = shares.copy()
        left = limit
        for cell in np.argsort(values, kind="stable"):
            taken = min(left, extreme[cell])
            extreme[cell] -= taken
            extreme[int(np.argmax(values))] += taken
            left -= taken
        if limit < shares[group].sum():
            assert float(values @ extreme[group]) / float(extreme[group].sum()) == pytest.approx(high)


def test_intervals_stay_within_what_can_be_and_never_claim_certainty() -> None:
    assert within((-3.0, -1.0), 0.0, 1.0) == (0.0, 1.0)
    assert within((-0.3, -0.1), 0.0, 1.0) == pytest.approx((0.0, 0.1))
    assert within((1.1, 1.3), 0.0, 1.0) == pytest.approx((0.9, 1.0))
    assert agreeing((0.1, 0.4), (0.3, 0.6)) == (0.3, 0.4)
    assert agreeing((0.1, 0.2), (0.3, 0.6)) == (0.1, 0.6)


TRUE: dict[str, Question] = {
    "count": Question("count", {"sex": (0,), "age": (1, 2)}),
    "share": Question("share", cells={"age": (0, 1)}),
    "share in a group": Question("share", {"sex": (1,)}, {"age": (0,)}),
    "mean": Question("mean", {"sex": (0,)}, column="age"),
    "median": Question("median", {"sex": (0,)}, column="age"),
    "difference of shares": Question("difference", {"sex": (0,)}, {"age": (0, 1)}, {"sex": (1,)}),
    "difference of means": Question("difference", {"sex": (0,)}, {}, {"sex": (1,)}, column="age"),
    "overlapping groups": Question("difference", {"sex": (0,)}, {"age": (3,)}, {"age": (3, 4)}),
}


def exact(codes: np.ndarray, question: Question) -> float:
    """The answer of the people themselves, worked out without the module under test."""

    def inside(cells: dict[str, tuple[int, ...]]) -> np.ndarray:
        return np.all([np.isin(codes[:, DOMAIN.position(name)], chosen) for name, chosen in cells.items()] or [[True] * len(codes)], axis=0)

    def of(group: np.ndarray) -> float:
        if question.column:
            ages = codes[group & (codes[:, 1] < 5), 1]
            if question.statistic == "median":
                return float(np.sort(ages)[(len(ages) - 1) // 2])
            return float(np.array([9.5, 29.5, 49.5, 69.5, 89.5])[ages].mean())
        return float(inside(dict(question.cells))[group].mean())

    group = inside(dict(question.among))
    if question.statistic == "count":
        return float(group.sum())
    return of(group) - (of(inside(dict(question.versus))) if question.statistic == "difference" else 0.0)


def missed(total: Total | None, sigma: float, limited: bool, draws: int, seed: int) -> dict[str, float]:
    """How often each interval misses. limited: there are rows, too, of other people, and tables have a limit, which is known with noise of
    its own."""
    rng = np.random.default_rng(seed)
    misses = dict.fromkeys(TRUE, 0.0)
    for _ in range(draws):
        codes = people(rng, 600)
        tables = [measured(rng, codes, ("sex", "age"), sigma), measured(rng, codes, ("age",), sigma), measured(rng, codes, ("sex",), sigma)]
        rows = people(rng, 600) if limited else None
        limits = {} if rows is None else {("sex", "age"): _limit(rng, codes, rows)}
        answering = Known(DOMAIN, rows, tables, total, limits)
        for name, question in TRUE.items():
            stated, true = answer(answering, question).stated, exact(codes, question)
            assert stated.low is not None
            assert stated.high is not None
            misses[name] += not stated.low - 1e-9 <= true <= stated.high + 1e-9
    return {name: number / draws for name, number in misses.items()}


def _limit(rng: np.random.Generator, codes: np.ndarray, rows: np.ndarray) -> Limit:
    """As a certificate finds it, by noise of 1 % of the people."""
    apart = np.abs(of_codes(DOMAIN, codes, ("sex", "age")) - of_codes(DOMAIN, rows, ("sex", "age"))).sum() / 1200
    seen = float(apart + rng.normal(0, 0.01))
    return Limit("certified", max(0.0, seen + 1.645 * 0.01), max(0.0, seen + 2.326 * 0.01))


@pytest.mark.parametrize(("total", "limited"), [(None, False), (Total(600.0, 0.0), False), (Total(600.0, 0.0), True)])
def test_intervals_hold_at_their_confidence(total: Total | None, limited: bool) -> None:
    """150 draws: 5 % is known to 1.8 %, so that a share of misses above 10.3 % has a probability below 0.002 in each of 24 cases."""
    assert max(missed(total, 12.0, limited, 150, seed=4).values()) <= 0.103


def test_intervals_are_not_wider_than_their_confidence_needs() -> None:
    """Of exactly normal answers about 5 % are missed, neither none: 200 draws know that to 1.5 %."""
    misses = missed(Total(600.0, 0.0), 12.0, False, 200, seed=5)
    for name in ("count", "share", "share in a group", "difference of shares", "mean"):
        assert 0.02 <= misses[name] <= 0.09, name


def test_the_estimate_and_the_rows_lie_in_the_interval() -> None:
    """Whatever the rows say: of twenty tables with rows of other people, with and without limits, in which many disagree."""
    rng, disagreeing = np.random.default_rng(11), 0
    for number in range(20):
        codes, rows = people(rng, 600), people(rng, 300)
        tables = [measured(rng, codes, ("sex", "age"), 12.0), measured(rng, codes, ("age",), 12.0)]
        limits = {("sex", "age"): _limit(rng, codes, rows)} if number % 2 else {}
        answering = Known(DOMAIN, rows, tables, Total(600.0, 0.0), limits)
        cross = answer(answering, Question("table", {"sex": (0,)}, columns=("age",))).cells
        for stated in (*(answer(answering, question).stated for question in TRUE.values()), *cross):
            assert stated.low is not None
            assert stated.high is not None
            for said in (stated.value, stated.rows):
                assert said is None or stated.low - 1e-8 <= said <= stated.high + 1e-8
            disagreeing += stated.disagree
    assert disagreeing > 20


def test_the_answer_is_the_best_estimate_and_the_rows_stand_beside_it() -> None:
    """Noisy counts of 600 people, exact but for rounding, and rows of which half the people are missing."""
    rng = np.random.default_rng(12)
    codes = people(rng, 600)
    question = TRUE["share in a group"]
    answering = Known(DOMAIN, codes[:300], [measured(rng, codes, ("sex", "age"), 0.01)], Total(600.0, 0.0), {})
    stated = answer(answering, question).stated
    assert stated.value == pytest.approx(exact(codes, question), abs=1e-3)
    assert stated.rows == pytest.approx(exact(codes[:300], question))
    assert stated.disagree


def test_where_noise_hides_a_group_the_rows_answer() -> None:
    """Counts that leave open whether anybody is in it estimate nothing."""
    rng = np.random.default_rng(13)
    codes = people(rng, 30)
    stated = answer(Known(DOMAIN, codes, [measured(rng, codes, ("sex", "age"), 500.0)], Total(30.0, 0.0), {}), TRUE["mean"]).stated
    assert stated.value == stated.rows == pytest.approx(exact(codes, TRUE["mean"]))
    assert (stated.low, stated.high, stated.disagree) == (9.5, 89.5, False)


def test_evidence_is_named_and_a_guess_has_no_interval() -> None:
    rng = np.random.default_rng(6)
    codes = people(rng, 300)
    tables = [measured(rng, codes, ("sex", "age"), 3.0)]
    bounds = {("sex", "age"): Bound(SUPPORTED, 0.2, 0.1), ("age", "job"): Bound(UNSUPPORTED, 0.2, 0.15)}
    answering = known(DOMAIN, codes, tables, Total(300.0, 0.0), bounds, None)
    assert answer(answering, TRUE["share"]).evidence == (COUNTED,)
    inferred = answer(answering, Question("share", cells={"job": (0,)}))
    assert (inferred.evidence, inferred.support, inferred.table) == ((LIMITED,), "inferred", ("age", "job"))
    stated = inferred.stated
    assert stated.value is not None
    assert (stated.low, stated.high) == (max(0.0, stated.value - 0.15), stated.value + 0.15)
    guess = answer(answering, Question("share", cells={"job": (0,), "sex": (0,)}))
    assert (guess.evidence, guess.stated.low, guess.stated.high) == ((), None, None)
    assert guess.stated.value == pytest.approx(float(np.mean((codes[:, 0] == 0) & (codes[:, 2] == 0))))


def test_cells_of_a_cross_table_say_what_single_questions_say() -> None:
    rng = np.random.default_rng(7)
    codes = people(rng, 400)
    tables = [measured(rng, codes, ("sex", "age", "job"), 3.0), measured(rng, codes, ("age",), 2.0)]
    answering = Known(DOMAIN, codes, tables, Total(400.0, 0.0), {("sex", "age", "job"): Limit("certified", 0.05, 0.06)})
    for among in ({}, {"job": (0, 2)}, {"sex": (1,)}):
        whole = answer(answering, Question("table", among, columns=("age", "sex")))
        for stated, (age, sex) in zip(whole.cells, itertools.product(range(6), range(2)), strict=True):
            if sex not in among.get("sex", (0, 1)):
                assert stated.high == 0
                continue
            one = answer(answering, Question("share", among, {"age": (age,), "sex": (sex,)})).stated
            assert (stated.value, stated.low, stated.high) == pytest.approx((one.value, one.low, one.high))


def test_what_stands_for_a_cell_is_its_middle() -> None:
    assert list(cell_values(DOMAIN["age"]))[:5] == [9.5, 29.5, 49.5, 69.5, 89.5]  # type: ignore[arg-type]
    assert half_width(DOMAIN["age"]) == 9.5
    assert half_width(Attribute.integer("n", 0, 9)) == 0
    assert cell_values(DOMAIN["sex"]) is None


@pytest.mark.parametrize(
    "question",
    [
        Question("mode"),
        Question("share"),
        Question("share", cells={"sex": (9,)}),
        Question("share", cells={"sex": ()}),
        Question("count", {"nobody": (0,)}),
        Question("mean", column="sex"),
        Question("median", column="job"),
        Question("difference", {"sex": (0,)}, column="age"),
        Question("difference", {"sex": (0,)}, {}, {"sex": (1,)}),
        Question("table"),
    ],
)
def test_what_cannot_be_asked_is_refused(question: Question) -> None:
    refused(question.checked, DOMAIN)
