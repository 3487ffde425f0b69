"""A table that asks for packages of the extra `formats`. For `tests/wheel/test_wheel.py`."""

from __future__ import annotations

from pathlib import Path

import xlsxwriter


def write(folder: Path) -> Path:
    """Write a workbook into a folder."""
    path = folder / "table.xlsx"
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet().write_row(0, 0, ["age", "sex"])
    return path
