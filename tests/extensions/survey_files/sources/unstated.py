"""Random neighbouring tables as workbooks. For `tests/sources/default_road.py`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import xlsxwriter

_NUMBER = re.compile(r"[1-9][0-9]{0,5}(\.[0-9]{1,3})?")


def _workbook(path: Path, names: Sequence[str], typed: Collection[str], table: Sequence[Any]) -> None:
    with xlsxwriter.Workbook(path, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
        sheet = book.add_worksheet()
        for place, record in enumerate((names, *table)):
            for column, cell in enumerate(record):
                if names[column] in typed and _NUMBER.fullmatch(str(cell)):
                    sheet.write_number(place, column, float(str(cell)))
                else:
                    sheet.write_string(place, column, "".join(sign for sign in str(cell) if sign.isprintable()))


WRITERS: Mapping[str, Callable[[Path, Sequence[str], Collection[str], Sequence[Any]], None]] = {"xlsx": _workbook}
