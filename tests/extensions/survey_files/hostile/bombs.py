"""Small workbooks that make whoever reads them without limits take all memory. For `tests/hostile/bombs.py`."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import xlsxwriter

from tests.hostile.bombs import written

_ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
 xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">
<office:body><office:spreadsheet><table:table table:name="s"><table:table-row>%s</table:table-row>
<table:table-row table:number-rows-repeated="99998"><table:table-cell office:value-type="string"
 table:number-columns-repeated="1000"><text:p>a</text:p></table:table-cell></table:table-row>
</table:table></office:spreadsheet></office:body></office:document-content>"""
_ODS_CELL = '<table:table-cell office:value-type="string"><text:p>%s</text:p></table:table-cell>'
_MANIFEST = """<?xml version="1.0"?><manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0">
<manifest:file-entry manifest:full-path="/" manifest:media-type="application/vnd.oasis.opendocument.spreadsheet"/></manifest:manifest>"""


def far_cell(columns: Sequence[str]) -> bytes:
    """A workbook with a cell in its last corner, written so that a look for the places of cells misses it: 17 billion cells."""

    def write(path: Path) -> None:
        with xlsxwriter.Workbook(path) as book:
            book.add_worksheet("s").write_row(0, 0, columns)

    last = b'</row><row r="1048576"><c t="n" r="XFD1048576"><v>1</v></c></row></sheetData>'
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(written(write, ".xlsx"))) as archive, zipfile.ZipFile(out, "w") as changed:
        for name in archive.namelist():
            changed.writestr(name, archive.read(name).replace(b"</row></sheetData>", last))
    return out.getvalue()


def repeated_cells(columns: Sequence[str]) -> bytes:
    """An OpenDocument sheet in which one cell is said to be there a hundred million times."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", _MANIFEST)
        archive.writestr("content.xml", _ODS % "".join(_ODS_CELL % name for name in columns))
    return out.getvalue()


BOMBS: Mapping[str, Callable[[Sequence[str]], bytes]] = {".xlsx": far_cell, ".ods": repeated_cells}
"""By the ending of the name."""
