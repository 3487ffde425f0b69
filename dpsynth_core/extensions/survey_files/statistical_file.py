"""Files of SPSS, Stata and SAS as record batches. Every row is one record, so nothing in it can change another.

A program writes the file from a table: neighbours are the tables inside. ReadStat divides the file into rows by its header, and returns
each value on its own. Where ReadStat would treat a whole file by one value, this module works value by value: text is taken as bytes and
decoded cell by cell (a byte that the encoding does not know becomes U+FFFD), and days and times are computed from numbers; a number that
is not a day is missing. Numbers are float64 in every batch. Declared missing values are missing.

Labels describe the file, not any person in it: `described` reads them without a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import clock_text
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.file_kinds import FILE_KINDS
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.locations import Location
from dpsynth_core.sources.parts import NOTHING_LISTED, Listed
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.kinds.kind import finite
from dpsynth_core.vocabulary.value_labels import labelled

FROM_1960, FROM_1582 = -3653, -141428
"""First day of Stata and SAS, and of SPSS, in days since 1970-01-01."""
_BYTES = "ISO-8859-1"
"""An encoding in which every byte is a character: what comes out is the bytes of the file."""
_ORDERED = "(?:X?YYMMDD|DDMMYY|MMDDYY|MMYY|YYMM|YYQ|YYQR|YYQZ)[BCDNPSX]?"
_CALENDAR = "YEAR|YYMON|MONYY|MOYR|QYR|WKYR|JULIAN|JULDAY|HDATE|HEBDATE|MINGUO|NENGO|WEEK[UVW]|YYWEEK[UVW]|[AEJS]?DATE"
_IN_WORDS = "WEEKDAT[EX]|WORDDAT[EX]|NLDATE[A-Z]*|[A-Z]{3}DF(?:D[DEN]|MN|MY|W[DK]X|DWN)"
_SEEN_IN_PART = "DAY|WKDAY|MONTH|MONNAME|DOWNAME|WEEKDAY|QTRR?"
"""Formats with which SAS shows a part of a date. SPSS has formats of such names for numbers."""
_KINDS = {  # as `declared` names them, by families of formats of SPSS and SAS, without width
    re.compile(rf"{_ORDERED}|{_CALENDAR}|{_IN_WORDS}|(?:[BE]|IS)8601DA"): "date",
    re.compile("DATETIME|DATEAMPM|MDYAMPM|YMDHMS|DT(?!IME)[A-Z]+|NLDATM[A-Z]*|[A-Z]{3}DFDT|(?:[BE]|IS)8601(?:DT|DN|DX|DZ|LX)"): "timestamp",
    re.compile("TIME|TIMEAMPM|HHMM|TOD|NLTIM[A-Z]*|(?:[BE]|IS)8601(?:TM|TX|TZ|LZ)"): "time",
    re.compile("[DM]TIME|MMSS"): "duration",
}
_LIKE_DATES = re.compile("DAT|TIM|YY|MON(?!EY)|DAY|8601|WEEK|QTR|JUL|MDY|YMD|DMY|HH|%-?T")
"""The common pattern in names of formats of dates and times: an unknown format is reported, and its numbers stay numbers."""
_STATA = re.compile(r"%-?(t[a-zA-Z]|d)")
_STATA_KINDS = {"td": "date", "d": "date", "tc": "timestamp", "tC": "timestamp", "tw": "date", "tm": "date", "tq": "date", "th": "date"}
_MONTHS = {"tm": 1, "tq": 3, "th": 6}
"""Months of the periods that a format of Stata counts from 1960."""
_WEEKS = 52
"""Weeks of a year as Stata counts them: each begins on a day of January 1 and so many times seven days."""
_LEAP_SECONDS = np.array(
    [f"{year}-07-01" for year in (1972, 1981, 1982, 1983, 1985, 1992, 1993, 1994, 1997, 2012, 2015)]
    + [f"{year}-01-01" for year in (*range(1973, 1981), 1988, 1990, 1991, 1996, 1999, 2006, 2009, 2017)],
    dtype="datetime64[D]",
)
"""The days before which a second was inserted, which times of the format %tC count."""
_DAY = 86_400
_SPSS = ("sav/zsav", "por")
_AS_NUMBERS = "save it as a date, or give the smallest and the largest number"
_HEAD_BYTES = 600
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31."""


def encoding_of(path: Location) -> str:
    """Return the encoding that a file names or that its version implies, as a suggestion; "utf-8" if it cannot be told.

    Raises:
        OSError: The file cannot be opened.
    """
    head = _head(path)
    if _kind_of(head) == "stata":
        return "utf-8" if re.match(rb"<stata_dta><header><release>(118|119|12[01])", head) else "cp1252"
    try:
        meta = _reader(head)(path, metadataonly=True)[1]
    except Exception:  # noqa: BLE001 (its labels are not in the encoding that it names)
        return "utf-8"
    return str(meta.file_encoding or "utf-8")


def names(path: Location, form: TableFormat) -> tuple[str, ...]:
    """Return the names of the columns in file order, without spaces around them.

    Raises:
        InputError: The file is damaged.
        OSError: The file cannot be opened.
    """
    return _names(_meta(path), form)


def _names(meta: Any, form: TableFormat) -> tuple[str, ...]:
    return tuple(_decoded(name, form).strip() for name in meta.column_names)


def described(path: Location, form: TableFormat) -> tuple[Column, ...]:
    """Return the column declarations from a file's labels and formats, reading no record.

    A column of numbers whose unknown format may be one of dates has a question for the curator (`to_do`).

    Raises:
        InputError: The file cannot be read, or a column has too many labels.
        OSError: The file cannot be opened.
    """
    meta = _meta(path)
    labels = {name: _labels(meta, name, form) for name in meta.column_names}
    columns = (
        labelled(
            shown,
            _kind(meta, name),
            labels[name][0],
            special=labels[name][1],
            measure=meta.variable_measure.get(name) or "",
            label=_decoded(label or "", form).strip(),
            decimals=_decimals(_format(meta, name)),
        )
        for name, shown, label in zip(meta.column_names, _names(meta, form), meta.column_labels, strict=True)
    )
    return tuple(_asked(meta, name, column) for name, column in zip(meta.column_names, columns, strict=True))


def schema(path: Location, form: TableFormat) -> pa.Schema:
    """Return the columns with the Arrow types that `batches` gives them, in file order.

    Raises:
        InputError: The file is damaged.
        OSError: The file cannot be opened.
    """
    meta = _meta(path)
    shown = zip(_names(meta, form), meta.column_names, strict=True)
    return pa.schema([(name, _converter(meta, raw, form)([]).type) for name, raw in shown])


def batches(
    path: Location, form: TableFormat, columns: Sequence[str], rows: int, listed: Listed = NOTHING_LISTED
) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all records, in file order, at most `rows` rows at a time.

    The columns have the types of `schema`. Values that an SPSS file declares missing are null, unless
    they are listed. A file without records yields no batch.

    Args:
        path: The file.
        form: The format of the table.
        columns: The names of the columns, at least one.
        rows: The largest number of rows of a batch.
        listed: The listed values by column.

    Raises:
        InputError: The file is damaged, or has another number of records than it states.
        OSError: The file cannot be opened.
        KeyError: A column is unknown.
    """
    meta = _meta(path)
    raw = dict(zip(_names(meta, form), meta.column_names, strict=True))
    declared = {name: meta.missing_ranges.get(raw[name], []) for name in columns} if form.kind == "spss" else {}
    kept = {name: _kept(declared[name], listed.get(name, ()), form) for name in declared}
    with_missing = {"user_missing": True} if any(kept.values()) else {}
    convert = {name: _converter(meta, raw[name], form) for name in columns}
    start = 0
    while True:
        with _reading():
            cells, _ = _opened(_head(path))(
                path,
                usecols=[raw[name] for name in columns],
                row_offset=start,
                row_limit=rows,
                output_format="dict",
                disable_datetime_conversion=True,
                **with_missing,
            )
        count = len(cells[raw[columns[0]]]) if cells else 0
        start += count
        if count:
            for name in columns if with_missing else ():
                cells[raw[name]] = [None if _is_in(cell, declared[name]) and cell not in kept[name] else cell for cell in cells[raw[name]]]
            yield pa.RecordBatch.from_arrays([convert[name](cells[raw[name]]) for name in columns], names=list(columns))
        if count < rows:
            break
    if meta.number_rows is not None and 0 <= meta.number_rows != start:
        raise _damaged()


def _reader(head: bytes) -> Callable[..., tuple[Any, Any]]:
    """Return the function of pyreadstat that reads files with this beginning. Raises InputError."""
    import pyreadstat  # takes a while, and other questions do not need it

    readers: dict[str | None, Callable[..., tuple[Any, Any]]] = {
        "spss": pyreadstat.read_por if _is_portable(head) else pyreadstat.read_sav,
        "stata": pyreadstat.read_dta,
        "sas": pyreadstat.read_xport if head.startswith(b"HEADER") else pyreadstat.read_sas7bdat,
    }
    if (kind := _kind_of(head)) is None:
        raise _damaged()
    return readers[kind]


def _kind_of(head: bytes) -> str | None:
    """Return "spss", "stata" or "sas" for a file with this beginning; None for any other file."""
    return next((name for name in ("spss", "stata", "sas") if re.match(FILE_KINDS[name].begins or b"", head, re.DOTALL)), None)


def _head(path: Location) -> bytes:
    """Return the first bytes of a file, which show its kind."""
    with path.open("rb") as stream:
        return stream.read(_HEAD_BYTES)


def _opened(head: bytes) -> Callable[..., tuple[Any, Any]]:
    """Return the function that reads files with this beginning.

    It returns text as undecoded bytes (as ISO-8859-1), except from a portable file of SPSS, whose
    text it decodes.
    """
    return _reader(head) if _is_portable(head) else partial(_reader(head), encoding=_BYTES)


def _meta(path: Location) -> Any:
    """Return the file's metadata as pyreadstat gives it, with declared missing values."""
    head = _head(path)
    declared = {} if _is_portable(head) or _kind_of(head) == "sas" else {"user_missing": True}
    reader = _opened(head)
    with _reading():
        return reader(path, metadataonly=True, **declared)[1]


def _is_portable(head: bytes) -> bool:
    """Return whether a file with this beginning is a portable file of SPSS (.por)."""
    return _kind_of(head) == "spss" and not head.startswith(b"$FL")


@contextmanager
def _reading() -> Iterator[None]:
    """Turn errors of ReadStat into an InputError without their message, which may quote a value."""
    try:
        yield
    except (InputError, OSError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 (its text could quote a record)
        raise _damaged() from None


def _damaged() -> InputError:
    return InputError("data", "the file is damaged or not what its beginning promises", "save it again, or choose another file")


def _decoded(text: str, form: TableFormat) -> str:
    """Return a text of the file, which was read as bytes, in the stated encoding."""
    try:
        return text.encode(_BYTES).decode(form.encoding, "replace")
    except UnicodeEncodeError:  # a portable file, whose text is decoded already
        return text


def _labels(meta: Any, name: str, form: TableFormat) -> tuple[dict[float | str, str], set[float | str]]:
    """Return the labels of a column's values, and the labelled values that an SPSS file declares missing.

    Both are empty if all labelled values are declared missing. The missing values .a to .z of Stata
    and SAS are left out: they are letters in a column of numbers.
    """
    text = str(meta.readstat_variable_types[name]).startswith("string")
    missing = meta.missing_ranges.get(name, ()) if form.kind == "spss" else ()
    labels, declared = dict[float | str, str](), set[float | str]()
    for raw, label in meta.variable_value_labels.get(name, {}).items():
        if isinstance(raw, str) == text:
            value = _decoded(raw, form) if isinstance(raw, str) else float(raw)
            labels[value] = _decoded(label, form)
            if _is_in(raw, missing):
                declared.add(value)
    return ({}, set()) if declared.issuperset(labels) else (labels, declared)


def _is_in(value: Any, ranges: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether a value lies in one of these ranges, whose ends "lo" and "hi" are included."""
    return value is not None and any(one["lo"] <= value <= one["hi"] for one in ranges)


def _kept(ranges: Sequence[Mapping[str, Any]], categories: Iterable[str], form: TableFormat) -> frozenset[Any]:
    """Return the values of a column that are listed although the file declares them missing.

    Args:
        ranges: The ranges of values that the file declares missing.
        categories: The listed values as text.
        form: The format of the table.

    Returns:
        Numbers for a column of numbers, else texts as undecoded bytes.
    """
    if not ranges:
        return frozenset()
    is_text = isinstance(ranges[0]["lo"], str)
    texts = (category.encode(form.encoding, "replace").decode(_BYTES) for category in categories)
    values = list(texts) if is_text else [number for text in categories if (number := finite(text)) is not None]
    return frozenset(value for value in values if _is_in(value, ranges))


def _kind(meta: Any, name: str) -> str:
    """Return the kind of a column ("text", "number", "date", ...), from its type and format."""
    if str(meta.readstat_variable_types[name]).startswith("string"):
        return "text"
    if (stata := _STATA.match(_format(meta, name))) is not None:
        return _STATA_KINDS.get(stata[1], "number")
    plain = _family(meta, name)
    if re.fullmatch(_SEEN_IN_PART, plain):
        return "number" if str(meta.file_format) in _SPSS else "date"
    return next((kind for family, kind in _KINDS.items() if family.fullmatch(plain)), "number")


def _format(meta: Any, name: str) -> str:
    """Return the display format of a column in the file, such as DATE9 or %td; "" without one."""
    return str(meta.original_variable_types.get(name) or "")


def _family(meta: Any, name: str) -> str:
    """Return the name of a column's format without width and decimals."""
    return re.sub(r"[0-9.]+$", "", _format(meta, name).upper())


def _asked(meta: Any, name: str, column: Column) -> Column:
    """Return the column with a question for the curator if its unknown format may be one of dates."""
    years = _format(meta, name).startswith(("%ty", "%-ty"))
    if _kind(meta, name) != "number" or years or not _LIKE_DATES.search(_family(meta, name)):
        return column
    if re.fullmatch(_SEEN_IN_PART, _family(meta, name)):
        return column
    question = f"its format {_format(meta, name)[:40]} may be one of dates, and its values are read as numbers: {_AS_NUMBERS}"
    return Column(**column.to_json() | {"to_do": question})


def _decimals(written: str) -> int | None:
    """Return the decimals of a format like F8.2 or %9.2f; None for other formats."""
    match = re.fullmatch(r"(?:F|%-?)[0-9]+\.([0-9]+)f?", written)
    return int(match[1]) if match and not written.endswith("g") else None


def _converter(meta: Any, raw: str, form: TableFormat) -> Callable[[list[Any]], pa.Array]:
    """Return a function that converts the raw cells of a column to an Arrow array.

    Args:
        meta: The file's metadata.
        raw: The column's name as undecoded bytes.
        form: The format of the table.
    """
    first = FROM_1582 if form.kind == "spss" else FROM_1960
    stata = match[1] if (match := _STATA.match(_format(meta, raw))) else ""
    converters: dict[str, Callable[[list[Any]], pa.Array]] = {
        "text": partial(_texts, form=form),
        "date": partial(_days, first=first, unit=_DAY if form.kind == "spss" else 1),
        "timestamp": partial(_moments, first=first, unit=1000 if form.kind == "stata" else 1, counts_leap_seconds=stata == "tC"),
        "time": _times,
        "duration": _times,
        "number": lambda cells: pa.array(_floats(cells), from_pandas=True),
    }
    if stata in _MONTHS or stata == "tw":
        return partial(_period_starts, format=stata)
    return converters[_kind(meta, raw)]


def _texts(cells: list[str | None], form: TableFormat) -> pa.Array:
    """Return texts, decoded from bytes in the stated encoding, as a dictionary array."""
    encoded = pa.array(cells, pa.string()).dictionary_encode()
    values = [None if text is None else _decoded(text, form) for text in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(values, pa.string()))


def _floats(cells: list[Any]) -> NDArray[np.float64]:
    return np.array(cells, dtype=np.float64)


def _days(cells: list[Any], first: int, unit: int) -> pa.Array:
    """Return dates from numbers, null for a number that does not mean a day.

    Args:
        cells: The raw numbers.
        first: The day that 0 means, in days since 1970-01-01.
        unit: The number of units in a day: 1, or the seconds of a day.
    """
    return _dates(np.floor(_floats(cells) / unit) + first)


def _dates(days: NDArray[np.float64]) -> pa.Array:
    """Return dates from days since 1970-01-01; null outside the years 1 to 9999."""
    exists = (days >= _FIRST_DAY) & (days <= _LAST_DAY)
    return pa.array(np.where(exists, days, 0).astype(np.int32), pa.int32(), mask=~exists).cast(pa.date32())


def _period_starts(cells: list[Any], format: str) -> pa.Array:
    """Return the first day of each week, month, quarter or half year.

    Args:
        cells: The number of periods since 1960, as Stata counts them.
        format: The format of Stata: "tw", "tm", "tq" or "th".
    """
    counts = np.floor(_floats(cells))
    exists = np.abs(counts) < _LAST_DAY
    whole = np.where(exists, counts, 0).astype(np.int64)
    months, days = (whole * _MONTHS[format], 0) if format in _MONTHS else (whole // _WEEKS * 12, whole % _WEEKS * 7)
    starts = (np.datetime64("1960-01", "M") + months).astype("datetime64[D]").astype(np.int64) + days
    return _dates(np.where(exists, starts, np.nan))


def _moments(cells: list[Any], first: int, unit: int, counts_leap_seconds: bool) -> pa.Array:
    """Return timestamps in milliseconds; null outside the years 1 to 9999.

    Args:
        cells: The raw numbers.
        first: The day that 0 means, in days since 1970-01-01.
        unit: The number of units in a second.
        counts_leap_seconds: Whether the numbers count leap seconds, which are removed here.
    """
    milliseconds = np.round(_floats(cells) / unit * 1000) + first * _DAY * 1000
    if counts_leap_seconds:
        starts = np.sort(_LEAP_SECONDS).astype(np.int64) * _DAY * 1000
        milliseconds -= 1000 * np.searchsorted(starts + 1000 * np.arange(1, len(starts) + 1), milliseconds, side="right")
    exists = (milliseconds >= _FIRST_DAY * _DAY * 1000) & (milliseconds < (_LAST_DAY + 1) * _DAY * 1000)
    return pa.array(np.where(exists, milliseconds, 0).astype(np.int64), pa.int64(), mask=~exists).cast(pa.timestamp("ms"))


def _times(cells: list[Any]) -> pa.Array:
    """Return texts like 26:30:00 from seconds, rounded to milliseconds; hours may exceed 24."""
    clocks = [clock_text(round(seconds * 1000) * 1000) if -1e9 < seconds < 1e9 else None for seconds in _floats(cells)]
    return pa.array(clocks, pa.string()).dictionary_encode()
