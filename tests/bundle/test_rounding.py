"""Which texts say the same where other libraries wrote one of them."""

from __future__ import annotations

import pytest

from dpsynth_core.bundle.rounding import rounded, same

LAST_DIGITS = [
    ("0.30000000000000004", "0.3"),
    ("2.8421709430404007e-17", "0"),
    ("-1.3877787807814457e-17", "0.0"),
    ('{"a": 1.95996398454, "b": [1, 2]}', '{"a": 1.959963984541, "b": [1, 2]}'),
]
ROUNDED = [("0.7%", "0.8%"), ("12.3 %", "12.4 %"), ("1.25", "1.26"), ("<td>0.123</td>", "<td>0.124</td>")]
OTHER = [
    ("5", "0.01"),
    ("5", "6"),
    ("0.5", "0.6"),
    ("(2, 1e-09)", "(2, 1e-12)"),
    ("(2, 1e-09)", "(2, 0)"),
    ("1e-09", "1.0000000e-12"),
    ("0.000001", "0"),
    ("12345678", "12345679"),
    ("9223372036854775807", "9223372036854775806"),
    ("10,584 people", "10584 people"),
    ("1.0", "1.0 x"),
    ("", "1"),
    ("1 2", "1 2 3"),
    ("95 %", "96 %"),
    ("12.3 %", "12.5 %"),
    ("1.25", "-1.25"),
    ("numpy 2.4.6", "numpy 2.4.7"),
    ("2026-11-22", "2026-11-23"),
    ("ab1234567.123456cd", "ab1234567.123457cd"),
    ("0.1234567", "0.1234567%"),
    ("<p>a</p>", "<p >a</p>"),
]


@pytest.mark.parametrize(("ours", "theirs"), LAST_DIGITS)
def test_digits_that_another_machine_rounds_are_the_same(ours: str, theirs: str) -> None:
    assert same(ours, theirs)
    assert same(theirs, ours)
    assert rounded(ours, theirs)


@pytest.mark.parametrize(("ours", "theirs"), ROUNDED)
def test_the_last_digit_of_a_number_for_reading_is_rounded(ours: str, theirs: str) -> None:
    assert not same(ours, theirs)
    assert rounded(ours, theirs)
    assert rounded(theirs, ours)


@pytest.mark.parametrize(("ours", "theirs"), OTHER)
def test_whatever_was_stated_or_added_is_something_else(ours: str, theirs: str) -> None:
    assert not rounded(ours, theirs)
    assert not rounded(theirs, ours)
