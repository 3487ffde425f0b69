"""The content of a file, wherever it is: how long it is, its hash, and how it is read from its beginning, part by part."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from typing_extensions import override

PART_BYTES = 2**20
"""Bytes in memory at a time."""

Writer = Callable[[BinaryIO], None]
"""Writes a content into a stream, the same each time."""


@dataclass(frozen=True)
class Digest:
    """The digest of a content.

    Attributes:
        size: Number of bytes.
        sha256: SHA-256 of the bytes, in hexadecimal digits.
    """

    size: int
    sha256: str


@dataclass(frozen=True)
class Content:
    """Bytes in memory or in a file.

    Attributes:
        digest: Their size and hash.
        open: Returns a new stream at their beginning, which the caller closes.
    """

    digest: Digest
    open: Callable[[], BinaryIO] = field(compare=False)

    def read(self) -> bytes:
        """Return all bytes at once; for contents that are known to be small.

        Raises:
            OSError: The file cannot be read.
        """
        with self.open() as stream:
            return stream.read()


def in_memory(content: bytes) -> Content:
    """Return a `Content` of bytes that are in memory already."""
    return Content(Digest(len(content), sha256(content).hexdigest()), lambda: io.BytesIO(content))


def stored(path: Path) -> Content:
    """Return a `Content` of a file, which is read once now for the digest.

    The file must not change while the result is used.

    Raises:
        OSError: The file cannot be read.
    """
    with path.open("rb") as stream:
        return Content(digest_of(stream), lambda: path.open("rb"))


def digest_of(stream: BinaryIO) -> Digest:
    """Return the digest of a stream from its present position to its end."""
    size, hashed = 0, sha256()
    while part := stream.read(PART_BYTES):
        size += len(part)
        hashed.update(part)
    return Digest(size, hashed.hexdigest())


def digest_written(write: Writer) -> Digest:
    """Return the digest of the bytes that `write` writes; the bytes are not stored."""
    hashed = sha256()
    sink = Sink(hashed.update)
    write(sink)  # type: ignore[arg-type]  # a stream that can only be written to
    return Digest(sink.size, hashed.hexdigest())


class Sink(io.RawIOBase):
    """A write-only stream that passes on each part to a function.

    Args:
        take: Gets each part that is written.

    Attributes:
        size: Number of bytes written so far.
    """

    def __init__(self, take: Callable[[Any], None]) -> None:
        self.size, self._take = 0, take

    @override
    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, part: Any) -> int:
        """Pass bytes to the function `take`, and return their number."""
        self._take(part)
        number = memoryview(part).nbytes
        self.size += number
        return number


@contextmanager
def written_aside(write: Writer, folder: Path) -> Iterator[Content]:
    """Yield the output of `write` as a `Content` in a temporary file without a name, for one reader at a time.

    No other process can open the file, and it disappears with this process, however that ends, or when the `with` block
    ends.

    Args:
        write: Writes the content to the stream that it is given.
        folder: A folder on the disk to use.

    Raises:
        OSError: The disk is full, or the folder cannot be written.
    """
    with tempfile.TemporaryFile(dir=folder) as file:
        write(file)
        file.flush()

        def again() -> BinaryIO:
            os.lseek(file.fileno(), 0, os.SEEK_SET)
            return os.fdopen(os.dup(file.fileno()), "rb")

        with again() as stream:
            digest = digest_of(stream)
        yield Content(digest, again)
