"""Tables as files of SPSS, Stata, SAS, Excel and OpenDocument, written by other programs than ours. For `tests/sources/written.py`."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from datetime import date
from pathlib import Path
from xml.sax.saxutils import escape

import pandas as pd
import pyarrow as pa
import pyreadstat
import xlsxwriter

_XML = '<?xml version="1.0" encoding="UTF-8"?>'


def _xlsx(table: pa.Table, path: Path) -> None:
    with xlsxwriter.Workbook(path, {"strings_to_urls": False, "default_date_format": "yyyy-mm-dd hh:mm:ss"}) as book:
        sheet = book.add_worksheet("table")
        for number, row in enumerate([dict(zip(table.column_names, table.column_names, strict=True)), *table.to_pylist()]):
            for place, name in enumerate(table.column_names):
                value = row[name]
                if isinstance(value, str):
                    sheet.write_string(number, place, value)
                elif value is not None:
                    sheet.write(number, place, value)


def _ods(table: pa.Table, path: Path) -> None:
    """The least that a spreadsheet program writes: what kind of file it is, and the cells with their types."""
    cells = [[_ods_cell(row[name]) for name in table.column_names] for row in table.to_pylist()]
    header = [_ods_cell(name) for name in table.column_names]
    rows = "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in [header, *cells])
    names = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text"))
    sheet = f'<office:body><office:spreadsheet><table:table table:name="table">{rows}</table:table></office:spreadsheet></office:body>'
    files = {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "content.xml": f"{_XML}<office:document-content {names}>{sheet}</office:document-content>",
        "META-INF/manifest.xml": f'{_XML}<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)


def _ods_cell(value: object) -> str:
    if value is None:
        return "<table:table-cell/>"
    kind = next((name for name, one in (("string", str), ("date", date), ("boolean", bool)) if isinstance(value, one)), "float")
    names = {"string": "", "date": f' office:date-value="{value}"', "boolean": f' office:boolean-value="{str(value).lower()}"'}
    stated = names.get(kind, f' office:value="{value}"')
    return f'<table:table-cell office:value-type="{kind}"{stated}><text:p>{escape(str(value))}</text:p></table:table-cell>'


def _frame(table: pa.Table) -> pd.DataFrame:
    return table.to_pandas()


WRITERS: Mapping[str, Callable[[pa.Table, Path], None]] = {
    ".xlsx": _xlsx,
    ".ods": _ods,
    ".sav": lambda table, path: pyreadstat.write_sav(_frame(table), str(path)),
    ".zsav": lambda table, path: pyreadstat.write_sav(_frame(table), str(path), compress=True),
    ".por": lambda table, path: pyreadstat.write_por(_frame(table), str(path)),
    ".dta": lambda table, path: pyreadstat.write_dta(_frame(table), str(path)),
    ".xpt": lambda table, path: pyreadstat.write_xport(_frame(table), str(path)),
}
"""By the ending of the name."""
