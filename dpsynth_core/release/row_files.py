"""Synthetic rows as files of the kinds that curators use, with the labels, types and days of the domain.

The same rows give the same bytes: where a format has a place for the time of writing, it says 1980-01-01. Nothing in a workbook is a
formula or a link. Names that a program does not allow are changed as little as can be, and the label says the right one. `check` finds out
before a run whether a format can hold the rows: names, labels and bounds are public.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import struct
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa

from dpsynth_core.foundation.arrow_times import DAY_MICROS, FROM_1582, FROM_1960, NO_TIME, Micros, clock_text, holds_times, micros
from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.foundation.visible import listed
from dpsynth_core.release.about import About
from dpsynth_core.release.document import with_readable_times, write_csv, write_parquet
from dpsynth_core.release.rows import HeldRows, Rows, as_table
from dpsynth_core.sources.decoding import extremes
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.filled import RowColumn
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

_THEN = datetime(1980, 1, 1)
_MOST_MISSING, _LONGEST_MISSING = 3, 8
"""User-missing values of a variable in SPSS, and bytes of one that is a text."""
_SHEET_ROWS = 1_048_575
_SHEET_COLUMNS = 16_384
_FEATHER_ROWS = 65_536
MOST_AT_ONCE = 2_000_000
"""Rows of formats that are written at once."""
_LONGEST_TEXT = 32_767
"""Of a value: characters of UTF-16 in Excel, bytes in SPSS and SAS."""
_SAS_SMALLEST, _SAS_LARGEST = 5.4e-79, 7.2e75
"""Numbers of a SAS transport file, which are those of IBM mainframes, but for 0."""
_STATA_CODES = (-2_147_483_647, 2_147_483_620)
"""Whole numbers that Stata has value labels for."""
_YES_NO = {0: "false", 1: "true"}
_EXCEL_FIRST = date(1900, 1, 1)
_EXCEL_FORMATS = {"date": "yyyy-mm-dd", "timestamp": "yyyy-mm-dd hh:mm:ss", "time": "hh:mm:ss", "duration": "[h]:mm:ss"}
_Columns = Mapping[str, RowColumn]
"""By the names that a statistical program allows."""
_CHARACTERISTICS = 8
"""The place of this part in Stata's map."""
_STATA_DATES = {"date": "td", "timestamp": "tc", "time": "tc"}
_SPSS_RESERVED = re.compile("all|and|by|eq|ge|gt|le|lt|ne|not|or|to|with", re.IGNORECASE)
_STATA_RESERVED = re.compile(
    "aggregate|array|boolean|break|byte|case|catch|class|colvector|complex|const|continue|default|delegate|delete|do|double|else|eltypedef|"
    "end|enum|explicit|export|external|float|for|friend|function|global|goto|if|in|inline|int|local|long|null|pragma|protected|quad|"
    "rowvector|short|str[0-9#]+|strl|typedef|typename|using|virtual|with",
    re.IGNORECASE,
)
"""The words of Stata and of its language Mata, which pandas does not take for names either."""
_SAS_RESERVED = re.compile("and|by|do|else|end|eq|ge|gt|if|in|le|lt|max|min|ne|not|or|output|run|then|with", re.IGNORECASE)
"""Words of the data step; SAS allows them for names, but reads some statements with them otherwise."""
_NAMES = {
    "spss": (60, r"[^\w.@#$]", _SPSS_RESERVED),
    "stata": (32, r"\W", _STATA_RESERVED),
    "sas": (32, r"[^A-Za-z0-9_]", _SAS_RESERVED),
}
"""By program the bytes of a name, the characters that are not allowed in one, and the names that are not."""


@dataclass(frozen=True)
class _Program:
    """The representation of times in a statistical program.

    Attributes:
        time: Converts microseconds of a column to the column of a data frame.
        times: By dtype, the name of the display format and its width.
    """

    time: Callable[[Micros, RowColumn], pd.Series]
    times: Mapping[str, tuple[str, int]]


@dataclass(frozen=True)
class RowFormat:
    """A format of row files.

    Attributes:
        ending: Ending of file names, with the dot.
        mime: Media type.
        title: Name for people.
        what: Description for people.
        write: Writes rows with the domain's columns to a stream, with a description if the format
            has a place for it. It raises CapacityError before it writes anything the format cannot
            hold.
        most_rows: Largest number of rows.
    """

    ending: str
    mime: str
    title: str
    what: str
    write: Callable[[Rows, Domain, BinaryIO, About], None]
    most_rows: int = sys.maxsize


def chosen(text: str) -> tuple[str, ...]:
    """Return the names of the formats in a list such as "csv,xlsx", each once, in order.

    Raises:
        InputError: A format is unknown.
    """
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    if (unknown := next((name for name in names if name not in FORMATS), None)) is not None:
        raise InputError("--format", f"{shown(unknown)} is not a known format of rows", f"use {', '.join(FORMATS)}")
    return names


def check(domain: Domain, about: About, formats: Iterable[str]) -> None:
    """Check that each format can hold the rows, by writing invented rows before anything is charged.

    Args:
        domain: The columns of the rows; their names, labels, values and bounds decide, which are
            public.
        about: The description that the files will contain.
        formats: Keys of `FORMATS`.

    Raises:
        InputError: A format cannot hold the rows; it names the column if a single column is the
            reason.
    """
    for form in (FORMATS[name] for name in formats):
        if (error := _refusal(form, domain, about)) is None:
            continue
        if isinstance(error, InputError):
            raise error
        alone = ((attribute.name, Domain((attribute,))) for attribute in domain)
        name = next((name for name, one in alone if _refusal(form, one, about) is not None), None)
        field, what = ("--format", "these columns") if name is None else (column_field(name), "this column")
        remedy = "shorten its name, labels or values, narrow its bounds, or use another format such as csv"
        raise InputError(field, f"a file for {form.title} cannot hold {what}", remedy) from error


def _refusal(form: RowFormat, domain: Domain, about: About) -> Exception | None:
    """Return the error that writing invented rows raises, of any type; None if they can be written."""
    try:
        form.write(HeldRows(extremes(domain)), domain, io.BytesIO(), about)
    except Exception as error:  # noqa: BLE001
        return error
    return None


def _at_once(write: Callable[[pa.Table, Domain, About], bytes]) -> Callable[[Rows, Domain, BinaryIO, About], None]:
    """Return a `RowFormat.write` for a library that needs all rows in memory at once.

    The returned function raises CapacityError for more than `MOST_AT_ONCE` rows.

    Args:
        write: Returns the file's bytes from all rows, their columns and the description.
    """

    def put(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
        if rows.num_rows > MOST_AT_ONCE:
            problem = f"files of this kind are made of at most {MOST_AT_ONCE:,} rows here, since their libraries want all in memory"
            raise CapacityError("rows", problem, "use CSV or Parquet, or fewer rows")
        stream.write(write(as_table(rows), domain, about))

    return put


def _feather(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
    batches = rows.batches()
    first = next(batches)
    schema = about.described(first.schema, domain)
    with pa.ipc.new_file(stream, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        for batch in chain((first,), batches):
            writer.write_table(batch.cast(schema), _FEATHER_ROWS)


def _jsonl(rows: Rows, _: Domain, stream: BinaryIO, _about: About) -> None:
    for some in rows.batches():
        for batch in with_readable_times(some).to_batches(10_000):
            lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in batch.to_pylist())
            stream.write("".join(lines).encode())


def _xlsx(table: pa.Table, domain: Domain, about: About) -> bytes:
    import xlsxwriter

    if table.num_rows > _SHEET_ROWS or table.num_columns > _SHEET_COLUMNS:
        problem = f"a sheet holds {_SHEET_ROWS:,} rows and {_SHEET_COLUMNS:,} columns"
        raise CapacityError("rows", problem, "use another format, or fewer rows")
    _check_texts(domain, "Excel", lambda text: len(text.encode("utf-16-le")) // 2, names=True)
    out = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(out, options) as book:
        book.set_properties({"created": _THEN, "title": about.label, "comments": " ".join(about.lines)})
        sheet = book.add_worksheet("rows")
        writers = {"string": sheet.write_string, "bool": sheet.write_boolean}
        shown = {dtype: book.add_format({"num_format": form}) for dtype, form in _EXCEL_FORMATS.items()}
        writers |= {dtype: _excel_time(sheet, form) for dtype, form in shown.items()}
        for place, attribute in enumerate(domain.columns):
            sheet.write_string(0, place, attribute.name)
            if attribute.dtype in shown:
                sheet.set_column(place, place, 20 if attribute.dtype == "timestamp" else 11, shown[attribute.dtype])
        for place, attribute in enumerate(domain.columns):
            write = writers.get(attribute.dtype, sheet.write_number)
            for row, value in enumerate(table.column(attribute.name).to_pylist(), start=1):
                if value is not None:
                    write(row, place, value)
        if any(attribute.label or attribute.labels for attribute in domain.columns):
            _add_codebook(book.add_worksheet("codebook"), domain)
        sheet = book.add_worksheet("about")  # behind the rows, for programs read the first one; people see it first
        sheet.activate()
        for row, line in enumerate((*about.lines, *excel_notes(domain))):
            sheet.write_string(row, 0, line)
    return out.getvalue()


def excel_notes(domain: Domain) -> Iterable[str]:
    """Yield a sentence on days before 1900 for readers of a workbook, or nothing without such days.

    A workbook has these days as text. The sentence names the columns that may have them.
    """
    old = [repr(a.name) for a in domain if a.dtype in ("date", "timestamp") and not a.most and a.lower.year < _EXCEL_FIRST.year]
    if old:
        yield f"Days before 1900 are texts such as 1899-12-31, since Excel has no number for them: {listed(old, 5)}."


def _excel_time(sheet: Any, form: Any) -> Callable[[int, int, Any], None]:
    """Return a function (row, column, value) that writes a day, time or duration into a sheet.

    Excel has no number for days before 1900 and negative durations, which are written as text.
    """

    def write(row: int, place: int, value: Any) -> None:
        if isinstance(value, timedelta) and value < timedelta(0):
            sheet.write_string(row, place, clock_text(value // timedelta(microseconds=1)))
        elif isinstance(value, date) and value.year < _EXCEL_FIRST.year:
            sheet.write_string(row, place, str(value))
        else:
            sheet.write_datetime(row, place, value, form)

    return write


def _check_texts(domain: Domain, title: str, size: Callable[[str], int], names: bool = False) -> None:
    """Check that no text is longer than `_LONGEST_TEXT`; the format's library would cut it or leave it out.

    Args:
        domain: The columns of the rows. The categories of text columns are checked.
        title: The name of the format, for the message.
        size: Returns the length of a text as the format counts it.
        names: Whether names of columns are written as cells too.

    Raises:
        CapacityError: A text is longer.
    """
    for column in domain.columns:
        texts = (*(column.categories if column.dtype == "string" else ()), *((column.name,) if names else ()))
        if any(size(text) > _LONGEST_TEXT for text in texts):
            problem = f"a file for {title} holds texts of {_LONGEST_TEXT:,} characters or bytes; its name or a value is longer"
            raise CapacityError(column_field(column.name), problem, "shorten it in the domain, or use another format such as csv")


def _bytes(text: str) -> int:
    return len(text.encode())


def _add_codebook(sheet: Any, domain: Domain) -> None:
    lines = [("column", "label", "value", "value_label")]
    for attribute in domain.columns:
        lines.append((attribute.name, attribute.label, "", ""))
        lines += [(attribute.name, "", *pair) for pair in zip(attribute.categories, attribute.labels, strict=False)]
    for row, line in enumerate(lines):
        for place, text in enumerate(line):
            sheet.write_string(row, place, text[:32_767])


def _sav(table: pa.Table, domain: Domain, about: About) -> bytes:
    import pyreadstat

    _check_texts(domain, "SPSS", _bytes)
    columns = program_names(domain, "spss")

    def write(path: Path) -> None:
        pyreadstat.write_sav(
            _frame(table, columns, _SPSS),
            str(path),
            file_label=about.label,
            note=list(about.lines),
            column_labels=_labels(columns, 255),
            variable_value_labels=_value_labels(columns, 120, texts=True),
            missing_ranges={name: codes for name, a in columns.items() if (codes := spss_user_missing(a))},
            variable_measure={name: _measure(a) for name, a in columns.items()},
            variable_format={name: form for name, a in columns.items() if (form := _spss_format(a))},
        )

    content = bytearray(_through_file(write, ".sav"))
    content[92:109] = b"01 Jan 8000:00:00"  # creation date and time
    return bytes(content)


def spss_user_missing(column: RowColumn) -> list[Any]:
    """Return the user-missing values of a column as SPSS declares them: at most three, or a range of numbers.

    More than three are a range if no valid value lies between them; otherwise the first three are
    declared. Texts longer than eight bytes and truth values are left out.
    """
    missing = [*column.user_missing] if isinstance(column, Attribute) and column.dtype != "bool" else []
    if column.dtype == "string":
        return [text for text in missing if _bytes(text) <= _LONGEST_MISSING][:_MOST_MISSING]
    numbers = sorted(map(float, missing))
    if len(numbers) > _MOST_MISSING:
        valid = (float(one) for one in column.categories if one not in missing)
        if not any(numbers[0] < one < numbers[-1] for one in valid):
            return [{"lo": numbers[0], "hi": numbers[-1]}]
    return numbers[:_MOST_MISSING]


def _measure(attribute: RowColumn) -> str:
    if not attribute.is_listed:
        return "scale"
    return "ordinal" if KINDS[attribute.kind].ordered else "nominal"


def _spss_format(attribute: RowColumn) -> str | None:
    if attribute.dtype == "int64" or attribute.dtype == "bool":
        return "F12.0"
    if attribute.dtype == "float64":
        return f"F16.{4 if attribute.decimals is None else attribute.decimals}"
    return "SDATE10" if attribute.dtype == "date" else _time_format(attribute, _SPSS)


def _time_format(attribute: RowColumn, program: _Program) -> str | None:
    """Return the program's display format for a column of times; None for a column of any other type.

    The format has fractions of seconds if the column's precision is finer than seconds.
    """
    if (form := program.times.get(attribute.dtype)) is None:
        return None
    name, width = form
    return f"{name}{width + 4}.3" if MICROSECONDS[attribute.precision] < MICROSECONDS["second"] else f"{name}{width}"


def _dta(table: pa.Table, domain: Domain, about: About) -> bytes:
    columns = program_names(domain, "stata")
    frame, out = _frame(table, columns, _STATA), io.BytesIO()
    moments: dict[Any, Any] = {name: _STATA_DATES[a.dtype] for name, a in columns.items() if a.dtype in _STATA_DATES}
    counts = {name: f"{a.name}, in {a.precision}s"[:80] for name, a in columns.items() if a.dtype == "duration"}
    for name in moments:
        frame[name] = pd.to_datetime(frame[name])
    frame.to_stata(
        out,
        version=118,
        byteorder="<",
        write_index=False,
        time_stamp=_THEN,
        data_label=about.label,
        convert_dates=moments,
        variable_labels={name: label[:80] for name, label in (counts | _labels(columns, 320)).items()},
        value_labels=_value_labels(columns, 32_000, texts=False, codes=_STATA_CODES),
    )
    return _with_notes(out.getvalue(), about.lines)


def _with_notes(content: bytes, notes: Sequence[str]) -> bytes:
    """Return a file of Stata's format 118 with notes added, which pandas cannot write.

    Notes are characteristics of the data set. At the beginning the file has a map of 14 numbers
    that say where its parts begin; the numbers of parts behind the characteristics are increased.

    Args:
        content: The file.
        notes: The notes.
    """
    texts = {"note0": str(len(notes)), **{f"note{number}": note for number, note in enumerate(notes, start=1)}}
    said = b"".join(
        b"<ch>" + struct.pack("<I129s129s", 258 + len(text) + 1, b"_dta", name.encode()) + text + b"\0</ch>"
        for name, text in ((name, text.encode()) for name, text in texts.items())
    )
    start = content.index(b"<map>") + len(b"<map>")
    places = struct.unpack_from("<14Q", content, start)
    after = places[_CHARACTERISTICS] + len(b"<characteristics>")
    moved = [place + len(said) * (number > _CHARACTERISTICS) for number, place in enumerate(places)]
    return content[:start] + struct.pack("<14Q", *moved) + content[start + 14 * 8 : after] + said + content[after:]


def _xpt(table: pa.Table, domain: Domain, about: About) -> bytes:
    import pyreadstat

    _check_texts(domain, "SAS transport", _bytes)
    for column in domain.columns:
        ends = [*column.edges, *(map(float, column.categories) if column.dtype == "float64" else ())]
        if any(end != 0 and not _SAS_SMALLEST <= abs(end) <= _SAS_LARGEST for end in ends):
            problem = f"a file for SAS transport holds 0 and numbers from {_SAS_SMALLEST:g} to {_SAS_LARGEST:g} alone"
            raise CapacityError(column_field(column.name), problem, "give other bounds or values, or use another format such as csv")
    columns = program_names(domain, "sas")
    formats = {name: "YYMMDD10." if a.dtype == "date" else _time_format(a, _SAS) for name, a in columns.items()}

    def write(path: Path) -> None:
        shown = {name: form for name, form in formats.items() if form}
        frame, labels = _frame(table, columns, _SAS), _labels(columns, 255)
        pyreadstat.write_xport(frame, str(path), file_label=about.label, column_labels=labels, variable_format=shown)

    content = _through_file(write, ".xpt")
    head = re.sub(rb"[0-9]{2}[A-Z]{3}[0-9]{2}:[0-9]{2}:[0-9]{2}:[0-9]{2}", b"01JAN80:00:00:00", content[:640])
    return head + content[640:]


def _through_file(write: Callable[[Path], None], ending: str) -> bytes:
    """Return the bytes that a library writes to a path, for libraries that cannot write to a stream.

    The path is in memory where the system allows it, because `sample` may write no file.

    Args:
        write: Writes the file to a path.
        ending: Ending of the file's name.
    """
    if hasattr(os, "memfd_create"):
        with os.fdopen(os.memfd_create(f"rows{ending}"), "rb") as held:
            write(Path(f"/proc/self/fd/{held.fileno()}"))
            return held.read()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"rows{ending}"
        write(path)
        return path.read_bytes()


def _frame(table: pa.Table, columns: _Columns, program: _Program) -> pd.DataFrame:
    """Return rows as a data frame of the types that statistical programs know.

    Missing numbers are nan, missing texts "", booleans 0 and 1; times are as `program` stores them.

    Args:
        table: The rows.
        columns: The columns, by the names that the program allows.
        program: The representation of times.
    """
    series: dict[str, pd.Series] = {}
    for name, attribute in columns.items():
        column = table.column(attribute.name)
        if holds_times(column.type):
            series[name] = program.time(micros(column.combine_chunks()), attribute)
        elif attribute.dtype == "string":
            series[name] = pd.Series(["" if text is None else text.replace("\0", " ") for text in column.to_pylist()], dtype=object)
        elif attribute.dtype == "date":
            series[name] = pd.Series(column.to_pylist(), dtype=object)
        else:
            numbers = column.cast(pa.float64()).to_numpy()
            series[name] = pd.Series(numbers.astype(np.int32) if _is_small(attribute) and not column.null_count else numbers)
    return pd.DataFrame(series)


def _is_small(attribute: RowColumn) -> bool:
    """Return whether a column holds whole numbers that fit into four bytes, without Stata's missing codes."""
    if attribute.dtype not in ("int64", "bool"):
        return False
    largest = max((abs(float(c)) for c in attribute.categories if c not in _YES_NO.values()), default=1.0)
    bounds = [] if attribute.edges == () else [abs(attribute.edges[0]), abs(attribute.edges[-1])]
    return max(largest, *bounds, 0.0) < 2_000_000_000


def _seconds(since: int) -> Callable[[Micros, RowColumn], pd.Series]:
    """Return a function that converts microseconds of a column to seconds, missing ones to nan.

    Args:
        since: The program's first day, as days after 1970-01-01, from which timestamps count.
    """

    def series(counts: Micros, attribute: RowColumn) -> pd.Series:
        first = since * DAY_MICROS if attribute.dtype == "timestamp" else 0
        return pd.Series(np.where(counts == NO_TIME, np.nan, (counts - first) / 1e6))

    return series


def _stata_time(counts: Micros, attribute: RowColumn) -> pd.Series:
    """Return a column of times for Stata, from microseconds.

    Timestamps stay timestamps, times of day become timestamps on Stata's first day, and durations
    become counts in the column's precision.
    """
    if attribute.dtype == "duration":
        return pd.Series(np.where(counts == NO_TIME, np.nan, counts / MICROSECONDS[attribute.precision]))
    moments = counts + (FROM_1960 * DAY_MICROS if attribute.dtype == "time" else 0)
    return pd.Series(np.where(counts == NO_TIME, np.datetime64("NaT", "us"), moments.astype("datetime64[us]")))


def _labels(columns: _Columns, most: int) -> dict[str, Any]:
    """Return the label of each column, cut to `most` bytes.

    A column without a label has its original name as label if its name had to be changed.
    """
    return {name: _cut(label, most) for name, a in columns.items() if (label := a.label or (a.name if a.name != name else ""))}


def _cut(text: str, most: int) -> str:
    """Return the longest beginning of a text that takes at most `most` bytes of UTF-8, without broken letters."""
    return text.encode()[:most].decode(errors="ignore")


def _value_labels(
    columns: _Columns, most: int, texts: bool, codes: tuple[float, float] = (-math.inf, math.inf)
) -> dict[str, dict[Any, str]]:
    """Return by column the label of each category that the format can label.

    Args:
        columns: The columns, by the names that the format allows.
        most: Largest number of bytes of a label.
        texts: Whether the format has labels for texts and fractions too.
        codes: The smallest and the largest whole number that the format has labels for.
    """
    labels: dict[str, dict[Any, str]] = {}
    for name, attribute in columns.items():
        named = dict(zip(attribute.categories, attribute.labels, strict=False))
        if attribute.dtype == "bool":
            labels[name] = {value: _cut(named.get(word, word), most) for value, word in _YES_NO.items()}
        elif named and attribute.dtype == "int64":
            whole_numbers = {int(float(category)): _cut(label, most) for category, label in named.items()}
            labels[name] = {code: label for code, label in whole_numbers.items() if codes[0] <= code <= codes[1]}
        elif named and texts:
            read = float if attribute.dtype == "float64" else str
            labels[name] = {read(category): _cut(label, most) for category, label in named.items()}
    return {name: labelled for name, labelled in labels.items() if labelled}


def program_names(domain: Domain, program: str) -> Mapping[str, RowColumn]:
    """Return the columns by names that a statistical program allows, changed as little as possible.

    Args:
        domain: The columns.
        program: "spss", "stata" or "sas".

    Returns:
        The columns in order; their names begin with a letter, and differ in more than case.
    """
    most, wrong, reserved = _NAMES[program]
    named: dict[str, RowColumn] = {}
    taken: set[str] = set()
    for column in domain.columns:
        plain = re.sub(wrong, "_", column.name)
        fits = re.match(r"[^\W\d_]", plain) and not reserved.fullmatch(plain)
        plain = (plain if fits else f"v_{plain}").rstrip(".")
        plain = _cut(plain, most)
        candidate, number = plain, 1
        while candidate.lower() in taken:
            number += 1
            candidate = f"{_cut(plain, most - 6)}_{number}"
        taken.add(candidate.lower())
        named[candidate] = column
    return named


_SPSS = _Program(_seconds(FROM_1582), {"timestamp": ("DATETIME", 20), "time": ("TIME", 8), "duration": ("DTIME", 15)})
_SAS = _Program(_seconds(FROM_1960), {"timestamp": ("DATETIME", 20), "time": ("TOD", 8), "duration": ("TIME", 12)})
_STATA = _Program(_stata_time, {})
FORMATS: Mapping[str, RowFormat] = {
    "csv": RowFormat(".csv", "text/csv", "CSV", "For programs: exact values, UTF-8.", lambda rows, _, out, __: write_csv(rows, out)),
    "parquet": RowFormat(
        ".parquet", "application/vnd.apache.parquet", "Parquet", "Types and labels kept, small.", write_parquet
    ),
    "xlsx": RowFormat(
        ".xlsx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Excel",
        "Numbers, days and texts as such; no formulas. Labels on another sheet.",
        _at_once(_xlsx),
        _SHEET_ROWS,
    ),
    "sav": RowFormat(".sav", "application/x-spss-sav", "SPSS", "With labels of columns and values.", _at_once(_sav), MOST_AT_ONCE),
    "dta": RowFormat(
        ".dta",
        "application/x-stata-dta",
        "Stata",
        "With labels of columns, and of values that are whole numbers.",
        _at_once(_dta),
        MOST_AT_ONCE,
    ),
    "xpt": RowFormat(".xpt", "application/x-sas-xport", "SAS transport", "With labels of columns.", _at_once(_xpt), MOST_AT_ONCE),
    "feather": RowFormat(".feather", "application/vnd.apache.arrow.file", "Feather", "Types kept, for Python and R.", _feather),
    "jsonl": RowFormat(".jsonl", "application/x-ndjson", "JSON lines", "One object a line.", _jsonl),
}
"""By the name that the command line has for them."""
