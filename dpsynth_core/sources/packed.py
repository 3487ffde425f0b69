"""Text files, plain or packed (gzip, Zstandard), read as one stream of bytes.

The packing reveals nothing about records: neighbours are the texts inside. Packed files are recognised by their first bytes, which begin no
text. A small file can unpack to any size; a file that grows beyond every table's measure is refused at that point.
"""

from __future__ import annotations

import io
from typing import BinaryIO, cast

import pyarrow as pa

from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.sources.locations import Location, Remote

MAX_RATIO = 200
"""The largest ratio of unpacked to packed size. Tables reach 50; the same line again and again reaches 1,000 and far more."""
ANY_RATIO_BYTES = 64 << 20
"""So much may come out of any file."""
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_PIECE = 1 << 22


class _Unpacked(io.RawIOBase):
    """A stream of the unpacked bytes of a packed file.

    Reading raises CapacityError once more than `MAX_RATIO` times the file's size, and more than
    `ANY_RATIO_BYTES`, came out.
    """

    def __init__(self, path: Location, codec: str) -> None:
        self._stream = pa.input_stream(path.open("rb") if isinstance(path, Remote) else path, compression=codec)
        self._left = max(MAX_RATIO * path.stat().st_size, ANY_RATIO_BYTES)

    def read(self, size: int = -1, /) -> bytes:
        piece: bytes = self._stream.read(size if size >= 0 else None)
        self._left -= len(piece)
        if self._left < 0:
            raise CapacityError("data", f"it unpacks to more than {MAX_RATIO} times its size", "unpack it first, if you trust it")
        return piece

    def close(self) -> None:
        self._stream.close()
        super().close()


def opened(path: Location) -> BinaryIO:
    """Return a stream of a text file's bytes, unpacked if the file is packed by gzip or Zstandard.

    Reading raises OSError for a packed file that is damaged or cut off, and CapacityError if it
    unpacks to more than 200 times its size and 64 MiB.

    Raises:
        OSError: The file cannot be opened.
    """
    with path.open("rb") as stream:
        start = stream.read(4)
    codec = next((codec for mark, codec in _PACKED.items() if start.startswith(mark)), None)
    return path.open("rb") if codec is None else cast(BinaryIO, _Unpacked(path, codec))


def is_packed(path: Location) -> bool:
    """Return whether a file begins like one packed by gzip or Zstandard.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as stream:
        return stream.read(4).startswith(tuple(_PACKED))


def size(path: Location, most: int | None = None) -> int:
    """Return the number of bytes of a text file after unpacking.

    Args:
        path: The file.
        most: If given, unpacking stops once there are more bytes; the result is then some number
            above `most`.

    Raises:
        OSError: The file cannot be read, or is packed and damaged.
        CapacityError: It unpacks to more than 200 times its size and 64 MiB.
    """
    if not is_packed(path):
        return path.stat().st_size
    total = 0
    with opened(path) as stream:
        while (piece := stream.read(_PIECE)) and (most is None or total <= most):
            total += len(piece)
    return total
