"""Table files: what is recognised, what is refused and how that is said, and that text comes through whatever its encoding."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import csv_file, lines, parts
from dpsynth_core.sources.check_records import check_records
from dpsynth_core.sources.default_format import default_format
from dpsynth_core.sources.detect import suggestions
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import table_files
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.opening import opened
from tests.additions import added
from tests.refusals import refused
from tests.tiers import examples

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: bytes | str, name: str = "table.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def rows(path: Path, form: TableFormat | None = None) -> list[dict[str, object]]:
    form = form or default_format(path)
    opened(path, form).check()
    return [row for batch in opened(path, form).batches(opened(path, form).column_names()) for row in batch.to_pylist()]


def refusal(path: Path) -> str:
    caught = refused(rows, path)
    assert caught.remedy
    return str(caught)


def suggested(path: Path, **stated: Any) -> dict[str, object]:
    """Return the fields that the first records suggest otherwise."""
    doubts = suggestions(path, default_format(path, stated), stated).value
    return next((dict(doubt.answers[0][1]) for doubt in doubts if doubt.is_suggestion), {})


# What is read


@pytest.mark.parametrize(("delimiter", "name"), [(",", "a.csv"), (";", "a.csv"), ("\t", "a.tsv"), ("|", "a.txt")])
def test_the_delimiter_is_found(write: Write, delimiter: str, name: str) -> None:
    path = write(f"age{delimiter}fare\n1{delimiter}2.5\n3{delimiter}4.5\n", name)
    assert default_format(path).delimiter == delimiter
    assert rows(path) == [{"age": "1", "fare": "2.5"}, {"age": "3", "fare": "4.5"}]


def test_decimal_commas_do_not_win_over_semicolons(write: Write) -> None:
    assert default_format(write("a;b\n1,5;2,5\n3,5;4,5\n")).delimiter == ";"


@pytest.mark.parametrize(
    ("encoding", "columns"),
    [
        ("utf-8", "utf-8"),
        ("utf-8-sig", "utf-8"),
        ("utf-16", "utf-16"),
        ("utf-16-le", "utf-16-le"),
        ("utf-16-be", "utf-16-be"),
    ],
)
def test_text_of_any_encoding_comes_through(write: Write, encoding: str, columns: str) -> None:
    path = write("name,straße\nMüller,café\nx,y\n".encode(encoding))
    assert default_format(path).encoding == columns
    assert rows(path) == [{"name": "Müller", "straße": "café"}, {"name": "x", "straße": "y"}]


def test_windows_text_is_utf_8_until_its_encoding_is_stated(write: Write) -> None:
    path = write("a,b\n“x”,€\n".encode("cp1252"))
    assert rows(path) == [{"a": "\ufffdx\ufffd", "b": "\ufffd"}]
    assert suggested(path) == {"encoding": "cp1252"}
    assert rows(path, default_format(path, {"encoding": "cp1252"})) == [{"a": "“x”", "b": "€"}]


def test_bytes_that_windows_text_lacks_suggest_latin_1(write: Write) -> None:
    assert suggested(write(b"a,b\n\x81,1\n")) == {"encoding": "latin-1"}


def test_one_damaged_letter_among_many_suggests_nothing(write: Write) -> None:
    assert suggested(write(b"a,b\n" + "é,1\n".encode() * 9 + b"\xe9,1\n")) == {}


def test_a_letter_stays_in_its_cell_wherever_it_is(write: Write) -> None:
    path = write(b"a,b\n" + b"1,2\n" * 400_000 + b"\xfc,3\n")
    assert suggested(path) == {}
    assert default_format(path).encoding == "utf-8"
    assert rows(path)[-1] == {"a": "\ufffd", "b": "3"}
    assert rows(path, TableFormat(encoding="cp1252"))[-1] == {"a": "ü", "b": "3"}


def test_quoted_delimiters_and_quotes_stay_in_their_field(write: Write) -> None:
    assert rows(write('a,b\n"x y","1,2"\n"q""q",3\n')) == [{"a": "x y", "b": "1,2"}, {"a": 'q"q', "b": "3"}]


def test_cells_contain_line_breaks_where_the_curator_says_so(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write("a,b\n" + '"x\ny\nz",1\n' * 200)
    for size in range(40, 60):  # a line break may fall on the edge of a block
        monkeypatch.setattr(lines, "BLOCK_BYTES", size)
        assert rows(path, TableFormat(quoting="standard")) == [{"a": "x\ny\nz", "b": "1"}] * 200


def test_quotes_are_ordinary_characters_where_the_curator_says_so(write: Write) -> None:
    path = write('a,b\n"x,5" pipe\n')
    assert rows(path, TableFormat(quoting="none")) == [{"a": '"x', "b": '5" pipe'}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_of_every_system(write: Write, end: str) -> None:
    assert rows(write(end.join(["a,b", "1,2", "3,4", ""]))) == [{"a": "1", "b": "2"}, {"a": "3", "b": "4"}]


def test_hostile_names_and_values_stay_plain_text(write: Write) -> None:
    path = write('<script>alert(1)</script>,=1+1\n"=HYPERLINK(""http://x"")",@cmd\n')
    assert rows(path) == [{"<script>alert(1)</script>": '=HYPERLINK("http://x")', "=1+1": "@cmd"}]


@pytest.mark.parametrize(
    ("header", "names"),
    [
        (",age", ("column_1", "age")),
        ("a, a,b,a", ("a", "a_2", "b", "a_3")),
        ("a,a,a_2,a,a_2", ("a", "a_3", "a_2", "a_4", "a_2_2")),
        ("a,,column_2,", ("a", "column_2_2", "column_2", "column_4")),
    ],
)
def test_columns_that_the_header_does_not_tell_apart_are_numbered_and_said(write: Write, header: str, names: tuple[str, ...]) -> None:
    path, form = write(f"{header}\n{','.join(names)}\n"), TableFormat()
    opened(path, form).check()
    assert rows(path, form) == [{name: name for name in names}]
    (sentence,) = check_records(opened(path, form), names).value.sentences()
    cells = [cell.strip() for cell in header.split(",")]
    assert [f"'{name}'" in sentence for name in names] == [name != cell for name, cell in zip(names, cells, strict=True)]


def test_space_around_column_names_is_trimmed(write: Write) -> None:
    assert opened(write("age, sex ,\tjob\n1,2,3\n"), TableFormat()).column_names() == ("age", "sex", "job")


@pytest.mark.parametrize("quoting", ["lines", "none", "standard"])
def test_a_line_that_cannot_be_parsed_is_a_record_of_missing_cells(write: Write, quoting: str) -> None:
    path = write("a,b\n1,2\n3\n4,5,6\n\n7,8\n9,10\n11,12\n13,14\n")
    assert [row["a"] for row in rows(path, TableFormat(quoting=quoting))] == ["1", "", "", "", "7", "9", "11", "13"]


def test_an_unbalanced_quote_takes_no_other_line_with_it(write: Write) -> None:
    path = write('a,b\n1,2\n"3,4\n5,6\n7,8"\n9,10\n')
    assert [(row["a"], row["b"]) for row in rows(path)] == [("1", "2"), ("", ""), ("5", "6"), ("7", '8"'), ("9", "10")]


def test_empty_lines_are_records_at_the_end_too(write: Write) -> None:
    """Otherwise a person whose line comes after them would turn them into records."""
    assert len(rows(write("a,b\n1,2\n3,4\n5,6\n\n\n"))) == 5
    assert len(rows(write("a,b\n1,2\n3,4\n5,6\n\n\n7,8"))) == 6


def test_a_line_that_is_too_long_is_malformed_and_no_other(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 1000)
    for length in (990, 999, 1001, 5000):
        path = write("a,b\n1,2\n3,4\n" + "x" * length + ",5\n6,7\n" + "y" * length + ",8")
        for size in (7, 100, 1000):
            monkeypatch.setattr(lines, "BLOCK_BYTES", size)
            kept = length + 2 <= 1000
            expected = ["1", "3", "x" * length * kept, "6", "y" * length * kept]
            assert [row["a"] for row in rows(path)] == expected


def test_one_column_is_a_table(write: Write) -> None:
    assert rows(write("a\n1\n2\n")) == [{"a": "1"}, {"a": "2"}]


def test_a_csv_whose_first_column_is_called_par1_is_a_csv(write: Write) -> None:
    assert rows(write("PAR1,PARENT\n1,2\n")) == [{"PAR1": "1", "PARENT": "2"}]


def test_columns_come_in_the_order_asked_for(write: Write) -> None:
    batch = next(opened(write("a,b,c\n1,2,3\n"), TableFormat()).batches(["c", "a"]))
    assert batch.schema.names == ["c", "a"]


def test_parquet_is_recognised_whatever_its_name_and_odd_column_names_work(tmp_path: Path) -> None:
    table = pa.table({"a.b": [1, None], "x[0]": ["q", "r"], "yes": [True, False], "d": pa.array(["u", "v"]).dictionary_encode()})
    pq.write_table(table, tmp_path / "table.csv")
    assert default_format(tmp_path / "table.csv").kind == "parquet"
    assert rows(tmp_path / "table.csv") == table.to_pylist()


def test_a_frame_of_mixed_objects_is_read() -> None:
    frame = pd.DataFrame({"a": [1, "x", None, 2.5], 7: pd.Categorical(["u", "v", "u", None])})
    opened(frame, TableFormat()).check()
    table = pa.Table.from_batches(opened(frame, TableFormat()).batches(["a", "7"]))
    assert table["a"].to_pylist() == ["1", "x", None, "2.5"]
    assert table["7"].to_pylist() == ["u", "v", "u", None]


@examples(60, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(
    data=st.lists(
        st.tuples(*[st.text(st.characters(codec="utf-8", exclude_characters="\r\x00", exclude_categories=["Cs"]), max_size=6)] * 2),
        min_size=1,
        max_size=20,
    ),
    delimiter=st.sampled_from(",;\t|"),
)
def test_any_text_written_by_pandas_is_read_back(write: Write, data: list[tuple[str, str]], delimiter: str) -> None:
    frame = pd.DataFrame(data, columns=["a", "b"])
    path = write(frame.to_csv(index=False, sep=delimiter, quoting=1))
    form = TableFormat(delimiter=delimiter, quoting="standard")
    read = pa.Table.from_batches(opened(path, form).batches(["a", "b"]))
    assert [tuple(row.values()) for row in read.to_pylist()] == data


# What is refused


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty"),
        (b" \n\n", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"a,b\n", "no rows below the header"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "the file is an image"),
        (b"\xff\xd8\xff\xe0" + bytes(100), "the file is an image"),
        (b"%PDF-1.7\n1 0 obj\n", "the file is a PDF"),
        (b"PK\x03\x04" + bytes(100), "zip archive"),
        *(case for module in added("sources.no_tables") for case in module.CONTENTS),
        (b"\x1f\x8b\x08" + bytes(100), "not unpacked"),
        (b"PAR1" + bytes(100), "not a readable Parquet file"),
        (b"PARE" + bytes(100), "encrypted"),
        (bytes(range(256)) * 20, "of no known kind"),
        (b"a,\x00b\n1,2\n", "NUL"),
        (b"<!DOCTYPE html><html><body>Sign in</body></html>", "web page"),
        (b'{"a": [1, 2]}', "JSON"),
        (b'[{"a": 1}]', "JSON"),
        (b"Report,,\na,b,c\n1,2,3\n", "most columns have no name"),
        (b"a,b\n1,2,3\n1,2,3\n1,2,3\n", "one comma-separated field more than the header"),
        (b"\xff\xfea\0,\0b\0\n\x001\0,\x002\0\n", "not that of such a text"),
        (b"a,b,c\n1\n2\n3\n", "fields as the header"),
    ],
)
def test_what_is_no_table_is_refused_with_a_remedy(write: Write, content: bytes, problem: str) -> None:
    assert problem in refusal(write(content))


def test_a_file_over_the_limit_is_refused_before_it_is_looked_at(write: Write) -> None:
    path = write("a,b\n" + "1,2\n" * 100)
    opened(path, TableFormat()).check(limit_bytes=404)
    refused(opened(path, TableFormat()).check, limit_bytes=403, saying="larger than the limit of 0 MB")


def test_a_path_to_nothing_is_refused(tmp_path: Path) -> None:
    assert "no such file or folder" in refusal(tmp_path / "none.csv")
    assert "holds no table" in refusal(tmp_path)


def test_files_of_different_tables_in_a_folder_are_refused(write: Write, tmp_path: Path) -> None:
    write("a,b\n1,2\n", "1.csv")
    write("a,c\n1,2\n", "2.csv")
    assert "same header" in refusal(tmp_path)


def test_an_empty_parquet_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([], pa.int64())}), tmp_path / "a.parquet")
    assert "no rows" in refusal(tmp_path / "a.parquet")


def test_every_name_of_every_file_of_a_folder_is_compared(write: Write, tmp_path: Path) -> None:
    write("age,b\n1,2\n", "1.csv")
    write("wage,b\n1,2\n", "2.csv")
    assert "same header" in refusal(tmp_path)


def test_a_parquet_file_of_a_folder_that_lacks_a_column_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "2.parquet")
    assert "same columns" in refusal(tmp_path)


def test_parquet_files_of_a_folder_may_differ_in_types(tmp_path: Path) -> None:
    for name, values in (("1", pa.array([1])), ("2", pa.array(["x"])), ("3", pa.array([0.5]))):
        pq.write_table(pa.table({"a": values, "b": [name]}), tmp_path / f"{name}.parquet")
    assert [row["a"] for row in rows(tmp_path)] == [1, "x", 0.5]


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
def test_a_folder_that_holds_a_file_twice_is_refused(write: Write, tmp_path: Path, link: str) -> None:
    first = write("a,b\n1,2\n", "1.csv")
    getattr(tmp_path / "2.csv", link)(first)
    assert "links to one and the same file" in refusal(tmp_path)


def test_a_pipe_and_a_device_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert "neither a file nor a folder" in refusal(tmp_path / "pipe.csv")
    assert "neither a file nor a folder" in refusal(Path("/dev/zero"))


def test_a_table_of_many_small_files_is_read_in_few_batches(tmp_path: Path) -> None:
    for i in range(300):
        (tmp_path / f"{i:03}.csv").write_text(f"a,b\n{i},x\n")
    opened(tmp_path, TableFormat()).check()
    batches = list(opened(tmp_path, TableFormat()).batches(["a"]))
    assert len(batches) == 1
    assert batches[0].column(0).to_pylist() == [str(i) for i in range(300)]


def test_a_parquet_column_of_an_unknown_time_zone_is_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"t": pa.array([0], pa.timestamp("us", "Mars/Base"))}), tmp_path / "a.parquet")
    assert "time zone" in refusal(tmp_path / "a.parquet")


def test_text_of_a_parquet_file_that_is_no_utf8_damages_its_cell_only(tmp_path: Path) -> None:
    for dictionary in (True, False):
        text = pa.array([b"a", b"\xff", None]).view(pa.string())
        pq.write_table(pa.table({"t": text}), tmp_path / "a.parquet", use_dictionary=dictionary)
        assert rows(tmp_path / "a.parquet") == [{"t": "a"}, {"t": "\ufffd"}, {"t": None}]


def test_a_header_of_very_many_columns_is_checked_in_no_time(write: Write) -> None:
    names = [f"c{i}" for i in range(100_000)]
    path = write(",".join(names) + "\n" + ",".join(["1"] * len(names)) + "\n")
    start = time.process_time()
    opened(path, TableFormat()).check()
    assert time.process_time() - start < 10  # half a second here; comparing each name with all before it takes a minute


def test_a_damaged_file_is_an_input_error_that_quotes_nothing(write: Write, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": ["secret"] * 1000}), tmp_path / "a.parquet", compression="snappy", use_dictionary=False)
    content = bytearray((tmp_path / "a.parquet").read_bytes())
    content[4:60] = b"\xff" * 56
    message = refusal(write(bytes(content), "b.parquet"))
    assert "damaged" in message
    assert "secret" not in message


@pytest.mark.parametrize(
    "text",
    ['1,2\n"3,4\n5,6\n', '1,2\n"' + "x\n" * 100 + '",4\n', '1,5" x\n' * 8 + "1,2\n" * 9, '1,5" x\n1,6" y\n' + "1,2\n" * 9],
)
def test_line_breaks_in_cells_are_refused_where_the_file_is_not_well_formed(write: Write, text: str) -> None:
    refused(opened(write("a,b\n" + text), TableFormat(quoting="standard")).check, saying="not well formed")


@pytest.mark.parametrize("malformed", [1, 3, 4, 8])
def test_malformed_records_do_not_stop_line_breaks_in_cells_however_many(write: Write, malformed: int) -> None:
    opened(write("a,b\n" + "1,2\n" * 9 + "1,2,3\n" * malformed + '"3\n4",5\n'), TableFormat(quoting="standard")).check()


def test_a_quote_that_stays_open_is_not_followed_for_ever(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_file, "MAX_RECORD_BYTES", 1000)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 100)
    path = write('a,b\n1,2\n3,"' + "4,5\n" * 1000 + '"\n')
    refused(list, opened(path, TableFormat(quoting="standard")).batches(["a"]), saying="for ever")


def test_unknown_and_repeated_columns_are_named(write: Write) -> None:
    refused(list, opened(write("a,b\n1,2\n"), TableFormat()).batches(["z"]), saying="column 'z'")
    refused(opened(pd.DataFrame(np.zeros((1, 2)), columns=["a", "a"]), TableFormat()).check, saying="two columns")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "xlsx"),
        ("quoting", "some"),
        *(("delimiter", delimiter) for delimiter in ("", "ab", '"', "\n", "§")),
        *(("encoding", encoding) for encoding in ("klingon", "utf-7", "euc-jp", "idna", "undefined", "a\0b")),
    ],
)
def test_a_format_that_cannot_be_is_refused(field: str, value: str) -> None:
    refused(lambda: TableFormat(**{field: value}), saying=f"data.{field}")


@examples(150, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(content=st.binary(max_size=300) | st.text(max_size=200).map(lambda t: t.encode("utf-8", "replace")))
def test_whatever_the_file_is_it_is_read_or_refused(write: Write, content: bytes) -> None:
    with suppress(InputError):
        assert isinstance(rows(write(content)), list)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the real data sets are not here")
def test_the_real_tables_are_recognised() -> None:
    for name, columns in (("adult.csv", 15), ("adult-holdout.csv", 15), ("titanic.csv", 10)):
        path = SHARED / name
        form = default_format(path)
        opened(path, form).check()
        assert form == TableFormat()
        assert len(opened(path, form).column_names()) == columns
    assert opened(SHARED / "titanic.csv", TableFormat()).column_names()[0] == "column_1"


def test_a_file_without_a_header_has_the_names_that_are_stated(write: Callable[..., Path]) -> None:
    path = write("1,x\n2,y\n4,z\n\n3\n")
    form = TableFormat(names=("number", " letter"))
    opened(path, form).check()
    assert opened(path, form).column_names() == ("number", "letter")
    assert [row["letter"] for row in rows(path, form)] == ["x", "y", "z", "", ""]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a;b\n1,5;x\n2,25;y\n", {"decimal": ","}),
        ("a;b\n1.234,5;x\n2,25;y\n", {"decimal": ",", "thousands": "."}),
        ("a;b\n1.234;x\n2.250;y\n", {}),  # ambiguous: a point is what it usually is
        ("a;b\n1 234 567;x\n250;y\n", {"thousands": " "}),
        ("a\tb\n1,234.5\tx\n7\ty\n", {"thousands": ","}),
        ("a,b\n31.12.2023,x\n1.2.2020,y\n", {"date_format": "dd.mm.yyyy"}),
        ("a,b\n12/31/2023,x\n1/2/2020,y\n", {"date_format": "mm/dd/yyyy"}),
        ("a,b\n2023-12-31,x\n2020-02-01,y\n", {}),
        ("a,b\n31-DEC-2023,x\n01-jan-2020,y\n", {"date_format": "dd-mmm-yyyy"}),
        ("a,b\n32.12.2023,x\n1.13.2020,y\n", {}),
        ("a,b\n0830,x\n2315,y\n", {"time_format": "hhmm"}),
        ("a;b\n08.30;x\n23.15;y\n", {"time_format": "hh.mm"}),
        ("a,b\n8h30,x\n23h15,y\n", {"time_format": "hhhmm"}),
        ("a,b\n1830,x\n2315,y\n", {}),  # numbers, for all that is known
        ("a,b\n18.30,x\n23.15,y\n", {}),
        ("a,b\n0830,x\n0175,y\n", {}),  # no hour has 75 minutes
    ],
)
def test_marks_and_dates_are_suggested_and_the_default_stays(write: Callable[..., Path], text: str, wanted: dict[str, str]) -> None:
    path = write(text)
    both = {"decimal": ".", "thousands": ""} if {"decimal", "thousands"} & wanted.keys() else {}
    assert suggested(path) == both | wanted
    assert default_format(path).notation == Notation()


def test_names_are_trimmed_alike_in_every_kind_of_file(tmp_path: Path) -> None:
    table = pa.table({" lead": ["1", "2"], "\ufefftrail\t": ["x", "y"]})
    pq.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text(" lead,\ufefftrail\t\n1,x\n2,y\n")
    for name in ("t.parquet", "t.csv"):
        path, form = tmp_path / name, default_format(tmp_path / name)
        assert opened(path, form).column_names() == ("lead", "trail")
        (batch,) = opened(path, form).batches(("trail", "lead"))
        assert [column.to_pylist() for column in batch.columns] == [["x", "y"], ["1", "2"]]


def test_a_folder_without_end_is_not_listed_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpsynth_core.sources.listing.MAX_FILES", 3)
    for number in range(5):
        (tmp_path / f"{number}.csv").write_text("a\n1\n")
    refused(default_format, tmp_path, saying="more than 3 files")
    for number in range(2, 5):
        (tmp_path / f"{number}.csv").rename(tmp_path / f"_{number}.csv")
    assert len(table_files(tmp_path)) == 2, "hidden files do not count, as in an object store"


# Folders: nothing is left out in silence


def parts_of(folder: Path, **columns: object) -> Path:
    """A folder of partitions by sex, a Parquet file of these columns in each."""
    for sex in ("f", "m"):
        (folder / f"sex={sex}").mkdir()
        pq.write_table(pa.table(columns), folder / f"sex={sex}" / "p.parquet")
    return folder


def test_a_folder_of_several_kinds_of_tables_is_refused(write: Write, tmp_path: Path) -> None:
    write("a\n1\n", "b.csv")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
    assert "files of several kinds (csv, parquet)" in refusal(tmp_path)


def test_links_of_a_folder_are_followed_to_files_alone_and_else_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "b.csv").write_text("a\n2\n")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.csv").write_text("a\n1\n")
    (folder / "b.csv").symlink_to(other / "b.csv")
    assert [row["a"] for row in rows(folder)] == ["1", "2"]
    for name, target, problem in (("dead", "none", "leads nowhere"), ("dead.csv", "none", "leads nowhere"), ("sub", other, "to a folder")):
        (folder / name).symlink_to(target)
        assert problem in refusal(folder)
        (folder / name).unlink()
    (folder / "loop").symlink_to(folder)
    assert "link to a folder" in refusal(folder)


def test_what_folders_say_of_a_table_is_read_or_refused(tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    said = parts_of(tmp_path / "1", age=[1, 2])
    assert [row["sex"] for row in rows(said)] == ["f", "f", "m", "m"]
    pq.write_table(pa.table({"age": [3]}), said / "q.parquet")
    assert "others not in the same ones" in refusal(said)
    (tmp_path / "2").mkdir()
    assert refusal(parts_of(tmp_path / "2", sex=["f"], age=[1])).startswith("column 'sex': both the files and the names of their folders")
    (tmp_path / "3" / "sex=f").mkdir(parents=True)
    (tmp_path / "3" / "sex=f" / "a.csv").write_text("age\n1\n")
    assert "Parquet files alone" in refusal(tmp_path / "3")


def test_the_name_of_one_folder_changes_no_other_value(tmp_path: Path) -> None:
    def values(*names: str) -> list[object]:
        folder = tmp_path / str(len(names))
        for name in names:
            (folder / name).mkdir(parents=True)
            pq.write_table(pa.table({"b": [1]}), folder / name / "p.parquet")
        return sorted(row["a"] for row in rows(folder) if row["a"] is not None)

    assert values("a=01", "a=1") == ["01", "1"]
    assert values("a=01", "a=1", "a=x%20y", "a=__HIVE_DEFAULT_PARTITION__") == ["01", "1", "x y"]


def test_files_of_a_folder_that_are_no_tables_are_said_before_the_charge(write: Write, tmp_path: Path) -> None:
    write("a\n1\n", "a.csv")
    assert check_records(opened(tmp_path, TableFormat()), ["a"]).value.sentences() == ()
    write("a\n1\n", "b.csv.bak")
    write("", "_SUCCESS")
    (sentence,) = check_records(opened(tmp_path, TableFormat()), ["a"]).value.sentences()
    assert sentence.startswith("1 file of the folder left out")


ROWS = "".join(f"{number},{'fm'[number % 2]}\n" for number in range(60))
ABOVE: dict[str, tuple[str, dict[str, object]]] = {
    "title": ("Table 1: People\nage,sex\n", {"skip": 1}),
    "comments": ("# tool 3.1\n# run, today\nage,sex\n", {"skip": 2}),
    "preamble": ('"Data Source","Indicators",\n\n"Last Updated","2024",\n\nage,sex\n', {"skip": 2}),
    "separator": ("sep=,\nage,sex\n", {"skip": 1}),
    "nothing": ("age,sex\n", {}),
    "blank lines": ("\n\nage,sex\n", {}),
}


@pytest.mark.parametrize("above", ABOVE)
def test_lines_above_the_header_are_suggested_and_skipped_when_stated(write: Write, above: str) -> None:
    path, wanted = write(ABOVE[above][0] + ROWS), ABOVE[above][1]
    assert suggested(path) == wanted
    form = default_format(path, wanted)
    assert opened(path, form).column_names() == ("age", "sex")
    opened(path, form).check()
    assert rows(path, form) == [{"age": str(number), "sex": "fm"[number % 2]} for number in range(60)]
    if wanted:
        assert rows(path, default_format(path, {**wanted, "names": ("a", "b")}))[-61] == {"a": "age", "b": "sex"}


@pytest.mark.parametrize("names", [(), ("a", "b")])
@pytest.mark.parametrize("skip", [0, 1, 2, 3])
@pytest.mark.parametrize("every", [1, 7, 12, 30, 200])
def test_skipped_lines_are_in_no_part(write: Write, skip: int, every: int, names: tuple[str, ...]) -> None:
    path = write("a title\n\nanother, longer title\n \na third\nage,sex\n" + ROWS)
    form = TableFormat(skip=skip, names=names)
    whole = list(csv_file.blocks(parts.uncut([path]), form))
    some = [block for piece in parts.cut(str(path), csv_file.cuts(path, form, every)) for block in csv_file.blocks((piece,), form)]
    assert b"".join(block.text for block in some) == b"".join(block.text for block in whole)
    assert {block.names for block in some} == {names or whole[0].names}


def test_a_delimiter_and_lines_above_are_suggested_together(write: Write) -> None:
    path = write("Tabelle 1: Leute, nach Alter, Geschlecht\nage;sex\n" + ROWS.replace(",", ";"))
    assert suggested(path) == {"skip": 1, "delimiter": ";"}
    assert default_format(path, {"skip": 1}).delimiter == ";"
    assert suggested(write("age sex\n" + ROWS.replace(",", " "))) == {"delimiter": " "}
    assert suggested(write("1;f\n2;m\n3;f\n"), names=("age", "sex")) == {"delimiter": ";"}


def test_nothing_is_suggested_of_lines_where_records_have_several(write: Write) -> None:
    assert suggested(write('"a\ntitle"\nage,sex\n' + ROWS), quoting="standard") == {}


HEADERS = {
    "R names of rows": ('"age","sex"\n' + "".join(f'"{line}",{line}\n' for line in ROWS.split()), "as where R writes names"),
    "a delimiter ends lines": ("age,sex\n" + ROWS.replace("\n", ",\n"), "or a delimiter ends each line.*name that field"),
    "blanks before quotes": ('"age", "sex"\n' + '"1", "f"\n' * 9, "a blank stands before a quote"),
    "another delimiter": ("age:sex\n" + ROWS.replace(",", ":"), "but 'age:sex'; state how fields are separated"),
    "another name": ("alter,sex\n" + ROWS, "no column of this name, but 'alter', 'sex'"),
}


@pytest.mark.parametrize("header", HEADERS)
def test_what_is_wrong_with_a_header_is_said_with_its_remedy(write: Write, header: str) -> None:
    content, said = HEADERS[header]
    table = opened(path := write(content), default_format(path))

    def asked() -> None:
        table.check()
        next(table.batches(["age", "sex"]))

    refused(asked, saying=said)
