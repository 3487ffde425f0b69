"""Tables written as files of every kind by other programs than ours, for tests of reading."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather

from tests.additions import added


def _jsonl(table: pa.Table, path: Path) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")


def _packed(compress: Callable[[bytes], bytes]) -> Callable[[pa.Table, Path], None]:
    def write(table: pa.Table, path: Path) -> None:
        pacsv.write_csv(table, path)
        path.write_bytes(compress(path.read_bytes()))

    return write


WRITERS: dict[str, Callable[[pa.Table, Path], None]] = {
    ".csv": pacsv.write_csv,
    ".csv.gz": _packed(gzip.compress),
    ".csv.zst": _packed(lambda text: _zstd(text)),
    ".jsonl": _jsonl,
    ".feather": feather.write_feather,
}
"""By the ending of the name."""
for module in added("sources.written"):
    WRITERS |= module.WRITERS


def _zstd(text: bytes) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(text)
    return sink.getvalue().to_pybytes()
