"""Files of SPSS, Stata and SAS as record batches. Every row is one record, so nothing in it can change another.

A file is written by a program, from a table: neighbours are the tables inside. ReadStat divides the file into rows by what its header
says, and hands over each value on its own. What it would do for a whole file because of one value is done here, value by value: text is
taken as bytes and decoded cell by cell (a byte that the encoding does not know becomes U+FFFD), and days and times are worked out from
numbers, where one that is no day is missing. Numbers are float64 in every batch. Declared missing values are missing.

Labels are what the file says of itself, not of anybody in it: `described` reads them without a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation.arrow_times import FROM_1582, FROM_1960, clock_text
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.locations import Location
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.value_labels import labelled

_SAS7BDAT = bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
_BYTES = "ISO-8859-1"
"""An encoding in which every byte is a character: what comes out is the bytes of the file."""
_KINDS = {  # as `declared` names them, by the formats of SPSS and SAS, without width
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "JDATE", "SDATE", "QYR", "MOYR", "WKYR", "E8601DA", "B8601DA"), "date"),
    **dict.fromkeys(("DDMMYY", "MMDDYY", "YYMMDD", "YYMM", "MONYY", "YEAR", "WEEKDATE", "WORDDATE", "JULIAN"), "date"),
    **dict.fromkeys((f"{order}{sign}" for order in ("DDMMYY", "MMDDYY", "YYMMDD") for sign in "BCDNPS"), "date"),
    **dict.fromkeys(("DATETIME", "YMDHMS", "DATEAMPM", "E8601DT", "B8601DT", "MDYAMPM"), "timestamp"),
    **dict.fromkeys(("TIME", "HHMM", "TOD", "TIMEAMPM", "E8601TM"), "time"),
    **dict.fromkeys(("DTIME", "MTIME"), "duration"),
}
_STATA = {"td": "date", "d": "date", "tc": "timestamp", "tC": "timestamp"}
_DAY = 86_400
_HEAD_BYTES = 600
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""0001-01-01 and 9999-12-31."""


def encoding_of(path: Location) -> str:
    """The encoding that the file names, or that its kind and version have. For a suggestion."""
    head = _head(path)
    if path_kind(head) == "stata":
        return "utf-8" if re.match(rb"<stata_dta><header><release>(118|119|12[01])", head) else "cp1252"
    try:
        meta = _reader(head)(path, metadataonly=True)[1]
    except Exception:  # noqa: BLE001 (its labels are not in the encoding that it names)
        return "utf-8"
    return str(meta.file_encoding or "utf-8")


def path_kind(head: bytes) -> str | None:
    """Which program's file this is, by its first bytes; None for no other."""
    if head.startswith((b"$FL2", b"$FL3")) or b"SPSS PORT FILE" in head or b"SPSSPORT" in head:
        return "spss"
    if head.startswith(b"<stata_dta>") or (len(head) > 3 and 104 <= head[0] <= 115 and head[1] in (1, 2) and head[2:4] == b"\1\0"):
        return "stata"
    if head.startswith(b"HEADER RECORD*******LIB") or head[12:32] == _SAS7BDAT:
        return "sas"
    return None


def names(path: Location, form: TableFormat) -> tuple[str, ...]:
    """The names of the columns. Raises InputError for a file that cannot be read."""
    return _names(_meta(path), form)


def _names(meta: Any, form: TableFormat) -> tuple[str, ...]:
    return tuple(_decoded(name, form).strip() for name in meta.column_names)


def described(path: Location, form: TableFormat) -> tuple[Column, ...]:
    """What the file says of its columns. No record is read. Raises InputError."""
    meta = _meta(path)
    return tuple(
        labelled(
            shown,
            _kind(meta, name),
            _labels(meta, name, form),
            measure=meta.variable_measure.get(name) or "",
            label=_decoded(label or "", form).strip(),
            decimals=_decimals(str(meta.original_variable_types.get(name))),
        )
        for name, shown, label in zip(meta.column_names, _names(meta, form), meta.column_labels, strict=True)
    )


def batches(path: Location, form: TableFormat, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    """These columns, at most `rows` rows at a time. Raises InputError for a damaged file."""
    meta = _meta(path)
    raw = dict(zip(_names(meta, form), meta.column_names, strict=True))
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
            )
        count = len(cells[raw[columns[0]]]) if cells else 0
        start += count
        if count:
            yield pa.RecordBatch.from_arrays([convert[name](cells[raw[name]]) for name in columns], names=list(columns))
        if count < rows:
            break
    if meta.number_rows is not None and 0 <= meta.number_rows != start:
        raise _damaged()


def _reader(head: bytes) -> Callable[..., tuple[Any, Any]]:
    import pyreadstat  # takes a while, and `path_kind` does not need it

    readers: dict[str | None, Callable[..., tuple[Any, Any]]] = {
        "spss": pyreadstat.read_por if _is_portable(head) else pyreadstat.read_sav,
        "stata": pyreadstat.read_dta,
        "sas": pyreadstat.read_xport if head.startswith(b"HEADER") else pyreadstat.read_sas7bdat,
    }
    if (kind := path_kind(head)) is None:
        raise _damaged()
    return readers[kind]


def _head(path: Location) -> bytes:
    with path.open("rb") as stream:
        return stream.read(_HEAD_BYTES)


def _opened(head: bytes) -> Callable[..., tuple[Any, Any]]:
    """The function that reads a file that begins so, text as bytes where it can be told to."""
    return _reader(head) if _is_portable(head) else partial(_reader(head), encoding=_BYTES)


def _meta(path: Location) -> Any:
    """What the file says of itself, declared missing values included."""
    head = _head(path)
    declared = {} if _is_portable(head) or path_kind(head) == "sas" else {"user_missing": True}
    reader = _opened(head)
    with _reading():
        return reader(path, metadataonly=True, **declared)[1]


def _is_portable(head: bytes) -> bool:
    return path_kind(head) == "spss" and not head.startswith(b"$FL")


@contextmanager
def _reading() -> Iterator[None]:
    """What goes wrong in ReadStat, as an InputError without its message, which may quote a value."""
    try:
        yield
    except (InputError, OSError, MemoryError):
        raise
    except Exception:  # noqa: BLE001 (its text could quote a record)
        raise _damaged() from None


def _damaged() -> InputError:
    return InputError("data", "the file is damaged or not what its beginning promises", "save it again, or choose another file")


def _decoded(text: str, form: TableFormat) -> str:
    try:
        return text.encode(_BYTES).decode(form.encoding, "replace")
    except UnicodeEncodeError:  # a portable file, whose text is decoded already
        return text


def _labels(meta: Any, name: str, form: TableFormat) -> dict[float | str, str]:
    """Of the values that are not declared to be missing. Those of Stata and SAS, .a to .z, are letters among numbers."""
    text = str(meta.readstat_variable_types[name]).startswith("string")
    missing = meta.missing_ranges.get(name, ())
    labels = {
        value: label
        for value, label in meta.variable_value_labels.get(name, {}).items()
        if isinstance(value, str) == text and not any(one["lo"] <= value <= one["hi"] for one in missing)
    }
    return {_decoded(value, form) if isinstance(value, str) else float(value): _decoded(label, form) for value, label in labels.items()}


def _kind(meta: Any, name: str) -> str:
    if str(meta.readstat_variable_types[name]).startswith("string"):
        return "text"
    written = str(meta.original_variable_types.get(name) or "")
    if (stata := re.match(r"%-?(tc|tC|td|d)", written)) is not None:
        return _STATA[stata[1]]
    return _KINDS.get(re.sub(r"[0-9.]+$", "", written.upper()), "number")


def _decimals(written: str) -> int | None:
    """Of a format such as F8.2 or %9.2f."""
    match = re.fullmatch(r"(?:F|%-?)[0-9]+\.([0-9]+)f?", written)
    return int(match[1]) if match and not written.endswith("g") else None


def _converter(meta: Any, raw: str, form: TableFormat) -> Callable[[list[Any]], pa.Array]:
    first = FROM_1582 if form.kind == "spss" else FROM_1960
    converters: dict[str, Callable[[list[Any]], pa.Array]] = {
        "text": partial(_texts, form=form),
        "date": partial(_days, first=first, unit=_DAY if form.kind == "spss" else 1),
        "timestamp": partial(_moments, first=first, unit=1000 if form.kind == "stata" else 1),
        "time": _times,
        "duration": _times,
        "number": lambda cells: pa.array(_floats(cells), from_pandas=True),
    }
    return converters[_kind(meta, raw)]


def _texts(cells: list[str | None], form: TableFormat) -> pa.Array:
    encoded = pa.array(cells, pa.string()).dictionary_encode()
    values = [None if text is None else _decoded(text, form) for text in encoded.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(encoded.indices, pa.array(values, pa.string()))


def _floats(cells: list[Any]) -> NDArray[np.float64]:
    return np.array(cells, dtype=np.float64)


def _days(cells: list[Any], first: int, unit: int) -> pa.Array:
    days = np.floor(_floats(cells) / unit) + first
    exists = (days >= _FIRST_DAY) & (days <= _LAST_DAY)
    return pa.array(np.where(exists, days, 0).astype(np.int32), pa.int32(), mask=~exists).cast(pa.date32())


def _moments(cells: list[Any], first: int, unit: int) -> pa.Array:
    milliseconds = np.round(_floats(cells) / unit * 1000) + first * _DAY * 1000
    exists = (milliseconds >= _FIRST_DAY * _DAY * 1000) & (milliseconds < (_LAST_DAY + 1) * _DAY * 1000)
    return pa.array(np.where(exists, milliseconds, 0).astype(np.int64), pa.int64(), mask=~exists).cast(pa.timestamp("ms"))


def _times(cells: list[Any]) -> pa.Array:
    """Hours, minutes and seconds, to the millisecond; more than 24 hours for what lasts longer than a day."""
    clocks = [clock_text(round(seconds * 1000) * 1000) if -1e9 < seconds < 1e9 else None for seconds in _floats(cells)]
    return pa.array(clocks, pa.string()).dictionary_encode()
