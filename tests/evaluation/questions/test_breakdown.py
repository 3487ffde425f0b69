"""Breakdowns and worst subgroups: what questions one by one say, and what no choice by the answers makes wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.breakdown import BOUND, GUESS, MEASURED, MOST_LINES, breakdown
from dpsynth_core.evaluation.questions.evidence import Noisy
from dpsynth_core.evaluation.questions.known import CERTIFIED, Known, Limit
from dpsynth_core.evaluation.questions.question import Question, weights
from dpsynth_core.evaluation.questions.worst import LEAST_SHARE, tables, worst, z_together
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.rows import row_marginals
from tests.refusals import refused

DOMAIN = Domain(
    (
        Attribute.integer("age", 0, 99, bins=4),
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.categorical("work", ["no", "part", "full"]),
    )
)
PEOPLE = 2000
SIGMA = 20.0


def people(seed: int, rows: int = PEOPLE) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.choice(a.size, rows, p=rng.dirichlet(np.full(a.size, 2.0))) for a in DOMAIN]).astype(np.int32)


def released(seed: int, **fields: object) -> Known:
    """Rows that are other people than the measured ones, a noisy table of age and sex, a limit for age and work."""
    rng = np.random.default_rng(seed)
    true = row_marginals(DOMAIN, people(1), [("age", "sex")])[("age", "sex")]
    noisy = Measurement(("age", "sex"), true + rng.normal(0.0, SIGMA, true.shape), SIGMA)
    limits = {("age", "work"): Limit(CERTIFIED, 0.1, 0.12, 0.15, likely=0.06)}
    known = Known(DOMAIN, people(2), (noisy,), Total(float(PEOPLE), 0.0), limits)
    return replace(known, _estimates={}, **fields)


@pytest.mark.parametrize(
    ("question", "by", "standing"),
    [
        (Question("count"), "sex", MEASURED),
        (Question("mean", {"sex": (0,)}, column="age"), "age", MEASURED),
        (Question("share", cells={"work": (0,)}), "age", BOUND),
        (Question("median", column="age"), "work", BOUND),
        (Question("share", cells={"work": (0, 1)}), "sex", GUESS),
    ],
)
def test_each_line_is_the_question_about_those_people_and_says_how_it_is_known(question: Question, by: str, standing: str) -> None:
    known = released(3)
    lines = breakdown(known, question, by)
    assert [line.code for line in lines] == list(range(DOMAIN[by].size))
    assert {line.standing for line in lines} == {standing}
    for line in lines:
        assert line.answer == answer(known, replace(question, among={**question.among, by: (line.code,)}))


def test_a_breakdown_of_a_group_has_the_lines_of_that_group() -> None:
    assert [line.code for line in breakdown(released(3), Question("count", {"age": (1, 3)}), "age")] == [1, 3]


def test_what_cannot_be_broken_down_is_refused() -> None:
    long = Domain((Attribute.coded("code", MOST_LINES + 1),))
    known = Known(long, np.zeros((1, 1), np.int32), (), Total(1.0, 0.0), {})
    refused(breakdown, known, Question("count"), "code")
    refused(breakdown, released(3), Question("table", columns=("sex",)), "age")
    assert len(breakdown(known, Question("count", {"code": (0, 7)}), "code")) == 2


def brute_force(known: Known) -> list[tuple[float, float, float]]:
    """How far off each subgroup is, for sure, likely and at most, cell by cell."""
    z, found = z_together(known), []
    for table in tables(known):
        estimate, limit = known.estimate(table), known.limits.get(table)
        for cell in np.ndindex(*DOMAIN.sizes(table)):
            chosen = np.all([known.codes[:, DOMAIN.position(name)] == code for name, code in zip(table, cell, strict=True)], axis=0)
            value = chosen.mean() * PEOPLE
            if value < LEAST_SHARE * PEOPLE:
                continue
            ends = []
            if estimate is not None:
                one = weights(DOMAIN, {name: (code,) for name, code in zip(table, cell, strict=True)})
                margin = z * math.sqrt(Noisy(DOMAIN, estimate).covariance(one, one))
                ends.append((max(0.0, estimate.values[cell] - margin), max(0.0, estimate.values[cell] + margin)))
            if limit is not None:
                ends.append((PEOPLE * max(0.0, chosen.mean() - limit.together), PEOPLE * min(1.0, chosen.mean() + limit.together)))
            low, high = max(end[0] for end in ends), min(end[1] for end in ends)
            if limit is None:
                off = math.hypot(value - estimate.values[cell], margin / z)
            else:  # the errors of the cells of a table add up to twice its error, and go with the roots of their counts
                counts = row_marginals(DOMAIN, known.codes, [table])[table]
                off = 2 * PEOPLE * limit.likely * math.sqrt(chosen.sum()) / np.sqrt(counts).sum()
            found.append((max(0.0, low - value, value - high) / value, off / value, max(high - value, value - low) / value))
    return sorted(found, reverse=True)


def test_the_worst_subgroups_are_those_of_a_look_at_every_cell() -> None:
    known = released(4)
    assert tables(known) == [("age", "sex"), ("age", "work")]
    ranked = worst(known, most=1000)
    assert np.array([(one.surely, one.off / one.value, one.perhaps) for one in ranked]) == pytest.approx(np.array(brute_force(known)))
    assert ranked[0].surely > 0  # the rows are other people
    assert worst(known, most=3) == ranked[:3]


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert worst(released(4, total=None)) == ()
    assert worst(released(4, measurements=(), limits={})) == ()


def test_a_table_that_only_a_choice_of_the_mechanism_bounds_is_not_looked_at() -> None:
    assert tables(released(4, limits={("age", "work"): Limit("inferred", 0.01, 1.0)})) == [("age", "sex")]


def test_what_is_said_of_all_subgroups_holds_together() -> None:
    """96 % of releases at least, as the noisy counts alone are used: 400 of them, so 0.03 is three standard deviations."""
    true = row_marginals(DOMAIN, people(1), [("age", "sex")])[("age", "sex")]
    held = 0
    for seed in range(400):
        ranked = worst(released(seed, limits={}), most=1000)
        held += all(one.low - 1e-9 <= true[one.codes] <= one.high + 1e-9 for one in ranked)
    assert held / 400 >= 0.93
    assert math.isclose(z_together(released(0, limits={})), 3.09, abs_tol=0.35)
