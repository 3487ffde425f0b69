"""Files of every kind: recognised by their beginning, read to the same values, refused in one sentence when damaged."""

from __future__ import annotations

import datetime
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pyreadstat
import pytest
import xlsxwriter

from dpsynth_core.extensions.survey_files import spreadsheet_file
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources import feather_file, memory, readable
from dpsynth_core.sources.check_records import check_records
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import kind_of, table_files
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import opened
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.refusals import refused
from tests.sources.written import WRITERS

DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m", "dívčí"], missing=True),
        Attribute.integer("age", 0, 99, missing=True),
        Attribute.numeric("pay", 0, 10, bins=10, missing=True),
        Attribute.day("born", "1900-01-01", "2030-12-31", missing=True),
    )
)
TABLE = pa.table(
    {
        "sex": ["f", "m", "dívčí", "f", "m"],
        "age": pa.array([31, 0, None, 99, 7], pa.int64()),
        "pay": pa.array([0.5, None, 9.25, 3.0, 0.1], pa.float64()),
        "born": pa.array(["2001-02-03", "1900-01-01", None, "2030-12-31", "1969-07-20"], pa.string()),
    }
)
WANTED = {name: codes.tolist() for name, codes in encode(DOMAIN, TABLE, TableFormat().notation).items()}


def coded(path: Path, form: TableFormat | None = None) -> dict[str, list[int]]:
    form = form or default_format(path)
    opened(path, form).check()
    table = pa.Table.from_batches(opened(path, form).batches(DOMAIN.names))
    return {name: codes.tolist() for name, codes in encode(DOMAIN, table, form.notation).items()}


@pytest.mark.parametrize("ending", [ending for ending in WRITERS if ending != ".por"])
def test_a_table_means_the_same_in_every_kind_of_file(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"table{ending}"
    WRITERS[ending](TABLE, path)
    form = default_format(path)
    assert form.kind == kind_of(path)
    assert opened(path, form).column_names() == DOMAIN.names
    assert coded(path) == WANTED


def test_a_portable_file_is_read_with_its_names_in_capitals(tmp_path: Path) -> None:
    WRITERS[".por"](pa.table({"sex": ["f", "m"], "age": [1.5, 2.0]}), tmp_path / "a.por")
    form = default_format(tmp_path / "a.por")
    assert (form.kind, opened(tmp_path / "a.por", form).column_names()) == ("spss", ("SEX", "AGE"))
    assert pa.Table.from_batches(opened(tmp_path / "a.por", form).batches(["AGE"])).to_pydict() == {"AGE": [1.5, 2.0]}


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("place", ["memory", "feather", "parquet"])
def test_text_is_read_alike_from_every_type_of_text(kind: pa.DataType, coded: bool, place: str, tmp_path: Path) -> None:
    """Polars hands over and writes views. Bytes that are no UTF-8 are replaced in all of them."""
    if place == "parquet" and coded and pa.types.is_string_view(kind):
        pytest.skip("Arrow writes no such file")
    raw = pa.array([b"f", b"\xff", None, b"a text that no view holds within itself"], pa.large_binary())
    same_bytes = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]
    column = raw.cast(same_bytes).view(kind)
    if coded:
        column = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), raw.drop_null().cast(same_bytes).view(kind))
    table = pa.table({"text": column, "bytes": raw.cast(pa.binary_view())})
    if place == "memory":
        source = memory.hold(table)
        batches = source.opened(TableFormat()).batches(table.column_names)
    else:
        path = tmp_path / f"a.{place}"
        (feather.write_feather if place == "feather" else pq.write_table)(table, path)
        batches = opened(path, default_format(path)).batches(table.column_names)
    read = pa.Table.from_batches(batches)
    assert read.column("text").to_pylist() == ["f", "\ufffd", None, "a text that no view holds within itself"]
    assert read.column("bytes").to_pylist() == raw.to_pylist()
    domain = Domain((Attribute.categorical("text", ["f"], other=True, missing=True),))
    assert encode(domain, read, TableFormat().notation)["text"].tolist() == [0, 1, 2, 1]
    for name in read.column_names:
        assert len(read.column(name).filter(pa.array([True, False, False, True]))) == 2


@pytest.mark.parametrize("ending", [".xlsx", ".ods", ".sav", ".dta", ".xpt"])
def test_dates_of_a_program_are_dates(tmp_path: Path, ending: str) -> None:
    days = [datetime.date(2001, 2, 3), datetime.date(1900, 3, 1), datetime.date(2030, 12, 31)]
    path = tmp_path / f"a{ending}"
    if ending == ".xlsx":
        with xlsxwriter.Workbook(path, {"default_date_format": "dd/mm/yy"}) as book:
            sheet = book.add_worksheet()
            sheet.write_column(0, 0, ["born", *days])
    else:
        WRITERS[ending](pa.table({"born": pa.array(days, pa.date32())}), path)
    table = pa.Table.from_batches(opened(path, default_format(path)).batches(["born"]))
    codes = encode(Domain((DOMAIN["born"],)), table, TableFormat().notation)["born"]
    wanted = encode(Domain((DOMAIN["born"],)), pa.table({"born": pa.array(days)}), TableFormat().notation)["born"]
    assert np.array_equal(codes, wanted)


def test_declared_missing_values_are_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"answer": [1.0, 2.0, 9.0, np.nan], "word": ["a", "x", "b", ""]})
    pyreadstat.write_sav(frame, str(tmp_path / "a.sav"), missing_ranges={"answer": [{"lo": 8, "hi": 9}], "word": ["x"]})
    table = pa.Table.from_batches(opened(tmp_path / "a.sav", default_format(tmp_path / "a.sav")).batches(["answer", "word"]))
    assert table.to_pydict() == {"answer": [1.0, 2.0, None, None], "word": ["a", None, "b", ""]}


@pytest.mark.parametrize("ending", [".csv.gz", ".csv.zst", ".feather", ".xlsx", ".ods", ".sav", ".zsav", ".dta"])
def test_a_file_that_was_cut_off_is_refused_before_or_while_it_is_read(tmp_path: Path, ending: str) -> None:
    whole, path = tmp_path / f"whole{ending}", tmp_path / f"cut{ending}"
    WRITERS[ending](pa.table({"a": np.random.default_rng(0).integers(0, 10**9, 5000).astype(float)}), whole)
    path.write_bytes(whole.read_bytes()[: int(whole.stat().st_size * 0.7)])

    def read() -> None:
        form = default_format(path)
        opened(path, form).check()
        for _ in opened(path, form).batches(["a"]):
            pass

    refused(read)


@pytest.mark.parametrize("ending", [".feather", ".xlsx", ".sav", ".dta", ".xpt"])
def test_random_damage_ends_in_values_or_in_a_sentence(tmp_path: Path, ending: str) -> None:
    whole, path, rng = tmp_path / f"whole{ending}", tmp_path / f"hit{ending}", np.random.default_rng(5)
    WRITERS[ending](TABLE, whole)
    content = np.frombuffer(whole.read_bytes(), dtype=np.uint8)
    for _ in range(40):
        hit = content.copy()
        hit[rng.integers(64, len(hit), 3)] = rng.integers(0, 256, 3)
        path.write_bytes(hit.tobytes())
        try:
            form = default_format(path)
            opened(path, form).check()
            for _ in opened(path, form).batches(opened(path, form).column_names()[:1]):
                pass
        except InputError:
            pass


# Workbooks


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


# Other structure


def test_lists_in_a_feather_file_cannot_tell_people_apart(tmp_path: Path) -> None:
    WRITERS[".feather"](pa.table({"id": [[1], [2]], "a": [1, 2]}), tmp_path / "a.feather")
    table = opened(tmp_path / "a.feather", TableFormat("feather"))
    refused(readable.check, Domain.from_json({"a": 3}), table.schema, "id", Notation(), saying=r"lists or structures.*nothing was spent")
    assert feather_file.names(tmp_path / "a.feather", TableFormat("feather")) == ("id", "a")


def test_a_folder_of_any_one_kind_is_a_table(tmp_path: Path) -> None:
    for number in range(3):
        WRITERS[".dta"](TABLE.slice(number, 1), tmp_path / f"{number}.dta")
    assert coded(tmp_path) == {name: codes[:3] for name, codes in WANTED.items()}
    assert len(table_files(tmp_path)) == 3
    WRITERS[".dta"](TABLE.select(["sex"]), tmp_path / "3.dta")
    refused(opened(tmp_path, TableFormat("stata")).check, saying="do not have the same columns")


def test_the_survey_counts_json_lines_that_are_no_objects(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n\n[2]\n{"a": 3}\n')
    seen = check_records(opened(tmp_path / "a.jsonl", TableFormat("jsonl")), ["a"]).value
    assert (seen.malformed, seen.blank) == (2, 1)


def test_what_is_no_table_is_refused_with_what_can_be_read(tmp_path: Path) -> None:
    contents = {"zip": b"PK\x03\x04abc", "JSON": b'[{"a": 1}]', "known kind": bytes(range(32)) * 9}
    for name, (problem, content) in enumerate(contents.items()):
        (tmp_path / str(name)).write_bytes(content)
        refused(default_format, tmp_path / str(name), saying=problem)


# Times

TIMES = Domain(
    (
        Attribute.binned("admitted", "timestamp", "2024-01-01", "2024-12-31", precision="minute", width="month", missing=True, other=True),
        Attribute.binned("hour", "time", "00:00", "23:59", precision="minute", width="hour", missing=True, other=True),
        Attribute.binned("stay", "duration", "00:00:00", "47:59:00", precision="minute", width="6 hours", missing=True, other=True),
    )
)
MOMENTS = [datetime.datetime(2024, 2, 29, 23, 59), datetime.datetime(2024, 12, 31, 0, 0), None, datetime.datetime(2023, 1, 1, 12, 30)]
CLOCKS = [datetime.time(13, 45), None, datetime.time(0, 0), datetime.time(23, 59, 59)]
LASTING = [None, datetime.timedelta(hours=26, minutes=30), datetime.timedelta(0), datetime.timedelta(days=3)]
TIMES_AS_CODES = {"admitted": [1, 11, 13, 12], "hour": [13, 25, 0, 23], "stay": [9, 4, 0, 8]}
CLOCK_TEXTS = ["13:45:00", None, "00:00:00", "23:59:59"]
LASTING_TEXTS = [None, "26:30:00", "0:00", "72:00:00"]


def times_of(path: Path) -> dict[str, list[int]]:
    form = default_format(path)
    opened(path, form).check()
    table = pa.Table.from_batches(opened(path, form).batches(TIMES.names))
    return {name: codes.tolist() for name, codes in encode(TIMES, table, form.notation).items()}


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".feather", ".parquet", ".xlsx", ".sav", ".dta", ".xpt"])
def test_times_mean_the_same_in_every_kind_of_file(tmp_path: Path, ending: str) -> None:
    """As each program has them: Stata has no durations, so they are text there."""
    path, columns = tmp_path / f"a{ending}", (MOMENTS, CLOCKS, LASTING)
    typed = pa.table({name: pa.array(values) for name, values in zip(TIMES.names, columns, strict=True)})
    if ending in (".feather", ".parquet"):
        (feather.write_feather if ending == ".feather" else pq.write_table)(typed, path)
    elif ending == ".xlsx":
        with xlsxwriter.Workbook(path) as book:
            sheet = book.add_worksheet()
            sheet.write_row(0, 0, TIMES.names)
            for place, (values, form) in enumerate(zip(columns, ("dd/mm/yyyy hh:mm", "hh:mm", "[h]:mm"), strict=True)):
                for row, value in enumerate(values, start=1):
                    if value is not None:
                        sheet.write_datetime(row, place, value, book.add_format({"num_format": form}))
    elif ending in (".csv", ".jsonl"):
        moments = [None if one is None else str(one) for one in MOMENTS]
        WRITERS[ending](pa.table(dict(zip(TIMES.names, (moments, CLOCK_TEXTS, LASTING_TEXTS), strict=True))), path)
    else:
        seconds = [None if one is None else one.total_seconds() for one in LASTING]
        lasting = ["" if one is None else one for one in LASTING_TEXTS] if ending == ".dta" else pd.Series(seconds, dtype=float)
        clocks = ["" if one is None else one for one in CLOCK_TEXTS] if ending == ".dta" else CLOCKS
        frame = pd.DataFrame({"admitted": pd.Series(MOMENTS, dtype="datetime64[us]"), "hour": clocks, "stay": lasting})
        shown = {".sav": {"stay": "DTIME12"}, ".xpt": {"stay": "TIME12"}}.get(ending, {})
        write = {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}[ending]
        write(frame, str(path), **({"variable_format": shown} if shown else {}))
    assert times_of(path) == TIMES_AS_CODES
