"""Rows in files of SPSS, Stata, SAS and Excel: what other programs find in them, and what they cannot hold."""

from __future__ import annotations

import io
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from dpsynth_core.extensions.survey_files import statistical_file
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.release import row_files
from dpsynth_core.release.about import About
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.release.rows import HeldRows
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.refusals import refused
from tests.release.test_row_files import (
    LABELLED,
    LISTED,
    NUMBER,
    STRANGE,
    WORDS,
    WORDS_OF_STATA,
    checked_to_say_what_it_is,
    columns,
    read_back,
    rows,
)
from tests.row_files import ABOUT, row_file


def labels(column: Column) -> dict[object, object]:
    return dict(zip(column.categories or (), column.labels or (), strict=True))


@pytest.mark.parametrize("name", ["sav", "dta", "xpt"])
def test_labels_travel(tmp_path: Path, name: str) -> None:
    path = tmp_path / f"rows.{name}"
    path.write_bytes(row_file(name, rows(LABELLED)[1], LABELLED))
    by_name = {column.name: column for column in statistical_file.described(path, default_format(path))}
    assert by_name["sex"].label == "Geschlecht der Person"
    assert by_name["age"].label == "Age in years"
    assert by_name["born"].kind == "date"
    if name != "xpt":
        assert labels(by_name["sex"]) == {"1": "männlich", "2": "weiblich"}
        assert labels(by_name["smokes"]) == {"0": "false", "1": "true"}
    if name == "sav":
        assert labels(by_name["region"]) == {"n": "north", "s": "south"}
        assert by_name["pay"].decimals == 2


def test_notes_of_spss_have_room_for_letters_of_any_script() -> None:
    """They count bytes, and refuse a file for one line that is too long when the budget is spent."""
    creators = ("統計局" * 20, "Ministère de l'Économie, des Finances et de la Souveraineté industrielle")
    stated = AboutSpec(licence="é" * 90, creators=creators)
    about = About("0" * 64, 1.0, 1e-9, protects=True, stated=stated)
    assert max(len(line.encode()) for line in about.lines) <= 80
    assert re.sub(r"\s", "", "".join(about.lines)).count("統計局") == 20
    table = pa.table({"sex": pa.array(["1", "2"])})
    domain = Domain.from_json({"version": 1, "attributes": [{"name": "sex", "kind": "categorical", "categories": ["1", "2"]}]})
    out = io.BytesIO()
    FORMATS["sav"].write(HeldRows(table), domain, out, about)
    assert out.getvalue().startswith(b"$FL2")


def test_stata_has_the_rows_behind_the_notes() -> None:
    """The parts of its file that begin behind them are where its map says, whatever the notes hold."""
    domain = Domain((Attribute.categorical("texts", ["<map>", "b" * 3000]),))
    table = pa.table({"texts": ["<map>", "b" * 3000, "<map>"]})  # long texts and their labels stand in parts of their own
    assert pd.read_stata(io.BytesIO(row_file("dta", table, domain)))["texts"].tolist() == table["texts"].to_pylist()


def test_spss_keeps_that_an_order_is_one(tmp_path: Path) -> None:
    domain = Domain((Attribute.categorical("health", ["1", "2"], ordered=True, dtype="int64", labels=["poor", "good"]),))
    (tmp_path / "rows.sav").write_bytes(row_file("sav", rows(domain)[1], domain))
    assert pyreadstat.read_sav(tmp_path / "rows.sav")[1].variable_measure == {"health": "ordinal"}
    (column,) = statistical_file.described(tmp_path / "rows.sav", default_format(tmp_path / "rows.sav"))
    assert column.kind == "ordinal"


def test_other_programs_see_the_types(tmp_path: Path) -> None:
    _, table = rows(LABELLED)
    (tmp_path / "a.sav").write_bytes(row_file("sav", table, LABELLED))
    frame, meta = pyreadstat.read_sav(str(tmp_path / "a.sav"))
    assert meta.original_variable_types["born"] == "SDATE10"
    assert frame["born"].dropna().tolist() == table.column("born").drop_null().to_pylist()
    assert meta.variable_measure["sex"] == "nominal"
    stata = pd.read_stata(io.BytesIO(row_file("dta", table, LABELLED)))
    assert str(stata["born"].dtype).startswith("datetime64")
    assert set(stata["sex"].dropna()) == {"männlich", "weiblich"}
    excel = pd.read_excel(io.BytesIO(row_file("xlsx", table, LABELLED)), engine="calamine", sheet_name=None)
    assert str(excel["rows"]["born"].dtype).startswith("datetime64")
    assert excel["codebook"]["value_label"].dropna().tolist()[:2] == ["männlich", "weiblich"]


def test_nothing_in_a_workbook_is_a_formula_or_a_link() -> None:
    hostile = ["=1+1", "http://example.org", "@x", "{=A1}", "7"]
    domain = Domain((Attribute.categorical("=A1", hostile),))
    content = row_file("xlsx", pa.table({"=A1": hostile}), domain)
    book = pd.read_excel(io.BytesIO(content), engine="calamine", dtype=str)
    assert (list(book.columns), book["=A1"].tolist()) == (["=A1"], hostile)
    sheet = zipfile.ZipFile(io.BytesIO(content)).read("xl/worksheets/sheet1.xml")
    assert b"<f>" not in sheet
    assert b"hyperlink" not in sheet


@pytest.mark.parametrize("name", ["sav", "dta", "xpt"])
def test_any_column_name_becomes_one_that_the_program_allows(tmp_path: Path, name: str) -> None:
    names = ["a b", "a_b", "A_B", "1st", "straße", "_x", "x" * 100, "x" * 100 + "y", "日本", "select", "%"]
    domain = Domain(tuple(Attribute.coded(column, 2) for column in names))
    codes, table = rows(domain, 5)
    path = tmp_path / f"a.{name}"
    path.write_bytes(row_file(name, table, domain))
    assert np.array_equal(read_back(path, domain), codes)
    assert statistical_file.described(path, default_format(path))[0].label == "a b"


@pytest.mark.parametrize(("name", "words"), [("sav", WORDS), ("dta", WORDS_OF_STATA)])
def test_reserved_words_are_renamed_and_keep_their_labels(tmp_path: Path, name: str, words: tuple[str, ...]) -> None:
    domain = STRANGE["words that SPSS and Stata reserve"]
    path = tmp_path / f"rows.{name}"
    path.write_bytes(row_file(name, rows(domain)[1], domain))
    named = {column.name: column.label for column in statistical_file.described(path, default_format(path))}
    assert {f"v_{word}": f"about {word}" for word in words}.items() <= named.items()


def test_a_workbook_says_which_days_are_texts() -> None:
    for case, told in (("days before 1900", True), ("negative durations", False)):
        domain = STRANGE[case]
        content = io.BytesIO(row_file("xlsx", rows(domain)[1], domain))
        about = " ".join(pd.read_excel(content, sheet_name="about", engine="calamine", header=None)[0])
        assert ("Days before 1900 are texts such as 1899-12-31, since Excel has no number for them: 'y'." in about) is told


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("xlsx", {**LISTED, "name": "x", "categories": ["a" * 40_000, "b"]}),
        ("xlsx", {**LISTED, "name": "x", "categories": ["\U0001f600" * 20_000, "b"]}),
        ("sav", {**LISTED, "name": "x", "categories": ["\u00e9" * 20_000, "b"]}),
        ("xpt", {**LISTED, "name": "x", "categories": ["a" * 40_000, "b"]}),
        ("xpt", {**NUMBER, "name": "x", "lower": 0, "upper": 1e100}),
        ("xpt", {**NUMBER, "name": "x", "lower": 1e-300, "upper": 2e-300}),
        ("xpt", {**LISTED, "name": "x", "dtype": "float64", "categories": ["1e100", "2"]}),
    ],
)
def test_what_a_format_cannot_hold_is_known_from_the_domain(name: str, entry: dict[str, Any]) -> None:
    refused(row_files.check, columns(entry), ABOUT, ["csv", "parquet", name], saying="column 'x': a file for")


def test_more_rows_than_a_sheet_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsynth_core.extensions.survey_files.SHEET_ROWS", 59)
    refused(row_file, "xlsx", rows(LABELLED)[1], LABELLED, kind=CapacityError, saying="a sheet holds")


def test_a_file_that_lost_its_bundle_says_what_it_is(tmp_path: Path) -> None:
    """As the programs show it that people open such files with."""
    for name in ("sav", "dta", "xpt", "xlsx"):
        (tmp_path / f"rows.{name}").write_bytes(row_file(name, rows(LABELLED)[1], LABELLED))
    _, spss = pyreadstat.read_sav(tmp_path / "rows.sav")
    assert spss.variable_measure["age"] == "scale"
    stata = pyreadstat.read_dta(tmp_path / "rows.dta")[1]
    for label, notes in ((spss.file_label, spss.notes), (stata.file_label, stata.notes)):
        assert label == ABOUT.label
        checked_to_say_what_it_is(" ".join(notes))
    assert pyreadstat.read_xport(tmp_path / "rows.xpt")[1].file_label == ABOUT.label
    sheets = pd.read_excel(tmp_path / "rows.xlsx", sheet_name=None, engine="calamine", header=None)
    assert list(sheets) == ["rows", "codebook", "about"]
    checked_to_say_what_it_is(" ".join(sheets["about"][0]))


@pytest.mark.parametrize("name", ["xlsx", "sav", "dta", "xpt"])
def test_what_is_written_at_once_refuses_too_many_rows(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("dpsynth_core.extensions.survey_files.MOST_AT_ONCE", 59)
    refused(row_file, name, rows(LABELLED)[1], LABELLED, kind=CapacityError, saying="use CSV or Parquet")
