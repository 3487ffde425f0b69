"""Synthetic rows as files of SPSS, Stata and SAS, with the labels, types and days of the domain.

Names that a program does not allow are changed as little as can be, and the label says the right one.
"""

from __future__ import annotations

import io
import math
import os
import re
import struct
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from dpsynth_core.extensions.survey_files.in_memory import THEN, at_once, check_texts
from dpsynth_core.extensions.survey_files.statistical_file import FROM_1582, FROM_1960
from dpsynth_core.foundation.arrow_times import DAY_MICROS, NO_TIME, Micros, holds_times, micros
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.release.about import About
from dpsynth_core.release.program_names import cut, program_names, spss_user_missing
from dpsynth_core.vocabulary.domain import Domain, column_field
from dpsynth_core.vocabulary.filled import RowColumn
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

_SAS_SMALLEST, _SAS_LARGEST = 5.4e-79, 7.2e75
"""Numbers of a SAS transport file, which are those of IBM mainframes, but for 0."""
_STATA_CODES = (-2_147_483_647, 2_147_483_620)
"""Whole numbers that Stata has value labels for."""
_YES_NO = {0: "false", 1: "true"}
_Columns = Mapping[str, RowColumn]
"""By the names that a statistical program allows."""
_CHARACTERISTICS = 8
"""The place of this part in Stata's map."""
_STATA_DATES = {"date": "td", "timestamp": "tc", "time": "tc"}


@dataclass(frozen=True)
class _Program:
    """The representation of times in a statistical program.

    Attributes:
        time: Converts microseconds of a column to the column of a data frame.
        times: By dtype, the name of the display format and its width.
    """

    time: Callable[[Micros, RowColumn], pd.Series]
    times: Mapping[str, tuple[str, int]]


def _bytes(text: str) -> int:
    return len(text.encode())


def _sav(table: pa.Table, domain: Domain, about: About) -> bytes:
    import pyreadstat

    check_texts(domain, "SPSS", _bytes)
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
        time_stamp=THEN,
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

    check_texts(domain, "SAS transport", _bytes)
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
    return {name: cut(label, most) for name, a in columns.items() if (label := a.label or (a.name if a.name != name else ""))}


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
            labels[name] = {value: cut(named.get(word, word), most) for value, word in _YES_NO.items()}
        elif named and attribute.dtype == "int64":
            whole_numbers = {int(float(category)): cut(label, most) for category, label in named.items()}
            labels[name] = {code: label for code, label in whole_numbers.items() if codes[0] <= code <= codes[1]}
        elif named and texts:
            read = float if attribute.dtype == "float64" else str
            labels[name] = {read(category): cut(label, most) for category, label in named.items()}
    return {name: labelled for name, labelled in labels.items() if labelled}


_SPSS = _Program(_seconds(FROM_1582), {"timestamp": ("DATETIME", 20), "time": ("TIME", 8), "duration": ("DTIME", 15)})
_SAS = _Program(_seconds(FROM_1960), {"timestamp": ("DATETIME", 20), "time": ("TOD", 8), "duration": ("TIME", 12)})
_STATA = _Program(_stata_time, {})

write_sav = at_once(_sav)
write_dta = at_once(_dta)
write_xpt = at_once(_xpt)
