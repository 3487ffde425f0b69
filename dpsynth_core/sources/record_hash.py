"""A keyed hash of the records of a table that does not depend on their order (MSet-Add-Hash; Clarke et al., ASIACRYPT 2003).

Each record is hashed with a secret key (BLAKE2b, 256 bits), and the hashes are added up modulo 2^256, once for each copy of equal records.
Without the key, two tables with the same sum cannot be found, and a sum reveals nothing; with the key, two given tables have the same sum
with a probability of 2^-256.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.sources.arrays import texts

BYTES = 32
_LIMBS = BYTES // 4
_ROWS = 1 << 16


def total(batches: Iterable[pa.RecordBatch], key: bytes) -> bytes:
    """Return 40 bytes: the number of records in 8 bytes, and the sum of their keyed hashes in 32.

    Both are big-endian, and the order of the records has no influence. The result tells the number of records, so it
    is private; without records all bytes are 0.

    Args:
        batches: The records, all with the same columns in the same order.
        key: A secret of at most 64 bytes.
    """
    rows, summed = 0, 0
    for batch in batches:
        for start in range(0, batch.num_rows, _ROWS):
            records = _written(batch.slice(start, _ROWS))
            digests = b"".join([blake2b(record, digest_size=BYTES, key=key).digest() for record in records])
            limbs = np.frombuffer(digests, "<u4").reshape(-1, _LIMBS).sum(axis=0, dtype=np.uint64)
            summed += sum(int(limb) << 32 * place for place, limb in enumerate(limbs))
            rows += len(records)
    return rows.to_bytes(8, "big") + (summed % (1 << 8 * BYTES)).to_bytes(BYTES, "big")


def _written(batch: pa.RecordBatch) -> list[bytes]:
    """Return each record as bytes; different records have different bytes.

    A cell is written as its length and its text, or as "-" where it is missing.
    """
    cells = [_cells(column) for column in batch.columns]
    return pc.binary_join_element_wise(*cells, pa.scalar(b"", pa.large_binary())).to_pylist()


def _cells(column: pa.Array) -> pa.Array:
    """Return each value of a column as bytes: its length, a colon and its text; "-" for null."""
    if pa.types.is_dictionary(column.type):
        return pc.fill_null(_cells(column.dictionary).take(column.indices), b"-")
    text = texts(column.storage if isinstance(column, pa.ExtensionArray) else column).cast(pa.large_binary())
    length = pc.binary_length(text).cast(pa.large_string()).cast(pa.large_binary())
    return pc.fill_null(pc.binary_join_element_wise(length, text, pa.scalar(b":", pa.large_binary())), b"-")
