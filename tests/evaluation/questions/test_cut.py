"""Ranges that cut cells: answers against every way in which the people of cut cells can be in the range or not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dpsynth_core.evaluation.questions.answer import Answer, answer
from dpsynth_core.evaluation.questions.known import Known, Limit, known
from dpsynth_core.evaluation.questions.light import light
from dpsynth_core.evaluation.questions.question import Question
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.ranges import part
from dpsynth_core.vocabulary.zeros import parts_named

DOMAIN = Domain(
    (
        Attribute.integer("age", 0, 7, width=2),
        Attribute.categorical("sex", ["f", "m"]),
        Attribute.integer("score", 0, 2, width=1),
    )
)
RANGES = ("1..4", "..4", "3..", "> 2", "3..3", "2..3", "1..2", "< 7")
Table = np.ndarray


def counts(seed: int) -> Table:
    return np.random.default_rng(seed).integers(1, 5, DOMAIN.sizes(DOMAIN.names)).astype(float)


def evidence(table: Table, with_rows: bool) -> Known:
    """All but noiseless counts of the whole table, or rows with a limit of 0 and no counts."""
    total = Total(float(table.sum()), 0.0)
    if not with_rows:
        return known(DOMAIN, None, [Measurement(DOMAIN.names, table, 1e-7)], total, {}, None)
    codes = np.repeat(np.array(list(np.ndindex(*table.shape))), table.ravel().astype(int), axis=0)
    return Known(DOMAIN, codes, (), total, {DOMAIN.names: Limit("certified", 0.0, 0.0)})


def ranged(role: str, text: str) -> dict[str, object]:
    """The fields of a question about a range of ages."""
    of = parts_named(DOMAIN.attributes, {"age": text}, "of")["age"]
    return {role: {"age": of.cells}, "cut": {role: {"age": of.cut}}}


def possible(table: Table, text: str) -> Iterator[Table]:
    """The table of those in the range, for every way in which all or none of each cut cell are."""
    of = parts_named(DOMAIN.attributes, {"age": text}, "of")["age"]
    sure = np.zeros_like(table)
    sure[list(of.whole_cells)] = table[list(of.whole_cells)]
    cut = [(code, *rest) for code in of.cut for rest in np.ndindex(*table.shape[1:])]
    for chosen in itertools.product((0, 1), repeat=len(cut)):
        some = sure.copy()
        for cell, taken in zip(cut, chosen, strict=True):
            some[cell] = taken * table[cell]
        yield some


def mean(table: Table) -> float:
    of_score = table.sum(axis=(0, 1))
    return float(of_score @ np.arange(3) / of_score.sum()) if of_score.sum() else math.nan


def median(table: Table) -> float:
    of_score = table.sum(axis=(0, 1))
    return float(np.searchsorted(2 * np.cumsum(of_score), of_score.sum())) if of_score.sum() else math.nan


def share(table: Table) -> float:
    return float(table[:, 0].sum() / table.sum()) if table.sum() else math.nan


def extremes(table: Table, text: str, of: Callable[[Table], float]) -> tuple[float, float]:
    values = [value for some in possible(table, text) if not math.isnan(value := of(some))]
    return min(values), max(values)


@pytest.mark.parametrize("with_rows", [False, True])
@pytest.mark.parametrize("text", RANGES)
@pytest.mark.parametrize(
    ("asked", "of", "exact"),
    [
        (Question("count"), lambda table: float(table.sum()), True),
        (Question("share", cells={"sex": (0,)}), share, True),
        (Question("mean", column="score"), mean, True),
        (Question("median", column="score"), median, False),
    ],
    ids=["count", "share", "mean", "median"],
)
def test_without_noise_an_interval_ends_at_the_least_and_the_most_that_can_be(
    asked: Question, of: Callable[[Table], float], exact: bool, text: str, with_rows: bool
) -> None:
    """Of a median, which lies between two cells where half is reached exactly, the interval may be a cell wider."""
    for seed in range(3):
        table = counts(seed)
        question = Question(asked.statistic, cells=asked.cells, column=asked.column, **ranged("among", text))  # type: ignore[arg-type]
        stated = answer(evidence(table, with_rows), question).stated
        low, high = extremes(table, text, of)
        assert stated.low is not None
        assert stated.high is not None
        assert stated.value is not None
        assert stated.low <= stated.value <= stated.high
        assert stated.low <= low + 1e-5
        assert stated.high >= high - 1e-5
        if exact:
            assert (stated.low, stated.high) == pytest.approx((low, high), abs=1e-4)


def test_a_difference_ends_at_least_and_most_differences() -> None:
    for seed in range(3):
        table = counts(seed)
        of_one, of_other = ranged("among", "1..4"), ranged("versus", "5..")
        cut: Any = {**of_one.pop("cut"), **of_other.pop("cut")}  # type: ignore[dict-item]
        stated = answer(evidence(table, False), Question("difference", column="score", cut=cut, **of_one, **of_other)).stated  # type: ignore[arg-type]
        (low1, high1), (low2, high2) = extremes(table, "1..4", mean), extremes(table, "5..", mean)
        assert (stated.low, stated.high) == pytest.approx((low1 - high2, high1 - low2), abs=1e-4)


def shares_of(among: str, cells: str) -> Answer:
    of_group, of_cells = ranged("among", among), ranged("cells", cells)
    cut: Any = {**of_group.pop("cut"), **of_cells.pop("cut")}  # type: ignore[dict-item]
    return answer(evidence(counts(5), False), Question("share", cut=cut, **of_group, **of_cells))  # type: ignore[arg-type]


def test_a_range_within_the_same_range_is_all_of_it() -> None:
    stated = shares_of("1..4", "1..4").stated
    assert (stated.low, stated.value, stated.high) == pytest.approx((1, 1, 1), abs=1e-4)


def test_ranges_that_do_not_meet_in_a_cell_share_nobody() -> None:
    stated = shares_of("1..2", "3..4").stated
    assert (stated.low, stated.value, stated.high) == pytest.approx((0, 0, 0), abs=1e-4)


def test_a_cross_table_of_a_range_has_the_share_of_each_cell() -> None:
    table = counts(7)
    found = answer(evidence(table, False), Question("table", columns=("sex",), **ranged("among", "1..4")))  # type: ignore[arg-type]
    low, high = extremes(table, "1..4", share)
    assert (found.cells[0].low, found.cells[0].high) == pytest.approx((low, high), abs=1e-4)


def test_the_estimate_takes_an_even_share_or_the_measured_one() -> None:
    table, age = counts(1), DOMAIN["age"]
    question = Question("count", **ranged("among", "1..4"))  # type: ignore[arg-type]
    even = answer(evidence(table, False), question).stated.value
    assert even == pytest.approx(table[0].sum() / 2 + table[1].sum() + table[2].sum() / 2, abs=1e-3)
    measured = Inside((0.0, 1.0, 2.0, 4.0, 5.0, 6.0, 8.0), (1.0, 3.0, 9.0, 0.0, 7.0, 2.0))
    assert part(age, 0, ((1, 2),), measured).share == 0.75
    assert part(age, 2, ((4, 5),), measured) == part(age, 2, ((4, 5),), measured)
    assert part(age, 2, ((4, 5),), measured).share == 0
    assert part(age, 2, ((4, 5),), measured).measured


def test_a_wide_interval_is_not_called_close() -> None:
    table = counts(1) * 1000
    known, cut, whole = evidence(table, False), Question("count", **ranged("among", "1..4")), Question("count", **ranged("among", "2..3"))  # type: ignore[arg-type]
    assert light(known, cut, answer(known, cut).stated) == "roughly"
    assert light(known, whole, answer(known, whole).stated) == "closely"
