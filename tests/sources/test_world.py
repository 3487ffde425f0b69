"""How the world writes numbers, days and moments: understood as it is, or once it is stated; never read as anything else."""

from __future__ import annotations

import math
import unicodedata
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from babel import Locale
from babel.dates import format_date
from dateutil import parser
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.arrow_times import NO_TIME
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.detect_notation import detect_notation
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.month_names import LANGUAGES, MONTHS
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.kinds.dates import day_number
from tests.refusals import refused
from tests.tiers import examples

NUMBERS: dict[str, tuple[str, float, dict[str, Any]]] = {
    "percent": ("45 %", 45, {"units": ("%",)}),
    "percent without a space": ("45%", 45, {"units": ("%",)}),
    "wide percent": ("４５％", 45, {"units": ("%",)}),
    "dollars": ("$1,234.50", 1234.5, {"units": ("$",), "thousands": ","}),
    "dollars below zero": ("-$5", -5, {"units": ("$",)}),
    "minus behind dollars": ("$-5", -5, {"units": ("$",)}),
    "euros": ("1.234,50 €", 1234.5, {"units": ("€", "EUR"), "thousands": ".", "decimal": ","}),
    "euros with a no-break space": ("5\u00a0€", 5, {"units": ("€",)}),
    "a code of a currency": ("EUR 5", 5, {"units": ("EUR",)}),
    "Swiss": ("Fr. 1’234.50", 1234.5, {"units": ("Fr.",), "thousands": "'"}),
    "brackets": ("(5)", -5, {"negative": "(5)"}),
    "dollars in brackets": ("($1,234)", -1234, {"negative": "(5)", "units": ("$",), "thousands": ","}),
    "brackets before a unit": ("(5) €", -5, {"negative": "(5)", "units": ("€",)}),
    "a sign behind": ("5-", -5, {"negative": "5-"}),
    "a sign behind, before a currency": ("1.234,00- EUR", -1234, {"negative": "5-", "units": ("EUR",), "thousands": ".", "decimal": ","}),
    "a minus of typography": ("\u22125", -5, {}),
    "an en dash": ("\u20135", -5, {}),
    "a wide minus": ("－５", -5, {}),
    "wide digits": ("１２３．５", 123.5, {}),
    "Arabic digits": ("١٢٣", 123, {}),
    "Arabic marks": ("١٬٢٣٤٫٥", 1234.5, {"thousands": ","}),
    "Arabic marks where a comma is stated": ("١٢٫٥", 12.5, {"decimal": ","}),
    "Persian digits": ("۱۲۳", 123, {}),
    "Hindi digits": ("१२३", 123, {}),
    "India": ("1,23,45,678", 12345678, {"thousands": ","}),
    "a lakh": ("1,00,000.50", 100000.5, {"thousands": ","}),
    "an exponent": ("1e5", 1e5, {}),
    "an exponent in capitals": ("-1.5E-3", -0.0015, {}),
    "marks that are not seen": ("\u200e5\u200f", 5, {}),
}
NO_NUMBERS = ["5²", "½", "Ⅷ", "5 %", "$5", "(5)", "5-", "1,00,000", "5 €", "٥٬٠٠٠", "5 - 6", "--5", "-", "%", "€", "5%%"]
MOMENT = datetime(2024, 2, 5, 15, 30, 45)
MOMENTS: dict[str, tuple[str, dict[str, Any]]] = {
    "ISO": ("2024-02-05T15:30:45", {}),
    "PostgreSQL COPY": ("2024-02-05 15:30:45+00", {}),
    "PostgreSQL with minutes": ("2024-02-05 15:30:45.123456+05:30", {}),
    "PostgreSQL in history": ("2024-02-05 15:30:45+00:53:28", {}),
    "BigQuery": ("2024-02-05 15:30:45 UTC", {}),
    "BigQuery with a fraction": ("2024-02-05 15:30:45.000000 UTC", {}),
    "SQL Server datetimeoffset": ("2024-02-05 15:30:45.0000000 +00:00", {}),
    "SQL Server style 0": ("Feb  5 2024  3:30PM", {"date_format": "mmm dd yyyy"}),
    "Oracle": ("05-FEB-24 03.30.45.000000 PM", {"date_format": "dd-mmm-yy from 1950", "time_format": "hh.mm"}),
    "Oracle with a zone": ("05-FEB-24 03.30.45.000000000 PM +00:00", {"date_format": "dd-mmm-yy from 1950", "time_format": "hh.mm"}),
    "ISO basic": ("20240205T153045Z", {}),
    "ISO basic with a fraction": ("20240205T153045.123+0100", {}),
    "ISO basic of minutes": ("20240205T1530", {}),
    "Java": ("2024-02-05T15:30:45+01:00[Europe/Berlin]", {}),
    "a place": ("2024-02-05 15:30:45 Europe/Berlin", {}),
    "Go": ("2024-02-05 15:30:45 +0000 UTC", {}),
    "an abbreviation": ("2024-02-05 15:30:45 CET", {}),
    "MySQL": ("2024-02-05 15:30:45.000000", {}),
    "log4j": ("2024-02-05 15:30:45,123", {}),
    "JavaScript": ("2/5/2024, 3:30:45 PM", {"date_format": "mm/dd/yyyy"}),
    "a narrow space": ("2/5/2024, 3:30:45\u202fPM", {"date_format": "mm/dd/yyyy"}),
    "Spanish halves": ("5/2/2024 3:30:45 p.\u00a0m.", {"date_format": "dd/mm/yyyy"}),
    "e-mail": ("Mon, 05 Feb 2024 15:30:45 +0000", {"date_format": "ddd, dd mmm yyyy"}),
    "SAS": ("05FEB2024:15:30:45", {"date_format": "ddmmmyyyy"}),
    "no leading zeros": ("2024-2-5 15:30:45", {}),
    "fourteen digits": ("20240205153045", {}),
    "HL7": ("20240205153045.123+0100", {}),
    "a point": ("05.02.2024 15:30:45", {"date_format": "dd.mm.yyyy"}),
    "wide digits": ("２０２４-０２-０５ １５:３０:４５", {}),
}
TO_THE_MINUTE = ("ISO basic of minutes", "SQL Server style 0")
FOREIGN = {"[Europe/Berlin]": "", " Europe/Berlin": "", "p. m.": "pm", "+00:53:28": "", " UTC": "", "45.123+0100": "45"}
"""What dateutil does not know of these."""
DAY = date(2024, 2, 5)
DAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "no leading zeros": ("2024-2-5", {}),
    "xsd:date": ("2024-02-05Z", {}),
    "xsd:date with hours": ("2024-02-05+01:00", {}),
    "a basic moment": ("20240205T000000Z", {}),
    "two digits": ("05.02.24", {"date_format": "dd.mm.yy from 1930"}),
    "two digits together": ("240205", {"date_format": "yymmdd from 1930"}),
    "two digits with slashes": ("2/5/24", {"date_format": "mm/dd/yy from 1950"}),
    "English": ("5 February 2024", {"date_format": "dd mmmm yyyy"}),
    "English with an ordinal": ("5th Feb 2024", {"date_format": "dd mmmm yyyy"}),
    "American": ("February 5, 2024", {"date_format": "mmmm dd, yyyy"}),
    "American without a space": ("Feb 5,2024", {"date_format": "mmmm dd, yyyy"}),
    "a day of the week": ("Monday, February 5, 2024", {"date_format": "dddd, mmmm dd, yyyy"}),
    "German": ("5. Februar 2024", {"date_format": "dd. mmmm yyyy"}),
    "French": ("5 février 2024", {"date_format": "dd mmmm yyyy"}),
    "French, shortened": ("5 févr. 2024", {"date_format": "dd mmm yyyy"}),
    "French, in pieces": (unicodedata.normalize("NFD", "5 FÉVRIER 2024"), {"date_format": "dd mmmm yyyy"}),
    "Spanish": ("5 de febrero de 2024", {"date_format": "dd de mmmm de yyyy"}),
    "Russian": ("5 февраля 2024", {"date_format": "dd mmmm yyyy"}),
    "Greek": ("5 Φεβρουαρίου 2024", {"date_format": "dd mmmm yyyy"}),
    "fourteen digits": ("20240205153045", {}),
    "Apache": ("05/Feb/2024:10:30:00 +0000", {"date_format": "dd/mmm/yyyy"}),
    "Japanese": ("2024年2月5日", {"date_format": "yyyy年mm月dd日"}),
    "Korean": ("2024년 2월 5일", {"date_format": "yyyy년 mm월 dd일"}),
    "Hungarian": ("2024. 02. 05.", {"date_format": "yyyy. mm. dd."}),
    "a month in letters": ("05-Feb-2024", {"date_format": "dd-mmm-yyyy"}),
    "Arabic digits": ("٠٥/٠٢/٢٠٢٤", {"date_format": "dd/mm/yyyy"}),
}
NO_DAYS = ["5 February 2024", "31.12.24", "20240205", "05.02.2024", "2024-13-01", "2024-02-30", "2024-2", "24-02-05", "2024-02-05x"]


@pytest.mark.parametrize("case", NUMBERS)
def test_a_number_is_read(case: str) -> None:
    text, number, stated = NUMBERS[case]
    assert Notation(**stated).numbers(pa.array([text, "7"])).to_pylist() == [number, 7]


def test_what_is_not_stated_is_no_number() -> None:
    assert Notation().numbers(pa.array(NO_NUMBERS)).to_pylist() == [None] * len(NO_NUMBERS)
    stated = Notation(units=("%",), negative="(5)", thousands=",")
    broken = ["5$", "(5", "5)", "((5))", "%5%", "1,0,000", "1,00,00", "-(5)", "()", "(%)", "12,34"]
    assert stated.numbers(pa.array(broken)).to_pylist() == [None] * len(broken)


@pytest.mark.parametrize("case", MOMENTS)
def test_a_moment_is_read_as_dateutil_reads_it(case: str) -> None:
    text, stated = MOMENTS[case]
    (read,) = Notation(**stated).moments(pa.array([text])).tolist()
    moment = datetime(1970, 1, 1) + pd.Timedelta(read, "us").to_pytimedelta()
    wanted = MOMENT.replace(second=0) if case in TO_THE_MINUTE else MOMENT
    assert moment.replace(microsecond=0) == wanted
    assert Notation(**stated).days(pa.array([text])).tolist() == [day_number(DAY)]
    plain = unicodedata.normalize("NFKC", text)
    for written, known in FOREIGN.items():
        plain = plain.replace(written, known)
    if "time_format" not in stated and "SAS" not in case:
        first = stated.get("date_format", "").startswith("dd")
        assert parser.parse(plain, ignoretz=True, dayfirst=first).replace(microsecond=0) == moment.replace(microsecond=0)


@pytest.mark.parametrize("case", DAYS)
def test_a_day_is_read(case: str) -> None:
    text, stated = DAYS[case]
    assert Notation(**stated).days(pa.array([text, "2024-02-05"])).tolist() == [day_number(DAY)] * 2


def test_whole_numbers_are_days_where_digits_are_stated() -> None:
    column = Attribute.day("x", "2024-02-01", "2024-02-29", width=1, other=True, missing=True)
    for form, number in (("yyyymmdd", 20240205), ("ddmmyyyy", 5022024), ("yymmdd from 1930", 240205), ("ddmmyy from 1930", 50224)):
        assert encode_column(column, pa.array([number, None]), Notation(date_format=form)).tolist() == [4, column.missing_code]
    assert encode_column(column, pa.array([20240205]), Notation()).tolist() == [column.missing_code]


def test_what_is_not_stated_is_no_day() -> None:
    assert np.isnan(Notation().days(pa.array(NO_DAYS))).all()
    stated = Notation(date_format="dd mmmm yyyy")
    assert np.isnan(stated.days(pa.array(["5 Febtember 2024", "5 2 2024", "30 February 2024", "February 5 2024"]))).all()


def test_two_digits_are_a_year_of_the_stated_hundred() -> None:
    stated = Notation(date_format="dd.mm.yy from 1930")
    read = stated.days(pa.array(["01.01.30", "31.12.29", "01.01.00", "31.12.99", "29.02.00"])).tolist()
    wanted = (date(1930, 1, 1), date(2029, 12, 31), date(2000, 1, 1), date(1999, 12, 31), date(2000, 2, 29))
    assert read == [day_number(day) for day in wanted]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_months_of_a_language_are_those_of_unicode(language: str) -> None:
    every = Locale.parse(language).months
    for context in ("format", "stand-alone"):
        for width in ("wide", "abbreviated"):
            assert {name.lower().rstrip("."): number for number, name in every[context][width].items()}.items() <= MONTHS.items()


@examples(60)
@given(st.dates(date(1, 1, 1)), st.sampled_from(LANGUAGES), st.sampled_from(["d MMMM y", "d MMM y", "EEEE, d MMMM y"]))
def test_a_day_is_read_as_babel_writes_it(day: date, language: str, form: str) -> None:
    written = format_date(day, form.replace("y", "yyyy"), locale=language)
    stated = form.replace("d", "dd").replace("MMMM", "mmmm").replace("MMM", "mmm").replace("y", "yyyy").replace("EEEE", "dddd")
    assert Notation(date_format=stated).days(pa.array([written])).tolist() == [day_number(day)]


SAME: dict[str, tuple[str, str, str]] = {
    "decomposed": (unicodedata.normalize("NFD", "Müller"), "Müller", "look"),
    "no-break space": ("New\u00a0York", "New York", "look"),
    "two spaces": ("New  York", "New York", "look"),
    "zero width": ("a\u200bb", "ab", "look"),
    "apostrophe": ("don\u2019t", "don't", "look"),
    "dash": ("25\u201334", "25-34", "look"),
    "quotes": ("\u201ca\u201d", '"a"', "look"),
    "wide": ("Ｋ１", "K1", "look"),
    "capitals": ("FEMALE", "female", "case"),
    "sharp s": ("STRASSE", "Straße", "case"),
    "dotted": ("IZMIR", "izmir", "case"),
}


@pytest.mark.parametrize("case", SAME)
def test_texts_are_told_apart_unless_that_is_stated(case: str) -> None:
    written, listed, needed = SAME[case]
    column = Attribute.categorical("x", [listed, "z"], other=True)
    codes = {same: encode_column(column, pa.array([written, "z"]), Notation(same_text=same)).tolist() for same in ("exact", "look", "case")}
    assert codes["exact"] == [2, 1]
    assert codes["look"] == ([0, 1] if needed == "look" else [2, 1])
    assert codes["case"] == [0, 1]


@pytest.mark.parametrize("same", ["look", "case"])
def test_a_code_of_a_classification_counts_as_its_other_spelling(same: str) -> None:
    from dpsynth_core.vocabulary.hierarchy import Hierarchy

    column = Attribute.listed("x", "hierarchical", ["é1"], hierarchy=Hierarchy(level=2), other=True)
    code = unicodedata.normalize("NFD", "é1") if same == "look" else "É1"
    assert encode_column(column, pa.array([unicodedata.normalize("NFC", code) + "7"]), Notation(same_text="case")).tolist() == [0]


TEXTS = st.text(st.sampled_from("0123456789-−–.,%$€()eE :TZ/+年月日١２februaryé\u0301\u00a0"), max_size=24)
ODD = st.one_of(
    st.sampled_from([text for text, *_ in (*NUMBERS.values(), *MOMENTS.values(), *DAYS.values())]), TEXTS, st.text(max_size=10)
)
STATED = st.fixed_dictionaries(
    {
        "thousands": st.sampled_from(["", ",", " "]),
        "negative": st.sampled_from(["-5", "(5)", "5-"]),
        "units": st.sampled_from([(), ("%",), ("$", "€")]),
        "date_format": st.sampled_from(["yyyy-mm-dd", "dd.mm.yy from 1930", "dd mmmm yyyy", "dddd, mmmm dd, yyyy", "yyyy年mm月dd日"]),
        "time_format": st.sampled_from(["hh:mm", "hhmm", "hh.mm"]),
        "same_text": st.sampled_from(["exact", "look", "case"]),
    }
)


def same(one: Any, other: Any) -> bool:
    return one == other or (isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other))


@examples(150)
@given(st.lists(ODD, min_size=1, max_size=8), STATED)
def test_a_text_is_read_the_same_alone_and_among_others(written: list[str], stated: dict[str, Any]) -> None:
    notation, listed = Notation(**stated), Attribute.categorical("x", ["a", "é", "25-34"], other=True, missing=True)
    every = pa.array([text.strip() for text in written], pa.string())
    readers = {
        "number": lambda texts: notation.numbers(texts).to_pylist(),
        "day": lambda texts: notation.days(texts).tolist(),
        "moment": lambda texts: notation.moments(texts).tolist(),
        "time": lambda texts: notation.clocks(texts).tolist(),
        "duration": lambda texts: notation.durations(texts, 1).tolist(),
        "category": lambda texts: encode_column(listed, texts, notation).tolist(),
    }
    for read in readers.values():
        together = read(every)
        assert all(same(together[place], read(every.slice(place, 1))[0]) for place in range(len(every)))
    assert all(moment == NO_TIME or abs(moment) < 2**62 for moment in readers["moment"](every))


def test_categories_that_count_as_the_same_text_are_refused_before_anything_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\nBern\n", encoding="utf-8")
    domain = Domain((Attribute.categorical("x", ["Bern", "BERN"]),))
    assert ArrowSource(domain, tmp_path / "a.csv", TableFormat(same_text="look")).counts([("x",)])["x",].tolist()[:2] == [1, 0]
    refused(ArrowSource, domain, tmp_path / "a.csv", TableFormat(same_text="case"), saying="two of its categories count as the same text")


def test_learnt_values_are_counted_under_one_spelling(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\nBern\nBERN\nbern\nNA\n\u00e9\ne\u0301\n", encoding="utf-8")
    domain = Domain((Attribute.unknown("x", "categorical"),))
    source = ArrowSource(domain, tmp_path / "a.csv", TableFormat(same_text="case"))
    assert dict(next(source.values("x"))) == {"bern": 3, "": 1, "\u00e9": 2}


SUGGESTED = ["20240205", "05.02.24", "5. Februar 2024", "February 5, 2024", "2024\u5e742\u67085\u65e5", "5 de febrero de 2024"]


@pytest.mark.parametrize("form", SUGGESTED)
def test_what_a_column_of_days_suggests_reads_them(form: str) -> None:
    cells = [form.replace("5", str(day), 1) if form != "20240205" else f"202402{day:02d}" for day in (5, 6, 7)]
    found = detect_notation([cells], Notation())
    stated = found.stated if not found.doubts else found.doubts[0].answers[0][1]
    assert np.isfinite(Notation(**stated).days(pa.array(cells))).all()


@pytest.mark.parametrize("case", [case for case, (_, _, stated) in NUMBERS.items() if {*stated} & {"units", "negative"}])
def test_what_a_column_of_numbers_suggests_reads_them(case: str) -> None:
    text, number, _ = NUMBERS[case]
    stated = detect_notation([[text] * 9], Notation())
    marks = stated.stated if not stated.doubts else {**stated.stated, **NUMBERS[case][2]}
    assert Notation(**marks).numbers(pa.array([text])).to_pylist() == [number]
