"""Workbooks of Excel and OpenDocument as record batches: one sheet, in which every row with anything in it is one record.

The first row with anything in it, behind skipped rows, is the header, from its first to its last name; cells beside those columns are
ignored. A row that is blank in these columns is not a record, wherever it stands: a blank row at the end looks like the empty sheet below
it. So the content of a row decides whether it counts, but only its own: files that differ in one person's row have one record more, fewer
or changed. The number of rows that count is then not public (`registry.TableKind.skips_rows`).

Every cell becomes text by its own type, in the curator's stated notation of numbers: the type of one cell changes no other. The XML of
Excel is read cell by cell here (`xlsx_file`). Older and other workbooks (.xls, .xlsb, .ods) are decoded by a library as a whole: a value
that the library cannot return damages its row, and a cell that it cannot decode refuses the file.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import python_calamine

from dpsynth_core.extensions.survey_files import xlsx_file
from dpsynth_core.foundation.arrow_times import clock_text
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.locations import Location
from dpsynth_core.vocabulary.kinds.numbers import plain_number
from dpsynth_core.vocabulary.names import told_apart

MAX_UNPACKED = 4 << 30
_ROWS = 8192


def sheets(path: Location) -> tuple[str, ...]:
    """Return the names of the sheets in order.

    Raises:
        InputError: The file is not a readable workbook, or it is protected by a password.
        OSError: The file cannot be opened.
    """
    with _reading():
        if xlsx_file.is_xlsx(Path(path)):
            return xlsx_file.sheets(Path(path))
        with python_calamine.load_workbook(str(path)) as book:
            return tuple(book.sheet_names)


def is_workbook(path: Location) -> bool:
    """Return whether a file is a workbook of Excel or OpenDocument in a ZIP archive; False also for a file that cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            inside = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False
    return bool(inside & {"xl/workbook.xml", "xl/workbook.bin", "content.xml"})


def header(path: Location, form: TableFormat) -> tuple[str, ...]:
    """Return the header cells of the sheet, or the stated names.

    Stated names are returned as they are, and the file is not opened. The header is the first row with
    anything in it, after the skipped rows, from its first to its last name; () for an empty sheet.

    Raises:
        InputError: The file is not a readable workbook, or it lacks the stated sheet.
        CapacityError: The workbook is too large.
        OSError: The file cannot be opened.
    """
    return form.names or _header(_cells(path, form), form)[0]


def names(path: Location, form: TableFormat) -> tuple[str, ...]:
    """Return the names of the columns, distinct and in order: the stated names, or the header's.

    Raises:
        InputError: The file is not a readable workbook, or it lacks the stated sheet.
        CapacityError: The workbook is too large.
        OSError: The file cannot be opened.
    """
    return told_apart(header(path, form))


def batches(path: Location, form: TableFormat, columns: Sequence[str], _rows: int) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all rows that are not blank, in the order of the sheet, as dictionary-encoded text.

    A row is blank if its cells below the header are. A blank cell is null. A batch has 8,192 rows at most.

    Args:
        path: The workbook.
        form: The format of the table.
        columns: The names of the columns (`names`), at least one.

    Raises:
        InputError: The file is not a readable workbook, or it lacks the stated sheet.
        CapacityError: The workbook unpacks to more than 4 GB.
        ValueError: A column is unknown.
        OSError: The file cannot be opened.
    """
    cells = _cells(path, form)
    texts, at = _header(cells, form)
    there = told_apart(texts)
    places = [at + there.index(name) for name in columns]
    records = (row for row in cells if any(_text(cell, form) for cell in row[at : at + len(there)]))
    while chunk := list(islice(records, _ROWS)):
        columns_of_text = ([_text(row[place], form) if place < len(row) else None for row in chunk] for place in places)
        arrays = [pa.array(cells, pa.string()).dictionary_encode() for cells in columns_of_text]
        yield pa.RecordBatch.from_arrays(arrays, names=list(columns))


def first_texts(path: Location, form: TableFormat, rows: int) -> dict[str, list[str]]:
    """Return, by column, the cells that the workbook holds as text in its first `rows` rows, in order.

    Rows above the header and the header are not counted; blank rows are. Numbers and dates are left out. So are
    empty cells of .xlsx and .xlsm; in older and other workbooks an empty cell may be "".

    Args:
        path: The workbook.
        form: The format of the table.
        rows: Number of rows to read.

    Raises:
        InputError: The file is not a readable workbook, or it lacks the stated sheet.
        CapacityError: The workbook unpacks to more than 4 GB.
        OSError: The file cannot be opened.
    """
    cells = _cells(path, form)
    texts, at = _header(cells, form)
    first = list(islice(cells, rows))
    columns = {name: [row[place] for row in first if place < len(row)] for place, name in enumerate(told_apart(texts), start=at)}
    return {name: [cell for cell in column if isinstance(cell, str)] for name, column in columns.items()}


def _header(cells: Iterator[list[Any]], form: TableFormat) -> tuple[tuple[str, ...], int]:
    """Return the header cells and the index of their first column, reading up to the header.

    Args:
        cells: The rows of the sheet. Skipped rows and the header are consumed; the records follow.
        form: The format of the table. With stated names no header is read, and the index is 0.
    """
    above = form.skip
    if form.names and not above:
        return form.names, 0
    for row in cells:
        texts = [(_text(cell, form) or "").strip() for cell in row]
        filled = [place for place, text in enumerate(texts) if text]
        if filled and not above:
            return tuple(texts[filled[0] : filled[-1] + 1]), filled[0]
        above -= bool(filled)
        if form.names and not above:
            return form.names, 0
    return form.names, 0


def _cells(path: Location, form: TableFormat) -> Iterator[list[Any]]:
    """Yield the cells of each row of the sheet, from its first column.

    Raises:
        InputError: The file is not a readable workbook, or it lacks the stated sheet.
        CapacityError: The workbook is too large.
    """
    there = sheets(path)
    if form.sheet and form.sheet not in there:
        raise InputError("data.sheet", "the workbook has no sheet of this name", "check the spelling, or state none")
    if not there:
        raise InputError("data", "the workbook has no sheet", "choose another file")
    with _reading():
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                if sum(member.file_size for member in archive.infolist()) > MAX_UNPACKED:  # it would take too long
                    problem = f"the workbook unpacks to more than {MAX_UNPACKED >> 30} GB"
                    raise CapacityError("data", problem, "save the table as CSV or Parquet")
        if xlsx_file.is_xlsx(Path(path)):
            yield from xlsx_file.rows(Path(path), form.sheet or there[0])
            return
        with python_calamine.load_workbook(str(path)) as book:
            sheet = book.get_sheet_by_name(form.sheet or there[0])
        if sheet.start is None:
            return
        before = [""] * sheet.start[1]
        for row in _rows_of(sheet):
            yield before + row


def _rows_of(sheet: python_calamine.CalamineSheet) -> Iterator[list[Any]]:
    """Yield the rows of a sheet that a library has decoded.

    If the library cannot return a value of a row, such as a date after the last possible one, all
    cells of this row are `DAMAGED`.
    """
    rows = iter(sheet.iter_rows())
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except BaseException as error:
            if not _is_of_calamine(error):
                raise
            yield [xlsx_file.DAMAGED] * sheet.width


@contextmanager
def _reading() -> Iterator[None]:
    """Turn errors of calamine into an InputError without their message."""
    try:
        yield
    except python_calamine.PasswordError:
        raise InputError("data", "the workbook is protected by a password", "save it without one") from None
    except (InputError, OSError, MemoryError):
        raise
    except BaseException as error:
        if not _is_of_calamine(error):
            raise
        raise InputError("data", "the file is damaged or no workbook", "save it again, or save the table as CSV or Parquet") from None


def _is_of_calamine(error: BaseException) -> bool:
    """Return whether this is an error that calamine may raise: an Exception, or its PanicException, which is not an Exception."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def _text(cell: Any, form: TableFormat) -> str | None:
    """Return a cell as text; None for a blank cell.

    Numbers have the stated decimal mark, dates and times are in ISO 8601, and truth values are true
    or false.
    """
    if isinstance(cell, str):
        return cell if cell.strip() else None
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int | float):
        return plain_number(float(cell)).replace(".", form.decimal)
    if isinstance(cell, datetime):
        return cell.isoformat(" ", _spec(cell))
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, time):
        return cell.isoformat(_spec(cell))
    if isinstance(cell, timedelta):
        return clock_text(round(cell / timedelta(milliseconds=1)) * 1000)
    return None


def _spec(cell: datetime | time) -> str:
    """Return the `timespec` of `isoformat`: milliseconds where the cell has a fraction of a second, else seconds."""
    return "milliseconds" if cell.microsecond else "seconds"
