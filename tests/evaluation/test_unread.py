"""A column of which nearly nothing was understood is named by its noisy counts, and hardly ever another one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.evaluation.unread import (
    FAILURE,
    NEARLY_NONE,
    SURELY,
    Undeclared,
    Unread,
    says_something,
    undeclared_columns,
    unread_columns,
)
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.attribute import Attribute, Recode
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement


def column(values: int) -> Attribute:
    return Attribute.categorical("x", [f"v{number}" for number in range(values)], other=True, missing=True)


def unread(attribute: Attribute, counts: list[float], sigma: float, total: Total | None = None) -> tuple[Unread, ...]:
    seen = Measurement(("x",), np.array(counts), sigma)
    return unread_columns(Evidence(Domain((attribute,)), None, (seen,), sum(counts)), total, {}, {})


def undeclared(attribute: Attribute, counts: list[float], rows: list[int], sigma: float = 5.0) -> tuple[Undeclared, ...]:
    """The column by its noisy counts, and by its rows: so many of each cell."""
    codes = np.repeat(np.arange(len(rows)), rows)[:, None]
    return undeclared_columns(Evidence(Domain((attribute,)), codes, (Measurement(("x",), np.array(counts), sigma),), sum(counts)), {})


def test_many_others_are_named_with_their_share_and_few_are_not() -> None:
    (found,) = undeclared(column(2), [600.0, 700.0, 700.0, 0.0], [600, 700, 700, 0])
    assert (found.is_shown, round(found.share, 2)) == (True, 0.35)
    assert undeclared(column(2), [1000.0, 990.0, 10.0, 0.0], [1000, 990, 10, 0]) == ()


def test_rows_without_a_listed_value_are_named_where_noise_may_have_made_them() -> None:
    (found,) = undeclared(column(2), [1000.0, 950.0, 3.0, -4.0], [900, 900, 100, 100])
    assert (found.is_shown, round(found.share, 2)) == (False, 0.1)
    assert undeclared(column(2), [900.0, 900.0, 3.0, 200.0], [900, 900, 0, 200]) == (), "counts show that people have no value"


def test_a_listed_value_that_others_count_as_is_a_declared_one() -> None:
    """Half of the people have it, nobody is missing: nothing is undeclared."""
    named = Attribute.categorical("x", ["a", "b"], missing=True, other_as=Recode("b", "all else is b"))
    assert undeclared(named, [1000.0, 1000.0, -2.0], [1000, 1000, 0]) == ()


def test_a_column_of_others_alone_is_unread_and_one_of_values_is_not() -> None:
    (found,) = unread(column(2), [0.0, 3.0, 1995.0, 2.0], sigma=5.0)
    assert (found.column, found.is_sure, round(found.share, 4)) == ("x", True, 0.0015)
    assert found.share <= found.at_most <= NEARLY_NONE
    assert unread(column(2), [900.0, 1000.0, 100.0, 0.0], sigma=5.0) == ()
    assert unread(column(2), [200.0, 200.0, 1600.0, 0.0], sigma=5.0) == ()


def test_missing_values_count_as_others_do() -> None:
    assert unread(column(2), [1.0, 0.0, 2.0, 1997.0], sigma=5.0)[0].is_sure
    assert unread(column(2), [1.0, 0.0, 1000.0, 999.0], sigma=5.0)[0].is_sure


def test_a_question_that_few_are_asked_is_read() -> None:
    """Three in a hundred answer, all in the list; where the few who have a value are others, nothing was understood."""
    assert unread(column(2), [30.0, 30.0, 1.0, 1939.0], sigma=5.0) == ()
    assert unread(column(2), [1.0, 0.0, 60.0, 1939.0], sigma=5.0)[0].is_sure
    unlisted_are_missing = Attribute.categorical("x", ["a", "b"], missing=True)
    assert unread(unlisted_are_missing, [30.0, 30.0, 1940.0], sigma=5.0)[0].is_sure


CLOSED = Attribute.categorical("x", ["a", "b", "c"])
"""A column whose values outside the list count as a."""


def test_a_listed_value_that_others_count_as_shows_nothing() -> None:
    (found,) = unread(CLOSED, [2000.0, 1.0, -2.0], sigma=5.0)
    assert (found.shared_with, found.is_sure) == ("a", True)
    named = Attribute.categorical("x", ["a", "b"], missing=True, other_as=Recode("b", "all else is b"))
    assert [one.shared_with for one in unread(named, [1.0, 1950.0, 49.0], sigma=5.0)] == ["b"]
    numbers = Attribute.integer("x", 0, 99, bins=4, nearest=True)
    assert [one.shared_with for one in unread(numbers, [1990.0, 3.0, 4.0, 3.0], sigma=5.0)] == ["0 to 24"]
    absent = Attribute.categorical("x", ["a", "b"], missing=True)
    assert [one.shared_with for one in unread(absent, [0.0, 1.0, 1999.0], sigma=5.0)] == [""]


def test_another_value_that_is_surely_there_shows_that_a_column_was_read() -> None:
    """Two in a hundred have it, which is more than the noise of both cells explains."""
    assert unread(CLOSED, [1960.0, 40.0, 0.0], sigma=5.0) == ()
    assert unread(CLOSED, [1000.0, 1000.0, 0.0], sigma=5.0) == ()
    assert [one.column for one in unread(CLOSED, [1990.0, 10.0, 0.0], sigma=5.0)] == ["x"]


def test_a_column_of_one_value_or_one_that_no_table_holds_is_never_unread() -> None:
    assert unread(Attribute.categorical("x", ["a"]), [2000.0], sigma=5.0) == ()
    seen = (Measurement(("x",), np.array([2000.0, 0.0, 0.0]), 1.0),)
    assert unread_columns(Evidence(Domain((CLOSED,)), None, seen, 2000.0), None, {}, {}, {"x"}) == ()


def test_a_column_with_a_value_that_no_other_counts_as_is_read() -> None:
    domain = Domain((Attribute.categorical("x", ["a", "b"]), Attribute.coded("y", 2)))
    seen = (Measurement(("x", "y"), np.array([[0.0, 0.0], [500.0, 500.0]]), 1.0),)
    assert unread_columns(Evidence(domain, None, seen, 1000.0), None, {}, {}) == ()


def test_noise_as_large_as_the_table_makes_no_column_surely_unread() -> None:
    found = unread(column(2), [0.0, 0.0, 100.0, 0.0], sigma=50.0)
    assert not any(one.is_sure for one in found)


def test_a_pair_tells_as_much_as_a_column() -> None:
    domain = Domain((column(2), Attribute.coded("y", 2)))
    seen = (Measurement(("x", "y"), np.array([[1.0, 0.0], [0.0, 2.0], [990.0, 1000.0], [1.0, 0.0]]), 3.0),)
    (found,) = unread_columns(Evidence(domain, None, seen, 2000.0), None, {}, {})
    assert (found.column, found.is_sure) == ("x", True)


def test_rows_without_values_make_no_good_table_even_where_nothing_was_measured() -> None:
    domain = Domain((column(2), Attribute.coded("y", 2)))
    codes = np.column_stack([np.full(1000, 2), np.arange(1000) % 2]).astype(np.int32)
    (open_one,) = unread_columns(Evidence(domain, codes, (), 1000.0), None, {}, {})
    assert (open_one.share, open_one.is_sure) == (0.0, False)
    (bounded,) = unread_columns(Evidence(domain, codes, (), 1000.0), None, {("x",): math.nan, ("x", "y"): 0.04}, {})
    assert not bounded.is_sure  # the smallest table decides, whatever the others say
    (bounded,) = unread_columns(Evidence(domain, codes, (), 1000.0), None, {("x", "y"): 0.04}, {})
    assert (bounded.at_most, bounded.is_sure) == (0.04, True)
    assert not says_something(("x", "y"), {"x"})
    assert says_something(("y",), {"x"})


def test_nobody_is_no_value_of_a_member() -> None:
    own = column(2)
    domain = Domain((Attribute.categorical("x", [*own.cell_labels(), "nobody"]),))
    seen = (Measurement(("x",), np.array([2.0, 0.0, 900.0, 100.0, 1000.0]), 3.0),)
    (found,) = unread_columns(Evidence(domain, None, seen, 2000.0), Total(2000.0, 0.0), {}, {"x": own})
    assert found.is_sure


@pytest.mark.parametrize("values", [1, 3, 200])
@pytest.mark.parametrize("public", [False, True])
@pytest.mark.parametrize("sigma", [3.0, 20.0, 60.0])
def test_more_than_the_stated_share_is_never_called_surely_unread(values: int, public: bool, sigma: float) -> None:
    """Shares from just above `SURELY` up, noise from small to hiding all: at most `FAILURE` of 10,000 draws, a tenth of one, may fail."""
    rng, people, attribute = np.random.default_rng([values, public, int(sigma)]), 1000.0, column(values)
    domain, wrong = Domain((attribute,)), 0
    for share in rng.uniform(SURELY + 0.001, SURELY + 0.1, 10_000 // 18 + 1):
        true = np.r_[np.full(values, share * people / values), (1 - share) * people, 0.0]
        seen = Measurement(("x",), true + rng.normal(0, sigma, true.size), sigma)
        total = Total(people, 0.0) if public else Total(people + rng.normal(0, 5 * sigma), 5 * sigma)
        found = unread_columns(Evidence(domain, None, (seen,), people), total, {}, {})
        wrong += any(one.is_sure for one in found)
    assert FAILURE * 10_000 <= 0.1
    assert wrong == 0


def test_the_worst_draws_fail_as_seldom_as_stated() -> None:
    """At the share itself, 10,000 draws whose noise makes the test as weak as it can be, with a failure of 1e-5: none."""
    rng, attribute = np.random.default_rng(5), column(1)
    domain, people, sigma = Domain((attribute,)), 1000.0, 40.0
    for noise in rng.normal(0, sigma, (10_000, 3)):
        seen = Measurement(("x",), np.array([200.0, 800.0, 0.0]) + noise, sigma)
        assert not any(one.is_sure for one in unread_columns(Evidence(domain, None, (seen,), people), None, {}, {}))


@pytest.mark.parametrize(("sigma", "named"), [(10.0, 0.99), (30.0, 0.6)])
def test_a_column_of_others_alone_is_named_where_noise_allows(sigma: float, named: float) -> None:
    """Of 1,000 people, all with others, the noise of both cells deviates by 14 or 42: P(U >= 950) = 0.9998, and P(U >= 981) = 0.67, less
    three standard deviations of 500 draws."""
    rng, attribute = np.random.default_rng(3), column(3)
    draws = [unread(attribute, list(np.array([0, 0, 0, 1000, 0]) + rng.normal(0, sigma, 5)), sigma, Total(1000.0, 0.0)) for _ in range(500)]
    assert np.mean([any(one.is_sure for one in found) for found in draws]) >= named
