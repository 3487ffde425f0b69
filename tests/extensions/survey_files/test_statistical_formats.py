"""Formats of SPSS, Stata and SAS: every family of dates and times is known, an unknown one is said, and listed values are values."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.opening import opened
from dpsynth_core.sources.parts import WHOLE

DATES = [
    "DATE9",
    "DDMMYY10",
    "DDMMYYB8",
    "MMDDYYD10",
    "YYMMDDN8",
    "YYMM7",
    "YYMMN6",
    "YYMMP7",
    "MMYY7",
    "MMYYS7",
    "MONYY7",
    "YYMON7",
    "YYQ6",
    "YYQC6",
    "YYQR8",
    "YYQZ4",
    "JULIAN7",
    "JULDAY3",
    "YEAR4",
    "MONTH2",
    "MONNAME3",
    "DAY2",
    "DOWNAME3",
    "WEEKDAY1",
    "QTR",
    "QTRR",
    "WEEKU5",
    "WEEKV9",
    "WEEKW5",
    "WEEKDATE29",
    "WEEKDATX",
    "WORDDATE18",
    "WORDDATX18",
    "MINGUO8",
    "NENGO10",
    "HDATE",
    "HEBDATE",
    "B8601DA8",
    "E8601DA10",
    "IS8601DA",
    "NLDATE",
    "NLDATEL",
    "NLDATEMN",
    "NLDATEYM",
    "NLDATEW",
    "EURDFDD10",
    "EURDFDE9",
    "EURDFWDX",
    "EURDFWKX",
    "EURDFMY",
    "DEUDFDD10",
    "FRADFDE9",
    "XYYMMDD10",
]
MOMENTS = [
    "DATETIME20",
    "DATEAMPM22",
    "MDYAMPM",
    "DTDATE9",
    "DTMONYY7",
    "DTWKDATX",
    "DTYEAR",
    "DTYYQC6",
    "E8601DT",
    "E8601DN",
    "B8601DN",
    "B8601DT",
    "E8601DZ",
    "B8601DX",
    "E8601LX",
    "NLDATM",
    "NLDATMW",
    "NLDATMAP",
    "NLDATMTM",
    "EURDFDT18",
    "DEUDFDT18",
]
NUMBERS = ["BEST12", "COMMA10", "DOLLAR8", "EURO10", "PERCENT8", "Z5", "F8", "MONEY8", "WORDS20", "NEGPAREN8"]


def described(path: Path) -> dict[str, Any]:
    return {one.name: one for one in opened(path, default_format(path)).described()}  # type: ignore[union-attr]


def read(path: Path, column: str) -> list[Any]:
    batches = opened(path, default_format(path)).batches([column])
    return list(pa.Table.from_batches(batches).column(column).to_pylist())


def sas(path: Path, formats: list[str], value: float) -> Path:
    names = [f"c{number}" for number in range(len(formats))]
    frame = pd.DataFrame({name: [value, np.nan] for name in names})
    pyreadstat.write_xport(frame, str(path), variable_format={name: f"{one}." for name, one in zip(names, formats, strict=True)})
    return path


def test_every_format_of_days_is_known_and_read(tmp_path: Path) -> None:
    path = sas(tmp_path / "a.xpt", DATES, 23376.0)
    assert {name: one.kind for name, one in described(path).items()} == {f"c{number}": "date" for number in range(len(DATES))}
    for number in range(len(DATES)):
        assert read(path, f"c{number}") == [datetime.date(2024, 1, 1), None]


def test_every_format_of_moments_is_known_and_read(tmp_path: Path) -> None:
    path = sas(tmp_path / "a.xpt", MOMENTS, 23376 * 86400.0 + 30)
    assert {one.kind for one in described(path).values()} == {"timestamp"}
    for number in range(len(MOMENTS)):
        assert read(path, f"c{number}") == [datetime.datetime(2024, 1, 1, 0, 0, 30), None]


def test_formats_of_numbers_are_no_dates_and_are_not_asked_about(tmp_path: Path) -> None:
    made = described(sas(tmp_path / "a.xpt", NUMBERS, 23376.0))
    assert {one.kind for one in made.values()} <= {"numeric", "integer"}
    assert not any("dates" in one.to_do for one in made.values())


def test_an_unknown_format_that_looks_like_one_of_dates_is_said(tmp_path: Path) -> None:
    (column,) = described(sas(tmp_path / "a.xpt", ["MYDATE8"], 23376.0)).values()
    assert column.kind == "numeric"
    assert "its format MYDATE8 may be one of dates" in column.to_do


PERIODS = ["%td", "%d", "%tdDD/NN/CCYY", "%-tdD_m_Y", "%tw", "%twCCYY!www", "%tm", "%tmMonth_CCYY", "%tq", "%th", "%thCCYY!hh"]


@pytest.mark.parametrize("format", PERIODS)
def test_stata_counts_days_and_periods_as_pandas_reads_them(tmp_path: Path, format: str) -> None:
    counts = [-400, -53, -52, -1, 0, 1, 51, 52, 103, 720, 2600]
    pyreadstat.write_dta(pd.DataFrame({"x": counts}), str(tmp_path / "a.dta"), variable_format={"x": format})
    plain = format.replace("-", "")[: 2 if "%d" in format else 3]
    pyreadstat.write_dta(pd.DataFrame({"x": counts}), str(tmp_path / "plain.dta"), variable_format={"x": plain})
    with pd.read_stata(tmp_path / "plain.dta", iterator=True) as oracle:
        wanted = [moment.date() for moment in oracle.read()["x"]]
    assert read(tmp_path / "a.dta", "x") == wanted
    assert described(tmp_path / "a.dta")["x"].kind == "date"


def test_stata_years_are_numbers_and_business_days_are_asked_about(tmp_path: Path) -> None:
    frame = pd.DataFrame({"year": [2000, 2024], "trade": [1, 2]})
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"), variable_format={"year": "%ty", "trade": "%tbnyse"})
    made = described(tmp_path / "a.dta")
    assert (made["year"].kind, "dates" in made["year"].to_do) == ("numeric", False)
    assert "its format %tbnyse may be one of dates" in made["trade"].to_do


def test_stata_counts_leap_seconds_where_its_format_says_so(tmp_path: Path) -> None:
    def milliseconds(year: int, month: int, day: int) -> float:
        return (datetime.datetime(year, month, day) - datetime.datetime(1960, 1, 1)).total_seconds() * 1000

    counts = [milliseconds(1970, 1, 1), milliseconds(1972, 7, 1) + 1000, milliseconds(2017, 1, 1) + 27000, milliseconds(2017, 1, 1) + 25000]
    frame = pd.DataFrame({"x": counts, "y": counts})
    pyreadstat.write_dta(frame, str(tmp_path / "a.dta"), variable_format={"x": "%tC", "y": "%tc"})
    moments = [datetime.datetime(1970, 1, 1), datetime.datetime(1972, 7, 1), datetime.datetime(2017, 1, 1)]
    assert read(tmp_path / "a.dta", "x") == [*moments, datetime.datetime(2016, 12, 31, 23, 59, 59)]
    assert read(tmp_path / "a.dta", "y")[2] == datetime.datetime(2017, 1, 1, 0, 0, 27)


def test_parts_of_dates_in_spss_are_numbers(tmp_path: Path) -> None:
    frame = pd.DataFrame({"month": [1.0, 12.0], "weekday": [1.0, 7.0]})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), variable_format={"month": "MONTH9", "weekday": "WKDAY9"})
    assert read(tmp_path / "a.sav", "month") == [1.0, 12.0]
    assert not any("dates" in one.to_do for one in described(tmp_path / "a.sav").values())


def test_a_listed_value_is_a_value_though_the_file_declares_it_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"answer": [1.0, 98.0, 99.0, np.nan], "word": ["é", "x", "b", ""], "other": [1.0, 9.0, 2.0, 3.0]})
    missing = {"answer": [{"lo": 98, "hi": 99}], "word": ["é", "x"], "other": [9]}
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), missing_ranges=missing)
    table, columns = opened(tmp_path / "a.sav", default_format(tmp_path / "a.sav")), ["answer", "word", "other"]
    listed = {"answer": ["1", "98"], "word": ["é", "b"]}
    kept = pa.Table.from_batches(table.batches(columns, WHOLE, listed)).to_pydict()
    assert kept == {"answer": [1.0, 98.0, None, None], "word": ["é", None, "b", ""], "other": [1.0, None, 2.0, 3.0]}
    usual = pa.Table.from_batches(table.batches(columns)).to_pydict()
    assert usual == {"answer": [1.0, None, None, None], "word": [None, None, "b", ""], "other": [1.0, None, 2.0, 3.0]}
