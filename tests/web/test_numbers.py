"""Typed numbers: read exactly, or refused with one clear message."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.web.shell import numbers
from tests.refusals import refused

NO_NUMBERS = ["one", "", "  ", "nan", "inf", "-inf", "0", "-1", "1,000", "1.234,5", "1,5,6", "0x10", "1e", "١.٥٬", "1 2", "1e-400"]


@pytest.mark.parametrize("text", NO_NUMBERS)
def test_texts_that_are_no_positive_number_are_refused(text: str) -> None:
    caught = refused(numbers.positive, text, "budget.epsilon", "1")
    assert caught.field == "budget.epsilon"
    assert caught.remedy


def test_a_decimal_comma_is_read_and_what_may_be_thousands_is_not() -> None:
    texts = {"0,5": 0.5, "1,5": 1.5, ",25": 0.25, "0,125": 0.125, "1,5e-9": 1.5e-9, "12,25": 12.25}
    assert {text: numbers.positive(text, "epsilon", "1") for text in texts} == texts
    refused(numbers.positive, "1,000", "epsilon", "1", saying="thousands separators")


def test_what_an_account_has_left_is_said_in_releases() -> None:
    assert [numbers.more(n).split(".")[0] for n in (0, 1, 2500)] == [
        "No other release like this fits",
        "One more release like this fits",
        "About 2,500 more releases like this one fit",
    ]


@given(st.floats(min_value=1e-300, max_value=1e300, allow_subnormal=False))
def test_a_number_is_read_as_written(number: float) -> None:
    assert numbers.positive(f" {number!r} ", "x", "1") == number


@given(st.floats(min_value=1e-12, max_value=1e9))
def test_the_short_form_reads_back_to_six_digits(number: float) -> None:
    assert float(numbers.short(number)) == pytest.approx(number, rel=1e-5)


def test_short_forms_are_what_people_write() -> None:
    assert [numbers.short(x) for x in (1.0, 0.25, 1e-9, 10.0)] == ["1", "0.25", "1e-9", "10"]


@pytest.mark.parametrize("text", ["", "0", "11", "1.5", "-3", "one", "1e1", "²", "9" * 50])
def test_texts_that_are_no_whole_number_in_range_are_refused(text: str) -> None:
    refused(numbers.whole, text, "rows", 1, 10)


def test_whole_numbers_in_range_are_read() -> None:
    assert [numbers.whole(text, "rows", 1, 10) for text in ("1", " 10 ", "007")] == [1, 10, 7]


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        (0, "0"),
        (999_999, "999,999"),
        (2_500_000, "2.5 million"),
        (9.6e9, "9.6 billion"),
        (3e12, "3.0 trillion"),
        (29 * 10**16, "2.9 × 10¹⁷"),
    ],
)
def test_sizes_are_shown_for_reading(number: float, shown: str) -> None:
    assert numbers.count(number) == shown


def test_sizes_beyond_any_float_are_shown() -> None:
    assert numbers.count(math.prod([32] * 300)) == "3.5 × 10⁴⁵¹"
