"""What a text means as a number or date is what the curator states; nothing is read as another number."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.spelling import DATE_FORMATS, DECIMALS, THOUSANDS
from dpsynth_core.vocabulary.kinds.dates import day_number
from dpsynth_core.vocabulary.kinds.numbers import plain_number
from tests.refusals import refused
from tests.tiers import examples

MARKS = [(decimal, mark) for decimal in DECIMALS for mark in THOUSANDS if decimal != mark]


def days(notation: Notation, *texts: str) -> list[float]:
    return list(notation.days(pa.array(texts)).tolist())


def numbers(notation: Notation, *texts: str) -> list[float | None]:
    return notation.numbers(pa.array(texts)).to_pylist()


@examples(60)
@given(st.integers(-(10**9), 10**9), st.integers(0, 99), st.sampled_from(MARKS))
def test_a_number_means_the_same_in_every_notation(whole: int, cents: int, marks: tuple[str, str]) -> None:
    decimal, mark = marks
    written = f"{whole:,}.{cents:02d}".replace(",", "G").replace(".", decimal).replace("G", mark)
    notation = Notation(decimal=decimal, thousands=mark)
    assert numbers(notation, written, written.replace(mark, "") if mark else written) == [float(f"{whole}.{cents:02d}")] * 2


def test_a_number_that_breaks_its_notation_is_none() -> None:
    comma = Notation(decimal=",", thousands=".")
    assert numbers(comma, "1.5", "1.23,4", "1.2345", "12.34.567", "1,2,3", "1,234.5", "", ",", "0.584", "012.584") == [None] * 10
    assert numbers(comma, "1.234", "1.234.567,8", ",5", "-2,", "1,5e3") == [1234.0, 1234567.8, 0.5, -2.0, 1500.0]
    assert numbers(Notation(), "1,5", "1 000", "0x10", "nan", "inf", "1_000", "\u00b2") == [None] * 7
    assert numbers(Notation(thousands=" "), "1\u00a0234", "1\u202f234 567", "1  234") == [1234.0, 1234567.0, None]
    assert numbers(Notation(thousands="'"), "1\u2019234.5") == [1234.5]


def test_markers_that_are_numbers_are_written_in_the_same_notation() -> None:
    assert Notation(frozenset({"-9,0", "x", "1.000"}), decimal=",", thousands=".").marked_numbers == [-9.0, 1000.0]


@examples(60)
@given(st.dates(), st.sampled_from(DATE_FORMATS))
def test_a_day_means_the_same_in_every_form(day: date, form: str) -> None:
    month = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"][day.month - 1].upper()
    written = form.replace("yyyy", f"{day.year:04d}").replace("mmm", month).replace("mm", f"{day.month:02d}")
    written = written.replace("dd", f"{day.day:02d}")
    assert days(Notation(date_format=form), written, f"{written} 08:30", day.isoformat()) == [float(day_number(day))] * 3


def test_what_is_no_day_is_missing() -> None:
    written = Notation(date_format="dd.mm.yyyy")
    assert all(day == day for day in days(written, "29.02.2024", "1.1.2024"))
    assert all(day != day for day in days(written, "31.04.2023", "29.02.2023", "0.1.2024", "01.01.0000", "01/01/2024"))


SENSELESS: list[dict[str, Any]] = [
    {"decimal": ";"},
    {"thousands": "x"},
    {"decimal": ",", "thousands": ","},
    {"negative": "-(5)"},
    {"same_text": "alike"},
    *({"units": (unit,)} for unit in ("", "5", "a-b", "1%", "e", ".", "x" * 30)),
    *({"date_format": form} for form in ("dd.mm", "dd.mm.yy", "dd.mm.yyyy from 1930", "dd.mm.yy from 93", "dd.dd.yyyy", "ddmmmmyyyy")),
    *({"date_format": form} for form in ("dd.mm.yyyy.mm", "yyyy", "dddd yyyy", "", "dd(mm)yyyy", "dd--mm", "dd x mm x yyyy")),
]


@pytest.mark.parametrize("fields", SENSELESS, ids=str)
def test_a_notation_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    refused(Notation, **fields)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_number_is_that_number(number: float) -> None:
    assert numbers(Notation(), plain_number(number)) == [number]
