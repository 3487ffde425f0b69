"""Small files that make whoever reads them without limits take all memory, run for ever or fall over. Each has the columns it is given."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import xlsxwriter

_ZSTD, _SKIPPED = b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"
_ZSTD_BLOCK = 1 << 17
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
    with zipfile.ZipFile(io.BytesIO(_written(write, ".xlsx"))) as archive, zipfile.ZipFile(out, "w") as changed:
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


def packed_line(columns: Sequence[str]) -> bytes:
    """A packed CSV with a line of 4 GB."""
    return pa.compress((",".join(columns) + "\n").encode(), codec="zstd", asbytes=True) + _repeated(b"x", 4 << 30)


def packed_column(columns: Sequence[str]) -> bytes:
    """A Feather file whose columns take 4 GB each when they are unpacked."""
    packed = _repeated(b"\0", 4 << 30)
    noise = np.random.default_rng(0).bytes(len(packed) + 100)
    table = pa.table(dict.fromkeys(columns, pa.array(np.frombuffer(noise, dtype=np.int8))))
    rows = len(noise)
    content = _written(lambda path: feather.write_feather(table, str(path), compression="zstd", chunksize=rows), ".feather")
    start, end = content.index(_ZSTD), content.index(noise[-50:]) + 50  # noise stays as it is
    rest = end - start - len(packed) - 8
    replaced = (4 << 30).to_bytes(8, "little") + packed + _SKIPPED + rest.to_bytes(4, "little") + bytes(rest)
    return content.replace(content[start - 8 : end], replaced)


def repeated_value(columns: Sequence[str]) -> bytes:
    """A Parquet file in which 10,000 rows have the same 1 MB: it is there once for each column, and would be 10 GB."""
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array([b"f" * 2**20]))
    table = pa.table(dict.fromkeys(columns, rows))
    return _written(lambda path: pq.write_table(table, path, compression="zstd", store_schema=False), ".parquet")


BOMBS: Mapping[str, Callable[[Sequence[str]], bytes]] = {
    ".xlsx": far_cell,
    ".ods": repeated_cells,
    ".csv.zst": packed_line,
    ".feather": packed_column,
    ".parquet": repeated_value,
}
"""By the ending of the name."""


def _repeated(byte: bytes, size: int) -> bytes:
    """One byte, `size` times (whole blocks), packed by Zstandard into a 30,000th of that: a block says how often its byte is repeated."""
    blocks = size // _ZSTD_BLOCK
    heads = [(int(at == blocks - 1) | 2 | _ZSTD_BLOCK << 3).to_bytes(3, "little") for at in range(blocks)]
    return _ZSTD + b"\xc0\x38" + size.to_bytes(8, "little") + byte.join(heads) + byte


def _written(write: Callable[[Path], None], ending: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / f"a{ending}")
        return (Path(folder) / f"a{ending}").read_bytes()
