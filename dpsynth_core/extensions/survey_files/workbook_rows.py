"""Synthetic rows as a workbook of Excel. Nothing in it is a formula or a link."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from datetime import date, timedelta
from typing import Any

import pyarrow as pa
import xlsxwriter

from dpsynth_core.extensions import survey_files
from dpsynth_core.extensions.survey_files.in_memory import THEN, at_once, check_texts
from dpsynth_core.foundation.arrow_times import clock_text
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.foundation.visible import listed
from dpsynth_core.release.about import About
from dpsynth_core.vocabulary.domain import Domain

_SHEET_COLUMNS = 16_384
_EXCEL_FIRST = date(1900, 1, 1)
_EXCEL_FORMATS = {"date": "yyyy-mm-dd", "timestamp": "yyyy-mm-dd hh:mm:ss", "time": "hh:mm:ss", "duration": "[h]:mm:ss"}


def _workbook(table: pa.Table, domain: Domain, about: About) -> bytes:
    if table.num_rows > survey_files.SHEET_ROWS or table.num_columns > _SHEET_COLUMNS:
        problem = f"a sheet holds {survey_files.SHEET_ROWS:,} rows and {_SHEET_COLUMNS:,} columns"
        raise CapacityError("rows", problem, "use another format, or fewer rows")
    check_texts(domain, "Excel", lambda text: len(text.encode("utf-16-le")) // 2, names=True)
    out = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    with xlsxwriter.Workbook(out, options) as book:
        book.set_properties({"created": THEN, "title": about.label, "comments": " ".join(about.lines)})
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
        for row, line in enumerate((*about.lines, *notes(domain))):
            sheet.write_string(row, 0, line)
    return out.getvalue()


def notes(domain: Domain) -> Iterable[str]:
    """Yield a sentence on days before 1900 for readers of a workbook, or nothing without such days.

    A workbook has these days as text. The sentence names the first five columns that may have such days, and
    counts the others.
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


def _add_codebook(sheet: Any, domain: Domain) -> None:
    lines = [("column", "label", "value", "value_label")]
    for attribute in domain.columns:
        lines.append((attribute.name, attribute.label, "", ""))
        lines += [(attribute.name, "", *pair) for pair in zip(attribute.categories, attribute.labels, strict=False)]
    for row, line in enumerate(lines):
        for place, text in enumerate(line):
            sheet.write_string(row, place, text[:32_767])


write = at_once(_workbook)
