"""Text files as they are or packed (gzip, Zstandard), read as one stream of bytes.

What packs a file says nothing of its records: neighbours are the texts inside. Recognised by the first bytes, which no text begins with.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


def opened(path: Path) -> BinaryIO:
    """The bytes of a text file, unpacked. Reading raises OSError for a packed file that is damaged or cut off."""
    with path.open("rb") as stream:
        start = stream.read(4)
    codec = next((codec for mark, codec in _PACKED.items() if start.startswith(mark)), None)
    return path.open("rb") if codec is None else cast(BinaryIO, pa.input_stream(path, compression=codec))


def is_packed(path: Path) -> bool:
    """Whether the file has to be unpacked."""
    with path.open("rb") as stream:
        return stream.read(4).startswith(tuple(_PACKED))


def size(path: Path) -> int:
    """Bytes of the text, which are counted by unpacking it where it is packed. Raises OSError as reading does."""
    if not is_packed(path):
        return path.stat().st_size
    total = 0
    with opened(path) as stream:
        while piece := stream.read(1 << 22):
            total += len(piece)
    return total
