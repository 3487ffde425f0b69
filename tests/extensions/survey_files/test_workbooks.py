"""Workbooks: sheets, cells of every type, odd cells, and rows that are blank."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
import xlsxwriter

from dpsynth_core.extensions.survey_files import spreadsheet_file
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.interface.test_form import plan
from tests.refusals import refused
from tests.sources.test_neighbours import coded
from tests.sources.written import WRITERS


def book(path: Path, *sheets: tuple[str, dict[str, object]]) -> Path:
    with xlsxwriter.Workbook(path) as workbook:
        for name, cells in sheets:
            sheet = workbook.add_worksheet(name)
            for cell, value in cells.items():
                sheet.write(cell, value)
    return path


def test_a_sheet_is_chosen_by_its_name_and_the_first_one_is_usual(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("one", {"A1": "x", "A2": 1}), ("two", {"C4": "y", "D4": "z", "C5": "v", "F5": "note", "D7": 2.5}))
    assert spreadsheet_file.sheets(path) == ("one", "two")
    assert opened(path, default_format(path)).column_names() == ("x",)
    second = TableFormat("spreadsheet", sheet="two")
    assert pa.Table.from_batches(opened(path, second).batches(["z", "y"])).to_pydict() == {"z": [None, "2.5"], "y": ["v", None]}
    refused(opened(path, TableFormat("spreadsheet", sheet="three")).check, saying=r"data\.sheet: the workbook has no sheet of this name")


def test_numbers_in_a_workbook_are_numbers_whatever_marks_its_texts_have(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("s", {"A1": "pay", "A2": 1234.5, "A3": "1.234,5", "A4": "1234,5", "A5": 1e-7}))
    form = TableFormat("spreadsheet", decimal=",", thousands=".")
    table = pa.Table.from_batches(opened(path, form).batches(["pay"]))
    pay = Domain((Attribute.numeric("pay", 0, 2000, bins=20, missing=True),))
    assert encode(pay, table, form.notation)["pay"].tolist() == [12, 12, 12, 0]


def test_a_workbook_that_unpacks_to_very_much_is_refused_before_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "a.xlsx", ("s", {"A1": "a", "A2": 1}))
    assert spreadsheet_file.names(path, TableFormat("spreadsheet")) == ("a",)
    monkeypatch.setattr(spreadsheet_file, "MAX_UNPACKED", 1000)
    refused(spreadsheet_file.names, path, TableFormat("spreadsheet"), kind=CapacityError, saying="unpacks to more than")


def test_a_cell_far_away_costs_nothing(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("s", {"A1": "a", "A2": 1, "XFD1048576": "far away"}))
    assert pa.Table.from_batches(opened(path, TableFormat("spreadsheet")).batches(["a"])).to_pydict() == {"a": ["1"]}


SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{}</sheetData></worksheet>'
STYLES = (
    '<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><cellXfs>'
    '<xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="46"/></cellXfs></styleSheet>'
)
ODD_CELLS = (
    *('<c s="2"><v>1e15</v></c>', '<c s="1"><v>1e300</v></c>', '<c s="1"><v>-5</v></c>', '<c s="99"><v>1</v></c>'),
    *('<c s="x"><v>1</v></c>', '<c t="b"><v>7</v></c>', '<c t="zz"><v>1</v></c>', '<c t="s"><v>99</v></c>', '<c t="s"><v>-1</v></c>'),
    *('<c t="s"><v>x</v></c>', "<c><v>1e400</v></c>", "<c><v>nan</v></c>", "<c><v>1_0</v></c>", '<c t="d"><v>xx</v></c>'),
    *('<c t="e"><v>#N/A</v></c>', "<c/>", '<c t="str"><v>a & b</v></c>'),
    *('<c t="str"><v>&nbsp;&#0;&#xFFFF;&#x110000;&#99999999;&amp</v></c>', '<c t="str"><v>\x01\x0b\ufffe</v></c>'),
    *('<c r="XFE1"><v>1</v></c>', '<c r="A0"><v>1</v></c>', '<c r="1A"><v>1</v></c>', '<c r="AAAAAAAAAA1"><v>1</v></c>'),
    *("<c><v><v>1</v></v></c>", '<c t="inlineStr"><is><t>_xD800_ _x0000_</t></is></c>', '<c t="inlineStr"><v>1</v></c>'),
    *("<c><f>1</f></c>", "<d/>", "<!-- - -->", "x", '<c t="b"><v> 1</v></c>', '<c t="n"><v>\u0661</v></c>'),
    *('<c t="s"><v>\u0661</v></c>', "<c><is/></c>", "<c><v>" + "9" * 5000 + "</v></c>"),
)


def odd_workbook(path: Path, cells: Sequence[str], extra: bytes = b"") -> Path:
    """A workbook of one column as some program may write it. extra: bytes in the text of the last cell."""
    rows = "".join(f"<row>{cell}</row>" for cell in ('<c t="inlineStr"><is><t>x</t></is></c>', *cells))
    sheet = SHEET.format(rows).encode("utf-8", "surrogatepass").replace(b"EXTRA", extra)
    book(path, ("s", {"A1": "x"}))
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in (parts | {"xl/worksheets/sheet1.xml": sheet, "xl/styles.xml": STYLES.encode()}).items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("cell", ODD_CELLS)
def test_an_odd_cell_of_a_workbook_is_one_record_at_most_and_refuses_nothing(tmp_path: Path, cell: str) -> None:
    honest = ["<c><v>1</v></c>", '<c t="b"><v>1</v></c>', '<c s="1"><v>45000</v></c>', '<c t="str"><v>b</v></c>']

    def texts(cells: Sequence[str]) -> list[str | None]:
        path = odd_workbook(tmp_path / "a.xlsx", cells)
        opened(path, TableFormat("spreadsheet")).check()
        return list(pa.Table.from_batches(opened(path, TableFormat("spreadsheet")).batches(["x"]))["x"].to_pylist())

    wanted = ["1", "true", "2023-03-15", "b"]
    assert texts(honest) == wanted
    for place in range(5):
        read = texts([*honest[:place], cell, *honest[place:]])
        assert read in (wanted, [*wanted[:place], *read[place : len(read) - 4 + place], *wanted[place:]])
        assert len(read) - 4 in (0, 1)


@pytest.mark.parametrize("extra", [b"\xff", b"\xe2\x82", b"\xed\xa0\x80", b"\0"])
def test_bytes_of_a_workbook_that_are_no_text_are_replaced_where_they_stand(tmp_path: Path, extra: bytes) -> None:
    path = odd_workbook(tmp_path / "a.xlsx", ["<c><v>1</v></c>", '<c t="str"><v>aEXTRAb</v></c>', "<c><v>2</v></c>"], extra)
    first, middle, last = pa.Table.from_batches(opened(path, TableFormat("spreadsheet")).batches(["x"]))["x"].to_pylist()
    assert (first, last) == ("1", "2")
    assert re.fullmatch("a\ufffd+b", middle)


def test_entities_of_a_workbook_are_neither_defined_nor_fetched(tmp_path: Path) -> None:
    path = odd_workbook(tmp_path / "a.xlsx", ['<c t="str"><v>&a;</v></c>'])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["xl/worksheets/sheet1.xml"] = b'<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + parts["xl/worksheets/sheet1.xml"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert pa.Table.from_batches(opened(path, TableFormat("spreadsheet")).batches(["x"]))["x"].to_pylist() == ["&a;"]


def test_names_can_be_stated_where_there_is_no_header(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("s", {"A1": 1, "B1": "x", "B2": "y"}))
    form = TableFormat("spreadsheet", names=("number", "letter"))
    assert pa.Table.from_batches(opened(path, form).batches(form.names)).to_pydict() == {"number": ["1", None], "letter": ["x", "y"]}


def test_columns_that_the_header_of_a_sheet_does_not_tell_apart_are_numbered(tmp_path: Path) -> None:
    path = book(tmp_path / "a.xlsx", ("s", {"A1": "x", "C1": "x", "A2": "a", "B2": "b", "C2": "c"}))
    (batch,) = opened(path, TableFormat("spreadsheet")).batches(["x_2", "column_2"])
    assert batch.to_pylist() == [{"x_2": "c", "column_2": "b"}]
    assert opened(path, TableFormat("spreadsheet")).made_names() == ("column_2", "x_2")


def test_a_row_of_a_workbook_that_is_blank_is_no_record_wherever_it_is(tmp_path: Path) -> None:
    def read(body: Sequence[str | None]) -> int:
        WRITERS[".xlsx"](pa.table({"sex": pa.array(body, pa.string()), "age": body, "ward": body}), tmp_path / "a.xlsx")
        return int(coded(tmp_path / "a.xlsx", TableFormat("spreadsheet")).sum())

    for body in (["f", None, "m"], ["f", "m", None], [None, "f", "m"], ["f", " ", None, "m", None, None]):
        assert read(body) == 2


def test_a_workbook_with_a_title_is_read_behind_it_and_another_sheet_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    with xlsxwriter.Workbook(path) as book:
        cover, people = book.add_worksheet("cover"), book.add_worksheet("people")
        cover.write_string(0, 0, "a title")
        cover.write_column(1, 0, ["a note", "another"])
        for place, row in enumerate([["People in 2024"], [], ["x", "sex"], *([f"2024-02-{day:02d}", "f"] for day in range(1, 9))]):
            people.write_row(place, 0, row)
    refused(plan, path, saying="no column of this name, but 'a title'; drop it")
    refused(plan, path, form={"sheet": "people"}, saying="no column of this name, but 'People in 2024'")
    assert plan(path, form={"sheet": "people", "skip": 1}).sealed.spec.data.skip == 1
    refused(plan, path, form={"skip": 1}, saying="state the sheet 'people', which has it")
