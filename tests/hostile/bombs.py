"""Small files that make whoever reads them without limits take all memory, run for ever or fall over. Each has the columns it is given."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from tests.additions import added

_ZSTD, _SKIPPED = b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18"
_ZSTD_BLOCK = 1 << 17


def packed_line(columns: Sequence[str]) -> bytes:
    """A packed CSV with a line of 4 GB."""
    return pa.compress((",".join(columns) + "\n").encode(), codec="zstd", asbytes=True) + _repeated(b"x", 4 << 30)


def packed_column(columns: Sequence[str]) -> bytes:
    """A Feather file whose columns take 4 GB each when they are unpacked."""
    packed = _repeated(b"\0", 4 << 30)
    noise = np.random.default_rng(0).bytes(len(packed) + 100)
    table = pa.table(dict.fromkeys(columns, pa.array(np.frombuffer(noise, dtype=np.int8))))
    rows = len(noise)
    content = written(lambda path: feather.write_feather(table, str(path), compression="zstd", chunksize=rows), ".feather")
    start, end = content.index(_ZSTD), content.index(noise[-50:]) + 50  # noise stays as it is
    rest = end - start - len(packed) - 8
    replaced = (4 << 30).to_bytes(8, "little") + packed + _SKIPPED + rest.to_bytes(4, "little") + bytes(rest)
    return content.replace(content[start - 8 : end], replaced)


def repeated_value(columns: Sequence[str]) -> bytes:
    """A Parquet file in which 10,000 rows have the same 1 MB: it is there once for each column, and would be 10 GB."""
    rows = pa.DictionaryArray.from_arrays(pa.array([0] * 10_000, pa.int32()), pa.array([b"f" * 2**20]))
    table = pa.table(dict.fromkeys(columns, rows))
    return written(lambda path: pq.write_table(table, path, compression="zstd", store_schema=False), ".parquet")


BOMBS: dict[str, Callable[[Sequence[str]], bytes]] = {
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


def written(write: Callable[[Path], None], ending: str) -> bytes:
    """The bytes of a file that is written to a path with this ending."""
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder) / f"a{ending}")
        return (Path(folder) / f"a{ending}").read_bytes()


for module in added("hostile.bombs"):
    BOMBS |= module.BOMBS
